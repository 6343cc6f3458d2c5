//! Which requests are refused, and with what: the sections "Request types", "Command flags", "Size constraints" and "Error values".

use super::head::Head;
use crate::context::{Context, Contexts};
use crate::error::ErrorCode;
use crate::export::{Export, Features};
use crate::negotiate::Agreed;
use crate::reply::Mode;
use crate::wire::{command, command_flag};

/// An error and a sentence for people.
pub(crate) type Refused = (ErrorCode, &'static str);

/// What is asked, without range and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read { is_whole: bool },
    Write { fua: bool },
    Flush,
    Trim { fua: bool },
    WriteZeroes { fua: bool, may_punch: bool, fast: bool },
    Cache,
    Status { contexts: Contexts, one: bool },
}

const fn invalid(text: &'static str) -> Refused {
    (ErrorCode::Inval, text)
}

/// What the request asks, if it may. The order of the checks: is there such a command, with such flags; may anything be written; does
/// the export have it; is the range one of the export's.
#[inline]
pub(crate) fn kind(export: &Export, agreed: Agreed, head: &Head) -> Result<Kind, Refused> {
    let has = |flag: u16| head.flags & flag != 0;
    let fua = has(command_flag::FUA);
    let kind = match head.command {
        command::READ => Kind::Read { is_whole: has(command_flag::DF) },
        command::WRITE => Kind::Write { fua },
        command::FLUSH => Kind::Flush,
        command::TRIM => Kind::Trim { fua },
        command::CACHE => Kind::Cache,
        command::WRITE_ZEROES => {
            let (may_punch, fast) = (!has(command_flag::NO_HOLE), has(command_flag::FAST_ZERO));
            Kind::WriteZeroes { fua, may_punch, fast }
        }
        command::BLOCK_STATUS => Kind::Status { contexts: agreed.contexts, one: has(command_flag::REQ_ONE) },
        _ => return Err(invalid("this server does not know the command")),
    };
    if head.flags & !flags(export, agreed, kind) != 0 {
        return Err(invalid("a flag that this command does not have here"));
    }
    let writes = matches!(kind, Kind::Write { .. } | Kind::Trim { .. } | Kind::WriteZeroes { .. });
    if writes && export.features.has(Features::READ_ONLY) {
        return Err((ErrorCode::Perm, "the export is read-only"));
    }
    if !is_offered(export, kind) {
        return Err(invalid("the export does not have this command"));
    }
    payload(export, head, kind)?;
    if kind == Kind::Flush {
        let is_zero = head.offset == 0 && head.length == 0;
        return if is_zero { Ok(kind) } else { Err(invalid("a flush has offset 0 and length 0")) };
    }
    if head.command == command::BLOCK_STATUS && head.payload > 0 {
        return Ok(kind);
    }
    range(export, head.command, head.offset, head.length)?;
    if matches!(kind, Kind::Read { .. }) && head.length > export.blocks.maximum.0 {
        let code = if agreed.mode == Mode::Simple { ErrorCode::Inval } else { ErrorCode::Overflow };
        return Err((code, "longer than the largest block size"));
    }
    Ok(kind)
}

/// The flags that a command may have.
#[inline]
fn flags(export: &Export, agreed: Agreed, kind: Kind) -> u16 {
    let if_offered = |feature, flag| if export.features.has(feature) { flag } else { 0 };
    let if_extended = |flag| if agreed.mode == Mode::Extended { flag } else { 0 };
    let own = match kind {
        Kind::Read { .. } if agreed.mode == Mode::Simple => 0,
        Kind::Read { .. } => command_flag::DF,
        Kind::Write { .. } => if_extended(command_flag::PAYLOAD_LEN),
        Kind::WriteZeroes { .. } => {
            command_flag::NO_HOLE | if_offered(Features::FAST_ZERO, command_flag::FAST_ZERO)
        }
        Kind::Status { .. } => command_flag::REQ_ONE | if_extended(command_flag::PAYLOAD_LEN),
        Kind::Flush | Kind::Trim { .. } | Kind::Cache => 0,
    };
    own | if_offered(Features::FUA, command_flag::FUA)
}

/// Whether the export was advertised with the command.
#[inline]
fn is_offered(export: &Export, kind: Kind) -> bool {
    let feature = match kind {
        Kind::Read { .. } | Kind::Write { .. } => return true,
        Kind::Status { contexts, .. } => return !contexts.is_empty(),
        Kind::Flush => Features::FLUSH,
        Kind::Trim { .. } => Features::TRIM,
        Kind::WriteZeroes { .. } => Features::WRITE_ZEROES,
        Kind::Cache => Features::CACHE,
    };
    export.features.has(feature)
}

/// Whether a payload has a length that it may have.
#[inline]
fn payload(export: &Export, head: &Head, kind: Kind) -> Result<(), Refused> {
    let has_flag = head.flags & command_flag::PAYLOAD_LEN != 0;
    match kind {
        Kind::Write { .. } if head.payload > export.blocks.maximum.0 => {
            Err(invalid("longer than the largest block size"))
        }
        Kind::Status { .. } if has_flag => {
            let ids = head.payload.checked_sub(8).filter(|rest| rest.is_multiple_of(4)).map(|rest| rest / 4);
            let is_right = ids.is_some_and(|ids| (1..=Context::ALL.len() as u64).contains(&ids));
            if is_right { Ok(()) } else { Err(invalid("a length, and each context at most once")) }
        }
        _ => Ok(()),
    }
}

/// Whether the range is one of the export's.
#[inline]
pub(crate) fn range(export: &Export, number: u16, offset: u64, length: u64) -> Result<(), Refused> {
    if length == 0 {
        return Err(invalid("a length of 0"));
    }
    if offset.checked_add(length).is_none_or(|end| end > export.size.0) {
        let is_write = matches!(number, command::WRITE | command::WRITE_ZEROES);
        let code = if is_write { ErrorCode::NoSpc } else { ErrorCode::Inval };
        return Err((code, "beyond the end of the export"));
    }
    // The minimum is a power of two.
    if (offset | length) & (export.blocks.minimum.0 - 1) != 0 {
        return Err(invalid("not a multiple of the smallest block size"));
    }
    Ok(())
}

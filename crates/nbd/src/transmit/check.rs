//! Checks of requests: the sections "Request types", "Command flags", "Size constraints" and "Error values".

use super::head::RequestHead;
use crate::context::{MetaContext, MetaContexts};
use crate::error::ErrorCode;
use crate::export::{ExportFeatures, NbdExport};
use crate::negotiate::NegotiatedTerms;
use crate::reply::MessageMode;
use crate::wire::{command, command_flag};

/// Error code, and a sentence for people.
pub(crate) type RequestRefusal = (ErrorCode, &'static str);

/// Kind of a request, without range and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Read { is_whole: bool },
    Write { fua: bool },
    Flush,
    Trim { fua: bool },
    WriteZeroes { fua: bool, may_punch: bool, fast: bool },
    Cache,
    Status { contexts: MetaContexts, one: bool },
}

const fn invalid(text: &'static str) -> RequestRefusal {
    (ErrorCode::Inval, text)
}

/// Checks a request and returns its kind. The order of the checks decides which error a client sees: command and flags; read-only; features of the
/// export; payload; range.
#[inline]
pub(crate) fn check_request(
    export: &NbdExport,
    terms: NegotiatedTerms,
    head: &RequestHead,
) -> Result<RequestKind, RequestRefusal> {
    let has = |flag: u16| head.flags & flag != 0;
    let fua = has(command_flag::FUA);
    let kind = match head.command {
        command::READ => RequestKind::Read { is_whole: has(command_flag::DF) },
        command::WRITE => RequestKind::Write { fua },
        command::FLUSH => RequestKind::Flush,
        command::TRIM => RequestKind::Trim { fua },
        command::CACHE => RequestKind::Cache,
        command::WRITE_ZEROES => {
            let (may_punch, fast) = (!has(command_flag::NO_HOLE), has(command_flag::FAST_ZERO));
            RequestKind::WriteZeroes { fua, may_punch, fast }
        }
        command::BLOCK_STATUS => {
            RequestKind::Status { contexts: terms.contexts, one: has(command_flag::REQ_ONE) }
        }
        _ => return Err(invalid("this server does not know the command")),
    };
    if head.flags & !allowed_flags(export, terms, kind) != 0 {
        return Err(invalid("a flag that this command does not have here"));
    }
    let writes = matches!(
        kind,
        RequestKind::Write { .. } | RequestKind::Trim { .. } | RequestKind::WriteZeroes { .. }
    );
    if writes && export.features.has(ExportFeatures::READ_ONLY) {
        return Err((ErrorCode::Perm, "the export is read-only"));
    }
    if !is_offered(export, kind) {
        return Err(invalid("the export does not have this command"));
    }
    check_payload(export, head, kind)?;
    if kind == RequestKind::Flush {
        let is_zero = head.offset == 0 && head.length == 0;
        return if is_zero { Ok(kind) } else { Err(invalid("a flush has offset 0 and length 0")) };
    }
    // The range is in the payload, and is checked once that has arrived.
    if head.command == command::BLOCK_STATUS && head.payload > 0 {
        return Ok(kind);
    }
    check_range(export, head.command, head.offset, head.length)?;
    if matches!(kind, RequestKind::Read { .. }) && head.length > export.blocks.maximum.0 {
        // `EOVERFLOW` came with structured replies; older clients do not know it.
        let code = if terms.mode == MessageMode::Simple { ErrorCode::Inval } else { ErrorCode::Overflow };
        return Err((code, "longer than the largest block size"));
    }
    Ok(kind)
}

/// Flags that a command may have.
#[inline]
fn allowed_flags(export: &NbdExport, terms: NegotiatedTerms, kind: RequestKind) -> u16 {
    let if_offered = |feature, flag| if export.features.has(feature) { flag } else { 0 };
    let if_extended = |flag| if terms.mode == MessageMode::Extended { flag } else { 0 };
    let command_flags = match kind {
        RequestKind::Read { .. } if terms.mode == MessageMode::Simple => 0,
        RequestKind::Read { .. } => command_flag::DF,
        RequestKind::Write { .. } => if_extended(command_flag::PAYLOAD_LEN),
        RequestKind::WriteZeroes { .. } => {
            command_flag::NO_HOLE | if_offered(ExportFeatures::FAST_ZERO, command_flag::FAST_ZERO)
        }
        RequestKind::Status { .. } => command_flag::REQ_ONE | if_extended(command_flag::PAYLOAD_LEN),
        RequestKind::Flush | RequestKind::Trim { .. } | RequestKind::Cache => 0,
    };
    command_flags | if_offered(ExportFeatures::FUA, command_flag::FUA)
}

/// True if the export offers the command.
#[inline]
fn is_offered(export: &NbdExport, kind: RequestKind) -> bool {
    let feature = match kind {
        RequestKind::Read { .. } | RequestKind::Write { .. } => return true,
        RequestKind::Status { contexts, .. } => return !contexts.is_empty(),
        RequestKind::Flush => ExportFeatures::FLUSH,
        RequestKind::Trim { .. } => ExportFeatures::TRIM,
        RequestKind::WriteZeroes { .. } => ExportFeatures::WRITE_ZEROES,
        RequestKind::Cache => ExportFeatures::CACHE,
    };
    export.features.has(feature)
}

/// Checks the length of a payload.
#[inline]
fn check_payload(export: &NbdExport, head: &RequestHead, kind: RequestKind) -> Result<(), RequestRefusal> {
    let has_flag = head.flags & command_flag::PAYLOAD_LEN != 0;
    match kind {
        RequestKind::Write { .. } if head.payload > export.blocks.maximum.0 => {
            Err(invalid("longer than the largest block size"))
        }
        RequestKind::Status { .. } if has_flag => {
            let ids = head
                .payload
                .checked_sub(8)
                .filter(|id_bytes| id_bytes.is_multiple_of(4))
                .map(|id_bytes| id_bytes / 4);
            let is_right = ids.is_some_and(|ids| (1..=MetaContext::ALL.len() as u64).contains(&ids));
            if is_right { Ok(()) } else { Err(invalid("a length, and each context at most once")) }
        }
        _ => Ok(()),
    }
}

/// Checks that a range lies within the export and respects its block sizes.
#[inline]
pub(crate) fn check_range(
    export: &NbdExport,
    number: u16,
    offset: u64,
    length: u64,
) -> Result<(), RequestRefusal> {
    if length == 0 {
        return Err(invalid("a length of 0"));
    }
    if offset.checked_add(length).is_none_or(|end| end > export.size.0) {
        // The specification wants `ENOSPC` for writes beyond the end.
        let is_write = matches!(number, command::WRITE | command::WRITE_ZEROES);
        let code = if is_write { ErrorCode::NoSpc } else { ErrorCode::Inval };
        return Err((code, "beyond the end of the export"));
    }
    // The minimum is a power of two, so its lower bits are the remainder.
    if (offset | length) & (export.blocks.minimum.0 - 1) != 0 {
        return Err(invalid("not a multiple of the smallest block size"));
    }
    Ok(())
}

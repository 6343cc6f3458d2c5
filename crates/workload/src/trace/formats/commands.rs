//! One command in each line, those to zones included: `time,command,place,size,handle`.
//!
//! The place is an offset in bytes, or a zone and an offset in it: `4z`, `4z+65536`. Reads, writes, trims and appends have a size in bytes, writes may have a placement
//! handle. Commands to zones name a zone, `commit` the last block that is committed.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::{Op, ZoneAction};
use outlast_units::SECTOR_BYTES;

/// Names of commands, and what they are.
pub(crate) const COMMANDS: [(&str, Op, ZoneAction); 12] = [
    ("read", Op::Read, ZoneAction::Open),
    ("write", Op::Write, ZoneAction::Open),
    ("trim", Op::Trim, ZoneAction::Open),
    ("flush", Op::Flush, ZoneAction::Open),
    ("append", Op::Append, ZoneAction::Open),
    ("open", Op::ManageZone, ZoneAction::Open),
    ("open-random", Op::ManageZone, ZoneAction::OpenRandom),
    ("close", Op::ManageZone, ZoneAction::Close),
    ("finish", Op::ManageZone, ZoneAction::Finish),
    ("reset", Op::ManageZone, ZoneAction::Reset),
    ("offline", Op::ManageZone, ZoneAction::Offline),
    ("commit", Op::ManageZone, ZoneAction::Commit),
];

/// Columns, in order.
const COLUMNS: [&[u8]; 5] = [b"time", b"command", b"place", b"size", b"handle"];

/// True if `line` is the header, with or without the last columns.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let names: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    (3..=COLUMNS.len()).contains(&names.len())
        && names.iter().zip(COLUMNS).all(|(name, column)| name.eq_ignore_ascii_case(column))
}

/// Decodes line `number`, counted from 1 without blank lines and comments.
pub(super) fn command(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    if number == 1 && is_header(line) {
        return Ok(ParsedLine::Skip);
    }
    let mut fields = [&[] as &[u8]; COLUMNS.len()];
    let mut count = 0;
    for field in line.split(|&byte| byte == b',') {
        let Some(slot) = fields.get_mut(count) else {
            return Err(fault("line", line, "at most 5 columns: time,command,place,size,handle"));
        };
        (*slot, count) = (field.trim_ascii(), count + 1);
    }
    let [time, word, place, size, handle] = fields;
    let known = COMMANDS.into_iter().find(|(name, ..)| name.as_bytes() == word);
    let Some((_, op, action)) = known else {
        let names: Vec<&str> = COMMANDS.iter().map(|&(name, ..)| name).collect();
        return Err(fault("command", word, format!("one of {}", names.join(", "))));
    };
    let time = fields::time(time, context.unit)?;
    let handle = match handle {
        [] => 0,
        _ if op != Op::Write => return Err(fault("handle", handle, "none: only a write has a handle")),
        _ => handle_of(handle)?,
    };
    let device = context.devices.id(b"0")?;
    let record = TraceRecord { time, device, op, action, handle, ..TraceRecord::PLAIN };
    if op == Op::Flush {
        return if place.is_empty() && size.is_empty() {
            Ok(ParsedLine::One(record))
        } else {
            Err(fault("place", place, "none: a flush has no place and no size"))
        };
    }
    let start = place_of(place, context.zone_sectors)?;
    if op == Op::ManageZone {
        if !size.is_empty() {
            return Err(fault("size", size, "none: the command concerns a zone"));
        }
        if !start.is_multiple_of(SECTOR_BYTES) {
            return Err(fault("place", place, "a multiple of 512 bytes"));
        }
        return Ok(ParsedLine::One(TraceRecord { lba: start / SECTOR_BYTES, ..record }));
    }
    let (lba, sectors, is_rounded) = fields::bytes(start, whole("size", size)?, place, size)?;
    context.rounded += u64::from(is_rounded);
    Ok(ParsedLine::One(TraceRecord { lba, sectors, ..record }))
}

/// A placement handle.
pub(super) fn handle_of(text: &[u8]) -> Result<u16, Box<FieldFault>> {
    u16::try_from(whole("handle", text)?).map_err(|_| fault("handle", text, "at most 65535"))
}

/// The byte that a place names; zones have `zone` sectors.
fn place_of(text: &[u8], zone: Option<u64>) -> Result<u64, Box<FieldFault>> {
    let Some(at) = text.iter().position(|&byte| byte == b'z') else { return whole("place", text) };
    let offset = match &text[at + 1..] {
        [] => 0,
        [b'+', offset @ ..] => whole("place", offset)?,
        _ => return Err(fault("place", text, "an offset in bytes, or a zone such as 4z or 4z+65536")),
    };
    let Some(zone) = zone else {
        return Err(fault(
            "place",
            text,
            "an offset in bytes: without a drive that has zones their size is unknown",
        ));
    };
    let start = whole("place", &text[..at])?.checked_mul(zone * SECTOR_BYTES);
    start
        .and_then(|start| start.checked_add(offset))
        .ok_or_else(|| fault("place", text, "a place below 2^64 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceFormat;

    fn decode(line: &str, zone: Option<u64>) -> Result<ParsedLine, (&'static str, String, String)> {
        let mut context = DecodeContext::new(TraceFormat::Commands);
        (context.unit, context.zone_sectors) = (1_000_000_000, zone);
        command(&mut context, line.as_bytes(), 2).map_err(|fault| (fault.field, fault.value, fault.expected))
    }

    #[test]
    fn places_are_bytes_or_zones() {
        let record = |line| match decode(line, Some(128)) {
            Ok(ParsedLine::One(record)) => {
                (record.op, record.action, record.lba, record.sectors, record.handle)
            }
            other => panic!("{line}: {other:?}"),
        };
        let open = ZoneAction::Open;
        assert_eq!(record("0.5,write,4096,8192,3"), (Op::Write, open, 8, 16, 3));
        assert_eq!(record("0.5, append, 3z, 4096"), (Op::Append, open, 384, 8, 0));
        assert_eq!(record("1,read,3z+4096,4096,"), (Op::Read, open, 392, 8, 0));
        assert_eq!(record("1,commit,1z+1024,,"), (Op::ManageZone, ZoneAction::Commit, 130, 0, 0));
        assert_eq!(record("1,reset,65536"), (Op::ManageZone, ZoneAction::Reset, 128, 0, 0));
        assert_eq!(record("1,flush"), (Op::Flush, open, 0, 0, 0));
    }

    #[test]
    fn what_is_wrong_is_refused_by_field_value_and_limit() {
        let cases = [
            ("1,zap,0,512", "command", "zap"),
            ("x,read,0,512", "time", "x"),
            ("1,read,0,512,1", "handle", "1"),
            ("1,write,0,512,65536", "handle", "65536"),
            ("1,write,0,0", "size", "0"),
            ("1,reset,1z,4096", "size", "4096"),
            ("1,reset,100", "place", "100"),
            ("1,flush,0", "place", "0"),
            ("1,open,1y", "place", "1y"),
            ("1,open,1z-8", "place", "1z-8"),
            ("1,open,99999999999999999z", "place", "99999999999999999z"),
            ("1,read,0,512,,1", "line", "1,read,0,512,,1"),
        ];
        for (line, field, value) in cases {
            let fault = decode(line, Some(128)).unwrap_err();
            assert_eq!((fault.0, fault.1.as_str()), (field, value), "{line}");
        }
        assert_eq!(decode("1,open,1z", None).unwrap_err().0, "place", "nobody knows where it is");
    }
}

//! The default text output of blkparse: `259,2 0 1 0.000000000 4020 Q R 282624 + 8 [java]`.
//!
//! Columns: device, CPU, sequence, time in seconds, process, action, RWBS, then by action. Format: blkparse(1), "trace
//! actions" and "default output"; RWBS: Linux `blk_fill_rwbs` in kernel/trace/blktrace.c.

use super::{Context, Parsed, Record, Words};
use crate::trace::BlkEvent;
use crate::trace::fields::{self, Fault, fault, whole};
use outlast_device::Op;

/// How the lines of the summary begin that blkparse prints after the events.
const SUMMARY: [&[u8]; 5] = [b"CPU", b"Total (", b"Throughput (", b"Events (", b"Skips:"];
/// Columns that every event has.
const COLUMNS: usize = 6;

/// Decodes one line.
pub(super) fn event(context: &mut Context, line: &[u8]) -> Result<Parsed, Box<Fault>> {
    let trimmed = line.trim_ascii();
    let mut fields = Words::of(trimmed);
    let mut head = [&[] as &[u8]; COLUMNS];
    let found = head.iter_mut().zip(&mut fields).map(|(slot, field)| *slot = field).count();
    let [device, _cpu, _sequence, time, _process, action] = head;
    if context.devices.names.first().is_none_or(|first| **first != *device) && !is_device(device) {
        context.summary |= SUMMARY.iter().any(|start| trimmed.starts_with(start));
        if context.summary {
            return Ok(Parsed::Skip);
        }
        return Err(fault("device", device, "major,minor"));
    }
    if found < COLUMNS {
        return Err(fault("line", line, format!("at least {COLUMNS} columns, not {found}")));
    }
    let wanted: &[u8] = match context.event {
        BlkEvent::Q => b"Q",
        BlkEvent::D => b"D",
        BlkEvent::C => b"C",
    };
    if action != wanted {
        // Letters only, such as "UT": anything else is no event of blkparse.
        let known = action.len() <= 2 && action.iter().all(u8::is_ascii_alphabetic);
        return if known { Ok(Parsed::Skip) } else { Err(fault("action", action, "one or two letters")) };
    }
    let time = fields::time(time, 1_000_000_000)?;
    let rwbs = fields.next().ok_or_else(|| fault("rwbs", b"", "letters such as R, WS or D"))?;
    let Flags { op, before, fua } = flags(rwbs)?;
    let device = context.devices.id(device)?;
    let flush = Record { time, device, lba: 0, sectors: 0, op: Op::Flush, fua: false };
    let (address, plus, size) = (fields.next(), fields.next(), fields.next());
    let range = match (address, plus, size) {
        (Some(address), Some(b"+"), Some(size)) => Some((address, size)),
        _ => None,
    };
    let empty = range.is_none_or(|(_, size)| size == b"0");
    match (op, range) {
        (Some(Op::Flush), _) => Ok(Parsed::One(flush)),
        (_, _) if empty && before => Ok(Parsed::One(flush)),
        // A command for the driver, not for the medium.
        (None, _) => Ok(Parsed::Skip),
        (Some(op), Some((address, size))) => {
            let (lba, sectors) =
                fields::sectors(whole("address", address)?, whole("size", size)?, address, size)?;
            let record = Record { time, device, lba, sectors, op, fua: fua && op == Op::Write };
            Ok(if before { Parsed::FlushThen(record) } else { Parsed::One(record) })
        }
        (Some(_), None) => Err(fault("address", address.unwrap_or_default(), "address + sectors")),
    }
}

/// Whether this is `major,minor`.
pub(crate) fn is_device(text: &[u8]) -> bool {
    let mut parts = text.split(|&byte| byte == b',');
    let number =
        |part: Option<&[u8]>| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}

/// What RWBS says.
struct Flags {
    /// `None` for N: no data of the medium.
    op: Option<Op>,
    /// A flush before.
    before: bool,
    fua: bool,
}

/// Decodes RWBS: an F before the letter of the operation is a flush before it, one after it is forced unit access; an F
/// alone is the operation flush.
fn flags(rwbs: &[u8]) -> Result<Flags, Box<Fault>> {
    const EXPECTED: &str = "R, W, D, F or N with F, A, S, M, B, E, V";
    let before = rwbs.len() > 1 && rwbs[0] == b'F' && matches!(rwbs[1], b'R' | b'W' | b'D' | b'F' | b'N');
    let rest = &rwbs[usize::from(before)..];
    let op = match rest.first() {
        Some(b'R') => Some(Op::Read),
        Some(b'W') => Some(Op::Write),
        Some(b'D') => Some(Op::Trim),
        Some(b'F') => Some(Op::Flush),
        Some(b'N') => None,
        _ => return Err(fault("rwbs", rwbs, EXPECTED)),
    };
    let flags = &rest[1..];
    if !flags.iter().all(|flag| b"FASMBEVN".contains(flag)) {
        return Err(fault("rwbs", rwbs, EXPECTED));
    }
    Ok(Flags { op, before, fua: flags.contains(&b'F') })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Format;

    fn decode(line: &str) -> Result<Parsed, Box<Fault>> {
        event(&mut Context::new(Format::Blkparse), line.as_bytes())
    }

    #[test]
    fn rwbs_is_decoded() {
        let record = |op, fua| Record { time: 1581, device: 0, lba: 282_624, sectors: 8, op, fua };
        let line =
            |rwbs: &str| format!("259,2    0        1     0.000001581  4020  Q {rwbs} 282624 + 8 [java]");
        assert_eq!(decode(&line("R")), Ok(Parsed::One(record(Op::Read, false))));
        assert_eq!(decode(&line("RA")), Ok(Parsed::One(record(Op::Read, false))));
        assert_eq!(decode(&line("WSM")), Ok(Parsed::One(record(Op::Write, false))));
        assert_eq!(decode(&line("WFS")), Ok(Parsed::One(record(Op::Write, true))));
        assert_eq!(decode(&line("FWFS")), Ok(Parsed::FlushThen(record(Op::Write, true))));
        assert_eq!(decode(&line("DS")), Ok(Parsed::One(record(Op::Trim, false))));
        assert_eq!(decode(&line("N")), Ok(Parsed::Skip));
        assert!(decode(&line("X")).is_err());
        let flush = Record { lba: 0, sectors: 0, ..record(Op::Flush, false) };
        for text in ["FWS [jbd2/sda]", "FF [swapper]", "F 0 + 0 [x]", "FWS 0 + 0 [x]"] {
            let line = format!("8,0 0 1 0.000001581 1 Q {text}");
            assert_eq!(decode(&line), Ok(Parsed::One(flush)), "{text}");
        }
        assert!(decode("8,0 0 1 0.1 1 Q W 5 + 0 [x]").is_err());
    }

    #[test]
    fn other_events_and_the_summary_are_skipped_and_nothing_else() {
        assert_eq!(decode("259,2 0 3 0.000003650 4020 U N [java] 1"), Ok(Parsed::Skip));
        assert_eq!(decode("259,2 0 3 0.000003650 4020 UT N [java] 1"), Ok(Parsed::Skip));
        assert!(decode("hello world").is_err());
        let mut context = Context::new(Format::Blkparse);
        for line in
            ["CPU0 (8,0):", " Reads Queued:           1,        4KiB", "Total (8,0):", "Skips: 0 forward"]
        {
            assert_eq!(event(&mut context, line.as_bytes()), Ok(Parsed::Skip), "{line}");
        }
    }
}

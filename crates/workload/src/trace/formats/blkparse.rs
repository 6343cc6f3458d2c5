//! The default text output of blkparse: `259,2 0 1 0.000000000 4020 Q R 282624 + 8 [java]`.
//!
//! Columns: device, CPU, sequence, time in seconds, process, action, RWBS, then by action. Format: blkparse(1), "trace
//! actions" and "default output"; RWBS: Linux `blk_fill_rwbs` in kernel/trace/blktrace.c.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::split::LineWords;
use crate::trace::BlkEvent;
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::Op;

/// Beginnings of the lines of the summary that blkparse prints after the events.
const SUMMARY: [&[u8]; 5] = [b"CPU", b"Total (", b"Throughput (", b"Events (", b"Skips:"];
/// Columns that every event has.
const COLUMNS: usize = 6;

/// Decodes one line.
pub(super) fn event(context: &mut DecodeContext, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let trimmed = line.trim_ascii();
    let mut fields = LineWords::of(trimmed);
    let mut head = [&[] as &[u8]; COLUMNS];
    let count = head.iter_mut().zip(&mut fields).map(|(slot, field)| *slot = field).count();
    let [device, _cpu, _sequence, time, _process, action] = head;
    // Comparing with the first name spares most lines the closer look.
    if context.devices.names.first().is_none_or(|first| **first != *device)
        && !is_device(device)
        && !is_named_event(&head)
    {
        context.summary |= SUMMARY.iter().any(|start| trimmed.starts_with(start));
        if context.summary {
            return Ok(ParsedLine::Skip);
        }
        return Err(fault("device", device, "major,minor"));
    }
    if count < COLUMNS {
        return Err(fault("line", line, format!("at least {COLUMNS} columns, not {count}")));
    }
    let request_action: &[u8] = match context.event {
        BlkEvent::Q => b"Q",
        BlkEvent::D => b"D",
        BlkEvent::C => b"C",
    };
    if action != request_action {
        // All actions are one or two letters, such as "UT".
        let is_action = action.len() <= 2 && action.iter().all(u8::is_ascii_alphabetic);
        return if is_action {
            Ok(ParsedLine::Skip)
        } else {
            Err(fault("action", action, "one or two letters"))
        };
    }
    let time = fields::time(time, 1_000_000_000)?;
    let rwbs = fields.next().ok_or_else(|| fault("rwbs", b"", "letters such as R, WS or D"))?;
    let RwbsFlags { op, preflush, fua } = parse_rwbs(rwbs)?;
    let device = context.devices.id(device)?;
    let flush = TraceRecord { time, device, op: Op::Flush, ..TraceRecord::PLAIN };
    let (address, plus, size) = (fields.next(), fields.next(), fields.next());
    let range = match (address, plus, size) {
        (Some(address), Some(b"+"), Some(size)) => Some((address, size)),
        _ => None,
    };
    let is_empty = range.is_none_or(|(_, size)| size == b"0");
    // The process or the error, with which every line ends.
    let is_end = |word: &[u8]| word.starts_with(b"[");
    match (op, range) {
        (Some(Op::Flush), _) => Ok(ParsedLine::One(flush)),
        (_, _) if is_empty && preflush => Ok(ParsedLine::One(flush)),
        // A command for the driver, not for the medium.
        (None, _) => Ok(ParsedLine::Skip),
        (Some(op), Some((address, size))) => {
            let (lba, sectors) =
                fields::sectors(whole("address", address)?, whole("size", size)?, address, size)?;
            let fua = fua && op == Op::Write;
            let record = TraceRecord { time, device, lba, sectors, op, fua, ..TraceRecord::PLAIN };
            Ok(if preflush { ParsedLine::FlushThen(record) } else { ParsedLine::One(record) })
        }
        // A command for the driver that moves data: `R 254 (12 00 ..) [scsi_id]`, and without the bytes when it has completed.
        (Some(_), None) if [address, plus].into_iter().flatten().any(|word| word.starts_with(b"(")) => {
            Ok(ParsedLine::Skip)
        }
        // A write without a range is a barrier of Linux before 2.6.37: `WBS [parted]`, and `WS 0 [0]` when it has completed.
        (Some(Op::Write), None) if address.is_none_or(is_end) || plus.is_some_and(is_end) => {
            Ok(ParsedLine::One(flush))
        }
        (Some(_), None) => Err(fault("address", address.unwrap_or_default(), "address + sectors")),
    }
}

/// True if `text` is a device number, `major,minor`.
pub(crate) fn is_device(text: &[u8]) -> bool {
    let mut parts = text.split(|&byte| byte == b',');
    let number =
        |part: Option<&[u8]>| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}

/// True if the first columns are those of an event whose device is a name, as `blkparse -h` prints it: `nvme0n1 0 1 0.000237964 4020 Q`.
pub(crate) fn is_named_event(head: &[&[u8]; COLUMNS]) -> bool {
    let [device, cpu, sequence, time, process, action] = *head;
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_name = device.first().is_some_and(u8::is_ascii_lowercase)
        && device.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
    is_name
        && [cpu, sequence, process].into_iter().all(is_number)
        && fields::time(time, 1_000_000_000).is_ok()
        && (1..=2).contains(&action.len())
        && action.iter().all(u8::is_ascii_alphabetic)
}

/// The column RWBS, decoded.
pub(super) struct RwbsFlags {
    /// `None` for N: a command without data of the medium.
    pub(super) op: Option<Op>,
    /// True if a flush comes before the operation.
    pub(super) preflush: bool,
    pub(super) fua: bool,
}

/// Decodes RWBS: an F before the letter of the operation is a flush before it, one after it is forced unit access; an F
/// alone is the operation flush.
pub(super) fn parse_rwbs(rwbs: &[u8]) -> Result<RwbsFlags, Box<FieldFault>> {
    const EXPECTED: &str = "R, W, D, F or N with F, A, S, M, B, E, V";
    let preflush = rwbs.len() > 1 && rwbs[0] == b'F' && matches!(rwbs[1], b'R' | b'W' | b'D' | b'F' | b'N');
    let letters = &rwbs[usize::from(preflush)..];
    let op = match letters.first() {
        Some(b'R') => Some(Op::Read),
        Some(b'W') => Some(Op::Write),
        Some(b'D') => Some(Op::Trim),
        Some(b'F') => Some(Op::Flush),
        Some(b'N') => None,
        _ => return Err(fault("rwbs", rwbs, EXPECTED)),
    };
    let flags = &letters[1..];
    if !flags.iter().all(|flag| b"FASMBEVN".contains(flag)) {
        return Err(fault("rwbs", rwbs, EXPECTED));
    }
    Ok(RwbsFlags { op, preflush, fua: flags.contains(&b'F') })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceFormat;

    fn decode(line: &str) -> Result<ParsedLine, Box<FieldFault>> {
        event(&mut DecodeContext::new(TraceFormat::Blkparse), line.as_bytes())
    }

    #[test]
    fn rwbs_is_decoded() {
        let record = |op, fua| TraceRecord {
            time: 1581,
            device: 0,
            lba: 282_624,
            sectors: 8,
            op,
            fua,
            ..TraceRecord::PLAIN
        };
        let line =
            |rwbs: &str| format!("259,2    0        1     0.000001581  4020  Q {rwbs} 282624 + 8 [java]");
        assert_eq!(decode(&line("R")), Ok(ParsedLine::One(record(Op::Read, false))));
        assert_eq!(decode(&line("RA")), Ok(ParsedLine::One(record(Op::Read, false))));
        assert_eq!(decode(&line("WSM")), Ok(ParsedLine::One(record(Op::Write, false))));
        assert_eq!(decode(&line("WFS")), Ok(ParsedLine::One(record(Op::Write, true))));
        assert_eq!(decode(&line("FWFS")), Ok(ParsedLine::FlushThen(record(Op::Write, true))));
        assert_eq!(decode(&line("DS")), Ok(ParsedLine::One(record(Op::Trim, false))));
        assert_eq!(decode(&line("N")), Ok(ParsedLine::Skip));
        assert!(decode(&line("X")).is_err());
        let flush = TraceRecord { lba: 0, sectors: 0, ..record(Op::Flush, false) };
        for text in ["FWS [jbd2/sda]", "FF [swapper]", "F 0 + 0 [x]", "FWS 0 + 0 [x]"] {
            let line = format!("8,0 0 1 0.000001581 1 Q {text}");
            assert_eq!(decode(&line), Ok(ParsedLine::One(flush)), "{text}");
        }
        assert!(decode("8,0 0 1 0.1 1 Q W 5 + 0 [x]").is_err());
    }

    #[test]
    fn barriers_commands_of_drivers_and_names_of_devices_are_understood() {
        let flush = TraceRecord {
            time: 1581,
            device: 0,
            lba: 0,
            sectors: 0,
            op: Op::Flush,
            fua: false,
            ..TraceRecord::PLAIN
        };
        for text in ["WBS [parted]", "WS 0 [0]"] {
            assert_eq!(
                decode(&format!("8,0 0 1 0.000001581 1 Q {text}")),
                Ok(ParsedLine::One(flush)),
                "{text}"
            );
        }
        for text in [
            "R 254 (12 00 00 00 fe 00 ..) [scsi_id]",
            "R 512 (85 08 ..) [smartctl]",
            "R (12 00 00 ..) [0]",
            "N 0 (00 ..) [x]",
        ] {
            assert_eq!(decode(&format!("8,0 0 1 0.1 1 Q {text}")), Ok(ParsedLine::Skip), "{text}");
        }
        let read = TraceRecord { lba: 387_920, sectors: 8, op: Op::Read, ..flush };
        let line = "nvme0n1 0 1 0.000001581 4020 Q R 387920 + 8 [java]";
        assert_eq!(decode(line), Ok(ParsedLine::One(read)));
        assert!(decode("hello 0 1 world 4020 Q R 387920 + 8 [java]").is_err());
    }

    #[test]
    fn other_events_and_the_summary_are_skipped_and_nothing_else() {
        assert_eq!(decode("259,2 0 3 0.000003650 4020 U N [java] 1"), Ok(ParsedLine::Skip));
        assert_eq!(decode("259,2 0 3 0.000003650 4020 UT N [java] 1"), Ok(ParsedLine::Skip));
        assert!(decode("hello world").is_err());
        let mut context = DecodeContext::new(TraceFormat::Blkparse);
        for line in
            ["CPU0 (8,0):", " Reads Queued:           1,        4KiB", "Total (8,0):", "Skips: 0 forward"]
        {
            assert_eq!(event(&mut context, line.as_bytes()), Ok(ParsedLine::Skip), "{line}");
        }
    }
}

//! fio's I/O log, versions 2 and 3. Format: fio's HOWTO, "Trace file format v2" and "v3".
//!
//! Version 2: `file action [offset length]`, with the time as `wait` actions of so many microseconds, each relative to the
//! wait before (so says the HOWTO, and so they are added up here; fio's reader discards those below 100 us).
//! Version 3: `timestamp file action [offset length]`. fio's writer uses microseconds; `time_unit` overrides that.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::split::LineWords;
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::Op;

/// The version that a header line names, 2 or 3.
pub(crate) fn iolog_version(line: &[u8]) -> Option<u8> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Some(2),
        b"fio version 3 iolog" => Some(3),
        _ => None,
    }
}

/// Decodes one line.
pub(super) fn action(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    if number == 1 {
        let is_header = iolog_version(line).is_some();
        return if is_header {
            Ok(ParsedLine::Skip)
        } else {
            Err(fault("header", line, "\"fio version 2 iolog\" or 3"))
        };
    }
    let mut fields = LineWords::of(line);
    let time = match context.iolog {
        3 => Some(fields.next().unwrap_or_default()),
        _ => None,
    };
    let missing = |field| move || fault(field, b"", "file, action and, for a request, offset and length");
    let file = fields.next().ok_or_else(missing("file"))?;
    let action = fields.next().ok_or_else(missing("action"))?;
    let (offset, length) = (fields.next(), fields.next());
    if fields.next().is_some() {
        return Err(fault("line", line, "no more than offset and length after the action"));
    }
    let time = match time {
        Some(time) => fields::time(time, context.unit)?,
        None => context.clock,
    };
    let op = match action {
        b"read" => Op::Read,
        b"write" => Op::Write,
        b"trim" => Op::Trim,
        b"sync" | b"datasync" => Op::Flush,
        b"add" | b"open" | b"close" | b"unlink" => return Ok(ParsedLine::Skip),
        // fio does the same with a wait in version 3.
        b"wait" if context.iolog == 3 => return Ok(ParsedLine::Skip),
        b"wait" => {
            let wait = offset.ok_or_else(missing("wait"))?;
            let span = fields::time(wait, 1_000)?;
            let late = || fault("wait", wait, "waits that add up to less than 2^64 ns (584 years)");
            context.clock = context.clock.checked_add(span).ok_or_else(late)?;
            return Ok(ParsedLine::Skip);
        }
        _ => {
            return Err(fault(
                "action",
                action,
                "add, open, close, wait, read, write, trim, sync or datasync",
            ));
        }
    };
    let device = context.devices.id(file)?;
    if op == Op::Flush {
        return Ok(ParsedLine::One(TraceRecord {
            time,
            device,
            lba: 0,
            sectors: 0,
            op,
            fua: false,
            ..TraceRecord::PLAIN
        }));
    }
    let (address, size) = (offset.ok_or_else(missing("offset"))?, length.ok_or_else(missing("length"))?);
    let (lba, sectors, rounded) =
        fields::bytes(whole("offset", address)?, whole("length", size)?, address, size)?;
    context.rounded += u64::from(rounded);
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

//! Tables with columns that a setting names, and the published formats that are such tables.

use super::commands::handle_of;
use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::split::LineWords;
use crate::trace::TraceFormat;
use crate::trace::columns::{ColumnLayout, MOST_COLUMNS, format_of_header};
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::Op;

/// The columns of a line and how many there are.
fn split<'a>(layout: &ColumnLayout, line: &'a [u8]) -> ([&'a [u8]; MOST_COLUMNS], usize) {
    let mut fields = [&[] as &[u8]; MOST_COLUMNS];
    let count = match layout.separator.byte() {
        Some(byte) => {
            let parts = line.split(|&each| each == byte).map(<[u8]>::trim_ascii);
            fields.iter_mut().zip(parts).map(|(slot, field)| *slot = field).count()
        }
        None => fields.iter_mut().zip(LineWords::of(line)).map(|(slot, field)| *slot = field).count(),
    };
    (fields, count)
}

/// Decodes line `number`, counted from 1 without blank lines and comments.
pub(super) fn record(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    let DecodeContext { format, unit, columns: layout, devices, rounded, .. } = context;
    let (fields, count) = split(layout, line);
    if number == 1 && format_of_header(line) == Some(*format) {
        return Ok(ParsedLine::Skip);
    }
    if number == 1 && layout.header {
        let names: Vec<String> = fields[..count]
            .iter()
            .map(|field| String::from_utf8_lossy(field).trim_matches('"').to_ascii_lowercase())
            .collect();
        let expected = || fault("header", line, format!("names among which are {}", layout.names.join(", ")));
        *layout = layout.clone().located(&names).ok_or_else(expected)?;
        return Ok(ParsedLine::Skip);
    }
    let optional = layout.device.max(layout.handle).unwrap_or(0);
    let last = layout.time.max(layout.op).max(layout.offset).max(layout.size).max(optional);
    if count <= last {
        return Err(fault("line", line, format!("at least {} columns, not {count}", last + 1)));
    }
    let word = fields[layout.op];
    let op = if layout.read.iter().any(|each| each == word) {
        Op::Read
    } else if layout.write.iter().any(|each| each == word) {
        Op::Write
    } else if layout.skip_others {
        return Ok(ParsedLine::Skip);
    } else {
        let words = |list: &[Vec<u8>]| {
            list.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(", ")
        };
        let expected = format!("one of {} or of {}", words(&layout.read), words(&layout.write));
        return Err(fault("op", word, expected));
    };
    let time = fields::time(fields[layout.time], *unit)?;
    let (address, size) = (fields[layout.offset], fields[layout.size]);
    let start = whole("offset", address)?
        .checked_sub(layout.base)
        .ok_or_else(|| fault("offset", address, format!("at least the base, {}", layout.base)))?;
    let end = || fault("offset", address, "an end below 2^64 bytes");
    let start = start.checked_mul(layout.offset_bytes).ok_or_else(end)?;
    let length = whole("size", size)?
        .checked_mul(layout.size_bytes)
        .ok_or_else(|| fault("size", size, "at most 4 GiB"))?;
    let (lba, sectors, is_rounded) = fields::bytes(start, length, address, size)?;
    *rounded += u64::from(is_rounded);
    let device = match layout.device {
        // Of the published formats, a device is a number.
        Some(index) if *format == TraceFormat::Columns => devices.id(fields[index])?,
        Some(index) => devices.id_of_number(fields[index])?,
        None => devices.id(b"0")?,
    };
    let handle = layout.handle.map(|index| fields[index]).filter(|text| op == Op::Write && !text.is_empty());
    let handle = handle.map_or(Ok(0), handle_of)?;
    Ok(ParsedLine::One(TraceRecord {
        handle,
        time,
        device,
        lba,
        sectors,
        op,
        fua: false,
        ..TraceRecord::PLAIN
    }))
}

//! The formats with one request a line in fixed columns: MSR Cambridge, SPC, `DiskSim` ASCII, Alibaba.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::split::split;
use crate::trace::TraceFormat;
use crate::trace::fields::{self, FieldFault, fault, whole};
use crate::trace::fixed_columns::{header_text, is_header};
use outlast_device::Op;

/// `128166372003061629,hm,0,Read,383496192,32768,413`, possibly with a row index in front, separated by a blank or a comma.
/// Format: D. Narayanan et al., "Write off-loading", FAST 2008; SNIA IOTTA trace set 388.
pub(super) fn msr(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    let columns = |count| format!("7 columns (timestamp,host,disk,type,offset,size,response), not {count}");
    let fields: [&[u8]; 7] = match split::<7>(line, true, false) {
        Ok(fields) => fields,
        // A row index as a column of its own.
        Err(8) => match split::<8>(line, true, false) {
            Ok([index, columns @ ..])
                if index.is_empty()
                    || whole("index", index).is_ok()
                    || (number == 1 && is_header(TraceFormat::Msr, line)) =>
            {
                columns
            }
            _ => return Err(fault("line", line, columns(8))),
        },
        Err(count) => return Err(fault("line", line, columns(count))),
    };
    let [time, host, disk, kind, offset, size, _response] = fields;
    let exact = fields::exact_time(time, context.unit);
    // A row index before the timestamp, separated by a blank.
    let time =
        if exact.is_some() { time } else { time.rsplit(u8::is_ascii_whitespace).next().unwrap_or(time) };
    if number == 1 && time.first().is_some_and(u8::is_ascii_alphabetic) {
        return header(TraceFormat::Msr, line);
    }
    let op = match kind {
        b"Read" => Op::Read,
        b"Write" => Op::Write,
        kind if kind.eq_ignore_ascii_case(b"read") => Op::Read,
        kind if kind.eq_ignore_ascii_case(b"write") => Op::Write,
        _ => return Err(fault("type", kind, "Read or Write")),
    };
    let time = exact.map_or_else(|| fields::time(time, context.unit), Ok)?;
    let (lba, sectors) = context.range(offset, size)?;
    let device = context.devices.id_of_disk(host, disk)?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

/// `0,20941264,8192,W,0.551706` or the same with blanks; further columns are ignored, as the specification allows them.
/// Format: Storage Performance Council, "SPC trace file format specification", revision 1.0.1; `UMass` trace repository.
pub(super) fn spc(context: &mut DecodeContext, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let comma = line.contains(&b',');
    let [asu, lba, size, code, time] = split::<5>(line, comma, true)
        .map_err(|count| fault("line", line, format!("5 columns (ASU,LBA,size,opcode,time), not {count}")))?;
    let op = match code {
        b"r" | b"R" => Op::Read,
        b"w" | b"W" => Op::Write,
        _ => return Err(fault("opcode", code, "r or w")),
    };
    let time = fields::time(time, context.unit)?;
    let (start, length) = (whole("LBA", lba)?, whole("size", size)?);
    let offset = start.checked_mul(512).ok_or_else(|| fault("LBA", lba, "an end below 2^64 bytes"))?;
    let (lba, sectors, rounded) = fields::bytes(offset, length, lba, size)?;
    context.rounded += u64::from(rounded);
    let device = context.devices.id(asu)?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

/// `938513000 4 264719034 16 0`: time, device, address, size, op with 1 = read and 0 = write.
/// Format: `DiskSim` 4.0 reference manual (J. Bucy et al., 2008), "ASCII"; taken over by `SSDSim` and `MQSim`.
pub(super) fn ascii(context: &mut DecodeContext, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let [time, device, address, size, code] = split::<5>(line, false, false).map_err(|count| {
        fault("line", line, format!("5 columns (time device address size op), not {count}"))
    })?;
    let op = match code {
        b"1" => Op::Read,
        b"0" => Op::Write,
        _ => return Err(fault("op", code, "1 (read) or 0 (write)")),
    };
    let time = fields::time(time, context.unit)?;
    let (lba, sectors) = context.range(address, size)?;
    let device = context.devices.id(device)?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

/// Skips the first line if it is the header of `format`; any other line that is no record is refused.
#[cold]
fn header(format: TraceFormat, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    if is_header(format, line) {
        return Ok(ParsedLine::Skip);
    }
    Err(fault("header", line, format!("{}, or no header", header_text(format))))
}

/// `419,W,8792731648,16384,1577808000000046`. A header line is accepted.
/// Format: J. Li et al., "An in-depth analysis of cloud block storage workloads", IISWC 2020; github.com/alibaba/block-traces.
pub(super) fn alibaba(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    let [device, code, offset, size, time] = split::<5>(line, true, false).map_err(|count| {
        fault("line", line, format!("5 columns (device,opcode,offset,length,time), not {count}"))
    })?;
    if number == 1 && time.first().is_some_and(u8::is_ascii_alphabetic) {
        return header(TraceFormat::Alibaba, line);
    }
    let op = match code {
        b"R" | b"r" => Op::Read,
        b"W" | b"w" => Op::Write,
        _ => return Err(fault("opcode", code, "R or W")),
    };
    let time = fields::time(time, context.unit)?;
    let (lba, sectors) = context.range(offset, size)?;
    let device = context.devices.id_of_number(device)?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

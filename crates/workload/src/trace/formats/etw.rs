//! Disk events of Event Tracing for Windows, as the text that xperf and WPA's `dumper` action print; so are the Microsoft production server
//! traces of SNIA IOTTA, set 158: `DiskRead, 28412, store.exe (4184), 9876, 0x8aa1c2f0, 0x1a3c4e000, 0x00002000, 5214, 3, ...`.
//!
//! The file itself names the columns of each event between `BeginHeader` and `EndHeader`; without a header they are those of the traces
//! above. Times are microseconds, offsets and sizes bytes, hexadecimal with `0x` in front. Windows logs a read or write when it has ended; a
//! replay takes that time for the arrival, because the events at the beginning have no address.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::Op;

/// Columns of an event that are read at most: those that are needed stand before the name of a file, which may have commas.
const MOST_COLUMNS: usize = 24;
/// In place of the index of a column that the event does not have.
const NO_COLUMN: u8 = u8::MAX;

/// The events that are requests.
const EVENTS: [(&[u8], Op); 3] =
    [(b"DiskRead", Op::Read), (b"DiskWrite", Op::Write), (b"DiskFlush", Op::Flush)];

/// Indices of the columns of an event that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EtwColumns {
    time: u8,
    offset: u8,
    size: u8,
    disk: u8,
}

/// The columns of each of the [`EVENTS`].
#[derive(Clone, Debug)]
pub(crate) struct EtwHeader {
    columns: [EtwColumns; EVENTS.len()],
    /// True between `BeginHeader` and `EndHeader`.
    in_header: bool,
}

impl Default for EtwHeader {
    /// The columns of the traces of IOTTA.
    fn default() -> Self {
        let moves = EtwColumns { time: 1, offset: 5, size: 6, disk: 8 };
        let flushes = EtwColumns { time: 1, offset: NO_COLUMN, size: NO_COLUMN, disk: 6 };
        Self { columns: [moves, moves, flushes], in_header: false }
    }
}

impl EtwColumns {
    /// The columns that a line of the header names; `moves` for an event that moves data.
    fn from_header(line: &[u8], moves: bool) -> Result<Self, Box<FieldFault>> {
        let find = |name: &'static str| {
            let index = columns(line).take(MOST_COLUMNS).position(|column| column == name.as_bytes());
            let index = index.map(|index| index as u8);
            index.ok_or_else(|| {
                fault("header", line, format!("a column {name} among the first {MOST_COLUMNS}"))
            })
        };
        Ok(Self {
            time: find("TimeStamp")?,
            offset: if moves { find("ByteOffset")? } else { NO_COLUMN },
            size: if moves { find("IOSize")? } else { NO_COLUMN },
            disk: find("DiskNum")?,
        })
    }
}

/// The columns of a line.
fn columns(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Index in [`EVENTS`] of the event with this name.
fn event_index(name: &[u8]) -> Option<usize> {
    EVENTS.iter().position(|&(event, _)| event == name)
}

/// True if a trace may begin with this line.
pub(crate) fn is_first_line(line: &[u8]) -> bool {
    let name = columns(line).next().unwrap_or_default();
    name == b"BeginHeader"
        || (line.contains(&b',') && event_index(name.strip_suffix(b"Init").unwrap_or(name)).is_some())
}

/// Decodes one line.
pub(super) fn event(context: &mut DecodeContext, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let name = columns(line).next().unwrap_or_default();
    match name {
        b"BeginHeader" => context.etw.in_header = true,
        b"EndHeader" => context.etw.in_header = false,
        _ => {
            let Some(event) = event_index(name) else {
                // Other events, and the properties of the system that xperf prints after the header.
                let is_skipped = name.first().is_some_and(u8::is_ascii_alphabetic)
                    && (context.etw.in_header || line.contains(&b','));
                return if is_skipped {
                    Ok(ParsedLine::Skip)
                } else {
                    Err(fault("event", name, "a name, such as DiskRead, and columns"))
                };
            };
            if !context.etw.in_header {
                return request(context, line, event).map(ParsedLine::One);
            }
            context.etw.columns[event] = EtwColumns::from_header(line, EVENTS[event].1 != Op::Flush)?;
        }
    }
    Ok(ParsedLine::Skip)
}

/// Decodes a line of the event with index `event`.
fn request(context: &mut DecodeContext, line: &[u8], event: usize) -> Result<TraceRecord, Box<FieldFault>> {
    let at = context.etw.columns[event];
    let (mut time, mut offset, mut size, mut disk) = (None, None, None, None);
    // One pass over the columns, as a line has many more than the four that are needed.
    for (index, column) in (0u8..).zip(columns(line).take(MOST_COLUMNS)) {
        for (column_index, value) in
            [(at.time, &mut time), (at.offset, &mut offset), (at.size, &mut size), (at.disk, &mut disk)]
        {
            if index == column_index {
                *value = Some(column);
            }
        }
    }
    let cut = |field| move || fault(field, line, "a column of the line, which is cut off");
    let time = fields::time(time.ok_or_else(cut("TimeStamp"))?, context.unit)?;
    let disk = disk.ok_or_else(cut("DiskNum"))?;
    whole("DiskNum", disk)?;
    let op = EVENTS[event].1;
    if op == Op::Flush {
        let device = context.devices.id(disk)?;
        return Ok(TraceRecord { time, device, lba: 0, sectors: 0, op, fua: false, ..TraceRecord::PLAIN });
    }
    let (offset, size) = (offset.ok_or_else(cut("ByteOffset"))?, size.ok_or_else(cut("IOSize"))?);
    let (start, length) = (number("ByteOffset", offset)?, number("IOSize", size)?);
    let (lba, sectors, rounded) = fields::bytes(start, length, offset, size)?;
    context.rounded += u64::from(rounded);
    let device = context.devices.id(disk)?;
    Ok(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN })
}

/// A number, hexadecimal with `0x` in front, else decimal.
fn number(field: &'static str, text: &[u8]) -> Result<u64, Box<FieldFault>> {
    let Some(digits) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) else {
        return whole(field, text);
    };
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let value = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    value.ok_or_else(|| fault(field, text, "a hexadecimal number below 2^64"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceFormat;

    fn decode(context: &mut DecodeContext, line: &str) -> Result<ParsedLine, Box<FieldFault>> {
        event(context, line.as_bytes())
    }

    fn context() -> DecodeContext {
        DecodeContext { unit: 1000, ..DecodeContext::new(TraceFormat::Etw) }
    }

    const READ: &str = "DiskRead, 8612, store.exe (3984), 11844, 0x8aa1c2f0, 0x018f0b8000, 0x00001000, 283, 2, 0x060043, 283, 3, Original, 0xe0, \"C:\\a, b\"";

    #[test]
    fn columns_are_those_of_the_published_traces_unless_a_header_says_otherwise() {
        let record = TraceRecord {
            time: 8_612_000,
            device: 0,
            lba: 0x0001_8f0b_8000 / 512,
            sectors: 8,
            op: Op::Read,
            fua: false,
            ..TraceRecord::PLAIN
        };
        assert_eq!(decode(&mut context(), READ), Ok(ParsedLine::One(record)));
        let mut newer = context();
        for line in [
            "BeginHeader",
            "DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags",
            "P-Start, TimeStamp, Process Name ( PID)",
            "EndHeader",
            "OS Version: 6.0.6001, Trace Size: 102400KB, Events Lost: 0",
        ] {
            assert_eq!(decode(&mut newer, line), Ok(ParsedLine::Skip), "{line}");
        }
        let with_cpu = READ.replacen("11844", "11844, 1", 1);
        assert_eq!(decode(&mut newer, &with_cpu), Ok(ParsedLine::One(record)));
        assert_eq!(newer.devices.names, [b"2".to_vec().into_boxed_slice()]);
    }

    #[test]
    fn flushes_are_requests_and_other_events_are_not() {
        let flush = TraceRecord {
            time: 9_000_000,
            device: 0,
            lba: 0,
            sectors: 0,
            op: Op::Flush,
            fua: false,
            ..TraceRecord::PLAIN
        };
        let line = "DiskFlush, 9000, System (4), 8, 0x8aa1c2f0, 1200, 0, 0x0, 1200, 3";
        assert_eq!(decode(&mut context(), line), Ok(ParsedLine::One(flush)));
        for line in ["DiskReadInit, 8300, store.exe (3984), 11844, 0x8aa1c2f0", "CSwitch, 1, 2, 3"] {
            assert_eq!(decode(&mut context(), line), Ok(ParsedLine::Skip), "{line}");
        }
    }

    #[test]
    fn impossible_fields_are_named() {
        let faulty = |line: &str| {
            let fault = decode(&mut context(), line).unwrap_err();
            (fault.field, fault.value.clone())
        };
        assert_eq!(faulty(&READ.replace("0x018f0b8000", "0x018g")), ("ByteOffset", "0x018g".to_owned()));
        assert_eq!(faulty(&READ.replace("0x00001000", "0x")), ("IOSize", "0x".to_owned()));
        assert_eq!(faulty(&READ.replace("0x00001000", "0x0")).0, "size");
        assert_eq!(faulty(&READ.replace("8612", "-3")).0, "time");
        assert_eq!(faulty(&READ.replace("283, 2,", "283, disk,")), ("DiskNum", "disk".to_owned()));
        assert_eq!(faulty("DiskWrite, 1, a (2), 3, 0x4, 0x5").0, "DiskNum");
        assert_eq!(faulty("0, 1, 2").0, "event");
        assert_eq!(faulty("hello").0, "event");
        let mut context = context();
        decode(&mut context, "BeginHeader").unwrap();
        let fault = decode(&mut context, "DiskWrite, TimeStamp, ByteOffset, DiskNum").unwrap_err();
        assert!(fault.field == "header" && fault.expected.contains("IOSize"), "{fault:?}");
    }
}

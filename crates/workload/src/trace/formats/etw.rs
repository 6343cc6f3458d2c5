//! Disk events of Event Tracing for Windows, as the text that xperf and WPA's `dumper` action print; so are the Microsoft production server
//! traces of SNIA IOTTA, set 158: `DiskRead, 28412, store.exe (4184), 9876, 0x8aa1c2f0, 0x1a3c4e000, 0x00002000, 5214, 3, ...`.
//!
//! What the columns of an event are, the file says itself between `BeginHeader` and `EndHeader`. Without that they are taken to be those of
//! the traces above. Times are microseconds, offsets and sizes bytes, hexadecimal with `0x` in front. It is assumed that the time of an event is
//! when it happened as far as a replay is concerned: Windows logs a read or write when it has ended, and the events that only say that
//! one has begun have no address.

use super::context::{Context, Parsed, Record};
use crate::trace::fields::{self, Fault, fault, whole};
use outlast_device::Op;

/// Columns of an event looked at, at most: the last that is needed is before the name of a file, which may have commas.
const MOST: usize = 24;
/// In place of a column: the event has none.
const NONE: u8 = u8::MAX;

/// The events that are requests.
const EVENTS: [(&[u8], Op); 3] =
    [(b"DiskRead", Op::Read), (b"DiskWrite", Op::Write), (b"DiskFlush", Op::Flush)];

/// Where an event has what a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    time: u8,
    offset: u8,
    size: u8,
    disk: u8,
}

/// The columns of each of the [`EVENTS`].
#[derive(Clone, Debug)]
pub(crate) struct Header {
    columns: [Columns; EVENTS.len()],
    /// Whether lines say what columns are.
    within: bool,
}

impl Default for Header {
    /// The columns of the traces of IOTTA.
    fn default() -> Self {
        let moves = Columns { time: 1, offset: 5, size: 6, disk: 8 };
        let flushes = Columns { time: 1, offset: NONE, size: NONE, disk: 6 };
        Self { columns: [moves, moves, flushes], within: false }
    }
}

impl Columns {
    /// Those that a line of the header names, for an event that `moves` data or does not.
    fn named(line: &[u8], moves: bool) -> Result<Self, Box<Fault>> {
        let find = |name: &'static str| {
            let place = columns(line).take(MOST).position(|column| column == name.as_bytes());
            let place = place.map(|place| place as u8);
            place.ok_or_else(|| fault("header", line, format!("a column {name} among the first {MOST}")))
        };
        Ok(Self {
            time: find("TimeStamp")?,
            offset: if moves { find("ByteOffset")? } else { NONE },
            size: if moves { find("IOSize")? } else { NONE },
            disk: find("DiskNum")?,
        })
    }
}

/// The columns of a line.
fn columns(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Which of the [`EVENTS`] a line is of; `None` of others.
fn event_of(name: &[u8]) -> Option<usize> {
    EVENTS.iter().position(|&(event, _)| event == name)
}

/// Whether a trace may begin with this line.
pub(crate) fn is_first(line: &[u8]) -> bool {
    let name = columns(line).next().unwrap_or_default();
    name == b"BeginHeader"
        || (line.contains(&b',') && event_of(name.strip_suffix(b"Init").unwrap_or(name)).is_some())
}

/// Decodes one line.
pub(super) fn event(context: &mut Context, line: &[u8]) -> Result<Parsed, Box<Fault>> {
    let name = columns(line).next().unwrap_or_default();
    match name {
        b"BeginHeader" => context.etw.within = true,
        b"EndHeader" => context.etw.within = false,
        _ => {
            let Some(event) = event_of(name) else {
                // Other events, or what xperf says of the system after the header.
                let known = name.first().is_some_and(u8::is_ascii_alphabetic)
                    && (context.etw.within || line.contains(&b','));
                return if known {
                    Ok(Parsed::Skip)
                } else {
                    Err(fault("event", name, "a name, such as DiskRead, and columns"))
                };
            };
            if !context.etw.within {
                return request(context, line, event).map(Parsed::One);
            }
            context.etw.columns[event] = Columns::named(line, EVENTS[event].1 != Op::Flush)?;
        }
    }
    Ok(Parsed::Skip)
}

fn request(context: &mut Context, line: &[u8], event: usize) -> Result<Record, Box<Fault>> {
    let at = context.etw.columns[event];
    let (mut time, mut offset, mut size, mut disk) = (None, None, None, None);
    for (place, column) in (0u8..).zip(columns(line).take(MOST)) {
        for (wanted, found) in
            [(at.time, &mut time), (at.offset, &mut offset), (at.size, &mut size), (at.disk, &mut disk)]
        {
            if place == wanted {
                *found = Some(column);
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
        return Ok(Record { time, device, lba: 0, sectors: 0, op, fua: false });
    }
    let (offset, size) = (offset.ok_or_else(cut("ByteOffset"))?, size.ok_or_else(cut("IOSize"))?);
    let (start, length) = (number("ByteOffset", offset)?, number("IOSize", size)?);
    let (lba, sectors, rounded) = fields::bytes(start, length, offset, size)?;
    context.rounded += u64::from(rounded);
    let device = context.devices.id(disk)?;
    Ok(Record { time, device, lba, sectors, op, fua: false })
}

/// A number, hexadecimal with `0x` in front, else decimal.
fn number(field: &'static str, text: &[u8]) -> Result<u64, Box<Fault>> {
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
    use crate::trace::Format;

    fn decode(context: &mut Context, line: &str) -> Result<Parsed, Box<Fault>> {
        event(context, line.as_bytes())
    }

    fn context() -> Context {
        Context { unit: 1000, ..Context::new(Format::Etw) }
    }

    const READ: &str = "DiskRead, 8612, store.exe (3984), 11844, 0x8aa1c2f0, 0x018f0b8000, 0x00001000, 283, 2, 0x060043, 283, 3, Original, 0xe0, \"C:\\a, b\"";

    #[test]
    fn columns_are_those_of_the_published_traces_unless_a_header_says_otherwise() {
        let record = Record {
            time: 8_612_000,
            device: 0,
            lba: 0x0001_8f0b_8000 / 512,
            sectors: 8,
            op: Op::Read,
            fua: false,
        };
        assert_eq!(decode(&mut context(), READ), Ok(Parsed::One(record)));
        let mut newer = context();
        for line in [
            "BeginHeader",
            "DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags",
            "P-Start, TimeStamp, Process Name ( PID)",
            "EndHeader",
            "OS Version: 6.0.6001, Trace Size: 102400KB, Events Lost: 0",
        ] {
            assert_eq!(decode(&mut newer, line), Ok(Parsed::Skip), "{line}");
        }
        let with_cpu = READ.replacen("11844", "11844, 1", 1);
        assert_eq!(decode(&mut newer, &with_cpu), Ok(Parsed::One(record)));
        assert_eq!(newer.devices.names, [b"2".to_vec().into_boxed_slice()]);
    }

    #[test]
    fn flushes_are_requests_and_other_events_are_not() {
        let flush = Record { time: 9_000_000, device: 0, lba: 0, sectors: 0, op: Op::Flush, fua: false };
        let line = "DiskFlush, 9000, System (4), 8, 0x8aa1c2f0, 1200, 0, 0x0, 1200, 3";
        assert_eq!(decode(&mut context(), line), Ok(Parsed::One(flush)));
        for line in ["DiskReadInit, 8300, store.exe (3984), 11844, 0x8aa1c2f0", "CSwitch, 1, 2, 3"] {
            assert_eq!(decode(&mut context(), line), Ok(Parsed::Skip), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
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

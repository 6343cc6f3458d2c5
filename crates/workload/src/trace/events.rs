//! blkparse's text with what has completed, line by line.

use super::formats::{Context, Parsed};
use super::spec::{BlkEvent, Format};
use crate::Request;
use outlast_device::Command;
use outlast_units::{Lba, Nanos};

/// What a line of blkparse tells of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlkLine {
    /// A request comes (Q), with a flush before it or without.
    Asked {
        /// What is asked.
        request: Request,
        /// Whether a flush comes before it.
        flush: bool,
    },
    /// A request, or a part of one, or several at once, have completed (C).
    Done {
        /// What.
        request: Request,
        /// Whether the flush before it has, too.
        flush: bool,
    },
    /// A message (m).
    Message {
        /// When.
        at: Nanos,
        /// Its text.
        text: String,
    },
}

/// Reads lines of blkparse, those of one device.
#[derive(Debug)]
pub struct BlkLines {
    asked: Context,
    done: Context,
}

impl Default for BlkLines {
    fn default() -> Self {
        let asked = Context::new(Format::Blkparse);
        let done = Context { event: BlkEvent::C, ..asked.clone() };
        Self { asked, done }
    }
}

impl BlkLines {
    /// What the next line tells; none where that is something else, such as a request on its way to the driver.
    ///
    /// # Errors
    /// It is no line of blkparse, or one of a second device: the field, what it is, and what it must be.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<BlkLine>, String> {
        if let Some((at, text)) = message(line) {
            return Ok(Some(BlkLine::Message { at, text }));
        }
        let asked = parsed(&mut self.asked, line)?;
        if let Some((request, flush)) = asked {
            return Ok(Some(BlkLine::Asked { request, flush }));
        }
        let done = parsed(&mut self.done, line)?;
        Ok(done.map(|(request, flush)| BlkLine::Done { request, flush }))
    }
}

/// The request of a line that `context` looks for, and whether a flush comes before it.
fn parsed(context: &mut Context, line: &[u8]) -> Result<Option<(Request, bool)>, String> {
    let parsed = context
        .line(line, 0)
        .map_err(|fault| format!("{} = {}: must be {}", fault.field, fault.value, fault.expected))?;
    let (record, flush) = match parsed {
        Parsed::Skip => return Ok(None),
        Parsed::One(record) => (record, false),
        Parsed::FlushThen(record) => (record, true),
    };
    if record.device > 0 {
        let name = String::from_utf8_lossy(&context.devices.names[record.device as usize]).into_owned();
        let first = String::from_utf8_lossy(&context.devices.names[0]).into_owned();
        return Err(format!("device = {name}: must be that of the lines before, {first}"));
    }
    let command = Command { fua: record.fua, ..Command::new(record.op, Lba(record.lba), record.sectors) };
    Ok(Some((Request { at: Nanos(record.time), command }, flush)))
}

/// The time and the text of a message: what follows the letters `m N`.
fn message(line: &[u8]) -> Option<(Nanos, String)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut rest = line.trim_start();
    let mut words = [""; 7];
    for word in &mut words {
        let (first, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        // The text itself may begin with blanks: one of them ends the last of these words.
        *word = first;
        rest = if first == "N" { others } else { others.trim_start() };
    }
    let [_device, _cpu, _sequence, time, _process, "m", "N"] = words else { return None };
    let at = super::fields::time(time.as_bytes(), 1_000_000_000).ok()?;
    Some((Nanos(at), rest.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceWriter;
    use outlast_device::Op;

    fn request(at: u64, op: Op, lba: u64, sectors: u32, fua: bool) -> Request {
        Request { at: Nanos(at), command: Command { fua, ..Command::new(op, Lba(lba), sectors) } }
    }

    #[test]
    fn what_is_written_is_read_with_its_completions() {
        let all = [
            request(5, Op::Write, 100, 8, true),
            request(7, Op::Trim, 0, 2048, false),
            request(9_000_000_001, Op::Flush, 0, 0, false),
        ];
        let mut text = Vec::new();
        let mut writer = TraceWriter::new(Format::Blkparse, &mut text).unwrap();
        for own in &all {
            writer.write(own).unwrap();
            writer.remark(own.at, "mark  two  blanks").unwrap();
            writer.done(own).unwrap();
        }
        writer.end().unwrap();
        let mut lines = BlkLines::default();
        let mut found = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mut next = || lines.line(found.next().unwrap()).unwrap().unwrap();
        for own in all {
            assert_eq!(next(), BlkLine::Asked { request: own, flush: false });
            assert_eq!(next(), BlkLine::Message { at: own.at, text: "mark  two  blanks".into() });
            assert_eq!(next(), BlkLine::Done { request: own, flush: false });
        }
        assert!(found.next().is_none());
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let mut lines = BlkLines::default();
        let mut line = |text: &str| lines.line(text.as_bytes());
        let asked = line("259,2 0 1 0.000001581 4020 Q FWFS 282624 + 8 [jbd2]").unwrap().unwrap();
        let own = request(1581, Op::Write, 282_624, 8, true);
        assert_eq!(asked, BlkLine::Asked { request: own, flush: true });
        assert_eq!(line("259,2 0 2 0.000001600 4020 D WFS 282624 + 8 [jbd2]"), Ok(None));
        let flush = request(1700, Op::Flush, 0, 0, false);
        let done = line("259,2 0 3 0.000001700 0 C FF 0 [0]").unwrap().unwrap();
        assert_eq!(done, BlkLine::Done { request: flush, flush: false });
        let other = line("8,0 0 4 0.000001800 4020 Q W 0 + 8 [x]").unwrap_err();
        assert_eq!(other, "device = 8,0: must be that of the lines before, 259,2");
        assert!(line("hello").unwrap_err().starts_with("device = hello: must be major,minor"));
    }
}

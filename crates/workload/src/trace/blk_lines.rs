//! Reads blkparse's text line by line, completions and messages included.

use super::formats::{DecodeContext, ParsedLine};
use super::spec::BlkEvent;
use super::trace_format::TraceFormat;
use crate::WorkloadRequest;
use outlast_device::Command;
use outlast_units::{Lba, Nanos};

/// A line of blkparse, as far as it is a request, a completion or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlkLine {
    /// A request was queued (Q).
    Queued {
        /// Arrival and command.
        request: WorkloadRequest,
        /// True if a flush comes before it.
        flush: bool,
    },
    /// A request has completed (C), or a part of one, or several at once.
    Completed {
        /// Time of the completion, and the range that has completed.
        request: WorkloadRequest,
        /// True if the flush before it has completed, too.
        flush: bool,
    },
    /// A message (m).
    Message {
        /// Time of the message.
        at: Nanos,
        /// Text behind `m N`.
        text: String,
    },
}

/// Decodes lines of blkparse of one device.
#[derive(Debug)]
pub struct BlkLineReader {
    queued: DecodeContext,
    completed: DecodeContext,
}

impl Default for BlkLineReader {
    fn default() -> Self {
        let queued = DecodeContext::new(TraceFormat::Blkparse);
        let completed = DecodeContext { event: BlkEvent::C, ..queued.clone() };
        Self { queued, completed }
    }
}

impl BlkLineReader {
    /// Decodes the next line; `None` for any other event, such as the issue of a request to the driver.
    ///
    /// # Errors
    /// The line is not of blkparse, or of a second device: names the field, its value and the expected form.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<BlkLine>, String> {
        if let Some((at, text)) = parse_message(line) {
            return Ok(Some(BlkLine::Message { at, text }));
        }
        let queued = parse_event(&mut self.queued, line)?;
        if let Some((request, flush)) = queued {
            return Ok(Some(BlkLine::Queued { request, flush }));
        }
        let completed = parse_event(&mut self.completed, line)?;
        Ok(completed.map(|(request, flush)| BlkLine::Completed { request, flush }))
    }
}

/// The request of a line with the event of `context`, and true if a flush comes before it.
fn parse_event(context: &mut DecodeContext, line: &[u8]) -> Result<Option<(WorkloadRequest, bool)>, String> {
    let parsed = context
        .line(line, 0)
        .map_err(|fault| format!("{} = {}: must be {}", fault.field, fault.value, fault.expected))?;
    let (record, flush) = match parsed {
        ParsedLine::Skip => return Ok(None),
        ParsedLine::One(record) => (record, false),
        ParsedLine::FlushThen(record) => (record, true),
    };
    if record.device > 0 {
        let name = String::from_utf8_lossy(&context.devices.names[record.device as usize]).into_owned();
        let first = String::from_utf8_lossy(&context.devices.names[0]).into_owned();
        return Err(format!("device = {name}: must be that of the lines before, {first}"));
    }
    let command = Command { fua: record.fua, ..Command::new(record.op, Lba(record.lba), record.sectors) };
    Ok(Some((WorkloadRequest { at: Nanos(record.time), command }, flush)))
}

/// Time and text of a message, whose text follows the letters `m N`.
fn parse_message(line: &[u8]) -> Option<(Nanos, String)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut remaining = line.trim_start();
    let mut words = [""; 7];
    for word in &mut words {
        let (first, after) = remaining.split_once(char::is_whitespace).unwrap_or((remaining, ""));
        // The text itself may begin with blanks: one of them ends the last of these words.
        *word = first;
        remaining = if first == "N" { after } else { after.trim_start() };
    }
    let [_device, _cpu, _sequence, time, _process, "m", "N"] = words else { return None };
    let at = super::fields::time(time.as_bytes(), 1_000_000_000).ok()?;
    Some((Nanos(at), remaining.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceWriter;
    use outlast_device::Op;

    fn request(at: u64, op: Op, lba: u64, sectors: u32, fua: bool) -> WorkloadRequest {
        WorkloadRequest { at: Nanos(at), command: Command { fua, ..Command::new(op, Lba(lba), sectors) } }
    }

    #[test]
    fn written_requests_are_read_back_with_completions_and_messages() {
        let all = [
            request(5, Op::Write, 100, 8, true),
            request(7, Op::Trim, 0, 2048, false),
            request(9_000_000_001, Op::Flush, 0, 0, false),
        ];
        let mut text = Vec::new();
        let mut writer = TraceWriter::new(TraceFormat::Blkparse, &mut text).unwrap();
        for request in &all {
            writer.write(request).unwrap();
            writer.write_message(request.at, "mark  two  blanks").unwrap();
            writer.write_completion(request).unwrap();
        }
        writer.finish().unwrap();
        let mut lines = BlkLineReader::default();
        let mut written = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mut next = || lines.line(written.next().unwrap()).unwrap().unwrap();
        for request in all {
            assert_eq!(next(), BlkLine::Queued { request, flush: false });
            assert_eq!(next(), BlkLine::Message { at: request.at, text: "mark  two  blanks".into() });
            assert_eq!(next(), BlkLine::Completed { request, flush: false });
        }
        assert!(written.next().is_none());
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let mut lines = BlkLineReader::default();
        let mut line = |text: &str| lines.line(text.as_bytes());
        let queued = line("259,2 0 1 0.000001581 4020 Q FWFS 282624 + 8 [jbd2]").unwrap().unwrap();
        let write = request(1581, Op::Write, 282_624, 8, true);
        assert_eq!(queued, BlkLine::Queued { request: write, flush: true });
        assert_eq!(line("259,2 0 2 0.000001600 4020 D WFS 282624 + 8 [jbd2]"), Ok(None));
        let flush = request(1700, Op::Flush, 0, 0, false);
        let completed = line("259,2 0 3 0.000001700 0 C FF 0 [0]").unwrap().unwrap();
        assert_eq!(completed, BlkLine::Completed { request: flush, flush: false });
        let other = line("8,0 0 4 0.000001800 4020 Q W 0 + 8 [x]").unwrap_err();
        assert_eq!(other, "device = 8,0: must be that of the lines before, 259,2");
        assert!(line("hello").unwrap_err().starts_with("device = hello: must be major,minor"));
    }
}

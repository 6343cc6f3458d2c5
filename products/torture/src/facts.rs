//! Facts of a recording for reports, as they are written to JSON.

use crate::history::{CommandHistory, EventKind, WriteData};
use outlast_units::SECTOR_BYTES;
use serde::Serialize;

/// A mark of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarkFact {
    /// Index of its event.
    pub event: usize,
    /// Its time in nanoseconds.
    pub at_ns: u64,
    /// Text of the mark.
    pub text: String,
}

/// Counts, window and marks of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordingFacts {
    /// Kind of the recording: `image`, `dm-log-writes` or `list`.
    pub source: &'static str,
    /// Bytes of the device.
    pub capacity: u64,
    /// Number of writes, writes of zeroes included, trims not.
    pub writes: u64,
    /// Bytes of writes with a payload.
    pub bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Events.
    pub events: usize,
    /// First and last cut to examine, in events before the cut.
    pub window: (usize, usize),
    /// Times of these two cuts.
    pub window_ns: (u64, u64),
    /// True if events have times; otherwise their time is their number.
    pub has_times: bool,
    /// All marks, the recorder's own among them.
    pub marks: Vec<MarkFact>,
}

/// One event of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventFact<'a> {
    /// Index of the event.
    pub event: usize,
    /// Its time in nanoseconds.
    pub at_ns: u64,
    /// One of `write`, `trim`, `flush`, the same with `-done`, and `mark`.
    pub kind: &'static str,
    /// The number of the write or trim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<u32>,
    /// The number of the flush.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<u32>,
    /// First sector of the write or trim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lba: Option<u64>,
    /// Number of its sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u32>,
    /// True with forced unit access.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fua: bool,
    /// Text of the mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

impl CommandHistory {
    /// Facts of the recording; `source` is its kind.
    pub fn facts(&self, source: &'static str) -> RecordingFacts {
        let window = self.window();
        let trims = self.writes.iter().filter(|write| write.is_trim).count();
        let sectors = self.writes.iter().filter(|write| matches!(write.data, WriteData::At { .. }));
        let mark = |mark: &crate::history::RecordedMark| MarkFact {
            event: mark.event,
            at_ns: self.events[mark.event].at.0,
            text: mark.text.clone(),
        };
        RecordingFacts {
            source,
            capacity: self.capacity * SECTOR_BYTES,
            writes: (self.writes.len() - trims) as u64,
            bytes: sectors.map(|write| u64::from(write.sectors)).sum::<u64>() * SECTOR_BYTES,
            flushes: self.flushes.len() as u64,
            trims: trims as u64,
            events: self.events.len(),
            window,
            window_ns: (self.time_of(window.0).0, self.time_of(window.1).0),
            has_times: self.has_times,
            marks: self.marks.iter().map(mark).collect(),
        }
    }

    /// Events between the first and the last cut to examine.
    pub fn timeline(&self) -> impl Iterator<Item = EventFact<'_>> {
        let (first, last) = self.window();
        (first..last).map(|event| self.event_fact(event))
    }

    fn event_fact(&self, event: usize) -> EventFact<'_> {
        let fact = EventFact { event, at_ns: self.events[event].at.0, ..EventFact::default() };
        match self.events[event].kind {
            EventKind::Write(id) | EventKind::WriteDone(id) => {
                let write = &self.writes[id.0 as usize];
                let is_done = matches!(self.events[event].kind, EventKind::WriteDone(_));
                let kind = match (write.is_trim, is_done) {
                    (false, false) => "write",
                    (false, true) => "write-done",
                    (true, false) => "trim",
                    (true, true) => "trim-done",
                };
                let (lba, sectors) = (Some(write.lba.0), Some(write.sectors));
                EventFact { kind, write: Some(id.0), lba, sectors, fua: write.fua, ..fact }
            }
            EventKind::Flush(id) => EventFact { kind: "flush", flush: Some(id.0), ..fact },
            EventKind::FlushDone(id) => EventFact { kind: "flush-done", flush: Some(id.0), ..fact },
            EventKind::Mark(index) => {
                EventFact { kind: "mark", text: Some(&self.marks[index as usize].text), ..fact }
            }
        }
    }
}

//! A history for people and reports.

use crate::history::{Data, History, What};
use outlast_units::SECTOR_BYTES;
use serde::Serialize;

/// A mark, told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarkFact {
    /// The event.
    pub event: usize,
    /// Its time in nanoseconds.
    pub at_ns: u64,
    /// What was noted.
    pub text: String,
}

/// What there is in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// What the recording was made by.
    pub source: &'static str,
    /// Bytes of the device.
    pub capacity: u64,
    /// Writes, and zeroes that are no trims.
    pub writes: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Events.
    pub events: usize,
    /// Cuts that count: after so many events, first and last.
    pub window: (usize, usize),
    /// Their times.
    pub window_ns: (u64, u64),
    /// Whether events have times; otherwise those are their numbers.
    pub has_times: bool,
    /// All marks, the recorder's own among them.
    pub marks: Vec<MarkFact>,
}

/// An event of a recording, told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventFact<'a> {
    /// Its number.
    pub event: usize,
    /// Its time in nanoseconds.
    pub at_ns: u64,
    /// `write`, `trim`, `flush`, these with `-done`, or `mark`.
    pub kind: &'static str,
    /// The number of the write or trim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<u32>,
    /// The number of the flush.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<u32>,
    /// Its first sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lba: Option<u64>,
    /// Its sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u32>,
    /// Whether it has forced unit access.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fua: bool,
    /// What was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

impl History {
    /// What there is in it; `source` is what it was made by.
    pub fn facts(&self, source: &'static str) -> Facts {
        let window = self.window();
        let trims = self.writes.iter().filter(|write| write.is_trim).count();
        let sectors = self.writes.iter().filter(|write| matches!(write.data, Data::At { .. }));
        let mark = |mark: &crate::history::Mark| MarkFact {
            event: mark.event,
            at_ns: self.events[mark.event].at.0,
            text: mark.text.clone(),
        };
        Facts {
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

    /// The events between the first and the last cut that count.
    pub fn timeline(&self) -> impl Iterator<Item = EventFact<'_>> {
        let (first, last) = self.window();
        (first..last).map(|event| self.told(event))
    }

    fn told(&self, event: usize) -> EventFact<'_> {
        let fact = EventFact { event, at_ns: self.events[event].at.0, ..EventFact::default() };
        match self.events[event].what {
            What::Write(id) | What::WriteDone(id) => {
                let write = &self.writes[id.0 as usize];
                let is_done = matches!(self.events[event].what, What::WriteDone(_));
                let kind = match (write.is_trim, is_done) {
                    (false, false) => "write",
                    (false, true) => "write-done",
                    (true, false) => "trim",
                    (true, true) => "trim-done",
                };
                let (lba, sectors) = (Some(write.lba.0), Some(write.sectors));
                EventFact { kind, write: Some(id.0), lba, sectors, fua: write.fua, ..fact }
            }
            What::Flush(id) => EventFact { kind: "flush", flush: Some(id.0), ..fact },
            What::FlushDone(id) => EventFact { kind: "flush-done", flush: Some(id.0), ..fact },
            What::Mark(index) => {
                EventFact { kind: "mark", text: Some(&self.marks[index as usize].text), ..fact }
            }
        }
    }
}

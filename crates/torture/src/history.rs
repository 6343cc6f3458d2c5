//! What a device was asked, and when it answered.

use crate::source::Source;
use crate::versions::Versions;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::io;

/// A write, counted from 0 in order of arrival; trims and writes of zeroes are writes, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteId(pub u32);

/// A flush, counted from 0 in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlushId(pub u32);

/// The bytes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// It makes its sectors zero.
    Zeroes,
    /// They lie in a file of the recording's source, one sector after another.
    At {
        /// Which of them.
        file: u32,
        /// At which byte.
        offset: u64,
    },
}

/// A write, a trim, or zeroes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its first sector.
    pub lba: Lba,
    /// How many it has; not 0.
    pub sectors: u32,
    /// What it brings.
    pub data: Data,
    /// Whether it is a trim.
    pub is_trim: bool,
    /// Whether it is durable when it has completed (forced unit access).
    pub fua: bool,
    /// The event of its arrival.
    pub submitted: usize,
    /// The event of its completion; none if that is not in the recording, or if it failed.
    pub completed: Option<usize>,
    /// The event from which on a loss of power must leave it there, and the flush that saw to that; no flush for forced unit access.
    pub covered: Option<(usize, Option<FlushId>)>,
}

impl Write {
    /// Its sectors.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.lba.0..self.lba.0 + u64::from(self.sectors)
    }

    /// Whether a loss of power after `cut` events must leave it there.
    pub fn is_covered(&self, cut: usize) -> bool {
        self.covered.is_some_and(|(event, _)| event < cut)
    }
}

/// A flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The event of its arrival.
    pub submitted: usize,
    /// The event of its completion, if that is in the recording.
    pub completed: Option<usize>,
}

/// What somebody noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The event.
    pub event: usize,
    /// What was noted.
    pub text: String,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A write arrives.
    Write(WriteId),
    /// A write has completed.
    WriteDone(WriteId),
    /// A flush arrives.
    Flush(FlushId),
    /// A flush has completed.
    FlushDone(FlushId),
    /// Something is noted: an index of [`History::marks`].
    Mark(u32),
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, by the device's time; where a recording has no times, its number.
    pub at: Nanos,
    /// What.
    pub what: What,
}

/// The prefix of marks that belong to the recorder.
const OWN: &str = "outlast:";

/// What a device was asked, and when it answered, in order.
#[derive(Debug)]
pub struct History {
    /// Sectors of the device.
    pub capacity: u64,
    /// Whether events have times; otherwise those are their numbers.
    pub has_times: bool,
    /// All events.
    pub events: Vec<Event>,
    /// All writes.
    pub writes: Vec<Write>,
    /// All flushes.
    pub flushes: Vec<Flush>,
    /// All marks, the recorder's own among them.
    pub marks: Vec<Mark>,
    pub(crate) versions: Versions,
    pub(crate) source: Box<dyn Source>,
}

impl History {
    /// What every sector held one after another.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Fills `to` with bytes of a write, from sector `lba` on.
    ///
    /// # Errors
    /// They cannot be read any more.
    pub fn read_write(&self, write: WriteId, lba: u64, to: &mut [u8]) -> io::Result<()> {
        let write = &self.writes[write.0 as usize];
        match write.data {
            Data::Zeroes => to.fill(0),
            Data::At { file, offset } => {
                self.source.read(file, offset + (lba - write.lba.0) * SECTOR_BYTES, to)?;
            }
        }
        Ok(())
    }

    /// The cuts that count: from the recorder's mark of the beginning to its last one; without them all.
    pub fn window(&self) -> (usize, usize) {
        let own = |name: &str| {
            let mark = self.marks.iter().rev().find(|mark| mark.text.strip_prefix(OWN) == Some(name));
            mark.map(|mark| mark.event + 1)
        };
        let last = self.events.len();
        (own("begin").unwrap_or(0), own("unmounted").or_else(|| own("end")).unwrap_or(last))
    }

    /// When the cut after `cut` events begins: at the last of them.
    pub fn time_of(&self, cut: usize) -> Nanos {
        cut.checked_sub(1).and_then(|last| self.events.get(last)).map_or(Nanos::ZERO, |event| event.at)
    }

    /// How many events have happened by `at`.
    pub fn cut_at(&self, at: Nanos) -> usize {
        self.events.partition_point(|event| event.at <= at)
    }

    /// The marks before the cut that are not the recorder's own.
    pub fn marks_at(&self, cut: usize) -> impl DoubleEndedIterator<Item = &Mark> {
        let count = self.marks.partition_point(|mark| mark.event < cut);
        self.marks[..count].iter().filter(|mark| !mark.text.starts_with(OWN))
    }

    /// The last of them.
    pub fn mark_at(&self, cut: usize) -> Option<&Mark> {
        self.marks_at(cut).next_back()
    }
}

/// Makes a history of what is told in order of time.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    events: Vec<Event>,
    writes: Vec<Write>,
    flushes: Vec<Flush>,
    marks: Vec<Mark>,
    /// Writes that no flush covers, in order.
    open: Vec<WriteId>,
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    fn event(&mut self, at: Nanos, what: What) -> usize {
        self.events.push(Event { at, what });
        self.events.len() - 1
    }

    /// A write of `data` to `sectors` sectors arrives; `is_trim` where it is a trim, which makes them zero.
    pub fn write(
        &mut self,
        at: Nanos,
        lba: Lba,
        sectors: u32,
        data: Data,
        (fua, is_trim): (bool, bool),
    ) -> WriteId {
        let id = WriteId(self.writes.len() as u32);
        let submitted = self.event(at, What::Write(id));
        self.writes.push(Write {
            lba,
            sectors,
            data,
            is_trim,
            fua,
            submitted,
            completed: None,
            covered: None,
        });
        self.open.push(id);
        id
    }

    /// A write has completed without an error.
    pub fn write_done(&mut self, at: Nanos, id: WriteId) {
        let event = self.event(at, What::WriteDone(id));
        let write = &mut self.writes[id.0 as usize];
        write.completed = Some(event);
        if write.fua {
            write.covered = Some((event, None));
            self.open.retain(|&open| open != id);
        }
    }

    /// A flush arrives.
    pub fn flush(&mut self, at: Nanos) -> FlushId {
        let id = FlushId(self.flushes.len() as u32);
        let submitted = self.event(at, What::Flush(id));
        self.flushes.push(Flush { submitted, completed: None });
        id
    }

    /// A flush has completed without an error.
    pub fn flush_done(&mut self, at: Nanos, id: FlushId) {
        let event = self.event(at, What::FlushDone(id));
        let flush = &mut self.flushes[id.0 as usize];
        flush.completed = Some(event);
        let (since, writes) = (flush.submitted, &mut self.writes);
        self.open.retain(|&open| {
            let write = &mut writes[open.0 as usize];
            let is_covered = write.completed.is_some_and(|completed| completed < since);
            if is_covered {
                write.covered = Some((event, Some(id)));
            }
            !is_covered
        });
    }

    /// Something is noted.
    pub fn mark(&mut self, at: Nanos, text: String) {
        let event = self.event(at, What::Mark(self.marks.len() as u32));
        self.marks.push(Mark { event, text });
    }

    /// The history of a device of `capacity` sectors. `has_times`: events have come with their times, not with numbers.
    ///
    /// # Errors
    /// The bytes of a write cannot be read from `source`.
    pub fn finish(self, capacity: u64, has_times: bool, source: Box<dyn Source>) -> io::Result<History> {
        let Self { events, writes, flushes, marks, .. } = self;
        let versions = Versions::of(&writes, source.as_ref())?;
        Ok(History { capacity, has_times, events, writes, flushes, marks, versions, source })
    }
}

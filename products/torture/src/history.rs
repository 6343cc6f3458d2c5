//! The commands that a device received, and the order and time of their completions.

use crate::source::PayloadSource;
use crate::versions::SectorVersions;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::io;

/// A write, counted from 0 in order of arrival; trims and writes of zeroes are writes, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteId(pub u32);

/// A flush, counted from 0 in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlushId(pub u32);

/// Location of the bytes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteData {
    /// None are recorded: the sectors become zero.
    Zeroes,
    /// In a file of the recording's [`PayloadSource`], sector after sector.
    At {
        /// Number of the file.
        file: u32,
        /// Byte at which the first sector begins.
        offset: u64,
    },
}

/// A write, a trim, or a write of zeroes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedWrite {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors, at least 1.
    pub sectors: u32,
    /// Location of its bytes.
    pub data: WriteData,
    /// True of a trim.
    pub is_trim: bool,
    /// Forced unit access: durable once completed.
    pub fua: bool,
    /// Index of the event at which it arrived.
    pub submitted: usize,
    /// Index of the event at which it completed; `None` if it failed, or if the recording ends before.
    pub completed: Option<usize>,
    /// Index of the event from which on a loss of power must not lose it, and the flush that guarantees it; no flush for forced unit access.
    pub covered: Option<(usize, Option<FlushId>)>,
}

impl RecordedWrite {
    /// The sectors written.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.lba.0..self.lba.0 + u64::from(self.sectors)
    }

    /// True if a power loss after `cut` events must not lose the write.
    pub fn is_covered(&self, cut: usize) -> bool {
        self.covered.is_some_and(|(event, _)| event < cut)
    }
}

/// A flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFlush {
    /// Index of the event at which it arrived.
    pub submitted: usize,
    /// Index of the event at which it completed, if the recording has it.
    pub completed: Option<usize>,
}

/// A remark in a recording, made by a client or by the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMark {
    /// Index of its event.
    pub event: usize,
    /// Text of the remark.
    pub text: String,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A write arrives.
    Write(WriteId),
    /// A write has completed.
    WriteDone(WriteId),
    /// A flush arrives.
    Flush(FlushId),
    /// A flush has completed.
    FlushDone(FlushId),
    /// A remark, by its index in [`CommandHistory::marks`].
    Mark(u32),
}

/// One event of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Time of the device; in a recording without times, the number of the event.
    pub at: Nanos,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Prefix of the marks that the recorder sets.
const RECORDER_PREFIX: &str = "outlast:";

/// All commands of a recording in order of arrival, with the events of their completion.
#[derive(Debug)]
pub struct CommandHistory {
    /// Sectors of the device.
    pub capacity: u64,
    /// True if events have times; otherwise their time is their number.
    pub has_times: bool,
    /// All events.
    pub events: Vec<RecordedEvent>,
    /// All writes.
    pub writes: Vec<RecordedWrite>,
    /// All flushes.
    pub flushes: Vec<RecordedFlush>,
    /// All marks, the recorder's own among them.
    pub marks: Vec<RecordedMark>,
    pub(crate) versions: SectorVersions,
    pub(crate) source: Box<dyn PayloadSource>,
}

impl CommandHistory {
    /// All contents that each sector has held.
    pub fn versions(&self) -> &SectorVersions {
        &self.versions
    }

    /// Fills `to` with bytes of a write, from sector `lba` on.
    ///
    /// # Errors
    /// The payload cannot be read any more.
    pub fn read_write(&self, write: WriteId, lba: u64, to: &mut [u8]) -> io::Result<()> {
        let write = &self.writes[write.0 as usize];
        match write.data {
            WriteData::Zeroes => to.fill(0),
            WriteData::At { file, offset } => {
                self.source.read(file, offset + (lba - write.lba.0) * SECTOR_BYTES, to)?;
            }
        }
        Ok(())
    }

    /// Range of cuts to examine: from the recorder's `begin` mark to its `unmounted` or `end` mark; all cuts in a recording without these marks.
    pub fn window(&self) -> (usize, usize) {
        let recorder_mark = |name: &str| {
            let mark =
                self.marks.iter().rev().find(|mark| mark.text.strip_prefix(RECORDER_PREFIX) == Some(name));
            mark.map(|mark| mark.event + 1)
        };
        let last = self.events.len();
        (
            recorder_mark("begin").unwrap_or(0),
            recorder_mark("unmounted").or_else(|| recorder_mark("end")).unwrap_or(last),
        )
    }

    /// Time at which the cut after `cut` events begins: that of the last of these events.
    pub fn time_of(&self, cut: usize) -> Nanos {
        cut.checked_sub(1).and_then(|last| self.events.get(last)).map_or(Nanos::ZERO, |event| event.at)
    }

    /// Number of events up to and including time `at`.
    pub fn cut_at(&self, at: Nanos) -> usize {
        self.events.partition_point(|event| event.at <= at)
    }

    /// Marks of clients before the cut, without those of the recorder.
    pub fn marks_at(&self, cut: usize) -> impl DoubleEndedIterator<Item = &RecordedMark> {
        let count = self.marks.partition_point(|mark| mark.event < cut);
        self.marks[..count].iter().filter(|mark| !mark.text.starts_with(RECORDER_PREFIX))
    }

    /// The last client mark before the cut.
    pub fn mark_at(&self, cut: usize) -> Option<&RecordedMark> {
        self.marks_at(cut).next_back()
    }
}

/// Builds a [`CommandHistory`] from events that are added in order of time.
#[derive(Clone, Debug, Default)]
pub struct HistoryBuilder {
    events: Vec<RecordedEvent>,
    writes: Vec<RecordedWrite>,
    flushes: Vec<RecordedFlush>,
    marks: Vec<RecordedMark>,
    /// Writes that no flush covers yet, in order of arrival.
    open: Vec<WriteId>,
}

impl HistoryBuilder {
    /// A builder without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events so far.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// True if no event has been added.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    fn event(&mut self, at: Nanos, kind: EventKind) -> usize {
        self.events.push(RecordedEvent { at, kind });
        self.events.len() - 1
    }

    /// Adds the arrival of a write of `data` to `sectors` sectors; a trim has `is_trim` and [`WriteData::Zeroes`].
    pub fn write(
        &mut self,
        at: Nanos,
        lba: Lba,
        sectors: u32,
        data: WriteData,
        (fua, is_trim): (bool, bool),
    ) -> WriteId {
        let id = WriteId(self.writes.len() as u32);
        let submitted = self.event(at, EventKind::Write(id));
        self.writes.push(RecordedWrite {
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

    /// Adds the successful completion of a write.
    pub fn write_done(&mut self, at: Nanos, id: WriteId) {
        let event = self.event(at, EventKind::WriteDone(id));
        let write = &mut self.writes[id.0 as usize];
        write.completed = Some(event);
        if write.fua {
            write.covered = Some((event, None));
            self.open.retain(|&open| open != id);
        }
    }

    /// Adds the arrival of a flush.
    pub fn flush(&mut self, at: Nanos) -> FlushId {
        let id = FlushId(self.flushes.len() as u32);
        let submitted = self.event(at, EventKind::Flush(id));
        self.flushes.push(RecordedFlush { submitted, completed: None });
        id
    }

    /// Adds the successful completion of a flush, which covers all writes that had completed when it arrived.
    pub fn flush_done(&mut self, at: Nanos, id: FlushId) {
        let event = self.event(at, EventKind::FlushDone(id));
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

    /// Adds a remark.
    pub fn mark(&mut self, at: Nanos, text: String) {
        let event = self.event(at, EventKind::Mark(self.marks.len() as u32));
        self.marks.push(RecordedMark { event, text });
    }

    /// Completes the history of a device of `capacity` sectors. `has_times`: the events were added with times, not with their numbers.
    ///
    /// # Errors
    /// The bytes of a write cannot be read from `source`.
    pub fn finish(
        self,
        capacity: u64,
        has_times: bool,
        source: Box<dyn PayloadSource>,
    ) -> io::Result<CommandHistory> {
        let Self { events, writes, flushes, marks, .. } = self;
        let versions = SectorVersions::build(&writes, source.as_ref())?;
        Ok(CommandHistory { capacity, has_times, events, writes, flushes, marks, versions, source })
    }
}

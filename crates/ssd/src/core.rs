//! One flash core: its translation layer, its processor, and the internal tasks under way.

use crate::cover::OpenStripe;
use crate::op::{Task, UnitWork};
use crate::read::CoreCells;
use crate::scrub::Scrub;
use outlast_ftl::{Ftl, Stream};
use outlast_media::Faults;
use outlast_units::{Nanos, SuperblockId};
use std::collections::VecDeque;

/// A processor that handles one piece of work at a time, in order.
#[derive(Clone, Debug)]
pub(crate) struct Processor<W> {
    pub(crate) free_at: Nanos,
    /// Work whose processing ends at the given time.
    pub(crate) queue: VecDeque<(Nanos, W)>,
}

impl<W> Default for Processor<W> {
    fn default() -> Self {
        Self { free_at: Nanos::ZERO, queue: VecDeque::new() }
    }
}

impl<W> Processor<W> {
    /// Takes on `work`; returns when it will be done.
    pub(crate) fn take(&mut self, now: Nanos, cost: Nanos, work: W) -> Nanos {
        let done = self.occupy(now, cost);
        self.queue.push_back((done, work));
        done
    }

    /// Is busy for `cost` more; returns until when.
    pub(crate) fn occupy(&mut self, now: Nanos, cost: Nanos) -> Nanos {
        self.free_at = self.free_at.max(now) + cost;
        self.free_at
    }

    /// When the first piece of work is done.
    pub(crate) fn next(&self) -> Nanos {
        self.queue.front().map_or(Nanos::MAX, |&(at, _)| at)
    }
}

/// What a flash core is asked to act on: one unit, or the neighbouring units of a read that share a program unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreWork {
    /// The first unit.
    pub(crate) work: UnitWork,
    pub(crate) units: u32,
}

impl Processor<CoreWork> {
    /// Adds a unit to the work taken on last, which is done when `cost` has been spent on that unit, too.
    pub(crate) fn take_another_unit(&mut self, now: Nanos, cost: Nanos) {
        let done = self.occupy(now, cost);
        if let Some((at, last)) = self.queue.back_mut() {
            *at = done;
            last.units += 1;
        }
    }
}

/// A superblock being relocated: read valid units, write them to a stream, erase.
#[derive(Clone, Debug)]
pub(crate) struct Relocation {
    pub(crate) superblock: SuperblockId,
    pub(crate) stream: Stream,
    /// Program units (counted within the superblock) that held valid data when it was chosen: a stretch for each die.
    pub(crate) todo: Vec<u32>,
    /// Next entry of `todo`, and the end, for each die; equal when the die has nothing more to read.
    pub(crate) cursors: Vec<(u32, u32)>,
    /// Dies that have something more to read.
    pub(crate) dies_left: u32,
    pub(crate) reads_in_flight: u32,
    /// Lanes still to be erased; zero until erasing begins.
    pub(crate) erases_left: u32,
    /// Valid units that collection must still move until a superblock is gained for the host: of this victim, and of those
    /// after it if the gain of this one goes into the stream's own next superblock. An estimate: later victims are taken
    /// to hold what this one held.
    pub(crate) work_left: u32,
}

/// A victim whose data has all been read and relocated, but is not all on flash: it is erased when it is. Meanwhile the next
/// victim may begin, and its data fills the program unit that this one's has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) superblock: SuperblockId,
    /// Programs with this epoch are of this victim's data (or older), and so many of them have not ended.
    pub(crate) epoch: u32,
    pub(crate) programs: u32,
    /// The program unit that its last data has begun, until it is programmed.
    pub(crate) begun: Option<u32>,
    /// Lanes still to be erased; zero until erasing begins.
    pub(crate) erases_left: u32,
}

/// What an internal task has on its way to flash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing {
    /// Program operations of the current epoch that have not ended.
    pub(crate) programs: u32,
    /// Counts victims, so that programs of different ones are told apart.
    pub(crate) epoch: u32,
    pub(crate) waiting: Option<Waiting>,
}

/// Credit is counted in 2^-16 units.
pub(crate) const CREDIT_ONE: u64 = 1 << 16;

/// A host write that waits for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingWrite {
    pub(crate) work: UnitWork,
    pub(crate) stream: Stream,
}

/// A flash core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) ftl: Ftl,
    pub(crate) cpu: Processor<CoreWork>,
    /// Host units in the buffer, and how many fit.
    pub(crate) buffered: u32,
    pub(crate) buffer_units: u32,
    /// Host writes that wait for the buffer, for space, or for credit: first come, first served.
    pub(crate) waiting: VecDeque<WaitingWrite>,
    /// Garbage collection, wear levelling and scrubbing, by [`Task`].
    pub(crate) relocations: [Option<Relocation>; Task::COUNT],
    /// Relocated data on its way to flash, by task.
    pub(crate) outgoing: [Outgoing; Task::COUNT],
    /// Whether a victim cannot be erased before what superseded its units has left the buffer.
    pub(crate) pinned: bool,
    /// Program units of relocated data that hold host data, too, since its own program operation failed; and the flush epochs that
    /// wait for them. Only where the buffer is not protected.
    pub(crate) moved_in: Vec<(u32, u32)>,
    /// Units of relocation reads that are further down the recovery ladder than the die that read them.
    pub(crate) recovering: u32,
    /// What the cells have been through; absent where the flash never errs.
    pub(crate) cells: Option<CoreCells>,
    /// What is broken; absent where nothing ever is.
    pub(crate) faults: Option<Faults>,
    pub(crate) scrub: Option<Scrub>,
    /// The open stripe of each stream.
    pub(crate) stripes: Vec<OpenStripe>,
    /// Relocated units on their way to flash, and how many there may be.
    pub(crate) relocating: u32,
    pub(crate) relocating_max: u32,
    /// Host units that may be written while collection runs, in 2^-16 units.
    pub(crate) credit: u64,
    /// Whether a stream's next program units are being handed out, the parity that they make due included; and whether waiting writes
    /// are to be let in when that is done.
    pub(crate) handing_out: bool,
    pub(crate) pump_owed: bool,
    /// Since when the first waiting write has waited for collection.
    pub(crate) blocked_since: Option<Nanos>,
    /// First die (over the drive) of each local die.
    pub(crate) dies: Vec<u16>,
    /// Spare buffers for the next relocation's lists.
    pub(crate) spare_lists: (Vec<u32>, Vec<(u32, u32)>),
}

//! The one interface for everything that stores. An SSD is a [`Device`]; an array is a device made of devices. No device
//! reads a clock, opens a file or draws from a global generator: time comes in as `now`, effects go out as completions.
//!
//! Some questions take no simulated time, change nothing, and cost nothing unless they are asked: [`Device::extents`] tells for each sector whether it holds
//! data, is lost, lies in the wrong place, or would be undone by a loss of power, and [`Device::take_failed`] which sectors made a command fail (decision
//! 0045).

mod command;
pub mod extended_health;
mod extent;
pub mod health_log;
mod heat;
mod latency;
mod peek;
mod smart;
mod status;
mod zones;

pub use command::{
    Command, CommandResult, Completion, Identity, NamespaceId, Op, Outcome, PlacementId, QueueId, Tag,
};

pub use extent::{Extent, ExtentState, Extents, SectorRun};
pub use heat::{Heat, heat_bytes};
pub use latency::{Latencies, LatencyCause, LatencyParts};
pub use peek::{Held, Peek};
pub use smart::Smart;
pub use status::{LbaRun, Notice, NoticeKind};
pub use zones::{
    RandomWriteAreas, ZoneAction, ZoneDescriptor, ZoneError, ZoneId, ZoneLayout, ZoneLimits, ZoneState,
    ZoneTable, share_of,
};

use outlast_units::{Lba, Nanos};

/// A machine that stores bytes.
///
/// **Call order.** `submit` and `advance` take the time as an argument, and that time must never run backwards. After any
/// `submit` or `advance`, [`Device::next_deadline`] may have changed. A caller that wants every completion at its exact
/// time calls `advance` with each deadline in turn; calling it late gives the same completions with the same `at`, only in
/// one batch. Calling it early is harmless: nothing happens.
pub trait Device {
    /// Hands over one command. Completions of commands may come in any order; `tag` names this one.
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag);

    /// As [`Device::submit`], with the bytes of a write. A device that keeps no bytes ignores them.
    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, _data: &[u8]) {
        self.submit(now, command, tag);
    }

    /// The bytes that the completed read `tag` returned; `None` when the device keeps no bytes. Once for each read.
    fn take_data(&mut self, _tag: Tag) -> Option<Vec<u8>> {
        None
    }

    /// Takes back the memory of data that was [taken](Device::take_data), for data to come.
    fn return_data(&mut self, _memory: Vec<u8>) {}

    /// The answer to the completed [`Op::LbaStatus`] `tag`: runs in order of address that do not touch, except for runs that differ in
    /// `readable`. Once for each such command; `None` where the device knows of nothing.
    fn take_lba_status(&mut self, _tag: Tag) -> Option<Vec<LbaRun>> {
        None
    }

    /// Which sectors made the command `tag` end with [`Outcome::MediumError`]: runs in order of address that do not touch, at least one. A
    /// device may give up at the first failure, and what lies outside the runs be as bad. Once for each such command, before its tag is used
    /// again; `None` for all others.
    fn take_failed(&mut self, _tag: Tag) -> Option<Vec<SectorRun>> {
        None
    }

    /// Where the time of the completed command `tag` went, from its submission to its completion: the sum is its latency. Once for each
    /// command, before its tag is used again; `None` where the device does not keep account of it.
    fn take_parts(&mut self, _tag: Tag) -> Option<LatencyParts> {
        None
    }

    /// What the device says of `sectors` sectors from `lba` on, as far as they are within its capacity: runs in order of address that
    /// cover all of them. Takes no simulated time and changes nothing; of the machine it takes time in proportion to the sectors.
    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent>;

    /// What reading `sectors` sectors from `lba` on would give, as far as they are within its capacity: runs in order of address that cover all
    /// of them, each in one piece of memory, appended to `to`. Takes no simulated time and changes nothing. Errors by chance are not foreseen,
    /// and where only a read can tell, [`Held::Unknown`] says so; so does a device that cannot look at all.
    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        let end = lba.0.saturating_add(sectors).min(self.identify().capacity.0 / outlast_units::SECTOR_BYTES);
        if lba.0 < end {
            to.push(Peek { lba, sectors: end - lba.0, held: Held::Unknown });
        }
    }

    /// The oldest thing that the device has to tell unasked and has not told yet. To be asked for after `advance`.
    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    /// Whether the device has something to tell. A caller that advances to the next completion gets the time back then, so that what is
    /// told while nothing else goes on is heard when it is told.
    #[inline]
    fn has_notice(&self) -> bool {
        false
    }

    /// When something will next happen by itself; `None` when the device is idle.
    fn next_deadline(&self) -> Option<Nanos>;

    /// Does everything that is due up to and including `now` and appends what has completed, in order of time.
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>);

    /// Advances until something completes, the device has something to tell, or `limit` is reached, whichever is earlier, and returns the
    /// time reached. For a caller whose next command depends on a completion (closed loop).
    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        let before = completions.len();
        loop {
            match self.next_deadline() {
                Some(deadline) if deadline <= limit => {
                    self.advance(deadline, completions);
                    if completions.len() > before || self.has_notice() {
                        return deadline;
                    }
                }
                _ => {
                    self.advance(limit, completions);
                    return limit;
                }
            }
        }
    }

    /// Tells which commands will soon be submitted. Changes nothing that can be observed; a device may use it to bring
    /// its tables into the processor's cache.
    fn hint(&self, _upcoming: &[Command]) {}

    /// The zones of the device, with their states and write pointers (`NVMe`: Zone Management Receive); `None` where it has none.
    fn zones(&self) -> Option<&ZoneTable> {
        None
    }

    /// What the device is.
    fn identify(&self) -> Identity;

    /// What the device tells about its health.
    fn smart(&self) -> Smart;

    /// Commands that have been submitted and whose completion has not come out, in any order: their tags and, unless only a read that is
    /// complete knows them, their sectors; `None` where the device does not say. For checks of state that was read.
    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        None
    }

    /// Checks every invariant, at a cost proportional to the device's size. For tests.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    fn self_check(&self) -> Result<(), String>;
}

/// A device whose power can fail.
pub trait PowerCycle {
    /// Power fails at `off` and is there again at `on`: commands in flight are forgotten, each sector of a write in flight may or may
    /// not have been written, and what was only in a volatile cache may be lost. Between the two nothing happens; what was to happen
    /// then happens at `on`. To be called when power is back, with nothing asked of the device since `off`.
    fn power_cycle(&mut self, off: Nanos, on: Nanos);

    /// Power fails at `now` and is there again at once.
    fn power_cut(&mut self, now: Nanos) {
        self.power_cycle(now, now);
    }
}

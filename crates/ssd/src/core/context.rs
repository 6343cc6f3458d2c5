//! The parts of a drive that every flash core uses.

use crate::core::{Effect, MapTimer, Unsettled, Victim};
use crate::counters::Counters;
use crate::events::{DriveEvents, DriveSource};
use crate::health::{Changes, Decisions, FaultSchedule, Redundancy, Timer};
use crate::host::HostSide;
use crate::ledger::Ledger;
use crate::op::{Op, Purpose};
use crate::places::DiePlace;
use crate::read::{Corrections, Ladder, Reliability};
use crate::repair::{Moves, Redirection, Watch};
use crate::size::Size;
use outlast_flash::Flash;
use outlast_settings::drive::SsdConfig;
use outlast_units::slab::Slab;
use outlast_units::{DieId, IndexVec, Nanos};

impl CoreContext {
    /// Sees that housekeeping is done at `at` at the latest.
    pub(crate) fn call_housekeeping(&mut self, at: Nanos) {
        if self.timer.call(at) {
            // Beyond the horizon nothing happens any more.
            let at = if at > self.events.horizon() { Nanos::MAX } else { at };
            self.events.set(DriveSource::Housekeeping, at);
        }
    }

    /// The drive has worn or failed a little more: makes the changes that waited for this.
    #[inline]
    pub(crate) fn look_at_state(&mut self) {
        if self.changes.waits_for_state() {
            self.unsettled.add_effect(Effect::StateChanged);
        }
    }
}

/// The surroundings of a flash core that its handlers may use: parts of the drive of which there is one for all cores, each with a state of its
/// own. No other core is among them, nor the master core, nor the loss of power.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "traits that do not depend on each other, each of one setting"
)]
pub(crate) struct CoreContext {
    #[persist(skip)]
    pub(crate) config: SsdConfig,
    /// Dies and channels.
    pub(crate) flash: Flash<Purpose>,
    /// Pending events outside flash.
    pub(crate) events: DriveEvents,
    /// The flash core of each die.
    #[persist(skip)]
    pub(crate) places: IndexVec<DieId, DiePlace>,
    /// Reads in the flash room that carry more than a tag holds.
    pub(crate) reads: Slab<Op>,
    pub(crate) host: HostSide,
    #[persist(skip)]
    pub(crate) size: Size,
    /// Work that is due before the next event.
    pub(crate) unsettled: Unsettled,
    pub(crate) counters: Counters,
    /// True if anything can fail: errors are modelled, or faults expected.
    pub(crate) fallible: bool,
    /// True if any data has parity.
    #[persist(skip)]
    pub(crate) striped: bool,
    /// Dies that are not there yet.
    pub(crate) absent: Vec<DieId>,
    /// Absent where the flash never errs.
    #[persist(each)]
    pub(crate) reliability: Option<Box<Reliability>>,
    pub(crate) ladder: Ladder,
    pub(crate) corrections: Corrections,
    pub(crate) timer: Timer,
    /// When a flush of the mapping table is due by time.
    pub(crate) map_timer: MapTimer,
    pub(crate) decisions: Decisions,
    /// Redundancy that failed dies have taken.
    pub(crate) redundancy: Redundancy,
    pub(crate) schedule: FaultSchedule,
    pub(crate) changes: Changes,
    /// Which units live in another core than when the drive was new; absent where none do.
    pub(crate) redirection: Option<Box<Redirection>>,
    /// Failed dies for which space has been adjusted.
    pub(crate) adjusted: Vec<DieId>,
    pub(crate) moves: Moves,
    /// Findings on the health of dies; absent where nobody cares.
    #[persist(each)]
    pub(crate) watch: Option<Box<Watch>>,
    /// True if reads that have ended are of interest: to the read cache, or to the account of time.
    #[persist(skip)]
    pub(crate) notes_reads: bool,
    /// True if more is to be done for a write that enters the buffer than to give it a slot: bytes are kept, writes coalesce, or the mapping table
    /// is flushed.
    #[persist(skip)]
    pub(crate) heeds_writes: bool,
    /// Accounts of the time of commands; absent where nobody asks.
    #[persist(skip)]
    pub(crate) ledger: Option<Box<Ledger>>,
    /// Superblocks whose relocation began since the last reset; absent where nobody asks.
    #[persist(skip)]
    pub(crate) victims: Option<Vec<Victim>>,
}

impl CoreContext {
    /// How many flash cores the drive has.
    #[inline]
    pub(crate) fn flash_cores(&self) -> usize {
        usize::from(self.config.controller.flash_cores)
    }
}

//! The parts of a drive that every flash core uses.

use crate::commands::HostCommands;
use crate::core::{Effect, MapTimer, Unsettled, Victim};
use crate::counters::Counters;
use crate::events::{DriveEvents, DriveSource};
use crate::health::{Decisions, Redundancy, Timer};
use crate::homes::UnitHomes;
use crate::ledger::Ledger;
use crate::op::{Op, Purpose};
use crate::places::DiePlace;
use crate::read::{Corrections, Ladder, Reliability};
use crate::repair::{DieWatch, Moves};
use crate::size::Size;
use crate::zones::Zones;
use outlast_flash::Flash;
use outlast_settings::drive::SsdConfig;
use outlast_units::slab::Slab;
use outlast_units::{DieId, IndexVec, Nanos};

impl CoreContext {
    /// Sees that housekeeping is done at `at` at the latest.
    pub fn call_housekeeping(&mut self, at: Nanos) {
        if self.timer.call(at) {
            // Beyond the horizon nothing happens any more.
            let at = if at > self.events.horizon() { Nanos::MAX } else { at };
            self.events.set(DriveSource::Housekeeping, at);
        }
    }

    /// The drive has worn or failed a little more: makes the changes that waited for this.
    #[inline]
    pub(crate) fn look_at_state(&mut self) {
        if self.awaits_state {
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
pub struct CoreContext {
    /// Settings of the drive.
    #[persist(skip)]
    pub config: SsdConfig,
    /// Dies and channels.
    pub flash: Flash<Purpose>,
    /// Pending events outside flash.
    pub events: DriveEvents,
    /// The flash core of each die.
    #[persist(skip)]
    pub places: IndexVec<DieId, DiePlace>,
    /// Reads in the flash room that carry more than a tag holds.
    pub(in crate::core) reads: Slab<Op>,
    /// Commands of the host that the drive works on.
    pub commands: HostCommands,
    /// Capacity of the drive.
    #[persist(skip)]
    pub size: Size,
    /// Work that is due before the next event.
    pub(in crate::core) unsettled: Unsettled,
    /// Events since the last reset, over all cores.
    pub counters: Counters,
    /// True if anything can fail: errors are modelled, or faults expected.
    pub(in crate::core) fallible: bool,
    /// True if any data has parity.
    #[persist(skip)]
    pub(in crate::core) striped: bool,
    /// Dies that are not there yet.
    pub absent: Vec<DieId>,
    /// Absent where the flash never errs.
    #[persist(each)]
    pub(in crate::core) reliability: Option<Box<Reliability>>,
    pub(in crate::core) ladder: Ladder,
    pub(in crate::core) corrections: Corrections,
    pub(in crate::core) timer: Timer,
    /// When a flush of the mapping table is due by time.
    pub(in crate::core) map_timer: MapTimer,
    pub(in crate::core) decisions: Decisions,
    /// Redundancy that failed dies have taken.
    pub(in crate::core) redundancy: Redundancy,
    /// By how much the data on flash is older than the time that has passed.
    pub aged: Nanos,
    /// True if a change of protection waits for the drive to have worn or failed more.
    pub awaits_state: bool,
    /// Which units live in another core than their addresses say; absent where none do.
    pub homes: Option<Box<UnitHomes>>,
    /// Failed dies for which space has been adjusted.
    pub(in crate::core) adjusted: Vec<DieId>,
    /// Moves of redirected units to their homes.
    pub moves: Moves,
    /// Findings on the health of dies; absent where nobody cares.
    #[persist(each)]
    pub watch: Option<Box<DieWatch>>,
    /// True if units of commands pass something on their way to the buffer or to a die: processor time that they cost, caches, zones.
    #[persist(skip)]
    pub(in crate::core) has_unit_extras: bool,
    /// True if units that are read do: the same, or bytes, which a write leaves at the door until it enters the buffer.
    #[persist(skip)]
    pub(in crate::core) has_read_extras: bool,
    /// True if reads that have ended are of interest: to the read cache, or to the account of time.
    #[persist(skip)]
    pub(in crate::core) notes_reads: bool,
    /// True if more is to be done for a write that enters the buffer than to give it a slot: bytes are kept, writes coalesce, the mapping table is
    /// flushed, or a finish of a zone may count it.
    #[persist(skip)]
    pub(in crate::core) heeds_writes: bool,
    /// Accounts of the time of commands; absent where nobody asks.
    #[persist(skip)]
    pub(in crate::core) ledger: Option<Box<Ledger>>,
    /// Zones; absent where the drive has none.
    #[persist(each)]
    pub zones: Option<Box<Zones>>,
    /// Superblocks whose relocation began since the last reset; absent where nobody asks.
    #[persist(skip)]
    pub(in crate::core) victims: Option<Vec<Victim>>,
}

impl CoreContext {
    /// True if a unit of a command, of a read or a write by `is_read`, goes to the buffer or to a die by itself: it costs nothing, is noted nowhere, and lies
    /// where it always has.
    #[inline]
    pub fn passes_units(&self, is_read: bool) -> bool {
        let has_extras = if is_read { self.has_read_extras } else { self.has_unit_extras };
        !has_extras && self.homes.is_none() && self.ledger.is_none()
    }

    /// How many flash cores the drive has.
    #[inline]
    pub fn flash_cores(&self) -> usize {
        usize::from(self.config.controller.flash_cores)
    }
}

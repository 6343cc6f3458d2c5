//! The context as the drive uses it: built, asked for figures, and cleared when power fails.

use crate::commands::HostCommands;
use crate::core::{CoreContext, Cores, Effect, MapTimer, Unsettled, Victim};
use crate::counters::Counters;
use crate::events::{DriveEvents, DriveSource};
use crate::health::{Decision, Decisions, Reason, Redundancy, RedundancyLoss, Timer};
use crate::op::{Op, OpKind, Purpose};
use crate::places::DiePlace;
use crate::read::{Corrections, ExactTails, Ladder, Reliability, Retries};
use crate::repair::{DieWatch, Moves};
use crate::size::Size;
use outlast_device::{LatencyParts, Tag};
use outlast_flash::{Flash, OutstandingProgram, TaskReadQuery};
use outlast_settings::drive::SsdConfig;
use outlast_units::slab::Slab;
use outlast_units::{CoreId, DieId, IndexVec, Nanos};

/// Re-reads of a drive whose flash never errs, after a sensing that failed for a passing reason.
const FAULT_RETRIES: u32 = 3;

/// Parts of a drive that its flash cores share and that follow from how its dies are laid out.
pub struct SharedParts {
    /// Dies and channels.
    pub flash: Flash<Purpose>,
    /// Search for failed dies; absent where none is repaired.
    pub watch: Option<Box<DieWatch>>,
    /// Capacity.
    pub size: Size,
    /// The flash core of each die.
    pub places: IndexVec<DieId, DiePlace>,
}

impl CoreContext {
    /// Surroundings of the flash cores `cores` of a drive with these settings.
    ///
    /// # Panics
    /// If there is no flash core.
    pub fn new(config: SsdConfig, seed: u64, parts: SharedParts, cores: &Cores) -> Self {
        let SharedParts { flash, watch, size, places } = parts;
        let retries = match &config.reliability {
            Some(own) => Retries::new(own.rereads.max_retries, own.rereads_if_protected)
                .with_limited(own.limited_retries),
            None => Retries::new(Some(FAULT_RETRIES), None),
        };
        let reliability =
            config.reliability.as_ref().map(|r| Box::new(Reliability::new(&config, r, retries, seed)));
        Self {
            fallible: reliability.is_some(),
            striped: config.protection.is_some() || cores[CoreId(0)].ftl().layout().has_lists(),
            absent: config.absent_dies.iter().map(|&die| DieId(die)).collect(),
            reliability,
            ladder: Ladder::new(retries),
            corrections: Corrections::default(),
            timer: Timer::default(),
            decisions: Decisions::default(),
            redundancy: Redundancy::default(),
            aged: Nanos::ZERO,
            awaits_state: false,
            zones: None,
            homes: None,
            adjusted: Vec::new(),
            moves: Moves::default(),
            watch,
            has_unit_extras: has_unit_extras(&config),
            has_read_extras: has_unit_extras(&config) || config.bytes,
            notes_reads: config.controller.read_cache.is_some(),
            heeds_writes: config.bytes
                || config.controller.coalesce
                || config.ftl.map_flush.is_some()
                || config.zones.is_some(),
            map_timer: MapTimer::new(config.ftl.map_flush.and_then(|flush| flush.interval)),
            ledger: None,
            victims: None,
            events: DriveEvents::new(cores.len(), flash.horizon()),
            flash,
            places,
            reads: Slab::default(),
            commands: HostCommands::new(&config),
            size,
            unsettled: Unsettled::default(),
            counters: Counters::default(),
            config,
        }
    }

    /// From now on operations may fail.
    pub fn expect_faults(&mut self) {
        self.fallible = true;
    }

    /// True if anything can fail: errors are modelled, or faults expected.
    pub fn is_fallible(&self) -> bool {
        self.fallible
    }

    /// True if more is to be done for a write that enters the buffer than to give it a slot.
    #[inline]
    pub fn heeds_writes(&self) -> bool {
        self.heeds_writes
    }

    /// Notes that space has been adjusted for failed die `die`; false if it was before.
    pub fn note_adjusted(&mut self, die: DieId) -> bool {
        let is_new = !self.adjusted.contains(&die);
        if is_new {
            self.adjusted.push(die);
        }
        is_new
    }

    /// Power fails at `off`: operations, their records and their events are gone. Returns the programs that were under way or waited.
    pub fn power_failed(&mut self, off: Nanos) -> Vec<OutstandingProgram<Purpose>> {
        let outstanding = self.flash.cut_power(off);
        self.events.cut();
        self.reads = Slab::default();
        self.commands.requests.clear();
        self.ladder.power_failed();
        outstanding
    }
}

/// Work that is due.
impl CoreContext {
    /// The first effect, which the drive applies now.
    #[inline]
    pub fn take_effect(&mut self) -> Option<Effect> {
        self.unsettled.take_effect()
    }

    /// The first core of which something is due.
    #[inline]
    pub fn first_due(&self) -> Option<CoreId> {
        self.unsettled.first()
    }

    /// The next die that asks its core again, when nothing is due on any core.
    #[inline]
    pub fn take_query(&mut self) -> Option<(DieId, TaskReadQuery)> {
        self.unsettled.take_ask()
    }

    /// The next die that may start an internal operation since one has ended, or relocated data has left the buffer.
    #[inline]
    pub fn take_waiting_die(&mut self) -> Option<DieId> {
        let (internal, waiting) = (self.flash.internal_operations(), self.flash.dies_waiting());
        if self.unsettled.take_leave(internal, waiting) { self.flash.take_waiting_die() } else { None }
    }

    /// True if nothing is due on any core, nor any effect, flush or move; in a state that was read, too.
    pub fn has_nothing_due(&self) -> bool {
        self.unsettled.is_empty() && !self.commands.flushes.any_due() && !self.moves.are_due()
    }

    /// Housekeeping has come: it is called for anew where it has more to do.
    pub fn begin_housekeeping(&mut self) {
        self.timer.stop();
        self.events.set(DriveSource::Housekeeping, Nanos::MAX);
    }

    /// When a flush of the mapping table is due by time; [`Nanos::MAX`] where none is.
    pub fn next_map_flush(&self) -> Nanos {
        self.map_timer.next()
    }

    /// True if flushes of the mapping table are due by `now`: the next ones are an interval later.
    pub fn take_map_flush(&mut self, now: Nanos) -> bool {
        self.map_timer.next() != Nanos::MAX && self.map_timer.take(now)
    }
}

/// True if units of commands cost processor time, or have caches or zones.
fn has_unit_extras(config: &SsdConfig) -> bool {
    let costs = [config.controller.read_cost, config.controller.write_cost, config.controller.encode_cost];
    costs.iter().any(|&cost| cost != Nanos::ZERO)
        || config.ftl.map_cache.is_some()
        || config.read_cache_units().is_some()
        || config.zones.is_some()
}

/// Figures.
impl CoreContext {
    /// From now on the context keeps account of where the time of commands goes.
    pub fn keep_latency_accounts(&mut self) {
        self.flash.keep_accounts();
        self.ledger = Some(Box::default());
        self.notes_reads = true;
    }

    /// Takes the account of command `tag`, which has ended.
    pub fn take_latency_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.ledger.as_mut()?.take(tag)
    }

    /// From now on the superblocks whose relocation begins are kept.
    pub fn keep_victims(&mut self) {
        self.victims = Some(Vec::new());
    }

    /// Superblocks whose relocation began since the last reset; none unless they are kept.
    pub fn victims(&self) -> &[Victim] {
        self.victims.as_deref().unwrap_or_default()
    }

    /// Ends of reads since the last reset.
    pub fn corrections(&self) -> Corrections {
        self.corrections + self.ladder.counted()
    }

    /// Exact probabilities over the host reads since the last reset; `None` where the flash never errs.
    pub fn exact_tails(&self) -> Option<ExactTails> {
        self.reliability.as_ref().map(|reliability| reliability.exact_tails())
    }

    /// Codewords by number of wrong bits, as they were first read, since the last reset; a sample.
    pub fn error_histogram(&self) -> &[u64] {
        self.reliability.as_ref().map_or(&[], |reliability| reliability.histogram())
    }

    /// Bits of a codeword; 0 where the flash never errs.
    pub fn codeword_bits(&self) -> u32 {
        self.reliability.as_ref().map_or(0, |reliability| reliability.ecc().codeword_bits())
    }

    /// Decisions to move superblocks since the last reset, the first 100 000.
    pub fn decisions(&self) -> &[Decision] {
        self.decisions.kept()
    }

    /// Superblocks that relocation for `reason` began to move since the last reset.
    pub fn moved_for(&self, reason: Reason) -> u64 {
        self.decisions.moved_for(reason)
    }

    /// Dies and planes that were given up while data with parity lay on them.
    pub fn redundancy_losses(&self) -> &[RedundancyLoss] {
        self.redundancy.losses()
    }

    /// Starts counting anew.
    pub fn reset_figures(&mut self, now: Nanos) {
        self.counters = Counters::default();
        self.corrections = Corrections::default();
        self.ladder.reset();
        self.decisions = Decisions::default();
        if let Some(reliability) = &mut self.reliability {
            reliability.reset();
        }
        if let Some(victims) = &mut self.victims {
            victims.clear();
        }
        self.flash.reset_figures(now);
    }
}

/// Reads with records, and checks.
impl CoreContext {
    /// The record of a read.
    pub fn read_record(&self, record: u32) -> &Op {
        &self.reads[record]
    }

    /// Reads that have a record.
    pub fn recorded_reads(&self) -> impl Iterator<Item = &Op> {
        self.reads.live()
    }

    /// Number of reads that have a record.
    pub fn recorded_read_count(&self) -> usize {
        self.reads.used()
    }

    /// Checks the recoveries under way against the reads of stripes, and the accounts of time of `commands` commands of the host.
    ///
    /// # Errors
    /// A recovery or an account that belongs to no read or command.
    pub fn self_check(&self, commands: usize) -> Result<(), String> {
        let members = self.reads.live().filter(|op| op.kind == OpKind::StripeRead).map(|op| op.recovery);
        self.ladder.self_check(members)?;
        self.ledger.as_ref().map_or(Ok(()), |ledger| ledger.self_check(commands))
    }
}

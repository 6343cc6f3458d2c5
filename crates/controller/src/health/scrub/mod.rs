//! Scrubbing: which superblocks are to be moved before their data goes bad, and when. The moving itself is relocation.
//!
//! Policies flag superblocks ([`policies`]); of the flagged ones [`Scrub::choose`] takes the one that needs it most, within the bandwidth.
//! A policy that waits for reads has an alarm set in the cells, so that a sensing pays a comparison and no policy looks at every read.
//!
//! The policies are a list in `settings/src/drive/scrub.rs`, from which settings, reasons and calls follow. Housekeeping has one timer for all of them
//! (decision 0014).

mod choice;
mod policies;
mod protection;
#[cfg(test)]
mod tests;
mod view;

pub use view::RowReads;
pub use view::View;

use super::Reason;
use outlast_settings::drive::{ScrubConfig, SsdConfig};
use outlast_units::{BlockIndex, ByteRate, Bytes, IndexVec, Nanos, Pu, SuperblockId};
use policies::Policies;

/// The scrubbing of one flash core.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Scrub {
    policies: Policies,
    /// True if data is moved to get the protection that new data gets.
    #[persist(fixed)]
    reprotect: bool,
    /// Bytes that this core may move in a second; and of what has lost redundancy.
    #[persist(fixed)]
    bandwidth: Option<Share>,
    #[persist(fixed)]
    rebuild_bandwidth: Option<Share>,
    /// Superblocks to be moved, in the order in which they were flagged.
    flagged: Vec<(SuperblockId, Reason)>,
    is_flagged: IndexVec<SuperblockId, bool>,
    /// Until when the bandwidth is used up.
    ready_at: Nanos,
    /// True if housekeeping is to come at once: a superblock has been flagged.
    is_called: bool,
    /// Superblocks that scrubbing itself had written and then moved again.
    again: u64,
    written_by_it: IndexVec<SuperblockId, bool>,
    /// The block of a superblock that is being moved by itself.
    moving: Option<(SuperblockId, BlockIndex)>,
}

/// A core's share of the bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
struct Share {
    rate: ByteRate,
    /// Flash cores that share it.
    cores: u64,
    /// Bytes of a mapping unit.
    unit: u64,
}

impl Scrub {
    /// Of a core with `superblocks` superblocks, of a drive with settings `config`.
    pub fn of(config: &SsdConfig, superblocks: u32) -> Self {
        let (own, cores) = (config.scrub.unwrap_or_default(), config.controller.flash_cores);
        let mut scrub = Self::new(&own, superblocks, cores, config.ftl.mapping_unit);
        let rebuild = config.protection.as_ref().and_then(|protection| protection.rebuild_bandwidth);
        let share = |rate| Share { rate, cores: u64::from(cores), unit: config.ftl.mapping_unit.0 };
        scrub.rebuild_bandwidth = rebuild.map(share).or(scrub.bandwidth);
        scrub
    }

    /// Of a core with `superblocks` superblocks; one of `cores`, with mapping units of `unit`.
    ///
    /// # Panics
    /// If there is no core, or units have no bytes.
    pub fn new(config: &ScrubConfig, superblocks: u32, cores: u16, unit: Bytes) -> Self {
        assert!(cores != 0 && unit.0 != 0, "bandwidth is shared by cores and counted in units");
        let share = |rate| Share { rate, cores: u64::from(cores), unit: unit.0 };
        Self {
            policies: Policies::new(config, superblocks),
            reprotect: config.reprotect,
            bandwidth: config.bandwidth.map(share),
            rebuild_bandwidth: config.bandwidth.map(share),
            flagged: Vec::new(),
            is_flagged: IndexVec::filled(false, superblocks as usize),
            ready_at: Nanos::ZERO,
            is_called: false,
            again: 0,
            written_by_it: IndexVec::filled(false, superblocks as usize),
            moving: None,
        }
    }

    /// When scrubbing has something to do by itself; [`Nanos::MAX`] where it has not.
    pub fn next(&self, now: Nanos) -> Nanos {
        let budget = if self.ready_at > now && !self.flagged.is_empty() { self.ready_at } else { Nanos::MAX };
        self.policies.next().min(budget)
    }

    /// True if housekeeping is to come at once; asked for once.
    pub(crate) fn take_call(&mut self) -> bool {
        std::mem::take(&mut self.is_called)
    }

    /// Simulated time begins, or the data has become older at once: alarms and timers are set for the core as it is.
    pub fn begin(&mut self, view: &mut impl View) {
        self.policies.begin(view.now());
        for superblock in (0..view.superblocks()).map(SuperblockId) {
            self.arm(view, superblock);
        }
        self.answer_alarms(view);
        self.is_called = true;
    }

    /// Does what policies have to do by now; returns a program unit that is to be read for the sake of looking.
    pub(crate) fn tick(&mut self, view: &mut impl View) -> Option<Pu> {
        while let Some(superblock) = self.policies.next_look(view.now()) {
            self.look(view, superblock);
        }
        self.answer_alarms(view);
        let mut patrol = None;
        let Self { policies, flagged, is_flagged, is_called, .. } = self;
        let mut flag = |superblock, reason| *is_called |= add_flag(flagged, is_flagged, superblock, reason);
        policies.tick(view, &mut flag, &mut patrol);
        patrol
    }

    /// True if code of the user's is to be asked now which superblocks to move; asked for once.
    pub(crate) fn take_question(&mut self) -> bool {
        self.policies.take_question()
    }

    /// True if `superblock` is to be moved.
    pub(crate) fn is_flagged(&self, superblock: SuperblockId) -> bool {
        self.is_flagged[superblock]
    }

    /// Code of the user's has `superblock` moved.
    pub(crate) fn flag_for_own(&mut self, superblock: SuperblockId) {
        self.flag(superblock, Reason::Own);
    }

    /// Sets the alarms of `superblock`, if it is sealed, for the reads that policies wait for; flags it where a policy finds it bad already.
    pub(crate) fn arm(&mut self, view: &mut impl View, superblock: SuperblockId) {
        if !self.policies.watch_reads() || !view.is_sealed(superblock) {
            return;
        }
        if let Some(reason) = self.policies.is_bad(view, superblock) {
            self.flag(superblock, reason);
            return;
        }
        self.policies.arm(view, superblock);
        view.set_alarms(superblock, |row| self.policies.alarm_at(row));
    }

    /// Policies answer the alarms that a sensing, or setting alarms, has left behind.
    pub(crate) fn answer_alarms(&mut self, view: &mut impl View) {
        while let Some(block) = view.take_alarm() {
            let Some(superblock) = view.superblock_of(block) else { continue };
            if let Some(reason) = self.policies.alarmed(view, block) {
                self.flag(superblock, reason);
            } else {
                self.look(view, superblock);
            }
        }
    }

    /// A forecast of `superblock` has come to its end: it is made anew, unless the superblock is to be moved anyway.
    fn look(&mut self, view: &mut impl View, superblock: SuperblockId) {
        if self.policies.forecast() && !self.is_flagged[superblock] {
            self.arm(view, superblock);
        }
    }

    /// Pages of `superblock` have been read again.
    pub(crate) fn reread(&mut self, view: &impl View, superblock: SuperblockId) {
        if let Some(reason) = self.policies.reread(view, superblock) {
            self.flag(superblock, reason);
        }
    }

    /// The read that [`Scrub::tick`] asked for has ended; `failed`: some of it had too many wrong bits.
    pub(crate) fn patrolled(&mut self, view: &impl View, superblock: SuperblockId, failed: bool) {
        if let Some(reason) = self.policies.patrolled(failed)
            && view.is_sealed(superblock)
        {
            self.flag(superblock, reason);
        }
    }

    /// `superblock` has been filled.
    pub fn sealed(&mut self, view: &mut impl View, superblock: SuperblockId) {
        self.written_by_it[superblock] = view.is_scrubbed(superblock);
        self.arm(view, superblock);
        self.answer_alarms(view);
        self.reprotect(view, superblock);
    }

    /// True if superblocks wait to be moved.
    pub fn waits(&self) -> bool {
        !self.flagged.is_empty()
    }

    /// Not all of `superblock` has found room: what it lacks of protection it still lacks.
    pub(crate) fn given_up(&mut self, view: &impl View, superblock: SuperblockId) {
        self.reprotect(view, superblock);
    }

    /// Power has cut the move of `superblock` short: it is due as before.
    pub(crate) fn cut_short(&mut self, view: &mut impl View, superblock: SuperblockId) {
        self.arm(view, superblock);
        self.reprotect(view, superblock);
    }

    /// Flags `superblock` if its protection is not what that of new data would be.
    fn reprotect(&mut self, view: &impl View, superblock: SuperblockId) {
        if let Some(reason) = protection::reason(view, superblock, self.reprotect) {
            self.flag(superblock, reason);
        }
    }

    /// Dies have come or gone, or codes have changed: looks at the protection of all superblocks.
    pub fn reprotect_all(&mut self, view: &impl View) {
        for superblock in (0..view.superblocks()).map(SuperblockId) {
            self.reprotect(view, superblock);
        }
    }

    /// `superblock` has been erased: what was known about it is past.
    pub fn erased(&mut self, superblock: SuperblockId) {
        self.unflag(superblock);
        self.policies.erased(superblock);
    }

    /// True if a patrol read is under way.
    pub fn is_patrolling(&self) -> bool {
        self.policies.is_patrolling()
    }

    /// Power has failed: no read under way will end.
    pub fn power_failed(&mut self) {
        self.policies.power_failed();
    }

    fn flag(&mut self, superblock: SuperblockId, reason: Reason) {
        self.is_called |= add_flag(&mut self.flagged, &mut self.is_flagged, superblock, reason);
    }

    fn unflag(&mut self, superblock: SuperblockId) {
        if std::mem::take(&mut self.is_flagged[superblock]) {
            self.flagged.retain(|&(other, _)| other != superblock);
        }
    }

    /// Superblocks that scrubbing itself had written and then moved again, since the last reset.
    pub fn again(&self) -> u64 {
        self.again
    }

    /// Counting begins anew.
    pub fn reset(&mut self) {
        self.again = 0;
    }

    /// Checks that the list of flagged superblocks and the marks agree.
    ///
    /// # Errors
    /// The counts of flagged superblocks and of marks.
    pub fn self_check(&self) -> Result<(), String> {
        let marked = self.is_flagged.iter().filter(|&&is_flagged| is_flagged).count();
        let listed = self.flagged.iter().all(|&(superblock, _)| self.is_flagged[superblock]);
        if marked != self.flagged.len() || !listed {
            return Err(format!(
                "{} superblocks wait for scrubbing, {marked} are marked",
                self.flagged.len()
            ));
        }
        Ok(())
    }
}

/// Flags a superblock, once; whether it was not flagged.
fn add_flag(
    flagged: &mut Vec<(SuperblockId, Reason)>,
    is_flagged: &mut IndexVec<SuperblockId, bool>,
    superblock: SuperblockId,
    reason: Reason,
) -> bool {
    if std::mem::replace(&mut is_flagged[superblock], true) {
        return false;
    }
    flagged.push((superblock, reason));
    debug_assert!(flagged.len() <= is_flagged.len(), "a superblock is flagged once");
    true
}

//! Background passes over all groups, one at a time: which comes next, and how fast.
//!
//! Everything here is a decision over plain data; `machine/pass.rs` carries it out.

mod check;
mod pace;
mod pass;
mod requests;
mod steps;

pub(crate) use pace::{HeldRate, HeldRates, NextStart, PacedWork, WorkPacer};

use crate::ids::{GroupIndex, PassEpoch};
use crate::placement::ShiftPlan;
use outlast_settings::array::BackgroundConfig;
use outlast_units::{Bytes, Nanos};
use pass::AHEAD;
pub(crate) use pass::BackgroundPass;
use serde::Serialize;
pub(crate) use steps::{PassStep, PassView};

/// The kinds of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case")]
pub enum PassKind {
    /// Fills new members (md: recovery); parity moves on the way where it has to.
    Rebuild,
    /// Makes parity match data after a loss of power (md: resync).
    Resync,
    /// Moves parity (md: reshape).
    Shift,
    /// Compares all redundancy with the data (md: check, repair).
    Scrub,
    /// Recovers data that a member has lost with a die. Not a pass over groups: it runs beside a rebuild.
    Repair,
}

/// A scrub that is requested or under way.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct ScrubPass {
    /// Groups below this are done.
    base: GroupIndex,
    /// Redundancy that differs is rewritten.
    repair: bool,
    /// Mismatches that earlier scrubs had counted.
    mismatches_before: u64,
}

/// The state of all background passes.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct BackgroundPasses {
    under_way: Option<BackgroundPass>,
    /// Number of passes begun; tells operations of the current pass from those of one that was given up.
    epoch: PassEpoch,
    /// Time of the next look at passes and repairs.
    wake: Nanos,
    /// Look at passes and repairs at the end of the current event.
    pump: bool,
    scrub: Option<ScrubPass>,
    #[persist(fixed)]
    scrub_interval: Option<Nanos>,
    /// Time at which the next scrub is due.
    next_scrub: Nanos,
    /// A shift that waits for reads without locks to end; `true`: lazy.
    pending_shift: Option<(ShiftPlan, bool)>,
    /// Members were replaced during a shift, so that another one is to be planned.
    replan: bool,
    shifting: bool,
    /// Limit of groups under way at once.
    window: u32,
    /// Rates that a user policy has set.
    pub(crate) rates: HeldRates,
}

impl BackgroundPasses {
    pub(crate) fn new(settings: &BackgroundConfig) -> Self {
        Self {
            under_way: None,
            epoch: PassEpoch(0),
            wake: Nanos::MAX,
            pump: false,
            scrub: None,
            scrub_interval: settings.scrub_interval,
            next_scrub: settings.scrub_interval.unwrap_or(Nanos::MAX),
            pending_shift: None,
            replan: false,
            shifting: false,
            window: settings.groups_at_once(),
            rates: HeldRates::default(),
        }
    }

    pub(crate) fn is_shifting(&self) -> bool {
        self.shifting
    }

    /// The shift that waits for reads to end.
    pub(crate) fn pending_shift(&self) -> Option<&(ShiftPlan, bool)> {
        self.pending_shift.as_ref()
    }

    /// Number of passes begun.
    pub(crate) fn epoch(&self) -> PassEpoch {
        self.epoch
    }

    /// True if parity moves or is about to, so that reads need a lock.
    #[inline]
    pub(crate) fn moves_parity(&self) -> bool {
        self.shifting || self.pending_shift.is_some()
    }

    #[inline]
    pub(crate) fn under_way(&self) -> Option<&BackgroundPass> {
        self.under_way.as_ref()
    }

    /// Operations of the pass under way.
    pub(crate) fn operations(&self) -> usize {
        self.under_way.as_ref().map_or(0, |pass| pass.in_flight as usize)
    }

    /// The time at which something is due without an input.
    #[inline]
    pub(crate) fn deadline(&self) -> Nanos {
        self.wake.min(self.next_scrub)
    }

    /// Requests a look at passes and repairs at the end of the current event.
    #[inline]
    pub(crate) fn request_pump(&mut self) {
        self.pump = true;
    }

    /// True if a look at passes and repairs is requested.
    #[inline]
    pub(crate) fn is_pump_due(&self) -> bool {
        self.pump
    }

    /// Takes the request for a look at passes and repairs.
    pub(crate) fn take_pump(&mut self) -> bool {
        std::mem::take(&mut self.pump)
    }

    /// Requests a look at passes and repairs at time `at`, or earlier.
    pub(crate) fn wake_by(&mut self, at: Nanos) {
        self.wake = self.wake.min(at);
    }

    /// Requests a look at passes and repairs if its time has come.
    pub(crate) fn wake_up(&mut self, now: Nanos) {
        if self.wake <= now {
            self.wake = Nanos::MAX;
            self.pump = true;
        }
    }

    /// The most urgent pass, and the group it begins with.
    pub(crate) fn choose(&self, view: &PassView) -> Option<(PassKind, GroupIndex)> {
        debug_assert!(self.under_way.is_none(), "one pass at a time");
        // In order of urgency: missing redundancy, doubtful redundancy, then housekeeping.
        if let Some(from) = view.rebuild_from.filter(|_| view.can_rebuild) {
            return Some((PassKind::Rebuild, from));
        }
        if view.recovering {
            return None;
        }
        if let Some(from) = view.resync_from {
            return Some((PassKind::Resync, from));
        }
        if view.can_shift {
            return Some((PassKind::Shift, GroupIndex(0)));
        }
        self.scrub.map(|scrub| (PassKind::Scrub, scrub.base))
    }

    /// Begins a pass at group `from`.
    pub(crate) fn begin(&mut self, kind: PassKind, from: GroupIndex) {
        self.epoch = self.epoch + 1;
        self.under_way = Some(BackgroundPass {
            kind,
            base: from,
            done: 0,
            next: from,
            in_flight: 0,
            pacer: WorkPacer::new(),
        });
    }

    /// The next step of the pass under way, over `groups` groups; `can_rebuild`: a rebuild saves data.
    pub(crate) fn next(&self, groups: u64, can_rebuild: bool) -> PassStep {
        let Some(pass) = &self.under_way else { return PassStep::Idle };
        if pass.kind == PassKind::Rebuild && !can_rebuild {
            PassStep::GiveUp
        } else if pass.base.0 == groups {
            PassStep::End(pass.kind)
        } else if pass.in_flight >= self.window || pass.next >= pass.base + AHEAD || pass.next.0 == groups {
            PassStep::Wait
        } else {
            PassStep::Work(pass.kind, pass.next)
        }
    }

    /// Begins the next group of the pass, `bytes` of each member, at `now`. Returns the epoch that its operation carries.
    pub(crate) fn begin_group(&mut self, now: Nanos, bytes: Bytes) -> PassEpoch {
        if let Some(pass) = &mut self.under_way {
            pass.next = pass.next + 1;
            pass.in_flight += 1;
            pass.pacer.note_begun(now, bytes);
        }
        self.epoch
    }

    /// The pacer of the pass under way, and the number of its operations.
    pub(crate) fn pacer(&mut self) -> Option<(&mut WorkPacer, usize)> {
        self.under_way.as_mut().map(|pass| (&mut pass.pacer, pass.in_flight as usize))
    }

    /// Skips the next group, `bytes` of each member, which needs no work. Returns the same as [`BackgroundPasses::end_group`].
    pub(crate) fn skip(&mut self, group: GroupIndex, bytes: Bytes) -> Option<(PassKind, GroupIndex)> {
        if let Some(pass) = &mut self.under_way {
            debug_assert!(pass.next == group, "groups are skipped in order");
            pass.next = pass.next + 1;
            pass.pacer.note_skipped(bytes);
        }
        self.mark_done(group)
    }

    /// Ends the work of pass `epoch` on a group. Returns the kind of pass and the group up to which it is done now, if that has
    /// advanced.
    pub(crate) fn end_group(
        &mut self,
        group: GroupIndex,
        epoch: PassEpoch,
    ) -> Option<(PassKind, GroupIndex)> {
        let pass = self.under_way.as_mut().filter(|_| epoch == self.epoch)?;
        debug_assert!(pass.in_flight > 0, "an operation of a pass ends once");
        pass.in_flight -= 1;
        self.pump = true;
        self.mark_done(group)
    }

    fn mark_done(&mut self, group: GroupIndex) -> Option<(PassKind, GroupIndex)> {
        let pass = self.under_way.as_mut()?;
        debug_assert!((pass.base..pass.base + AHEAD).contains(&group), "a pass works within its window");
        // Bit 0 of `done` stands for group `base`; the run of ones at the low end moves the base up.
        pass.done |= 1 << (group - pass.base);
        let run = pass.done.trailing_ones();
        // A shift by all 64 bits is none in Rust.
        pass.done = pass.done.checked_shr(run).unwrap_or(0);
        pass.base = pass.base + u64::from(run);
        if run == 0 {
            return None;
        }
        let (kind, base) = (pass.kind, pass.base);
        if let (PassKind::Scrub, Some(scrub)) = (kind, &mut self.scrub) {
            scrub.base = base;
        }
        Some((kind, base))
    }

    /// Drops the pass under way: it has ended, or begins again later.
    pub(crate) fn drop_pass(&mut self) {
        self.under_way = None;
    }

    /// Forgets the pass under way, after a loss of power.
    pub(crate) fn after_power_cut(&mut self) {
        self.under_way = None;
        self.epoch = self.epoch + 1;
        self.pump = true;
    }
}

#[cfg(test)]
mod tests;

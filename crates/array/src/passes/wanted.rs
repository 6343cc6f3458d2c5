//! Passes that are wanted: scrubs, and shifts of parity.

use super::{PassKind, Passes, Scrub};
use crate::placement::ShiftPlan;
use outlast_units::Nanos;

impl Passes {
    /// A scrub is wanted; a scrub under way begins again.
    pub(crate) fn want_scrub(&mut self, repair: bool, mismatches: u64) {
        self.scrub = Some(Scrub { base: 0, repair, mismatches_before: mismatches });
        if self.under_way.as_ref().is_some_and(|pass| pass.kind == PassKind::Scrub) {
            self.under_way = None;
        }
        self.pump = true;
    }

    /// Whether a scrub is due by time.
    pub(crate) fn is_scrub_due(&self, now: Nanos) -> bool {
        self.next_scrub <= now
    }

    /// A scrub is due by time; one that is wanted or under way already will do.
    pub(crate) fn scrub_by_time(&mut self, mismatches: u64) {
        self.next_scrub = Nanos::MAX;
        self.scrub.get_or_insert(Scrub { base: 0, repair: true, mismatches_before: mismatches });
        self.pump = true;
    }

    /// Whether the scrub under way makes redundancy fit.
    pub(crate) fn scrub_repairs(&self) -> bool {
        self.scrub.is_some_and(|scrub| scrub.repair)
    }

    /// A scrub has ended. Returns how many mismatches there had been before it.
    pub(crate) fn scrub_ends(&mut self, now: Nanos) -> Option<u64> {
        self.next_scrub = self.scrub_interval.map_or(Nanos::MAX, |span| now + span);
        self.scrub.take().map(|scrub| scrub.mismatches_before)
    }

    /// Parity is to move as soon as no read without a lock is under way.
    pub(crate) fn want_shift(&mut self, plan: ShiftPlan, lazy: bool) {
        self.pending_shift = Some((plan, lazy));
        self.pump = true;
    }

    /// Whether parity waits to be moved.
    #[inline]
    pub(crate) fn is_shift_pending(&self) -> bool {
        self.pending_shift.is_some()
    }

    /// The shift that waits, if there is one, begins.
    pub(crate) fn begin_shift(&mut self) -> Option<(ShiftPlan, bool)> {
        let shift = self.pending_shift.take();
        self.shifting |= shift.is_some();
        shift
    }

    /// A shift that waits is not to be lazy.
    pub(crate) fn hurry_shift(&mut self) {
        if let Some((_, lazy)) = &mut self.pending_shift {
            *lazy = false;
        }
        self.pump = true;
    }

    /// Members have changed before parity was where it was wanted.
    pub(crate) fn want_another_shift(&mut self) {
        self.replan = true;
    }

    /// Parity is where it was wanted. Returns whether another shift is to be planned.
    pub(crate) fn shift_ends(&mut self) -> bool {
        self.shifting = false;
        self.pump = true;
        std::mem::take(&mut self.replan)
    }
}

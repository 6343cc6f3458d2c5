//! Requests for passes: scrubs, and shifts of parity.

use super::{BackgroundPasses, PassKind, ScrubPass};
use crate::ids::GroupIndex;
use crate::placement::ShiftPlan;
use outlast_units::Nanos;

impl BackgroundPasses {
    /// Requests a scrub from the first group on; a scrub under way begins again.
    pub(crate) fn request_scrub(&mut self, repair: bool, mismatches: u64) {
        self.scrub = Some(ScrubPass { base: GroupIndex(0), repair, mismatches_before: mismatches });
        if self.under_way.as_ref().is_some_and(|pass| pass.kind == PassKind::Scrub) {
            self.under_way = None;
        }
        self.pump = true;
    }

    /// True if a scrub is due by time.
    pub(crate) fn is_scrub_due(&self, now: Nanos) -> bool {
        self.next_scrub <= now
    }

    /// Requests a scrub by the interval, unless one is requested or under way already.
    pub(crate) fn scrub_by_time(&mut self, mismatches: u64) {
        self.next_scrub = Nanos::MAX;
        self.scrub.get_or_insert(ScrubPass {
            base: GroupIndex(0),
            repair: true,
            mismatches_before: mismatches,
        });
        self.pump = true;
    }

    /// True if the scrub under way rewrites redundancy that differs.
    pub(crate) fn scrub_repairs(&self) -> bool {
        self.scrub.is_some_and(|scrub| scrub.repair)
    }

    /// Ends a scrub, and schedules the next. Returns the mismatches that had been counted before it.
    pub(crate) fn scrub_ends(&mut self, now: Nanos) -> Option<u64> {
        self.next_scrub = self.scrub_interval.map_or(Nanos::MAX, |span| now + span);
        self.scrub.take().map(|scrub| scrub.mismatches_before)
    }

    /// Requests a move of parity, which begins as soon as no read without a lock is under way.
    pub(crate) fn request_shift(&mut self, plan: ShiftPlan, lazy: bool) {
        self.pending_shift = Some((plan, lazy));
        self.pump = true;
    }

    /// True if a shift waits to begin.
    #[inline]
    pub(crate) fn is_shift_pending(&self) -> bool {
        self.pending_shift.is_some()
    }

    /// Begins the shift that waits, if there is one.
    pub(crate) fn begin_shift(&mut self) -> Option<(ShiftPlan, bool)> {
        let shift = self.pending_shift.take();
        self.shifting |= shift.is_some();
        shift
    }

    /// Makes a shift that waits one by a pass, not a lazy one.
    pub(crate) fn make_shift_eager(&mut self) {
        if let Some((_, lazy)) = &mut self.pending_shift {
            *lazy = false;
        }
        self.pump = true;
    }

    /// Requests another plan after the shift under way, since members have changed.
    pub(crate) fn request_replan(&mut self) {
        self.replan = true;
    }

    /// Ends a shift. Returns true if another one is to be planned.
    pub(crate) fn shift_ends(&mut self) -> bool {
        self.shifting = false;
        self.pump = true;
        std::mem::take(&mut self.replan)
    }

    /// Requests a rebuild; a pass under way is dropped, and the rebuild begins at the first group that a member lacks.
    pub(crate) fn request_rebuild(&mut self) {
        self.drop_pass();
        self.request_pump();
    }

    /// Stops a pass over whole groups while rows are written back: it would compute whole chunks of the member anew, and
    /// after a loss of power from parity that is in doubt.
    pub(crate) fn hold_for_repair(&mut self) {
        let must_wait = |kind| matches!(kind, PassKind::Resync | PassKind::Scrub | PassKind::Shift);
        if self.under_way().is_some_and(|pass| must_wait(pass.kind)) {
            self.drop_pass();
        }
    }
}

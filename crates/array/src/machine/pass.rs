//! Passes over all groups: rebuild, resynchronisation, moving parity, scrub. One at a time, a window of groups under way.

use super::Array;
use crate::error::ArrayEventKind;
use crate::ids::{ColumnIndex, GroupIndex};
use crate::members::MemberColumn;
use crate::op::{GroupOp, GroupOpKind};
use crate::passes::{HeldRate, NextStart, PacedWork, PassKind, PassStep, PassView};
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// The facts that the choice of a pass depends on.
    fn pass_view(&self) -> PassView {
        PassView {
            rebuild_from: self
                .members
                .iter()
                .filter(|column| column.device.is_some())
                .filter_map(MemberColumn::first_lacking)
                .min(),
            can_rebuild: self.availability().can_rebuild(),
            recovering: self.repairs.in_place(),
            resync_from: self.doubt.resync(),
            can_shift: self.layout.shift().is_some_and(|shift| !shift.lazy)
                && !self.availability().is_missing_too_many(None),
        }
    }

    /// Advances repairs, and starts work on as many groups as window and rate allow.
    pub(super) fn pump_background(&mut self, now: Nanos) {
        if self.flight.replaying > 0 || !self.powered {
            return;
        }
        self.pump_repairs(now);
        self.begin_shift();
        if self.passes.is_shift_pending() {
            return;
        }
        loop {
            let rebuilds = self.passes.under_way().is_some_and(|pass| pass.kind == PassKind::Rebuild);
            match self.passes.next(self.layout.groups, !rebuilds || self.availability().can_rebuild()) {
                PassStep::Idle => {
                    let Some((kind, from)) = self.passes.choose(&self.pass_view()) else {
                        // With nothing else to do, a worn member may be replaced, which starts a rebuild.
                        self.retire_worn(now);
                        return;
                    };
                    self.passes.begin(kind, from);
                }
                PassStep::GiveUp => self.passes.drop_pass(),
                PassStep::End(kind) => self.end_pass(now, kind),
                PassStep::Wait => return,
                PassStep::Work(kind, group) => {
                    if !self.work_on_group(now, kind, group) {
                        return;
                    }
                }
            }
        }
    }

    /// Works on the next group of the pass, or skips it; returns false if the pass has to wait.
    fn work_on_group(&mut self, now: Nanos, kind: PassKind, group: GroupIndex) -> bool {
        if !self.pass_needs_group(kind, group) {
            // Skipped groups are progress, but do not count against the rate.
            let done = self.passes.skip(group, self.layout.bytes_of_groups(1));
            self.groups_done(done);
            return true;
        }
        // Waits for the answers of donors, or for direct writes to end; either requests another look.
        if kind == PassKind::Rebuild && !self.have_donors_answered(now, group)
            || self.flight.direct_changes > 0
        {
            return false;
        }
        if !self.may_begin_group(now, kind) {
            return false;
        }
        let epoch = self.passes.begin_group(now, self.layout.bytes_of_groups(1));
        let kind = match kind {
            PassKind::Rebuild | PassKind::Shift | PassKind::Repair => GroupOpKind::Transform,
            PassKind::Resync => GroupOpKind::Verify { repair: true, resync: true },
            PassKind::Scrub => GroupOpKind::Verify { repair: self.passes.scrub_repairs(), resync: false },
        };
        self.start_op(
            now,
            GroupOp { epoch: Some(epoch), ..GroupOp::new(kind, group, self.layout.whole_chunk()) },
        );
        true
    }

    /// True if a pass has work to do in `group`.
    fn pass_needs_group(&self, kind: PassKind, group: GroupIndex) -> bool {
        match kind {
            PassKind::Rebuild => {
                let eager = self.layout.shift().is_some_and(|shift| !shift.lazy && !shift.is_moved(group));
                eager
                    || self.members.iter_indexed().any(|(index, column)| {
                        column.device.is_some()
                            && !column.has(group)
                            && self.layout.role_on(group, index, false).is_some()
                    })
            }
            PassKind::Shift => self.layout.is_to_move(group),
            PassKind::Resync => self.doubt.must_resync(group) && !self.availability().is_beyond_repair(group),
            PassKind::Scrub => !self.availability().is_beyond_repair(group),
            PassKind::Repair => false,
        }
    }

    /// True if the next group may be begun now; if not, requests another look in time.
    fn may_begin_group(&mut self, now: Nanos, kind: PassKind) -> bool {
        // The first piece begins at once, so that a user policy is not asked about it.
        let begun = self.passes.pacer().is_some_and(|(pacer, _)| pacer.has_begun());
        let held =
            if kind == PassKind::Rebuild && begun { self.held_rate(now, PacedWork::Rebuild) } else { None };
        let fixed = match kind {
            PassKind::Rebuild => held.and_then(|held| held.rate).or_else(|| self.repairs.rebuild_rate()),
            _ => None,
        };
        let Some((pacer, under_way)) = self.passes.pacer() else { return false };
        let settings = &self.setup.config.background;
        match pacer.next_start(settings, now, under_way, self.members.traffic(), fixed) {
            NextStart::Now => true,
            NextStart::At(wake) => {
                self.passes.wake_by(HeldRate::next_look(held, wake));
                false
            }
            NextStart::WhenDone => false,
        }
    }

    /// Ends a pass over all groups: members are complete, doubt is over, or findings are reported.
    fn end_pass(&mut self, now: Nanos, kind: PassKind) {
        self.passes.drop_pass();
        match kind {
            PassKind::Rebuild => {
                for column in self.members.indices() {
                    if self.members[column].complete(self.layout.groups) {
                        let replaced = self.members.donor(column).is_some();
                        self.history.record_event(now, ArrayEventKind::Rebuilt { member: column });
                        self.member_complete(now, column);
                        if replaced {
                            self.plan_shift(now);
                        }
                    }
                }
                self.members.update_degraded();
            }
            PassKind::Resync => {
                self.doubt.resynced(now, self.setup.config.log.bitmap_delay);
                self.history.record_event(now, ArrayEventKind::Resynced);
            }
            PassKind::Shift | PassKind::Repair => {}
            PassKind::Scrub => {
                if let Some(before) = self.passes.scrub_ends(now) {
                    let mismatches = self.history.counters.mismatches - before;
                    self.history.record_event(now, ArrayEventKind::Scrubbed { mismatches });
                }
            }
        }
    }

    /// Ends the recovery of a member that is complete again, and removes its donor.
    fn member_complete(&mut self, now: Nanos, column: ColumnIndex) {
        self.drop_donor(now, column);
        if let Some(id) = self.repairs.on(column).map(|repair| repair.id) {
            self.finish_repair(now, id);
        }
    }
}

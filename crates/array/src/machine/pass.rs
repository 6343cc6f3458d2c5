//! Passes over all groups: rebuild, resynchronisation, moving parity, scrub. One at a time, a window of groups under way.

use super::Array;
use crate::error::ArrayEventKind;
use crate::layout::{GroupMap, ParityShift};
use crate::op::{GroupOp, GroupOpKind};
use crate::passes::{HeldRate, NextStart, PacedWork, PassKind, PassStep, PassView};
use crate::placement::{ShiftPlan, by_rank};
use outlast_device::Device;
use outlast_settings::array::ShiftWay;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Compares every sector and counts redundancy that differs; `repair` rewrites it. Unreadable sectors are rewritten in either case.
    pub fn start_scrub(&mut self, now: Nanos, repair: bool) {
        self.catch_up(now);
        self.passes.request_scrub(repair, self.history.counters.mismatches);
        self.settle(now);
    }

    /// Completes a lazy shift with a pass.
    pub fn finish_shift(&mut self, now: Nanos) {
        self.catch_up(now);
        if let Some(shift) = self.layout.shift_mut() {
            shift.lazy = false;
        }
        self.passes.make_shift_eager();
        self.settle(now);
    }

    /// Stripes whose parity is still to move.
    pub fn stripes_to_move(&self) -> u64 {
        self.layout.shift().map_or(0, |shift| shift.left)
    }

    /// The percentage of all parity chunks on each member, as they now lie over the period (a shift under way counts as done).
    pub fn parity_percent(&self) -> Vec<f64> {
        let GroupMap::Striped(striped) = &self.layout.map else { return Vec::new() };
        let placement = striped.shift.as_ref().map_or(&striped.now, |shift| &shift.target);
        let counts = placement.parity_counts();
        let all: u32 = counts.iter().sum();
        counts.iter().map(|&count| f64::from(count) * 100.0 / f64::from(all.max(1))).collect()
    }

    /// Requests a rebuild; a pass under way is dropped, and the rebuild begins at the first group that a member lacks.
    pub(super) fn start_rebuild(&mut self) {
        self.passes.drop_pass();
        self.passes.request_pump();
    }

    /// Plans the move of parity to the oldest members, after members have changed.
    pub(super) fn plan_shift(&mut self, now: Nanos) {
        if self.setup.shares.is_none() {
            return;
        }
        if let Some(shift) = self.layout.shift_mut() {
            // The rebuild completes the unfinished shift; then the next one is planned.
            shift.lazy = false;
            self.passes.request_replan();
            return;
        }
        let (Some(shares), GroupMap::Striped(striped)) = (&self.setup.shares, &self.layout.map) else {
            return;
        };
        // A missing member ranks as the youngest: its replacement will be new.
        let age = |column: usize| self.members.age(column).unwrap_or(f64::NEG_INFINITY);
        let mut order: Vec<u8> = (0..self.members.len() as u8).collect();
        order.sort_by(|&a, &b| age(usize::from(b)).total_cmp(&age(usize::from(a))));
        let shift_way = self.setup.config.replacement.shift;
        let plan = match (shift_way, &self.setup.first_placement) {
            (ShiftWay::Naive, Some(first)) => {
                ShiftPlan::between(&striped.now, by_rank(first, &shares.counts, &order))
            }
            _ => ShiftPlan::minimal(&striped.now, &shares.ranked(&order).counts),
        };
        // Parity may already lie where the plan puts it.
        if plan.chunk_moves > 0 {
            let (parity_moves, period) = (plan.parity_moves, striped.now.period());
            self.passes.request_shift(plan, shift_way == ShiftWay::Lazy);
            self.history.record_event(now, ArrayEventKind::ShiftStarted { parity_moves, period });
        }
    }

    /// Lets a planned shift begin once no read without a lock is under way.
    fn begin_shift(&mut self) {
        if self.flight.direct_reads > 0 {
            return;
        }
        let stripes = self.layout.groups;
        if let GroupMap::Striped(striped) = &mut self.layout.map
            && let Some((plan, lazy)) = self.passes.begin_shift()
        {
            striped.shift = Some(ParityShift::new(&striped.now, plan, stripes, lazy));
            self.shift_progress();
        }
    }

    /// Ends the shift if the last group has moved.
    pub(super) fn shift_progress(&mut self) {
        let GroupMap::Striped(striped) = &mut self.layout.map else { return };
        if striped.shift.as_ref().is_none_or(|shift| shift.left > 0) {
            return;
        }
        if let Some(shift) = striped.shift.take() {
            striped.now = shift.target;
        }
        self.history.record_event(self.clock, ArrayEventKind::ShiftDone);
        if self.passes.shift_ends() {
            self.plan_shift(self.clock);
        }
    }

    /// The facts that the choice of a pass depends on.
    fn pass_view(&self) -> PassView {
        PassView {
            rebuild_from: self
                .members
                .iter()
                .filter(|column| column.is_filling())
                .map(|column| column.valid_to)
                .min(),
            can_rebuild: self.can_rebuild(),
            recovering: self.repairs.in_place(),
            resync_from: self.doubt.resync(),
            can_shift: self.layout.shift().is_some_and(|shift| !shift.lazy)
                && !self.is_missing_too_many(None),
        }
    }

    /// True if a rebuild saves data. With too many members missing it would only write zeroes, unless every column has a device again.
    fn can_rebuild(&self) -> bool {
        !self.is_missing_too_many(None) || self.members.iter().all(|column| column.device.is_some())
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
            match self.passes.next(self.layout.groups, !rebuilds || self.can_rebuild()) {
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
    fn work_on_group(&mut self, now: Nanos, kind: PassKind, group: u64) -> bool {
        if !self.pass_needs_group(kind, group) {
            // Skipped groups are progress, but do not count against the rate.
            let done = self.passes.skip(group, self.pass_bytes(1));
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
        let epoch = self.passes.begin_group(now, self.pass_bytes(1));
        let kind = match kind {
            PassKind::Rebuild | PassKind::Shift | PassKind::Repair => GroupOpKind::Transform,
            PassKind::Resync => GroupOpKind::Verify { repair: true, resync: true },
            PassKind::Scrub => GroupOpKind::Verify { repair: self.passes.scrub_repairs(), resync: false },
        };
        self.start_op(now, GroupOp { epoch, ..GroupOp::new(kind, group, self.whole_chunk()) });
        true
    }

    /// True if a pass has work to do in `group`.
    fn pass_needs_group(&self, kind: PassKind, group: u64) -> bool {
        match kind {
            PassKind::Rebuild => {
                let eager = self.layout.shift().is_some_and(|shift| !shift.lazy && !shift.is_moved(group));
                eager
                    || self.members.iter().enumerate().any(|(index, column)| {
                        column.device.is_some()
                            && group >= column.valid_to
                            && self.layout.role_on(group, index, false).is_some()
                    })
            }
            PassKind::Shift => self.layout.is_to_move(group),
            PassKind::Resync => self.doubt.must_resync(group) && !self.is_beyond_repair(group),
            PassKind::Scrub => !self.is_beyond_repair(group),
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

    pub(super) fn group_done(&mut self, group: u64, epoch: u32) {
        let done = self.passes.end_group(group, epoch);
        self.groups_done(done);
    }

    /// Takes over the progress of a pass: kind, and the group up to which it is done.
    fn groups_done(&mut self, done: Option<(PassKind, u64)>) {
        match done {
            Some((PassKind::Rebuild, base)) => {
                for column in self.members.iter_mut().filter(|column| column.device.is_some()) {
                    // A member may be ahead: the pass began anew for another one.
                    column.valid_to = column.valid_to.max(base);
                }
            }
            Some((PassKind::Resync, base)) => self.doubt.resynced_up_to(base),
            Some((PassKind::Shift | PassKind::Repair | PassKind::Scrub, _)) | None => {}
        }
    }

    /// Ends a pass over all groups: members are complete, doubt is over, or findings are reported.
    fn end_pass(&mut self, now: Nanos, kind: PassKind) {
        self.passes.drop_pass();
        match kind {
            PassKind::Rebuild => {
                for column in 0..self.members.len() {
                    let member = &mut self.members[column];
                    if member.device.is_some()
                        && !member.is_in_sync()
                        && member.valid_to >= self.layout.groups
                    {
                        member.valid_to = u64::MAX;
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

    /// Starts a scrub by the interval.
    pub(super) fn timed_scrub(&mut self) {
        self.passes.scrub_by_time(self.history.counters.mismatches);
    }

    /// Bytes of each member in `groups` groups.
    pub(super) fn pass_bytes(&self, groups: u64) -> Bytes {
        Bytes(groups * self.layout.chunk * SECTOR_BYTES)
    }
}

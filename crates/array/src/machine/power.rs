//! Loss of power, and the restart after it.

use super::Array;
use super::flight::HostReplies;
use crate::error::{ArrayError, ArrayEventKind};
use crate::ids::GroupIndex;
use crate::op::{GroupOp, GroupOpKind};
use outlast_device::{Completion, Device, Outcome, PowerCycle};
use outlast_units::Nanos;

impl<D: Device + PowerCycle> PowerCycle for Array<D> {
    /// Power fails and comes back: a nested array starts by itself, forced if it has to.
    fn power_cycle(&mut self, off: Nanos, on: Nanos) {
        self.lose_power(off, on);
        self.accounts.iter_mut().for_each(|accounts| accounts.forget());
        let started = self.power_on(on, true);
        assert!(started.is_ok(), "a forced start is never refused");
    }
}

impl<D: Device + PowerCycle> Array<D> {
    /// Loses power like [`Array::power_cut`], but with completions: commands in flight end in [`Outcome::Aborted`]. Any part of a write or
    /// trim may have been done.
    pub fn power_failure(&mut self, now: Nanos) {
        self.power_failure_until(now, now);
    }

    /// Loses power like [`Array::power_failure`] at `off`, with the members' power back at `on`. Call it at `on`, with no input to the array
    /// since `off`; [`Array::power_on`] follows.
    pub fn power_failure_until(&mut self, off: Nanos, on: Nanos) {
        self.catch_up(off);
        let aborted = self.flight.open_tags();
        if let Some(accounts) = &mut self.accounts {
            accounts.abort(off, &aborted);
        }
        // Commands that had ended before stay completed, whether or not the host has fetched the completions.
        let done = std::mem::take(&mut self.replies);
        self.lose_power(off, on);
        self.history.record_event(off, ArrayEventKind::PowerFailed { aborted: aborted.len() as u64 });
        let end = |tag| Completion::new(off, tag, Outcome::Aborted);
        self.replies = done;
        self.replies.ready.extend(aborted.into_iter().map(end));
    }

    /// Power fails at `now`: commands in flight are forgotten and will not complete. What survives is what members have written, and
    /// the array's own records: which members are how far rebuilt, where parity has moved, bad blocks, lost data, and what
    /// [`Consistency`] provides. The array is off until [`Array::power_on`].
    pub fn power_cut(&mut self, now: Nanos) {
        self.lose_power(now, now);
        self.accounts.iter_mut().for_each(|accounts| accounts.forget());
    }

    /// Power fails at `off`, and is back for the members at `on`.
    fn lose_power(&mut self, off: Nanos, on: Nanos) {
        self.catch_up(off);
        let columns = self.members.iter_mut().filter_map(|column| column.device.as_mut());
        columns.for_each(|device| device.power_cycle(off, on));
        self.members.spares_mut().iter_mut().for_each(|spare| spare.power_cycle(off, on));
        let donors = self.members.donors_mut().filter_map(|donor| donor.home.device.as_mut());
        donors.for_each(|device| device.power_cycle(off, on));
        self.members.forget_commands();
        self.repairs_after_power_cut();
        // A write that was being committed without a record leaves its rows torn.
        for op in self.flight.ops.slots() {
            let recorded = self.doubt.records.values().any(|record| record.group == op.group);
            let changes =
                matches!(op.kind, GroupOpKind::Write | GroupOpKind::Trim | GroupOpKind::Verify { .. });
            if op.committing && changes && !recorded && self.layout.roles > self.layout.data {
                self.doubt.mark_torn(op.group, op.rows);
            }
        }
        self.powered = false;
        self.history.counters.power_cuts += 1;
        self.flight.clear();
        self.replies = HostReplies::default();
        self.passes.after_power_cut();
        self.doubt.after_power_cut();
    }

    /// Power is back: records are carried out before the host is served, then whatever is in doubt is made right beside it. Without a loss of power
    /// nothing happens.
    ///
    /// # Errors
    /// If parity is in doubt and a member is missing, as md refuses: computed data of the missing member could be wrong. `force`
    /// starts nevertheless.
    pub fn power_on(&mut self, now: Nanos, force: bool) -> Result<(), ArrayError> {
        if self.powered {
            return Ok(());
        }
        if self.is_in_doubt() && self.members.is_degraded() && !force {
            let doubtful = |&group: &GroupIndex| self.doubt.distrusts(group) && self.doubt.must_resync(group);
            let groups = (0..self.layout.groups)
                .map(GroupIndex)
                .filter(doubtful)
                .filter(|&group| self.availability().depends_on_parity(group))
                .count() as u64;
            if groups > 0 {
                self.history.record_event(now, ArrayEventKind::NotStarted { groups });
                return Err(ArrayError::DirtyDegraded { groups });
            }
        }
        // Members may have events of their own since then. The array itself begins nothing before `powered` is set.
        self.members.refresh_deadlines();
        self.catch_up(now);
        self.powered = true;
        let holes = self
            .doubt
            .torn_groups()
            .into_iter()
            .filter(|&group| self.availability().depends_on_parity(group))
            .count();
        self.history.counters.write_holes += holes as u64;
        if !self.is_in_doubt() {
            self.doubt.bitmap.resume(now, self.setup.config.log.bitmap_delay);
        }
        let records = self.doubt.records.take();
        // The host waits until the last record is replayed. One more than the records, since operations may end as soon as they begin.
        self.flight.replaying = 1;
        for record in records {
            self.flight.replaying += 1;
            let mut op = GroupOp::new(GroupOpKind::Replay, record.group, record.rows);
            op.record = Some(Box::new(record));
            self.start_op(now, op);
            self.history.counters.records_replayed += 1;
        }
        self.replay_done();
        self.passes.request_pump();
        self.settle(now);
        Ok(())
    }
}

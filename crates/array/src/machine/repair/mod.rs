//! Recovery of what a member has lost while it goes on (Reparo, section 4.2): what members told, what waits, what is under way.

mod donor;
mod identify;
mod recover;

use super::Array;
use crate::error::{EventKind, RepairStep};
use crate::passes::PassKind;
use crate::repairs::{MemberRepair, PutOff, Repair, Waiting};
use outlast_decisions::{RepairDecision, RepairWay};
use outlast_device::{Device, Notice, NoticeKind};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Every recovery from a failed die, finished or not, in the order in which members told of them.
    pub fn repairs(&self) -> &[MemberRepair] {
        self.repairs.records()
    }

    /// A member has told something; it may have more to tell.
    #[cold]
    pub(in crate::machine) fn told(&mut self, now: Nanos, index: usize, notice: Notice) {
        let mut next = Some(notice);
        while let Some(notice) = next {
            self.hear(now, index, notice);
            next = self.members.device_mut(index).and_then(Device::take_notice);
        }
        self.passes.ask();
    }

    fn hear(&mut self, now: Nanos, index: usize, notice: Notice) {
        let (die, step) = match notice.kind {
            NoticeKind::DieFailed { die } => (die, RepairStep::DieFailed),
            NoticeKind::DieFailing { die } => (die, RepairStep::DieFailing),
            NoticeKind::LastRepair { die } => (die, RepairStep::LastRepair),
            NoticeKind::BeyondRepair { die } => (die, RepairStep::BeyondRepair),
        };
        let column = self.members.column_of(index);
        self.ledger.event(now, EventKind::Repair { member: column, die, step });
        if step == RepairStep::DieFailing {
            return;
        }
        if index >= self.members.len() {
            // It is being replaced already: what it told before no longer holds.
            self.ask_donor_again(column);
            return;
        }
        let redundant = self.layout.roles > self.layout.data;
        let beyond = step == RepairStep::BeyondRepair && redundant;
        let member = &mut self.members[column];
        let (known, replaced) = (member.dies.contains(&die), member.beyond_repair);
        member.excuse();
        if !known {
            member.dies.push(die);
        }
        if known && !beyond || replaced {
            return;
        }
        let mut record = MemberRepair::new(column, die, self.setup.config.repair.way, notice.at);
        let decision = match () {
            // All that can be done is to find out what is lost.
            () if !redundant => RepairDecision::Now(RepairWay::Die),
            () if beyond => RepairDecision::Now(RepairWay::Assist),
            () => self.decide_repair(now, &record, 0),
        };
        let put_off = put_off(now, decision, 0);
        if let RepairDecision::Now(way) = decision {
            record.way = way;
        }
        if beyond {
            self.members[column].beyond_repair = true;
            self.abandon_repairs(now, column);
        } else if put_off.is_none()
            && record.way != RepairWay::Die
            && self.repairs.waits_for_replacement(column)
        {
            return;
        }
        self.repairs.want(record, put_off);
    }

    /// Begins what can begin, and goes on with what is under way.
    pub(in crate::machine) fn pump_repairs(&mut self, now: Nanos) {
        if self.repairs.is_idle() {
            return;
        }
        for id in self.repairs.waiting() {
            // One that begins may end others of its member.
            let Some(waiting) = self.repairs.take_waiting(id) else { continue };
            let waiting = self.decide_again(now, waiting);
            if let Some(put_off) = waiting.put_off {
                self.passes.look_at(put_off.until);
                self.repairs.keep_waiting(waiting);
                continue;
            }
            if self.may_begin(id) {
                self.begin_repair(now, id);
                continue;
            }
            let MemberRepair { member, die, way, .. } = *self.repairs.record(id);
            let tells = way != RepairWay::Die;
            if !waiting.told && tells {
                self.ledger.event(now, EventKind::Repair { member, die, step: RepairStep::Waits });
            }
            self.repairs.keep_waiting(Waiting { told: waiting.told || tells, ..waiting });
        }
        let active: Vec<u32> = self.repairs.active().iter().map(|repair| repair.id).collect();
        for id in active {
            self.pump_repair(now, id);
        }
    }

    /// A decision that was put off is taken when its time has come, or when nobody is left to take it but the settings.
    fn decide_again(&mut self, now: Nanos, waiting: Waiting) -> Waiting {
        let Some(PutOff { until, asked }) = waiting.put_off else { return waiting };
        if until > now && self.may_put_off() {
            return waiting;
        }
        let record = self.repairs.record(waiting.id).clone();
        let decision = self.decide_repair(now, &record, asked);
        if let RepairDecision::Now(way) = decision {
            self.repairs.record(waiting.id).way = way;
        }
        Waiting { put_off: put_off(now, decision, asked), ..waiting }
    }

    fn may_begin(&self, id: u32) -> bool {
        let MemberRepair { member, way, .. } = self.repairs.records()[id as usize];
        let column = &self.members[member];
        let whole = column.device.is_some() && column.is_in_sync() && self.repairs.on(member).is_none();
        whole
            && match way {
                RepairWay::Die => true,
                RepairWay::Assist => !self.members.spares().is_empty(),
                RepairWay::Rebuild => {
                    !self.is_missing_too_many(Some(member)) && !self.others_are_needed(member)
                }
            }
    }

    /// Whether taking a member out would lose what others, which will be made good without leaving first, have lost with a die.
    fn others_are_needed(&self, member: usize) -> bool {
        let stays = |column: usize| self.repairs.stays(column);
        let others = (0..self.members.len()).filter(|&column| column != member && stays(column)).count();
        let missing = self.members.iter().enumerate();
        let missing = missing
            .filter(|(index, column)| !column.is_in_sync() && self.members.donor(*index).is_none())
            .count();
        others > 0 && missing + others >= self.layout.roles - self.layout.data
    }

    fn begin_repair(&mut self, now: Nanos, id: u32) {
        let MemberRepair { member: column, die, way, .. } = self.repairs.records()[id as usize];
        self.repairs.record(id).started_at = Some(now);
        self.ledger.event(now, EventKind::Repair { member: column, die, step: RepairStep::Started });
        let link = |device: Option<&D>| device.and_then(|device| device.identify().link);
        let mut rate = self.setup.config.repair.rate_of(link(self.members[column].device.as_ref()));
        match way {
            RepairWay::Die => self.hold_passes(),
            RepairWay::Assist => {
                let other = self.setup.config.repair.rate_of(link(self.members.spares().front()));
                rate = rate.min(other);
                for die in self.repairs.abandon_waiting(now, column) {
                    self.ledger
                        .event(now, EventKind::Repair { member: column, die, step: RepairStep::Abandoned });
                }
                self.begin_assist(now, column);
            }
            RepairWay::Rebuild => self.fail_column(now, column),
        }
        self.repairs.begin(Repair::new(id, column, way, rate));
    }

    /// Passes that look at whole groups wait while rows are written back: they would compute whole chunks of the member anew, and
    /// after a loss of power from parity that is in doubt.
    fn hold_passes(&mut self) {
        let held = |kind| matches!(kind, PassKind::Resync | PassKind::Scrub | PassKind::Shift);
        if self.passes.under_way().is_some_and(|pass| held(pass.kind)) {
            self.passes.drop_pass();
        }
    }

    /// A recovery has come to its end.
    fn finish_repair(&mut self, now: Nanos, id: u32) {
        let Some((column, die, more)) = self.repairs.finish(now, id) else { return };
        self.ledger.event(now, EventKind::Repair { member: column, die, step: RepairStep::Done });
        self.members[column].excused = more;
        self.passes.ask();
    }

    /// A member is complete again: recoveries that filled it are done, and the one that it was filled from leaves.
    pub(in crate::machine) fn member_complete(&mut self, now: Nanos, column: usize) {
        self.drop_donor(now, column);
        if let Some(id) = self.repairs.on(column).map(|repair| repair.id) {
            self.finish_repair(now, id);
        }
    }

    /// The member of a column leaves, or is replaced instead: recoveries of it end, except those that it leaves for.
    pub(in crate::machine) fn abandon_repairs(&mut self, now: Nanos, column: usize) {
        for die in self.repairs.abandon(now, column) {
            self.ledger.event(now, EventKind::Repair { member: column, die, step: RepairStep::Abandoned });
            self.passes.ask();
        }
    }

    /// Power was lost: members are asked again from the first range on. What has been recovered they no longer tell.
    pub(in crate::machine) fn repairs_after_power_cut(&mut self) {
        self.repairs.after_power_cut();
        for column in self.members.donor_columns() {
            self.ask_donor_again(column);
        }
    }
}

/// What is left open by a decision that was asked for the first time or, after `before` times, again.
fn put_off(now: Nanos, decision: RepairDecision, before: u32) -> Option<PutOff> {
    let RepairDecision::Later(span) = decision else { return None };
    Some(PutOff { until: now + span, asked: before + 1 })
}

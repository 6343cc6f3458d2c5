//! Recovery of data that a working member has lost (Reparo, section 4.2): notices of members, waiting and active recoveries.

mod counts;
mod donor;
mod ends;
mod identify;
mod ranges;
mod recover;

pub(super) use ranges::RepairRanges;

use super::Array;
use crate::error::{ArrayEventKind, RepairStep};
use crate::ids::{ColumnDevice, ColumnIndex, RepairId};
use crate::members::MemberColumn;
use crate::repairs::{ActiveRepair, DeferredDecision, MemberRepair, WaitingRepair};
use outlast_decisions::{RepairDecision, RepairWay};
use outlast_device::{Device, Notice, NoticeKind};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Every recovery from a failed die, finished or not, in the order in which members reported it.
    pub fn repairs(&self) -> &[MemberRepair] {
        self.repairs.records()
    }

    /// Handles a notice of a device, and all further ones that it has ready.
    #[cold]
    pub(in crate::machine) fn handle_notices(&mut self, now: Nanos, device: ColumnDevice, notice: Notice) {
        let mut next = Some(notice);
        while let Some(notice) = next {
            self.handle_notice(now, device, notice);
            next = self.members.device_mut(device).and_then(Device::take_notice);
        }
        self.passes.request_pump();
    }

    /// Records a notice about a die, and queues a recovery where one is needed.
    fn handle_notice(&mut self, now: Nanos, device: ColumnDevice, notice: Notice) {
        let (die, step) = match notice.kind {
            NoticeKind::DieFailed { die } => (die, RepairStep::DieFailed),
            NoticeKind::DieFailing { die } => (die, RepairStep::DieFailing),
            NoticeKind::LastRepair { die } => (die, RepairStep::LastRepair),
            NoticeKind::BeyondRepair { die } => (die, RepairStep::BeyondRepair),
        };
        let column = device.column();
        self.history.record_event(now, ArrayEventKind::Repair { member: column, die, step });
        if step == RepairStep::DieFailing {
            return;
        }
        if device == ColumnDevice::Donor(column) {
            // A donor, which is being replaced already: with another die lost, its earlier answers no longer hold.
            self.members.ask_donor_again(column);
            return;
        }
        let redundant = self.layout.roles > self.layout.data;
        let is_beyond_repair = step == RepairStep::BeyondRepair && redundant;
        let member = &mut self.members[column];
        let (is_known_die, is_being_replaced) = (member.dies.contains(&die), member.beyond_repair);
        member.note_failed_die();
        if !is_known_die {
            member.dies.push(die);
        }
        if is_known_die && !is_beyond_repair || is_being_replaced {
            return;
        }
        let mut record = MemberRepair::new(column, die, self.setup.config.repair.way, notice.at);
        let decision = if !redundant {
            // Nothing can be recovered; the queries of a repair in place only find out which data is lost.
            RepairDecision::Now(RepairWay::Die)
        } else if is_beyond_repair {
            RepairDecision::Now(RepairWay::Assist)
        } else {
            self.decide_repair(now, &record, 0)
        };
        let deferred = defer(now, decision, 0);
        if let RepairDecision::Now(way) = decision {
            record.way = way;
        }
        if is_beyond_repair {
            self.members[column].beyond_repair = true;
            self.abandon_repairs(now, column);
        } else if deferred.is_none()
            && record.way != RepairWay::Die
            && self.repairs.waits_for_replacement(column)
        {
            // The replacement that waits already recovers this die, too.
            return;
        }
        self.repairs.add_waiting(record, deferred);
    }

    /// Begins waiting recoveries that can begin, and advances the active ones.
    pub(in crate::machine) fn pump_repairs(&mut self, now: Nanos) {
        if self.repairs.is_idle() {
            return;
        }
        for id in self.repairs.waiting() {
            // A recovery that begins may have ended other ones of its member, so each id is looked up anew.
            let Some(waiting) = self.repairs.take_waiting(id) else { continue };
            let waiting = self.decide_again(now, waiting);
            if let Some(deferred) = waiting.deferred {
                self.passes.wake_by(deferred.until);
                self.repairs.keep_waiting(waiting);
                continue;
            }
            if self.may_begin(id) {
                self.begin_repair(now, id);
                continue;
            }
            let MemberRepair { member, die, way, .. } = *self.repairs.record_mut(id);
            let is_announced = way != RepairWay::Die;
            if !waiting.announced && is_announced {
                self.history
                    .record_event(now, ArrayEventKind::Repair { member, die, step: RepairStep::Waits });
            }
            self.repairs
                .keep_waiting(WaitingRepair { announced: waiting.announced || is_announced, ..waiting });
        }
        let active: Vec<RepairId> = self.repairs.active().iter().map(|repair| repair.id).collect();
        for id in active {
            self.pump_repair(now, id);
        }
    }

    /// Asks again about a deferred decision once its time has come, or at once if user code has failed: then the settings decide.
    fn decide_again(&mut self, now: Nanos, waiting: WaitingRepair) -> WaitingRepair {
        let Some(DeferredDecision { until, times_asked }) = waiting.deferred else { return waiting };
        if until > now && self.may_put_off() {
            return waiting;
        }
        let record = self.repairs.record_mut(waiting.id).clone();
        let decision = self.decide_repair(now, &record, times_asked);
        if let RepairDecision::Now(way) = decision {
            self.repairs.record_mut(waiting.id).way = way;
        }
        WaitingRepair { deferred: defer(now, decision, times_asked), ..waiting }
    }

    fn may_begin(&self, id: RepairId) -> bool {
        let MemberRepair { member, way, .. } = *self.repairs.record(id);
        let column = &self.members[member];
        let is_complete = column.device.is_some() && column.is_in_sync() && self.repairs.on(member).is_none();
        is_complete
            && match way {
                RepairWay::Die => true,
                RepairWay::Assist => !self.members.spares().is_empty(),
                RepairWay::Rebuild => {
                    !self.availability().is_missing_too_many(Some(member))
                        && !self.must_keep_for_others(member)
                }
            }
    }

    /// True if data that other members have lost with a die, and are to get back in place, could not be computed without `member`.
    fn must_keep_for_others(&self, member: ColumnIndex) -> bool {
        let is_under_repair = |column: &ColumnIndex| *column != member && self.repairs.stays(*column);
        let under_repair = self.members.indices().filter(is_under_repair).count();
        let is_missing = |&(index, column): &(ColumnIndex, &MemberColumn<D>)| {
            !column.is_in_sync() && self.members.donor(index).is_none()
        };
        let missing = self.members.iter_indexed().filter(is_missing).count();
        // `>=`, since the member itself would be one more that is missing.
        under_repair > 0 && missing + under_repair >= self.layout.roles - self.layout.data
    }

    fn begin_repair(&mut self, now: Nanos, id: RepairId) {
        let MemberRepair { member: column, die, way, .. } = *self.repairs.record(id);
        self.repairs.record_mut(id).started_at = Some(now);
        self.history
            .record_event(now, ArrayEventKind::Repair { member: column, die, step: RepairStep::Started });
        // The rate limit is a share of the link speed.
        let link = |device: Option<&D>| device.and_then(|device| device.identify().link);
        let mut rate = self.setup.config.repair.rate_of(link(self.members[column].device.as_ref()));
        match way {
            RepairWay::Die => self.passes.hold_for_repair(),
            RepairWay::Assist => {
                let spare_rate = self.setup.config.repair.rate_of(link(self.members.spares().front()));
                // Data goes from the member to the spare: the slower link sets the pace.
                rate = rate.min(spare_rate);
                for die in self.repairs.abandon_waiting(now, column) {
                    self.history.record_event(
                        now,
                        ArrayEventKind::Repair { member: column, die, step: RepairStep::Abandoned },
                    );
                }
                self.begin_assist(now, column);
            }
            RepairWay::Rebuild => self.fail_column(now, column),
        }
        self.repairs.begin(ActiveRepair::new(id, column, way, rate));
    }

    /// Restarts recoveries and forgets the answers of donors, after a loss of power.
    pub(in crate::machine) fn repairs_after_power_cut(&mut self) {
        self.repairs.after_power_cut();
        for column in self.members.donor_columns() {
            self.members.ask_donor_again(column);
        }
    }
}

/// The deferral that `decision` asks for, after user code had been asked `asked_before` times; `None` if it is final.
fn defer(now: Nanos, decision: RepairDecision, asked_before: u32) -> Option<DeferredDecision> {
    let RepairDecision::Later(span) = decision else { return None };
    Some(DeferredDecision { until: now + span, times_asked: asked_before + 1 })
}

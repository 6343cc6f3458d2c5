//! Recoveries of data that members have lost with a die: records, waiting and active ones.
//!
//! A member that reports a failed die (`Device::take_notice`) is asked, range by range, for the sectors to be written again (`Op::LbaStatus`). Each run of them
//! is one operation under the lock of its rows, beside the host, a rebuild, and repairs of other members; `machine/repair/` acts. A member that is being
//! replaced may stay as a donor of its column (decision 0018).

mod record;
mod repair;

pub use record::MemberRepair;
pub(crate) use repair::{ActiveRepair, RepairAction, RepairLimits, RepairRows};

use crate::ids::{ColumnIndex, RepairId};
use crate::layout::GroupLayout;
use crate::member_command::MemberCommand;
use crate::op::GroupOpKind;
use outlast_decisions::RepairWay;
use outlast_units::{ByteRate, IndexVec, Nanos};

/// A recovery that has not begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct WaitingRepair {
    pub(crate) id: RepairId,
    /// True once [`RepairStep::Waits`](crate::RepairStep::Waits) has been recorded, which happens once.
    pub(crate) announced: bool,
    /// Set while user code has put the decision off; the record then shows the method of the settings.
    pub(crate) deferred: Option<DeferredDecision>,
}

/// A repair decision that user code has put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct DeferredDecision {
    pub(crate) until: Nanos,
    /// Times that user code has been asked about this repair.
    pub(crate) times_asked: u32,
}

/// All recoveries of the array: finished, waiting and active. The index of a record is the id of its recovery.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct MemberRepairs {
    records: IndexVec<RepairId, MemberRepair>,
    waiting: Vec<WaitingRepair>,
    active: Vec<ActiveRepair>,
}

impl MemberRepairs {
    /// Checks restored state: members below `members`, start times up to `now`, counts below `most`, one record for each open recovery.
    pub(crate) fn check(&self, members: usize, now: Nanos, most: u64) -> Result<(), String> {
        for (id, record) in self.records.iter_indexed() {
            let is_past = record.started_at.is_none_or(|at| at <= now);
            if record.member.index() >= members
                || !is_past
                || record.largest() >= most
                || record.resumed > 1 << 31
            {
                return Err(format!(
                    "recovery {id} is of member {} of {members}, or yet to come",
                    record.member
                ));
            }
        }
        let waiting = self.waiting.iter().map(|waiting| waiting.id);
        let ids: Vec<RepairId> = waiting.chain(self.active.iter().map(|repair| repair.id)).collect();
        let once: std::collections::BTreeSet<_> = ids.iter().collect();
        let columns: std::collections::BTreeSet<_> = self.active.iter().map(|repair| repair.column).collect();
        let of_its_record = |repair: &ActiveRepair| {
            self.records.get(repair.id).is_some_and(|record| record.member == repair.column)
        };
        let is_known = ids.iter().all(|&id| self.records.get(id).is_some());
        if is_known
            && once.len() == ids.len()
            && columns.len() == self.active.len()
            && self.active.iter().all(of_its_record)
        {
            Ok(())
        } else {
            Err(format!("recoveries {ids:?} are not those of which there are {} records", self.records.len()))
        }
    }

    /// True if no recovery waits or is under way.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty()
    }

    /// True if no recovery is under way; some may wait.
    #[inline]
    pub(crate) fn is_none_active(&self) -> bool {
        self.active.is_empty()
    }

    /// Every recovery, finished or not.
    pub(crate) fn records(&self) -> &[MemberRepair] {
        self.records.as_slice()
    }

    /// The record of recovery `id`.
    pub(crate) fn record(&self, id: RepairId) -> &MemberRepair {
        &self.records[id]
    }

    /// The mutable record of recovery `id`.
    pub(crate) fn record_mut(&mut self, id: RepairId) -> &mut MemberRepair {
        &mut self.records[id]
    }

    /// Queues one more recovery; `deferred`: user code has yet to choose its method.
    pub(crate) fn add_waiting(&mut self, record: MemberRepair, deferred: Option<DeferredDecision>) {
        let id = self.records.push(record);
        self.waiting.push(WaitingRepair { id, announced: false, deferred });
    }

    /// Ids of the waiting recoveries, oldest first.
    pub(crate) fn waiting(&self) -> Vec<RepairId> {
        self.waiting.iter().map(|waiting| waiting.id).collect()
    }

    /// Takes out recovery `id`, if it still waits.
    pub(crate) fn take_waiting(&mut self, id: RepairId) -> Option<WaitingRepair> {
        let place = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.waiting.remove(place))
    }

    /// Puts a waiting recovery back, last in order.
    pub(crate) fn keep_waiting(&mut self, waiting: WaitingRepair) {
        self.waiting.push(waiting);
    }

    /// True if a recovery that replaces the column's member waits.
    pub(crate) fn waits_for_replacement(&self, column: ColumnIndex) -> bool {
        let decided = self.waiting.iter().filter(|waiting| waiting.deferred.is_none());
        let mut records = decided.map(|waiting| &self.records[waiting.id]);
        records.any(|record| record.member == column && record.way != RepairWay::Die)
    }

    /// True if the column's member is repaired while it stays in the array, or may be (the decision is deferred).
    pub(crate) fn stays(&self, column: ColumnIndex) -> bool {
        let mut open = self.records.iter().filter(|record| record.finished_at.is_none());
        let mut deferred = self.waiting.iter().filter(|waiting| waiting.deferred.is_some());
        open.any(|record| record.member == column && record.way != RepairWay::Rebuild)
            || deferred.any(|waiting| self.records[waiting.id].member == column)
    }

    /// Starts a recovery, the only one of its member.
    pub(crate) fn begin(&mut self, repair: ActiveRepair) {
        assert!(self.on(repair.column).is_none(), "a member has one recovery at a time");
        self.active.push(repair);
    }

    /// Recoveries under way.
    pub(crate) fn active(&self) -> &[ActiveRepair] {
        &self.active
    }

    /// Mutable recoveries under way.
    pub(crate) fn active_mut(&mut self) -> &mut [ActiveRepair] {
        &mut self.active
    }

    /// Recovery `id`, while it is under way.
    pub(crate) fn get(&self, id: RepairId) -> Option<&ActiveRepair> {
        self.active.iter().find(|repair| repair.id == id)
    }

    /// Mutable recovery `id`, while it is under way.
    pub(crate) fn get_mut(&mut self, id: RepairId) -> Option<&mut ActiveRepair> {
        self.active.iter_mut().find(|repair| repair.id == id)
    }

    /// The recovery of a column's member that is under way.
    pub(crate) fn on(&self, column: ColumnIndex) -> Option<&ActiveRepair> {
        self.active.iter().find(|repair| repair.column == column)
    }

    /// True if lost rows are being written back to some member.
    pub(crate) fn in_place(&self) -> bool {
        self.active.iter().any(|repair| repair.way == RepairWay::Die)
    }

    /// The lowest rate limit of rebuilds that a failed die has caused.
    pub(crate) fn rebuild_rate(&self) -> Option<ByteRate> {
        let rebuilds = self.active.iter().filter(|repair| repair.way != RepairWay::Die);
        rebuilds.filter_map(|repair| repair.rate).min()
    }

    /// Ends recovery `id` at `now`. Returns its column and die, and whether another one of that member waits; `None` if it
    /// is not under way.
    pub(crate) fn finish(&mut self, now: Nanos, id: RepairId) -> Option<(ColumnIndex, u16, bool)> {
        let at = self.active.iter().position(|repair| repair.id == id)?;
        let column = self.active.remove(at).column;
        let record = self.record_mut(id);
        record.finished_at = Some(now);
        let duration = now - record.started_at.unwrap_or(now);
        // Overlapping queries count each, so that they can add up to more than the whole duration.
        record.recover = duration.saturating_sub(record.identify);
        let die = record.die;
        let is_another_waiting = self.waiting.iter().any(|waiting| self.records[waiting.id].member == column);
        Some((column, die, is_another_waiting))
    }

    /// Ends the recoveries of a member that leaves or is replaced, except the rebuild that it leaves for. Returns their dies.
    pub(crate) fn abandon(&mut self, now: Nanos, column: ColumnIndex) -> Vec<u16> {
        let open =
            self.waiting.iter().map(|waiting| waiting.id).chain(self.active.iter().map(|repair| repair.id));
        let ids: Vec<RepairId> = open.collect();
        self.abandon_listed(now, column, &ids)
    }

    /// Ends the waiting recoveries of a member for which a replacement begins. Returns their dies.
    pub(crate) fn abandon_waiting(&mut self, now: Nanos, column: ColumnIndex) -> Vec<u16> {
        let ids = self.waiting();
        self.abandon_listed(now, column, &ids)
    }

    fn abandon_listed(&mut self, now: Nanos, column: ColumnIndex, ids: &[RepairId]) -> Vec<u16> {
        let mut dies = Vec::new();
        for &id in ids {
            let record = self.record_mut(id);
            // The rebuild for which the member leaves continues on its replacement.
            if record.member != column || record.way == RepairWay::Rebuild && record.started_at.is_some() {
                continue;
            }
            (record.finished_at, record.abandoned) = (Some(now), true);
            dies.push(record.die);
            self.waiting.retain(|other| other.id != id);
            self.active.retain(|repair| repair.id != id);
        }
        dies
    }

    /// Restarts active recoveries after a loss of power: members are queried again from the first range on, and no longer list
    /// rows that have been recovered.
    pub(crate) fn after_power_cut(&mut self) {
        for repair in &mut self.active {
            self.records[repair.id].resumed += 1;
            repair.restart();
        }
    }

    /// Counts sectors that a member has listed.
    pub(crate) fn count_listed(&mut self, id: RepairId, readable: bool, sectors: u64) {
        let record = self.record_mut(id);
        if readable {
            record.fake_sectors += sectors;
        } else {
            record.failed_sectors += sectors;
        }
    }

    /// Counts lost data that recovery could not compute.
    pub(crate) fn count_lost(&mut self, kind: GroupOpKind, sectors: u64) {
        let id = match kind {
            GroupOpKind::Repair { repair, .. } => Some(repair),
            GroupOpKind::Transform => {
                let mut rebuilds = self.active().iter().filter(|repair| repair.way != RepairWay::Die);
                rebuilds.next().map(|repair| repair.id)
            }
            _ => None,
        };
        if let Some(id) = id {
            self.record_mut(id).lost_sectors += sectors;
        }
    }

    /// Notes a write of the host, without redundancy: the answer to an open query may still list these sectors as failed.
    #[inline]
    pub(crate) fn note_written(&mut self, layout: &GroupLayout, sub: MemberCommand) {
        if self.is_none_active() {
            return;
        }
        let (_, base) = layout.locate(sub.group, usize::from(sub.role), false);
        let sectors = base + u64::from(sub.rows.first)..base + u64::from(sub.rows.end);
        for repair in self.active_mut().iter_mut() {
            if repair.column == sub.device.column() {
                repair.note_written(sectors.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;

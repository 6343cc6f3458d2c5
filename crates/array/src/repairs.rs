//! Recoveries of data that members have lost with a die: records, waiting and active ones.
//!
//! A member that reports a failed die (`Device::take_notice`) is asked, range by range, for the sectors to be written again (`Op::LbaStatus`). Each run of them
//! is one operation under the lock of its rows, beside the host, a rebuild, and repairs of other members; `machine/repair/` acts. A member that is being
//! replaced may stay as a donor: an index beyond the last column denotes the donor of a column (decision 0018).

mod record;
mod repair;

pub use record::MemberRepair;
pub(crate) use repair::{ActiveRepair, RepairAction, RepairLimits, RepairRows};

use outlast_decisions::RepairWay;
use outlast_units::{ByteRate, Nanos};

/// A recovery that has not begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct WaitingRepair {
    pub(crate) id: u32,
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
    records: Vec<MemberRepair>,
    waiting: Vec<WaitingRepair>,
    active: Vec<ActiveRepair>,
}

impl MemberRepairs {
    /// Checks restored state: members below `members`, start times up to `now`, counts below `most`, one record for each open recovery.
    pub(crate) fn check(&self, members: usize, now: Nanos, most: u64) -> Result<(), String> {
        for (id, record) in self.records.iter().enumerate() {
            let is_past = record.started_at.is_none_or(|at| at <= now);
            if record.member >= members || !is_past || record.largest() >= most || record.resumed > 1 << 31 {
                return Err(format!(
                    "recovery {id} is of member {} of {members}, or yet to come",
                    record.member
                ));
            }
        }
        let waiting = self.waiting.iter().map(|waiting| waiting.id);
        let ids: Vec<u32> = waiting.chain(self.active.iter().map(|repair| repair.id)).collect();
        let once: std::collections::BTreeSet<_> = ids.iter().collect();
        let columns: std::collections::BTreeSet<_> = self.active.iter().map(|repair| repair.column).collect();
        let of_its_record = |repair: &ActiveRepair| {
            self.records.get(repair.id as usize).is_some_and(|record| record.member == repair.column)
        };
        let is_known = ids.iter().all(|&id| (id as usize) < self.records.len());
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
        &self.records
    }

    /// The record of recovery `id`, which must exist.
    pub(crate) fn record_mut(&mut self, id: u32) -> &mut MemberRepair {
        &mut self.records[id as usize]
    }

    /// Queues one more recovery; `deferred`: user code has yet to choose its method.
    pub(crate) fn add_waiting(&mut self, record: MemberRepair, deferred: Option<DeferredDecision>) {
        let id = self.records.len() as u32;
        self.records.push(record);
        self.waiting.push(WaitingRepair { id, announced: false, deferred });
    }

    /// Ids of the waiting recoveries, oldest first.
    pub(crate) fn waiting(&self) -> Vec<u32> {
        self.waiting.iter().map(|waiting| waiting.id).collect()
    }

    /// Takes out recovery `id`, if it still waits.
    pub(crate) fn take_waiting(&mut self, id: u32) -> Option<WaitingRepair> {
        let place = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.waiting.remove(place))
    }

    /// Puts a waiting recovery back, last in order.
    pub(crate) fn keep_waiting(&mut self, waiting: WaitingRepair) {
        self.waiting.push(waiting);
    }

    /// True if a recovery that replaces the column's member waits.
    pub(crate) fn waits_for_replacement(&self, column: usize) -> bool {
        let decided = self.waiting.iter().filter(|waiting| waiting.deferred.is_none());
        let mut records = decided.map(|waiting| &self.records[waiting.id as usize]);
        records.any(|record| record.member == column && record.way != RepairWay::Die)
    }

    /// True if the column's member is repaired while it stays in the array, or may be (the decision is deferred).
    pub(crate) fn stays(&self, column: usize) -> bool {
        let mut open = self.records.iter().filter(|record| record.finished_at.is_none());
        let mut deferred = self.waiting.iter().filter(|waiting| waiting.deferred.is_some());
        open.any(|record| record.member == column && record.way != RepairWay::Rebuild)
            || deferred.any(|waiting| self.records[waiting.id as usize].member == column)
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
    pub(crate) fn get(&self, id: u32) -> Option<&ActiveRepair> {
        self.active.iter().find(|repair| repair.id == id)
    }

    /// Mutable recovery `id`, while it is under way.
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut ActiveRepair> {
        self.active.iter_mut().find(|repair| repair.id == id)
    }

    /// The recovery of a column's member that is under way.
    pub(crate) fn on(&self, column: usize) -> Option<&ActiveRepair> {
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
    pub(crate) fn finish(&mut self, now: Nanos, id: u32) -> Option<(usize, u16, bool)> {
        let at = self.active.iter().position(|repair| repair.id == id)?;
        let column = self.active.remove(at).column;
        let record = self.record_mut(id);
        record.finished_at = Some(now);
        let duration = now - record.started_at.unwrap_or(now);
        // Overlapping queries count each, so that they can add up to more than the whole duration.
        record.recover = duration.saturating_sub(record.identify);
        let die = record.die;
        let is_another_waiting =
            self.waiting.iter().any(|waiting| self.records[waiting.id as usize].member == column);
        Some((column, die, is_another_waiting))
    }

    /// Ends the recoveries of a member that leaves or is replaced, except the rebuild that it leaves for. Returns their dies.
    pub(crate) fn abandon(&mut self, now: Nanos, column: usize) -> Vec<u16> {
        let open =
            self.waiting.iter().map(|waiting| waiting.id).chain(self.active.iter().map(|repair| repair.id));
        let ids: Vec<u32> = open.collect();
        self.abandon_listed(now, column, &ids)
    }

    /// Ends the waiting recoveries of a member for which a replacement begins. Returns their dies.
    pub(crate) fn abandon_waiting(&mut self, now: Nanos, column: usize) -> Vec<u16> {
        let ids = self.waiting();
        self.abandon_listed(now, column, &ids)
    }

    fn abandon_listed(&mut self, now: Nanos, column: usize, ids: &[u32]) -> Vec<u16> {
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
            self.records[repair.id as usize].resumed += 1;
            repair.restart();
        }
    }
}

#[cfg(test)]
mod tests;

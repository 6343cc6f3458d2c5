//! Recoveries of what members have lost with a die: what waits, what is under way, and what each does next.
//!
//! A member that reports a failed die (`Device::take_notice`) is asked, range by range, for the sectors to be written again (`Op::LbaStatus`). Each run of them
//! is one operation under the lock of its rows, beside the host, a rebuild, and repairs of other members; `machine/repair/` acts. A member that is being
//! replaced may stay as a donor: an index beyond the last column denotes the donor of a column (decision 0018).

mod record;
mod repair;

pub use record::MemberRepair;
pub(crate) use repair::{Item, Limits, Repair, Turn};

use outlast_decisions::RepairWay;
use outlast_units::{ByteRate, Nanos};

/// A recovery that has not begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Waiting {
    pub(crate) id: u32,
    /// Whether it was told that it waits.
    pub(crate) told: bool,
    /// Set while it is open how it is done: the record then has what the settings say.
    pub(crate) put_off: Option<PutOff>,
}

/// A decision of code of the user's that is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct PutOff {
    pub(crate) until: Nanos,
    /// How often it was asked for.
    pub(crate) asked: u32,
}

/// All recoveries.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Repairs {
    records: Vec<MemberRepair>,
    waiting: Vec<Waiting>,
    active: Vec<Repair>,
}

impl Repairs {
    /// Whether what was read is of members below `members`, began before `now`, counts less than `most`, and has a record of each recovery.
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
        let of_its_record = |repair: &Repair| {
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

    /// Whether nothing waits and nothing is under way.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty()
    }

    /// Whether none is under way.
    #[inline]
    pub(crate) fn is_none_active(&self) -> bool {
        self.active.is_empty()
    }

    /// Every recovery, finished or not.
    pub(crate) fn records(&self) -> &[MemberRepair] {
        &self.records
    }

    /// What is told about recovery `id`.
    pub(crate) fn record(&mut self, id: u32) -> &mut MemberRepair {
        &mut self.records[id as usize]
    }

    /// One more recovery is wanted; `put_off`: it is open how.
    pub(crate) fn want(&mut self, record: MemberRepair, put_off: Option<PutOff>) {
        let id = self.records.len() as u32;
        self.records.push(record);
        self.waiting.push(Waiting { id, told: false, put_off });
    }

    /// What waits, in order.
    pub(crate) fn waiting(&self) -> Vec<u32> {
        self.waiting.iter().map(|waiting| waiting.id).collect()
    }

    /// Takes out recovery `id`, if it still waits.
    pub(crate) fn take_waiting(&mut self, id: u32) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.waiting.remove(place))
    }

    /// Goes on to wait.
    pub(crate) fn keep_waiting(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Whether a column's member waits to be replaced.
    pub(crate) fn waits_for_replacement(&self, column: usize) -> bool {
        let decided = self.waiting.iter().filter(|waiting| waiting.put_off.is_none());
        let mut records = decided.map(|waiting| &self.records[waiting.id as usize]);
        records.any(|record| record.member == column && record.way != RepairWay::Die)
    }

    /// Whether a column's member is to be made good without leaving first, or may be.
    pub(crate) fn stays(&self, column: usize) -> bool {
        let mut open = self.records.iter().filter(|record| record.finished_at.is_none());
        let mut put_off = self.waiting.iter().filter(|waiting| waiting.put_off.is_some());
        open.any(|record| record.member == column && record.way != RepairWay::Rebuild)
            || put_off.any(|waiting| self.records[waiting.id as usize].member == column)
    }

    /// A recovery begins.
    pub(crate) fn begin(&mut self, repair: Repair) {
        assert!(self.on(repair.column).is_none(), "a member has one recovery at a time");
        self.active.push(repair);
    }

    /// Recoveries under way.
    pub(crate) fn active(&self) -> &[Repair] {
        &self.active
    }

    /// As [`Repairs::active`], to change them.
    pub(crate) fn active_mut(&mut self) -> &mut [Repair] {
        &mut self.active
    }

    /// Recovery `id`, while it is under way.
    pub(crate) fn get(&self, id: u32) -> Option<&Repair> {
        self.active.iter().find(|repair| repair.id == id)
    }

    /// As [`Repairs::get`], to change it.
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Repair> {
        self.active.iter_mut().find(|repair| repair.id == id)
    }

    /// The recovery of a column's member that is under way.
    pub(crate) fn on(&self, column: usize) -> Option<&Repair> {
        self.active.iter().find(|repair| repair.column == column)
    }

    /// Whether rows of members are being written back.
    pub(crate) fn in_place(&self) -> bool {
        self.active.iter().any(|repair| repair.way == RepairWay::Die)
    }

    /// What rebuilding may use of the links, where a failed die is its cause.
    pub(crate) fn rebuild_rate(&self) -> Option<ByteRate> {
        let rebuilds = self.active.iter().filter(|repair| repair.way != RepairWay::Die);
        rebuilds.filter_map(|repair| repair.rate).min()
    }

    /// Recovery `id` has come to its end at `now`. Returns its column and die, and whether another one of that member waits; `None` where it
    /// is not under way.
    pub(crate) fn finish(&mut self, now: Nanos, id: u32) -> Option<(usize, u16, bool)> {
        let at = self.active.iter().position(|repair| repair.id == id)?;
        let column = self.active.remove(at).column;
        let record = self.record(id);
        record.finished_at = Some(now);
        let all = now - record.started_at.unwrap_or(now);
        record.recover = all.saturating_sub(record.identify);
        let die = record.die;
        let more = self.waiting.iter().any(|waiting| self.records[waiting.id as usize].member == column);
        Some((column, die, more))
    }

    /// The member of a column leaves, or is replaced instead: recoveries of it end, except those that it leaves for. Returns their dies.
    pub(crate) fn abandon(&mut self, now: Nanos, column: usize) -> Vec<u16> {
        let open =
            self.waiting.iter().map(|waiting| waiting.id).chain(self.active.iter().map(|repair| repair.id));
        let ids: Vec<u32> = open.collect();
        self.abandon_those(now, column, &ids)
    }

    /// As [`Repairs::abandon`], of those that wait: one that replaces the member begins.
    pub(crate) fn abandon_waiting(&mut self, now: Nanos, column: usize) -> Vec<u16> {
        let ids = self.waiting();
        self.abandon_those(now, column, &ids)
    }

    fn abandon_those(&mut self, now: Nanos, column: usize, ids: &[u32]) -> Vec<u16> {
        let mut dies = Vec::new();
        for &id in ids {
            let record = self.record(id);
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

    /// Power was lost: members are asked again from the first range on. What has been recovered they no longer tell.
    pub(crate) fn after_power_cut(&mut self) {
        for repair in &mut self.active {
            self.records[repair.id as usize].resumed += 1;
            repair.restart();
        }
    }
}

#[cfg(test)]
mod tests;

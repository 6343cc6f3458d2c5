//! Status and figures of an array.

use super::Array;
use crate::ids::{ColumnIndex, GroupIndex};
use crate::layout::GroupMap;
use crate::ranges::RangeSet;
use crate::status::{ArrayCondition, ArrayCounters, ArrayHealth, ArrayStatus, MemberStatus, PassProgress};
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// The sets of members, as bits, that hold copies of the same chunks; every set holds an equal part of all data. `None` for arrays
    /// other than RAID-10.
    pub fn copy_groups(&self) -> Option<Vec<u64>> {
        let GroupMap::Copies { columns, .. } = &self.layout.map else { return None };
        let set = |group: GroupIndex| {
            (0..self.layout.roles).fold(0, |set, role| set | 1 << self.layout.locate(group, role, false).0.0)
        };
        Some((0..*columns).map(GroupIndex).map(set).collect())
    }

    /// The condition that host commands meet now. Called at every completion, so that the healthy case comes first.
    #[inline]
    pub fn condition(&self) -> ArrayCondition {
        // The common case needs no look at members.
        if !self.members.is_degraded() && self.passes.under_way().is_none() && self.repairs.is_idle() {
            return if self.is_in_doubt() { ArrayCondition::Resyncing } else { ArrayCondition::Healthy };
        }
        if self.availability().is_missing_too_many(None) {
            ArrayCondition::Failed
        } else if self.is_rebuilding() {
            ArrayCondition::Rebuilding
        } else if self.members.iter().any(|column| !column.is_in_sync() || column.has_unrepaired_die) {
            ArrayCondition::Degraded
        } else if self.is_in_doubt() {
            ArrayCondition::Resyncing
        } else {
            ArrayCondition::Healthy
        }
    }

    /// The status of the array and of its members.
    pub fn status(&self, now: Nanos) -> ArrayStatus {
        let percent = self.parity_percent();
        let member = |(index, column): (ColumnIndex, &crate::members::MemberColumn<D>)| MemberStatus {
            present: column.device.is_some(),
            in_sync: column.is_in_sync(),
            filled_share: match (&column.device, column.first_lacking()) {
                (None, _) => 0.0,
                (Some(_), None) => 1.0,
                (Some(_), Some(first)) => first.0 as f64 / self.layout.groups.max(1) as f64,
            },
            age: self.members.age(index),
            parity_percent: percent.get(index.index()).copied(),
            read_errors: column.read_errors(),
            bad_sectors: column.bad.sectors(),
            in_flight: column.in_flight,
            repair: self.repair_progress(now, Some(index)),
        };
        let members: Vec<MemberStatus> = self.members.iter_indexed().map(member).collect();
        let ages = || members.iter().filter_map(|member| member.age);
        let oldest = ages().fold(f64::NEG_INFINITY, f64::max);
        let youngest = ages().fold(f64::INFINITY, f64::min);
        let has_failed_die = self.members.iter().any(|column| column.has_unrepaired_die);
        let redundant = self.layout.roles > self.layout.data;
        let state = if !self.powered
            || self.availability().is_missing_too_many(None)
            || !redundant && (has_failed_die || !self.history.lost().is_empty())
        {
            ArrayHealth::Failed
        } else if !has_failed_die && members.iter().all(|member| member.in_sync) {
            ArrayHealth::Clean
        } else {
            ArrayHealth::Degraded
        };
        ArrayStatus {
            level: self.setup.config.level.name(),
            state,
            read_only: self.read_only,
            spares: self.members.spares().len(),
            progress: self.progress(now),
            stripes_to_move: self.stripes_to_move(),
            age_differential: (oldest - youngest).max(0.0),
            lost_sectors: self.history.lost().sectors(),
            marked_regions: self.doubt.bitmap.marked(),
            notices: self.history.notices.clone(),
            members,
        }
    }

    /// The pass under way; without one, the first repair under way.
    pub fn progress(&self, now: Nanos) -> Option<PassProgress> {
        let Some(pass) = self.passes.under_way() else { return self.repair_progress(now, None) };
        let (done, total) =
            (self.layout.bytes_of_groups(pass.base.0), self.layout.bytes_of_groups(self.layout.groups));
        let (worked, since) = pass.done_lately(self.layout.bytes_of_groups(1)).unwrap_or_default();
        Some(PassProgress::new(pass.kind, done, total, worked.0, now.saturating_sub(since)))
    }

    /// Figures since the beginning.
    pub fn counters(&self) -> ArrayCounters {
        self.history.counters
    }

    /// Lost sectors of the array. They read as medium errors until they are written.
    pub fn lost(&self) -> &RangeSet {
        self.history.lost()
    }

    /// The bad-block log of a member: its sectors that could not be written.
    pub fn bad_blocks(&self, column: usize) -> Option<&RangeSet> {
        Some(&self.members.get(self.members.find_column(column).ok()?)?.bad)
    }
}

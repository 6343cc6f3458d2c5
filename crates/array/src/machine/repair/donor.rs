//! Rebuild Assist: a member that is being replaced stays as a donor, and serves the reads that it still can.
//!
//! The column's device is then the new one. Groups at and beyond its `filled` are read from the donor, and writes of the host there
//! go to both, so that the donor stays current for all that the new member lacks. Sectors that the donor has lost, or cannot write, count as bad.

use super::super::Array;
use crate::ids::GroupIndex;
use crate::ids::{ColumnDevice, RangeIndex};
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// True if all donors have answered which sectors of `group` they have lost; queries them otherwise, and some ranges ahead.
    pub(in crate::machine) fn have_donors_answered(&mut self, now: Nanos, group: GroupIndex) -> bool {
        if self.members.donor_columns().len() == 0 {
            return true;
        }
        let mut have_answered = true;
        for column in self.members.indices() {
            let (Some(role), Some(_)) =
                (self.layout.role_on(group, column, false), self.members.donor(column))
            else {
                continue;
            };
            let Some(repair) = self.repairs.on(column).filter(|repair| repair.way == RepairWay::Assist)
            else {
                continue;
            };
            // Ranges of the chunk, and as many more as there may be queries, so that answers are there in time.
            let (id, under_way) = (repair.id, repair.unanswered());
            let first = self.layout.locate(group, role, false).1;
            let (first, last) = (
                self.repair_ranges().range_of(first),
                self.repair_ranges().range_of(first + self.layout.chunk - 1),
            );
            let ranges = self.repair_ranges().count();
            let queries = self.setup.config.repair.queries;
            let Some(donor) = self.members.donor_mut(column) else { continue };
            have_answered &= RangeIndex::each(first..last + 1).all(|range| donor.answered.contains(&range));
            // The limit of queries holds for all ranges together.
            let room = usize::from(queries).saturating_sub(under_way);
            let end = RangeIndex((last.0 + u32::from(queries)).min(ranges));
            let ranges_to_query: Vec<RangeIndex> = RangeIndex::each(first..end)
                .filter(|range| !donor.queried.contains(range))
                .take(room)
                .collect();
            donor.queried.extend(&ranges_to_query);
            for range in ranges_to_query {
                self.query_range(now, id, ColumnDevice::Donor(column), range);
            }
        }
        have_answered
    }
}

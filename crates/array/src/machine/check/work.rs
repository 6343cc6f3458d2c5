//! Checks of work in the background: passes over groups, and recoveries.

use super::{ArrayCheck, MOST, RestoredArray, must};
use crate::ids::GroupIndex;
use crate::op::GroupOpKind;
use crate::passes::PassKind;
use outlast_device::Device;
use std::collections::BTreeSet;

impl<D: Device> RestoredArray<'_, D> {
    pub(super) fn check_passes(&self) -> ArrayCheck {
        let (passes, groups) = (&self.passes, self.layout.groups);
        passes.check(&self.setup.config.background, groups, self.history.counters.mismatches)?;
        must(passes.is_shifting() == self.layout.shift().is_some(), || {
            "parity moves, or does not".to_owned()
        })?;
        if let Some((plan, _)) = passes.pending_shift() {
            let fits = match &self.layout.map {
                crate::layout::GroupMap::Striped(striped) => plan.target.is_like(&striped.now),
                crate::layout::GroupMap::Copies { .. } => false,
            };
            must(fits && self.setup.shares.is_some(), || "parity is to move as it cannot".to_owned())?;
        }
        let ops = || self.flight.ops.live().filter(|op| op.epoch.is_some());
        must(ops().all(|op| op.epoch <= Some(passes.epoch())), || {
            "an operation is of a pass to come".to_owned()
        })?;
        let Some(pass) = passes.under_way() else { return Ok(()) };
        let pass_groups: Vec<GroupIndex> =
            ops().filter(|op| op.epoch == Some(passes.epoch())).map(|op| op.group).collect();
        must(
            pass_groups.len() == passes.operations()
                && pass_groups.iter().all(|&group| pass.has_begun(group)),
            || format!("{} groups are under way, {} counted", pass_groups.len(), passes.operations()),
        )?;
        must(pass_groups.iter().collect::<BTreeSet<_>>().len() == pass_groups.len(), || {
            "a group is worked on twice".to_owned()
        })?;
        // A resynchronisation moves the start of the doubt along with it.
        let in_doubt = self.doubt.resync().is_some_and(|first| first <= pass.base);
        must(pass.kind != PassKind::Resync || in_doubt, || "what is made right was in no doubt".to_owned())
    }

    pub(super) fn check_repairs(&self) -> ArrayCheck {
        let (repairs, ranges) = (&self.repairs, self.repair_ranges().count());
        repairs.check(self.members.len(), self.clock, MOST)?;
        for repair in repairs.active() {
            repair.check(ranges, self.clock)?;
            for item in repair.items() {
                self.check_group_rows(item.group, item.rows)?;
                must(item.sector < self.layout.member_sectors(), || {
                    format!("sector {} is to be recovered", item.sector)
                })?;
            }
            let under_way = self.flight.ops.live().filter_map(|op| match op.kind {
                GroupOpKind::Repair { repair: id, range, .. } if id == repair.id => Some(range),
                _ => None,
            });
            repair.check_spans(under_way)?;
        }
        Ok(())
    }
}

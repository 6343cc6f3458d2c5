//! Members of stripes: which stripe a program unit is of, and in which role.

use super::{PuRole, StripeLayout};
use crate::lane_set::LaneSet;
use outlast_units::{LaneIndex, PuWithin, to_count};
use std::ops::Range;

impl StripeLayout {
    /// The stripe of a program unit (both counted within the superblock).
    #[inline]
    pub(crate) fn stripe_of(&self, pu: PuWithin) -> u32 {
        self.stripe_of[pu]
    }

    /// All program units of a stripe.
    #[inline]
    pub(crate) fn members(&self, stripe: u32) -> Range<PuWithin> {
        self.ranges[stripe as usize].clone()
    }

    /// The parity within blocks that is due when `stripe` is complete: one program unit for each lane, if the stripe is the last of
    /// its group.
    pub(crate) fn block_parity_after(&self, stripe: u32) -> Range<PuWithin> {
        if self.block_code.is_none() {
            return PuWithin(0)..PuWithin(0);
        }
        match self.group_ends.binary_search(&(stripe + 1)) {
            Ok(_) => {
                let row = self.group_of(self.members(stripe).start).end - 1;
                PuWithin(row * self.lanes)..PuWithin((row + 1) * self.lanes)
            }
            Err(_) => PuWithin(0)..PuWithin(0),
        }
    }

    /// The superpages of the group of program unit `pu`, its parity's the last.
    pub(crate) fn group_of(&self, pu: PuWithin) -> Range<u32> {
        let rows = self.rows;
        let first = pu.0 / self.lanes / self.group_rows * self.group_rows;
        debug_assert!(first < self.rows, "program unit {pu} lies beyond the stripes");
        first..rows.min(first + self.group_rows)
    }

    /// The lane of a program unit.
    #[inline]
    pub(crate) fn lane_of(&self, pu: PuWithin) -> LaneIndex {
        LaneIndex(pu.0 % self.lanes)
    }

    /// The program units that hold a stripe's parity, given the lanes that were gone when the superblock was opened: the preferred
    /// place, or the next ones with a lane. Fewer where so few lanes are left that there would be no data.
    pub(crate) fn parity_of(&self, stripe: u32, gaps: Option<&LaneSet>) -> impl Iterator<Item = PuWithin> {
        let members = self.members(stripe);
        let width = members.end - members.start;
        let first = u32::from(self.first_parity[stripe as usize]);
        let live = move |pu: PuWithin| gaps.is_none_or(|gaps| !gaps.contains(self.lane_of(pu)));
        let most = to_count(PuWithin::each(members.clone()).filter(|&pu| live(pu)).count()).saturating_sub(1);
        (0..width)
            .map(move |i| members.start + ((first + i) % width))
            .filter(move |&pu| live(pu))
            .take(self.parity.min(most) as usize)
    }

    /// Role of program unit `pu`, given the lanes that were gone when its superblock was opened.
    #[inline]
    pub(crate) fn role(&self, pu: PuWithin, gaps: Option<&LaneSet>) -> PuRole {
        let role = self.roles[pu];
        match gaps {
            None => role,
            Some(gaps) if gaps.contains(self.lane_of(pu)) => PuRole::Gap,
            Some(_) if matches!(role, PuRole::BlockParity | PuRole::Gap | PuRole::List) => role,
            Some(gaps) if self.parity_of(self.stripe_of(pu), Some(gaps)).any(|parity| parity == pu) => {
                PuRole::Parity
            }
            Some(_) => PuRole::Data,
        }
    }
}

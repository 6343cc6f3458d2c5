//! The blocks of a superblock one by one: where scrubbing moves them so.

use super::VictimPart;
use crate::core::{CoreContext, FlashCore};
use crate::health::Reason;
use outlast_ftl::Ftl;
use outlast_units::{BlockIndex, LaneIndex, PuWithin, SuperblockId};

/// The place of a block within its superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPart {
    lane: LaneIndex,
    /// The units of each program unit of the lane that the block holds, or a part of them, one bit each.
    units: u64,
}

impl BlockPart {
    /// The part that is `block`; `None` if `superblock` has no such block.
    pub(super) fn of(ftl: &Ftl, superblock: SuperblockId, block: BlockIndex) -> Option<Self> {
        let layout = ftl.layout();
        layout.lanes().iter_indexed().find_map(|(position, lane)| {
            let mut planes = lane.first_plane..lane.first_plane + lane.planes;
            let plane =
                planes.find(|&plane| ftl.space().block_index(superblock, lane.local_die, plane) == block)?;
            let place = layout.place(layout.pu_at(superblock, PuWithin(position.0)));
            let holds = |unit: &u32| {
                layout.pages_of_unit(*unit).any(|page| layout.page_place(place, page).0 == plane)
            };
            let units = (0..layout.units_per_pu()).filter(holds).fold(0, |units, unit| units | 1u64 << unit);
            Some(Self { lane: position, units })
        })
    }

    /// Its valid units, a mask for each program unit.
    fn held(self, ftl: &Ftl, superblock: SuperblockId) -> impl Iterator<Item = u64> {
        let lanes = ftl.layout().lanes().len() as u32;
        let own = (0..ftl.layout().superpages()).map(move |row| PuWithin(row * lanes + self.lane.0));
        own.map(move |pu| ftl.valid_units_of_any(superblock, pu) & self.units)
    }
}

/// Valid units of `block`.
pub(crate) fn valid_in_block(ftl: &Ftl, superblock: SuperblockId, block: BlockIndex) -> u32 {
    let part = BlockPart::of(ftl, superblock, block);
    part.map_or(0, |part| part.held(ftl, superblock).map(u64::count_ones).sum())
}

/// True if `block` holds a valid unit.
pub(crate) fn holds_data(ftl: &Ftl, superblock: SuperblockId, block: BlockIndex) -> bool {
    let part = BlockPart::of(ftl, superblock, block);
    part.is_some_and(|part| part.held(ftl, superblock).any(|units| units != 0))
}

impl FlashCore {
    /// The part of `superblock` that is moved for `reason`: the block that is named; of a die that is expected to fail, its own data.
    pub(crate) fn part_to_move(
        &self,
        context: &CoreContext,
        superblock: SuperblockId,
        reason: Reason,
        block: Option<BlockIndex>,
    ) -> VictimPart {
        let part = |block| BlockPart::of(&self.ftl, superblock, block);
        match block.and_then(part) {
            Some(BlockPart { lane, units }) => VictimPart { lanes: vec![lane], units },
            None if reason == Reason::Evacuation => {
                VictimPart { lanes: self.leaving_lanes(context), ..VictimPart::ALL }
            }
            None => VictimPart::ALL,
        }
    }
}

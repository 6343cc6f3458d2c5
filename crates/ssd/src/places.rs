//! Places of dies and program units: the flash core that owns a die, the die and the block that hold a program unit.

use outlast_flash::BlockRow;
use outlast_ftl::SlotLayout;
use outlast_units::{BlockId, CoreId, DieId, LocalDie, Pu};

/// The flash core that owns a die, and the die's number there.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct DiePlace {
    pub(crate) core: CoreId,
    pub(crate) local: LocalDie,
}

/// Where program unit `pu` lies: its die, and its place there.
#[inline]
pub(crate) fn place_of_pu(layout: &SlotLayout, pu: Pu) -> (DieId, BlockRow) {
    let place = layout.place(pu);
    let on_die = BlockRow { block: BlockId(place.superblock.0), row: place.first_page };
    (place.lane.die, on_die)
}

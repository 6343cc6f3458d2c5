//! Places of dies and program units: the flash core that owns a die, the die and the block that hold a program unit.

use outlast_flash::BlockRow;
use outlast_ftl::Ftl;
use outlast_units::{BlockId, CoreId, DieId, LocalDie, ModeId, Pu};

/// The flash core that owns a die, and the die's number there.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct DiePlace {
    /// Flash core.
    pub core: CoreId,
    /// Number of the die within the core.
    pub local: LocalDie,
}

/// Where program unit `pu` lies: its die, and its place there.
#[inline]
pub fn place_of_pu(ftl: &Ftl, pu: Pu) -> (DieId, BlockRow) {
    let place = ftl.layout().place(pu);
    // One comparison where there is one mode, as on most drives, instead of a look at the superblock.
    let has_modes = ftl.layout().has_modes();
    let mode = if has_modes { ftl.superblock(place.superblock).mode() } else { ModeId::FIRST };
    let on_die = BlockRow { block: BlockId(place.superblock.0), row: place.first_page, mode };
    (place.lane.die, on_die)
}

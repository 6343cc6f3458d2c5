//! Places of dies and program units: the flash core that owns a die, the die and the block that hold a program unit.

use outlast_flash::BlockRow;
use outlast_ftl::Ftl;
use outlast_units::{BlockId, CoreId, DieId, LocalDie, ModeId, Pu, PuWithin, Row, SuperblockId};

/// The flash core that owns a die, and the die's number there.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct DiePlace {
    /// Flash core.
    pub core: CoreId,
    /// Number of the die within the core.
    pub local: LocalDie,
}

/// Where program unit `pu` lies: its die, and its place there.
#[allow(clippy::inline_always, reason = "a few steps for every operation of flash")]
#[inline(always)]
pub fn place_of_pu(ftl: &Ftl, pu: Pu) -> (DieId, BlockRow) {
    let place = ftl.layout().place(pu);
    (place.lane.die, at_row(ftl, place.superblock, place.first_page))
}

/// Place on its die of program unit `within` of `superblock`.
#[inline]
pub(crate) fn place_within(ftl: &Ftl, superblock: SuperblockId, within: PuWithin) -> BlockRow {
    at_row(ftl, superblock, ftl.layout().first_row_of(within))
}

#[inline]
fn at_row(ftl: &Ftl, superblock: SuperblockId, row: Row) -> BlockRow {
    // One comparison where there is one mode, as on most drives, instead of a look at the superblock.
    let has_modes = ftl.layout().has_modes();
    let mode = if has_modes { ftl.superblock(superblock).mode() } else { ModeId::FIRST };
    BlockRow { block: BlockId(superblock.0), row, mode }
}

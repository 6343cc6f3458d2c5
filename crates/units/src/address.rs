//! Addresses: host side (`Lba`, `Lpn`), flash side (`Ppn`, `Pu`, `BlockId`, `SuperblockId`, `DieId`, `ChannelId`), and the parts of a
//! controller (`CoreId`, `Epoch`).

use crate::index_type;

/// Bytes in one host sector: the unit in which an [`Lba`] counts. `NVMe` and SCSI drives, and every trace format that
/// Outlast reads, address in 512-byte sectors or can be converted to them exactly.
pub const SECTOR_BYTES: u64 = 512;

index_type! {
    /// Logical block address of the host, in sectors of [`SECTOR_BYTES`].
    pub struct Lba(u64), kind 0, below its count, none from u64::MAX;
}
index_type! {
    /// Logical page number: one mapping unit of one flash core.
    pub struct Lpn(u32), kind 1, below its count, none from u64::from(u32::MAX);
}
index_type! {
    /// Physical page number: the slot of one mapping unit, numbered in write order within its superblock.
    pub struct Ppn(u32), kind 2, up to its count, none from u64::from(u32::MAX) - 1;
}
index_type! {
    /// One superblock: one block of every die (and plane) of a flash core.
    pub struct SuperblockId(u32), kind 3, below its count, none from u64::MAX;
}
index_type! {
    /// One block within a plane.
    pub struct BlockId(u32), kind 4, below its count, none from u64::MAX;
}
index_type! {
    /// One NAND die, numbered over the whole drive.
    pub struct DieId(u16), kind 5, below its count, none from u64::MAX;
}
index_type! {
    /// One NAND die, numbered within its flash core.
    pub struct LocalDie(u16), kind 6, below its count, none from u64::MAX;
}
index_type! {
    /// One flash core: a processor of the controller with dies of its own.
    pub struct CoreId(u16), kind 7, below its count, none from u64::MAX;
}
index_type! {
    /// One program unit, numbered in write order over its flash core: what one program operation writes.
    pub struct Pu(u32), kind 8, below its count, none from u64::MAX;
}
index_type! {
    /// One program unit, numbered in write order within its superblock.
    pub struct PuWithin(u32), kind 9, up to its count, none from u64::MAX;
}
index_type! {
    /// One lane of a superblock: a die, or one plane of it; its position in a superpage.
    pub struct LaneIndex(u32), kind 10, below its count, none from u64::MAX;
}
index_type! {
    /// One block of a flash core, numbered over its dies and planes.
    pub struct BlockIndex(u32), kind 11, below its count, none from u64::MAX;
}
index_type! {
    /// One row of pages, numbered within a block: the pages that planes program together.
    pub struct Row(u32), kind 12, below its count, none from u64::MAX;
}
index_type! {
    /// Pages that were programmed at about the same time, numbered over the flash core: a superpage.
    pub struct Group(u32), kind 13, below its count, none from u64::MAX;
}
index_type! {
    /// A flush epoch: host programs between two flushes.
    pub struct Epoch(u32), kind 14, below its count, none from u64::MAX;
}
index_type! {
    /// One flash channel.
    pub struct ChannelId(u16), kind 15, below its count, none from u64::MAX;
}

impl Lpn {
    /// No logical page: the slot was padding, or was never written.
    pub const NONE: Self = Self(u32::MAX);

    /// Whether this is a page and not [`Lpn::NONE`].
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != u32::MAX
    }
}

impl Ppn {
    /// No physical page: never written, or trimmed.
    pub const NONE: Self = Self(u32::MAX);

    /// Whether this is a slot and not [`Ppn::NONE`].
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != u32::MAX
    }
}

//! Addresses: host side (`Lba`, `Lpn`), flash side (`Ppn`, `Pu`, `BlockId`, `SuperblockId`, `DieId`, `ChannelId`), and the parts of a
//! controller (`CoreId`, `Epoch`).

use serde::{Deserialize, Serialize};
use std::ops::{Add, Range, Sub};

/// Bytes in one host sector: the unit in which an [`Lba`] counts. `NVMe` and SCSI drives, and every trace format that
/// Outlast reads, address in 512-byte sectors or can be converted to them exactly.
pub const SECTOR_BYTES: u64 = 512;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $repr:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, outlast_persist::Persist)]
        #[serde(transparent)]
        pub struct $name(pub $repr);

        impl $name {
            /// The address as an array index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The addresses from `range.start` on, up to `range.end` and not including it.
            pub fn each(range: Range<Self>) -> impl DoubleEndedIterator<Item = Self> + Clone {
                (range.start.0..range.end.0).map(Self)
            }
        }

        /// The address that comes so many after another.
        impl Add<$repr> for $name {
            type Output = Self;

            #[inline]
            fn add(self, distance: $repr) -> Self {
                Self(self.0 + distance)
            }
        }

        /// How far an address lies after another.
        impl Sub for $name {
            type Output = $repr;

            #[inline]
            fn sub(self, earlier: Self) -> $repr {
                debug_assert!(earlier <= self, "{self} lies before {earlier}");
                self.0 - earlier.0
            }
        }

        impl crate::index_vec::Idx for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                let limit = concat!("beyond the addresses of a ", stringify!($name));
                Self(<$repr>::try_from(index).unwrap_or_else(|_| panic!("{index} is {limit}")))
            }

            #[inline]
            fn to_index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index!(
    /// Logical block address of the host, in sectors of [`SECTOR_BYTES`].
    Lba, u64
);
index!(
    /// Logical page number: one mapping unit of one flash core.
    Lpn, u32
);
index!(
    /// Physical page number: the slot of one mapping unit, numbered in write order within its superblock.
    Ppn, u32
);
index!(
    /// One superblock: one block of every die (and plane) of a flash core.
    SuperblockId, u32
);
index!(
    /// One block within a plane.
    BlockId, u32
);
index!(
    /// One NAND die, numbered over the whole drive.
    DieId, u16
);
index!(
    /// One NAND die, numbered within its flash core.
    LocalDie, u16
);
index!(
    /// One flash core: a processor of the controller with dies of its own.
    CoreId, u16
);
index!(
    /// One program unit, numbered in write order over its flash core: what one program operation writes.
    Pu, u32
);
index!(
    /// One program unit, numbered in write order within its superblock.
    PuWithin, u32
);
index!(
    /// One lane of a superblock: a die, or one plane of it; its position in a superpage.
    LaneIndex, u32
);
index!(
    /// One block of a flash core, numbered over its dies and planes.
    BlockIndex, u32
);
index!(
    /// One row of pages, numbered within a block: the pages that planes program together.
    Row, u32
);
index!(
    /// Pages that were programmed at about the same time, numbered over the flash core: a superpage.
    Group, u32
);
index!(
    /// A flush epoch: host programs between two flushes.
    Epoch, u32
);
index!(
    /// One flash channel.
    ChannelId, u16
);

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

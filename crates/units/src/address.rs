//! Addresses: host side (`Lba`, `Lpn`), flash side (`Ppn`, `Pu`, `BlockId`, `SuperblockId`, `DieId`, `ChannelId`), and the parts of a
//! controller (`CoreId`, `Epoch`).

use outlast_persist::{Damage, Persist, Reader, Writer, shape};
use serde::{Deserialize, Serialize};
use std::ops::{Add, Range, Sub};

/// Bytes in one host sector: the unit in which an [`Lba`] counts. `NVMe` and SCSI drives, and every trace format that
/// Outlast reads, address in 512-byte sectors or can be converted to them exactly.
pub const SECTOR_BYTES: u64 = 512;

// `below its count`: one that may be an index; `up to its count`: it may be the end of a range, too, and who keeps it looks at it.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $repr:ty, $kind:literal, below its count, none from $none:expr) => {
        index!(@ $(#[$doc])* $name, $repr, $kind, 1, $none);
    };
    ($(#[$doc:meta])* $name:ident, $repr:ty, $kind:literal, up to its count, none from $none:expr) => {
        index!(@ $(#[$doc])* $name, $repr, $kind, 0, $none);
    };
    (@ $(#[$doc:meta])* $name:ident, $repr:ty, $kind:literal, $beyond:literal, $none:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

        /// An address that the machine has not is refused as it is read.
        impl Persist for $name {
            const SHAPE: u64 = shape(stringify!($name), &[("0", <$repr as Persist>::SHAPE)]);

            #[inline]
            fn write(&self, to: &mut Writer<'_>) {
                self.0.write(to);
            }

            #[inline]
            fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
                let value = <$repr>::read(from)?;
                if u64::from(value) < $none {
                    from.extents().check($kind, stringify!($name), u64::from(value), $beyond)?;
                }
                Ok(Self(value))
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
            const KIND: Option<usize> = Some($kind);

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
    Lba, u64, 0, below its count, none from u64::MAX
);
index!(
    /// Logical page number: one mapping unit of one flash core.
    Lpn, u32, 1, below its count, none from u64::from(u32::MAX)
);
index!(
    /// Physical page number: the slot of one mapping unit, numbered in write order within its superblock.
    Ppn, u32, 2, up to its count, none from u64::from(u32::MAX) - 1
);
index!(
    /// One superblock: one block of every die (and plane) of a flash core.
    SuperblockId, u32, 3, below its count, none from u64::MAX
);
index!(
    /// One block within a plane.
    BlockId, u32, 4, below its count, none from u64::MAX
);
index!(
    /// One NAND die, numbered over the whole drive.
    DieId, u16, 5, below its count, none from u64::MAX
);
index!(
    /// One NAND die, numbered within its flash core.
    LocalDie, u16, 6, below its count, none from u64::MAX
);
index!(
    /// One flash core: a processor of the controller with dies of its own.
    CoreId, u16, 7, below its count, none from u64::MAX
);
index!(
    /// One program unit, numbered in write order over its flash core: what one program operation writes.
    Pu, u32, 8, below its count, none from u64::MAX
);
index!(
    /// One program unit, numbered in write order within its superblock.
    PuWithin, u32, 9, up to its count, none from u64::MAX
);
index!(
    /// One lane of a superblock: a die, or one plane of it; its position in a superpage.
    LaneIndex, u32, 10, below its count, none from u64::MAX
);
index!(
    /// One block of a flash core, numbered over its dies and planes.
    BlockIndex, u32, 11, below its count, none from u64::MAX
);
index!(
    /// One row of pages, numbered within a block: the pages that planes program together.
    Row, u32, 12, below its count, none from u64::MAX
);
index!(
    /// Pages that were programmed at about the same time, numbered over the flash core: a superpage.
    Group, u32, 13, below its count, none from u64::MAX
);
index!(
    /// A flush epoch: host programs between two flushes.
    Epoch, u32, 14, below its count, none from u64::MAX
);
index!(
    /// One flash channel.
    ChannelId, u16, 15, below its count, none from u64::MAX
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

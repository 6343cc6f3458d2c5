//! Types of numbers that are indices: one definition for all of them.

/// Defines a type of index as a number of its own, which cannot be mistaken for another.
///
/// `struct Name(u32);` is one that whoever keeps it checks as state is read. `struct Name(u32), kind 3, below its count, none from u64::MAX;` is compared with
/// the [`Extents`](outlast_persist::Extents) of the machine as it is read: `below its count` may be an index, `up to its count` may be the end of a range,
/// too; values from `none` on stand for no index.
#[macro_export]
macro_rules! index_type {
    ($(#[$doc:meta])* $vis:vis struct $name:ident($repr:ty);) => {
        $crate::index_type!(@ $(#[$doc])* $vis $name, $repr, None, |_, _| Ok(()));
    };
    ($(#[$doc:meta])* $vis:vis struct $name:ident($repr:ty), kind $kind:expr, below its count, none from $none:expr;) => {
        $crate::index_type!(@ $(#[$doc])* $vis $name, $repr, $kind, 1, $none);
    };
    ($(#[$doc:meta])* $vis:vis struct $name:ident($repr:ty), kind $kind:expr, up to its count, none from $none:expr;) => {
        $crate::index_type!(@ $(#[$doc])* $vis $name, $repr, $kind, 0, $none);
    };
    (@ $(#[$doc:meta])* $vis:vis $name:ident, $repr:ty, $kind:expr, $beyond:literal, $none:expr) => {
        $crate::index_type!(@ $(#[$doc])* $vis $name, $repr, Some($kind), |from, value| {
            if value < $none { from.check($kind, stringify!($name), value, $beyond) } else { Ok(()) }
        });
    };
    (@ $(#[$doc:meta])* $vis:vis $name:ident, $repr:ty, $kind:expr, $check:expr) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        #[repr(transparent)]
        $vis struct $name(pub $repr);

        #[allow(dead_code, reason = "each type of index uses its part")]
        impl $name {
            /// The index as a place in a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The indices from `range.start` on, up to `range.end` and not including it.
            pub fn each(range: std::ops::Range<Self>) -> impl DoubleEndedIterator<Item = Self> + Clone {
                (range.start.0..range.end.0).map(Self)
            }
        }

        /// An index that the machine has not is refused as it is read.
        impl outlast_persist::Persist for $name {
            const SHAPE: u64 =
                outlast_persist::shape(stringify!($name), &[("0", <$repr as outlast_persist::Persist>::SHAPE)]);

            #[inline]
            fn write(&self, to: &mut outlast_persist::Writer<'_>) {
                self.0.write(to);
            }

            #[inline]
            fn read(from: &mut outlast_persist::Reader<'_>) -> Result<Self, outlast_persist::Damage> {
                let check: fn(&outlast_persist::Extents, u64) -> Result<(), outlast_persist::Damage> = $check;
                let value = <$repr as outlast_persist::Persist>::read(from)?;
                check(from.extents(), u64::from(value))?;
                Ok(Self(value))
            }
        }

        /// The index that comes so many after another.
        impl std::ops::Add<$repr> for $name {
            type Output = Self;

            #[inline]
            fn add(self, distance: $repr) -> Self {
                Self(self.0 + distance)
            }
        }

        /// How far an index lies after another.
        impl std::ops::Sub for $name {
            type Output = $repr;

            #[inline]
            fn sub(self, earlier: Self) -> $repr {
                debug_assert!(earlier <= self, "{self} lies before {earlier}");
                self.0 - earlier.0
            }
        }

        impl $crate::Idx for $name {
            const KIND: Option<usize> = $kind;

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

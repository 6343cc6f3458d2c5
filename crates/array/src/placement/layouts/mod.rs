//! The layouts that have a name: one file each, and one line in the list below.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chunks of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) data: usize,
    pub(super) parities: usize,
}

/// Where the data chunks of a stripe begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataOrder {
    /// On the column after the parity ("symmetric").
    AfterParity,
    /// On the first column that has no parity ("asymmetric").
    FromFirst,
}

impl Shape {
    /// Members of the array.
    pub(super) fn columns(self) -> usize {
        self.data + self.parities
    }

    /// The column of each role where parity lies on column `first` and those after it, around the end.
    fn with_parity_at(self, first: usize, order: DataOrder) -> Vec<u8> {
        let columns = self.columns();
        assert!(first < columns || self.parities == 0, "parity lies on a member");
        let start = match order {
            DataOrder::AfterParity => first + self.parities,
            DataOrder::FromFirst => 0,
        };
        let has_parity = |column: usize| (column + columns - first) % columns < self.parities;
        let data =
            (start..start + columns).map(|place| place % columns).filter(|&column| !has_parity(column));
        let parity = (first..first + self.parities).map(|place| place % columns);
        data.chain(parity).map(|column| column as u8).collect()
    }
}

/// Every layout: its name in scenarios, the file that says where its chunks lie, and what the reference says of it.
macro_rules! layouts {
    ($($(#[$attribute:meta])? $name:ident = $file:ident, $doc:literal;)+) => {
        $(mod $file;)+

        /// The common ways to rotate parity, named as in Linux md (`md(4)`, `raid5.h`). "Left" moves parity from the last member
        /// towards the first, "right" the other way; "symmetric" starts the data after the parity, "asymmetric" at the first member.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum ParityLayout {
            $(#[doc = $doc] $(#[$attribute])? $name,)+
        }

        impl ParityLayout {
            /// Every layout.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Stripes after which the layout repeats.
            pub(super) fn period(self, shape: Shape) -> usize {
                match self {
                    $(Self::$name => $file::period(shape),)+
                }
            }

            /// The column of each role in stripe `stripe` of the period: data roles first, then parity.
            pub(super) fn columns(self, shape: Shape, stripe: usize) -> Vec<u8> {
                match self {
                    $(Self::$name => $file::columns(shape, stripe),)+
                }
            }
        }
    };
}

layouts! {
    #[default] LeftSymmetric = left_symmetric, "Parity moves left, data follows it: the usual choice, since long reads then use every member.";
    LeftAsymmetric = left_asymmetric, "Parity moves left, data stays in order of members.";
    RightSymmetric = right_symmetric, "Parity moves right, data follows it.";
    RightAsymmetric = right_asymmetric, "Parity moves right, data stays in order of members.";
    ParityFirst = parity_first, "Parity always on the first members.";
    ParityLast = parity_last, "Parity always on the last members: RAID-4.";
}

#[cfg(test)]
mod tests {
    use super::super::Placement;
    use super::*;

    /// Whatever the layout and the shape: every stripe has each column once, and over a period every column has the same parity, or
    /// always the same columns have it all.
    #[test]
    fn every_layout_is_a_permutation_and_even_or_fixed() {
        for &layout in ParityLayout::ALL {
            for (data, parities) in [(1, 1), (2, 1), (4, 1), (3, 2), (7, 3), (5, 0)] {
                let placement = Placement::named(layout, data, parities);
                for phase in 0..placement.period() as usize {
                    let mut columns = placement.columns_at(phase).to_vec();
                    columns.sort_unstable();
                    assert!(
                        columns.iter().enumerate().all(|(at, &column)| at == usize::from(column)),
                        "{layout:?}"
                    );
                }
                let counts = placement.parity_counts();
                let fixed = counts.iter().all(|&count| count == 0 || count == placement.period());
                assert!(fixed || counts.iter().all(|&count| count == counts[0]), "{layout:?}: {counts:?}");
            }
        }
    }
}

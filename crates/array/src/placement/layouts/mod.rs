//! The layouts that have a name: one file each, and one line in the list of [`outlast_settings::parity_layouts`].

use crate::ids::column_number;
use outlast_settings::array::ParityLayout;

/// Chunks of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayoutShape {
    pub(super) data: usize,
    pub(super) parities: usize,
}

/// The column at which the data chunks of a stripe begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataOrder {
    /// On the column after the parity ("symmetric").
    AfterParity,
    /// On the first column that has no parity ("asymmetric").
    FromFirst,
}

impl LayoutShape {
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
        data.chain(parity).map(column_number).collect()
    }
}

/// Calls each layout by its file.
macro_rules! layouts {
    ($($(#[$attribute:meta])? $name:ident = $file:ident, $doc:literal;)+) => {
        $(mod $file;)+

        /// Stripes after which `layout` repeats.
        pub(super) fn period(layout: ParityLayout, shape: LayoutShape) -> usize {
            match layout {
                $(ParityLayout::$name => $file::period(shape),)+
            }
        }

        /// The column of each role in stripe `stripe` of the period of `layout`: data roles first, then parity.
        pub(super) fn columns(layout: ParityLayout, shape: LayoutShape, stripe: usize) -> Vec<u8> {
            match layout {
                $(ParityLayout::$name => $file::columns(shape, stripe),)+
            }
        }
    };
}

outlast_settings::parity_layouts!(layouts);

#[cfg(test)]
mod tests {
    use super::super::ParityPlacement;
    use super::*;

    /// Whatever the layout and the shape: every stripe has each column once, and over a period every column has the same parity, or
    /// always the same columns have it all.
    #[test]
    fn every_layout_is_a_permutation_and_even_or_fixed() {
        for &layout in ParityLayout::ALL {
            for (data, parities) in [(1, 1), (2, 1), (4, 1), (3, 2), (7, 3), (5, 0)] {
                let placement = ParityPlacement::named(layout, data, parities);
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

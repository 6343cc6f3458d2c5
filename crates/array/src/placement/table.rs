//! The table of a placement.

use super::layouts::{LayoutShape, columns, period};
use super::spread::spread;
use crate::ids::column_number;
use crate::roles::to_role;
use outlast_settings::array::{ParityLayout, Shares};
use outlast_units::{to_count, to_length};

/// For each stripe of a period, which column holds which *role*: roles `0..data` are the data chunks in the order of
/// addresses, roles `data..` the parity chunks.
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
#[persist(check)]
pub struct ParityPlacement {
    columns: usize,
    data: usize,
    period: u32,
    /// Column of each role, stripe by stripe.
    column_of: Vec<u8>,
    /// Role on each column, stripe by stripe.
    role_of: Vec<u8>,
}

impl ParityPlacement {
    /// A named layout of `data` + `parities` columns.
    pub fn named(layout: ParityLayout, data: usize, parities: usize) -> Self {
        let shape = LayoutShape { data, parities };
        let period = if parities == 0 { 1 } else { period(layout, shape) };
        let column_of = (0..period).flat_map(|stripe| columns(layout, shape, stripe)).collect();
        Self::from_columns(shape.columns(), data, column_of)
    }

    /// Parity in the given shares, finely interleaved (see [`spread`]); data follows the parity, as in the symmetric layouts.
    pub fn from_shares(shares: &Shares) -> Self {
        let columns = shares.counts.len();
        let data = columns - shares.parities();
        let mut column_of = Vec::with_capacity(shares.period as usize * columns);
        for set in spread(shares) {
            // The first parity column; data begins after it and wraps around.
            let start = set.trailing_zeros() as usize;
            let order = (start..start + columns).map(|column| column % columns);
            let is_parity = |column: &usize| set >> column & 1 == 1;
            column_of.extend(order.clone().filter(|column| !is_parity(column)).map(column_number));
            column_of.extend(order.filter(is_parity).map(column_number));
        }
        Self::from_columns(columns, data, column_of)
    }

    /// The placement of a written-out table: the columns of each stripe of a period, those of its `data` data chunks first.
    pub(crate) fn written_out(table: &[Vec<u8>], data: usize) -> Self {
        Self::from_columns(table[0].len(), data, table.concat())
    }

    fn from_columns(columns: usize, data: usize, column_of: Vec<u8>) -> Self {
        let mut role_of = vec![u8::MAX; column_of.len()];
        for (entry, &column) in column_of.iter().enumerate() {
            let stripe = entry / columns;
            role_of[stripe * columns + usize::from(column)] = to_role(entry % columns);
        }
        assert!(role_of.iter().all(|&role| role != u8::MAX), "a stripe has two chunks on one column");
        let period = to_count(column_of.len() / columns);
        Self { columns, data, period, column_of, role_of }
    }

    /// Checks that a restored table has each role of each stripe on a column of its own, and that both directions agree.
    fn check_restored(&self) -> Result<(), String> {
        let (columns, cells) = (self.columns, (self.period as usize).saturating_mul(self.columns));
        let is_sized = columns > 0 && self.data <= columns && self.period > 0;
        if !is_sized || self.column_of.len() != cells || self.role_of.len() != cells {
            return Err(format!(
                "a placement of {} chunks on {columns} columns has no such table",
                self.data
            ));
        }
        for (roles, columns_of_roles) in self.role_of.chunks(columns).zip(self.column_of.chunks(columns)) {
            let is_there = |(role, &column): (usize, &u8)| {
                roles.get(usize::from(column)).is_some_and(|&back| usize::from(back) == role)
            };
            if !columns_of_roles.iter().enumerate().all(is_there) {
                return Err("a stripe has two chunks on one column".to_owned());
            }
        }
        Ok(())
    }

    /// True if another table is of the same stripes over the same columns.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.columns, self.data, self.period) == (other.columns, other.data, other.period)
    }

    /// Members of the array.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Data chunks of a stripe.
    pub fn data(&self) -> usize {
        self.data
    }

    /// Stripes after which the table repeats.
    pub fn period(&self) -> u32 {
        self.period
    }

    /// The place of `stripe` within the period.
    #[inline]
    pub fn phase(&self, stripe: u64) -> usize {
        to_length(stripe % u64::from(self.period))
    }

    /// Where the columns of the roles of `stripe` begin in the table.
    #[inline]
    pub(crate) fn first_entry(&self, stripe: u64) -> usize {
        self.phase(stripe) * self.columns
    }

    /// The column at an entry of the table: that of role `r` is `r` entries after the first of its stripe.
    #[inline]
    pub(crate) fn column_at(&self, entry: usize) -> u8 {
        self.column_of[entry]
    }

    /// The columns of a stripe's roles.
    #[inline]
    pub fn columns_at(&self, phase: usize) -> &[u8] {
        &self.column_of[phase * self.columns..][..self.columns]
    }

    /// The roles on a stripe's columns.
    #[inline]
    pub fn roles_at(&self, phase: usize) -> &[u8] {
        &self.role_of[phase * self.columns..][..self.columns]
    }

    /// Stripes of the period in which each column holds parity.
    pub fn parity_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.columns];
        for phase in 0..self.period as usize {
            for &column in &self.columns_at(phase)[self.data..] {
                counts[usize::from(column)] += 1;
            }
        }
        counts
    }

    /// The same table with every column renamed: what lay on column `c` lies on `to[c]`. This is the paper's naive shift,
    /// which keeps the mapping function and shifts the order of the devices.
    #[must_use]
    pub fn renamed(&self, to: &[u8]) -> Self {
        let column_of = self.column_of.iter().map(|&column| to[usize::from(column)]).collect();
        Self::from_columns(self.columns, self.data, column_of)
    }

    /// Lets two columns change places in the stripe at `phase`.
    pub(super) fn swap(&mut self, phase: usize, a: u8, b: u8) {
        let base = phase * self.columns;
        let (role_a, role_b) = (self.role_of[base + usize::from(a)], self.role_of[base + usize::from(b)]);
        self.role_of.swap(base + usize::from(a), base + usize::from(b));
        self.column_of[base + usize::from(role_a)] = b;
        self.column_of[base + usize::from(role_b)] = a;
    }
}

/// The placement `first` with its columns renamed so that the member at `order[0]` takes the place with the largest share, and so on.
pub(crate) fn by_rank(first: &ParityPlacement, counts: &[u32], order: &[u8]) -> ParityPlacement {
    let mut places: Vec<usize> = (0..counts.len()).collect();
    // Stable: columns of equal shares keep their order.
    places.sort_by(|&a, &b| counts[b].cmp(&counts[a]));
    let mut to = vec![0; counts.len()];
    for (&place, &column) in places.iter().zip(order) {
        to[place] = column;
    }
    first.renamed(&to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(layout: ParityLayout, data: usize, parities: usize) -> Vec<Vec<u8>> {
        let placement = ParityPlacement::named(layout, data, parities);
        (0..placement.period() as usize).map(|phase| placement.columns_at(phase).to_vec()).collect()
    }

    /// The four rotating layouts of RAID-5 over five members, written out as in the literature (roles 0..4, then parity).
    #[test]
    fn raid5_layouts_are_those_of_the_literature() {
        assert_eq!(
            table(ParityLayout::LeftSymmetric, 4, 1),
            [[0, 1, 2, 3, 4], [4, 0, 1, 2, 3], [3, 4, 0, 1, 2], [2, 3, 4, 0, 1], [1, 2, 3, 4, 0]]
        );
        assert_eq!(
            table(ParityLayout::LeftAsymmetric, 4, 1),
            [[0, 1, 2, 3, 4], [0, 1, 2, 4, 3], [0, 1, 3, 4, 2], [0, 2, 3, 4, 1], [1, 2, 3, 4, 0]]
        );
        assert_eq!(
            table(ParityLayout::RightSymmetric, 4, 1),
            [[1, 2, 3, 4, 0], [2, 3, 4, 0, 1], [3, 4, 0, 1, 2], [4, 0, 1, 2, 3], [0, 1, 2, 3, 4]]
        );
        assert_eq!(
            table(ParityLayout::RightAsymmetric, 4, 1),
            [[1, 2, 3, 4, 0], [0, 2, 3, 4, 1], [0, 1, 3, 4, 2], [0, 1, 2, 4, 3], [0, 1, 2, 3, 4]]
        );
        assert_eq!(table(ParityLayout::ParityFirst, 4, 1), [[1, 2, 3, 4, 0]]);
        assert_eq!(table(ParityLayout::ParityLast, 4, 1), [[0, 1, 2, 3, 4]]);
    }

    /// md's RAID-6: Q follows P, and wraps to the first column (`raid5_compute_sector`).
    #[test]
    fn raid6_layouts_put_q_after_p() {
        assert_eq!(
            table(ParityLayout::LeftSymmetric, 3, 2),
            [[1, 2, 3, 4, 0], [0, 1, 2, 3, 4], [4, 0, 1, 2, 3], [3, 4, 0, 1, 2], [2, 3, 4, 0, 1]]
        );
        assert_eq!(
            table(ParityLayout::LeftAsymmetric, 3, 2),
            [[1, 2, 3, 4, 0], [0, 1, 2, 3, 4], [0, 1, 4, 2, 3], [0, 3, 4, 1, 2], [2, 3, 4, 0, 1]]
        );
    }

    #[test]
    fn percentages_have_raid4_and_raid5_as_extremes() {
        let raid4 = Shares::from_percent("p", &[100.0, 0.0, 0.0, 0.0, 0.0], 1).unwrap();
        assert_eq!(
            ParityPlacement::from_shares(&raid4).parity_counts(),
            ParityPlacement::named(ParityLayout::ParityFirst, 4, 1).parity_counts()
        );
        let raid5 = Shares::from_percent("p", &[20.0; 5], 1).unwrap();
        assert_eq!(
            ParityPlacement::from_shares(&raid5),
            ParityPlacement::named(ParityLayout::RightSymmetric, 4, 1)
        );
    }
}

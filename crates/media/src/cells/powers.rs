//! Powers of ages and of read counts.

use crate::reliability::PowerTable;

/// `(count · unit)^n` for whole counts: a list of the small ones, most blocks being young and seldom read, and a [`PowerTable`] for the
/// others. The list holds what the table gives, so the result does not depend on where the list ends.
#[derive(Clone, Debug)]
pub(super) struct PowerLookup {
    listed: Box<[f64]>,
    table: PowerTable,
    unit: f64,
}

/// 64 KiB, of which only the lines of the ages and counts that occur are ever in a cache.
const LISTED: u32 = 8192;

impl PowerLookup {
    /// A table for exponent `n`, of counts in units of `unit`.
    pub(super) fn new(n: f64, unit: f64) -> Self {
        assert!(unit.is_finite() && unit > 0.0, "unit {unit}");
        let table = PowerTable::new(n);
        let listed = (0..LISTED).map(|count| table.at(f64::from(count) * unit)).collect();
        Self { listed, table, unit }
    }

    /// `(count · unit)^n`.
    #[inline]
    pub(super) fn at(&self, count: u32) -> f64 {
        match self.listed.get(count as usize) {
            Some(&power) => power,
            None => self.of_table(count),
        }
    }

    /// A function of its own, so that the lookup of a listed power does not pay for its registers.
    #[cold]
    #[inline(never)]
    fn of_table(&self, count: u32) -> f64 {
        self.table.at(f64::from(count) * self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED, PowerLookup};

    #[test]
    fn listed_powers_are_those_of_the_table() {
        for (n, unit) in [(0.54, 1.0 / 864_000.0), (1.71, 1.0), (0.0, 1.0), (20.0, 1.0)] {
            let powers = PowerLookup::new(n, unit);
            let around = LISTED - 3..LISTED + 3;
            for count in (0..40).chain(around).chain([1_000_000, u32::MAX]) {
                let expected = powers.table.at(f64::from(count) * unit);
                assert_eq!(powers.at(count).to_bits(), expected.to_bits(), "({count}·{unit})^{n}");
            }
        }
    }
}

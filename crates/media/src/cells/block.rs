//! What is kept of each block, and the error rate that follows.

use super::ln::LnTable;
use super::powers::Powers;
use super::{DAYS_PER_TICK, NEVER};
use outlast_units::Row;

/// A block's part in the sum of Equation 1, its own factor included, and its state: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Block {
    /// Floor and wear.
    pub(super) fixed: f64,
    /// Times days^n.
    pub(super) retention: f64,
    /// Times reads^q.
    pub(super) disturbance: f64,
    /// The word from which the luck of its units follows until it is erased.
    pub(super) luck: u64,
    /// Sensings since the erasure.
    pub(super) reads: u32,
    /// Reads at which the alarm goes off; `u32::MAX`: never.
    pub(super) alarm: u32,
    pub(super) cycles: u32,
}

const _: () = assert!(size_of::<Block>() == 64, "a sensing touches one line of its block");

impl Block {
    /// Before its wear is known.
    pub(super) const NEW: Self =
        Self { fixed: 0.0, retention: 0.0, disturbance: 0.0, luck: 0, reads: 0, alarm: NEVER, cycles: 0 };

    /// The word from which the luck of a row's units follows.
    #[inline]
    pub(super) fn luck_of_row(&self, row: Row) -> u64 {
        self.luck ^ u64::from(row.0) << 32
    }
}

/// How the error rate of a block follows from its record, its age and its reads.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// Days to the power of the model's n, of an age in ticks.
    days_power: Powers,
    /// Reads to the power of its q.
    reads_power: Powers,
    ln: LnTable,
    /// ln of the page-type factor of each row, and the greatest of them.
    row_ln_factor: Vec<f64>,
    worst_ln_factor: f64,
}

impl Law {
    /// With the exponents `n` of the days and `q` of the reads, and a page-type factor for each row.
    pub(super) fn new(n: f64, q: f64, row_ln_factor: Vec<f64>) -> Self {
        assert!(!row_ln_factor.is_empty(), "blocks without rows");
        Self {
            days_power: Powers::new(n, DAYS_PER_TICK),
            reads_power: Powers::new(q, 1.0),
            ln: LnTable::new(),
            worst_ln_factor: row_ln_factor.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            row_ln_factor,
        }
    }

    /// Rows of a block.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.row_ln_factor.len()
    }

    /// ln of the page-type factor of a row; absent: the greatest.
    pub(super) fn ln_factor(&self, row: Option<Row>) -> f64 {
        row.map_or(self.worst_ln_factor, |row| self.row_ln_factor[row.index()])
    }

    /// ln RBER of a row of a block; may exceed ln 0.5.
    #[inline]
    pub(super) fn ln_rber(&self, block: &Block, row: Row, age: u32, reads: u32) -> f64 {
        self.ln.at(self.rber(block, age, reads)) + self.row_ln_factor[row.index()]
    }

    /// The RBER of a block's mean page at an age in ticks.
    #[inline]
    pub(super) fn rber(&self, block: &Block, age: u32, reads: u32) -> f64 {
        block.fixed
            + block.retention * self.days_power.at(age)
            + block.disturbance * self.reads_power.at(reads)
    }
}

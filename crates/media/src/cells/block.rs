//! What is kept of each block, and the error rate that follows.

use super::ln::LnTable;
use super::powers::PowerLookup;
use super::{DAYS_PER_TICK, NEVER};
use crate::reliability::{GridTable, RberModel, age, open_unit};
use outlast_units::Row;
use outlast_units::rng::mix;

/// The luck of the units of a row, until its block is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct RowLuck(u64);

impl RowLuck {
    /// The uniform number, in (0, 1), that belongs to the present state of unit `unit` (of whatever size the caller decodes, numbered
    /// below 2^32) of the row: a pure function of seed, block, its P/E cycles, row and unit. Small is bad luck. It changes with each
    /// erasure and not with age or reads: a page that failed fails again, and worse, until it is rewritten elsewhere.
    #[inline]
    pub fn of(self, unit: u32) -> f64 {
        open_unit(mix(self.0 ^ u64::from(unit)))
    }
}

/// A block's part in the sum of Equation 1, its own factor included, and its state: one cache line.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
#[repr(align(64))]
pub(super) struct BlockCells {
    /// Floor and wear.
    pub(super) fixed: f64,
    /// Times days^n.
    pub(super) retention: f64,
    /// Times reads^q.
    pub(super) disturbance: f64,
    /// The word from which the luck of its units follows until it is erased.
    pub(super) luck: u64,
    /// While it is calm: no unit fails a read with a greater probability.
    pub(super) p_most: f64,
    /// It is calm below so many reads, and up to so many ticks of age.
    pub(super) calm_reads: u32,
    pub(super) calm_age: u32,
    /// Sensings since the erasure.
    pub(super) reads: u32,
    /// Reads at which the alarm goes off; `u32::MAX`: never.
    pub(super) alarm: u32,
    pub(super) cycles: u32,
}

const _: () = assert!(size_of::<BlockCells>() == 64, "a sensing touches one line of its block");

impl BlockCells {
    /// Before its wear is known.
    pub(super) const NEW: Self = Self {
        fixed: 0.0,
        retention: 0.0,
        disturbance: 0.0,
        luck: 0,
        p_most: 1.0,
        calm_reads: 0,
        calm_age: 0,
        reads: 0,
        alarm: NEVER,
        cycles: 0,
    };

    /// The luck of a row's units.
    #[inline]
    pub(super) fn luck_of_row(&self, row: Row) -> RowLuck {
        RowLuck(self.luck ^ u64::from(row.0) << 32)
    }
}

/// How the error rate of a block follows from its record, its age and its reads.
#[derive(Clone, Debug)]
pub(super) struct ErrorLaw {
    /// Days to the power of the model's n, of an age in ticks.
    days_power: PowerLookup,
    /// Reads to the power of its q.
    reads_power: PowerLookup,
    ln: LnTable,
    /// Of a model that is a table: it, in place of the powers.
    grid: Option<Box<GridTable>>,
    /// ln of the page-type factor of each row, and the greatest of them.
    row_ln_factor: Vec<f64>,
    worst_ln_factor: f64,
}

impl ErrorLaw {
    /// With the exponents `n` of the days and `q` of the reads, the table of `model` if it is one, and a page-type factor for each row.
    pub(super) fn new(n: f64, q: f64, model: &RberModel, row_ln_factor: Vec<f64>) -> Self {
        assert!(!row_ln_factor.is_empty(), "blocks without rows");
        let ln = LnTable::new();
        let grid = match model {
            RberModel::Grid(grid) => Some(Box::new(grid.table(|x| ln.at(x)))),
            _ => None,
        };
        Self {
            grid,
            days_power: PowerLookup::new(n, DAYS_PER_TICK),
            reads_power: PowerLookup::new(q, 1.0),
            ln,
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
    pub(super) fn ln_rber(&self, block: &BlockCells, row: Row, age: u32, reads: u32) -> f64 {
        self.ln.at(self.rber(block, age, reads)) + self.row_ln_factor[row.index()]
    }

    /// ln RBER of the row of a block that has the greatest.
    pub(super) fn worst_ln_rber(&self, block: &BlockCells, age: u32, reads: u32) -> f64 {
        self.ln.at(self.rber(block, age, reads)) + self.worst_ln_factor
    }

    /// The RBER of a block's mean page at an age in ticks.
    #[inline]
    pub(super) fn rber(&self, block: &BlockCells, age: u32, reads: u32) -> f64 {
        if let Some(grid) = &self.grid {
            return self.of_grid(grid, block, age, reads);
        }
        block.fixed
            + block.retention * self.days_power.at(age)
            + block.disturbance * self.reads_power.at(reads)
    }

    /// Apart, as [`PowerLookup`] keeps what is seldom wanted apart.
    #[cold]
    #[inline(never)]
    fn of_grid(&self, grid: &GridTable, block: &BlockCells, ticks: u32, reads: u32) -> f64 {
        let age = age(f64::from(ticks) * DAYS_PER_TICK, |x| self.ln.at(x));
        block.fixed * grid.at(f64::from(block.cycles), age, f64::from(reads))
    }
}

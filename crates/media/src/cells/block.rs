//! State of each block, and the error rate that follows from it.

use super::ln::LnTable;
use super::powers::PowerLookup;
use super::{DAYS_PER_TICK, NEVER};
use crate::reliability::{GridTable, RberModel, age, open_unit};
use outlast_units::rng::mix;
use outlast_units::{ModeId, Row};

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

/// Coefficients of a block in the sum of HRM's Equation 1, with the factor of the block, and its state: one cache line.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
#[repr(align(64))]
pub(super) struct BlockCells {
    /// Sum of floor and wear, in errors per bit.
    pub(super) fixed: f64,
    /// Coefficient of days^n.
    pub(super) retention: f64,
    /// Coefficient of reads^q.
    pub(super) disturbance: f64,
    /// Random word from which the luck of the units follows until the next erasure.
    pub(super) luck: u64,
    /// While the block is calm, an upper bound of the probability that a unit fails a read.
    pub(super) p_most: f64,
    /// Reads below which the block is calm.
    pub(super) calm_reads: u32,
    /// Age in ticks up to which the block is calm.
    pub(super) calm_age: u32,
    /// Sensings since the erasure.
    pub(super) reads: u32,
    /// Reads at which the alarm goes off; `u32::MAX`: never.
    pub(super) alarm: u32,
    pub(super) cycles: u32,
    /// The mode in which the block is used since its erasure.
    pub(super) mode: ModeId,
}

const _: () = assert!(size_of::<BlockCells>() == 64, "a sensing touches one line of its block");

impl BlockCells {
    /// A block whose wear is not set yet.
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
        mode: ModeId::FIRST,
    };

    /// The luck of a row's units.
    #[inline]
    pub(super) fn luck_of_row(&self, row: Row) -> RowLuck {
        RowLuck(self.luck ^ u64::from(row.0) << 32)
    }
}

/// Error rate of a block as a function of its record, its age and its reads.
#[derive(Clone, Debug)]
pub(super) struct ErrorLaw {
    /// Days to the power of the model's n, of an age in ticks.
    days_power: PowerLookup,
    /// Reads to the power of its q.
    reads_power: PowerLookup,
    ln: LnTable,
    /// Table of a model that has one, used in place of the powers.
    grid: Option<Box<GridTable>>,
    /// ln of the page-type factor of each row.
    row_ln_factor: Vec<f64>,
    /// Greatest of these.
    worst_ln_factor: f64,
}

impl ErrorLaw {
    /// The law with the exponents `n` of the days and `q` of the reads, the table of `model` if it is one, and a page-type factor for each row.
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

    /// True if rates are looked up in a table.
    pub(super) fn is_table(&self) -> bool {
        self.grid.is_some()
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
            return self.grid_rber(grid, block, age, reads);
        }
        block.fixed
            + block.retention * self.days_power.at(age)
            + block.disturbance * self.reads_power.at(reads)
    }

    /// Looked up in a function of its own, so that the usual path does not pay for its registers.
    #[cold]
    #[inline(never)]
    fn grid_rber(&self, grid: &GridTable, block: &BlockCells, ticks: u32, reads: u32) -> f64 {
        let age = age(f64::from(ticks) * DAYS_PER_TICK, |x| self.ln.at(x));
        block.fixed * grid.at(f64::from(block.cycles), age, f64::from(reads))
    }
}

//! The two-level code of card and block: the product of two single-parity codes.

mod counts;
mod natural;
mod pattern;

pub use counts::PatternCounts;
pub use natural::NaturalNumber;
pub use pattern::{CodeLine, ErasurePattern, PeelingPlan, PeelingStep};

use crate::checks::{check_count, check_lengths};
use crate::kernels::{self, CodeKernel, KernelEngine};
use crate::{CodeError, ErasureCode};

/// M rows (cards) × N columns (the pages of a block, one of them parity): the last cell of each row is the XOR of the row, the last
/// row the XOR of the others. Flexible's "(7,1)-MDS (card) + (63,1)-MDS (block)" is 8 × 64. Cells are given row by row; data
/// cells are those outside the last row and column.
///
/// Decoding is by peeling: a cell that is the only one missing in its row or column is rebuilt, as long as there is one. All
/// patterns of three cells and fewer are recovered; the smallest that are not are the four corners of a rectangle.
#[derive(Clone, Debug)]
pub struct ProductCode {
    rows: usize,
    columns: usize,
    engine: KernelEngine,
}

impl ProductCode {
    /// The product of (`rows` − 1, 1) and (`columns` − 1, 1), with the fastest kernel of this processor.
    ///
    /// # Errors
    /// [`CodeError::Product`] unless rows and columns are 2 to 255.
    pub fn new(rows: usize, columns: usize) -> Result<Self, CodeError> {
        Self::with_kernel(rows, columns, CodeKernel::best())
    }

    /// The same code with a kernel of the caller's choice: the bytes are the same.
    ///
    /// # Errors
    /// [`CodeError::Product`] unless rows and columns are 2 to 255; [`CodeError::KernelMissing`] if the processor lacks it.
    pub fn with_kernel(rows: usize, columns: usize, kernel: CodeKernel) -> Result<Self, CodeError> {
        for (field, value) in [("rows", rows), ("columns", columns)] {
            if !(2..=ErasureCode::SHARDS_MAX).contains(&value) {
                return Err(CodeError::Product { field, value, limit: "2 to 255" });
            }
        }
        let engine = KernelEngine::new(kernel).ok_or(CodeError::KernelMissing(kernel))?;
        Ok(Self { rows, columns, engine })
    }

    /// Number of rows, M.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The pattern of this code in which nothing is erased.
    pub fn intact(&self) -> ErasurePattern {
        ErasurePattern::new(self.rows, self.columns)
    }

    /// Plans how `pattern` is rebuilt cell by cell, and which cells stay erased.
    ///
    /// # Errors
    /// [`CodeError::Product`] if the pattern is one of another code.
    pub fn peel(&self, pattern: &ErasurePattern) -> Result<PeelingPlan, CodeError> {
        self.check_pattern(pattern)?;
        Ok(pattern.peel())
    }

    /// True if all of `pattern` can be rebuilt, by peeling or by whatever decoder.
    ///
    /// # Errors
    /// [`CodeError::Product`] if the pattern is one of another code.
    pub fn is_recoverable(&self, pattern: &ErasurePattern) -> Result<bool, CodeError> {
        Ok(self.peel(pattern)?.stuck.is_empty())
    }

    /// Exact numbers of recoverable patterns.
    ///
    /// # Errors
    /// [`CodeError::Product`] for a code that is too large to count.
    pub fn pattern_counts(&self) -> Result<PatternCounts, CodeError> {
        PatternCounts::new(self.rows, self.columns)
    }

    /// Overwrites the parity cells.
    ///
    /// # Errors
    /// [`CodeError::Count`] or [`CodeError::Length`] if there are not M·N cells of one length.
    pub fn encode(&self, cells: &mut [&mut [u8]]) -> Result<(), CodeError> {
        self.check_cells(cells)?;
        for row in 0..self.rows - 1 {
            self.rebuild_cell(cells, PeelingStep { row, column: self.columns - 1, by: CodeLine::Row });
        }
        for column in 0..self.columns {
            self.rebuild_cell(cells, PeelingStep { row: self.rows - 1, column, by: CodeLine::Column });
        }
        Ok(())
    }

    /// Changes the three parity cells of a data cell whose content changes from `old` to `new`: `parity` is the last cell of its
    /// row, the last of its column, and the last of all.
    ///
    /// # Errors
    /// [`CodeError::Length`] if the cells are not of one length.
    pub fn update(&self, old: &[u8], new: &[u8], parity: [&mut [u8]; 3]) -> Result<(), CodeError> {
        check_lengths("old", &[old], new.len())?;
        let mut parity = parity;
        check_lengths("parity", &parity, new.len())?;
        kernels::multiply_add(self.engine, |_| 1, new, Some(old), &mut parity);
        Ok(())
    }

    /// Rebuilds the cells of `pattern`, whose content is ignored. Unrecoverable cells stay as they are, and all others are rebuilt
    /// even then.
    ///
    /// # Errors
    /// [`CodeError::Unrecoverable`] if cells are left; [`CodeError::Count`], [`CodeError::Length`] or [`CodeError::Product`] if
    /// cells or pattern are not those of this code.
    pub fn decode(&self, cells: &mut [&mut [u8]], pattern: &ErasurePattern) -> Result<(), CodeError> {
        self.check_cells(cells)?;
        let peeling = self.peel(pattern)?;
        for &step in &peeling.steps {
            self.rebuild_cell(cells, step);
        }
        match peeling.stuck.len() {
            0 => Ok(()),
            left => Err(CodeError::Unrecoverable { left }),
        }
    }

    /// Overwrites the cell of `step` with the XOR of the others of its line.
    fn rebuild_cell(&self, cells: &mut [&mut [u8]], step: PeelingStep) {
        let cell = step.row * self.columns + step.column;
        let (start, stride, count) = match step.by {
            CodeLine::Row => (step.row * self.columns, 1, self.columns),
            CodeLine::Column => (step.column, self.columns, self.rows),
        };
        let target = std::mem::take(&mut cells[cell]);
        let mut sources: [&[u8]; ErasureCode::SHARDS_MAX] = [&[]; ErasureCode::SHARDS_MAX];
        let others = (0..count).map(|i| start + i * stride).filter(|&other| other != cell);
        for (source, other) in sources.iter_mut().zip(others) {
            *source = &*cells[other];
        }
        kernels::xor(self.engine, &sources[..count - 1], target);
        cells[cell] = target;
    }

    fn check_cells(&self, cells: &[&mut [u8]]) -> Result<(), CodeError> {
        check_count("cells", cells.len(), self.rows * self.columns)?;
        check_lengths("cells", cells, cells[0].len())
    }

    fn check_pattern(&self, pattern: &ErasurePattern) -> Result<(), CodeError> {
        for (field, value, expected) in [
            ("pattern.rows", pattern.rows(), self.rows),
            ("pattern.columns", pattern.columns(), self.columns),
        ] {
            if value != expected {
                return Err(CodeError::Product { field, value, limit: "that of the code" });
            }
        }
        Ok(())
    }
}

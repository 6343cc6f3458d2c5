//! Erasure patterns of a product code, and their peeling.

use crate::CodeError;

/// A set of erased cells of an M × N product code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasurePattern {
    rows: usize,
    columns: usize,
    /// One bit for each cell, row by row.
    cells: Vec<u64>,
    erased: usize,
}

/// The line that rebuilds a cell: the XOR of its other cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLine {
    /// The row of the cell, N cells.
    Row,
    /// The column of the cell, M cells.
    Column,
}

/// One step of peeling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeelingStep {
    /// Row of the cell to rebuild.
    pub row: usize,
    /// Column of the cell.
    pub column: usize,
    /// The line to rebuild it from, of which no other cell is missing by then.
    pub by: CodeLine,
}

/// Plan for peeling a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeelingPlan {
    /// Steps in the order in which they must be taken.
    pub steps: Vec<PeelingStep>,
    /// Cells that no decoder can recover: every line through them has lost at least two of them.
    pub stuck: ErasurePattern,
}

impl ErasurePattern {
    /// The empty pattern of `rows` × `columns` cells.
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, cells: vec![0; (rows * columns).div_ceil(64)], erased: 0 }
    }

    /// Number of rows, M.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Erases a cell; true if it was intact.
    ///
    /// # Errors
    /// [`CodeError::Product`] if there is no such cell.
    pub fn erase(&mut self, row: usize, column: usize) -> Result<bool, CodeError> {
        for (field, value, limit) in [("row", row, self.rows), ("column", column, self.columns)] {
            if value >= limit {
                return Err(CodeError::Product {
                    field,
                    value,
                    limit: "below the number of them in the code",
                });
            }
        }
        let was_there = !self.is_erased(row, column);
        if was_there {
            self.flip(row, column);
            self.erased += 1;
        }
        Ok(was_there)
    }

    /// True if a cell is erased; false of a cell that the code does not have.
    pub fn is_erased(&self, row: usize, column: usize) -> bool {
        let cell = row * self.columns + column;
        row < self.rows && column < self.columns && self.cells[cell / 64] >> (cell % 64) & 1 == 1
    }

    /// Number of erased cells.
    pub fn len(&self) -> usize {
        self.erased
    }

    /// True if no cell is erased.
    pub fn is_empty(&self) -> bool {
        self.erased == 0
    }

    /// The erased cells as (row, column), row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let cells = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        cells.filter(|&(row, column)| self.is_erased(row, column))
    }

    /// Rebuilds, as long as there is one, a cell that is the only one missing in its row or column.
    ///
    /// Cells are edges between rows and columns: a line that misses one cell is a vertex of degree one, and peeling takes
    /// leaves off until nothing or a 2-core is left. So all cells are rebuilt exactly if the erased ones are a forest. A cycle is the
    /// support of a code word, so that not even a decoder of maximum likelihood does better.
    pub(crate) fn peel(&self) -> PeelingPlan {
        let mut stuck = self.clone();
        let mut missing = [vec![0usize; self.rows], vec![0usize; self.columns]];
        for (row, column) in self.iter() {
            missing[0][row] += 1;
            missing[1][column] += 1;
        }
        // Shorter lines first: they read less.
        let order = if self.columns <= self.rows {
            [CodeLine::Row, CodeLine::Column]
        } else {
            [CodeLine::Column, CodeLine::Row]
        };
        let index = |line: CodeLine| usize::from(line == CodeLine::Column);
        let mut ready: Vec<(CodeLine, usize)> = Vec::new();
        for line in order.into_iter().rev() {
            let lines = missing[index(line)].iter().enumerate().rev();
            ready.extend(lines.filter(|&(_, &missing)| missing == 1).map(|(at, _)| (line, at)));
        }
        let mut steps = Vec::with_capacity(self.erased);
        while let Some((by, at)) = ready.pop() {
            // The last cell of a line may have been rebuilt from the line that crosses it.
            if missing[index(by)][at] != 1 {
                continue;
            }
            let erased = match by {
                CodeLine::Row => {
                    (0..self.columns).map(|column| (at, column)).find(|&(r, c)| stuck.is_erased(r, c))
                }
                CodeLine::Column => (0..self.rows).map(|row| (row, at)).find(|&(r, c)| stuck.is_erased(r, c)),
            };
            let (row, column) = erased.expect("a line that misses one cell has it");
            stuck.flip(row, column);
            stuck.erased -= 1;
            steps.push(PeelingStep { row, column, by });
            for (line, at) in [(CodeLine::Row, row), (CodeLine::Column, column)] {
                missing[index(line)][at] -= 1;
                if missing[index(line)][at] == 1 {
                    ready.push((line, at));
                }
            }
        }
        PeelingPlan { steps, stuck }
    }

    fn flip(&mut self, row: usize, column: usize) {
        let cell = row * self.columns + column;
        self.cells[cell / 64] ^= 1 << (cell % 64);
    }
}

//! Exact number of fatal erasure patterns of a product code.
//!
//! Cells are edges between M rows and N columns. A pattern is recoverable exactly if its edges are a forest (see
//! `Pattern::peel`), so the recoverable patterns of i cells are the forests of i edges in the complete bipartite graph, and
//! β(M, N, i) of Greenan, Long, Miller, Schwarz, Wildani ("Building flexible, fault-tolerant flash-based storage systems",
//! 2009), which the paper estimates, is C(MN, i) less these.

use super::NaturalNumber;
use crate::CodeError;

/// Counts of the erasure patterns of an M × N product code, by the number of erased cells.
#[derive(Clone, Debug)]
pub struct PatternCounts {
    cells: usize,
    /// All patterns, C(MN, i).
    all: Vec<NaturalNumber>,
    /// Patterns that are forests; with M + N edges and more there are none.
    forests: Vec<NaturalNumber>,
}

impl PatternCounts {
    /// Limit of the shorter side: time grows with the square of both sides, and with the shorter one once more.
    const SHORTER_MAX: usize = 16;
    /// Limit of the longer side.
    const LONGER_MAX: usize = 255;

    /// Counts the patterns of `rows` × `columns` cells.
    ///
    /// # Errors
    /// [`CodeError::Product`] unless the longer side has 2 to 255 lines and the shorter one 2 to 16.
    pub fn new(rows: usize, columns: usize) -> Result<Self, CodeError> {
        let sides = [("rows", rows), ("columns", columns)];
        let (shorter, longer) = if rows <= columns { (sides[0], sides[1]) } else { (sides[1], sides[0]) };
        if !(2..=Self::SHORTER_MAX).contains(&shorter.1) {
            return Err(CodeError::Product {
                field: shorter.0,
                value: shorter.1,
                limit: "2 to 16, as the shorter side",
            });
        }
        if longer.1 > Self::LONGER_MAX {
            return Err(CodeError::Product {
                field: longer.0,
                value: longer.1,
                limit: "2 to 255, as the longer side",
            });
        }
        let cells = rows * columns;
        Ok(Self { cells, all: binomials(cells), forests: forests(shorter.1, longer.1) })
    }

    /// Number of cells, M·N.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Patterns of `erased` cells: C(MN, i).
    pub fn all(&self, erased: usize) -> NaturalNumber {
        self.all.get(erased).cloned().unwrap_or(NaturalNumber::ZERO)
    }

    /// Recoverable patterns of `erased` cells.
    pub fn recoverable(&self, erased: usize) -> NaturalNumber {
        self.forests.get(erased).cloned().unwrap_or(NaturalNumber::ZERO)
    }

    /// Unrecoverable patterns of `erased` cells, β(M, N, i).
    pub fn unrecoverable(&self, erased: usize) -> NaturalNumber {
        self.all(erased).minus(&self.recoverable(erased))
    }

    /// Share of unrecoverable patterns among those of `erased` cells, to 1e-15 relative; 0 above M·N cells.
    pub fn unrecoverable_share(&self, erased: usize) -> f64 {
        if erased > self.cells { 0.0 } else { self.unrecoverable(erased).ratio(&self.all[erased]) }
    }

    /// The probability that cells which are erased independently, each with probability `p` in 0..=1, make a pattern that is not
    /// recovered: Σ β(M, N, i)·p^i·(1 − p)^(MN − i), to 1e-11 relative. The sum is of positive terms, so that it holds down to
    /// where doubles end.
    pub fn unrecoverable_probability(&self, p: f64) -> f64 {
        if p <= 0.0 {
            return 0.0;
        }
        let (erased_ln, intact_ln) = (p.ln(), (-p).ln_1p());
        let term = |erased: usize| {
            let intact = self.cells - erased;
            // At p = 1 nothing stays intact, and 0·ln 0 would not be a number.
            let intact_ln = if intact == 0 { 0.0 } else { intact as f64 * intact_ln };
            (self.unrecoverable(erased).ln() + erased as f64 * erased_ln + intact_ln).exp()
        };
        // The smallest unrecoverable pattern has 4 cells, the corners of a rectangle.
        (4..=self.cells).map(term).sum()
    }
}

/// C(n, i) for i from 0 to n.
fn binomials(n: usize) -> Vec<NaturalNumber> {
    let mut row = vec![NaturalNumber::from(1)];
    for i in 0..n {
        let (next, remainder) = row[i].times(&NaturalNumber::from((n - i) as u64)).divided(i as u64 + 1);
        assert_eq!(remainder, 0, "binomials are whole");
        row.push(next);
    }
    row
}

/// Forests of i edges in `K_{rows,columns}`, for i from 0 to rows + columns − 1.
///
/// First without isolated columns, by rows m, columns n and components r: the component of the first row has a rows and b columns,
/// chosen in C(m−1, a−1)·C(n, b) ways, and is one of a^(b−1)·b^(a−1) trees (Scoins 1962); the rest is a forest of m − a rows,
/// n − b columns and r − 1 components. Then any columns may be isolated. m + n − r is the number of edges.
fn forests(rows: usize, columns: usize) -> Vec<NaturalNumber> {
    let row_choices: Vec<Vec<NaturalNumber>> = (0..=rows).map(binomials).collect();
    let column_choices: Vec<Vec<NaturalNumber>> = (0..=columns).map(binomials).collect();
    let trees: Vec<Vec<NaturalNumber>> =
        (0..=rows).map(|a| (0..=columns).map(|b| spanning_trees(a, b)).collect()).collect();

    // with_rows[m][n][r]
    let mut with_rows: Vec<Vec<Vec<NaturalNumber>>> = Vec::new();
    for m in 0..=rows {
        let mut of_columns = Vec::new();
        for n in 0..=columns {
            let mut by_components = vec![NaturalNumber::ZERO; m + 1];
            if m == 0 && n == 0 {
                by_components[0] = NaturalNumber::from(1);
            }
            for a in 1..=m {
                for b in 0..=n {
                    let other_forests = &with_rows[m - a][n - b];
                    if trees[a][b].is_zero() || other_forests.iter().all(NaturalNumber::is_zero) {
                        continue;
                    }
                    let ways = row_choices[m - 1][a - 1].times(&column_choices[n][b]).times(&trees[a][b]);
                    for (r, forests) in
                        other_forests.iter().enumerate().filter(|(_, forests)| !forests.is_zero())
                    {
                        by_components[r + 1].add(&ways.times(forests));
                    }
                }
            }
            of_columns.push(by_components);
        }
        with_rows.push(of_columns);
    }

    let mut by_edges = vec![NaturalNumber::ZERO; rows + columns];
    for (n, by_components) in with_rows[rows].iter().enumerate() {
        for (r, forests) in by_components.iter().enumerate().filter(|(_, forests)| !forests.is_zero()) {
            by_edges[rows + n - r].add(&column_choices[columns][n].times(forests));
        }
    }
    by_edges
}

/// Spanning trees of `K_{a,b}`, where one vertex alone is a tree.
fn spanning_trees(a: usize, b: usize) -> NaturalNumber {
    match (a, b) {
        (1, 0) | (0, 1) => NaturalNumber::from(1),
        (0, _) | (_, 0) => NaturalNumber::ZERO,
        _ => NaturalNumber::from(a as u64).power(b - 1).times(&NaturalNumber::from(b as u64).power(a - 1)),
    }
}

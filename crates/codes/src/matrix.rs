//! Matrices over the field: the parity rows of a code, and the inverse that decoding needs.

use crate::field::{inverse, multiply, power_of_two};

/// A row-major matrix over GF(2^8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldMatrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    cells: Vec<u8>,
}

impl FieldMatrix {
    pub(crate) fn from_fn(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> u8) -> Self {
        let cell = &cell;
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| cell(row, column))).collect();
        Self { rows, columns, cells }
    }

    /// The parity rows of the systematic (k, m) code; parity i of data d is Σ row[i][j]·d[j].
    ///
    /// m ≤ 2: ones, then the powers of two, as in RAID-6. Its minors are single nonzero elements and 2^a + 2^b with a ≠ b
    /// below 255, so the code is MDS for every k ≤ 255.
    ///
    /// m ≥ 3: a Cauchy matrix 1 / (x[i] + y[j]) with x[i] = 255 − i and y[j] = j, which are distinct as long as k + m ≤ 256:
    /// every square submatrix of it is invertible (its determinant is Π(x−x')·Π(y−y') / Π(x+y), Cauchy 1841), so every k
    /// of the k + m shards determine the data. Columns, then rows, are scaled so that the first row and column are ones,
    /// which scales every minor by nonzero factors: the first parity is plain XOR. Parity i does not depend on k or m.
    pub(crate) fn parity(k: usize, m: usize) -> Self {
        if m <= 2 {
            return Self::from_fn(m, k, |i, j| if i == 0 { 1 } else { power_of_two(j) });
        }
        let sum = |i: usize, j: usize| (255 - i as u8) ^ j as u8;
        let scaled = |i, j| multiply(sum(0, j), inverse(sum(i, j)));
        Self::from_fn(m, k, |i, j| multiply(scaled(i, j), inverse(scaled(i, 0))))
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> u8 {
        self.cells[row * self.columns + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.cells[row * self.columns..][..self.columns]
    }

    /// Inverse of a square matrix by Gauss-Jordan elimination; `None` if it is singular.
    pub(crate) fn inverted(&self) -> Option<Self> {
        assert_eq!(self.rows, self.columns, "only square matrices have inverses");
        let n = self.rows;
        let mut work = self.clone();
        let mut result = Self::from_fn(n, n, |row, column| u8::from(row == column));
        for pivot in 0..n {
            let nonzero = (pivot..n).find(|&row| work.at(row, pivot) != 0)?;
            for matrix in [&mut work, &mut result] {
                matrix.swap_rows(pivot, nonzero);
            }
            let factor = inverse(work.at(pivot, pivot));
            for matrix in [&mut work, &mut result] {
                matrix.row_mut(pivot).iter_mut().for_each(|cell| *cell = multiply(*cell, factor));
            }
            for row in (0..n).filter(|&row| row != pivot) {
                let factor = work.at(row, pivot);
                for matrix in [&mut work, &mut result] {
                    matrix.add_multiple(row, pivot, factor);
                }
            }
        }
        Some(result)
    }

    /// Product of this matrix and `other`.
    pub(crate) fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows, "shapes must fit");
        Self::from_fn(self.rows, other.columns, |row, column| {
            (0..self.columns).fold(0, |sum, i| sum ^ multiply(self.at(row, i), other.at(i, column)))
        })
    }

    fn row_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.cells[row * self.columns..][..self.columns]
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        for column in 0..self.columns {
            self.cells.swap(a * self.columns + column, b * self.columns + column);
        }
    }

    fn add_multiple(&mut self, row: usize, of: usize, factor: u8) {
        for column in 0..self.columns {
            self.cells[row * self.columns + column] ^= multiply(factor, self.at(of, column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    /// Condition for a systematic code to be MDS: every square submatrix of its parity rows is invertible. All of them, for codes
    /// small enough; the long codes have the same matrix, see the next test.
    #[test]
    fn every_square_submatrix_of_small_codes_is_invertible() {
        for (k, m) in [(20, 1), (20, 2), (8, 3), (8, 4), (6, 6)] {
            let parity = FieldMatrix::parity(k, m);
            for rows in 1u32..1 << m {
                for columns in (1u32..1 << k).filter(|columns| columns.count_ones() == rows.count_ones()) {
                    assert!(
                        submatrix(&parity, &bits(rows), &bits(columns)).inverted().is_some(),
                        "{rows:b} {columns:b}"
                    );
                }
            }
        }
    }

    #[test]
    fn random_square_submatrices_of_the_longest_codes_are_invertible() {
        let mut rng = SplitMix::new(1, "submatrices");
        for (k, m) in [(253, 2), (252, 3), (128, 127), (5, 250)] {
            let parity = FieldMatrix::parity(k, m);
            for _ in 0..200 {
                let size = 1 + rng.below(k.min(m).min(40) as u64) as usize;
                let (rows, columns) = (draw(&mut rng, m, size), draw(&mut rng, k, size));
                assert!(
                    submatrix(&parity, &rows, &columns).inverted().is_some(),
                    "({k}, {m}): {rows:?} {columns:?}"
                );
            }
        }
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one_and_a_singular_one_has_none() {
        let cauchy = FieldMatrix::parity(30, 30);
        let one = FieldMatrix::from_fn(30, 30, |row, column| u8::from(row == column));
        assert_eq!(cauchy.times(&cauchy.inverted().unwrap()), one);
        assert_eq!(FieldMatrix::from_fn(2, 2, |_, column| column as u8 + 1).inverted(), None);
        let swapped = FieldMatrix::from_fn(3, 3, |row, column| u8::from((row + 1) % 3 == column));
        assert_eq!(
            swapped.times(&swapped.inverted().unwrap()),
            FieldMatrix::from_fn(3, 3, |r, c| u8::from(r == c))
        );
    }

    #[test]
    fn more_parities_leave_the_first_ones_as_they_are() {
        let long = FieldMatrix::parity(100, 100);
        let short = FieldMatrix::parity(7, 3);
        assert!((0..3).all(|i| short.row(i) == &long.row(i)[..7]));
        assert!(long.row(0).iter().all(|&cell| cell == 1));
    }

    fn submatrix(of: &FieldMatrix, rows: &[usize], columns: &[usize]) -> FieldMatrix {
        FieldMatrix::from_fn(rows.len(), columns.len(), |row, column| of.at(rows[row], columns[column]))
    }

    fn bits(mask: u32) -> Vec<usize> {
        (0..32).filter(|bit| mask >> bit & 1 == 1).collect()
    }

    fn draw(rng: &mut SplitMix, from: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..from).collect();
        (0..count).map(|_| all.swap_remove(rng.below(all.len() as u64) as usize)).collect()
    }
}

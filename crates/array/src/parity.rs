//! The code of a group, on bytes: the one place that knows finite fields, so that a faster implementation can take its place.
//!
//! Systematic and linear: parity `j` is the sum of `coefficient(j, i)` × data `i` over GF(2^8) with the polynomial 0x11d. The
//! first parity is the plain XOR. Two parities are P and Q with generator 2 (H. P. Anvin, "The mathematics of RAID-6",
//! 2004); more are rows of a Cauchy matrix whose columns are scaled to make the first row all ones, which keeps every
//! square submatrix regular. With one data chunk all coefficients are 1: mirrors are a code too.

use outlast_units::SECTOR_BYTES;

const POLYNOMIAL: u16 = 0x11d;

const fn tables() -> ([u8; 512], [u8; 256]) {
    let (mut exp, mut log) = ([0u8; 512], [0u8; 256]);
    let mut x: u16 = 1;
    let mut i = 0;
    while i < 255 {
        exp[i] = x as u8;
        exp[i + 255] = x as u8;
        log[x as usize] = i as u8;
        x <<= 1;
        if x & 0x100 != 0 {
            x ^= POLYNOMIAL;
        }
        i += 1;
    }
    (exp, log)
}

static TABLES: ([u8; 512], [u8; 256]) = tables();

fn mul(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    TABLES.0[usize::from(TABLES.1[usize::from(a)]) + usize::from(TABLES.1[usize::from(b)])]
}

fn inverse(a: u8) -> u8 {
    debug_assert!(a != 0, "zero has no inverse");
    TABLES.0[255 - usize::from(TABLES.1[usize::from(a)])]
}

/// `target += factor × source`.
pub(crate) fn mul_add(target: &mut [u8], source: &[u8], factor: u8) {
    assert_eq!(target.len(), source.len(), "cells of one window are of one length");
    match factor {
        0 => {}
        1 => target.iter_mut().zip(source).for_each(|(t, s)| *t ^= s),
        _ => {
            let mut row = [0u8; 256];
            for (value, product) in row.iter_mut().enumerate() {
                *product = mul(value as u8, factor);
            }
            target.iter_mut().zip(source).for_each(|(t, s)| *t ^= row[usize::from(*s)]);
        }
    }
}

/// A (k, m) code.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    data: usize,
    parities: usize,
    /// Row by row.
    coefficients: Vec<u8>,
}

impl Code {
    pub(crate) fn new(data: usize, parities: usize) -> Self {
        assert!(data + parities <= 128, "field elements suffice for the rows and columns of the matrix");
        let coefficient = |j: usize, i: usize| match (data, parities) {
            (1, _) => 1,
            (_, 1 | 2) => TABLES.0[i * j % 255],
            _ => {
                let cauchy = |j: usize| inverse((parities + i) as u8 ^ j as u8);
                mul(cauchy(j), inverse(cauchy(0)))
            }
        };
        let coefficients = (0..parities)
            .flat_map(|j| (0..data).map(move |i| (j, i)))
            .map(|(j, i)| coefficient(j, i))
            .collect();
        Self { data, parities, coefficients }
    }

    /// The factor of data chunk `data` in parity `parity`.
    pub(crate) fn coefficient(&self, parity: usize, data: usize) -> u8 {
        self.coefficients[parity * self.data + data]
    }

    /// Computes the data cells that are not in `have` from those that are, over bytes `range` of each cell. The cells are by
    /// role; `have` has at least as many bits as there are data roles.
    ///
    /// # Panics
    /// If there are too few cells: the caller has counted them.
    pub(crate) fn recover_data(&self, cells: &mut [Vec<u8>], range: std::ops::Range<usize>, have: u64) {
        let missing: Vec<usize> = (0..self.data).filter(|&role| have >> role & 1 == 0).collect();
        let parities: Vec<usize> =
            (0..self.parities).filter(|&j| have >> (self.data + j) & 1 == 1).take(missing.len()).collect();
        assert_eq!(parities.len(), missing.len(), "more data cells are missing than parity cells are there");
        // Each parity less what is known of it is a sum over the missing data.
        let sums: Vec<Vec<u8>> = parities
            .iter()
            .map(|&j| {
                let mut sum = cells[self.data + j][range.clone()].to_vec();
                for role in (0..self.data).filter(|role| have >> role & 1 == 1) {
                    mul_add(&mut sum, &cells[role][range.clone()], self.coefficient(j, role));
                }
                sum
            })
            .collect();
        let matrix = parities.iter().map(|&j| missing.iter().map(|&i| self.coefficient(j, i)).collect());
        let solved = invert(matrix.collect());
        for (row, &role) in solved.iter().zip(&missing) {
            let target = &mut cells[role][range.clone()];
            target.fill(0);
            for (&factor, sum) in row.iter().zip(&sums) {
                mul_add(target, sum, factor);
            }
        }
    }

    /// Computes parity `parity` from all data cells into its own cell, over bytes `range`.
    pub(crate) fn encode(&self, cells: &mut [Vec<u8>], range: std::ops::Range<usize>, parity: usize) {
        let (data, rest) = cells.split_at_mut(self.data);
        let target = &mut rest[parity][range.clone()];
        target.fill(0);
        for (role, cell) in data.iter().enumerate() {
            mul_add(target, &cell[range.clone()], self.coefficient(parity, role));
        }
    }

    /// Sectors of `range` in which parity cell `parity` is not what the data cells give.
    pub(crate) fn mismatches(&self, cells: &[Vec<u8>], range: std::ops::Range<usize>, parity: usize) -> u32 {
        let mut sum = cells[self.data + parity][range.clone()].to_vec();
        for (role, cell) in cells[..self.data].iter().enumerate() {
            mul_add(&mut sum, &cell[range.clone()], self.coefficient(parity, role));
        }
        sum.chunks(SECTOR_BYTES as usize).filter(|sector| sector.iter().any(|&byte| byte != 0)).count() as u32
    }
}

/// The inverse of a regular matrix, by elimination.
fn invert(mut matrix: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let size = matrix.len();
    let mut result: Vec<Vec<u8>> = (0..size).map(|i| (0..size).map(|j| u8::from(i == j)).collect()).collect();
    for pivot in 0..size {
        let row =
            (pivot..size).find(|&row| matrix[row][pivot] != 0).expect("the code's submatrices are regular");
        matrix.swap(pivot, row);
        result.swap(pivot, row);
        let factor = inverse(matrix[pivot][pivot]);
        for column in 0..size {
            matrix[pivot][column] = mul(matrix[pivot][column], factor);
            result[pivot][column] = mul(result[pivot][column], factor);
        }
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            for column in 0..size {
                let (m, r) = (matrix[pivot][column], result[pivot][column]);
                matrix[row][column] ^= mul(m, factor);
                result[row][column] ^= mul(r, factor);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_parity_is_xor_and_the_second_has_generator_two() {
        let code = Code::new(5, 2);
        assert!((0..5).all(|i| code.coefficient(0, i) == 1));
        assert_eq!((0..5).map(|i| code.coefficient(1, i)).collect::<Vec<_>>(), [1, 2, 4, 8, 16]);
        assert!((0..7).all(|i| Code::new(7, 3).coefficient(0, i) == 1));
        assert_eq!(mul(0x80, 2), 0x1d, "the polynomial is 0x11d");
    }

    proptest! {
        /// Any `m` of the `k + m` cells lost, all come back.
        #[test]
        fn any_m_cells_come_back(k in 1usize..9, m in 1usize..5, seed: u64) {
            let code = Code::new(k, m);
            let mut rng = outlast_units::rng::SplitMix::new(seed, "cells");
            let mut cells: Vec<Vec<u8>> =
                (0..k + m).map(|_| (0..1024).map(|_| rng.next_u64() as u8).collect()).collect();
            for j in 0..m {
                code.encode(&mut cells, 0..1024, j);
                prop_assert_eq!(code.mismatches(&cells, 0..1024, j), 0);
            }
            let truth = cells.clone();
            let mut have = (1u64 << (k + m)) - 1;
            while have.count_ones() as usize > k {
                let role = rng.below((k + m) as u64) as usize;
                have &= !(1 << role);
                cells[role].fill(0xa5);
            }
            code.recover_data(&mut cells, 0..1024, have);
            for j in (0..m).filter(|j| have >> (k + j) & 1 == 0) {
                code.encode(&mut cells, 0..1024, j);
            }
            prop_assert!(cells == truth);
            cells[k][600] ^= 1;
            prop_assert_eq!(code.mismatches(&cells, 0..1024, 0), 1);
        }
    }
}

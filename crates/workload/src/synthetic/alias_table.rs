//! Walker's alias method: one draw, one comparison, whatever the number of outcomes.

use outlast_units::rng::SplitMix;

/// A table that draws index i with a probability proportional to its weight (A. J. Walker 1977; built as in M. D. Vose,
/// "A linear algorithm for generating random numbers with a given distribution", 1991). Probabilities are exact to the
/// 2^-53 of the weights' own rounding.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    cells: Box<[AliasCell]>,
}

/// One of as many equal shares as there are outcomes, split between its own outcome and one other.
#[derive(Clone, Copy, Debug)]
struct AliasCell {
    /// Below this 64-bit fraction the cell gives its own index, at or above it `alias`.
    keep: u64,
    alias: u32,
}

impl AliasTable {
    /// A table over `weights`: finite, not negative, not all zero, fewer than 2^32. Otherwise every index is equally
    /// likely (callers check first; a table never panics).
    pub(crate) fn new(weights: &[f64]) -> Self {
        let count = weights.len();
        let total: f64 = weights.iter().sum();
        let mut share: Vec<f64> = weights.iter().map(|w| w * (count as f64 / total)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..count).partition(|&i| share[i] < 1.0);
        let mut cells: Vec<AliasCell> =
            (0..count).map(|i| AliasCell { keep: u64::MAX, alias: i as u32 }).collect();
        // Vose's construction: a cell of less than the mean share is filled up from one of more, which may then become small itself.
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            // The float to integer cast saturates, which is what a share of just under 1 needs.
            cells[poor] = AliasCell { keep: (share[poor] * 2f64.powi(64)) as u64, alias: rich as u32 };
            share[rich] -= 1.0 - share[poor];
            if share[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // Cells that are left in either list have a share of 1 except for rounding, and keep their own index.
        Self { cells: cells.into() }
    }

    /// An index, drawn with one random word: its upper part chooses the cell, its lower part the side.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut SplitMix) -> usize {
        let product = u128::from(rng.next_u64()) * self.cells.len() as u128;
        let index = (product >> 64) as usize;
        let cell = self.cells[index];
        // Written without a branch: the side is a coin toss that no predictor learns.
        if (product as u64) < cell.keep { index } else { cell.alias as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_match_the_weights() {
        let weights = [4.0, 1.0, 1.0, 67.0, 10.0, 7.0, 3.0, 3.0, 0.0];
        let total: f64 = weights.iter().sum();
        let table = AliasTable::new(&weights);
        let mut rng = SplitMix::new(3, "alias");
        let mut counts = [0u32; 9];
        let draws = 200_000;
        for _ in 0..draws {
            counts[table.draw(&mut rng)] += 1;
        }
        for (count, weight) in counts.iter().zip(weights) {
            let p = weight / total;
            // Binomial: six standard deviations, below one failure in 10^8 for nine cells.
            let sigma = (f64::from(draws) * p * (1.0 - p)).sqrt();
            assert!((f64::from(*count) - f64::from(draws) * p).abs() <= 6.0 * sigma, "{counts:?}");
        }
    }

    #[test]
    fn one_outcome_and_odd_weights_do_not_panic() {
        let mut rng = SplitMix::new(3, "alias");
        assert_eq!(AliasTable::new(&[5.0]).draw(&mut rng), 0);
        for weights in [[0.0, 0.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
            assert!(AliasTable::new(&weights).draw(&mut rng) < 2);
        }
    }
}

//! P(page fails | RBER) as a table over ln RBER.

use super::{Ecc, SATURATED_RBER, greatest, least};

/// The page-failure probability of an ECC, tabulated once: a read costs a multiplication, an index and one cache line or two,
/// no power and hardly ever an exponential. One table serves all attempts of a re-read: attempt a is `a·ln(scale)` further
/// left.
///
/// ln P over ln RBER is interpolated by monotone cubic Hermite pieces with exact slopes (slopes limited as Fritsch and Carlson,
/// 1980). When built, each piece is checked at its quarters and the step halved until the error is below
/// [`FailTable::MAX_LN_ERROR`] / 4. Below the table ln P is a straight line (slope strength + 1), true to 1e-8 there; above
/// RBER 0.5 it stays what it is at 0.5. The interpolant never falls (up to rounding, 1e-12), so each further re-read is at
/// least as likely to succeed as the one before.
#[derive(Clone, Debug)]
pub struct FailTable {
    low: f64,
    per_unit: f64,
    ln_error: f64,
    /// Steps of the table, from node to node; 0 if nothing ever fails.
    steps: f64,
    /// P at the nodes: all that a read needs which is far from failing.
    p: Vec<f64>,
    nodes: Vec<TableNode>,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct TableNode {
    ln_p: f64,
    /// d ln P per table step.
    slope: f64,
}

impl FailTable {
    /// Bound on the interpolation error of ln P, hence on the relative error of P.
    pub const MAX_LN_ERROR: f64 = 1e-6;

    /// Steps in one unit of ln RBER: from this many, doubled until the error is small enough, up to that many.
    const PER_UNIT: (u32, u32) = (16, 16 * 1024);

    /// The table for pages of `codewords` codewords.
    ///
    /// # Panics
    /// If `codewords` is 0, or the ECC does not pass its own validation.
    pub fn new(ecc: &Ecc, codewords: u32) -> Self {
        assert!(codewords > 0, "a page has at least one codeword");
        ecc.validate("ecc").expect("callers validate the ECC first");
        let low = (1e-8 / (f64::from(ecc.codeword_bits()) * f64::from(codewords))).ln();
        let per_unit = f64::from(Self::PER_UNIT.0);
        let mut table = Self { low, per_unit, ln_error: 0.0, steps: 0.0, p: Vec::new(), nodes: Vec::new() };
        if ecc.strength.is_none_or(|strength| strength >= ecc.codeword_bits()) {
            return table;
        }
        loop {
            table.fill(ecc, codewords);
            table.ln_error = table.worst_error(ecc, codewords, Self::MAX_LN_ERROR / 4.0);
            if table.ln_error <= Self::MAX_LN_ERROR / 4.0 {
                return table;
            }
            table.per_unit *= 2.0;
            assert!(table.per_unit <= f64::from(Self::PER_UNIT.1), "no step suits {ecc:?}");
        }
    }

    /// ln P(page fails) at `ln_rber`, which may be anything below infinity.
    #[inline]
    pub fn ln_p_fail(&self, ln_rber: f64) -> f64 {
        match self.find(ln_rber) {
            TablePosition::Within { index, part } => self.interpolate(index, part),
            TablePosition::Below { steps } => self.nodes[0].ln_p + steps * self.nodes[0].slope,
            TablePosition::Above => self.nodes[self.nodes.len() - 1].ln_p,
            TablePosition::Never => f64::NEG_INFINITY,
        }
    }

    /// P(page fails) at `ln_rber`.
    #[inline]
    pub fn p_fail(&self, ln_rber: f64) -> f64 {
        self.ln_p_fail(ln_rber).exp()
    }

    /// True if a page read at `ln_rber` with the uniform number `u` fails: exactly `u < p_fail(ln_rber)`, but decided from the
    /// ends of the table's step, without an exponential, unless u falls between them.
    #[inline]
    pub fn fails(&self, u: f64, ln_rber: f64) -> bool {
        match self.find(ln_rber) {
            TablePosition::Within { index, .. } => {
                u < self.p[index + 1] && (u < self.p[index] || u < self.p_fail(ln_rber))
            }
            TablePosition::Below { .. } => u < self.p[0] && u < self.p_fail(ln_rber),
            TablePosition::Above => u < self.p[self.p.len() - 1],
            TablePosition::Never => false,
        }
    }

    /// A probability that no page read at `ln_rber` or less exceeds: that of the node after next.
    pub fn p_at_most(&self, ln_rber: f64) -> f64 {
        /// More than the probabilities of neighbouring nodes can be off.
        const SLACK: f64 = 1.0 + 1e-9;
        let last = match self.find(ln_rber) {
            TablePosition::Never => return 0.0,
            TablePosition::Below { .. } => 0,
            TablePosition::Within { index, .. } => (index + 2).min(self.p.len() - 1),
            TablePosition::Above => self.p.len() - 1,
        };
        self.p[last] * SLACK
    }

    /// The largest error of ln P found at the quarters of all steps when the table was built.
    pub fn ln_error(&self) -> f64 {
        self.ln_error
    }

    /// Bytes that the table occupies.
    pub fn bytes(&self) -> usize {
        size_of_val(self.p.as_slice()) + size_of_val(self.nodes.as_slice())
    }

    #[inline]
    fn find(&self, ln_rber: f64) -> TablePosition {
        debug_assert!(!ln_rber.is_nan(), "ln RBER is not a number");
        let steps = (ln_rber - self.low) * self.per_unit;
        if steps >= 0.0 && steps < self.steps {
            // Converted by way of a signed number, which takes fewer instructions.
            let index = steps as i64;
            TablePosition::Within { index: index as usize, part: steps - index as f64 }
        } else if self.nodes.is_empty() {
            TablePosition::Never
        } else if steps < 0.0 {
            TablePosition::Below { steps }
        } else {
            TablePosition::Above
        }
    }

    #[inline]
    fn interpolate(&self, index: usize, part: f64) -> f64 {
        let [TableNode { ln_p: left, slope }, TableNode { ln_p: right, slope: right_slope }] =
            [self.nodes[index], self.nodes[index + 1]];
        let rise = right - left;
        let square = 3.0 * rise - 2.0 * slope - right_slope;
        let cube = slope + right_slope - 2.0 * rise;
        let ln_p = left + part * (slope + part * (square + part * cube));
        // Rounding must not leave the step's range: the shortcut of `fails` relies on it.
        least(greatest(ln_p, left), right)
    }

    fn fill(&mut self, ecc: &Ecc, codewords: u32) {
        let steps = ((SATURATED_RBER.ln() - self.low) * self.per_unit).ceil() as usize;
        // The step shrinks a little, so that the last node is at RBER 0.5.
        self.per_unit = steps as f64 / (SATURATED_RBER.ln() - self.low);
        self.steps = steps as f64;
        let node = |i: usize| {
            let rber = self.rber_at(i as f64);
            let ln_p = ecc.log_p_page_fail(rber, codewords);
            TableNode { ln_p, slope: ecc.page_fail_slope(rber, codewords) / self.per_unit }
        };
        self.nodes = (0..=steps).map(node).collect();
        for i in 0..steps {
            // Three times the secant slope keeps a cubic piece monotone (Fritsch and Carlson, 1980).
            let limit = 3.0 * (self.nodes[i + 1].ln_p - self.nodes[i].ln_p).max(0.0);
            self.nodes[i].slope = self.nodes[i].slope.min(limit);
            self.nodes[i + 1].slope = self.nodes[i + 1].slope.min(limit);
        }
        self.p = self.nodes.iter().map(|node| node.ln_p.exp()).collect();
    }

    /// The worst error at the quarters of each step; gives up at the first above `enough`.
    fn worst_error(&self, ecc: &Ecc, codewords: u32, enough: f64) -> f64 {
        let mut worst = 0.0f64;
        // From the right: the steep bend near RBER = strength / bits is there.
        for index in (0..self.nodes.len() - 1).rev() {
            for part in [0.25, 0.5, 0.75] {
                let exact = ecc.log_p_page_fail(self.rber_at(index as f64 + part), codewords);
                worst = worst.max((self.interpolate(index, part) - exact).abs());
            }
            if worst > enough {
                break;
            }
        }
        worst
    }

    fn rber_at(&self, steps: f64) -> f64 {
        (self.low + steps / self.per_unit).exp().min(SATURATED_RBER)
    }
}

/// Position of an RBER in the table.
enum TablePosition {
    Never,
    Below { steps: f64 },
    Within { index: usize, part: f64 },
    Above,
}

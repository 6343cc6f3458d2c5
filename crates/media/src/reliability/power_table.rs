//! Tabulated x^n for one n and any x, so that the hot path calls no `powf`.

/// `x^n` from the bits of x: one factor for the binary exponent, a quadratic for each of 512 stretches of the mantissa.
/// A call costs two loads and three multiplications. Pieces meet in their ends, so the function is continuous and does not
/// fall (up to rounding) as x grows.
///
/// When built, the relative error is measured where that of a quadratic is largest; where it is above
/// [`PowerTable::MAX_ERROR`] (n above about 12) the table is given up and `powf` serves. Values that overflow are held at
/// `f64::MAX`, so that 0 times a power is 0.
#[derive(Clone, Debug)]
pub struct PowerTable {
    n: f64,
    /// 2^(e·n) for binary exponents e from -64 to 63; empty if `powf` serves.
    scales: Vec<f64>,
    /// Constant, linear and quadratic coefficient of m^n, for m in [1, 2).
    pieces: Box<[[f64; 3]; PIECES]>,
    error: f64,
}

/// 512 pieces are 12 KiB: they stay in a first-level cache.
const PIECES: usize = 512;
const PIECE_SHIFT: u32 = 52 - PIECES.trailing_zeros();
const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;
/// The least biased exponent in the table, and how many there are.
const LEAST: u64 = 1023 - 64;
const SCALES: i32 = 128;

impl PowerTable {
    /// Bound on the relative error.
    pub const MAX_ERROR: f64 = 1e-7;

    /// The table for exponent `n`.
    ///
    /// # Panics
    /// If `n` is negative or not finite, which the validation of rates refuses.
    pub fn new(n: f64) -> Self {
        assert!(n.is_finite() && n >= 0.0, "exponent {n}");
        let scales = (0..SCALES).map(|index| (f64::from(index - 64) * n).exp2()).collect();
        let mut pieces = Box::new([[0.0; 3]; PIECES]);
        for (index, piece) in pieces.iter_mut().enumerate() {
            let points = [0.0, 0.5, 1.0].map(|part| mantissa(index, part));
            *piece = quadratic(points, points.map(|m| m.powf(n)));
        }
        let mut table = Self { n, scales, pieces, error: 0.0 };
        table.error = table.worst_error();
        if table.error.is_nan() || table.error > Self::MAX_ERROR {
            table.scales.clear();
            table.error = 0.0;
        }
        table
    }

    /// `x^n`, for x >= 0.
    #[inline]
    pub fn at(&self, x: f64) -> f64 {
        debug_assert!(x >= 0.0, "{x}^{}", self.n);
        let bits = x.to_bits();
        let scale = (bits >> 52).wrapping_sub(LEAST) as usize;
        match self.scales.get(scale) {
            Some(scale) => {
                let [c0, c1, c2] = self.pieces[((bits & MANTISSA) >> PIECE_SHIFT) as usize];
                let m = f64::from_bits((bits & MANTISSA) | ONE);
                scale * (c0 + m * (c1 + m * c2))
            }
            None => self.exactly(x),
        }
    }

    /// The largest relative error found when the table was built; 0 if `powf` serves.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The exponent.
    pub fn exponent(&self) -> f64 {
        self.n
    }

    /// True if the power is too steep for a table, and `powf` serves.
    pub fn is_exact(&self) -> bool {
        self.scales.is_empty()
    }

    #[cold]
    #[inline(never)]
    fn exactly(&self, x: f64) -> f64 {
        if x > 0.0 {
            x.powf(self.n).min(f64::MAX)
        } else if self.n == 0.0 {
            1.0
        } else {
            0.0
        }
    }

    /// The error of a quadratic through the ends and the middle is largest at 1/2 ± √3/6 of its piece (up to a fourth
    /// derivative, which is a thousandth of it here).
    fn worst_error(&self) -> f64 {
        let spots = (0..PIECES).flat_map(|index| [0.211_325, 0.788_675].map(|part| mantissa(index, part)));
        spots.map(|m| (self.at(m) / m.powf(self.n) - 1.0).abs()).fold(0.0, |worst, error| {
            // `f64::max` would drop a NaN.
            if error > worst || error.is_nan() { error } else { worst }
        })
    }
}

/// Mantissa in [1, 2] at the fraction `part` of piece `index`.
fn mantissa(index: usize, part: f64) -> f64 {
    1.0 + (index as f64 + part) / PIECES as f64
}

/// The quadratic through three points (Newton's divided differences), as coefficients of 1, m, m². Their rounding shows as about
/// 1e-16 times the largest of them.
pub(crate) fn quadratic([a, b, c]: [f64; 3], [fa, fb, fc]: [f64; 3]) -> [f64; 3] {
    let (ab, bc) = ((fb - fa) / (b - a), (fc - fb) / (c - b));
    let abc = (bc - ab) / (c - a);
    [fa - a * ab + a * b * abc, ab - (a + b) * abc, abc]
}

//! Division by a number known only at run time, by one multiplication.

/// Divides 32-bit numbers by a fixed divisor with one multiplication and no branch: `⌊x / d⌋ = ⌊(x + 1) · m / 2^64⌋` with
/// `m = ⌊(2^64 - 1) / d⌋`.
///
/// Exact for all 32-bit `x` and `d ≥ 1`: `m` is less than `2^64 / d` by at most 1, so that `(x + 1) · m / 2^64` is less than `(x + 1) / d`, and by at
/// most 2^-32. Where `d` divides `x + 1`, that takes the quotient down by one, to that of `x`; elsewhere the fraction of `(x + 1) / d` is at least
/// `1 / d`, which is more than 2^-32, and the quotients of `x` and `x + 1` are the same. (Rounded up, the factor of `d = 1` would not fit in a word:
/// Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019.)
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastDivider {
    divisor: u32,
    magic: u64,
}

impl FastDivider {
    /// # Panics
    /// If `divisor` is zero.
    pub(crate) const fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "division by zero");
        Self { divisor, magic: u64::MAX / divisor as u64 }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "at most `x`")]
    pub(crate) const fn quotient(self, x: u32) -> u32 {
        (((x as u64 + 1) as u128 * self.magic as u128) >> 64) as u32
    }

    #[inline]
    pub(crate) const fn divide(self, x: u32) -> (u32, u32) {
        let quotient = self.quotient(x);
        (quotient, x - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::FastDivider;

    proptest::proptest! {
        #[test]
        fn agrees_with_division(x: u32, d in 1u32..) {
            proptest::prop_assert_eq!(FastDivider::new(d).divide(x), (x / d, x % d));
        }
    }

    #[test]
    fn agrees_at_the_edges() {
        for d in [1, 2, 3, 7, 16_384, 65_535, u32::MAX - 1, u32::MAX] {
            for x in [0, 1, d - 1, d, d.wrapping_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(FastDivider::new(d).divide(x), (x / d, x % d), "{x} / {d}");
            }
        }
    }
}

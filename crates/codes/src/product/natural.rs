//! Natural numbers of any size, with the operations that exact counting needs.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

/// A natural number of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalNumber {
    /// Digits in base 2^64, least significant first; the last is not zero, so that zero has none.
    limbs: Vec<u64>,
}

impl NaturalNumber {
    pub(crate) const ZERO: Self = Self { limbs: Vec::new() };

    pub(crate) fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Adds `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.limbs.len() < other.limbs.len() {
            self.limbs.resize(other.limbs.len(), 0);
        }
        let mut carry = false;
        for (i, limb) in self.limbs.iter_mut().enumerate() {
            let (sum, first) = limb.overflowing_add(other.limbs.get(i).copied().unwrap_or(0));
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, first | second);
        }
        if carry {
            self.limbs.push(1);
        }
    }

    /// Difference to `other`, which is not larger.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut result = self.clone();
        let mut borrow = false;
        for (i, limb) in result.limbs.iter_mut().enumerate() {
            let (difference, first) = limb.overflowing_sub(other.limbs.get(i).copied().unwrap_or(0));
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (difference, first | second);
        }
        assert!(!borrow && other.limbs.len() <= self.limbs.len(), "natural numbers are not negative");
        result.trimmed()
    }

    /// Product with `other`.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut limbs = vec![0u64; self.limbs.len() + other.limbs.len()];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.limbs.iter().enumerate() {
                // (2^64 − 1)^2 + 2·(2^64 − 1) = 2^128 − 1: it always fits.
                let sum = u128::from(a) * u128::from(b) + u128::from(limbs[i + j]) + u128::from(carry);
                limbs[i + j] = sum as u64;
                carry = (sum >> 64) as u64;
            }
            limbs[i + other.limbs.len()] = carry;
        }
        Self { limbs }.trimmed()
    }

    /// Power with `exponent`.
    pub(crate) fn power(&self, exponent: usize) -> Self {
        (0..exponent).fold(Self::from(1), |product, _| product.times(self))
    }

    /// Quotient and remainder of a division by `divisor`.
    pub(crate) fn divided(&self, divisor: u64) -> (Self, u64) {
        let mut limbs = self.limbs.clone();
        let mut remainder = 0;
        for limb in limbs.iter_mut().rev() {
            let value = u128::from(remainder) << 64 | u128::from(*limb);
            *limb = (value / u128::from(divisor)) as u64;
            remainder = (value % u128::from(divisor)) as u64;
        }
        (Self { limbs }.trimmed(), remainder)
    }

    /// Significand and power of two whose product it is, to 2^-52 relative.
    fn significand(&self) -> (f64, i32) {
        let mut top = self.limbs.iter().rev();
        let mut next = || top.next().copied().unwrap_or(0) as f64;
        let significand = next() + next() / 2f64.powi(64);
        let limbs = i32::try_from(self.limbs.len()).expect("a number of 16 GiB is never made");
        (significand, 64 * (limbs - 1).max(0))
    }

    /// Ratio to `other`, which is not zero, with a relative error of 2^-50.
    pub fn ratio(&self, other: &Self) -> f64 {
        let ((a, i), (b, j)) = (self.significand(), other.significand());
        // Two steps: the power alone may not be a double where the ratio is.
        a / b * 2f64.powi((i - j) / 2) * 2f64.powi((i - j) - (i - j) / 2)
    }

    /// The natural logarithm, to 1e-15 absolute or relative; of zero it is −∞.
    pub fn ln(&self) -> f64 {
        let (significand, exponent) = self.significand();
        significand.ln() + f64::from(exponent) * std::f64::consts::LN_2
    }

    /// The value as a double, to 2^-52 relative; infinite above 2^1024.
    pub fn to_f64(&self) -> f64 {
        self.ratio(&Self::from(1))
    }

    /// The value, where it is below 2^128.
    pub fn to_u128(&self) -> Option<u128> {
        match self.limbs[..] {
            [] => Some(0),
            [low] => Some(u128::from(low)),
            [low, high] => Some(u128::from(high) << 64 | u128::from(low)),
            _ => None,
        }
    }

    fn trimmed(mut self) -> Self {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self
    }
}

impl From<u64> for NaturalNumber {
    fn from(value: u64) -> Self {
        Self { limbs: vec![value] }.trimmed()
    }
}

impl Ord for NaturalNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

impl PartialOrd for NaturalNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for NaturalNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The largest power of ten in a limb.
        const CHUNK: u64 = 10_000_000_000_000_000_000;
        let mut chunks = Vec::new();
        let mut quotient = self.clone();
        while !quotient.is_zero() {
            let (higher, chunk) = quotient.divided(CHUNK);
            chunks.push(chunk);
            quotient = higher;
        }
        let mut digits = chunks.pop().unwrap_or(0).to_string();
        for chunk in chunks.iter().rev() {
            write!(digits, "{chunk:019}")?;
        }
        formatter.pad_integral(true, "", &digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

    fn natural(value: u128) -> NaturalNumber {
        NaturalNumber { limbs: vec![value as u64, (value >> 64) as u64] }.trimmed()
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_128_bits(a in prop::num::u128::ANY, b in prop::num::u128::ANY, shift in 0u32..128, d in 1u64..) {
            let (a, b) = (a >> 1, b >> shift >> 1);
            let (small, large) = (a.min(b), a.max(b));
            let mut sum = natural(a);
            sum.add(&natural(b));
            prop_assert_eq!(sum, natural(a + b));
            prop_assert_eq!(natural(large).minus(&natural(small)), natural(large - small));
            prop_assert_eq!(natural(a).cmp(&natural(b)), a.cmp(&b));
            prop_assert_eq!(natural(a).divided(d), (natural(a / u128::from(d)), (a % u128::from(d)) as u64));
            prop_assert_eq!(natural(a).to_string(), a.to_string());
            prop_assert_eq!(natural(a).to_u128(), Some(a));
            let (x, y) = (a >> 64, b >> 64);
            prop_assert_eq!(natural(x).times(&natural(y)), natural(x * y));
            // Wider: (x·2^64 + x)·y, put together from both ends.
            let wide = natural(x).times(&natural(1 << 64)).times(&natural(y));
            prop_assert_eq!(wide.divided(1 << 63).0.divided(2).0, natural(x * y));
            prop_assert!((natural(a).to_f64() / a as f64 - 1.0).abs() < 1e-15 || a == 0);
            prop_assert!((natural(a).ln() - (a as f64).ln()).abs() < 1e-13 || a == 0);
        }
    }

    #[test]
    fn numbers_beyond_doubles_have_ratios_and_logarithms() {
        let huge = NaturalNumber::from(10).power(400);
        assert_eq!(huge.to_string(), format!("1{}", "0".repeat(400)));
        assert!((huge.ratio(&NaturalNumber::from(10).power(399)) - 10.0).abs() < 1e-14);
        assert!((huge.ln() - 400.0 * 10f64.ln()).abs() < 1e-12);
        assert!(huge.to_f64().is_infinite() && huge.to_u128().is_none());
        assert_eq!((NaturalNumber::ZERO.to_string(), NaturalNumber::ZERO.to_f64()), ("0".to_owned(), 0.0));
        assert_eq!(huge.divided(7).1, 4, "10^400 = 3^400 = 3^4 = 4 modulo 7");
    }
}

//! The error-correcting code of a codeword, as the bits it can correct.

use super::binomial::{BinomialDistribution, BinomialTails, ln_any_of, ln_any_of_given};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

// All probabilities are natural logarithms, `-inf` for what cannot happen; their relative accuracy is 1e-12 or better at any size.
// Every `rber` is within 0..=1 errors per bit.
/// A bounded-distance decoder: it corrects up to `strength` wrong bits of a codeword and detects up to twice as many (mSAPL, Equation 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ecc {
    /// Bits of data in a codeword. Default: 4096 (512 bytes, which HRM's Figure 5 implies).
    pub data_bits: u32,
    /// Bits of parity in a codeword, which err like data bits. Default: 0, as HRM counts. A BCH code of strength t over
    /// 512 bytes has 13·t (Diff-RAID's 4148-bit codewords: 52).
    pub parity_bits: u32,
    /// Wrong bits that are corrected in each codeword; absent: any number (∞-bit ECC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<u32>,
}

impl Default for Ecc {
    fn default() -> Self {
        Self { data_bits: 4096, parity_bits: 0, strength: None }
    }
}

impl Ecc {
    /// Longest codeword that is accepted: 128 KiB.
    pub const MAX_CODEWORD_BITS: u32 = 1 << 20;

    /// A binary BCH code over GF(2^m) for `data_bits` that corrects `strength` bits: `m·strength` parity bits, with the least
    /// m for which the codeword fits 2^m − 1 bits. `None` beyond [`Ecc::MAX_CODEWORD_BITS`].
    pub fn bch(data_bits: u32, strength: u32) -> Option<Self> {
        (3..=20u32).find_map(|m| {
            let parity_bits = m.checked_mul(strength)?;
            let fits = data_bits.checked_add(parity_bits)? < 1 << m;
            fits.then_some(Self { data_bits, parity_bits, strength: Some(strength) })
        })
    }

    /// Checks the code; `field` is its dotted name, such as `device.ecc`.
    ///
    /// # Errors
    /// An empty or overlong codeword, or a strength beyond it.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let bits = u64::from(self.data_bits) + u64::from(self.parity_bits);
        if self.data_bits == 0 {
            return Err(ConfigError::new(&format!("{field}.data_bits"), 0, "must be at least 1 bit"));
        }
        if bits > u64::from(Self::MAX_CODEWORD_BITS) {
            let limit = format!(
                "with parity_bits = {} the codeword has {bits} bits; at most {} are supported",
                self.parity_bits,
                Self::MAX_CODEWORD_BITS
            );
            return Err(ConfigError::new(&format!("{field}.data_bits"), self.data_bits, limit));
        }
        match self.strength {
            Some(strength) if u64::from(strength) > bits => {
                let limit = format!("must be at most the {bits} bits of a codeword; leave it out for ∞");
                Err(ConfigError::new(&format!("{field}.strength"), strength, limit))
            }
            _ => Ok(()),
        }
    }

    /// Bits of a codeword, data and parity.
    pub fn codeword_bits(&self) -> u32 {
        self.data_bits + self.parity_bits
    }

    /// The number of wrong bits of one codeword at `rber`.
    pub fn errors(&self, rber: f64) -> BinomialDistribution {
        BinomialDistribution { trials: self.codeword_bits(), p: rber }
    }

    /// ln P(more wrong bits in a codeword than are corrected): 1 − CPER of mSAPL's Equation 2.
    pub fn log_p_uncorrectable(&self, rber: f64) -> f64 {
        self.tails(rber).ln_more
    }

    /// ln P(a codeword is corrected): CPER of mSAPL's Equation 2.
    pub fn log_p_correctable(&self, rber: f64) -> f64 {
        self.tails(rber).ln_at_most
    }

    /// ln P(a codeword is uncorrectable and known to be): strength + 1 to 2·strength wrong bits, DPER of mSAPL's Equation 3.
    pub fn log_p_detected(&self, rber: f64) -> f64 {
        match self.strength {
            None => f64::NEG_INFINITY,
            Some(strength) => {
                self.errors(rber).ln_range(strength.saturating_add(1)..=strength.saturating_mul(2))
            }
        }
    }

    /// ln P(a codeword has more than 2·strength wrong bits, which the code alone does not notice).
    pub fn log_p_undetected(&self, rber: f64) -> f64 {
        match self.strength {
            None => f64::NEG_INFINITY,
            Some(strength) => self.errors(rber).tails(strength.saturating_mul(2)).ln_more,
        }
    }

    /// ln P(at least one of the `codewords` of a page is uncorrectable).
    pub fn log_p_page_fail(&self, rber: f64, codewords: u32) -> f64 {
        let BinomialTails { ln_at_most, ln_more } = self.tails(rber);
        if codewords == 0 { f64::NEG_INFINITY } else { ln_any_of_given(ln_more, ln_at_most, codewords) }
    }

    /// ln P(at least one of the `codewords` of a page has more errors than are detected).
    pub fn log_p_page_undetected(&self, rber: f64, codewords: u32) -> f64 {
        ln_any_of(self.log_p_undetected(rber), codewords)
    }

    /// d ln P(page fails) / d ln rber: `m·(1−P)^(m−1)·(t+1)·P(X = t+1) / P(page fails)`.
    pub(super) fn page_fail_slope(&self, rber: f64, codewords: u32) -> f64 {
        let Some(strength) = self.strength else { return 0.0 };
        let ok = f64::from(codewords - 1) * self.log_p_correctable(rber);
        let edge = self.errors(rber).ln_pmf(strength + 1);
        let ln_slope = ok + edge - self.log_p_page_fail(rber, codewords);
        f64::from(codewords) * (f64::from(strength) + 1.0) * ln_slope.exp()
    }

    fn tails(&self, rber: f64) -> BinomialTails {
        match self.strength {
            None => BinomialTails { ln_at_most: 0.0, ln_more: f64::NEG_INFINITY },
            Some(strength) => self.errors(rber).tails(strength),
        }
    }
}

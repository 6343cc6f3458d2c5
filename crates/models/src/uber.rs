//! Uncorrectable bit error rate (UBER): failed codewords spread over the user bits that they hold.

use crate::DomainError;
use crate::error::within;
use crate::page::checked;
use crate::tail::{FixedTail, TrialProbability};
use outlast_media::reliability::Ecc;

/// A codeword as Mielke et al. count it: `UBER = P(more than E of n bits are wrong) / user bits`.
///
/// Source: Mielke et al., "Bit Error Rate in NAND Flash Memories", IRPS 2008, whose equation Diff-RAID uses. With 512-byte
/// sectors and 4-bit BCH, n = 4096 + 4·13 = 4148: that reproduces the 10K column of Diff-RAID's Table 1 within 3 % where it
/// is above the noise of the original's arithmetic (about 1e-18).
#[derive(Clone, Debug)]
pub struct SectorCode {
    tail: FixedTail,
    user_bits: f64,
}

impl SectorCode {
    /// Codewords of `bits` bits (user data and parity), of which `strength` can be corrected, for `user_bits` of user data.
    ///
    /// # Errors
    /// An empty codeword or one beyond 2^20 bits, a strength beyond it, user data beyond it.
    pub fn new(bits: u32, strength: u32, user_bits: u32) -> Result<Self, DomainError> {
        let most = f64::from(Ecc::MAX_CODEWORD_BITS);
        within("n", bits.into(), "1 to 1048576 bits", |bits| (1.0..=most).contains(&bits))?;
        within("k", strength.into(), "at most the bits of a codeword, n", |k| k <= f64::from(bits))?;
        within("user_bits", user_bits.into(), "1 to the bits of a codeword, n", |user| {
            (1.0..=f64::from(bits)).contains(&user)
        })?;
        Ok(Self { tail: FixedTail::new(bits, strength), user_bits: user_bits.into() })
    }

    /// UBER at `rber` wrong bits per bit; 0 if it is below 1e-308, see [`SectorCode::ln_uber`].
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn uber(&self, rber: f64) -> Result<f64, DomainError> {
        let rber = checked(rber)?;
        if rber > 0.0 && rber < 1.0 && self.tail.possible() {
            let side = self.tail.side(&TrialProbability::new(rber));
            return Ok((if side.upper { side.value() } else { 1.0 - side.value() }) / self.user_bits);
        }
        Ok(self.tail.ln_both(rber).0.exp() / self.user_bits)
    }

    /// ln of the UBER, to any size.
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn ln_uber(&self, rber: f64) -> Result<f64, DomainError> {
        Ok(self.tail.ln_both(checked(rber)?).0 - self.user_bits.ln())
    }
}

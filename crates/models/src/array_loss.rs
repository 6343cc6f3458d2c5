//! Data loss of arrays while they are rebuilt: unreadable data on the surviving devices, and a second failure.

use crate::DomainError;
use crate::error::{not_negative, positive, within};
use crate::logs::{ln_add, ln_any_weighted, ln_of_hazard};
use crate::page::PageOutcome;
use crate::uper::ln_stripe_loss;
use outlast_media::reliability::binomial::ln_1m_exp;

/// The device that has failed, by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedDevice {
    /// The one with the highest age: the usual case, since it reaches its erasure limit first.
    Oldest,
    /// Any device with equal probability: the mean over all.
    Any,
}

/// ln of the data loss probability (DLP), the probability that at least one bit is unreadable while the failed device is rebuilt from
/// survivors with uncorrectable bit error rates `e^ln_uber` of which `bits` are read each:
/// `1 − Π_i (1 − UBER_i)^{bits_i}` (Diff-RAID, section 4).
///
/// # Errors
/// No survivor, numbers that do not match up, a rate above 1, negative bits.
pub fn ln_data_loss(ln_uber: &[f64], bits: &[f64]) -> Result<f64, DomainError> {
    within("devices", ln_uber.len() as f64, "at least 1, and as many as bits are given for", |count| {
        count >= 1.0 && ln_uber.len() == bits.len()
    })?;
    for (&ln_uber, &bits) in ln_uber.iter().zip(bits) {
        ln_probability("ln_uber", ln_uber)?;
        not_negative("bits", bits)?;
    }
    Ok(ln_any_weighted(ln_uber.iter().zip(bits).map(|(&ln, &bits)| (ln, ln_1m_exp(ln), bits))))
}

/// ln of the DLP of an array when one device of it has failed, by [`ln_data_loss`] over the others. `ln_uber` has one rate for
/// each device, the failed one included; the oldest is the one with the highest. `bits` are read of each survivor.
///
/// # Errors
/// Fewer than two devices, or as [`ln_data_loss`].
pub fn ln_data_loss_of_array(ln_uber: &[f64], bits: f64, failed: FailedDevice) -> Result<f64, DomainError> {
    within("devices", ln_uber.len() as f64, "at least 2", |count| count >= 2.0)?;
    let without = |index: usize| {
        let survivors = [&ln_uber[..index], &ln_uber[index + 1..]].concat();
        ln_data_loss(&survivors, &vec![bits; survivors.len()])
    };
    match failed {
        FailedDevice::Oldest => {
            without((1..ln_uber.len()).fold(0, |top, i| if ln_uber[i] > ln_uber[top] { i } else { top }))
        }
        FailedDevice::Any => {
            let mut sum = f64::NEG_INFINITY;
            for index in 0..ln_uber.len() {
                sum = ln_add(sum, without(index)?);
            }
            Ok((sum - (ln_uber.len() as f64).ln()).min(0.0))
        }
    }
}

/// ln of the DLP when the array still has `spare_parities` beyond what the failed devices take: each of `stripes` stripes has
/// a chunk of `chunk_bits` on each survivor, which is unreadable with probability `1 − (1 − UBER_i)^chunk_bits`, and a
/// stripe is lost if more than `spare_parities` chunks are. With no spare parity it is [`ln_data_loss`] of all bits. Chunks are
/// taken to fail independently.
///
/// # Errors
/// No survivor or no more of them than spare parities, a rate above 1, a size not above 0.
pub fn ln_data_loss_with_parity(
    ln_uber: &[f64],
    chunk_bits: f64,
    stripes: f64,
    spare_parities: u32,
) -> Result<f64, DomainError> {
    positive("chunk_bits", chunk_bits)?;
    positive("stripes", stripes)?;
    let chunk = |&ln: &f64| {
        ln_probability("ln_uber", ln)?;
        let ln_good = chunk_bits * ln_1m_exp(ln);
        let ln_bad = ln_any_weighted([(ln, ln_1m_exp(ln), chunk_bits)]);
        Ok(PageOutcome {
            ln_correct: ln_good,
            ln_detected: ln_bad,
            ln_undetected: f64::NEG_INFINITY,
            ln_noticed: 0.0,
        })
    };
    let chunks = ln_uber.iter().map(chunk).collect::<Result<Vec<_>, DomainError>>()?;
    let ln_stripe = ln_stripe_loss(&chunks, spare_parities)?;
    Ok(ln_any_weighted([(ln_stripe, ln_1m_exp(ln_stripe), stripes)]))
}

/// ln of the probability of a read failure, `P_rf = 1 − (1 − UBER)^{S_read}` with `S_read` in bits (Reparo, Equation 2).
///
/// # Errors
/// A rate above 1, negative bits.
pub fn ln_read_failure(ln_uber: f64, bits_read: f64) -> Result<f64, DomainError> {
    ln_data_loss(&[ln_uber], &[bits_read])
}

/// Expected number of second failures during a rebuild, which Reparo's Equation 1 calls the probability of a double failure:
/// `P_2 = MTTR·(n − 1) / MTTF`, both times in the same unit. Beyond about 0.1 it overstates; see [`ln_double_failure`].
///
/// # Errors
/// A time that is not above 0, fewer than two devices.
pub fn expected_second_failures(mttr: f64, mttf: f64, devices: f64) -> Result<f64, DomainError> {
    let devices = within("devices", devices, "at least 2", |count| count >= 2.0)?;
    Ok(not_negative("mttr", mttr)? * (devices - 1.0) / positive("mttf", mttf)?)
}

/// ln of the probability of at least one further failure during a rebuild, `1 − e^−P_2` with `P_2` of Equation 1: failures of
/// n − 1 devices at constant rates 1/MTTF during MTTR. Equation 1 is its first term.
///
/// # Errors
/// As [`expected_second_failures`].
pub fn ln_double_failure(mttr: f64, mttf: f64, devices: f64) -> Result<f64, DomainError> {
    Ok(ln_of_hazard(expected_second_failures(mttr, mttf, devices)?.ln()))
}

/// ln of the probability that at least one of `count` like parts fails, each with probability `p`:
/// `Σ_{k≥1} C(n,k)·p^k·(1−p)^(n−k) = 1 − (1 − p)^n`. With dies as parts: an SSD loses a die (Reparo, footnote 2, Figure 1b). With SSDs:
/// a group must be rebuilt (footnote 4, Figure 3).
///
/// # Errors
/// `p` is not a probability, `count` is negative.
pub fn ln_any_failure(count: f64, p: f64) -> Result<f64, DomainError> {
    within("p", p, "within 0 to 1", |p| (0.0..=1.0).contains(&p))?;
    not_negative("count", count)?;
    Ok(ln_any_weighted([(p.ln(), (-p).ln_1p(), count)]))
}

/// `ln` if it is the logarithm of a probability.
fn ln_probability(argument: &'static str, ln: f64) -> Result<f64, DomainError> {
    if ln <= 0.0 {
        Ok(ln)
    } else {
        Err(DomainError { argument, value: ln, domain: "the logarithm of a probability" })
    }
}

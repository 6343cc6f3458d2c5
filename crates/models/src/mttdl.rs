//! Mean time to data loss (MTTDL) by Markov chains.
//!
//! All rates are per the same unit of time, and constant; times come out in that unit. MTTDL is the mean of a
//! distribution that is nearly exponential when repairs are much faster than failures: the probability of loss within a
//! much shorter time T is then T / MTTDL.

use crate::DomainError;
use crate::chain::LossChain;
use crate::error::{not_negative, positive, within};

/// An array that survives the failure of any `parities` devices, with latent errors, scrubbing and repair.
///
/// States are the number of failed devices f = 0 … m, and whether some surviving device has a latent error. Data are lost when
/// one more device fails in state m; when a critical state meets a latent error, whichever comes first; and when reading for
/// a rebuild in state m fails. Rebuilding from a state below m, like scrubbing, repairs a latent error on its way. Of several
/// latent errors one is counted, and with fewer than m failed devices they harm nothing: two in one stripe are neglected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParityArray {
    /// Devices, parity included.
    pub devices: u32,
    /// Failed devices that it survives, m.
    pub parities: u32,
    /// Failures of one device: 1 / MTTF.
    pub failure_rate: f64,
    /// Repairs: 1 / MTTR.
    pub repair_rate: f64,
    /// True if failed devices are repaired at the same time, each at its own rate; false if one after the other.
    pub parallel_repair: bool,
    /// Latent errors that appear on one device; 0 for none.
    pub latent_rate: f64,
    /// Scrubs that repair them: 1 / mean time until one is found.
    pub scrub_rate: f64,
    /// Probability that the rebuild of the last failed device that can be rebuilt meets an unreadable sector, such as
    /// Reparo's Equation 2 gives; latent errors of `latent_rate` not included.
    pub read_failure: f64,
}

impl ParityArray {
    /// Mean time to data loss of an array that starts whole.
    ///
    /// # Errors
    /// Fewer than two devices or more than 4096, no data device, more than 256 parities, a failure rate that is not above
    /// 0, another rate that is negative, a probability beyond 0..=1.
    pub fn mean_time_to_data_loss(&self) -> Result<f64, DomainError> {
        self.chain()?.mean_time_to_loss()
    }

    /// The chain of its states, which begins with all devices whole.
    ///
    /// # Errors
    /// As [`ParityArray::mean_time_to_data_loss`].
    pub fn chain(&self) -> Result<LossChain, DomainError> {
        self.check()?;
        let (devices, parities) = (f64::from(self.devices), self.parities as usize);
        let states = 2 * parities + 1;
        // (f, clean) is state 2f; (f, latent) is state 2f + 1, for f < m.
        let (mut rates, mut loss) = (vec![vec![0.0; states]; states], vec![0.0; states]);
        for failed in 0..=parities {
            let left = devices - failed as f64;
            let repairs = self.repair_rate
                * if self.parallel_repair { failed as f64 } else { f64::from(u8::from(failed > 0)) };
            let (clean, latent) = (2 * failed, 2 * failed + 1);
            if failed == parities {
                loss[clean] = left * (self.failure_rate + self.latent_rate) + repairs * self.read_failure;
                if failed > 0 {
                    rates[clean][clean - 2] = repairs * (1.0 - self.read_failure);
                }
                continue;
            }
            rates[clean][clean + 2] = left * self.failure_rate;
            rates[clean][latent] = left * self.latent_rate;
            // The device with the latent error may be the next to fail.
            rates[latent][clean + 2] = self.failure_rate;
            let other = (left - 1.0) * self.failure_rate;
            if failed + 1 == parities {
                loss[latent] = other;
            } else {
                rates[latent][latent + 2] = other;
            }
            rates[latent][clean] = self.scrub_rate;
            if failed > 0 {
                rates[clean][clean - 2] = repairs;
                rates[latent][clean - 2] = repairs;
            }
        }
        LossChain::new(rates, loss)
    }

    fn check(&self) -> Result<(), DomainError> {
        within("devices", self.devices.into(), "2 to 4096", |count| (2.0..=4096.0).contains(&count))?;
        within("parities", self.parities.into(), "at most 256, and less than the devices", |count| {
            count <= 256.0 && count < f64::from(self.devices)
        })?;
        positive("failure_rate", self.failure_rate)?;
        not_negative("repair_rate", self.repair_rate)?;
        not_negative("latent_rate", self.latent_rate)?;
        not_negative("scrub_rate", self.scrub_rate)?;
        within("read_failure", self.read_failure, "within 0 to 1", |p| (0.0..=1.0).contains(&p))?;
        Ok(())
    }
}

/// Mean time from state 0 to loss of a Markov chain with `rates[i][j]` from state i to j (the diagonal is ignored) and
/// `loss[i]` from state i to loss.
///
/// States are eliminated from the last (Grassmann, Taksar, Heyman, "Regenerative Analysis and Steady State Distributions for
/// Markov Chains", Operations Research 33(5), 1985): sums, products and quotients of positive numbers only, so that the
/// result has nearly all digits however stiff the chain is.
///
/// # Errors
/// A negative rate, a matrix that is not square, or loss that is not certain to come.
pub fn mean_time_to_loss(mut rates: Vec<Vec<f64>>, mut loss: Vec<f64>) -> Result<f64, DomainError> {
    let states = loss.len();
    within("states", states as f64, "at least 1, with a rate from each to each", |count| {
        count >= 1.0 && rates.len() == states && rates.iter().all(|row| row.len() == states)
    })?;
    for &rate in rates.iter().flatten().chain(&loss) {
        not_negative("rate", rate)?;
    }
    // Mean time in each remaining state, and in those eliminated into it, times the rate of leaving it.
    let mut weight = vec![1.0; states];
    for last in (1..states).rev() {
        let (remaining, eliminated) = rates.split_at_mut(last);
        let out = &eliminated[0];
        let leaving: f64 = loss[last] + out[..last].iter().sum::<f64>();
        for (state, row) in remaining.iter_mut().enumerate() {
            if row[last] == 0.0 {
                continue;
            }
            let share = row[last] / certain(leaving)?;
            // A return to the state itself is no departure; it lands on the diagonal, which is ignored.
            for (rate, through) in row.iter_mut().zip(&out[..last]) {
                *rate += share * through;
            }
            loss[state] += share * loss[last];
            weight[state] += share * weight[last];
        }
    }
    Ok(weight[0] / certain(loss[0])?)
}

/// `rate` if it is above 0: a state that is never left makes loss uncertain.
fn certain(rate: f64) -> Result<f64, DomainError> {
    within("rate of leaving a state", rate, "above 0: data loss has to come some day", |rate| rate > 0.0)
}

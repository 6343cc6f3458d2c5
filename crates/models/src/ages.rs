//! Ages of the devices of an array with uneven parity (Diff-RAID), for any number of parities.
//!
//! Age counts erase cycles per block, wear within a device being even. Positions are ordered by age, the oldest first; a
//! device that reaches its limit is replaced by a new one, which comes last while all others move up by one.
//!
//! **Rates.** With m parities to a stripe of n devices, device i holding parity in the share `q_i` of the stripes
//! (`Σ q_i = m`), a small random write hits a data chunk and all m parities of its stripe. A stripe's parity chunk is therefore
//! written n − m times as often as one of its data chunks, and device i at a rate in proportion to
//! `q_i·(n − m) + (1 − q_i)`. For m = 1 this is Diff-RAID's Equation 1.
//!
//! **Steady state.** Let `t_1 ≥ … ≥ t_n` be the rates by position. A device passes positions n, n−1, …, 1 during as many periods
//! between replacements, so in the long run the period B (in cycles of position 1, with `t_1 = 1`) satisfies
//! `B·(t_1 + … + t_n) = A`, A being the limit, and a device that moves up to position j has aged `B·(t_{j+1} + … + t_n)`. How
//! often devices are replaced therefore depends on the sum of the rates only, which is m + 1 device writes for each host write
//! however parity is placed. [`converges`] says if the steady state is approached.

use crate::DomainError;
use crate::error::{positive, within};

/// Chunk writes of each device for each chunk that the host writes, from the percentage of stripes in which each device
/// holds parity (100·m in all; (80, 5, 5, 5, 5) in Diff-RAID's notation). The share `full_stripes` of the host's chunks
/// comes in full-stripe writes, which write every device once for n − m chunks; the remainder in small random writes.
///
/// `rate_i = (1 − f)·(q_i + (1 − q_i)/(n − m)) + f/(n − m)`; ratios of these are Diff-RAID's Equation 1 for m = 1, f = 0.
///
/// # Errors
/// No data device, a percentage outside 0..=100, a sum that is not 100·m (to 1e-9), a share outside 0..=1.
pub fn aging_rates(
    parity_percent: &[f64],
    parities: u32,
    full_stripes: f64,
) -> Result<Vec<f64>, DomainError> {
    let devices = parity_percent.len() as f64;
    let data = devices - f64::from(parities);
    within("parities", parities.into(), "less than the number of devices", |_| data >= 1.0)?;
    within("full_stripes", full_stripes, "within 0 to 1", |share| (0.0..=1.0).contains(&share))?;
    for &percent in parity_percent {
        within("parity_percent", percent, "within 0 to 100 for each device", |p| (0.0..=100.0).contains(&p))?;
    }
    let sum: f64 = parity_percent.iter().sum();
    let all = 100.0 * f64::from(parities);
    within("sum of parity_percent", sum, "100 for each parity", |sum| {
        (sum - all).abs() <= 1e-9 * all.max(1.0)
    })?;
    let rate = |percent: &f64| {
        let parity = percent / 100.0;
        (1.0 - full_stripes) * (parity + (1.0 - parity) / data) + full_stripes / data
    };
    Ok(parity_percent.iter().map(rate).collect())
}

/// Ages by position just after a replacement, in the steady state: `A·(t_{j+1} + … + t_n) / (t_1 + … + t_n)`, the last one 0.
/// Any aging vector will do, measured or computed; only its ratios count.
///
/// Source: Diff-RAID, section 3.3; (80, 5, 5, 5, 5) and 10 000 cycles give 5750, 4312.5, 2875, 1437.5, 0.
///
/// # Errors
/// No device, a rate that is negative or above the one before it, a first rate or limit that is not above 0.
pub fn steady_ages(rates: &[f64], limit: f64) -> Result<Vec<f64>, DomainError> {
    ordered(rates)?;
    positive("limit", limit)?;
    let all: f64 = rates.iter().sum();
    let mut ages = vec![0.0; rates.len()];
    // Summed from the last position on, so that nothing cancels.
    let mut behind = 0.0;
    for (age, rate) in ages.iter_mut().zip(rates).rev() {
        *age = limit * behind / all;
        behind += rate;
    }
    Ok(ages)
}

/// Cycles that position 1 ages between two replacements in the steady state: `B = A·t_1 / (t_1 + … + t_n)`, the expected
/// remaining life of a device that moves up to it.
///
/// # Errors
/// As [`steady_ages`].
pub fn steady_period(rates: &[f64], limit: f64) -> Result<f64, DomainError> {
    ordered(rates)?;
    Ok(positive("limit", limit)? * rates[0] / rates.iter().sum::<f64>())
}

/// True if ages approach the steady state from any start.
///
/// Deviations of the periods obey `x_k + t_2·x_{k−1} + … + t_n·x_{k−n+1} = 0`. Times (z − 1), its characteristic polynomial is
/// `z^n − Σ_j (t_j − t_{j+1})·z^{n−j}` with `t_{n+1} = 0`, whose coefficients after the first sum to 1; so no root lies outside the
/// unit circle, and a root other than 1 lies on it if and only if `z^j = 1` for every position j at which the rate drops. Ages
/// converge if the greatest common divisor of those positions is 1. They do for one parity-laden device among
/// others; they do not for RAID-5, nor for (100, 100, 0, 0) with two parities, where devices wear out in pairs for ever.
///
/// Diff-RAID's own argument (section 3.3) lets all deviations be equal, which would make them grow whenever
/// `t_2 + … + t_n > 1`, as they do not for (80, 5, 5, 5, 5).
///
/// # Errors
/// As [`steady_ages`].
pub fn converges(rates: &[f64]) -> Result<bool, DomainError> {
    ordered(rates)?;
    let after = |position: usize| rates.get(position + 1).copied().unwrap_or(0.0);
    // Rates that differ by rounding only are equal.
    let drops = (0..rates.len()).filter(|&j| rates[j] - after(j) > 1e-12 * rates[0]);
    Ok(drops.map(|j| j + 1).reduce(gcd) == Some(1))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// An array whose devices age and are replaced one by one: the process whose limit the functions above give.
#[derive(Clone, Debug)]
pub struct AgingArray {
    rates: Vec<f64>,
    limit: f64,
    ages: Vec<f64>,
}

/// The replacement of a device that has reached its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceReplacement {
    /// Time since the last replacement: host chunk writes to a stripe, times cycles per such write of a device with rate 1.
    pub elapsed: f64,
    /// Position of the device that wore out, from 0.
    pub position: usize,
    /// Ages by position just after it was replaced, the oldest first.
    pub ages: Vec<f64>,
}

impl AgingArray {
    /// An array with the given rates by position (in any order), ages of its devices and limit of age.
    ///
    /// # Errors
    /// No device, a negative rate or none above 0, an age that is negative or above the limit, unlike numbers of both.
    pub fn new(rates: &[f64], ages: &[f64], limit: f64) -> Result<Self, DomainError> {
        positive("limit", limit)?;
        within("ages", ages.len() as f64, "as many as rates", |_| ages.len() == rates.len())?;
        for &rate in rates {
            within("rate", rate, "at least 0", |rate| rate >= 0.0)?;
        }
        positive("sum of rates", rates.iter().sum())?;
        for &age in ages {
            within("age", age, "within 0 and the limit", |age| (0.0..=limit).contains(&age))?;
        }
        let mut aging = Self { rates: rates.to_vec(), limit, ages: ages.to_vec() };
        aging.order();
        Ok(aging)
    }

    /// Ages by position, the oldest first.
    pub fn ages(&self) -> &[f64] {
        &self.ages
    }

    /// Lets all devices age until one reaches its limit, and replaces it.
    pub fn replace(&mut self) -> DeviceReplacement {
        let time_left = |position: usize| (self.limit - self.ages[position]) / self.rates[position];
        let (mut position, mut elapsed) = (0, f64::INFINITY);
        for candidate in 0..self.rates.len() {
            // A device that does not age is never the first; construction required one that does.
            if self.rates[candidate] > 0.0 && time_left(candidate) < elapsed {
                (position, elapsed) = (candidate, time_left(candidate));
            }
        }
        for (age, rate) in self.ages.iter_mut().zip(&self.rates) {
            // Rounding must not put a second device beyond its limit.
            *age = rate.mul_add(elapsed, *age).min(self.limit);
        }
        self.ages.remove(position);
        self.ages.push(0.0);
        self.order();
        DeviceReplacement { elapsed, position, ages: self.ages.clone() }
    }

    /// Sorts ages by position, the oldest first.
    fn order(&mut self) {
        self.ages.sort_by(|a, b| b.total_cmp(a));
    }
}

/// `rates` if they do not rise along the positions.
fn ordered(rates: &[f64]) -> Result<(), DomainError> {
    within("devices", rates.len() as f64, "at least 1", |count| count >= 1.0)?;
    positive("first rate", rates[0])?;
    let mut before = f64::INFINITY;
    for &rate in rates {
        within("rate", rate, "at least 0 and at most that of the position before it", |rate| {
            (0.0..=before).contains(&rate)
        })?;
        before = rate;
    }
    Ok(())
}

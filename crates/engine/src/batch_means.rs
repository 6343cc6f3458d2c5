//! Confidence intervals within one run, by batch means.
//!
//! Requests close in time are correlated, so the standard error over single requests is far too small. The run is cut into
//! batches of equal length; means of batches that are longer than what the run remembers are nearly independent, and Student's t over
//! them gives an interval (Law, *Simulation Modeling and Analysis*, 5th ed., section 9.5.3). Batches are joined in pairs until
//! neighbours are uncorrelated; where fewer than [`LEAST`] are left there is no interval, rather than one that is too narrow.

use serde::Serialize;

/// Fewest batches of an interval.
const LEAST: usize = 10;
/// Most batches of an interval: more of them are shorter, and gain next to nothing in Student's t.
const MOST: usize = 40;

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConfidenceInterval {
    /// Lower end; 0 where that of Student's t lies below.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence: 0.95.
    pub level: f64,
    /// Number of batches behind it.
    pub batches: u64,
}

/// The 95 % interval of Σ `sum` / Σ `weight` over `parts` in order of time, each a (sum, weight): latencies and requests, bytes programmed and
/// bytes written. `None` where the run is too short for what it remembers, or every part is empty.
pub(crate) fn interval(parts: &[(f64, f64)]) -> Option<ConfidenceInterval> {
    let mut batches = parts.to_vec();
    // Down to at most MOST; joining may go on below if neighbours are still correlated.
    while batches.len() > MOST {
        batches = in_pairs(&batches);
    }
    loop {
        if batches.len() < LEAST || batches.iter().any(|batch| batch.1 <= 0.0) {
            return None;
        }
        let (ratio, errors) = errors(&batches)?;
        if is_uncorrelated(&errors) {
            let n = errors.len() as f64;
            let variance = errors.iter().map(|error| error * error).sum::<f64>() / (n - 1.0);
            let half = student_95(errors.len() - 1) * (variance / n).sqrt();
            let batches = errors.len() as u64;
            // Sums of times and bytes, and so their ratio, are never negative.
            return Some(ConfidenceInterval {
                low: (ratio - half).max(0.0),
                high: ratio + half,
                level: 0.95,
                batches,
            });
        }
        batches = in_pairs(&batches);
    }
}

/// Batches joined in pairs; the first is dropped where their number is odd, so that all are of equal length.
fn in_pairs(batches: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let pairs = batches[batches.len() % 2..].chunks_exact(2);
    pairs.map(|pair| (pair[0].0 + pair[1].0, pair[0].1 + pair[1].1)).collect()
}

/// The ratio Σ sum / Σ weight, and the deviation of each batch from it: (sum − ratio · weight) over the mean weight, which is the
/// difference of means where all weights are equal.
fn errors(batches: &[(f64, f64)]) -> Option<(f64, Vec<f64>)> {
    let (sum, weight) =
        batches.iter().fold((0.0, 0.0), |(sum, weight), batch| (sum + batch.0, weight + batch.1));
    let ratio = sum / weight;
    let mean = weight / batches.len() as f64;
    let errors = batches.iter().map(|batch| (batch.0 - ratio * batch.1) / mean).collect();
    (ratio.is_finite() && mean > 0.0).then_some((ratio, errors))
}

/// True if the correlation of neighbouring batches is below the 90th percentile of that of independent ones: von Neumann's ratio in its
/// normal approximation, one-sided.
fn is_uncorrelated(errors: &[f64]) -> bool {
    let n = errors.len() as f64;
    let square: f64 = errors.iter().map(|error| error * error).sum();
    // All batches are alike to the last digit: there is nothing to correlate.
    if square == 0.0 {
        return true;
    }
    let lag: f64 = errors.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let ends = errors.first().map_or(0.0, |e| e * e) + errors.last().map_or(0.0, |e| e * e);
    let statistic = ((n * n - 1.0) / (n - 2.0)).sqrt() * (lag / square + ends / (2.0 * square));
    // The 90th percentile of the standard normal distribution.
    statistic < 1.282
}

/// The 97.5th percentile of Student's t, within 0.1 % from 9 degrees of freedom on (Cornish-Fisher expansion).
fn student_95(freedom: usize) -> f64 {
    let (z, v) = (1.959_963_984_540_054_f64, freedom as f64);
    let (z3, z5) = (z.powi(3), z.powi(5));
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use super::{interval, student_95};
    use outlast_units::rng::SplitMix;

    /// A standard normal variate (Box and Muller).
    fn normal(rng: &mut SplitMix) -> f64 {
        (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
    }

    /// Fewest and most of 1000 intervals of 95 % confidence that hold the truth, within four standard errors: 950 ± 4 · sqrt(1000 · 0.05 · 0.95),
    /// which is 27.6.
    const LEAST_OF_1000: u32 = 922;
    const MOST_OF_1000: u32 = 978;

    fn coverage(mut run: impl FnMut(&mut SplitMix) -> Vec<(f64, f64)>, truth: f64) -> (u32, u32) {
        let (mut held, mut intervals) = (0, 0);
        for seed in 0..1000 {
            let parts = run(&mut SplitMix::new(seed, "batch_means"));
            if let Some(interval) = interval(&parts) {
                intervals += 1;
                held += u32::from(interval.low <= truth && truth <= interval.high);
            }
        }
        (held, intervals)
    }

    /// A first-order autoregressive process with mean 10, in 200 windows that remember a tenth of a batch.
    #[test]
    fn intervals_of_an_autoregressive_process_hold_its_mean() {
        for memory in [0.0f64, 0.5, 0.9] {
            let (held, intervals) = coverage(
                |rng| {
                    let mut value = normal(rng) / (1.0 - memory * memory).sqrt();
                    let mut window = || {
                        let mut sum = 0.0;
                        for _ in 0..50 {
                            value = memory * value + normal(rng);
                            sum += 10.0 + value;
                        }
                        (sum, 50.0)
                    };
                    (0..200).map(|_| window()).collect()
                },
                10.0,
            );
            assert!(intervals > 950, "{memory}: {intervals}");
            let scaled = held * 1000 / intervals;
            assert!(
                (LEAST_OF_1000..=MOST_OF_1000).contains(&scaled),
                "memory {memory}: {held} of {intervals}"
            );
        }
    }

    /// Waiting times of M/D/1 at a load of 0.7, by Lindley's recursion; the mean is ρ / (2 (1 − ρ)) services (Pollaczek and Khinchine).
    #[test]
    fn intervals_of_a_queue_hold_its_mean_wait() {
        let load = 0.7;
        let truth = load / (2.0 * (1.0 - load));
        let (held, intervals) = coverage(
            |rng| {
                let mut wait = 0.0f64;
                let mut next = |rng: &mut SplitMix| {
                    let gap = -(1.0 - rng.unit()).ln() / load;
                    wait = (wait + 1.0 - gap).max(0.0);
                    wait
                };
                (0..300).for_each(|_| {
                    next(rng);
                });
                (0..200).map(|_| ((0..100).map(|_| next(rng)).sum(), 100.0)).collect()
            },
            truth,
        );
        assert!(intervals > 950, "{intervals}");
        let scaled = held * 1000 / intervals;
        assert!((LEAST_OF_1000..=MOST_OF_1000).contains(&scaled), "{held} of {intervals}");
    }

    #[test]
    fn a_run_that_is_too_short_has_no_interval() {
        assert_eq!(interval(&[(1.0, 1.0); 9]), None);
        // Nothing but a trend: neighbours are alike however long the batches are.
        let trend: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i), 1.0)).collect();
        assert_eq!(interval(&trend), None);
        let same = interval(&[(3.0, 1.5); 40]).map(|interval| (interval.low, interval.high));
        assert_eq!(same, Some((2.0, 2.0)));
    }

    /// Two in a thousand requests wait long: the interval of the mean is wider than the mean itself.
    #[test]
    fn an_interval_of_nonnegative_values_does_not_go_below_zero() {
        let parts: Vec<_> = (0..20).map(|i| (if i == 7 { 100.0 } else { 0.0 }, 1.0)).collect();
        let found = interval(&parts).expect("batches enough");
        assert!(found.low == 0.0 && found.high > 10.0, "{found:?}");
    }

    #[test]
    fn percentiles_of_t_are_those_of_the_tables() {
        for (freedom, t) in [(9, 2.2622), (19, 2.0930), (39, 2.0227)] {
            assert!((student_95(freedom) - t).abs() < 1e-3, "{freedom}: {}", student_95(freedom));
        }
    }
}

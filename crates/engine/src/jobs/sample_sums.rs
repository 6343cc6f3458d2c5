//! Mean, deviation and extremes of samples, from running sums.

use super::RateSamples;

/// Running sums from which mean, deviation and extremes follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleSums {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl SampleSums {
    pub(super) fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Standard deviation of the samples over one less than their number, as in fio.
    pub(super) fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        ((self.squares - self.sum * self.sum / count) / (count - 1.0)).max(0.0).sqrt()
    }

    /// Figures of the samples divided by `unit`; `None` without samples.
    pub(super) fn figures(&self, unit: f64) -> Option<RateSamples> {
        (self.count > 0).then(|| RateSamples {
            count: self.count,
            mean: self.sum / self.count as f64 / unit,
            stddev: self.deviation() / unit,
            min: self.min / unit,
            max: self.max / unit,
        })
    }
}

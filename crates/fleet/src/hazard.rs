//! Rates of failure by age.

use serde::Deserialize;

/// Most steps of age: causes of losses number them in a byte.
const STEPS_MAX: usize = 256;

/// Failures per hour of one drive by its age, in steps: infant, steady, wear-out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeHazard {
    /// Ages in hours at which the rate changes, rising; the first is 0.
    pub from: Vec<f64>,
    /// Failures per hour from that age on.
    pub rate: Vec<f64>,
}

impl AgeHazard {
    /// One rate at every age.
    pub fn constant(rate: f64) -> Self {
        Self { from: vec![0.0], rate: vec![rate] }
    }

    /// Rate at an age in hours.
    pub fn at(&self, age: f64) -> f64 {
        self.rate[self.step(age)]
    }

    /// Step of the table at an age: 0 for the first.
    pub fn step(&self, age: f64) -> usize {
        self.from.partition_point(|&from| from <= age).max(1) - 1
    }

    /// Hours until the rate changes next; infinite in the last step.
    pub fn until_change(&self, age: f64) -> f64 {
        self.from.get(self.step(age) + 1).map_or(f64::INFINITY, |next| next - age)
    }

    /// Highest rate at any age.
    pub fn highest(&self) -> f64 {
        self.rate.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let rises = self.from.windows(2).all(|pair| pair[0] < pair[1]);
        if self.from.is_empty() || self.from.len() != self.rate.len() || self.from[0] != 0.0 || !rises {
            return Some("ages begin with 0, rise, and are as many as rates".into());
        }
        if self.from.len() > STEPS_MAX {
            return Some(format!("{} steps of age: at most {STEPS_MAX}", self.from.len()));
        }
        self.rate
            .iter()
            .find(|rate| !rate.is_finite() || **rate < 0.0)
            .map(|rate| format!("rate {rate}: must be a number of at least 0"))
    }
}

//! Settings of the measurement.

use outlast_media::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Measurement of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools, reason = "settings, each asked for by itself")]
pub struct RunSpec {
    /// Simulation of time. Default: full.
    pub timing: TimingMode,
    /// Simulated time at the start that is not measured. Default: 0.
    pub warm_up: Nanos,
    /// Length of a window of the time series; more than 0. Default: chosen so that there are enough of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Nanos>,
    /// Leaps of age: the data on flash becomes older at once, as if the drive had been stored without power. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ageing: Vec<AgeLeap>,
    /// True if an error-free twin of the drive (an ECC that corrects everything, no parity, no scrubbing, no faults) is run first with the
    /// same seed, to measure the cost of reliability. Default: false.
    pub twin: bool,
    /// True if an array continues after the workload until its members are rebuilt and its parity is consistent, without the host and
    /// outside the measurement; the counters of its drives continue. Default: true.
    pub finish_rebuild: bool,
    /// The drive stands for one whose dies have this many times its blocks: figures that grow with the size of dies are multiplied by this
    /// in `repair[].scaled` and for `array.data_loss`, and nowhere else. Above 0. Default: 1.
    pub capacity_scale: f64,
    /// Mean time to failure of a member of an array, in hours, for the risk of data loss. Above 0. Default: 1.5 million (assumed: data
    /// sheets of enterprise drives name 1.5 to 2.5 million).
    pub member_mttf_hours: f64,
    /// Threads that a run may use while it prepares drives and where it runs without time; results do not depend on them. 1 to 1024.
    /// Default: one for each processor; in sweeps, which make several runs at once, 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// True to split the time of every request by cause: `latency_causes` in results, and columns of the log. With time.
    /// Default: false, which costs nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub causes: bool,
    /// True for tables of how busy dies, channels and the controller were over time, of the valid units and the wear of
    /// superblocks, and of every one that was moved. With time. Default: false, which costs nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub utilisation: bool,
    /// A Parquet file that gets a row for every request, those of the warm-up included; a relative path begins at the folder of the result. With
    /// time; not for sweeps. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A leap of age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgeLeap {
    /// Time from the start of the run.
    pub at: Nanos,
    /// Time by which all data becomes older.
    pub by: Nanos,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            timing: TimingMode::Full,
            warm_up: Nanos::ZERO,
            window: None,
            ageing: Vec::new(),
            twin: false,
            finish_rebuild: true,
            capacity_scale: 1.0,
            member_mttf_hours: 1.5e6,
            threads: None,
            causes: false,
            utilisation: false,
            log: None,
        }
    }
}

/// Simulation of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimingMode {
    /// Every flash operation, transfer and queue.
    #[default]
    Full,
    /// None: only the placement of data and the wear that it causes, for endurance studies.
    None,
}

impl RunSpec {
    /// Windows of the time series that are kept; beyond, they are merged in pairs. More than a chart can show, in little memory.
    pub const MAX_WINDOWS: u32 = 10_000;
    /// Significant decimal digits of latency histograms: percentiles within 0.1 %.
    pub const HISTOGRAM_DIGITS: u8 = 3;
    /// Probability that a bit of a member cannot be read, for the risk of data loss where the flash has no error model (Reparo, section 3).
    pub const MEMBER_UBER: f64 = 1e-16;

    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.window == Some(Nanos::ZERO) {
            return Err(ConfigError::new(
                "run.window",
                "0ns",
                "must be more than 0; leave it out to have it chosen",
            ));
        }
        for (name, value) in
            [("capacity_scale", self.capacity_scale), ("member_mttf_hours", self.member_mttf_hours)]
        {
            if !(value > 0.0 && value <= 1e12) {
                return Err(ConfigError::new(
                    &format!("run.{name}"),
                    value,
                    "must be above 0 and at most 1e12",
                ));
            }
        }
        if let Some(threads) = self.threads.filter(|threads| !(1..=1024).contains(threads)) {
            return Err(ConfigError::new("run.threads", threads, "must be between 1 and 1024"));
        }
        // Ages are stored up to 13.6 years, of which ten may have passed before the run.
        let most = Nanos::secs(1000 * 86_400);
        let mut sum = 0u64;
        for (index, ageing) in self.ageing.iter().enumerate() {
            sum = sum.saturating_add(ageing.by.0);
            if sum > most.0 {
                let limit = "all leaps together must be at most 1000d";
                return Err(ConfigError::new(&format!("run.ageing[{index}].by"), ageing.by, limit));
            }
        }
        let untimed = self.timing == TimingMode::None;
        let timed = [
            ("causes", self.causes, "without time there is none to be split"),
            ("utilisation", self.utilisation, "without time nothing is busy"),
        ];
        if let Some((name, _, why)) = timed.into_iter().find(|&(_, is_set, _)| is_set && untimed) {
            let limit = format!("must be false where run.timing is none: {why}");
            return Err(ConfigError::new(&format!("run.{name}"), true, limit));
        }
        if let Some(log) = &self.log {
            if untimed {
                let limit = "must be absent where run.timing is none: requests then have no times";
                return Err(ConfigError::new("run.log", log, limit));
            }
            if !log.ends_with(".parquet") {
                let limit = "must be the name of a file that ends in .parquet";
                return Err(ConfigError::new("run.log", log, limit));
            }
        }
        Ok(())
    }
}

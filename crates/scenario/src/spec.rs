//! The settings of a run.

use super::{PoliciesSpec, ScenarioError, check_name};
use outlast_media::{ConfigError, FaultSpec, HazardConfig};
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::{ChangeConfig, SsdConfig};
use outlast_units::{JsonSchema, Nanos};
use outlast_workload::{InputFile, WorkloadSpec};
use serde::{Deserialize, Serialize};

/// One run: the drive, the workload of the host, the preparation of the drive, and the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name shown in results. Default: "unnamed".
    #[serde(default = "unnamed")]
    pub name: String,
    /// Description in a sentence or two. Default: empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The one seed, from which every random stream is derived; 0 to 2^63 - 1. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// The drive; of an array, each of its members.
    pub device: SsdConfig,
    /// An array of such drives. Absent: the host has one drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayConfig>,
    /// The workload of the host.
    pub workload: WorkloadSpec,
    /// Sudden failures at given times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// Changes of protection during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeConfig>,
    /// Preparation of the drive before the measurement.
    #[serde(default)]
    pub precondition: PreconditionSpec,
    /// Decisions that code of your own takes.
    #[serde(default, skip_serializing_if = "PoliciesSpec::is_default")]
    pub policies: PoliciesSpec,
    /// Extent and method of the measurement.
    #[serde(default)]
    pub run: RunSpec,
    /// A sentence for each setting that a layer gives and that does not count because of another; filled by loading only.
    #[serde(skip)]
    pub void: Vec<String>,
}

fn unnamed() -> String {
    "unnamed".to_owned()
}

fn one() -> u64 {
    1
}

/// Preparation of the drive before the run: filled, then overwritten until its write amplification is steady. Takes no
/// simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreconditionSpec {
    /// A snapshot (`outlast snapshot`) of the same `device` and `array`, prepared: the run goes on from there as if it had prepared them itself,
    /// and nothing is filled or overwritten. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Filling of the drive. Default: sequential.
    pub fill: FillPattern,
    /// Share of the capacity that is filled; 0 to 1. Default: 1.
    pub fill_fraction: f64,
    /// Writes that then overwrite it. Default: random.
    pub overwrite: OverwritePattern,
    /// A round, after which the write amplification is noted, in drive writes (capacities); above 0, at most 100.
    /// Default: 0.1, and never less than eight superblocks of each flash core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<f64>,
    /// Parts that are compared to find the write amplification steady, each of at least one round; 2 to 1000. Default: 5.
    pub rounds: u32,
    /// Steady: over the last third of what was overwritten, cut into `rounds` parts, the write amplification ranges over no more than
    /// this share of its mean, its linear trend over them moves less than half of that, single rounds scatter by no more than a fifth (or
    /// this share, if larger), and what was written before space was first reclaimed would, at its present rate, take up less than this
    /// share of the spare space in ten more drive writes; above 0, at most 1. Default: 0.03.
    pub tolerance: f64,
    /// Overwrites at least this much before the drive can be found steady, in drive writes; at least 0. Default: 1.
    pub min_drive_writes: f64,
    /// Goes no further than this, in drive writes, and says so; at least `min_drive_writes`. Default: 30.
    pub max_drive_writes: f64,
}

impl Default for PreconditionSpec {
    fn default() -> Self {
        Self {
            from: None,
            fill: FillPattern::Sequential,
            fill_fraction: 1.0,
            overwrite: OverwritePattern::Random,
            round: None,
            rounds: 5,
            tolerance: 0.03,
            min_drive_writes: 1.0,
            max_drive_writes: 30.0,
        }
    }
}

/// Filling of the drive before it is overwritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FillPattern {
    /// Every mapping unit once, in order of address.
    #[default]
    Sequential,
    /// None: the drive is fresh from the factory.
    None,
}

/// Writes that overwrite the filled drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OverwritePattern {
    /// Mapping units drawn uniformly from those filled.
    #[default]
    Random,
    /// The workload's own writes and trims, as often as needed, without their times.
    Workload,
    /// None: the drive stays as filled.
    None,
}

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

impl Scenario {
    /// All files on whose contents the result depends, apart from the scenario files themselves.
    pub fn input_files(&self) -> Vec<InputFile> {
        let from = self.precondition.from.iter();
        let snapshot = from.map(|path| InputFile { setting: "precondition.from", path: path.clone() });
        self.workload.input_files().into_iter().chain(snapshot).chain(self.policies.input_files()).collect()
    }

    /// Checks every setting that can be checked without building the drive or opening files.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if i64::try_from(self.seed).is_err() {
            let limit = "must be at most 9223372036854775807, the largest integer of TOML";
            return Err(ConfigError::new("seed", self.seed, limit));
        }
        check_name("name", &self.name)?;
        check_name("device.model", &self.device.model)?;
        self.device.validate()?;
        if let Some(array) = &self.array {
            array.validate()?;
            if array.light.is_some() && self.device.bytes {
                let limit = "must be false with light members (array.light), which keep no bytes";
                return Err(ConfigError::new("device.bytes", true, limit));
            }
        }
        self.precondition.validate()?;
        if let Some(path) = self.precondition.from.as_ref().filter(|_| self.run.twin) {
            let limit = "must be absent with run.twin: the twin is another drive, which no snapshot is of";
            return Err(ConfigError::new("precondition.from", path, limit));
        }
        self.run.validate()?;
        self.flash_faults()?;
        self.planned_events()?;
        for (index, change) in self.changes.iter().enumerate() {
            change.validate(&format!("changes[{index}]"), &self.device)?;
        }
        let workload = &self.workload;
        let sources = [
            ("synthetic", workload.synthetic.is_some()),
            ("trace", workload.trace.is_some()),
            ("fio", workload.fio.is_some()),
        ];
        let names: Vec<&str> = sources.iter().filter(|(_, is_set)| *is_set).map(|&(name, _)| name).collect();
        if names.len() != 1 {
            let value = if names.is_empty() { "empty".to_owned() } else { names.join(" and ") };
            let limit = "must have exactly one of synthetic, trace and fio";
            return Err(ConfigError::new("workload", value, limit));
        }
        Ok(())
    }

    /// The error-free twin: the scenario without errors, parity, scrubbing and faults, to compare the cost of reliability.
    #[must_use]
    pub fn twin(&self) -> Self {
        let mut twin = self.clone();
        if let Some(reliability) = &mut twin.device.reliability {
            reliability.ecc.strength = None;
        }
        twin.device.protection = None;
        twin.device.scrub = None;
        twin.device.hazards = HazardConfig::default();
        twin.faults.clear();
        twin.changes.clear();
        for member in twin.array.iter_mut().flat_map(|array| &mut array.member) {
            member.fail_at = None;
        }
        // Only the figures of the twin are compared: it needs no twin, tables or log of its own.
        twin.run.twin = false;
        twin.run.causes = false;
        twin.run.utilisation = false;
        twin.run.log = None;
        twin
    }

    /// The scenario as a file that extends no other; [`super::parse_text`] reads it back as an equal scenario.
    ///
    /// # Errors
    /// A whole number beyond 2^63 - 1, which only a JSON layer can hold.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|error| ScenarioError::NotToml { why: error.to_string() })
    }

    /// The scenario as JSON.
    ///
    /// # Errors
    /// Errors of serde.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// Checks that a setting is a number in `lowest..=highest`.
fn check_range(field: &str, value: f64, lowest: f64, highest: f64) -> Result<(), ConfigError> {
    if (lowest..=highest).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(field, value, format!("must be between {lowest} and {highest}")))
}

impl PreconditionSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_range("precondition.fill_fraction", self.fill_fraction, 0.0, 1.0)?;
        if let Some(round) = self.round
            && (round.is_nan() || round <= 0.0 || round > 100.0)
        {
            let limit = "must be above 0 and at most 100 drive writes";
            return Err(ConfigError::new("precondition.round", round, limit));
        }
        if !(2..=1000).contains(&self.rounds) {
            return Err(ConfigError::new("precondition.rounds", self.rounds, "must be between 2 and 1000"));
        }
        if self.tolerance.is_nan() || self.tolerance <= 0.0 || self.tolerance > 1.0 {
            let limit = "must be above 0 and at most 1";
            return Err(ConfigError::new("precondition.tolerance", self.tolerance, limit));
        }
        check_range("precondition.min_drive_writes", self.min_drive_writes, 0.0, 1e6)?;
        check_range("precondition.max_drive_writes", self.max_drive_writes, self.min_drive_writes, 1e6)
    }
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

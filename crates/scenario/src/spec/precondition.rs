//! Settings of the preparation of a drive.

use outlast_media::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

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

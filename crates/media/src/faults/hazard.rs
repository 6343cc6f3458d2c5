//! Random hardware faults.

use crate::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Rates at which hardware breaks. Default: never. Damage of each kind comes as a Poisson process of its own, spread evenly over the
/// drive; failures of single operations are independent. Both are this simulator's assumptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "HazardTables", into = "HazardTables")]
#[schemars(with = "HazardTables")]
pub struct HazardConfig {
    /// Mean number of pages of the drive that break in a year of 365 days.
    pub page_per_year: f64,
    /// Mean number of wordlines of the drive that break in a year.
    pub wordline_per_year: f64,
    /// Mean number of blocks of the drive that break in a year.
    pub block_per_year: f64,
    /// Mean number of planes of the drive that die in a year.
    pub plane_per_year: f64,
    /// Mean number of dies of the drive that die in a year.
    pub die_per_year: f64,
    /// Mean number of chips of the drive that die in a year.
    pub chip_per_year: f64,
    /// Factors of the yearly rates by age; empty: 1 at any age.
    pub by_age: Vec<AgeFactor>,
    /// Age of the drive at time zero.
    pub age: Nanos,
    /// Probability that programming a page of a block fails, for each page of a program operation; 0 to 0.5.
    pub program_failure: f64,
    /// Probability that an erasure of a block fails; 0 to 0.5.
    pub erase_failure: f64,
    /// Probability that a sensing fails although the data are whole; 0 to 0.5.
    pub transient_read: f64,
}

/// How often hardware breaks. Default: never. Damage of each kind comes as a Poisson process of its own, spread evenly over the
/// drive; failures of single operations are independent. Both are this simulator's assumptions.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct HazardTables {
    /// Mean number of parts of the drive that break in a year of 365 days, by kind as in `faults`: `page`, `wordline`, `block`, `plane`, `die`
    /// and `chip`, such as `{ block = 2.5, die = 0.01 }`; each 0 to 1e9. Default: none, which runs of minutes would hardly see.
    per_year: YearlyRates,
    /// Factors by which the rates of `per_year` are multiplied from an age of the drive on, such as `[{ from = "0s", factor = 4 }, { from = "90d", factor = 1 }]`:
    /// early failures, as in the curves of a field study (Reparo, Figure 2). In order of age, the first from 0 on; factors 0 to 1e6. Default: 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_age: Vec<AgeFactor>,
    /// Age of the drive when its time begins, for `by_age`. Default: 0.
    #[serde(skip_serializing_if = "is_new")]
    age: Nanos,
    /// Probability that an operation fails, by operation: `program` of a page of a block, for each page of a program operation; `erase` of a
    /// block; `read`, a sensing, although the data are whole. Each 0 to 0.5, such as `{ program = 1e-6, erase = 1e-5 }`. Default: none.
    per_operation: FailureShares,
}

/// Factor of the yearly rates from an age on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist)]
#[serde(deny_unknown_fields)]
pub struct AgeFactor {
    /// Age from which the factor holds, up to the next one's.
    pub from: Nanos,
    /// Multiple of the yearly rates.
    pub factor: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_new(age: &Nanos) -> bool {
    *age == Nanos::ZERO
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct YearlyRates {
    #[serde(skip_serializing_if = "is_never")]
    page: f64,
    #[serde(skip_serializing_if = "is_never")]
    wordline: f64,
    #[serde(skip_serializing_if = "is_never")]
    block: f64,
    #[serde(skip_serializing_if = "is_never")]
    plane: f64,
    #[serde(skip_serializing_if = "is_never")]
    die: f64,
    #[serde(skip_serializing_if = "is_never")]
    chip: f64,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FailureShares {
    #[serde(skip_serializing_if = "is_never")]
    program: f64,
    #[serde(skip_serializing_if = "is_never")]
    erase: f64,
    #[serde(skip_serializing_if = "is_never")]
    read: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_never(rate: &f64) -> bool {
    *rate == 0.0
}

outlast_units::schema_of!(YearlyRates, {
    "type": "object",
    "propertyNames": { "enum": ["page", "wordline", "block", "plane", "die", "chip"] },
    "additionalProperties": { "type": "number", "minimum": 0, "maximum": 1e9 },
});
outlast_units::schema_of!(FailureShares, {
    "type": "object",
    "propertyNames": { "enum": ["program", "erase", "read"] },
    "additionalProperties": { "type": "number", "minimum": 0, "maximum": 0.5 },
});

impl From<HazardTables> for HazardConfig {
    fn from(HazardTables { per_year, by_age, age, per_operation }: HazardTables) -> Self {
        Self {
            page_per_year: per_year.page,
            wordline_per_year: per_year.wordline,
            block_per_year: per_year.block,
            plane_per_year: per_year.plane,
            die_per_year: per_year.die,
            chip_per_year: per_year.chip,
            by_age,
            age,
            program_failure: per_operation.program,
            erase_failure: per_operation.erase,
            transient_read: per_operation.read,
        }
    }
}

impl From<HazardConfig> for HazardTables {
    fn from(config: HazardConfig) -> Self {
        Self {
            per_year: YearlyRates {
                page: config.page_per_year,
                wordline: config.wordline_per_year,
                block: config.block_per_year,
                plane: config.plane_per_year,
                die: config.die_per_year,
                chip: config.chip_per_year,
            },
            by_age: config.by_age,
            age: config.age,
            per_operation: FailureShares {
                program: config.program_failure,
                erase: config.erase_failure,
                read: config.transient_read,
            },
        }
    }
}

impl HazardConfig {
    /// Highest rate accepted, in events per year: 32 in a second.
    pub const MAX_PER_YEAR: f64 = 1e9;

    /// Checks the rates; `field` is their dotted name, such as `device.hazards`.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        for (kind, rate) in self.rates() {
            if !(0.0..=Self::MAX_PER_YEAR).contains(&rate) {
                let limit = "must be between 0 and 1e9 events per year";
                return Err(ConfigError::new(&format!("{field}.{}", kind.setting()), rate, limit));
            }
        }
        let shares = [
            ("per_operation.program", self.program_failure),
            ("per_operation.erase", self.erase_failure),
            ("per_operation.read", self.transient_read),
        ];
        self.validate_by_age(field)?;
        match shares.into_iter().find(|(_, share)| !(0.0..=0.5).contains(share)) {
            Some((name, share)) => {
                Err(ConfigError::new(&format!("{field}.{name}"), share, "must be between 0 and 0.5"))
            }
            None => Ok(()),
        }
    }

    fn validate_by_age(&self, field: &str) -> Result<(), ConfigError> {
        let refused = |name: &str, value: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(&format!("{field}.{name}"), value, limit))
        };
        let Some(first) = self.by_age.first() else {
            return if self.age == Nanos::ZERO {
                Ok(())
            } else {
                refused("age", &self.age, "is for rates that change with age; add by_age")
            };
        };
        if first.from != Nanos::ZERO {
            return refused(
                "by_age[0].from",
                &first.from,
                "must be 0s: the factors hold from the first moment on",
            );
        }
        for (index, own) in self.by_age.iter().enumerate() {
            if !(0.0..=1e6).contains(&own.factor) {
                return refused(&format!("by_age[{index}].factor"), &own.factor, "must be between 0 and 1e6");
            }
            if index > 0 && own.from <= self.by_age[index - 1].from {
                return refused(
                    &format!("by_age[{index}].from"),
                    &own.from,
                    "must be later than the one before",
                );
            }
        }
        Ok(())
    }

    pub(super) fn rates(&self) -> [(HazardKind, f64); 6] {
        [
            (HazardKind::Page, self.page_per_year),
            (HazardKind::Wordline, self.wordline_per_year),
            (HazardKind::Block, self.block_per_year),
            (HazardKind::Plane, self.plane_per_year),
            (HazardKind::Die, self.die_per_year),
            (HazardKind::Chip, self.chip_per_year),
        ]
    }
}

#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) enum HazardKind {
    Page,
    Wordline,
    Block,
    Plane,
    Die,
    Chip,
}

impl HazardKind {
    fn setting(self) -> &'static str {
        match self {
            Self::Page => "per_year.page",
            Self::Wordline => "per_year.wordline",
            Self::Block => "per_year.block",
            Self::Plane => "per_year.plane",
            Self::Die => "per_year.die",
            Self::Chip => "per_year.chip",
        }
    }

    /// Name of the random stream: each kind has its own, so that switching one on shifts no other.
    pub(super) fn stream(self) -> &'static str {
        match self {
            Self::Page => "media.hazard.page",
            Self::Wordline => "media.hazard.wordline",
            Self::Block => "media.hazard.block",
            Self::Plane => "media.hazard.plane",
            Self::Die => "media.hazard.die",
            Self::Chip => "media.hazard.chip",
        }
    }
}

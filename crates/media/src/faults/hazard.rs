//! Random hardware faults.

use super::{DieDamage, DriveFault};
use crate::reliability::open_unit;
use crate::{ConfigError, Geometry};
use outlast_units::rng::SplitMix;
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
    /// Probability that an operation fails, by operation: `program` of a page of a block, for each page of a program operation; `erase` of a
    /// block; `read`, a sensing, although the data are whole. Each 0 to 0.5, such as `{ program = 1e-6, erase = 1e-5 }`. Default: none.
    per_operation: FailureShares,
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
    fn from(HazardTables { per_year, per_operation }: HazardTables) -> Self {
        Self {
            page_per_year: per_year.page,
            wordline_per_year: per_year.wordline,
            block_per_year: per_year.block,
            plane_per_year: per_year.plane,
            die_per_year: per_year.die,
            chip_per_year: per_year.chip,
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
        match shares.into_iter().find(|(_, share)| !(0.0..=0.5).contains(share)) {
            Some((name, share)) => {
                Err(ConfigError::new(&format!("{field}.{name}"), share, "must be between 0 and 0.5"))
            }
            None => Ok(()),
        }
    }

    fn rates(&self) -> [(HazardKind, f64); 6] {
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
enum HazardKind {
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
    fn stream(self) -> &'static str {
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

/// Draws when and where a drive breaks next.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct HazardClock {
    geometry: Geometry,
    processes: Vec<HazardProcess>,
}

/// The Poisson process of one kind.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct HazardProcess {
    kind: HazardKind,
    mean_gap_ns: f64,
    next: Nanos,
    rng: SplitMix,
}

impl HazardClock {
    /// The clock of a drive from time `start` on, with the rates of a validated `config`.
    pub fn new(config: &HazardConfig, geometry: &Geometry, start: Nanos, seed: u64) -> Self {
        let year_ns = Nanos::secs(365 * 86_400).0 as f64;
        let rates = config.rates().into_iter().filter(|&(_, rate)| rate > 0.0);
        let processes = rates
            .map(|(kind, rate)| {
                let rng = SplitMix::new(seed, kind.stream());
                let mut process = HazardProcess { kind, mean_gap_ns: year_ns / rate, next: start, rng };
                process.advance();
                process
            })
            .collect();
        Self { geometry: geometry.clone(), processes }
    }

    /// When something breaks next; [`Nanos::MAX`]: never.
    pub fn next(&self) -> Nanos {
        self.processes.iter().map(|process| process.next).min().unwrap_or(Nanos::MAX)
    }

    /// Draws the fault at [`HazardClock::next`], and advances the clock to the one after.
    ///
    /// # Panics
    /// If nothing ever breaks: `next` was `Nanos::MAX`.
    pub fn draw(&mut self) -> DriveFault {
        let earliest = self.processes.iter_mut().min_by_key(|process| process.next);
        let process = earliest.filter(|process| process.next < Nanos::MAX).expect("nothing ever breaks");
        let fault = process.place(&self.geometry);
        process.advance();
        fault
    }
}

impl HazardProcess {
    /// Advances to the next event by an exponential gap; a time that overflows is never.
    fn advance(&mut self) {
        let gap_ns = -open_unit(self.rng.next_u64()).ln() * self.mean_gap_ns;
        self.next = Nanos(self.next.0.saturating_add(gap_ns as u64));
    }

    fn place(&mut self, geometry: &Geometry) -> DriveFault {
        let mut below = |count: u32| self.rng.below(u64::from(count)) as u32;
        let die = below(u32::from(geometry.dies())) as u16;
        let plane = below(u32::from(geometry.planes_per_die)) as u16;
        let block = below(geometry.blocks_per_plane);
        let page = below(geometry.pages_per_block);
        let damage = match self.kind {
            HazardKind::Page => DieDamage::Page { plane, block, page },
            HazardKind::Wordline => DieDamage::Wordline { plane, block, page },
            HazardKind::Block => DieDamage::Block { plane, block },
            HazardKind::Plane => DieDamage::Plane { plane },
            HazardKind::Die => DieDamage::Die,
            HazardKind::Chip => {
                return DriveFault { die: die - die % geometry.dies_per_chip, damage: DieDamage::Chip };
            }
        };
        DriveFault { die, damage }
    }
}

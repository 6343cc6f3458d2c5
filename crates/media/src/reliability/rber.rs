//! Raw bit error rate (RBER) as a function of wear, age and reads: one file per form. A new form is a file with `parts` and
//! `validate`, and one arm in each `match` below.

mod exponential;
mod grid;
mod power_law;
mod two_point;

pub use exponential::ExponentialRber;
pub use grid::RberGrid;
pub(crate) use grid::{GridTable, MOST_NODES, age};
pub use power_law::PowerLaw;
pub use two_point::TwoPoint;

use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest meaningful RBER: a bit that is wrong half of the time carries no information.
pub const SATURATED_RBER: f64 = 0.5;

// Validation ensures that no form falls, and the `…_to_reach` searches rely on it.
/// Raw bit error rate as a function of wear, retention and reads. No form falls with any of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum RberModel {
    /// Sum of power laws of cycles, days and reads (HRM, Equation 1).
    PowerLaw(PowerLaw),
    /// `a·e^(b·cycles)` (mSAPL, Equation 1): no retention, no disturbance.
    Exponential(ExponentialRber),
    /// Measured at two wear states; `a·e^(b·cycles)` through both (Diff-RAID, Table 1).
    TwoPoint(TwoPoint),
    /// Measured at many; straight lines between (see `outlast chips`).
    Grid(RberGrid),
}

/// An RBER split by mechanism; each part in errors per bit read.
#[derive(Clone, Copy, Debug, Default, PartialEq, outlast_persist::Persist)]
pub struct RberParts {
    /// Errors that a fresh, just written, never read page has.
    pub floor: f64,
    /// From program/erase cycles.
    pub wear: f64,
    /// From the time since the data were written.
    pub retention: f64,
    /// From reads of the block since its erasure.
    pub disturbance: f64,
}

impl RberParts {
    /// The sum: the RBER, which may exceed 0.5 or even 1.
    pub fn total(&self) -> f64 {
        self.floor + self.wear + self.retention + self.disturbance
    }
}

/// An RBER held at [`SATURATED_RBER`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampedRber {
    /// Errors per bit, at most 0.5.
    pub rber: f64,
    /// True if the model gave more than 0.5, beyond its validity.
    pub saturated: bool,
}

impl RberModel {
    /// Checks the coefficients; `field` is the dotted name of the model in the scenario, such as `device.errors.model`.
    ///
    /// # Errors
    /// The first coefficient that is negative, not a number, or makes the rate fall with wear.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        match self {
            Self::PowerLaw(model) => model.validate(field),
            Self::Exponential(model) => model.validate(field),
            Self::TwoPoint(model) => model.validate(field),
            Self::Grid(model) => model.validate(field),
        }
    }

    /// The RBER by mechanism after `cycles` P/E cycles of the block, `days` since the page was written and `reads` since the
    /// erasure (of the block or of the page: which of the two is the caller's setting). All three at least 0.
    pub fn parts(&self, cycles: f64, days: f64, reads: f64) -> RberParts {
        debug_assert!(
            cycles >= 0.0 && days >= 0.0 && reads >= 0.0,
            "{cycles} cycles, {days} days, {reads} reads"
        );
        match self {
            Self::PowerLaw(model) => model.parts(cycles, days, reads),
            Self::Exponential(model) => model.parts(cycles),
            Self::TwoPoint(model) => model.parts(cycles),
            Self::Grid(model) => model.parts(cycles, days, reads),
        }
    }

    /// Coefficients of a block with `cycles` cycles: the parts at one day and one read, which powers of days and reads then multiply. A grid,
    /// whose rate is looked up as a whole, has a floor of 1.
    pub(crate) fn coefficients(&self, cycles: f64) -> RberParts {
        match self {
            Self::Grid(_) => RberParts { floor: 1.0, ..RberParts::default() },
            _ => self.parts(cycles, 1.0, 1.0),
        }
    }

    /// The model with time accelerated by `factor`, as at another temperature.
    #[must_use]
    pub fn accelerated(&self, factor: f64) -> Self {
        match self {
            Self::PowerLaw(law) => {
                Self::PowerLaw(PowerLaw { beta: law.beta * factor.powf(law.n), ..law.clone() })
            }
            Self::Grid(grid) => Self::Grid(grid.accelerated(factor)),
            Self::Exponential(_) | Self::TwoPoint(_) => self.clone(),
        }
    }

    /// The model with all rates multiplied by `factor`; those of a grid are held at 0.5.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::PowerLaw(law) => Self::PowerLaw(PowerLaw {
                epsilon: law.epsilon * factor,
                alpha: law.alpha * factor,
                beta: law.beta * factor,
                gamma: law.gamma * factor,
                ..law.clone()
            }),
            Self::Exponential(form) => Self::Exponential(ExponentialRber { a: form.a * factor, b: form.b }),
            Self::TwoPoint(points) => Self::TwoPoint(TwoPoint {
                low_rber: points.low_rber * factor,
                high_rber: points.high_rber * factor,
                ..points.clone()
            }),
            Self::Grid(grid) => {
                let rber = grid.rber.iter().map(|rate| (rate * factor).min(SATURATED_RBER)).collect();
                Self::Grid(RberGrid { rber, ..grid.clone() })
            }
        }
    }

    /// True if the rate grows with the time since writing.
    pub fn has_retention(&self) -> bool {
        match self {
            Self::PowerLaw(law) => law.beta > 0.0 && law.n > 0.0,
            Self::Grid(grid) => grid.days.len() > 1,
            Self::Exponential(_) | Self::TwoPoint(_) => false,
        }
    }

    /// The RBER in errors per bit, unclamped: beyond 0.5 the model is out of its validity, see [`RberModel::saturated`].
    pub fn rber(&self, cycles: f64, days: f64, reads: f64) -> f64 {
        self.parts(cycles, days, reads).total()
    }

    /// The RBER held at 0.5, and whether it had to be.
    pub fn saturated(&self, cycles: f64, days: f64, reads: f64) -> ClampedRber {
        let rber = self.rber(cycles, days, reads);
        ClampedRber { rber: rber.min(SATURATED_RBER), saturated: rber > SATURATED_RBER }
    }

    /// P/E cycles at which the RBER reaches `rber` at the given age and reads; 0 if it starts there; `None` if 10^12 cycles
    /// do not suffice. Relative accuracy 1e-12.
    pub fn cycles_to_reach(&self, rber: f64, days: f64, reads: f64) -> Option<f64> {
        first_reaching(rber, |cycles| self.rber(cycles, days, reads))
    }

    /// Days since writing at which the RBER reaches `rber`, other things equal; limits as for cycles.
    pub fn days_to_reach(&self, rber: f64, cycles: f64, reads: f64) -> Option<f64> {
        first_reaching(rber, |days| self.rber(cycles, days, reads))
    }

    /// Reads since erasure at which the RBER reaches `rber`, other things equal; limits as for cycles.
    pub fn reads_to_reach(&self, rber: f64, cycles: f64, days: f64) -> Option<f64> {
        first_reaching(rber, |reads| self.rber(cycles, days, reads))
    }
}

/// The least x at which the non-decreasing `f` reaches `target`, by doubling and bisection.
fn first_reaching(target: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    const LIMIT: f64 = 1e12;
    if f(0.0) >= target {
        return Some(0.0);
    }
    let mut high = 1e-6;
    while f(high) < target {
        high *= 2.0;
        if high > LIMIT {
            return None;
        }
    }
    let mut low = if high > 1e-6 { high / 2.0 } else { 0.0 };
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if f(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// `value` at least 0 and finite, or the error that names `field.name`.
fn not_negative(field: &str, name: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ConfigError::new(&format!("{field}.{name}"), value, "must be a finite number of at least 0"))
}

/// `value` a rate above 0 and at most 0.5, or the error that names `field.name`.
fn positive_rate(field: &str, name: &str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value <= SATURATED_RBER {
        return Ok(());
    }
    Err(ConfigError::new(&format!("{field}.{name}"), value, "must be above 0 and at most 0.5 errors per bit"))
}

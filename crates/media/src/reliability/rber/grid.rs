//! A table of measured rates, interpolated.

use super::{RberParts, SATURATED_RBER};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rates at the nodes of a grid of cycles, days and reads; between them straight lines in P/E cycles, in ln(1 + hours) and in reads. Charge
/// leaks about with the logarithm of time (Mielke et al., "Bit Error Rate in NAND Flash Memories", IRPS 2008); that the hour is the unit is
/// assumed. Outside the grid the rate is that of its edge. As the nodes never fall along an axis, neither does what lies between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RberGrid {
    /// P/E cycles of the nodes, rising.
    pub cycles: Vec<f64>,
    /// Days since writing of the nodes, rising.
    pub days: Vec<f64>,
    /// Reads since the erasure of the nodes, rising.
    pub reads: Vec<f64>,
    /// Errors per bit at each node, above 0 and at most 0.5, falling along no axis: for each number of cycles each number of days, and for
    /// each of these each number of reads.
    pub rber: Vec<f64>,
}

const HOURS: f64 = 24.0;
/// Nodes of a grid: half a megabyte.
pub(crate) const MOST_NODES: usize = 65_536;

impl RberGrid {
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let refuse = |name: &str, value: String, limit: &str| {
            Err(ConfigError::new(&format!("{field}.{name}"), value, limit))
        };
        for (name, axis) in [("cycles", &self.cycles), ("days", &self.days), ("reads", &self.reads)] {
            let proper = axis.iter().all(|at| at.is_finite() && *at >= 0.0);
            if axis.is_empty() || !proper || !axis.is_sorted_by(|a, b| a < b) {
                return refuse(name, format!("{axis:?}"), "must be one or more rising numbers of at least 0");
            }
        }
        let nodes = self.cycles.len() * self.days.len() * self.reads.len();
        if nodes != self.rber.len() || nodes > MOST_NODES {
            let limit =
                format!("must be one for each of the {nodes} nodes, of which {MOST_NODES} are the most");
            return refuse("rber", format!("{} rates", self.rber.len()), &limit);
        }
        if let Some(rate) = self.rber.iter().find(|&&rate| !(rate > 0.0 && rate <= SATURATED_RBER)) {
            return refuse("rber", rate.to_string(), "must be above 0 and at most 0.5 errors per bit");
        }
        let (plane, line) = (self.days.len() * self.reads.len(), self.reads.len());
        for (index, &rate) in self.rber.iter().enumerate() {
            let before = [
                (index >= plane).then(|| index - plane),
                (index % plane >= line).then(|| index - line),
                (index % line >= 1).then(|| index - 1),
            ];
            if before.into_iter().flatten().any(|before| self.rber[before] > rate) {
                return refuse(
                    "rber",
                    rate.to_string(),
                    "must not be below its neighbour of less wear, age or reads",
                );
            }
        }
        Ok(())
    }

    /// The grid ready to be read, `ln` being the logarithm that ages are looked up by.
    pub(crate) fn table(&self, ln: impl Fn(f64) -> f64) -> GridTable {
        GridTable {
            cycles: self.cycles.clone(),
            ages: self.days.iter().map(|days| ln(1.0 + HOURS * days)).collect(),
            reads: self.reads.clone(),
            rber: self.rber.clone(),
        }
    }

    pub(super) fn parts(&self, cycles: f64, days: f64, reads: f64) -> RberParts {
        let table = self.table(f64::ln);
        let at = |cycles, days: f64, reads| table.at(cycles, age(days, f64::ln), reads);
        let (floor, worn) = (at(0.0, 0.0, 0.0), at(cycles, 0.0, 0.0));
        let (aged, read) = (at(cycles, days, 0.0), at(cycles, days, reads));
        RberParts { floor, wear: worn - floor, retention: aged - worn, disturbance: read - aged }
    }

    /// The same chip where time counts `factor` times as much.
    pub(super) fn accelerated(&self, factor: f64) -> Self {
        Self { days: self.days.iter().map(|days| days / factor).collect(), ..self.clone() }
    }
}

/// Position of an age on the axis of ages.
#[inline]
pub(crate) fn age(days: f64, ln: impl Fn(f64) -> f64) -> f64 {
    ln(1.0 + HOURS * days)
}

/// A [`RberGrid`] ready to be read.
#[derive(Clone, Debug)]
pub(crate) struct GridTable {
    cycles: Vec<f64>,
    ages: Vec<f64>,
    reads: Vec<f64>,
    rber: Vec<f64>,
}

impl GridTable {
    /// The rate, `age` being what [`age`] gives.
    pub(crate) fn at(&self, cycles: f64, age: f64, reads: f64) -> f64 {
        let (cycle, cycle_part) = place(&self.cycles, cycles);
        let (day, day_part) = place(&self.ages, age);
        let (read, read_part) = place(&self.reads, reads);
        let line = self.reads.len();
        let plane = line * self.ages.len();
        let next = |index: usize, part: f64, step: usize| index + if part > 0.0 { step } else { 0 };
        let along_reads =
            |from: usize| between(self.rber[from], self.rber[next(from, read_part, 1)], read_part);
        let along_days =
            |from: usize| between(along_reads(from), along_reads(next(from, day_part, line)), day_part);
        let from = cycle * plane + day * line + read;
        between(along_days(from), along_days(next(from, cycle_part, plane)), cycle_part)
    }
}

fn between(low: f64, high: f64, part: f64) -> f64 {
    low + part * (high - low)
}

/// The node at or below `value`, and the part of the way to the next; the end where there is none.
fn place(axis: &[f64], value: f64) -> (usize, f64) {
    match axis.partition_point(|&at| at <= value) {
        0 => (0, 0.0),
        after if after == axis.len() => (after - 1, 0.0),
        after => (after - 1, (value - axis[after - 1]) / (axis[after] - axis[after - 1])),
    }
}

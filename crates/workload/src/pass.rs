//! Seeds of a pass over a workload. Hot addresses stay the same from pass to pass; the order of requests does not.

use crate::WorkloadTarget;
use outlast_units::rng::{mix, sub_seed};

/// The seeds of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassSeeds {
    /// Number of the pass: 0 is the measured run, others precondition.
    pub(crate) pass: u64,
    /// Seed of properties of the workload, such as the set of hot addresses: the same in every pass.
    pub(crate) layout: u64,
    /// Seed of draws, such as the next request: another in every pass.
    pub(crate) chance: u64,
}

impl PassSeeds {
    /// The seeds of pass number `pass` of a run on `target`.
    pub(crate) fn new(target: &WorkloadTarget, pass: u64) -> Self {
        let chance = match pass {
            0 => target.seed,
            pass => mix(sub_seed(target.seed, "engine.precondition") ^ pass),
        };
        Self { pass, layout: target.seed, chance }
    }

    /// The seeds of a named part of the workload: both the layout and the draws are the part's own.
    pub(crate) fn within(self, part: &str) -> Self {
        Self { layout: sub_seed(self.layout, part), chance: sub_seed(self.chance, part), ..self }
    }

    /// The seeds of a part that shares the layout of the whole, such as a phase, and draws by itself.
    pub(crate) fn drawn_by(self, part: &str) -> Self {
        Self { chance: sub_seed(self.chance, part), ..self }
    }
}

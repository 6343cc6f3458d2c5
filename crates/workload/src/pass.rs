//! Seeds of a pass over a workload: of what stays from pass to pass, and of what is drawn anew.

use crate::Target;
use outlast_units::rng::{mix, sub_seed};

/// The seeds of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassSeeds {
    /// Number of the pass; 0 is the measured run.
    pub(crate) pass: u64,
    /// Of what is a property of the workload, such as which places are hot: the same in every pass.
    pub(crate) layout: u64,
    /// Of what is chance, such as which request comes next: each pass has another.
    pub(crate) chance: u64,
}

impl PassSeeds {
    /// The seeds of pass number `pass` of a run on `target`.
    pub(crate) fn of(target: &Target, pass: u64) -> Self {
        let chance = match pass {
            0 => target.seed,
            pass => mix(sub_seed(target.seed, "engine.precondition") ^ pass),
        };
        Self { pass, layout: target.seed, chance }
    }

    /// The seeds of a part of the workload; parts of one name are laid out alike.
    pub(crate) fn within(self, part: &str) -> Self {
        Self { layout: sub_seed(self.layout, part), chance: sub_seed(self.chance, part), ..self }
    }

    /// The seeds of a part that draws by itself over the places of the whole.
    pub(crate) fn drawn_by(self, part: &str) -> Self {
        Self { chance: sub_seed(self.chance, part), ..self }
    }
}

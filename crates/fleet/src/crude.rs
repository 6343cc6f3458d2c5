//! Whole fleets, played and counted.

use crate::{Fleet, FleetMachine, FleetTally, GroupLoss, LossCause};
use outlast_units::rng::{mix, sub_seed};

/// One fleet over its years.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetLife {
    /// Losses, in order of time.
    pub losses: Vec<GroupLoss>,
    /// Moment in hours and drive of every failure.
    pub failures: Vec<(f64, u32)>,
    /// Counts and times.
    pub tally: FleetTally,
}

/// The `number`-th fleet of `seed`, played for `hours`.
pub fn life(fleet: &Fleet, hours: f64, seed: u64, number: u64) -> FleetLife {
    let mut machine = FleetMachine::new(fleet, mix(sub_seed(seed, "crude") ^ mix(number)));
    machine.run(hours);
    FleetLife {
        losses: machine.losses().to_vec(),
        failures: machine.failures().to_vec(),
        tally: machine.tally().clone(),
    }
}

impl LossCause {
    /// Name of the cause in results.
    pub fn name(self) -> String {
        match self {
            Self::Age(step) => format!("age-{step}"),
            Self::Die => "die".into(),
            Self::Burst(scope) => format!("burst-{}", FleetMachine::scope_name(scope)),
            Self::Contagion => "contagion".into(),
            Self::Unreadable => "unreadable".into(),
        }
    }
}

//! Whole fleets, played and counted.

use crate::{Fleet, FleetMachine, FleetTally, GroupLoss, LossCause};
use outlast_units::rng::{mix, sub_seed};
use std::collections::BTreeMap;

/// Events between two looks at whether to go on, after which losses are counted and dropped.
const SLICE: u64 = 1 << 16;

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

/// Counts of what a fleet met in its years: its size does not grow with events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeCount {
    /// Moment of the first loss in hours.
    pub first_loss: Option<f64>,
    /// Losses; a group that is lost again after its repair is counted again.
    pub losses: u64,
    /// Losses by their cause.
    pub causes: BTreeMap<LossCause, u64>,
    /// Groups that lost data for the first time in each year.
    pub groups_lost: Vec<u64>,
    /// Counts and times.
    pub tally: FleetTally,
}

/// The fleet that [`life`] plays, counted as it goes. `goes_on` gets the events so far now and then; `None` if it has ended the play.
pub fn counted_life(
    fleet: &Fleet,
    years: u32,
    year_hours: f64,
    seed: u64,
    number: u64,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Option<LifeCount> {
    let mut machine = FleetMachine::new(fleet, mix(sub_seed(seed, "crude") ^ mix(number)));
    let mut count = LifeCount { groups_lost: vec![0; years as usize], ..LifeCount::default() };
    let mut has_lost = vec![false; fleet.groups()];
    loop {
        let is_over = !machine.run_events(f64::from(years) * year_hours, SLICE);
        for loss in machine.take_losses() {
            count.first_loss.get_or_insert(loss.at);
            count.losses += 1;
            *count.causes.entry(loss.cause).or_default() += 1;
            if !std::mem::replace(&mut has_lost[loss.group as usize], true) {
                let year = ((loss.at / year_hours) as usize).min(years as usize - 1);
                count.groups_lost[year] += 1;
            }
        }
        if is_over {
            count.tally = machine.tally().clone();
            return Some(count);
        }
        if !goes_on(machine.tally().events) {
            return None;
        }
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

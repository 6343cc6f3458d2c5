//! Lengths of time in which the drives that could bring a loss nearer fail at constant rates.

use crate::FleetMachine;

/// Drives that bring a loss nearer if they fail, and until when their rates stay what they are and nothing else happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct HazardSegment {
    pub(crate) drives: Vec<u32>,
    rates: Vec<f64>,
    /// Bursts that hit some of these drives: which of the plan's, in which domain, and how often.
    bursts: Vec<(usize, usize, f64)>,
    /// Rate of all bursts that do.
    pub(crate) burst_rate: f64,
    /// Rate of all that brings a loss nearer: the drives and these bursts.
    pub(crate) rate: f64,
    /// The next candidate of chance, which is not one of these drives.
    pub(crate) by_chance: f64,
    /// End of the segment.
    pub(crate) end: f64,
}

impl HazardSegment {
    /// The segment that begins now, for groups that miss `level` pieces.
    pub(crate) fn measure(&mut self, machine: &mut FleetMachine, level: usize, horizon: f64) {
        machine.drives_at(level, &mut self.drives);
        self.rates.clear();
        self.rates.extend(self.drives.iter().map(|&drive| machine.rate_of(drive)));
        machine.burst_rates(&self.drives, &mut self.bursts);
        self.burst_rate = self.bursts.iter().map(|burst| burst.2).sum();
        self.rate = self.rates.iter().sum::<f64>() + self.burst_rate;
        self.by_chance = machine.now() + machine.wait(machine.stream_rate());
        let change =
            self.drives.iter().map(|&drive| machine.until_rate_changes(drive)).fold(f64::INFINITY, f64::min);
        // At least some seconds: an age that rounds to its step is in the next.
        let change = machine.now() + change.max(1e-3);
        self.end = horizon.min(machine.next_due()).min(self.by_chance).min(change);
    }

    pub(crate) fn hours(&self, machine: &FleetMachine) -> f64 {
        (self.end - machine.now()).max(0.0)
    }

    /// Plays to the end of the segment; false at the horizon.
    pub(crate) fn play(&self, machine: &mut FleetMachine, horizon: f64) -> bool {
        if self.end < self.by_chance.min(machine.next_due()) {
            // A rate changes, or the horizon is reached.
            machine.pass(self.end);
            return self.end < horizon;
        }
        machine.step_to(self.by_chance, horizon, crate::machine::UnreadableData::Weighed, &self.drives)
    }

    /// Lets one of them happen to a machine, with the share that its rate has.
    pub(crate) fn strike(&self, machine: &mut FleetMachine) {
        let mut place = machine.unit() * self.rate;
        if place < self.burst_rate {
            self.strike_by_burst(machine);
            return;
        }
        place -= self.burst_rate;
        let at = self.rates.iter().position(|rate| {
            place -= rate;
            place < 0.0
        });
        // Rounding may leave a rest: the last drive that can fail takes it.
        let last = self.rates.iter().rposition(|&rate| rate > 0.0);
        if let Some(index) = at.or(last) {
            machine.fail_by_age(self.drives[index]);
        }
    }

    /// Lets one of the bursts happen to a machine.
    pub(crate) fn strike_by_burst(&self, machine: &mut FleetMachine) {
        let mut place = machine.unit() * self.burst_rate;
        for &(index, domain, rate) in &self.bursts {
            place -= rate;
            if place < 0.0 && rate > 0.0 {
                machine.burst_on(index, domain, &self.drives);
                return;
            }
        }
    }

    /// Rate of the drive at an index.
    pub(crate) fn rate_at(&self, index: usize) -> f64 {
        self.rates[index]
    }

    /// True if the segment ends with a repair on which all data of a group depend.
    pub(crate) fn ends_critically(&self, machine: &FleetMachine) -> bool {
        machine.next_due() <= self.end && machine.next_is_critical()
    }
}

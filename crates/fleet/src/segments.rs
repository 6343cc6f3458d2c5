//! Lengths of time in which the drives that could bring a loss nearer fail at constant rates.

use crate::Machine;

/// Drives that bring a loss nearer if they fail, and until when their rates stay what they are and nothing else happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) drives: Vec<u32>,
    rates: Vec<f64>,
    /// Sum of their rates.
    pub(crate) rate: f64,
    /// The next candidate of chance, which is not one of these drives.
    pub(crate) by_chance: f64,
    /// End of the segment.
    pub(crate) end: f64,
}

impl Segment {
    /// The segment that begins now, for groups that miss `level` pieces.
    pub(crate) fn measure(&mut self, machine: &mut Machine, level: usize, horizon: f64) {
        machine.drives_at(level, &mut self.drives);
        self.rates.clear();
        self.rates.extend(self.drives.iter().map(|&drive| machine.rate_of(drive)));
        self.rate = self.rates.iter().sum();
        self.by_chance = machine.now() + machine.wait(machine.stream_rate());
        let change =
            self.drives.iter().map(|&drive| machine.until_rate_changes(drive)).fold(f64::INFINITY, f64::min);
        // At least some seconds: an age that rounds to its step is in the next.
        let change = machine.now() + change.max(1e-3);
        self.end = horizon.min(machine.next_due()).min(self.by_chance).min(change);
    }

    pub(crate) fn hours(&self, machine: &Machine) -> f64 {
        (self.end - machine.now()).max(0.0)
    }

    /// Plays to the end of the segment; false at the horizon.
    pub(crate) fn play(&self, machine: &mut Machine, horizon: f64) -> bool {
        if self.end < self.by_chance.min(machine.next_due()) {
            // A rate changes, or the horizon is reached.
            machine.pass(self.end);
            return self.end < horizon;
        }
        machine.step_to(self.by_chance, horizon, crate::machine::Unreadable::Weighed, &self.drives)
    }

    /// A drive, with the share that its rate has.
    pub(crate) fn draw(&self, machine: &mut Machine) -> u32 {
        let mut place = machine.unit() * self.rate;
        for (&drive, rate) in self.drives.iter().zip(&self.rates) {
            place -= rate;
            if place < 0.0 {
                return drive;
            }
        }
        self.drives[self.rates.iter().rposition(|&rate| rate > 0.0).unwrap_or(0)]
    }

    /// Rate of the drive at an index.
    pub(crate) fn rate_at(&self, index: usize) -> f64 {
        self.rates[index]
    }

    /// True if the segment ends with a repair on which all data of a group depend.
    pub(crate) fn ends_critically(&self, machine: &Machine) -> bool {
        machine.next_due() <= self.end && machine.next_is_critical()
    }
}

//! What the room counts.

use crate::flash::Flash;
use outlast_units::Nanos;

impl<T: Copy> Flash<T> {
    /// The share of `span`, which ends at `now`, for which each channel was busy since the last reset.
    pub fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.channels.iter().map(|channel| share(channel.busy_until(now), span)).collect()
    }

    /// The share of `span`, which ends at `now`, for which each die was busy since the last reset.
    pub fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.dies.iter().map(|die| share(die.busy_until(now), span)).collect()
    }

    /// How long each die has been busy since the last reset.
    pub fn die_busy(&self, now: Nanos) -> Vec<Nanos> {
        self.dies.iter().map(|die| die.busy_until(now)).collect()
    }

    /// How long each channel has been busy since the last reset.
    pub fn channel_busy(&self, now: Nanos) -> Vec<Nanos> {
        self.channels.iter().map(|channel| channel.busy_until(now)).collect()
    }

    /// Programs and erases suspended by reads since the last reset.
    pub fn suspends(&self) -> u64 {
        self.suspends
    }

    /// Starts counting anew.
    pub fn reset_figures(&mut self, now: Nanos) {
        self.suspends = 0;
        for channel in &mut self.channels {
            channel.reset(now);
        }
        for die in &mut self.dies {
            die.reset_busy(now);
        }
    }
}

fn share(busy: Nanos, span: Nanos) -> f64 {
    busy.0 as f64 / span.0.max(1) as f64
}

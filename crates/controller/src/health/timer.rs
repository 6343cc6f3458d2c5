//! The one timer of all that a drive does at times of its own: scrubbing, sudden failures, ageing, changes, covers.

use outlast_units::Nanos;

/// When housekeeping is next due.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Timer {
    at: Nanos,
}

impl Default for Timer {
    fn default() -> Self {
        Self { at: Nanos::MAX }
    }
}

impl Timer {
    /// Housekeeping is wanted at `at` or earlier. True where that is earlier than it was due.
    pub(crate) fn call(&mut self, at: Nanos) -> bool {
        let is_earlier = at < self.at;
        self.at = self.at.min(at);
        is_earlier
    }

    /// Housekeeping begins: it is due no more until it is called again.
    pub(crate) fn stop(&mut self) {
        self.at = Nanos::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_call_moves_the_timer() {
        let mut timer = Timer::default();
        assert!(
            timer.call(Nanos(7)) && !timer.call(Nanos(7)) && !timer.call(Nanos(8)) && timer.call(Nanos(6))
        );
        timer.stop();
        assert!(timer.call(Nanos(8)) && !timer.call(Nanos::MAX));
    }
}

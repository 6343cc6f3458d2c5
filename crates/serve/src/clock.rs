//! Simulated time of devices in service.

use std::time::Duration;

use outlast_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Kind of clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockMode {
    /// The system's monotonic clock, `speed` times as fast (0.001 to 1000).
    Wall {
        /// Simulated seconds in a real second.
        speed: f64,
    },
    /// Time stands still while no request is under way; otherwise it jumps from event to event.
    Virtual,
}

impl ClockMode {
    /// Allowed speeds.
    pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
}

/// Time of the system's monotonic clock.
#[inline]
pub(crate) fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// True if times need no scaling. Compares bits, since 1.0 is exact and clippy rejects `==` on floats.
#[inline]
fn is_one(speed: f64) -> bool {
    speed.to_bits() == 1f64.to_bits()
}

/// Simulated time, which never runs backwards.
#[derive(Clone, Debug)]
pub(crate) struct ServiceClock {
    mode: ClockMode,
    is_paused: bool,
    /// Simulated time, and the monotonic time at which a wall clock showed it.
    base: (Nanos, Duration),
    /// Latest time that the clock has shown.
    last: Nanos,
}

impl ServiceClock {
    /// A clock that shows `start` now.
    pub(crate) fn new(mode: ClockMode, start: Nanos) -> Self {
        Self { mode, is_paused: false, base: (start, monotonic()), last: start }
    }

    pub(crate) fn mode(&self) -> ClockMode {
        self.mode
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// True if time jumps: a virtual clock that is not paused.
    #[inline]
    pub(crate) fn leaps(&self) -> bool {
        self.mode == ClockMode::Virtual && !self.is_paused
    }

    /// Present simulated time.
    #[inline]
    pub(crate) fn now(&mut self) -> Nanos {
        self.at(monotonic)
    }

    #[inline]
    fn at(&mut self, monotonic: impl FnOnce() -> Duration) -> Nanos {
        if let (ClockMode::Wall { speed }, false) = (self.mode, self.is_paused) {
            let passed = monotonic().saturating_sub(self.base.1).as_nanos() as u64;
            // Exact at speed 1. At others a double still resolves a microsecond over years.
            let passed = if is_one(speed) { passed } else { (passed as f64 * speed) as u64 };
            self.last = self.last.max(Nanos(self.base.0.0.saturating_add(passed)));
        }
        self.last
    }

    /// Moves time forward to `at`, if that is later. For virtual clocks, and for others on request.
    pub(crate) fn leap(&mut self, at: Nanos) {
        let now = self.now();
        if at > now {
            self.last = at;
            self.base = (at, monotonic());
        }
    }

    /// Time on the system's monotonic clock at which simulated time reaches `at`; `None` if it does not by itself.
    #[inline]
    pub(crate) fn wall_of(&self, at: Nanos) -> Option<Duration> {
        let ClockMode::Wall { speed } = self.mode else { return None };
        if self.is_paused {
            return None;
        }
        let ahead = at.0.saturating_sub(self.base.0.0);
        let ahead = if is_one(speed) { ahead } else { (ahead as f64 / speed).ceil() as u64 };
        Some(self.base.1 + Duration::from_nanos(ahead))
    }

    /// Lets time run `speed` times as fast as the system's. A virtual clock becomes a wall clock.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.rebase();
        self.mode = ClockMode::Wall { speed };
    }

    /// Makes the clock a virtual one.
    pub(crate) fn set_virtual(&mut self) {
        self.rebase();
        self.mode = ClockMode::Virtual;
    }

    /// Stops time, or lets it go on.
    pub(crate) fn pause(&mut self, paused: bool) {
        self.rebase();
        self.is_paused = paused;
    }

    fn rebase(&mut self) {
        // Whatever changes, time continues from the moment of the change.
        self.base = (self.now(), monotonic());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time that the clock shows `passed` after its start.
    fn shows(clock: &mut ServiceClock, passed: Duration) -> Nanos {
        let at = clock.base.1 + passed;
        clock.at(|| at)
    }

    #[test]
    fn a_wall_clock_runs_at_its_speed() {
        for (speed, expected) in [(1.0, 2_000_000_000), (0.5, 1_000_000_000), (10.0, 20_000_000_000)] {
            let mut clock = ServiceClock::new(ClockMode::Wall { speed }, Nanos(7));
            assert_eq!(shows(&mut clock, Duration::from_secs(2)), Nanos(7 + expected));
            // A deadline is mapped to the first system time at which it is reached.
            let due = clock.wall_of(Nanos(7 + expected)).unwrap();
            assert_eq!(due, clock.base.1 + Duration::from_secs(2));
        }
    }

    #[test]
    fn a_deadline_is_reached_when_its_timer_fires() {
        for speed in [0.001, 0.3, 1.0, 3.7, 1000.0] {
            let mut clock = ServiceClock::new(ClockMode::Wall { speed }, Nanos(123));
            for ahead in [1, 17, 999, 60_001, 123_456_789, 98_765_432_123] {
                let due = clock.wall_of(Nanos(123 + ahead)).unwrap();
                let shown = clock.at(|| due);
                // A double has 53 bits, so it resolves a nanosecond in a hundred days.
                assert!(shown.0 + 1 >= 123 + ahead, "at {speed}: {shown} for {ahead}");
            }
        }
    }

    #[test]
    fn time_never_runs_backwards() {
        let mut clock = ServiceClock::new(ClockMode::Wall { speed: 100.0 }, Nanos::ZERO);
        let before = shows(&mut clock, Duration::from_secs(1));
        clock.set_speed(0.001);
        assert!(clock.now() >= before);
        clock.pause(true);
        let stands = clock.now();
        assert_eq!(clock.wall_of(stands + Nanos(1)), None);
        assert_eq!(shows(&mut clock, Duration::from_secs(5)), stands);
        clock.leap(stands + Nanos(5));
        assert_eq!(clock.now(), stands + Nanos(5));
        clock.leap(stands);
        assert_eq!(clock.now(), stands + Nanos(5));
        clock.pause(false);
        assert!(clock.now() >= stands + Nanos(5));
        clock.set_virtual();
        let stands = clock.now();
        assert!(clock.leaps() && clock.now() == stands && clock.wall_of(stands + Nanos(9)).is_none());
    }
}

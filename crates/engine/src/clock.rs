//! The wall clock and the processor's clock: the only place in the core that reads them, and only to report what a run cost.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Wall and processor time since its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu_s: f64,
}

impl Stopwatch {
    #[allow(
        clippy::disallowed_methods,
        reason = "the engine is the room with a clock; simulated time never sees it"
    )]
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu_s: cpu_s() }
    }

    pub(crate) fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    pub(crate) fn cpu_s(&self) -> f64 {
        cpu_s() - self.cpu_s
    }
}

thread_local! {
    /// Processor time of finished helper threads of this thread, in seconds.
    static HELPED: Cell<f64> = const { Cell::new(0.0) };
}

/// Adds the processor time of a helper thread that has ended, in seconds.
pub(crate) fn add_cpu_s(cpu_s: f64) {
    HELPED.with(|helped| helped.set(helped.get() + cpu_s));
}

/// Processor time of this thread and of its helpers, in seconds.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Of the thread, not of the process, which may run several simulations side by side.
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9 + HELPED.with(Cell::get)
}

/// Limits reports of progress to one in 50 ms of wall time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgressTimer {
    last: Instant,
}

impl ProgressTimer {
    const INTERVAL: Duration = Duration::from_millis(50);
    /// Wall time since the last report, or the beginning, after which one is overdue.
    const OVERDUE: Duration = Duration::from_secs(1);

    /// A timer that is due at once.
    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { last: now.checked_sub(Self::INTERVAL).unwrap_or(now) }
    }

    /// True if a report has been due for long; starts the next interval then.
    pub(crate) fn is_overdue(&mut self) -> bool {
        self.has_passed(Self::OVERDUE)
    }

    /// True if a report is due; starts the next interval then.
    pub(crate) fn is_due(&mut self) -> bool {
        self.has_passed(Self::INTERVAL)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    fn has_passed(&mut self, wall_time: Duration) -> bool {
        let now = Instant::now();
        let passed = now.duration_since(self.last) >= wall_time;
        if passed {
            self.last = now;
        }
        passed
    }
}

/// Requests between two looks at the clock: fewer where requests are slow, and always a power of two.
#[derive(Debug)]
pub(crate) struct LookInterval {
    requests: u64,
    most: u64,
    last: Instant,
}

impl LookInterval {
    /// Wall time between two looks above which the interval shrinks, and below which it grows.
    const LONG: Duration = Duration::from_millis(250);
    const SHORT: Duration = Duration::from_millis(50);

    /// An interval of one request, which grows to `most`, a power of two, where requests are quick.
    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    pub(crate) fn new(most: u64) -> Self {
        Self { requests: 1, most, last: Instant::now() }
    }

    /// Number of requests at which to look next, after `done`.
    pub(crate) fn next_look(&self, done: u64) -> u64 {
        (done / self.requests + 1) * self.requests
    }

    /// Looks after `done` requests and adapts the interval, if they are a multiple of it; false otherwise.
    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    pub(crate) fn look(&mut self, done: u64) -> bool {
        let looks = done.is_multiple_of(self.requests);
        if looks {
            let now = Instant::now();
            self.adapt(now.duration_since(self.last));
            self.last = now;
        }
        looks
    }

    /// Halves the interval after a `pause` that was long, and doubles it after a short one.
    fn adapt(&mut self, pause: Duration) {
        if pause > Self::LONG {
            self.requests = (self.requests / 2).max(1);
        } else if pause < Self::SHORT {
            self.requests = (self.requests * 2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_between_looks_follows_the_cost_of_requests() {
        let mut interval = LookInterval::new(4096);
        // Each request takes so many microseconds.
        let mut looks = |micros: u64| {
            for _ in 0..40 {
                let pause = Duration::from_micros(micros * interval.requests);
                interval.adapt(pause);
                assert!(interval.requests.is_power_of_two() && interval.requests <= 4096);
            }
            interval.requests
        };
        assert_eq!(looks(1), 4096);
        // Looks come every 50 to 250 ms, or after every request that takes longer.
        let slow = looks(1000);
        assert!((50..=250).contains(&slow), "{slow}");
        assert_eq!(looks(2_000_000), 1);
        assert_eq!(looks(1), 4096);
    }

    #[test]
    fn looks_of_any_interval_meet_the_multiples_of_the_longest() {
        for requests in (0..=12).map(|power| 1 << power) {
            let interval = LookInterval { requests, ..LookInterval::new(4096) };
            let mut done = 1000;
            while done < 4096 {
                done = interval.next_look(done);
            }
            assert_eq!(done, 4096);
        }
    }
}

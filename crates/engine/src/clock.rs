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

    /// A timer that is due at once.
    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { last: now.checked_sub(Self::INTERVAL).unwrap_or(now) }
    }

    /// True if a report is due; starts the next interval then.
    #[allow(
        clippy::disallowed_methods,
        reason = "progress is shown to a person, whose time is the wall clock's"
    )]
    pub(crate) fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = now.duration_since(self.last) >= Self::INTERVAL;
        if due {
            self.last = now;
        }
        due
    }
}

//! Phases of fio's loop.

use outlast_units::Nanos;

/// The position in fio's loop. `ddir` is a direction, as fio abbreviates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobPhase {
    /// Before a pass.
    Pass,
    /// At the head of the loop: decides whether to end, flush or issue.
    Top,
    /// Ahead of the other jobs of its flow: waits until nothing is in flight and then sleeps.
    FlowDrain,
    FlowSleep {
        until: Nanos,
    },
    /// Ahead of its rate: waits until nothing is in flight and then sleeps `sleep` microseconds, as decided at microsecond `decided`.
    RateDrain {
        ddir: usize,
        sleep: u64,
        decided: u64,
    },
    /// Asleep to keep the rate.
    RateSleep {
        ddir: usize,
        until: Nanos,
    },
    /// Draws and issues a request.
    Fill {
        ddir: usize,
    },
    /// With `zonemode=zbd`: looks for the place of the request that was drawn.
    Place {
        ddir: usize,
    },
    /// Waits until nothing is in flight, and then looks for the place again.
    PlaceDrain {
        ddir: usize,
    },
    /// A zone is being reset for the request.
    ZoneReset {
        ddir: usize,
        zone: u32,
    },
    /// After a request was issued (`Some`) or a flush has ended (`None`).
    Issued {
        ddir: Option<usize>,
    },
    /// The queue is full: waits for `left` completions, and again until at most `depth_low` requests are in flight.
    Reap {
        ddir: Option<usize>,
        left: u32,
    },
    /// Decides whether to think.
    Think {
        ddir: usize,
    },
    /// Waits until nothing is in flight and then thinks.
    ThinkDrain {
        ddir: usize,
        sleep: u64,
    },
    /// Thinks.
    ThinkSleep {
        ddir: usize,
        slept: u64,
        until: Nanos,
    },
    /// A flush is in flight; `last` for the one that ends the job (`end_fsync`).
    Flush {
        last: bool,
    },
    /// The pass is over: waits until nothing is in flight.
    Drain,
    /// After a pass.
    Finish,
    Ended,
}

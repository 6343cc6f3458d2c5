//! Recording of completions: counts, histograms, windows and commands in flight.

use crate::by_state::ByState;
use crate::counts::DriveSnapshot;
use crate::histogram::{ByOp, LatencyHistogram};
use crate::jobs::JobRecorder;
use crate::over_time::OverTime;
use crate::window::{TimeWindow, TimeWindows};
use outlast_device::{Command, Op, Outcome, ZoneAction};
use outlast_units::{Nanos, SECTOR_BYTES};
use outlast_workload::FioJobs;

/// Counts of completed commands; those that ended in an error are counted separately from those served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompletedCounts {
    /// Commands served, by [`Op`]: known once the run has ended.
    pub(crate) commands: [u64; 4],
    /// Bytes of commands served, by [`Op`]: known once the run has ended.
    pub(crate) bytes: [u64; 4],
    /// Commands that ended in an error, by [`Op`].
    pub(crate) failed: [u64; 4],
    /// Commands that ended in an error, by [`Outcome`].
    pub(crate) outcomes: [u64; OUTCOMES],
}

/// Number of kinds of [`Outcome`]s.
const OUTCOMES: usize = Outcome::KINDS;

impl CompletedCounts {
    /// Commands that succeeded.
    pub(crate) fn served(&self) -> u64 {
        self.commands.iter().sum()
    }

    /// Commands that ended in an error.
    pub(crate) fn errors(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Commands that ended, with or without an error.
    pub(crate) fn total(&self) -> u64 {
        self.served() + self.errors()
    }

    /// Commands that ended with this error.
    pub(crate) fn ended(&self, outcome: Outcome) -> u64 {
        self.outcomes[usize::from(outcome.kind())]
    }
}

/// Number of commands in flight, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlightIntegral {
    now: u32,
    pub(crate) most: u32,
    last: Nanos,
    /// ∫ (commands in flight) dt, in command-nanoseconds.
    area: u128,
}

impl InFlightIntegral {
    /// Adds `by` commands at `at`.
    #[inline]
    fn change(&mut self, at: Nanos, by: i32) {
        // Exact in whole command-nanoseconds, so that Little's law holds to the last digit.
        self.area += u128::from((at - self.last).0) * u128::from(self.now);
        self.last = at;
        self.now = self.now.wrapping_add_signed(by);
        self.most = self.most.max(self.now);
    }

    /// The integral up to `at`.
    pub(crate) fn area_until(&self, at: Nanos) -> u128 {
        self.area + u128::from(at.saturating_sub(self.last).0) * u128::from(self.now)
    }

    fn restart(&mut self, at: Nanos) {
        *self = Self { now: self.now, most: self.now, last: at.max(self.last), area: 0 };
    }
}

/// Collects completions into histograms, counts and windows.
#[derive(Debug)]
pub(crate) struct RunRecorder {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) completed: CompletedCounts,
    /// Sum of the time that completed commands spent in the drive since `start`, in nanoseconds, independent of the histograms: for Little's
    /// law. Of a command submitted before `start` only the part since then counts; its latency, though, is recorded whole.
    latency_sum: u128,
    /// Sum of the submission times of the commands now in flight, each at least `start`, in nanoseconds.
    open_since: u128,
    /// Commands that completed during the warm-up.
    pub(crate) warmed: u64,
    /// Commands in flight at `start`.
    in_flight_before: u32,
    /// Time of the last arrival; before `start` if there was none since.
    last_arrival: Nanos,
    pub(crate) in_flight: InFlightIntegral,
    pub(crate) latency: ByOp,
    /// Latencies of commands with a stream hint other than zero, by hint, each allocated at its first command. Stream 0 is what remains of
    /// `latency`.
    pub(crate) by_stream: Vec<(u16, ByOp)>,
    /// Latencies by state of the array; empty for a drive by itself.
    pub(crate) by_state: ByState,
    pub(crate) windows: TimeWindows,
    /// Latencies of commands that change the state of a zone, by action; absent before the first.
    pub(crate) zone_latency: Option<Box<[LatencyHistogram; ZoneAction::ALL.len()]>>,
    /// Records by job; empty for a host without jobs.
    pub(crate) jobs: JobRecorder,
    pub(crate) digits: u8,
    /// Utilisation over time; only with `run.utilisation`.
    pub(crate) over_time: Option<Box<OverTime>>,
}

impl RunRecorder {
    pub(crate) fn new(digits: u8, windows: TimeWindows, fio_jobs: Option<&FioJobs>) -> Self {
        Self {
            jobs: JobRecorder::new(fio_jobs, digits),
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            completed: CompletedCounts::default(),
            latency_sum: 0,
            open_since: 0,
            warmed: 0,
            in_flight_before: 0,
            last_arrival: Nanos::ZERO,
            in_flight: InFlightIntegral::default(),
            latency: ByOp::new(digits),
            by_stream: Vec::new(),
            by_state: ByState::default(),
            zone_latency: None,
            windows,
            digits,
            over_time: None,
        }
    }

    /// Drops all records except commands in flight: measuring begins at `at`.
    pub(crate) fn restart(&mut self, at: Nanos, snapshot: &DriveSnapshot) {
        let mut fresh = Self::new(self.digits, self.windows.restarted(at, snapshot), None);
        fresh.jobs = std::mem::take(&mut self.jobs);
        fresh.jobs.restart(at);
        fresh.over_time = self.over_time.take();
        fresh.over_time.iter_mut().for_each(|over_time| over_time.restart(at));
        fresh.in_flight = self.in_flight;
        fresh.in_flight.restart(at);
        fresh.open_since = u128::from(fresh.in_flight.now) * u128::from(at.0);
        self.sum_windows();
        fresh.warmed = self.completed.total();
        fresh.in_flight_before = self.in_flight.now;
        fresh.last_arrival = self.last_arrival;
        fresh.start = at;
        fresh.end = at;
        *self = fresh;
    }

    /// Counts a command submitted at `at`.
    #[inline]
    pub(crate) fn submitted(&mut self, at: Nanos) {
        self.in_flight.change(at, 1);
        self.last_arrival = at;
        self.open_since += u128::from(at.max(self.start).0);
    }

    /// Records a command submitted at `since` that completed at `at`. Windows that end before `at` must be closed already
    /// ([`RunRecorder::close_windows`]).
    #[allow(clippy::inline_always, reason = "once for each request")]
    #[inline(always)]
    pub(crate) fn completed(&mut self, command: &Command, since: Nanos, at: Nanos, outcome: Outcome) {
        self.in_flight.change(at, -1);
        self.end = at;
        let latency = (at - since).0;
        // The same clipped time as `submitted` and `restart` have added.
        let begun = since.max(self.start);
        self.open_since -= u128::from(begun.0);
        self.latency_sum += u128::from((at - begun).0);
        let op = command.op;
        self.count(command, outcome);
        if !matches!(outcome, Outcome::Ok) {
            return;
        }
        self.windows.latency.of_mut(op).record(latency);
        // Stream 0 is left out: it is most of the traffic, and follows from the others.
        if command.placement.0 != 0 {
            self.record_stream(command.placement.0, op, latency);
        }
    }

    /// Records a command that changes the state of a zone: it is in flight as others are, and is none of the reads and writes.
    #[cold]
    pub(crate) fn zone_managed(&mut self, command: &Command, since: Nanos, at: Nanos, outcome: Outcome) {
        self.in_flight.change(at, -1);
        self.end = at;
        let begun = since.max(self.start);
        self.open_since -= u128::from(begun.0);
        self.latency_sum += u128::from((at - begun).0);
        if outcome == Outcome::Ok {
            let digits = self.digits;
            let all = self
                .zone_latency
                .get_or_insert_with(|| Box::new(std::array::from_fn(|_| LatencyHistogram::new(digits))));
            all[command.zone_action as usize].record((at - since).0);
        }
    }

    /// Counts a command by outcome, without its latency; all there is to record of one carried out without time.
    #[inline]
    pub(crate) fn count(&mut self, command: &Command, outcome: Outcome) {
        let op = command.op as usize;
        let window = &mut self.windows.current;
        if matches!(outcome, Outcome::Ok) {
            // Counts in the window alone: those of the whole run are summed at its end.
            window.commands[op] += 1;
            window.bytes[op] += u64::from(command.sectors) * SECTOR_BYTES;
        } else {
            self.count_failed(op, outcome);
        }
    }

    // Out of line, so that the kind of an outcome is not worked out for commands that succeed.
    #[cold]
    #[inline(never)]
    fn count_failed(&mut self, op: usize, outcome: Outcome) {
        self.completed.failed[op] += 1;
        self.completed.outcomes[usize::from(outcome.kind())] += 1;
        self.windows.current.errors += 1;
    }

    #[inline(never)]
    fn record_stream(&mut self, stream: u16, op: Op, latency: u64) {
        let index = self.by_stream.iter().position(|&(seen, _)| seen == stream).unwrap_or_else(|| {
            self.by_stream.push((stream, ByOp::new(self.digits)));
            self.by_stream.len() - 1
        });
        self.by_stream[index].1.of_mut(op).record(latency);
    }

    /// True if the current window ends before `at`. A completion at its very end belongs to it, so that the last window is never empty.
    #[inline]
    pub(crate) fn window_ends_by(&self, at: Nanos) -> bool {
        at > self.windows.end
    }

    /// Closes every window that ends before `at`, with the drives' present counts.
    pub(crate) fn close_windows(&mut self, at: Nanos, snapshot: &DriveSnapshot) {
        while self.window_ends_by(at) {
            let area = self.in_flight.area_until(self.windows.end);
            self.windows.close(area, snapshot, &mut self.latency);
        }
    }

    /// Closes the last, shorter window. Nothing may be recorded afterwards.
    pub(crate) fn finish(&mut self, snapshot: &DriveSnapshot) {
        let end = self.end;
        self.close_windows(end, snapshot);
        // No window without time and without commands.
        if self.windows.current != TimeWindow::default() || end > self.windows.start() {
            let area = self.in_flight.area_until(end);
            self.windows.finish(end, area, snapshot, &mut self.latency);
        }
        self.latency.take_in(&mut self.windows.latency);
        self.sum_windows();
    }

    /// Counts the commands that were served over all windows.
    fn sum_windows(&mut self) {
        (self.completed.commands, self.completed.bytes) = self.windows.served();
    }

    /// Time that all commands together spent in the drive from `start` to `end`, in command-nanoseconds. By Little's law it equals the integral
    /// of the commands in flight.
    pub(crate) fn time_in_drive(&self) -> u128 {
        let unfinished = u128::from(self.in_flight.now) * u128::from(self.end.0);
        self.latency_sum + unfinished.saturating_sub(self.open_since)
    }

    pub(crate) fn span(&self) -> Nanos {
        self.end - self.start
    }

    /// Commands that arrived since `start`, and the time from `start` to the last of them.
    pub(crate) fn arrivals(&self) -> (u64, Nanos) {
        // Every arrival has ended or is in flight; those in flight at `start` arrived before it.
        let ended = self.completed.total() + u64::from(self.in_flight.now);
        (ended.saturating_sub(self.in_flight_before.into()), self.last_arrival.saturating_sub(self.start))
    }
}

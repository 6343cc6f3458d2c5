//! The time series: windows of equal length, merged in pairs when there are too many.

use crate::counts::{DriveCounts, DriveSnapshot};
use crate::histogram::{ByOp, LatencyHistogram, OPS};
use outlast_device::Op;
use outlast_ssd::RberLevels;
use outlast_units::Nanos;

/// Latencies of one kind of command in a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LatencySummary {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// One window of the time series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TimeWindow {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    /// Commands that were served.
    pub(crate) commands: [u64; 4],
    /// Bytes of these.
    pub(crate) bytes: [u64; 4],
    /// Sums of latencies of these, in nanoseconds.
    pub(crate) latency_ns: [u128; 4],
    /// Commands that ended in an error.
    pub(crate) errors: u64,
    pub(crate) read: LatencySummary,
    pub(crate) write: LatencySummary,
    /// ∫ (commands in flight) dt, in command-nanoseconds.
    pub(crate) area: u128,
    pub(crate) counts: DriveCounts,
    /// Error rates at its end.
    pub(crate) rber: RberLevels,
    /// Free superblocks at its end.
    pub(crate) free_superblocks: u64,
}

/// All windows of a run. They are of equal length, except for the last, which ends with the run.
#[derive(Clone, Debug)]
pub(crate) struct TimeWindows {
    closed: Vec<TimeWindow>,
    pub(crate) current: TimeWindow,
    /// Latencies of the current window.
    pub(crate) latency: ByOp,
    /// End of the current window.
    pub(crate) end: Nanos,
    width: Nanos,
    /// Most closed windows; even, so that none is left over when they are merged in pairs.
    most: usize,
    last_counts: DriveCounts,
    last_area: u128,
    digits: u8,
}

impl TimeWindows {
    /// Closed windows of equal length: all but a last, shorter one.
    pub(crate) fn whole(&self) -> &[TimeWindow] {
        let shorter = self.closed.last().is_some_and(|last| last.span() < self.width);
        &self.closed[..self.closed.len() - usize::from(shorter)]
    }

    pub(crate) fn new(width: Nanos, most: u32, digits: u8) -> Self {
        Self {
            closed: Vec::new(),
            current: TimeWindow::default(),
            latency: ByOp::new(digits),
            end: width,
            width,
            most: (most as usize & !1).max(2),
            last_counts: DriveCounts::default(),
            last_area: 0,
            digits,
        }
    }

    /// Length of a window.
    pub(crate) fn width(&self) -> Nanos {
        self.width
    }

    /// New windows of the same length from `at`: measuring begins.
    pub(crate) fn restarted(&self, at: Nanos, snapshot: &DriveSnapshot) -> Self {
        let mut fresh = Self::new(self.width, self.most as u32, self.digits);
        fresh.current.start = at;
        fresh.end = at + self.width;
        fresh.last_counts = snapshot.counts;
        fresh
    }

    pub(crate) fn start(&self) -> Nanos {
        self.current.start
    }

    /// Closes the current window, which has reached its length. If there are already as many as allowed, merges those in pairs instead and
    /// extends the current one to the doubled length. The latencies of a closed window are added to `all`.
    pub(crate) fn close(&mut self, area: u128, snapshot: &DriveSnapshot, all: &mut ByOp) {
        if self.merge_full() {
            // `width` has just doubled: this adds what the current window still lacks.
            self.end += self.width - (self.end - self.current.start);
        } else {
            self.push(self.end, area, snapshot, all);
        }
    }

    /// Closes the last window at the end of the run.
    pub(crate) fn finish(&mut self, end: Nanos, area: u128, snapshot: &DriveSnapshot, all: &mut ByOp) {
        // The last window takes a place as well.
        self.merge_full();
        self.push(end, area, snapshot, all);
    }

    /// Merges windows in pairs if there are as many as allowed; true if it did.
    fn merge_full(&mut self) -> bool {
        let full = self.closed.len() == self.most;
        if full {
            self.closed = self.closed.chunks_exact(2).map(|pair| pair[0].merge(&pair[1])).collect();
            self.width = Nanos(self.width.0 * 2);
        }
        full
    }

    /// Closes the current window at `end` and begins the next.
    fn push(&mut self, end: Nanos, area: u128, snapshot: &DriveSnapshot, all: &mut ByOp) {
        self.closed.push(TimeWindow {
            end,
            area: area - self.last_area,
            latency_ns: OPS.map(|op| self.latency.of(op).sum()),
            read: LatencySummary::of(self.latency.of(Op::Read)),
            write: LatencySummary::of(self.latency.of(Op::Write)),
            counts: snapshot.counts - self.last_counts,
            rber: snapshot.rber,
            free_superblocks: snapshot.free_superblocks,
            ..self.current
        });
        all.take_in(&mut self.latency);
        self.last_area = area;
        self.last_counts = snapshot.counts;
        self.current = TimeWindow { start: end, ..TimeWindow::default() };
        self.end = end + self.width;
    }

    /// Commands served in all windows, the current one included, and their bytes; each by [`Op`].
    pub(crate) fn served(&self) -> ([u64; 4], [u64; 4]) {
        let (mut commands, mut bytes) = ([0; 4], [0; 4]);
        for window in self.closed.iter().chain([&self.current]) {
            for op in OPS.map(|op| op as usize) {
                commands[op] += window.commands[op];
                bytes[op] += window.bytes[op];
            }
        }
        (commands, bytes)
    }

    pub(crate) fn closed(&self) -> &[TimeWindow] {
        &self.closed
    }
}

impl TimeWindow {
    /// Commands that were served.
    pub(crate) fn served(&self) -> u64 {
        self.commands.iter().sum()
    }

    /// Commands that ended, with or without an error.
    pub(crate) fn ended(&self) -> u64 {
        self.served() + self.errors
    }

    pub(crate) fn span(&self) -> Nanos {
        self.end - self.start
    }

    /// The moment halfway.
    pub(crate) fn middle(&self) -> Nanos {
        Nanos(self.end.0 - self.span().0 / 2)
    }

    /// Sum of latencies, in nanoseconds.
    pub(crate) fn latency_sum(&self) -> f64 {
        self.latency_ns.iter().map(|&sum| sum as f64).sum()
    }

    /// This window and the next as one.
    fn merge(&self, next: &Self) -> Self {
        let sum = |of: fn(&Self) -> &[u64; 4]| std::array::from_fn(|op| of(self)[op] + of(next)[op]);
        let latency_ns = std::array::from_fn(|op| self.latency_ns[op] + next.latency_ns[op]);
        let count = |window: &Self, op: Op| window.commands[op as usize];
        Self {
            start: self.start,
            end: next.end,
            commands: sum(|window| &window.commands),
            bytes: sum(|window| &window.bytes),
            latency_ns,
            errors: self.errors + next.errors,
            read: self.read.merge(count(self, Op::Read), &next.read, count(next, Op::Read)),
            write: self.write.merge(count(self, Op::Write), &next.write, count(next, Op::Write)),
            area: self.area + next.area,
            counts: self.counts + next.counts,
            rber: next.rber,
            free_superblocks: next.free_superblocks,
        }
    }
}

impl LatencySummary {
    fn of(latencies: &LatencyHistogram) -> Self {
        if latencies.is_empty() {
            return Self::default();
        }
        Self {
            p50: latencies.quantile(0.5) as f64,
            p99: latencies.quantile(0.99) as f64,
            max: latencies.max() as f64,
        }
    }

    /// Summary of two windows as one. Maxima are exact; the median is the mean of both, weighted by commands; the 99th percentile is the
    /// larger one, an upper bound of the true one.
    fn merge(&self, count: u64, other: &Self, other_count: u64) -> Self {
        let all = ((count + other_count) as f64).max(1.0);
        Self {
            p50: (self.p50 * count as f64 + other.p50 * other_count as f64) / all,
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
        }
    }
}

#[cfg(test)]
mod tests;

//! The time series: windows of equal length, merged in pairs when there are too many.

use crate::histogram::ByOp;
use crate::table::Table;
use hdrhistogram::Histogram;
use outlast_device::Op;
use outlast_ssd::RberLevels;
use outlast_units::{Bytes, Nanos};

/// What the drive counts, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) host_units: u64,
    pub(crate) gc_units: u64,
    pub(crate) padding_units: u64,
    pub(crate) wear_leveling_units: u64,
    pub(crate) scrub_units: u64,
    pub(crate) rewritten_units: u64,
    pub(crate) parity_units: u64,
    pub(crate) reencode_units: u64,
    pub(crate) migrated_units: u64,
    pub(crate) lists_units: u64,
    pub(crate) rereads: u64,
    pub(crate) stripe_reads: u64,
    pub(crate) medium_errors: u64,
    /// Levels, not counts.
    pub(crate) rber: RberLevels,
    pub(crate) partial_bytes: u64,
    pub(crate) host_bytes: u64,
    /// Bytes that drives were asked to write: those of the host, unless an array adds its own.
    pub(crate) drive_bytes: u64,
    pub(crate) flash_reads: u64,
    pub(crate) flash_programs: u64,
    pub(crate) flash_erases: u64,
    pub(crate) free_superblocks: u64,
}

/// Latencies of one kind of command in a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LatencySummary {
    p50: f64,
    p99: f64,
    max: f64,
}

/// One window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Window {
    start: Nanos,
    end: Nanos,
    pub(crate) commands: [u64; 4],
    pub(crate) bytes: [u64; 4],
    /// Sums of latencies, in nanoseconds.
    pub(crate) latency_ns: [u64; 4],
    pub(crate) errors: u64,
    read: LatencySummary,
    write: LatencySummary,
    /// ∫ (commands in flight) dt.
    area: u128,
    counts: Snapshot,
}

/// All windows.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    closed: Vec<Window>,
    pub(crate) current: Window,
    /// Latencies of the current window.
    pub(crate) latency: ByOp,
    /// When the current window ends.
    pub(crate) end: Nanos,
    width: Nanos,
    most: usize,
    last_snapshot: Snapshot,
    last_area: u128,
    digits: u8,
}

impl Windows {
    pub(crate) fn new(width: Nanos, most: u32, digits: u8) -> Self {
        Self {
            closed: Vec::new(),
            current: Window::default(),
            latency: ByOp::new(digits),
            end: width,
            width,
            most: most as usize,
            last_snapshot: Snapshot::default(),
            last_area: 0,
            digits,
        }
    }

    pub(crate) fn restarted(&self, at: Nanos, snapshot: Snapshot) -> Self {
        let mut fresh = Self::new(self.width, self.most as u32, self.digits);
        fresh.current.start = at;
        fresh.end = at + self.width;
        fresh.last_snapshot = snapshot;
        fresh
    }

    pub(crate) fn start(&self) -> Nanos {
        self.current.start
    }

    /// Ends the current window at `end`. Its latencies are summed up here; the caller then empties them.
    pub(crate) fn close(&mut self, end: Nanos, area: u128, snapshot: Snapshot) {
        let mut window = self.current;
        window.end = end;
        window.area = area - self.last_area;
        window.read = LatencySummary::of(self.latency.of(Op::Read));
        window.write = LatencySummary::of(self.latency.of(Op::Write));
        window.counts = snapshot.since(&self.last_snapshot);
        self.last_area = area;
        self.last_snapshot = snapshot;
        self.closed.push(window);
        if self.closed.len() > self.most {
            self.closed = self.closed.chunks(2).map(Window::merge).collect();
            self.width = Nanos(self.width.0 * 2);
        }
        self.current = Window { start: end, ..Window::default() };
        self.end = end + self.width;
    }

    pub(crate) fn closed(&self) -> &[Window] {
        &self.closed
    }

    pub(crate) fn table(&self) -> Table {
        let mut table = Table::default();
        let windows = || self.closed.iter();
        let op = |op: Op| move |window: &Window| window.commands[op as usize];
        table.measures("start_s", windows().map(|w| w.start.as_secs_f64()));
        table.measures("end_s", windows().map(|w| w.end.as_secs_f64()));
        table.counts("reads", windows().map(op(Op::Read)));
        table.counts("writes", windows().map(op(Op::Write)));
        table.counts("trims", windows().map(op(Op::Trim)));
        table.counts("flushes", windows().map(op(Op::Flush)));
        table.counts("errors", windows().map(|w| w.errors));
        table.measures("read_mib", windows().map(|w| Bytes(w.bytes[Op::Read as usize]).as_mib()));
        table.measures("write_mib", windows().map(|w| Bytes(w.bytes[Op::Write as usize]).as_mib()));
        table.measures("iops", windows().map(Window::iops));
        for (name, summary) in [
            ("read", (|w| w.read) as fn(&Window) -> LatencySummary),
            ("write", (|w| w.write) as fn(&Window) -> _),
        ] {
            let index = if name == "read" { Op::Read } else { Op::Write } as usize;
            let us = |value: fn(&LatencySummary) -> f64| {
                windows()
                    .map(move |w| if w.commands[index] == 0 { f64::NAN } else { value(&summary(w)) * 1e-3 })
            };
            let mean = windows().map(|w| w.latency_ns[index] as f64 * 1e-3 / w.commands[index] as f64);
            table.measures(&format!("{name}_mean_us"), mean);
            table.measures(&format!("{name}_p50_us"), us(|s| s.p50));
            table.measures(&format!("{name}_p99_us"), us(|s| s.p99));
            table.measures(&format!("{name}_max_us"), us(|s| s.max));
        }
        table
            .measures("in_flight_mean", windows().map(|w| w.area as f64 / (w.end - w.start).0.max(1) as f64));
        table.measures("write_amplification", windows().map(Window::write_amplification));
        table.counts("host_units", windows().map(|w| w.counts.host_units));
        table.counts("gc_units", windows().map(|w| w.counts.gc_units));
        table.counts("padding_units", windows().map(|w| w.counts.padding_units));
        table.counts("wear_leveling_units", windows().map(|w| w.counts.wear_leveling_units));
        table.counts("scrub_units", windows().map(|w| w.counts.scrub_units));
        table.counts("rewritten_units", windows().map(|w| w.counts.rewritten_units));
        table.counts("parity_units", windows().map(|w| w.counts.parity_units));
        table.counts("reencode_units", windows().map(|w| w.counts.reencode_units));
        table.counts("migrated_units", windows().map(|w| w.counts.migrated_units));
        table.counts("lists_units", windows().map(|w| w.counts.lists_units));
        table.counts("partial_write_bytes", windows().map(|w| w.counts.partial_bytes));
        table.counts("flash_reads", windows().map(|w| w.counts.flash_reads));
        table.counts("flash_programs", windows().map(|w| w.counts.flash_programs));
        table.counts("flash_erases", windows().map(|w| w.counts.flash_erases));
        table.counts("free_superblocks", windows().map(|w| w.counts.free_superblocks));
        table.counts("rereads", windows().map(|w| w.counts.rereads));
        table.counts("stripe_reads", windows().map(|w| w.counts.stripe_reads));
        table.counts("uncorrectable_reads", windows().map(|w| w.counts.medium_errors));
        table.measures("rber_mean", windows().map(|w| w.counts.rber.mean));
        table.measures("rber_p50", windows().map(|w| w.counts.rber.p50));
        table.measures("rber_p99", windows().map(|w| w.counts.rber.p99));
        table.measures("rber_max", windows().map(|w| w.counts.rber.max));
        table
    }
}

impl Window {
    pub(crate) fn total(&self) -> u64 {
        self.commands.iter().sum()
    }

    pub(crate) fn end(&self) -> Nanos {
        self.end
    }

    pub(crate) fn span(&self) -> Nanos {
        self.end - self.start
    }

    /// Sum of latencies, in nanoseconds.
    pub(crate) fn latency_sum(&self) -> f64 {
        self.latency_ns.iter().map(|&sum| sum as f64).sum()
    }

    pub(crate) fn iops(&self) -> f64 {
        self.total() as f64 / self.span().as_secs_f64().max(1e-9)
    }

    /// Bytes sent to flash over host bytes; every unit that the host wrote, whole or in part, counts in full.
    fn write_amplification(&self) -> f64 {
        let counts = &self.counts;
        if counts.host_bytes == 0 || counts.host_units == 0 {
            return f64::NAN;
        }
        let units = counts.host_units
            + counts.gc_units
            + counts.padding_units
            + counts.wear_leveling_units
            + counts.scrub_units
            + counts.rewritten_units
            + counts.parity_units
            + counts.reencode_units
            + counts.migrated_units
            + counts.lists_units;
        let unit_bytes = (counts.drive_bytes + counts.partial_bytes) as f64 / counts.host_units as f64;
        units as f64 * unit_bytes / counts.host_bytes as f64
    }

    fn merge(windows: &[Self]) -> Self {
        let [a, b] = windows else { return windows[0] };
        let counts = |w: &Self, op: Op| w.commands[op as usize] as f64;
        Self {
            start: a.start,
            end: b.end,
            commands: std::array::from_fn(|i| a.commands[i] + b.commands[i]),
            bytes: std::array::from_fn(|i| a.bytes[i] + b.bytes[i]),
            latency_ns: std::array::from_fn(|i| a.latency_ns[i] + b.latency_ns[i]),
            errors: a.errors + b.errors,
            read: a.read.merge(counts(a, Op::Read), &b.read, counts(b, Op::Read)),
            write: a.write.merge(counts(a, Op::Write), &b.write, counts(b, Op::Write)),
            area: a.area + b.area,
            counts: a.counts.plus(&b.counts),
        }
    }
}

impl LatencySummary {
    fn of(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        Self {
            p50: histogram.value_at_quantile(0.5) as f64,
            p99: histogram.value_at_quantile(0.99) as f64,
            max: histogram.max() as f64,
        }
    }

    /// Of two windows seen as one: maxima are exact; the median is the weighted mean of the two, the 99th
    /// percentile the larger of the two, which bounds the true one from above.
    fn merge(&self, count: f64, other: &Self, other_count: f64) -> Self {
        let all = (count + other_count).max(1.0);
        Self {
            p50: (self.p50 * count + other.p50 * other_count) / all,
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
        }
    }
}

impl Snapshot {
    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            host_units: f(self.host_units, other.host_units),
            gc_units: f(self.gc_units, other.gc_units),
            padding_units: f(self.padding_units, other.padding_units),
            wear_leveling_units: f(self.wear_leveling_units, other.wear_leveling_units),
            scrub_units: f(self.scrub_units, other.scrub_units),
            rewritten_units: f(self.rewritten_units, other.rewritten_units),
            parity_units: f(self.parity_units, other.parity_units),
            reencode_units: f(self.reencode_units, other.reencode_units),
            migrated_units: f(self.migrated_units, other.migrated_units),
            lists_units: f(self.lists_units, other.lists_units),
            rereads: f(self.rereads, other.rereads),
            stripe_reads: f(self.stripe_reads, other.stripe_reads),
            medium_errors: f(self.medium_errors, other.medium_errors),
            rber: self.rber,
            partial_bytes: f(self.partial_bytes, other.partial_bytes),
            host_bytes: f(self.host_bytes, other.host_bytes),
            drive_bytes: f(self.drive_bytes, other.drive_bytes),
            flash_reads: f(self.flash_reads, other.flash_reads),
            flash_programs: f(self.flash_programs, other.flash_programs),
            flash_erases: f(self.flash_erases, other.flash_erases),
            free_superblocks: self.free_superblocks,
        }
    }

    /// What has been counted since `earlier`; free superblocks are a level, not a count, and stay.
    fn since(&self, earlier: &Self) -> Self {
        self.zip(earlier, |now, before| now - before)
    }

    pub(crate) fn plus(&self, later: &Self) -> Self {
        Self { free_superblocks: later.free_superblocks, rber: later.rber, ..self.zip(later, |a, b| a + b) }
    }
}

//! The columns of the time series: the value that each takes from a window, and the rule that joins several windows into one.

use crate::table::ResultTable;
use crate::window::{LatencySummary, TimeWindow};
use outlast_device::Op;
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_units::Bytes;

/// Rule by which the values of several windows become that of one window over the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnJoin {
    /// The first window's value.
    First,
    /// The last window's value: a level at the end.
    Last,
    /// Counts add up.
    Sum,
    /// The largest stays. Of percentiles this is an upper bound.
    Max,
    /// The mean weighted by the length of the windows.
    OverTime,
    /// The mean weighted by another column. Of medians this is an estimate.
    Over(&'static str),
    /// The quotient of two other columns, each joined by its own rule.
    Ratio(&'static str, &'static str),
}

impl ColumnJoin {
    /// The rule's name and the columns that it needs besides its own.
    pub fn describe(self) -> (&'static str, Vec<&'static str>) {
        match self {
            Self::First => ("first", vec![]),
            Self::Last => ("last", vec![]),
            Self::Sum => ("sum", vec![]),
            Self::Max => ("max", vec![]),
            Self::OverTime => ("over-time", vec![]),
            Self::Over(weight) => ("over", vec![weight]),
            Self::Ratio(part, whole) => ("ratio", vec![part, whole]),
        }
    }
}

/// Source of a column's values.
enum ColumnValue {
    Count(fn(&TimeWindow) -> u64),
    Measure(fn(&TimeWindow) -> f64),
    Units(ProgramCause),
    Pages(ReadCause),
}

/// A column of the time series.
pub struct TimeColumn {
    /// Name, as in results.
    pub name: String,
    /// Rule for joining windows.
    pub join: ColumnJoin,
    value: ColumnValue,
}

fn count(name: &str, join: ColumnJoin, value: fn(&TimeWindow) -> u64) -> TimeColumn {
    TimeColumn { name: name.to_owned(), join, value: ColumnValue::Count(value) }
}

fn measure(name: &str, join: ColumnJoin, value: fn(&TimeWindow) -> f64) -> TimeColumn {
    TimeColumn { name: name.to_owned(), join, value: ColumnValue::Measure(value) }
}

/// `value` of one kind of command in microseconds; NaN where there was none.
fn us(window: &TimeWindow, op: Op, value: fn(&LatencySummary) -> f64) -> f64 {
    let summary = if op == Op::Read { &window.read } else { &window.write };
    if window.commands[op as usize] == 0 { f64::NAN } else { value(summary) * 1e-3 }
}

/// Mean latency in microseconds; NaN (0 / 0) where no command completed.
fn mean_us(window: &TimeWindow, op: Op) -> f64 {
    window.latency_ns[op as usize] as f64 * 1e-3 / window.commands[op as usize] as f64
}

/// `value` per `ns` nanoseconds of the window; an empty window counts as one nanosecond.
fn per_span(window: &TimeWindow, value: f64, ns: f64) -> f64 {
    value * ns / window.span().0.max(1) as f64
}

/// Bytes programmed over bytes that the host wrote; NaN where it wrote nothing.
fn write_amplification(window: &TimeWindow) -> f64 {
    let counts = &window.counts;
    if counts.host_bytes == 0 { f64::NAN } else { counts.programmed_bytes as f64 / counts.host_bytes as f64 }
}

/// All columns, in order.
pub fn time_columns() -> Vec<TimeColumn> {
    use ColumnJoin::{First, Last, Max, Over, OverTime, Ratio, Sum};
    let mut columns = vec![
        measure("start_s", First, |w| w.start.as_secs_f64()),
        measure("end_s", Last, |w| w.end.as_secs_f64()),
        count("reads", Sum, |w| w.commands[Op::Read as usize]),
        count("writes", Sum, |w| w.commands[Op::Write as usize]),
        count("trims", Sum, |w| w.commands[Op::Trim as usize]),
        count("flushes", Sum, |w| w.commands[Op::Flush as usize]),
        count("errors", Sum, |w| w.errors),
        measure("read_mib", Sum, |w| Bytes(w.bytes[Op::Read as usize]).as_mib()),
        measure("write_mib", Sum, |w| Bytes(w.bytes[Op::Write as usize]).as_mib()),
        measure("iops", OverTime, |w| per_span(w, w.served() as f64, 1e9)),
        measure("read_mean_us", Over("reads"), |w| mean_us(w, Op::Read)),
        measure("read_p50_us", Over("reads"), |w| us(w, Op::Read, |s| s.p50)),
        measure("read_p99_us", Max, |w| us(w, Op::Read, |s| s.p99)),
        measure("read_max_us", Max, |w| us(w, Op::Read, |s| s.max)),
        measure("write_mean_us", Over("writes"), |w| mean_us(w, Op::Write)),
        measure("write_p50_us", Over("writes"), |w| us(w, Op::Write, |s| s.p50)),
        measure("write_p99_us", Max, |w| us(w, Op::Write, |s| s.p99)),
        measure("write_max_us", Max, |w| us(w, Op::Write, |s| s.max)),
        measure("in_flight_mean", OverTime, |w| per_span(w, w.area as f64, 1.0)),
        measure("write_amplification", Ratio("programmed_bytes", "host_write_bytes"), write_amplification),
        count("programmed_bytes", Sum, |w| w.counts.programmed_bytes),
        count("host_write_bytes", Sum, |w| w.counts.host_bytes),
    ];
    columns.extend(ProgramCause::ALL.map(|cause| TimeColumn {
        name: format!("{}_units", cause.name()),
        join: Sum,
        value: ColumnValue::Units(cause),
    }));
    columns.extend([
        count("parity_units", Sum, |w| {
            w.counts.written.parity() + w.counts.written[ProgramCause::PartialParity]
        }),
        count("partial_write_bytes", Sum, |w| w.counts.drives.partial_bytes),
        count("flash_reads", Sum, |w| w.counts.drives.reads.total()),
        count("flash_programs", Sum, |w| w.counts.drives.programs),
        count("flash_erases", Sum, |w| w.counts.drives.erases),
        count("free_superblocks", Last, |w| w.free_superblocks),
    ]);
    columns.extend(ReadCause::ALL.map(|cause| TimeColumn {
        name: cause.name().to_owned(),
        join: Sum,
        value: ColumnValue::Pages(cause),
    }));
    columns.extend([
        count("uncorrectable_reads", Sum, |w| w.counts.drives.medium_errors),
        measure("rber_mean", Last, |w| w.rber.mean),
        measure("rber_p50", Last, |w| w.rber.p50),
        measure("rber_p99", Last, |w| w.rber.p99),
        measure("rber_max", Last, |w| w.rber.max),
    ]);
    columns
}

/// The time series as a table, one row for each window.
pub(crate) fn time_table(windows: &[TimeWindow]) -> ResultTable {
    let mut table = ResultTable::default();
    for TimeColumn { name, value, .. } in time_columns() {
        match value {
            ColumnValue::Count(value) => table.counts(&name, windows.iter().map(value)),
            ColumnValue::Measure(value) => table.measures(&name, windows.iter().map(value)),
            ColumnValue::Units(cause) => table.counts(&name, windows.iter().map(|w| w.counts.written[cause])),
            ColumnValue::Pages(cause) => {
                table.counts(&name, windows.iter().map(|w| w.counts.drives.reads[cause]));
            }
        }
    }
    table
}

//! Statistics of clients' commands.

use crate::buckets::TimeBuckets;
use hdrhistogram::Histogram;
use outlast_device::{Command, Op, Outcome};
use outlast_settings::namespace::NamespaceConfig;
use outlast_units::{Nanos, SECTOR_BYTES};
use serde::Serialize;
use std::ops::Range;

/// Greatest latency of the histogram: one hour of simulated time.
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

/// Statistics of reads, writes, trims and flushes, in the order of `OP_NAMES`.
#[derive(Clone, Debug)]
pub(crate) struct CommandStatistics([OpStatistics; 4]);

#[derive(Clone, Debug)]
struct OpStatistics {
    latency: Histogram<u64>,
    below: TimeBuckets,
    latency_sum_ns: u128,
    errors: u64,
    bytes: u64,
}

/// Figures of one kind of command. Latencies are in simulated time, from arrival to completion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct OpFigures {
    op: &'static str,
    /// Commands that have ended, including failed ones.
    count: u64,
    errors: u64,
    bytes: u64,
    /// Sum of latencies in microseconds, as are the quantiles.
    sum_us: f64,
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
    /// Number of commands of at most 1, 2, 4, … microseconds, and of all.
    below: TimeBuckets,
}

const OP_NAMES: [&str; 4] = ["read", "write", "trim", "flush"];

fn index(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write | Op::Append => Some(1),
        Op::Trim => Some(2),
        Op::Flush => Some(3),
        Op::LbaStatus | Op::ManageZone => None,
    }
}

impl CommandStatistics {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| {
            let Ok(latency) = Histogram::new_with_bounds(1, MAX_LATENCY_NS, 2) else {
                unreachable!("the bounds are constants that a histogram can have");
            };
            OpStatistics { latency, below: TimeBuckets::default(), latency_sum_ns: 0, errors: 0, bytes: 0 }
        }))
    }

    /// Counts a command that has ended.
    #[inline]
    pub(crate) fn count(&mut self, op: Op, bytes: u64, latency: Nanos, outcome: Outcome) {
        let Some(index) = index(op) else { return };
        let op_statistics = &mut self.0[index];
        // The histogram begins at 1 ns.
        op_statistics.latency.saturating_record(latency.0.max(1));
        op_statistics.below.count(latency);
        op_statistics.latency_sum_ns += u128::from(latency.0);
        if outcome == Outcome::Ok {
            op_statistics.bytes += bytes;
        } else {
            op_statistics.errors += 1;
        }
    }

    pub(crate) fn figures(&self) -> Vec<OpFigures> {
        let figures_of = |(op, op_statistics): (&'static str, &OpStatistics)| {
            let count = op_statistics.latency.len();
            let at = |quantile| {
                if count == 0 { 0.0 } else { op_statistics.latency.value_at_quantile(quantile) as f64 * 1e-3 }
            };
            OpFigures {
                op,
                count,
                errors: op_statistics.errors,
                bytes: op_statistics.bytes,
                sum_us: op_statistics.latency_sum_ns as f64 * 1e-3,
                p50_us: at(0.5),
                p90_us: at(0.9),
                p99_us: at(0.99),
                p999_us: at(0.999),
                max_us: at(1.0),
                below: op_statistics.below,
            }
        };
        OP_NAMES.into_iter().zip(&self.0).map(figures_of).collect()
    }
}

/// Statistics of the commands that begin in a namespace, whoever sent them.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceStatistics {
    /// First byte, and the byte behind the last.
    range: Range<u64>,
    pub(crate) commands: CommandStatistics,
}

impl NamespaceStatistics {
    /// Statistics of namespaces, which follow one another from byte 0 on.
    pub(crate) fn of(namespaces: &[NamespaceConfig]) -> Vec<Self> {
        let mut from = 0;
        let one = |namespace: &NamespaceConfig| {
            let range = from..from + namespace.capacity.0;
            from = range.end;
            Self { range, commands: CommandStatistics::new() }
        };
        namespaces.iter().map(one).collect()
    }

    /// Counts a command that has ended for its namespace. Flushes concern all, and count for none.
    pub(crate) fn count(all: &mut [Self], command: &Command, latency: Nanos, outcome: Outcome) {
        let at = command.lba.0 * SECTOR_BYTES;
        if let Some(own) = all.iter_mut().find(|own| command.op != Op::Flush && own.range.contains(&at)) {
            own.commands.count(command.op, u64::from(command.sectors) * SECTOR_BYTES, latency, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_counted_by_kind() {
        let mut statistics = CommandStatistics::new();
        for us in 1..=100 {
            statistics.count(Op::Read, 512, Nanos::micros(us), Outcome::Ok);
        }
        statistics.count(Op::Read, 512, Nanos::micros(50), Outcome::MediumError);
        statistics.count(Op::Flush, 0, Nanos(0), Outcome::Ok);
        let [read, write, trim, flush] = &statistics.figures()[..] else { panic!("four kinds") };
        assert_eq!((read.op, read.count, read.errors, read.bytes), ("read", 101, 1, 51_200));
        // Two significant digits, as the histogram keeps.
        assert!((read.p99_us - 99.0).abs() < 1.0 && (read.sum_us - 5100.0).abs() < 1e-6, "{read:?}");
        assert_eq!([write.count, trim.count, flush.count, flush.errors], [0, 0, 1, 0]);
    }
}

//! What clients asked, counted.

use hdrhistogram::Histogram;
use outlast_device::{Op, Outcome};
use outlast_units::Nanos;
use serde::Serialize;

/// The longest latency that is told apart: an hour of simulated time.
const LONGEST: u64 = 3_600_000_000_000;

/// Counts for each kind of command.
#[derive(Clone, Debug)]
pub(crate) struct Operations([Operation; 4]);

#[derive(Clone, Debug)]
struct Operation {
    latency: Histogram<u64>,
    sum: u128,
    errors: u64,
    bytes: u64,
}

/// The figures of one kind of command: latencies are simulated, from the arrival of a command to its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    op: &'static str,
    /// Commands that have ended, those that failed included.
    count: u64,
    errors: u64,
    bytes: u64,
    /// Sum of latencies, in microseconds; so are the quantiles.
    sum_us: f64,
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
}

const NAMES: [&str; 4] = ["read", "write", "trim", "flush"];

fn index(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Trim => Some(2),
        Op::Flush => Some(3),
        Op::LbaStatus => None,
    }
}

impl Operations {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| {
            let Ok(latency) = Histogram::new_with_bounds(1, LONGEST, 2) else {
                unreachable!("the bounds are constants that a histogram can have");
            };
            Operation { latency, sum: 0, errors: 0, bytes: 0 }
        }))
    }

    /// A command of `bytes` bytes has ended `latency` after it came.
    #[inline]
    pub(crate) fn note(&mut self, op: Op, bytes: u64, latency: Nanos, outcome: Outcome) {
        let Some(index) = index(op) else { return };
        let own = &mut self.0[index];
        own.latency.saturating_record(latency.0.max(1));
        own.sum += u128::from(latency.0);
        if outcome == Outcome::Ok {
            own.bytes += bytes;
        } else {
            own.errors += 1;
        }
    }

    pub(crate) fn figures(&self) -> Vec<Figures> {
        let of = |(op, own): (&'static str, &Operation)| {
            let count = own.latency.len();
            let at = |quantile| {
                if count == 0 { 0.0 } else { own.latency.value_at_quantile(quantile) as f64 * 1e-3 }
            };
            Figures {
                op,
                count,
                errors: own.errors,
                bytes: own.bytes,
                sum_us: own.sum as f64 * 1e-3,
                p50_us: at(0.5),
                p90_us: at(0.9),
                p99_us: at(0.99),
                p999_us: at(0.999),
                max_us: at(1.0),
            }
        };
        NAMES.into_iter().zip(&self.0).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_counted_by_kind() {
        let mut operations = Operations::new();
        for us in 1..=100 {
            operations.note(Op::Read, 512, Nanos::micros(us), Outcome::Ok);
        }
        operations.note(Op::Read, 512, Nanos::micros(50), Outcome::MediumError);
        operations.note(Op::Flush, 0, Nanos(0), Outcome::Ok);
        let [read, write, trim, flush] = &operations.figures()[..] else { panic!("four kinds") };
        assert_eq!((read.op, read.count, read.errors, read.bytes), ("read", 101, 1, 51_200));
        // Two digits.
        assert!((read.p99_us - 99.0).abs() < 1.0 && (read.sum_us - 5100.0).abs() < 1e-6, "{read:?}");
        assert_eq!([write.count, trim.count, flush.count, flush.errors], [0, 0, 1, 0]);
    }
}

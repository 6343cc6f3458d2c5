//! Is what windows show of raw samples right, and does joining windows give what one window over all of them would have shown?

#![allow(clippy::float_cmp, reason = "neighbouring windows share the very same number")]

use super::TimeWindows;
use crate::columns::{ColumnJoin, time_columns, time_table};
use crate::counts::DriveSnapshot;
use crate::recorder::RunRecorder;
use crate::table::{ResultColumn, ResultTable};
use outlast_device::{Command, Op, Outcome};
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use proptest::prelude::*;

const WIDTH: u64 = 1_000;
const DIGITS: u8 = 3;

/// A command from its submission to its completion, and what the drive counts by then.
#[derive(Clone, Copy)]
struct Sample {
    command: Command,
    since: Nanos,
    at: Nanos,
    outcome: Outcome,
    snapshot: DriveSnapshot,
}

/// Commands that complete one after another, with latencies over three decades, pauses of several windows, and counters that grow.
fn samples(seed: u64, count: usize) -> Vec<Sample> {
    let mut rng = SplitMix::new(seed, "test.samples");
    let mut up_to = |most: u64| rng.next_u64() % (most + 1);
    let (mut at, mut snapshot) = (0u64, DriveSnapshot::default());
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        at += if up_to(20) == 0 { up_to(5 * WIDTH) } else { up_to(WIDTH / 8) };
        let since = at.saturating_sub(1 << up_to(12));
        let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][[0, 0, 0, 1, 1, 2, 3][up_to(6) as usize]];
        let outcome = if up_to(9) == 0 { Outcome::MediumError } else { Outcome::Ok };
        let counts = &mut snapshot.counts;
        for cause in ProgramCause::ALL {
            counts.written[cause] += up_to(9);
        }
        for cause in ReadCause::ALL {
            counts.drives.reads[cause] += up_to(9);
        }
        counts.programmed_bytes = counts.written.total() * 4096;
        counts.host_bytes += up_to(3) * 4096;
        counts.drives.partial_bytes += up_to(512);
        counts.drives.programs += up_to(9);
        counts.drives.erases += up_to(1);
        counts.drives.medium_errors += up_to(1);
        snapshot.free_superblocks = up_to(30);
        let mut rate = || up_to(1000) as f64 * 1e-6;
        (snapshot.rber.mean, snapshot.rber.p50, snapshot.rber.p99, snapshot.rber.max) =
            (rate(), rate(), rate(), rate());
        let command = Command::new(op, Lba(0), 8);
        all.push(Sample { command, since: Nanos(since), at: Nanos(at), outcome, snapshot });
    }
    all
}

/// Records completions as the run loop does.
fn recorded(samples: &[Sample], width: u64, most: u32) -> RunRecorder {
    let mut recorder = RunRecorder::new(DIGITS, TimeWindows::new(Nanos(width), most, DIGITS), None);
    let mut submitted: Vec<Nanos> = samples.iter().map(|sample| sample.since).collect();
    submitted.sort();
    let mut submitted = submitted.into_iter().peekable();
    for sample in samples {
        while let Some(at) = submitted.next_if(|&at| at <= sample.at) {
            recorder.submitted(at);
        }
        if recorder.window_ends_by(sample.at) {
            recorder.close_windows(sample.at, &sample.snapshot);
        }
        recorder.completed(&sample.command, sample.since, sample.at, sample.outcome);
    }
    recorder.finish(&samples.last().map_or(DriveSnapshot::default(), |sample| sample.snapshot));
    recorder
}

fn values(table: &ResultTable, name: &str) -> Vec<f64> {
    match table.columns.iter().find(|(column, _)| column == name) {
        Some((_, ResultColumn::U64(values))) => values.iter().map(|&value| value as f64).collect(),
        Some((_, ResultColumn::F64(values))) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Weighted mean of the finite values.
fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let finite = || values.iter().zip(weights).filter(|(value, _)| value.is_finite());
    finite().map(|(value, weight)| value * weight).sum::<f64>()
        / finite().map(|(_, weight)| weight).sum::<f64>()
}

/// The rows of `table` joined by the rule of each column, `group` at a time.
fn joined(table: &ResultTable, group: usize, name: &str, join: ColumnJoin) -> Vec<f64> {
    let column_values = values(table, name);
    let span: Vec<f64> =
        values(table, "end_s").iter().zip(values(table, "start_s")).map(|(end, start)| end - start).collect();
    let over = |weights: &[f64]| {
        column_values
            .chunks(group)
            .zip(weights.chunks(group))
            .map(|(values, weights)| mean(values, weights))
            .collect()
    };
    let each = |f: fn(&[f64]) -> f64| column_values.chunks(group).map(f).collect::<Vec<f64>>();
    match join {
        ColumnJoin::First => each(|values| values[0]),
        ColumnJoin::Last => each(|values| values[values.len() - 1]),
        ColumnJoin::Sum => each(|values| values.iter().sum()),
        ColumnJoin::Max => each(|values| values.iter().copied().fold(f64::NAN, f64::max)),
        ColumnJoin::OverTime => over(&span),
        ColumnJoin::Over(weight) => over(&values(table, weight)),
        ColumnJoin::Ratio(part, whole) => {
            let of = |name: &str| {
                let column = time_columns().into_iter().find(|column| column.name == name).expect("a column");
                joined(table, group, name, column.join)
            };
            of(part).iter().zip(of(whole)).map(|(part, whole)| part / whole).collect()
        }
    }
}

/// Equal except for rounding; both may be no number.
fn assert_same(name: &str, a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{name}: rows");
    for (a, b) in a.iter().zip(b) {
        let nothing = |x: f64| !x.is_finite();
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1e-6) || nothing(*a) && nothing(*b), "{name}: {a}, {b}");
    }
}

/// Columns whose joined value can only be bounded or estimated: percentiles.
fn is_percentile(name: &str) -> bool {
    name.ends_with("_p50_us") || name.ends_with("_p99_us")
}

/// The value that a share `q` of the sorted samples does not exceed.
fn quantile(sorted: &[u64], q: f64) -> f64 {
    sorted[((q * sorted.len() as f64).ceil() as usize).max(1) - 1] as f64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Windows of k times the width show, in every column, what k windows joined by the column's rule show.
    #[test]
    fn joined_windows_are_those_of_the_raw_samples(seed: u64, count in 1usize..600, group in 1usize..9) {
        let samples = samples(seed, count);
        let fine = time_table(recorded(&samples, WIDTH, 1 << 20).windows.closed());
        let coarse = time_table(recorded(&samples, WIDTH * group as u64, 1 << 20).windows.closed());
        for column in time_columns() {
            let (joined, union) = (joined(&fine, group, &column.name, column.join), values(&coarse, &column.name));
            if !is_percentile(&column.name) {
                assert_same(&column.name, &joined, &union);
            } else if column.join == ColumnJoin::Max {
                let bound = joined.iter().zip(&union).all(|(joined, union)| joined >= union || union.is_nan());
                prop_assert!(bound, "{}: {joined:?} is no bound of {union:?}", column.name);
            }
        }
    }

    /// Windows that the simulator itself has merged equal the original windows, joined; all are equally long except for the last.
    #[test]
    fn merged_windows_are_joined_by_the_same_rules(seed: u64, count in 1usize..900, most in 2u32..12) {
        let samples = samples(seed, count);
        let merged = recorded(&samples, WIDTH, most);
        let closed = merged.windows.closed();
        prop_assert!(closed.len() <= most as usize);
        let width = closed[0].span().0;
        for (index, window) in closed[..closed.len() - 1].iter().enumerate() {
            prop_assert_eq!((window.start.0, window.span().0), (index as u64 * width, width));
        }
        let last = closed[closed.len() - 1];
        prop_assert!(last.span().0 <= width && last.end == samples[count - 1].at);
        if closed.len() > 1 {
            prop_assert!((width / WIDTH).is_power_of_two());
            let fine = time_table(recorded(&samples, WIDTH, 1 << 20).windows.closed());
            let merged = time_table(closed);
            for column in time_columns().iter().filter(|column| !is_percentile(&column.name)) {
                let fine = joined(&fine, (width / WIDTH) as usize, &column.name, column.join);
                assert_same(&column.name, &fine, &values(&merged, &column.name));
            }
        }
    }

    /// Percentiles of windows, merged or not, against the samples themselves, sorted.
    #[test]
    fn window_percentiles_are_those_of_sorted_samples(seed: u64, count in 20usize..400) {
        let samples = samples(seed, count);
        let latencies = |from: Nanos, until: Nanos| {
            // A window includes its end.
            let within = |at: Nanos| (from < at || at == Nanos::ZERO && from == at) && at <= until;
            // What failed has no latency.
            let served = samples.iter().filter(|sample| sample.outcome == Outcome::Ok);
            let reads = served.filter(|sample| sample.command.op == Op::Read && within(sample.at));
            let mut sorted: Vec<u64> = reads.map(|sample| (sample.at - sample.since).0).collect();
            sorted.sort_unstable();
            sorted
        };
        let fine = recorded(&samples, WIDTH, 1 << 20);
        let close = |got: f64, sorted: f64| (got - sorted).abs() <= sorted * 1e-3;
        let mut medians = Vec::new();
        for window in fine.windows.closed() {
            let sorted = latencies(window.start, window.end);
            if sorted.is_empty() {
                medians.push((0.0, 0.0));
                continue;
            }
            let (p50, p99) = (quantile(&sorted, 0.5), quantile(&sorted, 0.99));
            prop_assert!(close(window.read.p50, p50) && close(window.read.p99, p99), "{:?} {sorted:?}", window.read);
            prop_assert!(close(window.read.max, sorted[sorted.len() - 1] as f64));
            medians.push((p50 * sorted.len() as f64, sorted.len() as f64));
        }
        // Two windows merged: the mean of their medians weighted by commands.
        let closed = fine.windows.closed();
        for (pair, medians) in closed.chunks_exact(2).zip(medians.chunks_exact(2)) {
            let merged = pair[0].merge(&pair[1]);
            let (sum, weight) = (medians[0].0 + medians[1].0, medians[0].1 + medians[1].1);
            prop_assert!(weight == 0.0 || close(merged.read.p50, sum / weight), "{:?} {sum} {weight}", merged.read);
        }
    }
}

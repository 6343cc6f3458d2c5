//! Section `latency_us` of the result, and the table of all latencies.

use crate::batch_means::interval;
use crate::histogram::{ByOp, OPS};
use crate::latency::LatencyFigures;
use crate::recorder::RunRecorder;
use crate::table::{ResultColumn, ResultTable};
use crate::window::TimeWindow;
use outlast_device::Op;
use serde::Serialize;

/// Latencies by kind of command and by stream; absent for kinds without commands.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencyByOp {
    pub read: Option<LatencyFigures>,
    pub write: Option<LatencyFigures>,
    pub trim: Option<LatencyFigures>,
    pub flush: Option<LatencyFigures>,
    pub by_stream: Vec<StreamLatency>,
}

/// Latencies of one stream hint.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StreamLatency {
    pub stream: u16,
    pub read: Option<LatencyFigures>,
    pub write: Option<LatencyFigures>,
}

/// Histograms by stream hint, in order; empty if every command had hint 0. Hint 0 is what the others leave of all.
fn streams(recorder: &RunRecorder) -> Vec<(u16, ByOp)> {
    if recorder.by_stream.is_empty() {
        return Vec::new();
    }
    let zero = recorder.by_stream.iter().fold(recorder.latency.clone(), |all, (_, part)| all.without(part));
    let mut streams = vec![(0, zero)];
    streams.extend(recorder.by_stream.iter().cloned());
    streams.sort_by_key(|&(stream, _)| stream);
    streams
}

pub(crate) fn latency(recorder: &RunRecorder) -> LatencyByOp {
    let windows = recorder.windows.whole();
    let of = |op: Op| {
        let sums = |window: &TimeWindow| {
            (window.latency_ns[op as usize] as f64 * 1e-3, window.commands[op as usize] as f64)
        };
        let parts: Vec<_> = windows.iter().map(sums).collect();
        LatencyFigures::of(recorder.latency.of(op))
            .map(|figures| LatencyFigures { mean_interval: interval(&parts), ..figures })
    };
    LatencyByOp {
        read: of(Op::Read),
        write: of(Op::Write),
        trim: of(Op::Trim),
        flush: of(Op::Flush),
        by_stream: streams(recorder)
            .iter()
            .map(|(stream, by_op)| StreamLatency {
                stream: *stream,
                read: LatencyFigures::of(by_op.of(Op::Read)),
                write: LatencyFigures::of(by_op.of(Op::Write)),
            })
            .collect(),
    }
}

/// Cumulative distributions: one row for each latency that occurred, at the histogram's resolution.
pub(crate) fn latency_table(recorder: &RunRecorder) -> ResultTable {
    let (mut ops, mut names, mut latencies, mut quantiles, mut counts) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut add = |name: &str, by_op: &ByOp| {
        for op in OPS {
            let histogram = by_op.of(op).histogram();
            let mut below = 0;
            for step in histogram.iter_recorded() {
                below += step.count_at_value();
                ops.push(format!("{op:?}").to_lowercase());
                names.push(name.to_owned());
                latencies.push(step.value_iterated_to() as f64 * 1e-3);
                quantiles.push(below as f64 / histogram.len() as f64);
                counts.push(step.count_at_value());
            }
        }
    };
    add("all", &recorder.latency);
    for (stream, by_op) in streams(recorder) {
        add(&stream.to_string(), &by_op);
    }
    let mut table = ResultTable::default();
    table.push("op", ResultColumn::Text(ops));
    table.push("stream", ResultColumn::Text(names));
    table.push("latency_us", ResultColumn::F64(latencies));
    table.push("quantile", ResultColumn::F64(quantiles));
    table.push("count", ResultColumn::U64(counts));
    table
}

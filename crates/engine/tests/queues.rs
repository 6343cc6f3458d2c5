//! Is what a result says of each submission queue what the log of requests says of it?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{ResultTable, RunControl, RunResult, Simulation};
use support::{DriveText, assert_close, scenario};

const JOBS: &str = r#"
[workload.fio]
job = """
[global]
bs=4k
size=4m
norandommap
[mixed]
rw=randrw
iodepth=4
number_ios=600
[written]
rw=randwrite
iodepth=16
number_ios=900
fsync=50
[read]
rw=randread
iodepth=2
number_ios=400
"""
"#;

fn run(controller: &str, workload: &str) -> (RunResult, Vec<ResultTable>) {
    let scenario = scenario(&format!(
        r#"
{drive}
[run]
log = "requests.parquet"
warm_up = "5ms"
{workload}
"#,
        drive = DriveText::of_5_mib().controller(&format!("queue_depth = 8\n{controller}"))
    ));
    let mut rows = Vec::new();
    let mut simulation = Simulation::new(scenario).unwrap();
    let result = simulation.run_logged(&mut |_| RunControl::Continue, Some(&mut |part| rows.push(part)));
    simulation.self_check().unwrap();
    (result.unwrap(), rows)
}

fn column(rows: &[ResultTable], name: &str) -> Vec<u64> {
    rows.iter().flat_map(|part| part.u64(name).iter().copied()).collect()
}

#[test]
fn a_queues_figures_are_those_of_its_rows() {
    let (result, rows) = run("queues = { arbitration = \"weighted\", classes = [\"high\", \"low\"] }", JOBS);
    let [queue, kind, submitted, completed] =
        ["queue", "kind", "submitted_ns", "completed_ns"].map(|name| column(&rows, name));
    let queues = &result.summary.queues;
    assert_eq!(queues.iter().map(|figures| figures.queue).collect::<Vec<_>>(), [0, 1, 2]);
    let classes = serde_json::to_value(queues).unwrap();
    assert_eq!([0, 1, 2].map(|number| classes[number]["class"].clone()), ["high", "low", "high"]);
    for figures in queues {
        let of = |only_kind: Option<u64>| {
            let measured = (0..queue.len()).filter(|&row| completed[row] >= 5_000_000);
            let of_queue = measured.filter(|&row| queue[row] == u64::from(figures.queue));
            let rows = of_queue.filter(|&row| only_kind.is_none_or(|only_kind| kind[row] == only_kind));
            let mut latencies: Vec<u64> = rows.map(|row| completed[row] - submitted[row]).collect();
            latencies.sort_unstable();
            latencies
        };
        assert_eq!(figures.requests, of(None).len() as u64);
        for (only_kind, count, latency) in
            [(0, figures.reads, &figures.read), (1, figures.writes, &figures.write)]
        {
            let rows = of(Some(only_kind));
            assert_eq!((count, latency.is_some()), (rows.len() as u64, !rows.is_empty()));
            let Some(latency) = latency else { continue };
            // Histograms have three digits.
            let mean = rows.iter().sum::<u64>() as f64 / rows.len() as f64;
            assert_close("the mean", latency.mean * 1e3, mean, 1e-3);
            let p99 = rows[(0.99 * rows.len() as f64).ceil() as usize - 1] as f64;
            assert_close("99 %", latency.p99 * 1e3, p99, 1e-3);
        }
    }
    let measured: u64 = queues.iter().map(|figures| figures.requests).sum();
    assert_eq!(measured, completed.iter().filter(|&&at| at >= 5_000_000).count() as u64);
    assert!(queues[1].requests > queues[1].writes, "flushes count, too");
}

/// No figures if the drive has a single queue, or only one is used.
#[test]
fn a_single_queue_has_no_figures_of_its_own() {
    assert!(run("", JOBS).0.summary.queues.is_empty());
    let synthetic = "[workload.synthetic]\nrequests = 500\nqueue_depth = 4";
    let (result, _) = run("queues = { arbitration = \"round-robin\" }", synthetic);
    assert!(result.summary.queues.is_empty());
}

//! Does what results and the log say of where time goes add up, and is nothing else changed by asking?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{
    BandOfLatencies, CausesOfKind, LatencyCause, ResultTable, RunControl, RunResult, Scenario, Simulation,
};
use support::{DriveText, assert_close, scenario};

fn mixed(run: &str) -> Scenario {
    scenario(&format!(
        r#"
{drive}
[workload.synthetic]
pattern = "uniform"
size = "4KiB"
read_percent = 60
queue_depth = 16
requests = 20000
{run}
"#,
        drive = DriveText::of_5_mib()
            .suspend("program = true, erase = true, overhead = \"10us\", limit = 3, reads = 2")
            .controller("master_cost = \"1us\"\nlink = \"1GB/s\"")
    ))
}

/// The result, and all rows of the log in one table.
fn run(scenario: Scenario) -> (RunResult, Vec<ResultTable>) {
    let mut rows = Vec::new();
    let mut simulation = Simulation::new(scenario).unwrap();
    let result = simulation.run_logged(&mut |_| RunControl::Continue, Some(&mut |part| rows.push(part)));
    simulation.self_check().unwrap();
    (result.unwrap(), rows)
}

fn column(rows: &[ResultTable], name: &str) -> Vec<u64> {
    rows.iter().flat_map(|part| part.u64(name).iter().copied()).collect()
}

const LOGGED: &str = "[run]\ncauses = true\nlog = \"requests.parquet\"\nwarm_up = \"20ms\"";

#[test]
fn the_parts_of_every_row_sum_to_its_latency() {
    let (result, rows) = run(mixed(LOGGED));
    let (submitted, completed) = (column(&rows, "submitted_ns"), column(&rows, "completed_ns"));
    assert_eq!(completed.len(), 20_000);
    assert!(completed.is_sorted());
    let parts: Vec<Vec<u64>> =
        LatencyCause::ALL.iter().map(|cause| column(&rows, &format!("{}_ns", cause.name()))).collect();
    for row in 0..completed.len() {
        let sum: u64 = parts.iter().map(|part| part[row]).sum();
        assert_eq!(sum, completed[row] - submitted[row], "row {row}");
    }
    // What the result counts is what completed after the warm-up.
    let kinds = column(&rows, "kind");
    let measured =
        |kind: u64| (0..kinds.len()).filter(move |&row| kinds[row] == kind && completed[row] >= 20_000_000);
    let causes = result.summary.latency_causes.as_ref().unwrap();
    for (kind, causes, latency) in [
        (0, causes.read.as_ref().unwrap(), result.summary.latency_us.read.as_ref().unwrap()),
        (1, causes.write.as_ref().unwrap(), result.summary.latency_us.write.as_ref().unwrap()),
    ] {
        let count = measured.clone()(kind).count();
        assert_eq!((causes.count, latency.count), (count as u64, count as u64));
        for (cause, mean) in causes.mean_ns.iter() {
            let sum: u64 = measured.clone()(kind).map(|row| parts[cause as usize][row]).sum();
            assert!((mean - sum as f64 / count as f64).abs() < 1e-6 * causes.mean_ns.total(), "{cause:?}");
        }
        check_bands(causes);
        assert_close("the mean", causes.mean_ns.total(), latency.mean * 1e3, 2e-3);
    }
    assert!(causes.read.as_ref().unwrap().mean_ns[LatencyCause::Sensing] > 0.0);
}

fn check_bands(causes: &CausesOfKind) {
    let requests: f64 = causes.bands.iter().map(|band| band.requests).sum();
    assert_close("requests of the bands", requests, causes.count as f64, 1e-9);
    let rising = |pair: &[BandOfLatencies]| {
        pair[0].to.total_cmp(&pair[1].from).is_eq() && pair[0].latency_ns <= pair[1].latency_ns
    };
    assert!(causes.bands.windows(2).all(rising), "{:?}", causes.bands);
    let weighted = |band: &BandOfLatencies| band.requests * band.mean_ns.total();
    let mean = causes.bands.iter().map(weighted).sum::<f64>() / requests;
    assert_close("the mean over all bands", mean, causes.mean_ns.total(), 1e-9);
}

/// All that a result says is the same, except for what was asked for and what the run cost.
#[test]
fn splitting_latencies_does_not_change_other_results() {
    let result = |asked: &str| {
        let (result, rows) = run(mixed(asked));
        assert_eq!(rows.is_empty(), asked.is_empty());
        let mut summary = serde_json::to_value(&result.summary).unwrap();
        let all = summary.as_object_mut().unwrap();
        for section in ["latency_causes", "scenario", "time", "memory"] {
            all.remove(section);
        }
        summary["throughput"].as_object_mut().unwrap().remove("requests_per_cpu_s");
        // As text: what is not a number is the same as itself there.
        (summary, format!("{:?}", result.tables))
    };
    let plain = result("");
    assert!(plain.0.get("host").is_some());
    let asked = result("[run]\ncauses = true\nlog = \"requests.parquet\"");
    assert_eq!(asked.0, plain.0);
    assert!(asked.1 == plain.1, "tables differ");
}

#[test]
fn a_log_without_causes_has_no_parts_and_is_handed_on_in_pieces() {
    let mut long = mixed("[run]\nlog = \"requests.parquet\"");
    long.workload.synthetic.as_mut().unwrap().requests = Some(70_000);
    let (result, rows) = run(long);
    assert!(result.summary.latency_causes.is_none());
    let lengths: Vec<usize> = rows.iter().map(|part| part.u64("lba").len()).collect();
    assert_eq!(lengths, [1 << 16, 70_000 - (1 << 16)]);
    let names: Vec<&str> = rows[0].columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["submitted_ns", "completed_ns", "kind", "lba", "bytes", "queue", "outcome"]);
}

/// A RAID-5 of four drives of the mix, of which one fails and is rebuilt on a spare that is made as the others are.
#[test]
fn the_parts_of_an_arrays_requests_sum_to_their_latency() {
    let array = r#"
[array]
level = "raid5"
members = 4
spares = 1
chunk = "16KiB"
consistency = "bitmap"
[array.background]
min_rate = "50MB/s"
[[faults]]
at = "100ms"
kind = "device"
device = 1
"#;
    let (result, rows) = run(mixed(&format!("{array}{LOGGED}")));
    let latency: Vec<u64> = column(&rows, "completed_ns")
        .iter()
        .zip(column(&rows, "submitted_ns"))
        .map(|(completed, submitted)| completed - submitted)
        .collect();
    assert_eq!(latency.len(), 20_000);
    let mut sums = vec![0; latency.len()];
    for cause in LatencyCause::ALL {
        let parts = column(&rows, &format!("{}_ns", cause.name()));
        sums.iter_mut().zip(&parts).for_each(|(sum, part)| *sum += part);
        let is_there = [
            LatencyCause::Sensing,
            LatencyCause::StripeLock,
            LatencyCause::StripeRebuild,
            LatencyCause::Degraded,
            LatencyCause::Record,
        ];
        assert!(!is_there.contains(&cause) || parts.iter().any(|&part| part > 0), "{cause:?}");
    }
    assert!(sums == latency);
    assert!(result.summary.latency_causes.is_some());
}

//! Do requests wait as queueing theory says?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{RunControl, Scenario, Simulation};
use outlast_models::queueing::md1_mean_wait;
use outlast_units::Nanos;
use support::{DriveText, Run, assert_close, run, scenario};

/// tR plus 4096 B at 4096 MB/s: 60 us + 1 us.
const SERVICE_S: f64 = 61e-6;

/// One die, filled, that serves reads of one page.
fn one_die(workload: &str) -> Scenario {
    scenario(&format!(
        r#"
{drive}
[precondition]
overwrite = "none"
[workload.synthetic]
read_percent = 100
{workload}
"#,
        drive = DriveText::channels(1)
            .blocks(64, 64, "4KiB")
            .timing("read = \"60us\"\nprogram = \"700us\"\nerase = \"3500us\"\nbus = \"4096MB/s\"")
            .spare(0.2)
    ))
}

/// Mean time in the drive, from the exact sum of latencies (not the histogram, whose values are rounded).
fn mean_latency_s(run: &Run) -> f64 {
    let summary = run.summary();
    let count = summary.host.reads + summary.host.writes + summary.host.trims + summary.host.flushes;
    summary.queue.littles_law.lambda_w * summary.time.simulated_s / count as f64
}

/// Tolerance: waits of consecutive requests are correlated, so the variance of the mean wait over n requests is
/// A·E[W]²/n with A well above the variance of one wait. Lindley's recursion with 4·10⁷ arrivals in batches of 20 000
/// gives A = 10.7, 18.4, 56.5 at ρ = 0.3, 0.6, 0.8. The requests below make the standard error 0.5 % of the
/// mean wait, so that 2 % are four standard errors; each seed is fixed, so the test never flickers.
fn check_md1(load: f64, requests: u64) {
    let rate = load / SERVICE_S;
    let run = run(one_die(&format!("rate_iops = {rate}\narrival = \"poisson\"\nrequests = {requests}")));
    let summary = run.summary();
    assert_eq!(summary.host.reads, requests);
    assert_eq!(
        (summary.host.unmapped_reads, summary.host.buffer_hits),
        (0, 0),
        "every read must reach the die"
    );
    let wait = mean_latency_s(&run) - SERVICE_S;
    assert_close(&format!("mean wait at {load}"), wait, md1_mean_wait(rate, SERVICE_S).unwrap(), 0.02);
    // The histogram rounds to three digits.
    let mean_us = summary.latency_us.read.as_ref().unwrap().mean;
    assert_close("mean of the histogram", mean_us * 1e-6, mean_latency_s(&run), 1e-3);
    // Nobody is faster than the service; an arrival that finds the die idle takes just that, and 1 − ρ of them do.
    assert_close("least latency", summary.latency_us.read.as_ref().unwrap().min, 61.0, 1e-3);
    // The die works for the share ρ of the time: n exponential gaps have a relative standard error of 1/sqrt(n).
    let tolerance = 6.0 / (requests as f64).sqrt();
    assert_close("utilisation of the die", summary.queue.die_utilisation.mean, load, tolerance);
    assert!(summary.queue.littles_law.relative_error <= 1e-12, "{:?}", summary.queue.littles_law);
}

#[test]
fn poisson_reads_of_one_die_wait_as_in_md1_at_30_percent() {
    check_md1(0.3, 430_000);
}

#[test]
fn poisson_reads_of_one_die_wait_as_in_md1_at_60_percent() {
    check_md1(0.6, 740_000);
}

#[test]
fn poisson_reads_of_one_die_wait_as_in_md1_at_80_percent() {
    check_md1(0.8, 2_300_000);
}

/// Arrivals at equal gaps below the capacity never wait: D/D/1. A third of a nanosecond is lost per gap at most.
#[test]
fn equal_gaps_never_wait() {
    let run = run(one_die("rate_iops = 16000\narrival = \"fixed\"\nrequests = 20000"));
    assert_close("latency", mean_latency_s(&run), SERVICE_S, 1e-9);
    assert_eq!(run.summary().queue.max_in_flight, 1);
}

#[test]
fn a_closed_loop_keeps_its_depth_and_waits_for_it() {
    for depth in [1u32, 4, 32] {
        let requests = 20_000;
        let run = run(one_die(&format!("queue_depth = {depth}\nrequests = {requests}")));
        let summary = run.summary();
        assert_eq!(summary.queue.host_queue_depth, Some(depth));
        assert_eq!(summary.queue.max_in_flight, depth);
        // One die serves them one by one, without a gap.
        assert_close("span", summary.time.simulated_s, f64::from(requests) * SERVICE_S, 1e-9);
        // Request k waits for min(k, depth − 1) others: depth·S each except for the first.
        let first = f64::from(depth * (depth - 1)) / 2.0;
        let expected = (f64::from(depth) - first / f64::from(requests)) * SERVICE_S;
        assert_close("latency", mean_latency_s(&run), expected, 1e-9);
    }
}

/// The same load offered both ways. A closed loop of depth one asks only when the die is free; an open one asks regardless, and
/// beyond the capacity its queue grows with the run, which a closed one's cannot.
#[test]
fn open_and_closed_loops_differ() {
    let closed = run(one_die("queue_depth = 1\nrequests = 20000"));
    let rate = 0.9 / SERVICE_S;
    let open = run(one_die(&format!("rate_iops = {rate}\nrequests = 20000")));
    assert!(mean_latency_s(&open) > 2.0 * mean_latency_s(&closed));
    assert!(
        open.summary().throughput.iops.expect("time passed")
            < closed.summary().throughput.iops.expect("time passed")
    );
    assert_eq!(open.summary().queue.host_queue_depth, None);

    // At a load of 1.5 request k finds k·(1 − 1/1.5) before it: after n requests n/3 are waiting, and the drive, which
    // works without a pause, takes n services. n/3 has a standard deviation of sqrt(n)·2/3 (Poisson arrivals while n/1.5 are
    // served): six of them, for n = 20 000, are 8.5 %.
    let rate = 1.5 / SERVICE_S;
    let overload = run(one_die(&format!("rate_iops = {rate}\nrequests = 20000")));
    assert_close("most in flight", f64::from(overload.summary().queue.max_in_flight), 20_000.0 / 3.0, 0.085);
    assert_close("span", overload.summary().time.simulated_s, 20_000.0 * SERVICE_S, 1e-3);
}

/// What is asked for, where arrivals end soon after the warm-up and the drive goes on with its queue for long: of n Poisson arrivals, the
/// rate has a relative standard deviation of 1 / sqrt(n).
#[test]
fn an_overload_is_what_arrived_while_requests_arrived() {
    let rate = 20.0 / SERVICE_S;
    let workload = format!("rate_iops = {rate}\nrequests = 20000\n[run]\nwarm_up = \"30ms\"");
    let run = run(one_die(&workload));
    let rates = run.summary().queue.overload.expect("twenty times what is served");
    let measured = 20_000.0 - 0.03 * rate;
    assert_close("offered", rates.offered_iops, rate, 6.0 / measured.sqrt());
    assert_close("served", rates.served_iops, 1.0 / SERVICE_S, 0.01);
}

/// Drives and workloads of every kind.
fn any_run(workload: &str, warm_up: &str, cache: &str) -> Scenario {
    scenario(&format!(
        r#"
{drive}
[run]
warm_up = "{warm_up}"
[workload.synthetic]
read_percent = 40
trim_percent = 5
flush_every = 50
fua_percent = 5
sizes = "jesd219"
{workload}
"#,
 drive = DriveText::channels(2).dies(2).planes(2).blocks(32, 16, "16KiB").spare(0.5).buffer("1MiB").controller(&format!("write_cache = \"{cache}\"\nlink = \"1GB/s\"\nmaster_cost = \"1us\"\nread_cost = \"500ns\"\nqueue_depth = 24"))
    ))
}

const WORKLOADS: [&str; 4] = [
    "requests = 20000",
    "queue_depth = 64\nrequests = 20000",
    "rate_iops = 2000\nrequests = 20000",
    "rate_iops = 500000\nrequests = 5000",
];

/// L = λW holds for every sample path that begins and ends empty; three sums kept apart must agree except for rounding.
#[test]
fn littles_law_is_exact_on_every_whole_run() {
    for workload in WORKLOADS {
        for cache in ["protected", "volatile", "off"] {
            let run = run(any_run(workload, "0s", cache));
            let law = &run.summary().queue.littles_law;
            assert!(law.relative_error <= 1e-12, "{workload}, {cache}: {law:?}");
            assert_close("L", law.l, run.summary().queue.mean_in_flight, 1e-12);
            // The histograms know the same latencies to three digits, from microseconds to seconds.
            let latency = &run.summary().latency_us;
            let ops = [&latency.read, &latency.write, &latency.trim, &latency.flush];
            let counted: u64 = ops.into_iter().flatten().map(|op| op.count).sum();
            let sum: f64 = ops.into_iter().flatten().map(|op| op.count as f64 * op.mean).sum();
            assert_close("mean of the histograms", sum / counted as f64 * 1e-6, mean_latency_s(&run), 1e-3);
        }
    }
}

/// A warm-up cuts the commands in flight at its end: of each, L and λW count the same part, that after the cut. So the law stays
/// exact, also of a run of a few commands that all began before it.
#[test]
fn littles_law_is_exact_after_a_warm_up() {
    for workload in WORKLOADS {
        for warm_up in ["1ms", "20ms"] {
            let run = run(any_run(workload, warm_up, "volatile"));
            let summary = run.summary();
            assert!(summary.time.warm_up_s >= 0.001, "{workload}: {}", summary.time.warm_up_s);
            let law = &summary.queue.littles_law;
            assert!(law.relative_error <= 1e-12, "{workload}: {law:?}");
        }
    }
    // Eight reads of one die, one after another, in flight all at once: the warm-up ends within the sixth.
    let warm_up = format!("{}ns", (5.5 * SERVICE_S * 1e9) as u64);
    let mut scenario = one_die("queue_depth = 8\nrequests = 8");
    scenario.run.warm_up = warm_up.parse().unwrap();
    let result = Simulation::new(scenario).unwrap().run(&mut |_| RunControl::Continue).unwrap();
    let summary = &result.summary;
    let law = &summary.queue.littles_law;
    assert_eq!(summary.host.reads, 3, "{:?}", summary.host);
    // Measured from the completion of the sixth, which counts: then two are in flight for one service time, and one for another.
    assert_close("L", law.l, 1.5, 1e-9);
    assert!(law.relative_error <= 1e-12, "{law:?}");
    let note = "took 5 of the 8 requests: the figures cover the other 3.";
    assert!(summary.notes.iter().any(|each| each.contains(note)), "{:?}", summary.notes);
}

/// Stopped midway, L and λW both count what is still in flight up to the stop.
#[test]
fn littles_law_of_a_stopped_run_is_exact() {
    let mut simulation = Simulation::new(one_die("queue_depth = 8\nrequests = 100000000")).unwrap();
    let mut calls = 0;
    let result = simulation
        .run(&mut |progress| {
            calls += u32::from(progress.simulated > Nanos::ZERO);
            if calls >= 2 { RunControl::Stop } else { RunControl::Continue }
        })
        .unwrap();
    let summary = &result.summary;
    assert!(summary.partial);
    let law = &summary.queue.littles_law;
    assert!(law.relative_error <= 1e-12, "{law:?}");
}

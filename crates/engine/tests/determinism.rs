//! Does one seed give one result, and can a run be stopped?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{ResultTable, RunControl, RunPhase, RunResult, Scenario, Simulation};
use outlast_media::{FaultKind, FaultSpec};
use outlast_units::Nanos;
use serde_json::Value;
use support::{DriveText, scenario};

fn mixed(timing: &str, requests: u64) -> Scenario {
    scenario(&format!(
        r#"
name = "determinism"
{drive}
[device.defects]
factory_bad = 0.02
[precondition]
min_drive_writes = 1
max_drive_writes = 2
[run]
timing = "{timing}"
[workload.synthetic]
pattern = "zipf"
scramble = true
read_percent = 50
trim_percent = 2
flush_every = 100
sizes = "jesd219"
rate_iops = 3000
requests = {requests}
"#,
        drive = DriveText::channels(2)
            .chips(2)
            .planes(2)
            .blocks(128, 32, "16KiB")
            .spare(0.4)
            .gc("policy = \"d-choices\", choices = 3")
            .ftl("spare_blocks = 8\nstreams = 2\nwear_leveling = { static_gap = 2 }")
            .buffer("2MiB")
            .controller("flash_cores = 2\nwrite_cache = \"volatile\"")
    ))
}

fn once(scenario: Scenario) -> RunResult {
    Simulation::new(scenario).unwrap().run(&mut |_| RunControl::Continue).unwrap()
}

/// `result.json` without what depends on the machine and the moment.
fn stripped(result: &RunResult) -> Value {
    let mut json = serde_json::to_value(&result.summary).unwrap();
    for (group, keys) in [
        ("time", &["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"][..]),
        ("throughput", &["requests_per_cpu_s"]),
        ("memory", &["peak_rss_mib"]),
    ] {
        for key in keys {
            assert!(json[group].as_object_mut().unwrap().remove(*key).is_some(), "no {group}.{key}");
        }
    }
    json
}

/// Tables as text: NaN equals NaN, and every bit of a number counts.
fn tables(result: &RunResult) -> String {
    let bits = |(name, table): &(String, ResultTable)| format!("{name}: {table:?}\n");
    result.tables.iter().map(bits).collect()
}

#[test]
fn one_seed_gives_one_result() {
    for timing in ["full", "none"] {
        let (one, two) = (once(mixed(timing, 20_000)), once(mixed(timing, 20_000)));
        assert_eq!(stripped(&one), stripped(&two));
        assert_eq!(stripped(&one).to_string(), stripped(&two).to_string());
        assert_eq!(tables(&one), tables(&two));
    }
}

#[test]
fn another_seed_gives_another_result() {
    let one = once(mixed("full", 20_000));
    let mut other = mixed("full", 20_000);
    other.seed += 1;
    let two = once(other);
    assert_ne!(one.summary.host.bytes_written, two.summary.host.bytes_written);
    assert_ne!(tables(&one), tables(&two));
}

#[test]
fn a_run_goes_on_after_the_power_has_failed() {
    let cut = || {
        let mut scenario = mixed("full", 20_000);
        let at = [300, 301, 1500, 2500].map(Nanos::millis);
        scenario.faults = at.map(|at| FaultSpec::new(at, FaultKind::Power)).to_vec();
        once(scenario)
    };
    let (one, two) = (cut(), cut());
    assert_eq!(stripped(&one).to_string(), stripped(&two).to_string());
    let host = &stripped(&one)["host"];
    assert!(host["errors"].as_u64().unwrap() > 0, "nothing was cut off: {host}");
    let plain = &stripped(&once(mixed("full", 20_000)))["host"];
    for kind in ["reads", "writes", "trims", "flushes"] {
        let ended = |host: &Value| host[kind].as_u64().unwrap() + host["failed"][kind].as_u64().unwrap_or(0);
        assert_eq!(ended(host), ended(plain), "{kind} were forgotten");
    }
}

/// How often the caller asks for progress, and how fast the machine is, must not show.
#[test]
fn progress_reports_do_not_change_the_result() {
    let mut calls = 0;
    let watched = Simulation::new(mixed("full", 100_000))
        .unwrap()
        .run(&mut |progress| {
            calls += 1;
            assert!(progress.fraction.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)), "{progress:?}");
            RunControl::Continue
        })
        .unwrap();
    assert!(calls > 0);
    assert_eq!(stripped(&watched), stripped(&once(mixed("full", 100_000))));
}

/// Stops at the first progress report in `phase`.
fn stopped_in(phase: RunPhase, scenario: Scenario) -> (RunResult, u64) {
    let mut simulation = Simulation::new(scenario).unwrap();
    let (mut stopped, mut done) = (false, 0);
    let result = simulation
        .run(&mut |progress| {
            assert!(!stopped, "asked again after it was told to stop");
            if progress.phase != phase {
                return RunControl::Continue;
            }
            stopped = true;
            done = progress.requests;
            RunControl::Stop
        })
        .unwrap();
    assert!(stopped, "there was no report in {phase}");
    simulation.ssd().ftls().for_each(|ftl| ftl.self_check().unwrap());
    (result, done)
}

#[test]
fn a_stopped_run_keeps_what_was_measured() {
    for timing in ["full", "none"] {
        let (result, done) = stopped_in(RunPhase::Run, mixed(timing, 100_000_000));
        let summary = &result.summary;
        assert!(summary.partial);
        assert!(summary.notes.iter().any(|note| note.contains("stopped")), "{:?}", summary.notes);
        let host = &summary.host;
        let completed = host.reads + host.writes + host.trims + host.flushes;
        assert_eq!(completed, done, "it went on after it was told to stop");
        let series = &result.tables.iter().find(|(name, _)| name == "timeseries").unwrap().1;
        assert_eq!(series.u64("reads").iter().sum::<u64>(), host.reads);
        assert_eq!(series.u64("writes").iter().sum::<u64>(), host.writes);
        // Without time there are no latencies.
        let latencies = summary.latency_us.write.as_ref().map_or(0, |latency| latency.count);
        assert_eq!(latencies, if timing == "full" { host.writes } else { 0 });
        let waf = summary.write_amplification.as_ref().unwrap();
        let causes = waf.causes.total();
        assert!((waf.total - causes).abs() < 1e-9);
    }
}

#[test]
fn a_run_can_be_stopped_while_it_prepares() {
    let (result, done) = stopped_in(RunPhase::Precondition, mixed("full", 1000));
    assert!(result.summary.partial && done > 0);
    assert_eq!(result.summary.host.reads + result.summary.host.writes, 0);
    assert!(result.summary.write_amplification.is_none());
    assert_eq!(result.summary.steady_state.precondition.reached, None);
    // The result of a run that never began is still one.
    let json = serde_json::to_string(&result.summary).unwrap();
    assert!(!json.contains("NaN") && !json.contains("inf"));
}

#[test]
fn a_run_can_be_stopped_while_it_warms_up() {
    let mut scenario = mixed("full", 100_000_000);
    scenario.run.warm_up = outlast_units::Nanos::secs(100_000);
    let (result, _) = stopped_in(RunPhase::WarmUp, scenario);
    assert!(result.summary.partial);
}

/// The same numbers, whether a run is cut after n requests by the caller or by the workload: only what is in flight differs.
#[test]
fn a_stopped_run_agrees_with_a_shorter_one() {
    let mut scenario = mixed("full", 100_000_000);
    scenario.workload.synthetic.as_mut().unwrap().rate_iops = Some(100.0);
    let (stopped, done) = stopped_in(RunPhase::Run, scenario.clone());
    scenario.workload.synthetic.as_mut().unwrap().requests = Some(done);
    let whole = once(scenario);
    let (a, b) = (stopped.summary.latency_us.read.unwrap(), whole.summary.latency_us.read.unwrap());
    // At 100 requests a second hardly two are ever in flight, so the last ones at most are others.
    assert!(a.count.abs_diff(b.count) <= 8, "{} and {}", a.count, b.count);
    assert!((a.mean / b.mean - 1.0).abs() < 0.01);
}

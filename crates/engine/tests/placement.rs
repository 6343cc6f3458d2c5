//! Do handles reach the drive from every kind of workload, do their figures add up, and does placement save what it should?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::{DriveText, Run, run, scenario, stripped};
use outlast_engine::parse_text;

/// A drive of 256 superblocks, and what the tests add.
fn with(placement: &str, rest: &str) -> Run {
    let drive = DriveText::channels(2).blocks(256, 32, "4KiB").spare(0.25).buffer("256KiB");
    run(scenario(&format!("seed = 3\n{drive}\n{placement}\n{rest}")))
}

const THREE: &str = r#"
[[device.placement.configurations]]
handles = ["initially-isolated", "persistently-isolated", "initially-isolated"]
"#;

/// A ring and two random ranges, in handles of their own.
const JOBS: &str = r#"
[precondition]
fill = "sequential"
overwrite = "none"
[run]
timing = "TIMING"
[workload.fio]
job = """
[global]
ioengine=io_uring_cmd
cmd_type=nvme
filename=/dev/ng0n1
bs=16k
iodepth=4
io_size=192m
MORE
[ring]
rw=write
size=40%
time_based=0
loops=20
plids=0
[hot]
rw=randwrite
norandommap
offset=50%
size=10%
fdp_pli=1
[cold]
rw=randwrite
norandommap
offset=60%
size=40%
plids=2
"""
"#;

fn jobs(timing: &str, more: &str) -> String {
    JOBS.replace("TIMING", timing).replace("MORE", more)
}

fn total(run: &Run) -> f64 {
    run.write_amplification()
}

#[test]
fn figures_of_handles_add_up_to_those_of_the_drive() {
    for timing in ["full", "none"] {
        let run = with(THREE, &jobs(timing, "fdp=1"));
        let summary = run.summary();
        let placement = summary.placement.as_ref().unwrap();
        let handles = &placement.handles;
        assert_eq!(handles.iter().map(|own| own.handle).collect::<Vec<_>>(), [0, 1, 2]);
        let sum = |of: fn(&outlast_engine::HandleSummary) -> u64| handles.iter().map(of).sum::<u64>();
        assert_eq!(sum(|own| own.host_bytes), summary.host.bytes_written, "{timing}");
        let unit = 4096.0;
        let moved = summary.write_amplification.as_ref().unwrap().causes;
        let moved = moved[outlast_ftl::ProgramCause::Gc] * summary.host.bytes_written as f64;
        assert!((sum(|own| own.moved_bytes) as f64 - moved).abs() < unit, "{timing}: {moved}");
        assert_eq!(sum(|own| own.valid_bytes), summary.device.capacity_bytes, "{timing}");
        assert_eq!(handles[1].mixed_bytes, 0, "{timing}");
        let stats = placement.statistics;
        assert!(stats.host_bytes_written < stats.media_bytes_written, "{timing}: {stats:?}");
        // What is erased was programmed, and all but what lies on flash has been erased.
        assert!(stats.media_bytes_erased < stats.media_bytes_written, "{timing}: {stats:?}");
        assert!(
            placement.events.media_reallocated != 0 && placement.events.invalid_placement_identifier == 0
        );
    }
}

#[test]
fn placement_saves_writes_and_a_job_without_it_goes_through_the_first_handle() {
    let placed = with(THREE, &jobs("none", "fdp=1"));
    let ignored = with(THREE, &jobs("none", ""));
    let handles = &ignored.summary().placement.as_ref().unwrap().handles;
    assert_eq!((handles[1].host_bytes, handles[2].host_bytes), (0, 0));
    assert!(total(&placed) < 0.9 * total(&ignored), "{} placed, {} not", total(&placed), total(&ignored));
}

#[test]
fn one_handle_changes_no_figure() {
    let one = "[[device.placement.configurations]]\nhandles = [\"initially-isolated\"]\n";
    for timing in ["full", "none"] {
        let (mut with_one, mut without) = (
            stripped(with(one, &jobs(timing, "")).summary()),
            stripped(with("", &jobs(timing, "")).summary()),
        );
        for result in [&mut with_one, &mut without] {
            let all = result.as_object_mut().unwrap();
            all.remove("placement");
            all.remove("memory");
            all["scenario"]["device"].as_object_mut().unwrap().remove("placement");
        }
        assert_eq!(with_one, without, "{timing}");
    }
}

#[test]
fn handles_over_time_end_at_the_totals() {
    let jobs = jobs("full", "fdp=1").replace("[run]", "[run]\nutilisation = true");
    let run = with(THREE, &jobs);
    let table = run.table("placement_over_time");
    let json = serde_json::to_value(run.summary()).unwrap();
    let host = table.u64("host_bytes");
    for (handle, last) in host[host.len() - 3..].iter().enumerate() {
        assert_eq!(json["placement"]["handles"][handle]["host_bytes"], *last);
    }
}

#[test]
fn an_array_passes_handles_to_its_members() {
    let array = "[array]\nlevel = \"raid0\"\nmembers = 2\nchunk = \"16KiB\"\n";
    let run = with(&format!("{array}{THREE}"), &jobs("full", "fdp=1"));
    let handles = &run.summary().placement.as_ref().unwrap().handles;
    assert!(handles.iter().all(|own| own.host_bytes != 0), "{handles:?}");
    let sum: u64 = handles.iter().map(|own| own.host_bytes).sum();
    assert_eq!(sum, run.summary().host.bytes_written);
}

#[test]
fn a_change_updates_handles_of_the_drive() {
    let change = "[[changes]]\nat = \"100ms\"\nupdate_handles = [0, 2]\n";
    let run = with(&format!("{change}{THREE}"), &jobs("full", "fdp=1"));
    assert_eq!(run.summary().placement.as_ref().unwrap().events.reclaim_unit_not_fully_written, 2);
}

/// Without time it was not carried out, and a note called it a fault or a leap of age beyond the end of the run.
#[test]
fn a_change_without_time_is_refused_by_its_name_and_line() {
    for (change, named) in [
        ("at = \"100ms\"\nupdate_handles = [0]", "changes[0].at = 100ms"),
        ("pe_cycles = 3\nupdate_handles = [0]", "changes[0].pe_cycles = 3"),
        ("medium_errors = 1\nupdate_handles = [0]", "changes[0].medium_errors = 1"),
    ] {
        let drive = DriveText::channels(2).blocks(256, 32, "4KiB").spare(0.25).buffer("256KiB");
        let text = format!("[[changes]]\n{change}\n{drive}\n{THREE}\n{}", jobs("none", "fdp=1"));
        let refused = parse_text(&text).unwrap_err().to_string();
        let why =
            "needs run.timing = \"full\": a run without time carries out no update of placement handles";
        assert_eq!(refused, format!("text:2: {named}: {why}"));
    }
}

#[test]
fn a_change_beyond_the_end_of_a_run_is_named_in_a_note() {
    let changes = "[[changes]]\nat = \"1000s\"\nupdate_handles = [0]\n".repeat(2);
    let run = with(&format!("{changes}{THREE}"), &jobs("full", "fdp=1"));
    let note = "Scheduled, and did not happen before the end of the run: 2 updates of placement handles.";
    assert!(run.summary().notes.iter().any(|own| own == note), "{:?}", run.summary().notes);
}

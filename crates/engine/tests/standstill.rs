//! Does a workload that only time ends do so on a drive whose requests take no time?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::steps::{FinishAtEnd, go, once, stand, step};
use crate::support::{DriveText, scenario, stripped};
use outlast_engine::{RunSummary, Simulation};

/// Requests at one moment, after which time is held to stand: a check of the clock comes after every 4096.
const MOST: u64 = 1 << 22;

/// The drive of one die of 60 MiB, never written, under a workload.
fn empty(parts: &str) -> outlast_engine::Scenario {
    let drive = DriveText::channels(1).blocks(256, 64, "4KiB").spare(0.28);
    scenario(&format!(
        "name = \"empty\"\nseed = 3\n{drive}[precondition]\nfill = \"none\"\noverwrite = \"none\"\n{parts}"
    ))
}

fn synthetic(settings: &str) -> String {
    format!("[workload.synthetic]\npattern = \"uniform\"\n{settings}\n")
}

fn fio(lines: &str) -> String {
    format!("[workload.fio]\njob = \"\"\"\n{lines}\n\"\"\"\n")
}

/// The note that says why the run ended early.
fn note(summary: &RunSummary) -> Option<&String> {
    summary.notes.iter().find(|note| note.contains("time no longer passed"))
}

#[track_caller]
fn assert_ended(summary: &RunSummary, words: &str) {
    assert!(!summary.partial);
    let note = note(summary).unwrap_or_else(|| panic!("{:?}", summary.notes));
    assert!(note.contains(words) && note.contains("device.controller.link"), "{note}");
}

/// Went on for ever.
#[test]
fn reads_of_a_drive_never_written_end_although_they_take_no_time() {
    let reads = "read_percent = 100\nqueue_depth = 4\nduration = \"1s\"";
    let summary = once(empty(&synthetic(reads))).summary;
    assert_ended(&summary, "The run ended at 0.000000 s");
    assert_ended(&summary, &format!("its last {MOST} requests took no time ({MOST} reads)"));
    // A number of requests ends it as ever.
    let counted = synthetic(&reads.replace("duration = \"1s\"", "requests = 5000000"));
    let summary = once(empty(&counted)).summary;
    assert!(summary.host.reads == 5_000_000 && note(&summary).is_none(), "{:?}", summary.notes);
}

/// Went on for ever.
#[test]
fn trims_end_although_they_take_no_time() {
    let trims = "read_percent = 0\ntrim_percent = 100\nqueue_depth = 1\nduration = \"1s\"";
    assert_ended(&once(empty(&synthetic(trims))).summary, "trims)");
}

/// Went on for ever: a drive without a spare superblock takes no more writes once a die has failed.
#[test]
fn writes_end_that_a_drive_refuses_at_once() {
    let fault = "[[faults]]\nat = \"20ms\"\nkind = \"die\"\ndie = 0\n";
    for workload in [
        synthetic("read_percent = 0\nqueue_depth = 4\nduration = \"1s\""),
        fio("[a]\nrw=randwrite\nbs=4k\niodepth=4\ntime_based\nruntime=1"),
        // A job that only amounts end, and that waits for time.
        fio(
            "[a]\nrw=randwrite\nbs=4k\ntime_based\nruntime=1\n[b]\nrw=randwrite\nbs=4k\nnumber_ios=1000\nthinktime=100ms",
        ),
    ] {
        let summary = once(empty(&format!("{workload}{fault}"))).summary;
        assert_ended(&summary, "writes that failed");
        assert!(summary.host.errors >= MOST && summary.time.simulated_s >= 0.02, "{}", summary.host.errors);
    }
}

/// An array whose members answer at once does so as well.
#[test]
fn reads_of_an_array_never_written_end_although_they_take_no_time() {
    let array = "[array]\nlevel = \"raid5\"\nmembers = 4\nchunk = \"64KiB\"\n";
    let reads = synthetic("read_percent = 100\nqueue_depth = 2\nduration = \"1s\"");
    assert_ended(&once(empty(&format!("{reads}{array}"))).summary, "reads)");
}

/// Time passes again for a job that begins, or for a phase that follows, after millions of requests at one moment.
#[test]
fn a_workload_that_gets_on_without_time_does_not_end_there() {
    let jobs = "[many]\nrw=randread\nbs=4k\nnorandommap\nnumber_ios=9000000\nio_size=1t\n\
                [slow]\nrw=randwrite\nbs=4k\ntime_based\nruntime=1\nthinktime=100ms";
    let phases = "[workload.synthetic]\nqueue_depth = 2\nduration = \"10ms\"\n\
                  [[workload.synthetic.phases]]\nread_percent = 100\nrequests = 9000000\n\
                  [[workload.synthetic.phases]]\nread_percent = 0\n";
    for workload in [&fio(jobs), phases] {
        let summary = once(empty(workload)).summary;
        assert!(summary.host.reads == 9_000_000 && note(&summary).is_none(), "{:?}", summary.notes);
        assert!(summary.time.simulated_s > 0.009, "{}", summary.time.simulated_s);
    }
}

/// Reads one after the other reach the part that was written, after ever so many that took no time.
#[test]
fn a_walk_reaches_the_part_of_a_drive_that_was_written() {
    let drive = DriveText::channels(1).blocks(4096, 256, "4KiB").spare(0.28);
    let walk = "[precondition]\nfill_fraction = 0.0001\noverwrite = \"none\"\n[workload.synthetic]\npattern = \"sequential\"\n\
                size = \"512B\"\nread_percent = 100\nduration = \"100ms\"\n";
    let summary = once(scenario(&format!("name = \"walk\"\nseed = 3\n{drive}{walk}"))).summary;
    assert!(summary.host.reads > MOST && note(&summary).is_none(), "{:?}", summary.notes);
    assert!(summary.time.simulated_s >= 0.1, "{}", summary.time.simulated_s);
}

/// The end is the same in one step and in many.
#[test]
fn a_run_that_stands_still_ends_at_the_same_request_in_steps() {
    let workload = synthetic("read_percent = 100\nqueue_depth = 4\nduration = \"1s\"");
    let whole = once(empty(&workload)).summary;
    let mut simulation = Simulation::new(empty(&workload)).unwrap();
    simulation.open_run(&mut go).unwrap();
    while !stand(&simulation).ended {
        step(&mut simulation, Some(777_777), None);
    }
    assert_eq!(stripped(&simulation.finish_at_end().summary), stripped(&whole));
}

/// Went on for ever, and so did the preparation by a workload that only trims.
#[test]
fn preparing_by_a_workload_without_end_that_never_writes_ends() {
    for settings in ["read_percent = 100", "read_percent = 0\ntrim_percent = 100"] {
        let workload = synthetic(&format!("{settings}\nqueue_depth = 4\nduration = \"1ms\""));
        let drive = DriveText::of_5_mib().controller("link = \"1GB/s\"");
        let text = format!(
            "name = \"reads\"\nseed = 3\n{drive}[precondition]\noverwrite = \"workload\"\n{workload}"
        );
        let summary = once(scenario(&text)).summary;
        let note = "The workload writes nothing, so it overwrote nothing.";
        assert!(summary.notes.iter().any(|own| own == note), "{:?}", summary.notes);
        assert!(!summary.partial);
    }
}

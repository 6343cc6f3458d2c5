//! Do reads get through while the drive writes, collects and erases?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::RunSummary;
use support::{DriveText, run, scenario};

/// A mixed load on a filled drive at about half of what its dies can do; `suspend` and `workload` are further TOML.
fn mixed(suspend: &str, workload: &str) -> RunSummary {
    let text = format!(
        r#"
{drive}
[precondition]
min_drive_writes = 2
max_drive_writes = 2
[run]
warm_up = "100ms"
[workload.synthetic]
size = "4KiB"
{workload}
"#,
        drive = DriveText::channels(2)
            .dies(2)
            .planes(2)
            .blocks(64, 64, "16KiB")
            .timing(&format!(
                "read = \"60us\"\nprogram = \"700us\"\nerase = \"5ms\"\nbus = \"800MB/s\"\n{suspend}"
            ))
            .spare(0.3)
            .buffer("2MiB")
    );
    run(scenario(&text)).result.summary
}

const BOTH: &str = "suspend = { program = true, erase = true, overhead = \"5us\", limit = 20 }";
const PROGRAM: &str = "suspend = { program = true, erase = false, overhead = \"5us\", limit = 20 }";

fn read_p99(summary: &RunSummary) -> f64 {
    summary.latency_us.read.as_ref().unwrap().p99
}

fn read_mean(summary: &RunSummary) -> f64 {
    summary.latency_us.read.as_ref().unwrap().mean
}

/// A read that meets a program waits up to 700 us for it, one that meets an erasure 5 ms; with suspension it waits 5 us. Both are
/// frequent enough for the 99th percentile: each die spends more than 1 % of its time erasing.
#[test]
fn suspension_shortens_the_tail_of_reads() {
    let load = "read_percent = 70\nrate_iops = 4000\nrequests = 240000";
    let (none, program, both) = (mixed("", load), mixed(PROGRAM, load), mixed(BOTH, load));
    assert_eq!(none.flash.suspends, 0);
    assert!(program.flash.suspends > 1000 && both.flash.suspends > program.flash.suspends);
    assert!(none.gc.victims > 90, "{} victims", none.gc.victims);
    assert!(read_p99(&both) < read_p99(&program) && read_p99(&program) <= read_p99(&none));
    assert!(read_p99(&both) < 0.5 * read_p99(&none), "{} against {}", read_p99(&both), read_p99(&none));
    assert!(read_mean(&both) < read_mean(&program) && read_mean(&program) < read_mean(&none));
    // What reads gain, writes pay for, and the work done is the same.
    assert_eq!((both.host.reads + both.host.writes) / 1000, (none.host.reads + none.host.writes) / 1000);
}

/// At most 16 reads are in flight on 4 dies. With suspension a read waits for other reads, for one operation's suspension and, where an
/// operation was suspended as often as is allowed, for its end: rarely. So reads under writes are not much slower than alone.
#[test]
fn reads_under_writes_are_nearly_as_fast_as_alone() {
    // The same 2800 reads a second: alone, and with 1200 writes.
    let alone = mixed(BOTH, "read_percent = 100\nrate_iops = 2800\nrequests = 40000");
    let mixed = mixed(BOTH, "read_percent = 70\nrate_iops = 4000\nrequests = 57000");
    assert!(
        read_mean(&mixed) < 1.5 * read_mean(&alone),
        "{} against {}",
        read_mean(&mixed),
        read_mean(&alone)
    );
}

/// Without suspension a read waits at most for what the die is doing, never for the programs queued behind it: its mean wait is below
/// the longest operation however many writes are queued. A scheduler in order of arrival would make it wait for the queue.
#[test]
fn reads_overtake_queued_programs() {
    let flood = mixed("", "read_percent = 20\nqueue_depth = 256\nrequests = 60000");
    let read = flood.latency_us.read.as_ref().unwrap();
    let write = flood.latency_us.write.as_ref().unwrap();
    assert!(flood.queue.die_utilisation.min > 0.9, "{:?}", flood.queue.die_utilisation);
    assert!(read.mean < 0.5 * write.mean, "reads {} us, writes {} us", read.mean, write.mean);
    // Half a program or, seldom, half an erasure, and up to eight host operations before an urgent collection.
    assert!(read.p50 < 2.0 * 760.0, "{read:?}");
}

/// Collection goes behind host reads but is not starved by them: a flood of reads with writes among them ends, and space is made.
#[test]
fn reads_do_not_starve_collection() {
    let flood = mixed("", "read_percent = 95\nqueue_depth = 256\nrequests = 200000");
    assert!(flood.gc.victims > 10, "{}", flood.gc.victims);
    assert!(
        flood.latency_us.write.as_ref().unwrap().max < 2e6,
        "a write waited for seconds: {:?}",
        flood.latency_us.write
    );
    let suspended = mixed(BOTH, "read_percent = 95\nqueue_depth = 256\nrequests = 200000");
    assert!(suspended.latency_us.write.as_ref().unwrap().max < 2e6, "{:?}", suspended.latency_us.write);
}

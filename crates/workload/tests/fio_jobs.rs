//! Do fio jobs give the requests that fio's manual says, and are unknown keys refused by name?
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::print_stdout,
    reason = "tests fail by panicking, build small texts, and say what they skip"
)]

use outlast_device::Op;
use outlast_units::{Bytes, Nanos};
use outlast_workload::{Pacing, Request, Target, Workload, parse_job};
use proptest::prelude::*;

const TARGET: Target = Target { capacity: Bytes::mib(64), seed: 7, unit: Bytes::kib(4) };

fn open(text: &str) -> Workload {
    parse_job(text, &TARGET).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn all(workload: &mut Workload) -> Vec<Request> {
    let mut out = Vec::new();
    while out.len() < 1_000_000 && workload.source.fill(&mut out, 777).unwrap() > 0 {}
    out
}

#[test]
fn the_random_map_visits_each_block_once() {
    let mut workload =
        open("[global]\nioengine=libaio\ndirect=1\n[job]\nrw=randwrite\nbs=4k\niodepth=16\nsize=8m\n");
    assert_eq!(workload.pacing, Pacing::Closed { queue_depth: 16 });
    let mut lbas: Vec<u64> = all(&mut workload).iter().map(|r| r.command.lba.0).collect();
    assert!(!lbas.is_sorted());
    lbas.sort_unstable();
    assert_eq!(lbas, (0..2048).map(|block| block * 8).collect::<Vec<_>>());
    assert!(workload.notes.iter().any(|note| note.contains("ioengine")), "{:?}", workload.notes);
}

#[test]
fn mixed_sequential_counts_reads_and_writes_apart() {
    let mut workload = open("[job]\nrw=rw\nrwmixread=70\nbs=4k,16k\nnumber_ios=3000\n");
    let requests = all(&mut workload);
    assert_eq!(requests.len(), 3000);
    let reads: Vec<u64> =
        requests.iter().filter(|r| r.command.op == Op::Read).map(|r| r.command.lba.0).collect();
    assert!(reads.windows(2).all(|pair| pair[1] == pair[0] + 8));
    // Binomial(3000, 0.7): sigma = 25.1; six of them.
    assert!(reads.len().abs_diff(2100) <= 150, "{}", reads.len());
    assert!(requests.iter().all(|r| r.command.sectors == if r.command.op == Op::Read { 8 } else { 32 }));
}

#[test]
fn rates_make_an_open_loop_and_jobs_are_merged_by_time() {
    let text = "[a]\nrw=randread\nrate_iops=1000\nruntime=1\ntime_based\nnorandommap\n[b]\nrw=write\nrate_iops=500\nruntime=1\ntime_based=1\nstartdelay=500ms\n[c]\nstonewall\nrw=trim\nbs=64k\nrate_iops=10\nio_size=1m\n";
    let mut workload = open(text);
    assert_eq!((workload.pacing, workload.endless), (Pacing::Open, false));
    let requests = all(&mut workload);
    assert!(requests.is_sorted_by_key(|r| r.at));
    let count = |op: Op| requests.iter().filter(|r| r.command.op == op).count();
    assert_eq!((count(Op::Read), count(Op::Write), count(Op::Trim)), (1000, 500, 16));
    let first = |op: Op| requests.iter().find(|r| r.command.op == op).unwrap().at;
    assert_eq!((first(Op::Write), first(Op::Trim)), (Nanos::millis(500), Nanos::millis(1500)));
    workload.source.rewind().unwrap();
    assert_eq!(all(&mut workload), requests);
}

#[test]
fn clones_and_depths_share_a_closed_loop() {
    let mut workload = open(
        "[a]\nrw=randread\nnumjobs=3\niodepth=2\nnumber_ios=600\n[b]\nrw=randwrite\niodepth=18\nnumber_ios=5400\n",
    );
    assert_eq!((workload.pacing, workload.requests), (Pacing::Closed { queue_depth: 24 }, Some(7200)));
    let requests = all(&mut workload);
    assert_eq!(requests.len(), 7200);
    let early = requests[..2400].iter().filter(|r| r.command.op == Op::Read).count();
    assert!(early.abs_diff(600) <= 24, "{early}");
}

#[test]
fn zipf_zoned_bssplit_fsync_and_runtime() {
    let workload = open(
        "[a]\nrw=randwrite\nrandom_distribution=zoned:50/5:30/15:20/\nbssplit=4k/60:64k/40\nfsync=10\nruntime=60s\ntime_based\n",
    );
    assert_eq!((workload.duration, workload.endless), (Some(Nanos::secs(60)), true));
    let mut workload = open("[a]\nrw=randread\nrandom_distribution=zipf:1.1\nnumber_ios=10\nloops=2\n");
    assert_eq!(all(&mut workload).len(), 10);
}

#[test]
fn messages_name_line_key_and_value() {
    for (text, parts) in [
        ("[a]\nrw=randread\niodpeth=4\n", &["line 3", "iodpeth", "did you mean \"iodepth\""][..]),
        ("[a]\nrw=randomread\n", &["line 2", "rw=randomread", "expected read"]),
        ("[a]\nbs=4KiB\n", &["line 2", "bs=4KiB", "1000"]),
        ("rw=read\n", &["line 1", "rw=read"]),
        ("[a\n", &["line 1"]),
        ("[global]\nrw=read\n", &["no job section"]),
        ("[a]\nsize=1g\n", &["size", "1GiB", "131072 sectors"]),
        ("[a]\nbs=100\n", &["bs", "100", "sectors"]),
        ("[a]\nrw=trimwrite\n", &["not supported"]),
        ("[a]\nrate_iops=5\n[b]\n", &["rate_iops", "every job"]),
        ("[a]\niodepth=0\n", &["line 2", "iodepth=0", "1 to 65536"]),
        ("[a]\nrandom_distribution=pareto:0.2\n", &["not supported"]),
    ] {
        let message = parse_job(text, &TARGET).unwrap_err().to_string();
        assert!(
            parts.iter().all(|part| message.contains(part)) && !message.contains('\n'),
            "{text}: {message}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse_job(&text, &TARGET);
    }

    /// Text made of keys with likely and unlikely values: whatever opens stays on the device.
    #[test]
    fn no_job_leaves_the_device(
        entries in prop::collection::vec((
            prop::sample::select(vec!["rw", "bs", "bssplit", "iodepth", "size", "offset", "io_size", "number_ios", "numjobs",
                "offset_increment", "blockalign", "random_distribution", "norandommap", "rate_iops", "fsync", "loops",
                "stonewall", "runtime", "time_based", "rwmixread", "randseed", "[x]"]),
            prop::sample::select(vec!["1", "0", "7", "4k", "3k,64k", "randrw", "randtrim", "read", "write", "50%", "100%", "1m", "63m",
                "4k/50:512/", "zipf:0.9", "zoned:60/10:40/90", "18446744073709551615", "", "-1"]),
        ), 0..14)
    ) {
        let mut text = String::from("[a]\n");
        for (key, value) in entries {
            text += &if key == "[x]" { "[x]\n".to_owned() } else { format!("{key}={value}\n") };
        }
        if let Ok(mut workload) = parse_job(&text, &TARGET) {
            let mut out = Vec::new();
            workload.source.fill(&mut out, 500).unwrap();
            for r in &out {
                prop_assert!(r.command.lba.0 + u64::from(r.command.sectors) <= 131_072, "{}: {:?}", text, r);
            }
            prop_assert!(workload.source.progress().is_none_or(|p| (0.0..=1.0).contains(&p)));
        }
    }
}

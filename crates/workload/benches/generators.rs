//! How long one request takes to make, and a hash of the requests, so that a change of either is seen.
//!
//! Goals (on one core): at most 15 ns for uniform and hot/cold, 30 ns for Zipf; the whole simulator has 200 ns a request.
//! With `--test` a few thousand requests of each, as a test that it runs.
#![allow(
    clippy::print_stdout,
    clippy::format_collect,
    reason = "a benchmark prints its figures and builds its input once"
)]

use outlast_units::{Bytes, rng::mix};
use outlast_workload::{AddressPattern, ArrivalProcess, NamedMix, RequestSource, SizeMix, WorkloadRequest};
use outlast_workload::{SyntheticSpec, TraceFormat, WorkloadSpec, WorkloadTarget, parse_bytes, parse_job};
use std::hint::black_box;
use std::time::Instant;

const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes(1 << 40),
    seed: 1,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};
const BATCH: usize = 1024;

fn now() -> Instant {
    #[allow(clippy::disallowed_methods, reason = "a benchmark measures time")]
    Instant::now()
}

fn hash(sum: u64, requests: &[WorkloadRequest]) -> u64 {
    requests.iter().fold(sum, |sum, r| {
        let command = r.command;
        mix(sum
            ^ command.lba.0
            ^ u64::from(command.sectors) << 44
            ^ (command.op as u64) << 60
            ^ r.at.0.rotate_left(32))
    })
}

/// Median of five runs, in nanoseconds a request, and the hash of the first requests.
fn measure(source: &mut dyn RequestSource, count: usize) -> (f64, u64) {
    let mut out = Vec::with_capacity(BATCH);
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = now();
        for _ in 0..count / BATCH {
            out.clear();
            if source.fill(&mut out, BATCH).is_err() {
                println!("the source failed");
            }
            black_box(&out);
        }
        times.push(start.elapsed().as_secs_f64() * 1e9 / count as f64);
    }
    times.sort_by(f64::total_cmp);
    out.clear();
    let done = source.rewind().and_then(|()| source.fill(&mut out, BATCH));
    (times[2], done.map_or(0, |_| hash(0, &out)))
}

fn main() {
    let tiny = std::env::args().any(|argument| argument == "--test");
    let count = BATCH * if tiny { 4 } else { 4096 };
    let base = SyntheticSpec { read_percent: Some(70.0), ..SyntheticSpec::default() };
    let of = |pattern, scramble: bool| SyntheticSpec {
        pattern: Some(pattern),
        scramble: Some(scramble),
        ..base.clone()
    };
    let cases = [
        ("sequential", of(AddressPattern::Sequential, false)),
        ("uniform", of(AddressPattern::Uniform, false)),
        ("uniform, writes only", SyntheticSpec { read_percent: None, ..of(AddressPattern::Uniform, false) }),
        ("hotcold", of(AddressPattern::Hotcold, false)),
        ("hotcold, scrambled", of(AddressPattern::Hotcold, true)),
        ("zipf 0.99", of(AddressPattern::Zipf, false)),
        ("zipf 0.99, scrambled", of(AddressPattern::Zipf, true)),
        (
            "jesd219 with its sizes",
            SyntheticSpec {
                sizes: Some(SizeMix::Named(NamedMix::Jesd219)),
                ..of(AddressPattern::Jesd219, false)
            },
        ),
        (
            "uniform, fixed rate",
            SyntheticSpec {
                rate_iops: Some(1e6),
                arrival: Some(ArrivalProcess::Fixed),
                ..of(AddressPattern::Uniform, false)
            },
        ),
        ("uniform, poisson", SyntheticSpec { rate_iops: Some(1e6), ..of(AddressPattern::Uniform, false) }),
    ];
    for (name, synthetic) in cases {
        let spec = WorkloadSpec { synthetic: Some(synthetic), ..WorkloadSpec::default() };
        match spec.open(&TARGET) {
            Ok(mut workload) => {
                let (nanos, hash) = measure(&mut *workload.source, count);
                println!("{name:24} {nanos:7.1} ns/request  hash {hash:016x}");
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    if let Ok(mut workload) = parse_job("[a]\nrw=randrw\ntime_based\nruntime=1h\n", &TARGET) {
        let (nanos, hash) = measure(&mut *workload.source, count);
        println!("{:24} {nanos:7.1} ns/request  hash {hash:016x}", "fio randrw, random map");
    }
    let lines = if tiny { 1000 } else { 500_000 };
    let text: String =
        (0..lines as u64).map(|i| format!("{},hm,0,Read,{},4096,1\n", i * 9, mix(i) >> 30 << 9)).collect();
    let start = now();
    if let Ok(requests) = parse_bytes(TraceFormat::Msr, text.as_bytes()) {
        let nanos = start.elapsed().as_secs_f64() * 1e9 / requests.len() as f64;
        println!("{:24} {nanos:7.1} ns/request  hash {:016x}", "msr trace, plain", hash(0, &requests));
    }
}

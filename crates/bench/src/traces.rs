//! Replaying a trace of each format from a file, as a scenario does: the survey of its addresses, and every request placed on the drive.
//! `traces` tells nanoseconds a record of both passes.

use outlast_units::Bytes;
use outlast_units::rng::{SplitMix, mix};
use outlast_workload::{AddressOverflow, TraceFormat, TraceSpec, WorkloadSpec, WorkloadTarget};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) const FORMATS: [TraceFormat; 7] = [
    TraceFormat::Msr,
    TraceFormat::Spc,
    TraceFormat::Ascii,
    TraceFormat::Blkparse,
    TraceFormat::FioIolog,
    TraceFormat::FioIologV2,
    TraceFormat::Alibaba,
];

/// Records of a trace whose instructions are counted, and of one that is timed.
const FEW: u64 = 50_000;
const MANY: u64 = 1_000_000;
/// The drive is smaller than what was traced, so that addresses are packed.
const DRIVE: Bytes = Bytes::gib(64);
const TRACED: Bytes = Bytes::gib(256);

/// Records replayed, and a hash of the requests.
pub(crate) fn run(format: TraceFormat) -> Result<(u64, u64), String> {
    let file = write(format, FEW)?;
    let result = replay(&file, format);
    let _ = std::fs::remove_file(&file);
    result
}

/// Nanoseconds a record of each format, the least of five: one pass (`wrap` needs no survey), and both.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let mut parts = Vec::new();
    for format in FORMATS {
        let file = write(format, if quick { FEW } else { MANY })?;
        let (mut one, mut both) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..5 {
            for (addresses, least) in [(AddressOverflow::Wrap, &mut one), (AddressOverflow::Fit, &mut both)] {
                let start = processor_seconds();
                let (records, _) = read(&file, format, addresses)?;
                *least = least.min((processor_seconds() - start) * 1e9 / records as f64);
            }
        }
        let _ = std::fs::remove_file(&file);
        parts.push(format!("{format} {one:.0} and {both:.0}"));
    }
    Ok(format!("traces, ns a record in one pass and with a survey before: {}", parts.join(", ")))
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[inline(never)]
fn replay(file: &Path, format: TraceFormat) -> Result<(u64, u64), String> {
    read(file, format, AddressOverflow::Fit)
}

fn read(file: &Path, format: TraceFormat, addresses: AddressOverflow) -> Result<(u64, u64), String> {
    let file = file.to_string_lossy().into_owned();
    let spec = TraceSpec { file, format, addresses, ..TraceSpec::default() };
    let target = WorkloadTarget {
        capacity: DRIVE,
        seed: 1,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    let workload = WorkloadSpec { trace: Some(spec), ..WorkloadSpec::default() }.open(&target);
    let mut source = workload.map_err(|error| error.to_string())?.source;
    let (mut requests, mut count, mut hash) = (Vec::new(), 0, 0);
    while source.fill(&mut requests, 1024).map_err(|error| error.to_string())? > 0 {
        count += requests.len() as u64;
        for request in requests.drain(..) {
            let command = request.command;
            let place = command.lba.0 ^ u64::from(command.sectors) << 44 ^ (command.op as u64) << 60;
            hash = mix(hash ^ place ^ request.at.0.rotate_left(32));
        }
    }
    Ok((count, hash))
}

/// A made-up trace: bursts of some runs of addresses, 70 % reads, sizes from 4 to 64 KiB, a record every 30 us or so.
#[allow(clippy::disallowed_methods, reason = "a trace is a file")]
fn write(format: TraceFormat, records: u64) -> Result<PathBuf, String> {
    let mut rng = SplitMix::new(1, "bench.traces");
    let mut text = String::new();
    if format == TraceFormat::FioIolog {
        text.push_str("fio version 3 iolog\n");
    } else if format == TraceFormat::FioIologV2 {
        text.push_str("fio version 2 iolog\n");
    }
    let (mut micros, mut sector) = (0, 0);
    for index in 0..records {
        micros += rng.below(60);
        if rng.below(4) == 0 {
            sector = rng.below(TRACED.0 / 4096) * 8;
        }
        let sectors = 8 << rng.below(5);
        let read = rng.below(10) < 7;
        line(&mut text, format, index, micros, sector, sectors, read);
        sector += sectors;
    }
    let file = std::env::temp_dir().join(format!("outlast-trace.{}.{format}", std::process::id()));
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

/// A record as the format's own writers have it.
fn line(
    text: &mut String,
    format: TraceFormat,
    index: u64,
    micros: u64,
    sector: u64,
    sectors: u64,
    read: bool,
) {
    let (offset, length) = (sector * 512, sectors * 512);
    let letter = if read { 'R' } else { 'W' };
    let word = if read { "read" } else { "write" };
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    let _ = match format {
        TraceFormat::Msr => {
            let kind = if read { "Read" } else { "Write" };
            let time = 128_166_372_003_061_629 + micros * 10;
            writeln!(text, "{time},hm,{},{kind},{offset},{length},{}", index % 2, 100 + index % 9000)
        }
        TraceFormat::Spc => writeln!(text, "{},{sector},{length},{letter},{seconds}.{rest:06}", index % 3),
        TraceFormat::Ascii => {
            writeln!(text, "{}000 {} {sector} {sectors} {}", micros, index % 3, u8::from(read))
        }
        TraceFormat::Blkparse => writeln!(
            text,
            "259,2    {}   {index:>8}     {seconds}.{rest:06}581  4020  Q {letter}S {sector} + {sectors} [java]",
            index % 4
        ),
        TraceFormat::FioIolog => writeln!(text, "{micros} /dev/sda {word} {offset} {length}"),
        TraceFormat::FioIologV2 => writeln!(text, "/dev/sda {word} {offset} {length}"),
        _ => writeln!(
            text,
            "{},{letter},{offset},{length},{}",
            419 + index % 2,
            1_577_808_000_000_000 + micros
        ),
    };
}

//! The keys of a job.

use super::job::{Distribution, Job, Process, Rw};
use super::parse::Entry;
use super::values::{self, Wrong};
use crate::{Extent, WorkloadError};
use outlast_units::Bytes;

/// The keys that are understood, for suggestions.
const KNOWN: &[&str] = &[
    "ba",
    "blockalign",
    "blocksize",
    "bs",
    "bssplit",
    "fdatasync",
    "fsync",
    "io_limit",
    "io_size",
    "iodepth",
    "loops",
    "norandommap",
    "number_ios",
    "numjobs",
    "offset",
    "offset_increment",
    "percentage_random",
    "ramp_time",
    "random_distribution",
    "randseed",
    "rate_iops",
    "rate_process",
    "readwrite",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "startdelay",
    "stonewall",
    "sync",
    "time_based",
    "timeout",
    "wait_for_previous",
];

/// What is wrong with an entry.
pub(super) enum Fault {
    /// Nobody knows the key.
    Key,
    /// The value makes no sense or is not supported.
    Value(Wrong),
}

impl From<Wrong> for Fault {
    fn from(wrong: Wrong) -> Self {
        Self::Value(wrong)
    }
}

/// The error for a fault.
pub(super) fn error(file: &str, entry: &Entry<'_>, fault: Fault) -> WorkloadError {
    let (file, line, key) = (file.to_owned(), entry.line, entry.key.to_owned());
    match fault {
        Fault::Value(expected) => {
            let value = entry.value.unwrap_or("(nothing)").chars().take(60).collect();
            WorkloadError::JobValue { file, line, key, value, expected }
        }
        Fault::Key => {
            let near = KNOWN
                .iter()
                .chain(values::IGNORED)
                .map(|known| (strsim::damerau_levenshtein(known, &key), known))
                .min()
                .filter(|&(distance, _)| distance <= 1 + key.len() / 4);
            let suggestion = near.map_or(String::new(), |(_, known)| format!("; did you mean \"{known}\"?"));
            WorkloadError::JobKey { file, line, key, suggestion }
        }
    }
}

/// Sets what the entry says.
pub(super) fn apply(job: &mut Job, entry: &Entry<'_>) -> Result<(), Fault> {
    let key = entry.key;
    if values::IGNORED.contains(&key) {
        if !job.ignored.iter().any(|ignored| ignored == key) {
            job.ignored.push(key.to_owned());
        }
        return Ok(());
    }
    let text =
        || entry.value.filter(|value| !value.is_empty()).ok_or_else(|| Wrong::from("expected a value"));
    match key {
        "rw" | "readwrite" => (job.rw, job.random) = rw(text()?)?,
        "bs" | "blocksize" => {
            let sizes = values::each(text()?, |part| Ok(vec![(values::size(part)?, 100.0)]))?;
            merge(&mut job.sizes, sizes);
        }
        "bssplit" => merge(&mut job.sizes, values::each(text()?, |part| values::pairs(part, values::size))?),
        "ba" | "blockalign" => job.block_align = Some(at_least_one(values::size(text()?)?)?),
        "rwmixread" => job.mix_read = values::percent(text()?)?,
        "rwmixwrite" => job.mix_read = 100.0 - values::percent(text()?)?,
        "iodepth" => job.iodepth = count(text()?)?,
        "numjobs" => job.numjobs = count(text()?)?,
        "size" => job.size = Some(extent(text()?)?),
        "io_size" | "io_limit" => job.io_size = Some(extent(text()?)?),
        "offset" => job.offset = extent(text()?)?,
        "offset_increment" => job.offset_increment = extent(text()?)?,
        "number_ios" => job.number_ios = Some(at_least_one(values::number(text()?)?)?),
        "runtime" | "timeout" => job.runtime = Some(at_least_one(values::time(text()?)?)?),
        "time_based" => job.time_based = values::flag(entry.value)?,
        "random_distribution" => job.distribution = distribution(text()?)?,
        "rate_iops" => job.rate_iops = Some(rate(text()?)?),
        "rate_process" => {
            job.process = match text()? {
                "linear" => Process::Linear,
                "poisson" => Process::Poisson,
                _ => return Err(Wrong::from("expected linear or poisson").into()),
            }
        }
        "norandommap" => job.random_map = !values::flag(entry.value)?,
        "fsync" | "fdatasync" => job.fsync = values::number(text()?)?,
        "sync" => {
            job.fua = match text()? {
                "0" | "none" => false,
                "1" | "sync" | "dsync" => true,
                _ => return Err(Wrong::from("expected none, sync or dsync").into()),
            }
        }
        "loops" => job.loops = at_least_one(values::number(text()?)?)?,
        "startdelay" => job.start_delay = values::time(text()?)?,
        "ramp_time" => job.ramp_time = values::time(text()?)?,
        "stonewall" | "wait_for_previous" => job.stonewall = values::flag(entry.value)?,
        "randseed" => job.randseed = Some(values::number(text()?)?),
        "percentage_random" => job.percentage_random = Some(values::percent(text()?)?),
        _ => return Err(Fault::Key),
    }
    Ok(())
}

fn merge<T>(into: &mut [Option<T>; 3], from: [Option<T>; 3]) {
    for (slot, value) in into.iter_mut().zip(from) {
        if value.is_some() {
            *slot = value;
        }
    }
}

fn at_least_one(value: u64) -> Result<u64, Wrong> {
    if value == 0 { Err("must be more than 0".into()) } else { Ok(value) }
}

fn count(text: &str) -> Result<u32, Wrong> {
    match values::number(text)? {
        number @ 1..=65_536 => Ok(number as u32),
        _ => Err("must be 1 to 65536".into()),
    }
}

fn rw(text: &str) -> Result<(Rw, bool), Wrong> {
    Ok(match text {
        "read" => (Rw::Read, false),
        "write" => (Rw::Write, false),
        "rw" | "readwrite" => (Rw::Mixed, false),
        "randread" => (Rw::Read, true),
        "randwrite" => (Rw::Write, true),
        "randrw" => (Rw::Mixed, true),
        "trim" => (Rw::Trim, false),
        "randtrim" => (Rw::Trim, true),
        "trimwrite" | "randtrimwrite" => return Err("not supported: make a trim job and a write job".into()),
        _ if text.contains(':') => return Err("not supported: a sequence number after the colon".into()),
        _ => return Err("expected read, write, rw, randread, randwrite, randrw, trim or randtrim".into()),
    })
}

fn extent(text: &str) -> Result<Extent, Wrong> {
    if text.ends_with('%') {
        return values::percent(text).map(Extent::Percent);
    }
    let bytes = values::size(text)?;
    if !bytes.is_multiple_of(512) {
        return Err("must be a whole number of 512-byte sectors".into());
    }
    Ok(Extent::Size(Bytes(bytes)))
}

fn rate(text: &str) -> Result<f64, Wrong> {
    if text.contains(',') {
        return Err("not supported: rates for reads and writes apart; make two jobs".into());
    }
    let rate = values::size(text)?;
    if (1..=1_000_000_000).contains(&rate) { Ok(rate as f64) } else { Err("must be 1 to 1000000000".into()) }
}

fn distribution(text: &str) -> Result<Distribution, Wrong> {
    let (name, argument) = text.split_once(':').unwrap_or((text, ""));
    match name {
        "random" => Ok(Distribution::Random),
        "zipf" => match argument.parse::<f64>() {
            Ok(theta) if (1e-3..=10.0).contains(&theta) => Ok(Distribution::Zipf(theta)),
            _ => Err("expected zipf:theta with theta of 0.001 to 10".into()),
        },
        "zoned" => {
            // Access share / region share; what is left of the region goes to those that leave it out.
            let zones =
                values::pairs(argument, |share| values::percent(share).map(|share| (share * 1e6) as u64))?;
            let zones: Vec<(f64, f64)> =
                zones.into_iter().map(|(access, span)| (access as f64 / 1e6, span)).collect();
            let total: f64 = zones.iter().map(|zone| zone.0).sum();
            if zones.is_empty() || (total - 100.0).abs() > 1e-3 {
                return Err(format!("expected shares of accesses that add up to 100, not {total}"));
            }
            Ok(Distribution::Zoned(zones))
        }
        "pareto" | "normal" | "gauss" | "zoned_abs" => {
            Err(format!("not supported: {name}; use random, zipf:theta or zoned"))
        }
        _ => Err("expected random, zipf:theta or zoned:access/span:…".into()),
    }
}

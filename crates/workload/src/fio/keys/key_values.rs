//! Values of single keys, checked against fio's limits and against what can be simulated.

use super::super::engines::{ASYNCHRONOUS, SYNCHRONOUS};
use super::super::job_options::LawSpec;
use super::super::parse::JobFileEntry;
use super::super::values::{self, ValueFault};
use crate::SizeOrPercent;
use outlast_units::Bytes;

/// The largest request: 4 GiB, for a trim of a whole zone.
const MOST_BLOCK: u64 = 4 << 30;
/// The largest count of requests or flushes, far beyond any run, so that products with the number of loops stay in 64 bits.
const MOST_COUNT: u64 = 1 << 40;

/// The value of an entry that must have one.
pub(super) fn text(entry: &JobFileEntry) -> Result<&str, ValueFault> {
    entry.value.as_deref().filter(|value| !value.is_empty()).ok_or_else(|| "expected a value".into())
}

/// The value that stands beside `text` in `choices`.
pub(super) fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, ValueFault> {
    choices.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("expected {}", names.join(", "))
    })
}

/// A number from 1 to `most`.
pub(super) fn count(text: &str, most: u64) -> Result<u32, ValueFault> {
    match values::number(text)? {
        number if (1..=most).contains(&number) => Ok(number as u32),
        _ => Err(format!("must be 1 to {most}")),
    }
}

/// The value of `iodepth_low`; 0 stands for the depth, as in fio.
pub(super) fn low_mark(text: &str) -> Result<u32, ValueFault> {
    match values::number(text)? {
        number @ 0..=65_536 => Ok(number as u32),
        _ => Err("must be 0 to 65536".into()),
    }
}

/// A count from 0 to [`MOST_COUNT`].
pub(super) fn bounded(text: &str) -> Result<u64, ValueFault> {
    let number = values::number(text)?;
    if number <= MOST_COUNT { Ok(number) } else { Err(format!("must be at most {MOST_COUNT}")) }
}

/// A number of `flow_id`.
pub(super) fn flow_id(text: &str) -> Result<u32, ValueFault> {
    u32::try_from(values::number(text)?).map_err(|_| format!("must be at most {}", u32::MAX))
}

/// A weight of `flow`; 0: none.
pub(super) fn weight(text: &str) -> Result<u32, ValueFault> {
    match values::number(text)? {
        number @ 0..=1000 => Ok(number as u32),
        _ => Err("must be 0 to 1000, as in fio".into()),
    }
}

/// A block size in bytes.
pub(super) fn block(text: &str) -> Result<u64, ValueFault> {
    block_size(values::size(text)?)
}

pub(super) fn block_size(bytes: u64) -> Result<u64, ValueFault> {
    if (1..=MOST_BLOCK).contains(&bytes) && bytes.is_multiple_of(512) {
        Ok(bytes)
    } else {
        Err("must be a whole number of 512-byte sectors, at most 4g".into())
    }
}

/// The bytes of a file: whole sectors, at least one.
pub(super) fn file_size(text: &str) -> Result<u64, ValueFault> {
    let bytes = values::size(text)?;
    if bytes > 0 && bytes.is_multiple_of(512) {
        return Ok(bytes);
    }
    Err("must be a whole number of 512-byte sectors".into())
}

/// The name of an ioengine, up to a colon.
pub(super) fn engine(text: &str) -> Result<String, ValueFault> {
    let name = text.split(':').next().unwrap_or(text);
    if SYNCHRONOUS.contains(&name) || ASYNCHRONOUS.contains(&name) {
        Ok(name.to_owned())
    } else {
        Err("not supported: not an engine that reads and writes a block device in fio's order; name libaio, io_uring or psync".into())
    }
}

pub(super) fn filename(text: &str) -> Result<String, ValueFault> {
    if text.replace("\\:", "").contains(':') {
        return Err("not supported: several files; a job addresses one device".into());
    }
    Ok(text.to_owned())
}

/// A size or a whole percentage of the capacity.
pub(super) fn extent(text: &str) -> Result<SizeOrPercent, ValueFault> {
    if text.ends_with('%') {
        return values::percent(text).map(|percent| SizeOrPercent::Percent(f64::from(percent)));
    }
    let bytes = values::size(text)?;
    if !bytes.is_multiple_of(512) {
        return Err("must be a whole number of 512-byte sectors".into());
    }
    Ok(SizeOrPercent::Size(Bytes(bytes)))
}

/// A number of zones, such as `4z`; `None` for what is no number of zones.
pub(super) fn zones(text: &str) -> Result<Option<u64>, ValueFault> {
    let Some(number) = text.strip_suffix(['z', 'Z']) else { return Ok(None) };
    bounded(number).map(Some)
}

/// A number of open zones; 0 for no limit.
pub(super) fn open_zones(text: &str) -> Result<u32, ValueFault> {
    match values::number(text)? {
        number @ 0..=4096 => Ok(number as u32),
        _ => Err("must be 0 to 4096".into()),
    }
}

/// A share of 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, ValueFault> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a share of 0 to 1".into())
}

/// A rate in bytes or requests per second.
pub(super) fn rate(text: &str) -> Result<u64, ValueFault> {
    let rate = values::size(text)?;
    if rate <= 1 << 44 { Ok(rate) } else { Err("must be at most 16t".into()) }
}

/// The value of `random_distribution`, with fio's defaults for parameters that are left out.
pub(super) fn distribution(text: &str) -> Result<LawSpec, ValueFault> {
    let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
    let zones = |bytes: bool| {
        let zones = values::per_direction(arguments, |part| values::zones(part, bytes))?;
        Ok(LawSpec::Zoned(zones.map(Option::unwrap_or_default), bytes))
    };
    match name {
        "random" => return Ok(LawSpec::Uniform),
        "zoned" => return zones(false),
        "zoned_abs" => return zones(true),
        _ => {}
    }
    let mut numbers = arguments.split(':').filter(|part| !part.is_empty()).map(|part| {
        let number = part.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| ValueFault::from("expected numbers after the colon"))
    });
    let (first, centre) = (numbers.next().transpose()?, numbers.next().transpose()?);
    if numbers.next().is_some() || centre.is_some_and(|centre| !(0.0..=1.0).contains(&centre)) {
        return Err("expected at most a parameter and a centre of 0 to 1".into());
    }
    match (name, first) {
        ("zipf", theta) => match theta.unwrap_or(1.1) {
            theta if (1e-3..=10.0).contains(&theta) && (theta - 1.0).abs() > 1e-9 => {
                Ok(LawSpec::Zipf { theta, centre })
            }
            _ => Err("expected zipf:theta with theta of 0.001 to 10, and not 1".into()),
        },
        ("pareto", h) => match h.unwrap_or(0.2) {
            h if h > 0.0 && h < 1.0 => Ok(LawSpec::Pareto { h, centre }),
            _ => Err("expected pareto:h with h between 0 and 1".into()),
        },
        ("normal", percent) => match percent.unwrap_or(0.0) {
            percent if (0.0..100.0).contains(&percent) => Ok(LawSpec::Normal { percent, centre }),
            _ => Err("expected normal:deviation of 0 to below 100 percent".into()),
        },
        _ => Err("expected random, zipf:theta, pareto:h, normal:deviation, zoned:access/span:… or zoned_abs:access/size:…".into()),
    }
}

//! Recognising the format, and guessing the units of the one format that does not define them.

use super::fields::whole;
use super::formats::{self, VscsiVersion};
use super::input::{Input, Origin, is_blank, without_mark};
use super::{AddressUnit, Format, TimeUnit, TraceSpec, shape};
use crate::{Position, WorkloadError};

/// Bytes at the beginning of the trace that are looked at.
const SAMPLE: usize = 1 << 16;

/// What the beginning of a trace tells.
#[derive(Clone, Debug)]
pub(crate) struct Detected {
    pub(crate) format: Format,
    pub(crate) time_unit: TimeUnit,
    pub(crate) address_unit: AddressUnit,
    pub(crate) iolog: u8,
    pub(crate) vscsi: VscsiVersion,
    pub(crate) compression: &'static str,
    pub(crate) notes: Vec<String>,
}

/// Reads the beginning of the trace and settles what `spec` leaves open.
pub(crate) fn detect(origin: &Origin, spec: &TraceSpec) -> Result<Detected, WorkloadError> {
    let mut input = Input::open(origin)?;
    let sample = input.record(SAMPLE, Position::Line(1))?.to_vec();
    let bytes = without_mark(&sample);
    let lines: Vec<&[u8]> = lines(bytes, sample.len() == SAMPLE);
    let Some(first) = lines.first().copied() else {
        return Err(WorkloadError::Empty { file: input.file, found: "the file is empty".into() });
    };
    let unrecognised = |file: String| WorkloadError::Unrecognised {
        file,
        start: super::fields::shown(first),
        known: Format::NAMES,
    };
    let (format, mut notes) = match spec.format {
        Format::Auto => match recognise(bytes, &lines) {
            Some((format, None)) => (format, vec![format!("format recognised as {format}")]),
            Some((format, Some(why))) => {
                return Err(WorkloadError::Foreign { file: input.file, format: format.name(), why });
            }
            None => return Err(unrecognised(input.file)),
        },
        given => (given, Vec::new()),
    };
    let mut detected = Detected {
        format,
        time_unit: TimeUnit::Us,
        address_unit: AddressUnit::Byte,
        iolog: formats::iolog_version(first).unwrap_or(3),
        vscsi: VscsiVersion::One,
        compression: input.compression,
        notes: Vec::new(),
    };
    let fixed = match format {
        Format::Msr => Some(TimeUnit::Filetime),
        Format::Spc | Format::Blkparse => Some(TimeUnit::S),
        Format::Alibaba | Format::Vscsi | Format::Etw => Some(TimeUnit::Us),
        Format::FioIolog | Format::FioIologV2 => Some(spec.time_unit.unwrap_or(TimeUnit::Us)),
        Format::Ascii | Format::Auto => spec.time_unit,
    };
    if let (Some(unit), Some(given)) = (fixed, spec.time_unit)
        && unit != given
    {
        let limit = format!("the times of format {format} are defined; leave time_unit out");
        return Err(crate::error::bad(
            "workload.trace.time_unit",
            format!("{given:?}").to_lowercase(),
            limit,
        ));
    }
    if spec.address_unit.is_some() && format != Format::Ascii {
        let limit = format!("the addresses of format {format} are defined; leave address_unit out");
        return Err(crate::error::bad("workload.trace.address_unit", "given", limit));
    }
    match format {
        Format::Vscsi => {
            detected.vscsi = formats::vscsi_version(bytes).ok_or_else(|| unrecognised(input.file.clone()))?;
        }
        Format::Ascii => {
            detected.address_unit =
                spec.address_unit.unwrap_or_else(|| guess_address_unit(&lines, &mut notes));
        }
        Format::Blkparse => detected.address_unit = AddressUnit::Sector,
        _ => {}
    }
    detected.time_unit = fixed.unwrap_or_else(|| guess_time_unit(&lines, &mut notes));
    detected.notes = notes;
    Ok(detected)
}

/// The lines of a sample that say something, without the last one if it may be cut.
fn lines(bytes: &[u8], cut: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    if cut && lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|line| !is_blank(line));
    lines
}

/// The format that the first lines are in, and what speaks against it. Before the first line of a format with a mark, another may stand.
fn recognise(bytes: &[u8], lines: &[&[u8]]) -> Option<(Format, Option<String>)> {
    let text = bytes.iter().all(|&byte| byte == b'\t' || byte == b'\n' || byte == b'\r' || byte >= b' ');
    if !text {
        return formats::vscsi_version(bytes).map(|_| (Format::Vscsi, None));
    }
    let marked = lines.iter().take(2).find_map(|line| by_mark(line));
    marked.map_or_else(|| shape::recognise(lines), |format| Some((format, None)))
}

/// The format whose lines cannot be mistaken.
fn by_mark(line: &[u8]) -> Option<Format> {
    if formats::iolog_version(line).is_some() {
        return Some(Format::FioIolog);
    }
    if formats::is_etw(line) {
        return Some(Format::Etw);
    }
    let number = |text: &[u8]| whole("", text).is_ok();
    let blanks: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    let [device, cpu, sequence, time, process, action, ..] = blanks[..] else { return None };
    let numbers = number(cpu) && number(sequence) && number(process);
    let timed = super::fields::time(time, 1_000_000_000).is_ok();
    let is_event =
        formats::is_device(device) && numbers && timed && action.iter().all(u8::is_ascii_alphabetic);
    is_event.then_some(Format::Blkparse)
}

/// The columns of the sampled lines of an ASCII trace.
fn columns<'a>(lines: &'a [&'a [u8]]) -> impl Iterator<Item = [&'a [u8]; 5]> {
    lines.iter().filter_map(|line| formats::split::<5>(line, false, false).ok())
}

/// Bytes if every address and size is a multiple of 512, which sectors are only by chance.
fn guess_address_unit(lines: &[&[u8]], notes: &mut Vec<String>) -> AddressUnit {
    let (mut all, mut multiples) = (0u32, 0u32);
    for [_, _, address, size, _] in columns(lines) {
        let multiple = |text| whole("", text).is_ok_and(|value| value.is_multiple_of(512));
        all += 1;
        multiples += u32::from(multiple(address) && multiple(size));
    }
    let (unit, name) = if all >= 4 && multiples == all {
        (AddressUnit::Byte, "byte")
    } else {
        (AddressUnit::Sector, "sector")
    };
    notes.push(format!(
        "address_unit guessed as {name}: {multiples} of the first {all} records have address and size divisible by 512"
    ));
    unit
}

/// The unit of the times, from their form and spacing.
fn guess_time_unit(lines: &[&[u8]], notes: &mut Vec<String>) -> TimeUnit {
    let (mut decimals, mut all, mut thousands) = (0usize, 0u64, 0u64);
    let (mut first, mut last, mut nonzero) = (None, 0u64, 0u64);
    for [time, ..] in columns(lines) {
        let dot = time.iter().position(|&byte| byte == b'.');
        decimals = decimals.max(dot.map_or(0, |dot| time.len() - dot - 1));
        let Ok(value) = super::fields::time(time, 1) else { continue };
        first.get_or_insert(value);
        last = value;
        all += 1;
        nonzero += u64::from(value != 0);
        thousands += u64::from(value != 0 && value.is_multiple_of(1000));
    }
    let gap = last.saturating_sub(first.unwrap_or(0)) / all.max(2).saturating_sub(1);
    let (unit, name, why) = if decimals >= 6 {
        (TimeUnit::S, "s", format!("times have {decimals} decimals"))
    } else if decimals > 0 {
        (TimeUnit::Ms, "ms", format!("times have {decimals} decimals"))
    } else if (100_000_000_000_000_000..200_000_000_000_000_000).contains(&last) {
        (TimeUnit::Filetime, "filetime", format!("{last} is a FILETIME of this age"))
    } else if nonzero >= 4 && thousands * 2 >= nonzero {
        (TimeUnit::Ns, "ns", format!("{thousands} of {nonzero} times are whole thousands"))
    } else if gap >= 50_000 {
        (TimeUnit::Ns, "ns", format!("the mean gap is {gap} units"))
    } else {
        (TimeUnit::Us, "us", format!("whole numbers, not in thousands, with a mean gap of {gap} units"))
    };
    notes.push(format!("time_unit guessed as {name}: {why} (first {all} records)"));
    unit
}

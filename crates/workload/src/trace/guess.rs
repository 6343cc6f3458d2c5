//! Guesses what a trace of a known format leaves open: units of times and addresses, and which event is a request.

use super::fields::{self, whole};
use super::{AddressUnit, BlkEvent, TimeUnit, TraceFormat, formats};

/// Millionths of a unit: fractions of times are compared in whole numbers.
const MILLION: u64 = 1_000_000;
/// Mean gap in millionths below which times with six decimals are seconds: as milliseconds, more than 10,000 requests arrive each second.
const LARGEST_GAP_OF_SECONDS: u64 = MILLION / 10;
/// Least time that is no count of seconds: 3,000 years.
const LEAST_OF_MICROSECONDS: u64 = 100_000_000_000;

/// The columns of the sampled lines of an ASCII trace.
fn columns<'a>(lines: &'a [&'a [u8]]) -> impl Iterator<Item = [&'a [u8]; 5]> {
    lines.iter().filter_map(|line| formats::split::<5>(line, false, false).ok())
}

/// Guesses bytes if every address and size is a multiple of 512, as counts of sectors are only by chance.
pub(super) fn guess_address_unit(lines: &[&[u8]], notes: &mut Vec<String>) -> AddressUnit {
    let (mut all, mut multiples) = (0u32, 0u32);
    for [_, _, address, size, _] in columns(lines) {
        let multiple = |text| whole("", text).is_ok_and(|value| value.is_multiple_of(512));
        all += 1;
        multiples += u32::from(multiple(address) && multiple(size));
    }
    // Fewer than four records may all be multiples by chance.
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

/// Guesses the unit of the times of a format that does not define it.
pub(super) fn guess_time_unit(format: TraceFormat, lines: &[&[u8]], notes: &mut Vec<String>) -> TimeUnit {
    match format {
        TraceFormat::CloudPhysics => guess_unit_of_whole_times(lines, notes),
        _ => guess_unit_of_ascii(lines, notes),
    }
}

/// Guesses the unit of the times of an ASCII trace from their decimals, their size and their mean gap.
fn guess_unit_of_ascii(lines: &[&[u8]], notes: &mut Vec<String>) -> TimeUnit {
    let (mut decimals, mut all, mut thousands) = (0usize, 0u64, 0u64);
    let (mut first, mut last, mut nonzero) = (None, 0u64, 0u64);
    let (mut fine_first, mut fine_last) = (None, 0u64);
    for [time, ..] in columns(lines) {
        let dot = time.iter().position(|&byte| byte == b'.');
        decimals = decimals.max(dot.map_or(0, |dot| time.len() - dot - 1));
        if let Ok(fine) = fields::time(time, MILLION) {
            fine_first.get_or_insert(fine);
            fine_last = fine;
        }
        let Ok(value) = fields::time(time, 1) else { continue };
        first.get_or_insert(value);
        last = value;
        all += 1;
        nonzero += u64::from(value != 0);
        thousands += u64::from(value != 0 && value.is_multiple_of(1000));
    }
    let gaps = all.max(2) - 1;
    let gap = last.saturating_sub(first.unwrap_or(0)) / gaps;
    let fine_gap = fine_last.saturating_sub(fine_first.unwrap_or(0)) / gaps;
    // Rules of thumb, in the order of their certainty. DiskSim, whose format this is, defines milliseconds with any number of decimals.
    // Whole numbers without a pattern are taken for microseconds.
    let (unit, name, why) = if decimals >= 6 && fine_gap < LARGEST_GAP_OF_SECONDS {
        (TimeUnit::S, "s", format!("times have {decimals} decimals and a mean gap below 0.1"))
    } else if decimals > 0 {
        (TimeUnit::Ms, "ms", format!("times have {decimals} decimals"))
    } else if (100_000_000_000_000_000..200_000_000_000_000_000).contains(&last) {
        // FILETIME counts from 1601: the range is that of the years 1917 to 2234.
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

/// Guesses the unit of the times of a `CloudPhysics` CSV: libCacheSim's copy has seconds, `PyMimircache`'s the microseconds of the capture.
fn guess_unit_of_whole_times(lines: &[&[u8]], notes: &mut Vec<String>) -> TimeUnit {
    let time = |line: &&[u8]| {
        line.split(|&byte| byte == b',').nth(1).and_then(|text| whole("", text.trim_ascii()).ok())
    };
    match lines.iter().find_map(time) {
        Some(first) if first >= LEAST_OF_MICROSECONDS => {
            notes.push(format!("time_unit guessed as us: as seconds, {first} would be 3,000 years or more"));
            TimeUnit::Us
        }
        _ => TimeUnit::S,
    }
}

/// The event of blkparse that is a request: the one asked for, unless that is Q and the sampled lines have none, as of a trace that was
/// recorded with `blktrace -a issue` or `-a complete`.
pub(super) fn guess_event(lines: &[&[u8]], asked: BlkEvent, notes: &mut Vec<String>) -> BlkEvent {
    let has = |action: &[u8]| {
        let mut words =
            lines.iter().map(|line| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()));
        words.any(|mut words| words.nth(5) == Some(action))
    };
    if asked != BlkEvent::Q || has(b"Q") {
        return asked;
    }
    let (event, name) = if has(b"D") {
        (BlkEvent::D, "D")
    } else if has(b"C") {
        (BlkEvent::C, "C")
    } else {
        return asked;
    };
    notes.push(format!("requests are the events {name}: the trace begins without an event Q"));
    event
}

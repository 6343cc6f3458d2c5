//! Recognises the formats with fixed columns, and finds reasons against a format whose columns fit by chance.
//!
//! Such a format has no mark: its lines are a few numbers and a letter, as in many other tables. So every column must be of its kind, a header
//! must have the format's own names, and the records together must be possible on a device.

use super::TraceFormat;
use super::fields::{time, whole};

/// Records from which order and devices are judged: eight random numbers ascend once in 8! = 40,320 times.
const FEW: usize = 8;
/// Records from which a device of its own for each record means that the column is something else.
const MANY: usize = 32;
/// The smallest number that is no device: Alibaba's data set, the largest, has 1,000 volumes.
const LEAST_IMPLAUSIBLE_DEVICE: u64 = 100_000;
/// Records from which the rate is judged.
const RATED: usize = 16;
/// Least mean gap in nanoseconds: no device serves more than 100 million requests a second.
const LEAST_GAP: u128 = 10;
/// Bytes that no host moves in most of its requests.
const HUGE: u64 = 256 << 20;
/// The same for ASCII traces, whose sizes may be bytes or sectors.
const HUGE_OF_ASCII: u64 = 16 << 20;
/// One in this many steps from a record to the next may go back in time.
const STEPS_BACK: usize = 4;

/// The formats with fixed columns, in the order in which they are tried.
const FORMATS: [TraceFormat; 7] = [
    TraceFormat::Msr,
    TraceFormat::MsrShort,
    TraceFormat::Alibaba,
    TraceFormat::K5,
    TraceFormat::Tencent,
    TraceFormat::Spc,
    TraceFormat::Ascii,
];

/// The column names in a header of `format`, in lower case without punctuation, each with its synonyms. None for formats without a header.
/// MSR: read-me of SNIA IOTTA set 388. Alibaba: read-me of github.com/alibaba/block-traces.
const fn column_names(format: TraceFormat) -> &'static [&'static [&'static str]] {
    match format {
        TraceFormat::Msr => &[
            &["timestamp"],
            &["hostname"],
            &["disknumber"],
            &["type"],
            &["offset"],
            &["size"],
            &["responsetime"],
        ],
        TraceFormat::Alibaba => {
            &[&["deviceid", "device"], &["opcode"], &["offset"], &["length"], &["timestamp", "time"]]
        }
        _ => &[],
    }
}

/// The header of a format, as messages show it.
pub(crate) const fn header_text(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Msr => "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        TraceFormat::Alibaba => "device_id,opcode,offset,length,timestamp",
        _ => "no header",
    }
}

/// True if `line` is the header of `format`, with or without a row index in front.
pub(crate) fn is_header(format: TraceFormat, line: &[u8]) -> bool {
    let names = column_names(format);
    let plain = |field: &[u8]| -> String {
        let letters = field.iter().filter(|byte| byte.is_ascii_alphanumeric());
        letters.map(|&byte| char::from(byte.to_ascii_lowercase())).collect()
    };
    let mut fields: Vec<String> = line.split(|&byte| byte == b',').map(plain).collect();
    if fields.len() == names.len() + 1 && matches!(fields[0].as_str(), "" | "index") {
        fields.remove(0);
    }
    !names.is_empty()
        && fields.len() == names.len()
        && fields.iter().zip(names).all(|(field, names)| names.contains(&field.as_str()))
}

/// The columns of a sampled record that are judged.
struct SampleRow {
    /// Nanoseconds; for ASCII traces in their own unit, which is not known yet.
    time: u64,
    device: u64,
    /// True if the record has a plausible size and covers whole sectors.
    is_plausible: bool,
}

/// The record in `line`; `None` if its columns are not of the kinds of `format`.
fn parse_row(format: TraceFormat, line: &[u8]) -> Option<SampleRow> {
    let commas = || line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect::<Vec<_>>();
    let blanks = || line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect::<Vec<_>>();
    let number = |text: &[u8]| whole("", text).ok();
    let is_letter = |text: &[u8]| matches!(text, b"r" | b"R" | b"w" | b"W");
    let is_plausible = |start: u64, size: u64| {
        (1..HUGE).contains(&size) && start.is_multiple_of(512) && size.is_multiple_of(512)
    };
    match format {
        TraceFormat::Msr => {
            let all = commas();
            let (index, fields) = if all.len() == 8 { (Some(all[0]), &all[1..]) } else { (None, &all[..]) };
            let [at, host, disk, kind, offset, size, response] = *fields else { return None };
            if index.is_some_and(|index| !index.is_empty() && number(index).is_none()) || host.is_empty() {
                return None;
            }
            // A row index may stand before the time, separated by a blank.
            let at = match at.split(u8::is_ascii_whitespace).collect::<Vec<_>>()[..] {
                [at] => at,
                [index, at] => number(index).map(|_| at)?,
                _ => return None,
            };
            if !kind.eq_ignore_ascii_case(b"read") && !kind.eq_ignore_ascii_case(b"write") {
                return None;
            }
            number(response)?;
            let is_plausible = is_plausible(number(offset)?, number(size)?);
            Some(SampleRow { time: number(at)?.checked_mul(100)?, device: number(disk)?, is_plausible })
        }
        TraceFormat::MsrShort => short_row(&commas()),
        TraceFormat::Tencent => tencent_row(&commas()),
        TraceFormat::Alibaba => {
            let [device, code, offset, size, at] = commas()[..] else { return None };
            let is_plausible = is_plausible(number(offset)?, number(size)?);
            let time = number(at)?.checked_mul(1000)?;
            is_letter(code).then_some(SampleRow { time, device: number(device)?, is_plausible })
        }
        TraceFormat::K5 => {
            let [volume, at, code, offset, size] = commas()[..] else { return None };
            let is_plausible = is_plausible(number(offset)?, number(size)?);
            // Its times have decimals.
            let time = at.contains(&b'.').then(|| time(at, 1_000_000_000).ok())??;
            matches!(code, b"R" | b"W").then_some(SampleRow { time, device: number(volume)?, is_plausible })
        }
        TraceFormat::Spc => {
            let fields = if line.contains(&b',') { commas() } else { blanks() };
            let [asu, lba, size, code, at, ..] = fields[..] else { return None };
            number(lba)?;
            let (time, device) = (time(at, 1_000_000_000).ok()?, number(asu)?);
            is_letter(code).then_some(SampleRow {
                time,
                device,
                is_plausible: is_plausible(0, number(size)?),
            })
        }
        TraceFormat::Ascii => {
            let [at, device, address, size, code] = blanks()[..] else { return None };
            number(address)?;
            let is_plausible = (1..HUGE_OF_ASCII).contains(&number(size)?);
            let (time, device) = (time(at, 1).ok()?, number(device)?);
            matches!(code, b"0" | b"1").then_some(SampleRow { time, device, is_plausible })
        }
        _ => None,
    }
}

/// The record of MSR Cambridge without a response time in `fields`.
fn short_row(fields: &[&[u8]]) -> Option<SampleRow> {
    let [at, host, disk, kind, offset, size] = *fields else { return None };
    let number = |text: &[u8]| whole("", text).ok();
    if host.is_empty() || !(kind.eq_ignore_ascii_case(b"read") || kind.eq_ignore_ascii_case(b"write")) {
        return None;
    }
    let (start, size) = (number(offset)?, number(size)?);
    let is_plausible = (1..HUGE).contains(&size) && start.is_multiple_of(512) && size.is_multiple_of(512);
    Some(SampleRow { time: number(at)?.checked_mul(100)?, device: number(disk)?, is_plausible })
}

/// The record of Tencent in `fields`.
fn tencent_row(fields: &[&[u8]]) -> Option<SampleRow> {
    let [at, offset, size, code, volume] = *fields else { return None };
    let number = |text: &[u8]| whole("", text).ok();
    number(offset)?;
    let is_plausible = (1..HUGE / 512).contains(&number(size)?);
    let (time, device) = (number(at)?, number(volume)?);
    // Whole seconds since 1970, of the years 2001 to 2096: nothing else in such a table is as large in every line.
    let is_now = (1_000_000_000..4_000_000_000).contains(&time);
    (is_now && matches!(code, b"0" | b"1")).then_some(SampleRow { time, device, is_plausible })
}

/// The format of the first record, which may stand behind the format's header, and the reason against it if there is one.
pub(super) fn recognise(lines: &[&[u8]]) -> Option<(TraceFormat, Option<String>)> {
    let first = *lines.first()?;
    let format = |line: &[u8]| FORMATS.into_iter().find(|&format| parse_row(format, line).is_some());
    if let Some(format) = format(first) {
        return Some((format, objection(format, lines)));
    }
    let format = lines.get(1).and_then(|line| format(line))?;
    if !is_header(format, first) {
        let header = super::fields::shown(first);
        return Some((format, Some(format!("its header is \"{header}\" and not {}", header_text(format)))));
    }
    Some((format, objection(format, &lines[1..])))
}

/// A reason why the records of `lines` cannot be a trace of `format`, as a clause for the message.
fn objection(format: TraceFormat, lines: &[&[u8]]) -> Option<String> {
    let rows: Vec<SampleRow> = lines.iter().filter_map(|line| parse_row(format, line)).collect();
    let count = rows.len();
    let implausible = rows.iter().filter(|row| !row.is_plausible).count();
    // Real traces have single odd records: only a majority speaks against the format.
    if implausible * 2 > count {
        return Some(format!(
            "{implausible} of its first {count} records have no whole sectors, or a size that no request has"
        ));
    }
    if count < FEW {
        return None;
    }
    let mut devices: Vec<u64> = rows.iter().map(|row| row.device).collect();
    // A column of different numbers in order is a row index or a time, and no device.
    let ordered = devices.is_sorted() || devices.is_sorted_by(|one, next| one >= next);
    devices.sort_unstable();
    let largest = devices[count - 1];
    devices.dedup();
    if devices.len() == count && (ordered || count >= MANY || largest >= LEAST_IMPLAUSIBLE_DEVICE) {
        return Some(format!("each of its first {count} records has a device of its own"));
    }
    let back = rows.windows(2).filter(|pair| pair[1].time < pair[0].time).count();
    if back * STEPS_BACK > count {
        return Some(format!("time runs backwards {back} times in its first {count} records"));
    }
    let times = || rows.iter().map(|row| row.time);
    let span = times().max()? - times().min()?;
    // The unit of an ASCII trace is not known yet.
    let timed = !matches!(format, TraceFormat::Ascii | TraceFormat::Tencent) && count >= RATED;
    if timed && (count as u128 - 1) * LEAST_GAP > u128::from(span) {
        return Some(format!("its first {count} requests arrive within {span} ns"));
    }
    None
}

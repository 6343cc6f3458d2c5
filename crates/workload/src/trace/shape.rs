//! Whether a file has the columns of a format with fixed columns, and means by them what that format does.
//!
//! Such a format bears no mark: its lines are a handful of numbers and a letter, which many a table of other people has, too. So every column
//! must be of its kind, a header must bear the format's own names, and the records together must be such as a device could have had.

use super::Format;
use super::fields::{time, whole};

/// Records from which order and devices are judged: by chance eight numbers ascend once in 40,320 times.
const FEW: usize = 8;
/// Records among which no real trace has a device of its own for each.
const MANY: usize = 32;
/// Numbers from here on are no volume of a data set: Alibaba's has 1,000.
const DEVICES: u64 = 100_000;
/// Records from which a rate means something.
const RATED: usize = 16;
/// Nanoseconds between requests, at least, on average: no device takes more than 100 million a second.
const LEAST_GAP: u128 = 10;
/// Bytes, or for a format without a unit bytes or sectors, that no host moves in most of its requests.
const HUGE: u64 = 256 << 20;
const HUGE_OF_ASCII: u64 = 16 << 20;
/// Of the steps from one record to the next, one in so many may go back in time.
const STEPS_BACK: usize = 4;

/// The formats with fixed columns, in the order in which they are tried.
const FORMATS: [Format; 4] = [Format::Msr, Format::Alibaba, Format::Spc, Format::Ascii];

/// The names that a header of `format` has, each as letters and digits with the ones that stand for it; of formats without a header none.
/// MSR: read-me of SNIA IOTTA set 388. Alibaba: read-me of github.com/alibaba/block-traces.
const fn names(format: Format) -> &'static [&'static [&'static str]] {
    match format {
        Format::Msr => &[
            &["timestamp"],
            &["hostname"],
            &["disknumber"],
            &["type"],
            &["offset"],
            &["size"],
            &["responsetime"],
        ],
        Format::Alibaba => {
            &[&["deviceid", "device"], &["opcode"], &["offset"], &["length"], &["timestamp", "time"]]
        }
        _ => &[],
    }
}

/// The header of a format, as messages show it.
pub(crate) const fn header_of(format: Format) -> &'static str {
    match format {
        Format::Msr => "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        Format::Alibaba => "device_id,opcode,offset,length,timestamp",
        _ => "no header",
    }
}

/// Whether `line` is the header of `format`, perhaps behind the name of a row index.
pub(crate) fn is_header(format: Format, line: &[u8]) -> bool {
    let names = names(format);
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

/// What the columns of a record say, as far as it is judged.
struct Row {
    time: u64,
    device: u64,
    /// Whether it has a size such as requests have, and begins and ends with a sector.
    fits: bool,
}

/// The record in `line`, if its columns are those of `format`.
fn row(format: Format, line: &[u8]) -> Option<Row> {
    let commas = || line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect::<Vec<_>>();
    let blanks = || line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect::<Vec<_>>();
    let number = |text: &[u8]| whole("", text).ok();
    let is_letter = |text: &[u8]| matches!(text, b"r" | b"R" | b"w" | b"W");
    let fits = |start: u64, size: u64| {
        (1..HUGE).contains(&size) && start.is_multiple_of(512) && size.is_multiple_of(512)
    };
    match format {
        Format::Msr => {
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
            let fits = fits(number(offset)?, number(size)?);
            Some(Row { time: number(at)?.checked_mul(100)?, device: number(disk)?, fits })
        }
        Format::Alibaba => {
            let [device, code, offset, size, at] = commas()[..] else { return None };
            let fits = fits(number(offset)?, number(size)?);
            let time = number(at)?.checked_mul(1000)?;
            is_letter(code).then_some(Row { time, device: number(device)?, fits })
        }
        Format::Spc => {
            let fields = if line.contains(&b',') { commas() } else { blanks() };
            let [asu, lba, size, code, at, ..] = fields[..] else { return None };
            number(lba)?;
            let (time, device) = (time(at, 1_000_000_000).ok()?, number(asu)?);
            is_letter(code).then_some(Row { time, device, fits: fits(0, number(size)?) })
        }
        Format::Ascii => {
            let [at, device, address, size, code] = blanks()[..] else { return None };
            number(address)?;
            let fits = (1..HUGE_OF_ASCII).contains(&number(size)?);
            let (time, device) = (time(at, 1).ok()?, number(device)?);
            matches!(code, b"0" | b"1").then_some(Row { time, device, fits })
        }
        _ => None,
    }
}

/// The format with fixed columns that the first record is in, behind a header of its own if there is one, and what speaks against it.
pub(super) fn recognise(lines: &[&[u8]]) -> Option<(Format, Option<String>)> {
    let first = *lines.first()?;
    let format = |line: &[u8]| FORMATS.into_iter().find(|&format| row(format, line).is_some());
    if let Some(format) = format(first) {
        return Some((format, objection(format, lines)));
    }
    let format = lines.get(1).and_then(|line| format(line))?;
    if !is_header(format, first) {
        let found = super::fields::shown(first);
        return Some((format, Some(format!("its header is \"{found}\" and not {}", header_of(format)))));
    }
    Some((format, objection(format, &lines[1..])))
}

/// What no trace of `format` would have, in the records of `lines`.
fn objection(format: Format, lines: &[&[u8]]) -> Option<String> {
    let rows: Vec<Row> = lines.iter().filter_map(|line| row(format, line)).collect();
    let count = rows.len();
    let odd = rows.iter().filter(|row| !row.fits).count();
    if odd * 2 > count {
        return Some(format!(
            "{odd} of its first {count} records have no whole sectors, or a size that no request has"
        ));
    }
    if count < FEW {
        return None;
    }
    let mut devices: Vec<u64> = rows.iter().map(|row| row.device).collect();
    let ordered = devices.is_sorted() || devices.is_sorted_by(|one, next| one >= next);
    devices.sort_unstable();
    let largest = devices[count - 1];
    devices.dedup();
    if devices.len() == count && (ordered || count >= MANY || largest >= DEVICES) {
        return Some(format!("each of its first {count} records has a device of its own"));
    }
    let back = rows.windows(2).filter(|pair| pair[1].time < pair[0].time).count();
    if back * STEPS_BACK > count {
        return Some(format!("time runs backwards {back} times in its first {count} records"));
    }
    let times = || rows.iter().map(|row| row.time);
    let span = times().max()? - times().min()?;
    // The unit of an ASCII trace is not known yet.
    let timed = format != Format::Ascii && count >= RATED;
    if timed && (count as u128 - 1) * LEAST_GAP > u128::from(span) {
        return Some(format!("its first {count} requests arrive within {span} ns"));
    }
    None
}

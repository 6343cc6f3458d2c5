//! Recognises the format of a trace, and guesses the units of ASCII traces, which do not define them.

use super::columns::{ColumnLayout, ColumnsSpec, format_of_header, published};
use super::fields::whole;
use super::formats::{self, VscsiVersion};
use super::guess::{guess_address_unit, guess_event, guess_time_unit};
use super::input::{TraceInput, TraceOrigin, is_blank, without_mark};
use super::unread::packed;
use super::{AddressUnit, BlkEvent, TimeUnit, TraceFormat, TraceSpec, fixed_columns};
use crate::{TracePosition, WorkloadError};

/// Bytes at the beginning of the trace from which format and units are inferred.
const SAMPLE: usize = 1 << 16;

/// Format and units of a trace, from its settings or inferred from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct DetectedFormat {
    pub(crate) format: TraceFormat,
    pub(crate) time_unit: TimeUnit,
    pub(crate) address_unit: AddressUnit,
    /// Version of a fio log, 2 or 3.
    pub(crate) iolog: u8,
    pub(crate) vscsi: VscsiVersion,
    /// The event of blkparse that is a request.
    pub(crate) event: BlkEvent,
    pub(crate) compression: &'static str,
    /// Columns of a table.
    pub(crate) columns: ColumnLayout,
    /// Sectors from the start of one zone to that of the next, of a drive with zones.
    pub(crate) zone_sectors: Option<u64>,
    /// Guesses, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Reads the beginning of the trace and settles what `spec` leaves open.
pub(crate) fn detect(origin: &TraceOrigin, spec: &TraceSpec) -> Result<DetectedFormat, WorkloadError> {
    let mut input = TraceInput::open(origin)?;
    let sample = input.record(SAMPLE, TracePosition::Line(1))?.to_vec();
    let bytes = without_mark(&sample);
    if !matches!(spec.format, TraceFormat::Vscsi | TraceFormat::OracleGeneral)
        && let Some((what, remedy)) = packed(bytes)
    {
        return Err(WorkloadError::Packed { file: input.file, what, remedy });
    }
    let lines: Vec<&[u8]> = lines(bytes, sample.len() == SAMPLE);
    let Some(first) = lines.first().copied() else {
        return Err(WorkloadError::Empty { file: input.file, content: "the file is empty".into() });
    };
    let unrecognised = |file: String| WorkloadError::Unrecognised {
        file,
        start: if is_text(bytes) { super::fields::shown(first) } else { "binary data".to_owned() },
        formats: TraceFormat::NAMES,
    };
    let (format, mut notes) = match spec.format {
        TraceFormat::Auto => match recognise(bytes, &lines) {
            Some((format, None)) => (format, vec![format!("format recognised as {format}")]),
            Some((format, Some(why))) => {
                return Err(WorkloadError::Foreign { file: input.file, format: format.name(), why });
            }
            None => return Err(unrecognised(input.file)),
        },
        format => (format, Vec::new()),
    };
    let mut detected = DetectedFormat {
        format,
        time_unit: TimeUnit::Us,
        address_unit: AddressUnit::Byte,
        iolog: formats::iolog_version(first).unwrap_or(3),
        vscsi: VscsiVersion::One,
        event: spec.event,
        compression: input.compression.name(),
        columns: ColumnLayout::default(),
        zone_sectors: None,
        notes: Vec::new(),
    };
    let fixed = fixed_unit(format, spec);
    refuse_units(format, spec, fixed)?;
    detected.columns = layout(format, spec)?;
    if input.is_utf16 {
        notes.push("text in UTF-16, read as such".into());
    }
    match format {
        TraceFormat::Vscsi => {
            detected.vscsi =
                formats::detect_vscsi_version(bytes).ok_or_else(|| unrecognised(input.file.clone()))?;
        }
        TraceFormat::Ascii => {
            detected.address_unit =
                spec.address_unit.unwrap_or_else(|| guess_address_unit(&lines, &mut notes));
        }
        TraceFormat::Blkparse => {
            detected.address_unit = AddressUnit::Sector;
            detected.event = guess_event(&lines, spec.event, &mut notes);
        }
        TraceFormat::OracleGeneral => {
            notes.push("oracleGeneral does not tell reads from writes: all requests are reads".into());
        }
        _ => {}
    }
    detected.time_unit = fixed.unwrap_or_else(|| guess_time_unit(format, &lines, &mut notes));
    detected.notes = notes;
    Ok(detected)
}

/// Refuses a setting of a unit that the format defines; `fixed` is that of its times.
fn refuse_units(format: TraceFormat, spec: &TraceSpec, fixed: Option<TimeUnit>) -> Result<(), WorkloadError> {
    if let (Some(unit), Some(setting)) = (fixed, spec.time_unit)
        && unit != setting
    {
        let limit = format!("the times of format {format} are defined; leave time_unit out");
        return Err(crate::error::bad_setting(
            "workload.trace.time_unit",
            format!("{setting:?}").to_lowercase(),
            limit,
        ));
    }
    if spec.address_unit.is_some() && !matches!(format, TraceFormat::Ascii | TraceFormat::Columns) {
        let limit = format!("the addresses of format {format} are defined; leave address_unit out");
        return Err(crate::error::bad_setting("workload.trace.address_unit", "given", limit));
    }
    Ok(())
}

/// The unit of the times that the format defines, or for others the setting.
fn fixed_unit(format: TraceFormat, spec: &TraceSpec) -> Option<TimeUnit> {
    match format {
        TraceFormat::Msr => Some(TimeUnit::Filetime),
        TraceFormat::Spc
        | TraceFormat::Blkparse
        | TraceFormat::Biosnoop
        | TraceFormat::BlockRq
        | TraceFormat::OracleGeneral => Some(TimeUnit::S),
        TraceFormat::MsrShort
        | TraceFormat::Fiu
        | TraceFormat::Tencent
        | TraceFormat::Systor
        | TraceFormat::K5 => published(format).map(|(_, unit, _)| unit),
        TraceFormat::Columns | TraceFormat::Commands => Some(spec.time_unit.unwrap_or(TimeUnit::S)),
        TraceFormat::Alibaba | TraceFormat::Vscsi | TraceFormat::Etw => Some(TimeUnit::Us),
        TraceFormat::FioIolog | TraceFormat::FioIologV2 => Some(spec.time_unit.unwrap_or(TimeUnit::Us)),
        TraceFormat::Ascii | TraceFormat::CloudPhysics | TraceFormat::Auto => spec.time_unit,
    }
}

/// The columns of a table, as the format or the settings have them; none for other formats.
fn layout(format: TraceFormat, spec: &TraceSpec) -> Result<ColumnLayout, WorkloadError> {
    const SETTING: &str = "workload.trace.columns";
    let bad = |(name, value, limit): (&str, String, &str)| {
        crate::error::bad_setting(format!("{SETTING}.{name}"), value, format!("must be {limit}"))
    };
    if let Some((columns, _, unit)) = published(format) {
        return ColumnLayout::new(&columns, unit).map_err(bad);
    }
    match (&spec.columns, format) {
        (Some(columns), TraceFormat::Columns) => {
            ColumnLayout::new(columns, spec.address_unit.unwrap_or(AddressUnit::Byte)).map_err(bad)
        }
        (None, TraceFormat::Columns) => {
            let names = ColumnsSpec::default().names.join(", ");
            let limit = "name the columns, such as { names = [\"time\", \"op\", \"offset\", \"size\"] }";
            Err(crate::error::bad_setting(SETTING, names, limit))
        }
        (Some(_), format) => {
            let limit = format!("the columns of format {format} are defined; set format = \"columns\"");
            Err(crate::error::bad_setting(SETTING, "given", limit))
        }
        (None, _) => Ok(ColumnLayout::default()),
    }
}

/// The lines of a sample without blank lines and comments, and without the last one if the sample may cut it.
fn lines(bytes: &[u8], cut: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    if cut && lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|line| !is_blank(line));
    lines
}

/// True if the bytes have no control characters but those of lines and columns.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == b'\t' || byte == b'\n' || byte == b'\r' || byte >= b' ')
}

/// The format of the first lines, and the reason against it if there is one. A mark may also stand in the second line.
fn recognise(bytes: &[u8], lines: &[&[u8]]) -> Option<(TraceFormat, Option<String>)> {
    if !is_text(bytes) {
        let vscsi = formats::detect_vscsi_version(bytes).map(|_| (TraceFormat::Vscsi, None));
        return vscsi
            .or_else(|| formats::is_oracle_general(bytes).then_some((TraceFormat::OracleGeneral, None)));
    }
    let marked = lines.iter().take(2).find_map(|line| marked_format(line));
    marked.map_or_else(|| fixed_columns::recognise(lines), |format| Some((format, None)))
}

/// The format of a line that cannot be mistaken: of a fio log, an event of Windows, or an event of blkparse.
fn marked_format(line: &[u8]) -> Option<TraceFormat> {
    if formats::iolog_version(line).is_some() {
        return Some(TraceFormat::FioIolog);
    }
    if formats::is_etw_first_line(line) {
        return Some(TraceFormat::Etw);
    }
    if formats::is_biosnoop_header(line) {
        return Some(TraceFormat::Biosnoop);
    }
    if formats::is_block_rq(line) {
        return Some(TraceFormat::BlockRq);
    }
    if formats::is_commands_header(line) {
        return Some(TraceFormat::Commands);
    }
    if let Some(format) = format_of_header(line) {
        return Some(format);
    }
    let number = |text: &[u8]| whole("", text).is_ok();
    let blanks: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    let [device, cpu, sequence, time, process, action, ..] = blanks[..] else { return None };
    let numbers = number(cpu) && number(sequence) && number(process);
    let timed = super::fields::time(time, 1_000_000_000).is_ok();
    let is_event =
        formats::is_device(device) && numbers && timed && action.iter().all(u8::is_ascii_alphabetic);
    if is_event || formats::is_named_event(&[device, cpu, sequence, time, process, action]) {
        return Some(TraceFormat::Blkparse);
    }
    is_fiu(&blanks).then_some(TraceFormat::Fiu)
}

/// True if the words are a record of FIU, which ends in an MD5 of 32 digits.
fn is_fiu(words: &[&[u8]]) -> bool {
    let number = |text: &[u8]| whole("", text).is_ok();
    let [time, pid, _, lba, size, op, major, minor, digest, ..] = *words else { return false };
    [time, pid, lba, size, major, minor].into_iter().all(number)
        && matches!(op, b"R" | b"W")
        && digest.len() == 32
        && digest.iter().all(u8::is_ascii_hexdigit)
}

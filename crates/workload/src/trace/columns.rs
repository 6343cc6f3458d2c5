//! Tables with columns of the reader's own, and published traces that are such tables.

use super::spec::{AddressUnit, TimeUnit};
use super::trace_format::TraceFormat;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most columns of a table.
pub(crate) const MOST_COLUMNS: usize = 32;
/// Words for a read, unless others are given.
const READ_WORDS: [&str; 6] = ["R", "r", "Read", "read", "READ", "rs"];
/// Words for a write, unless others are given.
const WRITE_WORDS: [&str; 6] = ["W", "w", "Write", "write", "WRITE", "ws"];

/// The text between two columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnSeparator {
    /// A comma.
    #[default]
    Comma,
    /// A semicolon.
    Semicolon,
    /// A tabulator.
    Tab,
    /// One or more blanks or tabulators.
    Blanks,
}

impl ColumnSeparator {
    /// The byte, `None` for blanks.
    pub(crate) const fn byte(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab => Some(b'\t'),
            Self::Blanks => None,
        }
    }
}

/// The columns of a table with one request in each line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnsSpec {
    /// The columns in order: `time`, `op`, `offset` and `size` once each, `device` and `handle` at most once; any other name is a column that is
    /// not read. `handle` is the placement handle of a write, or its stream hint; of reads it is ignored, and empty it is 0.
    /// With `header`, names as the first line of the file has them, in any order.
    pub names: Vec<String>,
    /// What stands between two columns. Default: comma.
    pub separator: ColumnSeparator,
    /// True if the first line is a header: columns are then found by their names in it. Default: false.
    pub header: bool,
    /// Unit of `size`. Default: that of the addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_unit: Option<AddressUnit>,
    /// Words or numbers in `op` that mean a read. Default: R, r, Read, read, READ, rs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Words or numbers in `op` that mean a write. Default: W, w, Write, write, WRITE, ws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// True to leave lines out, and count them, whose `op` is neither; else they are refused. Default: false.
    pub skip_others: bool,
    /// Taken off each address, in its unit: where the trace's addresses begin. Default: 0.
    pub base: u64,
}

/// A table's columns, ready to decode lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnLayout {
    pub(crate) separator: ColumnSeparator,
    /// Names of the columns, of which `time`, `op`, `offset`, `size`, `device` and `handle` are read.
    pub(crate) names: Vec<String>,
    /// Indices of time, operation, offset, size, and device.
    pub(crate) time: usize,
    pub(crate) op: usize,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    pub(crate) device: Option<usize>,
    /// Index of the placement handle.
    pub(crate) handle: Option<usize>,
    /// True if the first line is a header.
    pub(crate) header: bool,
    /// Bytes in a unit of offsets and of sizes.
    pub(crate) offset_bytes: u64,
    pub(crate) size_bytes: u64,
    pub(crate) read: Vec<Vec<u8>>,
    pub(crate) write: Vec<Vec<u8>>,
    pub(crate) skip_others: bool,
    pub(crate) base: u64,
}

/// Bytes in a unit of addresses.
const fn unit_bytes(unit: AddressUnit) -> u64 {
    match unit {
        AddressUnit::Sector => 512,
        AddressUnit::Byte => 1,
    }
}

impl ColumnLayout {
    /// The layout of `spec`, whose addresses have `unit`.
    ///
    /// # Errors
    /// The setting within `workload.trace.columns` that is wrong, its value, and the limit.
    pub(crate) fn new(
        spec: &ColumnsSpec,
        unit: AddressUnit,
    ) -> Result<Self, (&'static str, String, &'static str)> {
        let words = |given: &[String], usual: &[&str]| -> Vec<Vec<u8>> {
            if given.is_empty() {
                usual.iter().map(|word| word.as_bytes().to_vec()).collect()
            } else {
                given.iter().map(|word| word.trim().as_bytes().to_vec()).collect()
            }
        };
        let names: Vec<String> = spec.names.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        if names.len() > MOST_COLUMNS {
            return Err(("names", format!("{} columns", names.len()), "at most 32 columns"));
        }
        let layout = Self {
            separator: spec.separator,
            names,
            header: spec.header,
            offset_bytes: unit_bytes(unit),
            size_bytes: unit_bytes(spec.size_unit.unwrap_or(unit)),
            read: words(&spec.read, &READ_WORDS),
            write: words(&spec.write, &WRITE_WORDS),
            skip_others: spec.skip_others,
            base: spec.base,
            ..Self::default()
        };
        for (name, words) in [("read", &layout.read), ("write", &layout.write)] {
            if words.iter().any(Vec::is_empty) {
                let limit =
                    "words of at least one letter; skip_others = true leaves out lines whose op is empty";
                return Err((name, "an empty word".to_owned(), limit));
            }
        }
        if let Some(word) = layout.read.iter().find(|word| layout.write.contains(word)) {
            let word = String::from_utf8_lossy(word).into_owned();
            return Err(("read", word, "a word that is not in `write`, too"));
        }
        let given = spec.names.join(", ");
        let names = layout.names.clone();
        layout.located(&names).ok_or((
            "names",
            given,
            "time, op, offset and size once each, and device and handle at most once",
        ))
    }

    /// The layout with its columns where `header` has their names; `None` if one is missing or there twice.
    pub(crate) fn located(mut self, header: &[String]) -> Option<Self> {
        let only = |name: &str| {
            let mut found = header.iter().enumerate().filter(|(_, column)| *column == name);
            let (index, _) = found.next()?;
            found.next().is_none().then_some(index)
        };
        (self.time, self.op) = (only("time")?, only("op")?);
        (self.offset, self.size) = (only("offset")?, only("size")?);
        (self.device, self.handle) = (only("device"), only("handle"));
        let is_twice = |name: &str| header.iter().filter(|column| *column == name).nth(1).is_some();
        (!is_twice("device") && !is_twice("handle")).then_some(self)
    }
}

/// The layout and the unit of the times of a published format; `None` of all that are no such tables.
///
/// SNIA's repository IOTTA has FIU (`SRCMap`, FAST 2010) as trace 390, Systor '17 as 4964, Tencent (Zhang et al., ATC 2020) as 27917 and
/// K5 with the read-me 26930; each read-me has the columns. MSR without response times: cuts of trace 388 that leave the last column out.
/// `CloudPhysics`: data/cloudPhysicsIO.csv of github.com/1a1a11a/libCacheSim.
pub(crate) fn published(format: TraceFormat) -> Option<(ColumnsSpec, TimeUnit, AddressUnit)> {
    let columns = |names: &[&str], separator| ColumnsSpec {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        separator,
        ..ColumnsSpec::default()
    };
    let words = |word: &str| vec![word.to_owned()];
    match format {
        TraceFormat::MsrShort => Some((
            columns(&["time", "host", "device", "op", "offset", "size"], ColumnSeparator::Comma),
            TimeUnit::Filetime,
            AddressUnit::Byte,
        )),
        TraceFormat::Fiu => Some((
            columns(
                &["time", "pid", "process", "offset", "size", "op", "major", "device", "md5"],
                ColumnSeparator::Blanks,
            ),
            TimeUnit::Ns,
            AddressUnit::Sector,
        )),
        TraceFormat::Tencent => Some((
            ColumnsSpec {
                read: words("0"),
                write: words("1"),
                ..columns(&["time", "offset", "size", "op", "device"], ColumnSeparator::Comma)
            },
            TimeUnit::S,
            AddressUnit::Sector,
        )),
        TraceFormat::Systor => Some((
            ColumnsSpec {
                header: false,
                skip_others: true,
                ..columns(&["time", "response", "op", "device", "offset", "size"], ColumnSeparator::Comma)
            },
            TimeUnit::S,
            AddressUnit::Byte,
        )),
        TraceFormat::K5 => Some((
            columns(&["device", "time", "op", "offset", "size"], ColumnSeparator::Comma),
            TimeUnit::S,
            AddressUnit::Byte,
        )),
        TraceFormat::CloudPhysics => Some((
            ColumnsSpec {
                // READ and WRITE of 6, 10, 12 and 16 bytes (SCSI Block Commands).
                read: ["8", "08", "28", "a8", "A8", "88"].map(String::from).into(),
                write: ["a", "0a", "0A", "A", "2a", "2A", "aa", "AA", "8a", "8A"].map(String::from).into(),
                skip_others: true,
                size_unit: Some(AddressUnit::Byte),
                ..columns(&["version", "time", "op", "size", "offset"], ColumnSeparator::Comma)
            },
            TimeUnit::S,
            AddressUnit::Sector,
        )),
        _ => None,
    }
}

/// The published format whose header `line` is, with or without blanks behind its commas.
pub(crate) fn format_of_header(line: &[u8]) -> Option<TraceFormat> {
    let header: Vec<u8> =
        line.iter().filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase).collect();
    match header.as_slice() {
        b"timestamp,response,iotype,lun,offset,size" => Some(TraceFormat::Systor),
        b"version,time,op,size,lbn" => Some(TraceFormat::CloudPhysics),
        _ => None,
    }
}

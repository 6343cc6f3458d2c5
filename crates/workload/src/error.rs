//! Everything that can be wrong with a workload. Each message is one complete line: place, value, what would be right.

use std::fmt;
use std::io;
use thiserror::Error;

/// Where in a trace or job file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line of a text file, counted from 1.
    Line(u64),
    /// Record of a binary file.
    Record {
        /// Number of the record, counted from 1.
        number: u64,
        /// Byte offset of its start in the decompressed file.
        byte: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record { number, byte } => write!(f, "record {number} (byte {byte})"),
        }
    }
}

/// Why a workload cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// A setting has a value outside its limits.
    #[error("{field} = {value}: {limit}")]
    Setting {
        /// Dotted path, such as `workload.synthetic.read_percent`.
        field: String,
        /// The value as given.
        value: String,
        /// What is allowed.
        limit: String,
    },
    /// A setting is missing.
    #[error("{field} is missing: {needed}")]
    Missing {
        /// Dotted path.
        field: String,
        /// Why it is needed, or what to write.
        needed: String,
    },
    /// Two settings exclude each other.
    #[error("{first} and {second} exclude each other: {why}")]
    Conflict {
        /// Dotted path.
        first: String,
        /// Dotted path.
        second: String,
        /// Why.
        why: &'static str,
    },
    /// A file cannot be opened.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The file.
        file: String,
        /// The system's word.
        source: io::Error,
    },
    /// A file cannot be read on.
    #[error("{file}, {at}: cannot be read further: {source}")]
    Read {
        /// The file.
        file: String,
        /// Where.
        at: Position,
        /// The system's word.
        source: io::Error,
    },
    /// A compressed file is cut short or damaged.
    #[error("{file}, {at}: the {compression} data are truncated or damaged ({source})")]
    Compressed {
        /// The file.
        file: String,
        /// How far reading came.
        at: Position,
        /// "gzip" or "zstd".
        compression: &'static str,
        /// The decompressor's word.
        source: io::Error,
    },
    /// A file holds no request.
    #[error("{file}: no request found ({found})")]
    Empty {
        /// The file.
        file: String,
        /// What was there instead.
        found: String,
    },
    /// A trace is in none of the known formats.
    #[error("{file}: format not recognised from \"{start}\"; set format to one of {known}")]
    Unrecognised {
        /// The file.
        file: String,
        /// Its first line or bytes.
        start: String,
        /// The names of the formats.
        known: &'static str,
    },
    /// A trace has the columns of a format, but means something else by them.
    #[error(
        "{file}: has the columns of {format}, but {why}; set format = \"{format}\" if it is in that format"
    )]
    Foreign {
        /// The file.
        file: String,
        /// The name of the format.
        format: &'static str,
        /// What speaks against it.
        why: String,
    },
    /// A record has a field that makes no sense.
    #[error("{file}, {at}: {field} is \"{value}\", expected {expected}")]
    Record {
        /// The file.
        file: String,
        /// Where.
        at: Position,
        /// Which field.
        field: &'static str,
        /// Its text, shortened.
        value: String,
        /// What would be right, with the limit.
        expected: String,
    },
    /// A record is earlier than the one before it.
    #[error(
        "{file}, {at}: time runs backwards, from {previous} ns to {found} ns; set unordered = \"sort\" or \"clamp\" to accept it"
    )]
    TimeBackwards {
        /// The file.
        file: String,
        /// Where.
        at: Position,
        /// The time of the record before, in nanoseconds as recorded.
        previous: u64,
        /// The time of this record.
        found: u64,
    },
    /// A request lies beyond the device and `addresses = "strict"`, or it is larger than the whole device.
    #[error(
        "{file}, {at}: LBA {lba} + {sectors} sectors lies beyond the capacity of {capacity} sectors; set addresses = \"wrap\" or \"fit\" to accept it"
    )]
    BeyondCapacity {
        /// The file.
        file: String,
        /// Where.
        at: Position,
        /// First sector.
        lba: u64,
        /// Length.
        sectors: u64,
        /// Capacity in sectors.
        capacity: u64,
    },
    /// A job file has a line that is neither a section, a comment, nor a key.
    #[error("{file}, line {line}: \"{text}\" is not a [section], a comment or key=value")]
    JobLine {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// The line.
        text: String,
    },
    /// A job file has a key that is not known.
    #[error("{file}, line {line}: unknown key \"{key}\"{suggestion}")]
    JobKey {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// The key.
        key: String,
        /// Empty, or `; did you mean "…"?`.
        suggestion: String,
    },
    /// A job file has a key with a value that makes no sense or is not supported.
    #[error("{file}, line {line}: {key}={value}: {expected}")]
    JobValue {
        /// The file.
        file: String,
        /// Line, counted from 1; of the section if the key is absent.
        line: u64,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// A request cannot be written in the format asked for.
    #[error("request {number} ({what}) cannot be written as {format}: {why}")]
    NotRepresentable {
        /// Number of the request, counted from 1.
        number: u64,
        /// The request.
        what: String,
        /// The format.
        format: &'static str,
        /// Why.
        why: &'static str,
    },
    /// The output of a conversion cannot be written.
    #[error("cannot write the converted trace: {0}")]
    Write(#[source] io::Error),
    /// The caller's progress function asked to stop.
    #[error("stopped by the caller")]
    Stopped,
}

impl From<Box<WorkloadError>> for WorkloadError {
    fn from(error: Box<WorkloadError>) -> Self {
        *error
    }
}

/// Builds a [`WorkloadError::Setting`].
pub(crate) fn bad(
    field: impl Into<String>,
    value: impl fmt::Display,
    limit: impl Into<String>,
) -> WorkloadError {
    WorkloadError::Setting { field: field.into(), value: value.to_string(), limit: limit.into() }
}

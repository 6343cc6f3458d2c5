//! Errors of workloads. Each message is one complete line: place, value, and the values that are allowed.

use std::fmt;
use std::io;
use thiserror::Error;

/// Position in a trace file, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePosition {
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

impl fmt::Display for TracePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record { number, byte } => write!(f, "record {number} (byte {byte})"),
        }
    }
}

/// An error in opening, reading or writing a workload.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The value of a setting is outside its limits.
    #[error("{field} = {value}: {limit}")]
    Setting {
        /// Dotted path, such as `workload.synthetic.read_percent`.
        field: String,
        /// The value as written.
        value: String,
        /// The allowed values, such as "must be at least 1".
        limit: String,
    },
    /// A setting is missing.
    #[error("{field} is missing: {needed}")]
    Missing {
        /// Dotted path.
        field: String,
        /// The reason why it is needed, or the text to write.
        needed: String,
    },
    /// Two settings exclude each other.
    #[error("{first} and {second} exclude each other: {why}")]
    Conflict {
        /// Dotted path.
        first: String,
        /// Dotted path.
        second: String,
        /// The reason, as a main clause.
        why: &'static str,
    },
    /// A file cannot be opened.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Reading failed within a file.
    #[error("{file}, {at}: cannot be read further: {source}")]
    Read {
        /// The file.
        file: String,
        /// Line or record that was to be read next.
        at: TracePosition,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A compressed file is cut short or damaged.
    #[error("{file}, {at}: the {compression} data are truncated or damaged ({source})")]
    Compressed {
        /// The file.
        file: String,
        /// Line or record that was to be read next.
        at: TracePosition,
        /// Name of the compression, such as "gzip".
        compression: &'static str,
        /// Error of the decompressor.
        source: io::Error,
    },
    /// A file holds no request.
    #[error("{file}: no request found ({content})")]
    Empty {
        /// The file.
        file: String,
        /// The content of the file instead, such as "the file is empty".
        content: String,
    },
    /// A trace is in none of the known formats.
    #[error("{file}: format not recognised from \"{start}\"; set format to one of {formats}")]
    Unrecognised {
        /// The file.
        file: String,
        /// Its first line or bytes.
        start: String,
        /// Names of the formats, separated by commas.
        formats: &'static str,
    },
    /// A trace is packed or encoded in a way that is not read.
    #[error("{file}: is {what}, which is not read; {remedy}")]
    Packed {
        /// The file.
        file: String,
        /// The compression or encoding.
        what: &'static str,
        /// The program that makes a text of it.
        remedy: &'static str,
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
        /// The observation that speaks against the format.
        why: String,
    },
    /// A field of a record cannot be decoded, or its value is impossible.
    #[error("{file}, {at}: {field} is \"{value}\", expected {expected}")]
    Record {
        /// The file.
        file: String,
        /// Line or record with the field.
        at: TracePosition,
        /// Name of the field.
        field: &'static str,
        /// Text of the field, shortened.
        value: String,
        /// The expected form, with its limit.
        expected: String,
    },
    /// A record is earlier than the one before it.
    #[error(
        "{file}, {at}: time runs backwards by {} ns; set unordered = \"sort\" or \"clamp\" to accept it", previous.saturating_sub(*time)
    )]
    TimeBackwards {
        /// The file.
        file: String,
        /// Line or record that is too early.
        at: TracePosition,
        /// Recorded time of the record before, in nanoseconds.
        previous: u64,
        /// Recorded time of this record, in nanoseconds.
        time: u64,
    },
    /// A request lies beyond the device and `addresses = "strict"`, or it is larger than the whole device.
    #[error(
        "{file}, {at}: LBA {lba} + {sectors} sectors lies beyond the capacity of {capacity} sectors; set addresses = \"wrap\" or \"fit\" to accept it"
    )]
    BeyondCapacity {
        /// The file.
        file: String,
        /// Line or record of the request.
        at: TracePosition,
        /// First sector of the request.
        lba: u64,
        /// Sectors of the request.
        sectors: u64,
        /// Sectors of the device.
        capacity: u64,
    },
    /// A line of a job file is neither a section, a comment, nor a key.
    #[error("{file}, line {line}: \"{text}\" is not a [section], a comment or key=value")]
    JobLine {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Text of the line, shortened.
        text: String,
    },
    /// A key of a job file is unknown.
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
    /// The value of a key of a job file is malformed or not supported.
    #[error("{file}, line {line}: {key}={value}: {expected}")]
    JobValue {
        /// The file.
        file: String,
        /// Line, counted from 1; of the section if the key is absent.
        line: u64,
        /// The key.
        key: String,
        /// The value as written, shortened.
        value: String,
        /// The allowed values, or why it is not supported.
        expected: String,
    },
    /// A request cannot be expressed in the format of a conversion.
    #[error("request {number} ({request}) cannot be written as {format}: {why}")]
    NotRepresentable {
        /// Number of the request, counted from 1.
        number: u64,
        /// Operation, length and address of the request.
        request: String,
        /// Name of the format.
        format: &'static str,
        /// The feature that the format lacks.
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
pub(crate) fn bad_setting(
    field: impl Into<String>,
    value: impl fmt::Display,
    limit: impl Into<String>,
) -> WorkloadError {
    WorkloadError::Setting { field: field.into(), value: value.to_string(), limit: limit.into() }
}

//! Reads the records of a trace one after another, with their positions.

use super::detect::DetectedFormat;
use super::fields::FieldFault;
use super::formats::{DecodeContext, ParsedLine, TraceRecord};
use super::input::{BoxedError, TraceInput, TraceOrigin, is_blank, without_mark};
use crate::{TracePosition, WorkloadError};
use outlast_device::Op;

/// One pass over a trace.
pub(crate) struct RecordReader {
    input: TraceInput,
    context: DecodeContext,
    /// Lines or records read.
    number: u64,
    /// Lines read that were neither blank nor comments.
    lines: u64,
    /// Offset of the last record of a binary format in the decompressed file.
    byte: u64,
    /// A write whose preflush was given first.
    held: Option<TraceRecord>,
    /// Lines or records that are no requests.
    pub(crate) skipped: u64,
}

impl RecordReader {
    /// Opens the trace for one pass.
    pub(crate) fn open(origin: &TraceOrigin, detected: &DetectedFormat) -> Result<Self, WorkloadError> {
        let mut context = DecodeContext::new(detected.format);
        context.unit = detected.time_unit.nanos();
        context.address_unit = detected.address_unit;
        context.event = detected.event;
        context.iolog = detected.iolog;
        context.vscsi = detected.vscsi;
        context.columns = detected.columns.clone();
        context.zone_sectors = detected.zone_sectors;
        let input = TraceInput::open(origin)?;
        Ok(Self { input, context, number: 0, lines: 0, byte: 0, held: None, skipped: 0 })
    }

    /// Position of the record that `next` gave last.
    pub(crate) fn position(&self) -> TracePosition {
        if self.context.record_bytes().is_some() {
            TracePosition::Record { number: self.number, byte: self.byte }
        } else {
            TracePosition::Line(self.number)
        }
    }

    /// The name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.input.file
    }

    /// Names of the devices so far, in order of appearance.
    pub(crate) fn devices(&self) -> &[Box<[u8]>] {
        &self.context.devices.names
    }

    /// Records so far that were rounded out to whole sectors.
    pub(crate) fn rounded(&self) -> u64 {
        self.context.rounded
    }

    /// Fraction of the file consumed.
    pub(crate) fn progress(&self) -> f64 {
        self.input.progress()
    }

    /// The next record; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<TraceRecord>, BoxedError> {
        if let Some(record) = self.held.take() {
            return Ok(Some(record));
        }
        loop {
            let parsed = match self.context.record_bytes() {
                Some(size) => self.parse_binary(size),
                None => self.parse_line(),
            }?;
            match parsed {
                None => return Ok(None),
                Some(ParsedLine::Skip) => self.skipped += 1,
                Some(ParsedLine::One(record)) => return Ok(Some(record)),
                Some(ParsedLine::FlushThen(record)) => {
                    self.held = Some(record);
                    return Ok(Some(TraceRecord { lba: 0, sectors: 0, op: Op::Flush, fua: false, ..record }));
                }
            }
        }
    }

    #[inline]
    /// Parses the next line that is neither blank nor a comment; `None` at the end.
    fn parse_line(&mut self) -> Result<Option<ParsedLine>, BoxedError> {
        loop {
            let Some(mut line) = self.input.line(self.number + 1)? else { return Ok(None) };
            self.number += 1;
            // A byte order mark stands only before the first line.
            if self.number == 1 {
                line = without_mark(line);
            }
            if is_blank(line) {
                continue;
            }
            self.lines += 1;
            return match self.context.line(line, self.lines) {
                Ok(parsed) => Ok(Some(parsed)),
                Err(fault) => Err(self.located(*fault).into()),
            };
        }
    }

    /// Parses the next binary record of `size` bytes; `None` at the end.
    fn parse_binary(&mut self, size: usize) -> Result<Option<ParsedLine>, BoxedError> {
        let start = self.number * size as u64;
        let at = TracePosition::Record { number: self.number + 1, byte: start };
        let bytes = self.input.record(size, at)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        self.byte = start;
        if bytes.len() < size {
            let value = format!("{} bytes", bytes.len());
            let expected = format!("{size} bytes; the file is truncated");
            return Err(self.located(FieldFault { field: "record", value, expected }).into());
        }
        match self.context.record(bytes) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(fault) => Err(self.located(*fault).into()),
        }
    }

    #[cold]
    /// The error about a field, with file and position.
    fn located(&self, fault: FieldFault) -> WorkloadError {
        let FieldFault { field, value, expected } = fault;
        let file = self.input.file.clone();
        WorkloadError::Record { file, at: self.position(), field, value, expected }
    }
}

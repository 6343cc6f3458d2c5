//! The records of a trace, one after another, with their positions.

use super::detect::Detected;
use super::fields::Fault;
use super::formats::{Context, Parsed, Record};
use super::input::{Input, Origin, is_blank, without_mark};
use super::{BlkEvent, Format};
use crate::{Position, WorkloadError};
use outlast_device::Op;

/// Why there is no record; boxed, so that a record is not moved in the room that an error takes.
pub(crate) type Failed = Box<WorkloadError>;

/// One pass over a trace.
pub(crate) struct Records {
    input: Input,
    context: Context,
    /// Lines or records read.
    number: u64,
    /// Lines read that were neither blank nor comments.
    lines: u64,
    byte: u64,
    held: Option<Record>,
    /// Lines or records that are no requests.
    pub(crate) skipped: u64,
}

impl Records {
    /// Opens the trace for one pass.
    pub(crate) fn open(origin: &Origin, detected: &Detected, event: BlkEvent) -> Result<Self, WorkloadError> {
        let mut context = Context::new(detected.format);
        context.unit = detected.time_unit.nanos();
        context.address_unit = detected.address_unit;
        context.event = event;
        context.iolog = detected.iolog;
        context.vscsi = detected.vscsi;
        let input = Input::open(origin)?;
        Ok(Self { input, context, number: 0, lines: 0, byte: 0, held: None, skipped: 0 })
    }

    /// Where the record is that `next` gave last.
    pub(crate) fn position(&self) -> Position {
        if self.context.format == Format::Vscsi {
            Position::Record { number: self.number, byte: self.byte }
        } else {
            Position::Line(self.number)
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
    pub(crate) fn next(&mut self) -> Result<Option<Record>, Failed> {
        if let Some(record) = self.held.take() {
            return Ok(Some(record));
        }
        loop {
            let parsed = if self.context.format == Format::Vscsi { self.binary() } else { self.text() }?;
            match parsed {
                None => return Ok(None),
                Some(Parsed::Skip) => self.skipped += 1,
                Some(Parsed::One(record)) => return Ok(Some(record)),
                Some(Parsed::FlushThen(record)) => {
                    self.held = Some(record);
                    return Ok(Some(Record { lba: 0, sectors: 0, op: Op::Flush, fua: false, ..record }));
                }
            }
        }
    }

    #[inline]
    fn text(&mut self) -> Result<Option<Parsed>, Failed> {
        loop {
            let Some(mut line) = self.input.line(self.number + 1)? else { return Ok(None) };
            self.number += 1;
            if self.number == 1 {
                line = without_mark(line);
            }
            if is_blank(line) {
                continue;
            }
            self.lines += 1;
            return match self.context.line(line, self.lines) {
                Ok(parsed) => Ok(Some(parsed)),
                Err(fault) => Err(self.fault(*fault).into()),
            };
        }
    }

    fn binary(&mut self) -> Result<Option<Parsed>, Failed> {
        let size = self.context.vscsi.record_bytes();
        let start = self.number * size as u64;
        let at = Position::Record { number: self.number + 1, byte: start };
        let bytes = self.input.record(size, at)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        self.byte = start;
        if bytes.len() < size {
            let value = format!("{} bytes", bytes.len());
            let expected = format!("{size} bytes; the file is truncated");
            return Err(self.fault(Fault { field: "record", value, expected }).into());
        }
        match self.context.record(bytes) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(fault) => Err(self.fault(*fault).into()),
        }
    }

    #[cold]
    fn fault(&self, fault: Fault) -> WorkloadError {
        let Fault { field, value, expected } = fault;
        let file = self.input.file.clone();
        WorkloadError::Record { file, at: self.position(), field, value, expected }
    }
}

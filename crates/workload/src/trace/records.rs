//! The records of a trace, one after another, with their positions.

use super::detect::Detected;
use super::fields::Fault;
use super::formats::{Context, Parsed, Record};
use super::input::{Input, Origin, is_blank, without_mark};
use super::{BlkEvent, Format};
use crate::{Position, WorkloadError};
use outlast_device::Op;

/// One pass over a trace.
pub(crate) struct Records {
    input: Input,
    context: Context,
    line: Vec<u8>,
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
        Ok(Self { input, context, line: Vec::new(), number: 0, lines: 0, byte: 0, held: None, skipped: 0 })
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
    pub(crate) fn next(&mut self) -> Result<Option<Record>, WorkloadError> {
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

    fn text(&mut self) -> Result<Option<Parsed>, WorkloadError> {
        loop {
            if !self.input.line(&mut self.line, self.number + 1)? {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && without_mark(&self.line).len() < self.line.len() {
                self.line = without_mark(&self.line).to_vec();
            }
            if !is_blank(&self.line) {
                break;
            }
        }
        self.lines += 1;
        match self.context.line(&self.line, self.lines) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(fault) => Err(self.fault(fault)),
        }
    }

    fn binary(&mut self) -> Result<Option<Parsed>, WorkloadError> {
        let size = self.context.vscsi.record_bytes();
        let mut bytes = [0; 40];
        let start = self.number * size as u64;
        let at = Position::Record { number: self.number + 1, byte: start };
        let count = self.input.record(&mut bytes[..size], at)?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.byte = start;
        if count < size {
            let expected = format!("{size} bytes; the file is truncated");
            return Err(self.fault(Fault { field: "record", value: format!("{count} bytes"), expected }));
        }
        match self.context.record(&bytes[..size]) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(fault) => Err(self.fault(fault)),
        }
    }

    #[cold]
    fn fault(&self, fault: Fault) -> WorkloadError {
        let Fault { field, value, expected } = fault;
        WorkloadError::Record { file: self.input.file.clone(), at: self.position(), field, value, expected }
    }
}

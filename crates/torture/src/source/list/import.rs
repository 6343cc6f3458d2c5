//! A list as a history.

use super::{MARK, data_of};
use crate::error::TortureError;
use crate::history::{Builder, Data, FlushId, History, WriteId};
use crate::source::{Files, capacity_in};
use outlast_device::Op;
use outlast_units::{Nanos, SECTOR_BYTES};
use outlast_workload::{BlkLine, BlkLineReader, WorkloadRequest};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// What a device was asked, of which the file at `path` is a list.
///
/// # Errors
/// A file cannot be read, a line is none of blkparse, times go back, or the bytes are not as many as the writes have.
pub fn history_of_list(path: &Path) -> Result<History, TortureError> {
    let lines = lines_of(path)?;
    let completes = lines.iter().any(|line| matches!(line, BlkLine::Completed { .. }));
    let mut device = Device { completes, ..Device::default() };
    for line in lines {
        device.take(line);
    }
    let path = data_of(path);
    let io = |source| TortureError::Io { path: path.clone(), source };
    let data = File::options().read(true).open(&path).map_err(io)?;
    let found = data.metadata().map_err(io)?.len();
    if found != device.bytes {
        let why = format!("has {found} bytes; the writes of the list have {}", device.bytes);
        return Err(TortureError::Foreign { path, why });
    }
    let capacity = device.capacity.unwrap_or(device.end);
    if device.end > capacity {
        let why = format!("the list goes to sector {}; it says that there are {capacity}", device.end);
        return Err(TortureError::Foreign { path, why });
    }
    device.builder.finish(capacity, true, Box::new(Files(vec![data]))).map_err(io)
}

/// What the lines of the file tell.
fn lines_of(path: &Path) -> Result<Vec<BlkLine>, TortureError> {
    let io = |source| TortureError::Io { path: path.to_owned(), source };
    let file = BufReader::new(File::options().read(true).open(path).map_err(io)?);
    let (mut reader, mut lines, mut latest) = (BlkLineReader::default(), Vec::new(), Nanos::ZERO);
    for (number, line) in (1..).zip(file.split(b'\n')) {
        let line = line.map_err(io)?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let wrong = |why| {
            let why = format!("line {number}: {why}");
            TortureError::Foreign { path: path.to_owned(), why }
        };
        let Some(line) = reader.line(&line).map_err(wrong)? else { continue };
        let at = match &line {
            BlkLine::Queued { request, .. } | BlkLine::Completed { request, .. } => request.at,
            BlkLine::Message { at, .. } => *at,
        };
        if at < latest {
            return Err(wrong(format!("time = {at}: must not be before {latest}, that of a line above")));
        }
        latest = at;
        lines.push(line);
    }
    Ok(lines)
}

/// A write under way.
struct Pending {
    id: WriteId,
    op: Op,
    fua: bool,
    range: Range<u64>,
    /// Sectors that have not completed.
    left: u64,
}

#[derive(Default)]
struct Device {
    builder: Builder,
    /// Whether the list has completions.
    completes: bool,
    /// Sectors, where the list says so; and the one behind the furthest.
    capacity: Option<u64>,
    end: u64,
    /// Bytes of the writes so far.
    bytes: u64,
    writes: Vec<Pending>,
    flushes: Vec<FlushId>,
}

impl Device {
    fn take(&mut self, line: BlkLine) {
        match line {
            BlkLine::Message { at, text } => match (text.strip_prefix(MARK), capacity_in(&text)) {
                (_, Some(capacity)) => self.capacity = Some(capacity),
                (Some(mark), None) => self.builder.mark(at, mark.to_owned()),
                (None, None) => {}
            },
            BlkLine::Queued { request, flush } => {
                self.asked(request, flush);
                if !self.completes {
                    self.done(request, flush);
                }
            }
            BlkLine::Completed { request, flush } => self.done(request, flush),
        }
    }

    fn asked(&mut self, WorkloadRequest { at, command }: WorkloadRequest, flush: bool) {
        if flush || command.op == Op::Flush {
            let id = self.builder.flush(at);
            self.flushes.push(id);
        }
        let data = match command.op {
            Op::Write => Data::At { file: 0, offset: self.bytes },
            Op::Trim => Data::Zeroes,
            Op::Read | Op::Flush | Op::LbaStatus => return,
        };
        let sectors = u64::from(command.sectors);
        if command.op == Op::Write {
            self.bytes += sectors * SECTOR_BYTES;
        }
        let flags = (command.fua, command.op == Op::Trim);
        let id = self.builder.write(at, command.lba, command.sectors, data, flags);
        let range = command.lba.0..command.lba.0 + sectors;
        self.end = self.end.max(range.end);
        self.writes.push(Pending { id, op: command.op, fua: command.fua, range, left: sectors });
    }

    fn done(&mut self, WorkloadRequest { at, command }: WorkloadRequest, flush: bool) {
        // Of several flushes under way the last may be the one: it covers most.
        if (flush || command.op == Op::Flush)
            && let Some(id) = self.flushes.pop()
        {
            self.builder.flush_done(at, id);
        }
        // Where forced unit access was the driver's own doing, the completion does not tell of it.
        if !self.end_writes(WorkloadRequest { at, command }, Some(command.fua)) {
            self.end_writes(WorkloadRequest { at, command }, None);
        }
        self.writes.retain(|pending| pending.left > 0);
    }

    /// Ends writes under way that a completion lies upon, of those with forced unit access or without if that is to be regarded; whether there are
    /// any.
    fn end_writes(&mut self, WorkloadRequest { at, command }: WorkloadRequest, fua: Option<bool>) -> bool {
        let range = command.lba.0..command.lba.0 + u64::from(command.sectors);
        let overlap =
            |other: &Range<u64>| range.end.min(other.end).saturating_sub(range.start.max(other.start));
        // Two writes under way of the same sectors have a completion each. The first may be the later one's: that covers more.
        let mut ended: Vec<Range<u64>> = Vec::new();
        for pending in self.writes.iter_mut().rev() {
            let is_other =
                ended.iter().any(|own| own.start < pending.range.end && pending.range.start < own.end);
            let count = overlap(&pending.range);
            let is_alike = pending.op == command.op && fua.is_none_or(|fua| fua == pending.fua);
            if !is_alike || count == 0 || is_other {
                continue;
            }
            ended.push(pending.range.clone());
            pending.left = pending.left.saturating_sub(count);
            if pending.left == 0 {
                self.builder.write_done(at, pending.id);
            }
        }
        !ended.is_empty()
    }
}

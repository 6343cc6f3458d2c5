//! Reading a list of blkparse as a history.

use super::{MARK, payload_path};
use crate::error::TortureError;
use crate::history::{CommandHistory, FlushId, HistoryBuilder, WriteData, WriteId};
use crate::source::{PayloadFiles, parse_capacity_mark};
use outlast_device::Op;
use outlast_units::{Nanos, SECTOR_BYTES};
use outlast_workload::{BlkLine, BlkLineReader, WorkloadRequest};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// Reads the history of the list at `path`.
///
/// # Errors
/// A file cannot be read, a line is not one of blkparse, times go back, or the payload file has not as many bytes as the writes.
pub fn history_of_list(path: &Path) -> Result<CommandHistory, TortureError> {
    let lines = lines_of(path)?;
    let has_completions = lines.iter().any(|line| matches!(line, BlkLine::Completed { .. }));
    let mut import = ListImport { has_completions, ..ListImport::default() };
    for line in lines {
        import.apply_line(line);
    }
    let payload = payload_path(path);
    let io = |source| TortureError::Io { path: payload.clone(), source };
    let data = File::options().read(true).open(&payload).map_err(io)?;
    let length = data.metadata().map_err(io)?.len();
    if length != import.bytes {
        let why = format!("has {length} bytes; the writes of the list have {}", import.bytes);
        return Err(TortureError::Foreign { path: payload, why });
    }
    let capacity = import.capacity.unwrap_or(import.end);
    if import.end > capacity {
        let why = format!("the list goes to sector {}; it says that there are {capacity}", import.end);
        return Err(TortureError::Foreign { path: payload, why });
    }
    import.builder.finish(capacity, true, Box::new(PayloadFiles(vec![data]))).map_err(io)
}

/// Parses all lines of the file.
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
struct PendingWrite {
    id: WriteId,
    op: Op,
    fua: bool,
    range: Range<u64>,
    /// Number of sectors that have not completed.
    left: u64,
}

/// State of the import of a list, line by line.
#[derive(Default)]
struct ListImport {
    builder: HistoryBuilder,
    /// True if the list has completions.
    has_completions: bool,
    /// Sectors of the device, if the list has a capacity mark.
    capacity: Option<u64>,
    /// End of the furthest request, in sectors.
    end: u64,
    /// Bytes of the writes so far.
    bytes: u64,
    writes: Vec<PendingWrite>,
    flushes: Vec<FlushId>,
}

impl ListImport {
    fn apply_line(&mut self, line: BlkLine) {
        match line {
            BlkLine::Message { at, text } => match (text.strip_prefix(MARK), parse_capacity_mark(&text)) {
                (_, Some(capacity)) => self.capacity = Some(capacity),
                (Some(mark), None) => self.builder.mark(at, mark.to_owned()),
                (None, None) => {}
            },
            BlkLine::Queued { request, flush } => {
                self.queue(request, flush);
                if !self.has_completions {
                    self.complete(request, flush);
                }
            }
            BlkLine::Completed { request, flush } => self.complete(request, flush),
        }
    }

    fn queue(&mut self, WorkloadRequest { at, command }: WorkloadRequest, flush: bool) {
        if flush || command.op == Op::Flush {
            let id = self.builder.flush(at);
            self.flushes.push(id);
        }
        let data = match command.op {
            Op::Write => WriteData::At { file: 0, offset: self.bytes },
            Op::Trim => WriteData::Zeroes,
            Op::Read | Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => return,
        };
        let sectors = u64::from(command.sectors);
        if command.op == Op::Write {
            self.bytes += sectors * SECTOR_BYTES;
        }
        let flags = (command.fua, command.op == Op::Trim);
        let id = self.builder.write(at, command.lba, command.sectors, data, flags);
        let range = command.lba.0..command.lba.0 + sectors;
        self.end = self.end.max(range.end);
        self.writes.push(PendingWrite { id, op: command.op, fua: command.fua, range, left: sectors });
    }

    fn complete(&mut self, WorkloadRequest { at, command }: WorkloadRequest, flush: bool) {
        // With several flushes under way the completion is taken to be that of the last, which covers most.
        if (flush || command.op == Op::Flush)
            && let Some(id) = self.flushes.pop()
        {
            self.builder.flush_done(at, id);
        }
        // The block layer may add or remove FUA below the queue, so the flag of the completion is only preferred.
        if !self.end_writes(WorkloadRequest { at, command }, Some(command.fua)) {
            self.end_writes(WorkloadRequest { at, command }, None);
        }
        self.writes.retain(|pending| pending.left > 0);
    }

    /// Ends writes under way that a completion overlaps, with `fua` only those of this flag; true if there are any.
    fn end_writes(&mut self, WorkloadRequest { at, command }: WorkloadRequest, fua: Option<bool>) -> bool {
        let range = command.lba.0..command.lba.0 + u64::from(command.sectors);
        let overlap =
            |other: &Range<u64>| range.end.min(other.end).saturating_sub(range.start.max(other.start));
        // Two writes under way to the same sectors have a completion each. The first is taken to be that of the later write: that covers more.
        let mut ended: Vec<Range<u64>> = Vec::new();
        for pending in self.writes.iter_mut().rev() {
            let is_overwritten =
                ended.iter().any(|range| range.start < pending.range.end && pending.range.start < range.end);
            let count = overlap(&pending.range);
            let is_alike = pending.op == command.op && fua.is_none_or(|fua| fua == pending.fua);
            if !is_alike || count == 0 || is_overwritten {
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

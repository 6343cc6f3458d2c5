//! Writing a history as a list of blkparse.

use super::MARK;
use crate::history::{CommandHistory, EventKind, RecordedWrite, WriteData, WriteId};
use crate::source::{capacity_mark, write_reader};
use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use outlast_workload::{TraceFormat, TraceWriter, WorkloadError, WorkloadRequest};
use std::io::{self, Read, Write};

/// Most sectors of a trim in one line, 2 GiB: the kernel splits longer ones, too.
const MAX_TRIM_SECTORS: u32 = 1 << 22;

/// Writes a history as a list to `text`, and the bytes of its writes to `data`. Nothing is lost but this: a trim with forced unit
/// access becomes a write of zeroes, since the format has no such trim.
///
/// # Errors
/// A file cannot be written, the bytes of a write cannot be read, or a mark does not fit a line.
pub fn export_list(history: &CommandHistory, text: &mut dyn Write, data: &mut dyn Write) -> io::Result<()> {
    let mut lines = TraceWriter::new(TraceFormat::Blkparse, text).map_err(io::Error::other)?;
    let other = |error: WorkloadError| io::Error::other(error.to_string());
    lines.write_message(Nanos::ZERO, &capacity_mark(history.capacity)).map_err(other)?;
    for event in &history.events {
        match event.kind {
            EventKind::Write(id) => {
                let write = &history.writes[id.0 as usize];
                for request in requests(event.at, write) {
                    lines.write(&request).map_err(other)?;
                }
                copy_payload(history, id, write, data)?;
            }
            EventKind::WriteDone(id) => {
                for request in requests(event.at, &history.writes[id.0 as usize]) {
                    lines.write_completion(&request).map_err(other)?;
                }
            }
            EventKind::Flush(_) => lines.write(&flush_request(event.at)).map_err(other)?,
            EventKind::FlushDone(_) => lines.write_completion(&flush_request(event.at)).map_err(other)?,
            EventKind::Mark(number) => {
                lines
                    .write_message(event.at, &mark_message(&history.marks[number as usize].text)?)
                    .map_err(other)?;
            }
        }
    }
    lines.finish().map_err(other)?;
    data.flush()
}

/// The message of a mark.
fn mark_message(text: &str) -> io::Result<String> {
    if text.len() > TraceWriter::MAX_MESSAGE - MARK.len() || text.contains(char::is_control) {
        let start: String = text.chars().take(40).filter(|letter| !letter.is_control()).collect();
        let limit = TraceWriter::MAX_MESSAGE - MARK.len();
        let why =
            format!("mark \"{start}…\": a line has room for {limit} bytes, none of them a control character");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(format!("{MARK}{text}"))
}

fn flush_request(at: Nanos) -> WorkloadRequest {
    let command = Command::FLUSH;
    WorkloadRequest { at, command }
}

/// Operation of a write in the list.
fn list_op(write: &RecordedWrite) -> Op {
    if write.data == WriteData::Zeroes && !write.fua { Op::Trim } else { Op::Write }
}

/// Requests that a write makes in the list: one, or several for a long trim.
fn requests(at: Nanos, write: &RecordedWrite) -> impl Iterator<Item = WorkloadRequest> {
    let (op, lba, sectors, fua) = (list_op(write), write.lba.0, write.sectors, write.fua);
    let step = if op == Op::Trim { MAX_TRIM_SECTORS } else { sectors.max(1) };
    (0..sectors).step_by(step as usize).map(move |from| {
        let count = (sectors - from).min(step);
        let lba = Lba(lba + u64::from(from));
        WorkloadRequest { at, command: Command { fua, ..Command::new(op, lba, count) } }
    })
}

/// Copies the bytes of a write to `to`, unless it is a trim.
fn copy_payload(
    history: &CommandHistory,
    id: WriteId,
    write: &RecordedWrite,
    to: &mut dyn Write,
) -> io::Result<()> {
    if list_op(write) == Op::Write {
        let length = u64::from(write.sectors) * SECTOR_BYTES;
        io::copy(&mut write_reader(history, id).take(length), to)?;
    }
    Ok(())
}

//! A history as a list.

use super::MARK;
use crate::history::{Data, History, What, Write as Written, WriteId};
use crate::source::{capacity_mark, copy_of};
use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use outlast_workload::{TraceFormat, TraceWriter, WorkloadError, WorkloadRequest};
use std::io::{self, Read, Write};

/// Sectors of a trim at most: longer ones are lines of their own, as the kernel's are.
const TRIM: u32 = 1 << 22;

/// Writes a history as a list to `text`, and the bytes of its writes to `data`. All is there, with its times; of a trim with forced unit access
/// the list has a write of zeroes, as its format has no such trim.
///
/// # Errors
/// It cannot be written, the bytes of a write cannot be read, or a mark cannot be in a line.
pub fn export_list(history: &History, text: &mut dyn Write, data: &mut dyn Write) -> io::Result<()> {
    let mut lines = TraceWriter::new(TraceFormat::Blkparse, text).map_err(io::Error::other)?;
    let other = |error: WorkloadError| io::Error::other(error.to_string());
    lines.write_message(Nanos::ZERO, &capacity_mark(history.capacity)).map_err(other)?;
    for event in &history.events {
        match event.what {
            What::Write(id) => {
                let write = &history.writes[id.0 as usize];
                for request in requests(event.at, write) {
                    lines.write(&request).map_err(other)?;
                }
                bytes(history, id, write, data)?;
            }
            What::WriteDone(id) => {
                for request in requests(event.at, &history.writes[id.0 as usize]) {
                    lines.write_completion(&request).map_err(other)?;
                }
            }
            What::Flush(_) => lines.write(&flush(event.at)).map_err(other)?,
            What::FlushDone(_) => lines.write_completion(&flush(event.at)).map_err(other)?,
            What::Mark(number) => {
                lines.write_message(event.at, &mark(&history.marks[number as usize].text)?).map_err(other)?;
            }
        }
    }
    lines.finish().map_err(other)?;
    data.flush()
}

/// The message that a mark is.
fn mark(text: &str) -> io::Result<String> {
    if text.len() > TraceWriter::MAX_MESSAGE - MARK.len() || text.contains(char::is_control) {
        let start: String = text.chars().take(40).filter(|own| !own.is_control()).collect();
        let limit = TraceWriter::MAX_MESSAGE - MARK.len();
        let why =
            format!("mark \"{start}…\": a line has room for {limit} bytes, none of them a control character");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(format!("{MARK}{text}"))
}

fn flush(at: Nanos) -> WorkloadRequest {
    let command = Command::FLUSH;
    WorkloadRequest { at, command }
}

/// The operation that a write is in the list.
fn op(write: &Written) -> Op {
    if write.data == Data::Zeroes && !write.fua { Op::Trim } else { Op::Write }
}

/// A write as requests.
fn requests(at: Nanos, write: &Written) -> impl Iterator<Item = WorkloadRequest> {
    let (op, lba, sectors, fua) = (op(write), write.lba.0, write.sectors, write.fua);
    let step = if op == Op::Trim { TRIM } else { sectors.max(1) };
    (0..sectors).step_by(step as usize).map(move |from| {
        let count = (sectors - from).min(step);
        let lba = Lba(lba + u64::from(from));
        WorkloadRequest { at, command: Command { fua, ..Command::new(op, lba, count) } }
    })
}

fn bytes(history: &History, id: WriteId, write: &Written, to: &mut dyn Write) -> io::Result<()> {
    if op(write) == Op::Write {
        let length = u64::from(write.sectors) * SECTOR_BYTES;
        io::copy(&mut copy_of(history, id).take(length), to)?;
    }
    Ok(())
}

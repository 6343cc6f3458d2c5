//! Writes requests as lines or records of each format.

use super::TraceFormat;
use super::formats::COMMANDS;
use crate::error::bad_setting;
use crate::{WorkloadError, WorkloadRequest};
use outlast_device::Op;
use outlast_units::Nanos;
use std::io::{self, Write};

/// FILETIME of 1970-01-01, in ticks of 100 ns: the start of the MSR traces that are written.
const FILETIME_1970: u64 = 116_444_736_000_000_000;
/// Columns of an event of Windows: of a read or a write, and of a flush.
const ETW_MOVES: &str =
    "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum";
const ETW_FLUSHES: &str = "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime, DiskNum";
/// Name of the device in the fio logs that are written.
const IOLOG_FILE: &str = "/dev/outlast";

/// Writes requests as a trace, one after another in order of arrival.
pub struct TraceWriter<'a> {
    format: TraceFormat,
    to: &'a mut dyn Write,
    /// Requests and completions written so far.
    written: u64,
    completed: u64,
    /// Arrival of the last request, in nanoseconds.
    previous: u64,
}

impl<'a> TraceWriter<'a> {
    /// Characters of a message at most.
    pub const MAX_MESSAGE: usize = 1000;

    /// Begins a trace in `format`.
    ///
    /// # Errors
    /// The format is `auto`, or `to` cannot be written.
    pub fn new(format: TraceFormat, to: &'a mut dyn Write) -> Result<Self, WorkloadError> {
        if !format.is_written() {
            return Err(bad_setting(
                "format",
                format,
                format!("name the format to write: one of {}", TraceFormat::WRITTEN),
            ));
        }
        write_header(format, to).map_err(WorkloadError::Write)?;
        Ok(Self { format, to, written: 0, completed: 0, previous: 0 })
    }

    /// Writes a request; time below the format's resolution is dropped.
    ///
    /// # Errors
    /// The format cannot hold it, or it cannot be written.
    pub fn write(&mut self, request: &WorkloadRequest) -> Result<(), WorkloadError> {
        self.written += 1;
        if let Some(why) = obstacle(self.format, request) {
            let command = request.command;
            let description =
                format!("{:?} of {} sectors at LBA {}", command.op, command.sectors, command.lba)
                    .to_lowercase();
            let (number, format) = (self.written, self.format.name());
            return Err(WorkloadError::NotRepresentable { number, request: description, format, why });
        }
        write_request(self.format, self.written + self.completed, self.previous, request, self.to)
            .map_err(WorkloadError::Write)?;
        self.previous = request.at.0;
        Ok(())
    }

    /// Writes the completion of a request at time `request.at`, in blkparse. Other formats have no completions, and nothing is written.
    ///
    /// # Errors
    /// Writing to the output failed.
    pub fn write_completion(&mut self, request: &WorkloadRequest) -> Result<(), WorkloadError> {
        if self.format != TraceFormat::Blkparse {
            return Ok(());
        }
        self.completed += 1;
        write_blk_event(self.written + self.completed, 'C', request, self.to).map_err(WorkloadError::Write)
    }

    /// Writes a message at time `at`, in blkparse, shortened to [`Self::MAX_MESSAGE`] characters. Other formats have none, and nothing is written.
    ///
    /// # Errors
    /// Writing to the output failed.
    pub fn write_message(&mut self, at: Nanos, text: &str) -> Result<(), WorkloadError> {
        if self.format != TraceFormat::Blkparse {
            return Ok(());
        }
        let text: String = text
            .chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .take(Self::MAX_MESSAGE)
            .collect();
        let (seconds, nanos) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000);
        writeln!(self.to, "  8,0    0        0 {seconds:5}.{nanos:09}     0  m   N {text}")
            .map_err(WorkloadError::Write)
    }

    /// Ends the trace and returns the number of its requests.
    ///
    /// # Errors
    /// Writing to the output failed.
    pub fn finish(self) -> Result<u64, WorkloadError> {
        write_trailer(self.format, self.previous, self.to).map_err(WorkloadError::Write)?;
        self.to.flush().map_err(WorkloadError::Write)?;
        Ok(self.written)
    }
}

/// The reason why a request cannot be written; `None` if it can. Time below the format's resolution is dropped: 100 ns for msr, 1 us
/// for fio-iolog, vscsi, alibaba and etw, none for spc, ascii and blkparse.
fn obstacle(format: TraceFormat, request: &WorkloadRequest) -> Option<&'static str> {
    let command = request.command;
    let has_trims = matches!(format, TraceFormat::Blkparse | TraceFormat::FioIolog | TraceFormat::FioIologV2);
    match command.op {
        Op::LbaStatus => Some("no format has queries of the LBA status"),
        _ if format == TraceFormat::Commands => command.fua.then_some("the format has no forced unit access"),
        Op::Trim if !has_trims => Some("the format has no trim"),
        Op::Flush if !has_trims && format != TraceFormat::Etw => Some("the format has no flush"),
        Op::Append | Op::ManageZone => Some("the format has no commands to zones"),
        _ if command.fua && format != TraceFormat::Blkparse => Some("the format has no forced unit access"),
        _ if format == TraceFormat::Vscsi && u64::from(command.sectors) * 512 > u64::from(u32::MAX) => {
            Some("the format has 32 bits for the size")
        }
        _ => None,
    }
}

/// Writes the lines before the first request.
fn write_header(format: TraceFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        TraceFormat::FioIolog => {
            writeln!(out, "fio version 3 iolog\n0 {IOLOG_FILE} add\n0 {IOLOG_FILE} open")
        }
        TraceFormat::Commands => writeln!(out, "time,command,place,size,handle"),
        TraceFormat::FioIologV2 => writeln!(out, "fio version 2 iolog\n{IOLOG_FILE} add\n{IOLOG_FILE} open"),
        TraceFormat::Etw => {
            writeln!(out, "BeginHeader")?;
            for (event, columns) in
                [("DiskRead", ETW_MOVES), ("DiskWrite", ETW_MOVES), ("DiskFlush", ETW_FLUSHES)]
            {
                writeln!(out, "{event:>15}, {columns}")?;
            }
            writeln!(out, "EndHeader")
        }
        _ => Ok(()),
    }
}

/// Writes the lines after the last request, which arrived at `at` ns.
fn write_trailer(format: TraceFormat, at: u64, out: &mut dyn Write) -> io::Result<()> {
    match format {
        TraceFormat::FioIolog => writeln!(out, "{} {IOLOG_FILE} close", at / 1000),
        TraceFormat::FioIologV2 => writeln!(out, "{IOLOG_FILE} close"),
        _ => Ok(()),
    }
}

/// Writes request `number`, counted from 1; `previous` is the arrival of the one before, in ns.
fn write_request(
    format: TraceFormat,
    number: u64,
    previous: u64,
    request: &WorkloadRequest,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (at, command) = (request.at.0, request.command);
    let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
    let (offset, size) = (u128::from(lba) * 512, sectors * 512);
    let read = command.op == Op::Read;
    match format {
        TraceFormat::Msr => {
            let ticks = FILETIME_1970 + at / 100;
            writeln!(out, "{ticks},outlast,0,{},{offset},{size},0", if read { "Read" } else { "Write" })
        }
        TraceFormat::Spc => {
            let code = if read { 'r' } else { 'w' };
            writeln!(out, "0,{lba},{size},{code},{}.{:09}", at / 1_000_000_000, at % 1_000_000_000)
        }
        TraceFormat::Ascii => writeln!(out, "{at} 0 {lba} {sectors} {}", u8::from(read)),
        TraceFormat::Alibaba => {
            writeln!(out, "0,{},{offset},{size},{}", if read { 'R' } else { 'W' }, at / 1000)
        }
        TraceFormat::Blkparse => write_blk_event(number, 'Q', request, out),
        TraceFormat::Commands => write_command(request, out),
        TraceFormat::Etw => write_etw_event(request, out),
        TraceFormat::FioIolog | TraceFormat::FioIologV2 => {
            let action = match command.op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Trim => "trim",
                Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => "sync",
            };
            if format == TraceFormat::FioIolog {
                return writeln!(out, "{} {IOLOG_FILE} {action} {offset} {size}", at / 1000);
            }
            // The difference of the rounded times, so that rounding does not add up.
            let wait = at / 1000 - previous / 1000;
            if wait > 0 {
                writeln!(out, "{IOLOG_FILE} wait {wait} 0")?;
            }
            writeln!(out, "{IOLOG_FILE} {action} {offset} {size}")
        }
        TraceFormat::Vscsi => {
            let wide = lba > u64::from(u32::MAX);
            // READ and WRITE of 10 bytes hold addresses of 32 bits, those of 16 bytes of 64.
            let command: u16 = match (read, wide) {
                (true, false) => 0x28,
                (true, true) => 0x88,
                (false, false) => 0x2a,
                (false, true) => 0x8a,
            };
            let mut record = [0u8; 32];
            record[0..4].copy_from_slice(&(number as u32).to_le_bytes());
            record[4..8].copy_from_slice(&(size as u32).to_le_bytes());
            record[8..12].copy_from_slice(&1u32.to_le_bytes());
            record[12..14].copy_from_slice(&command.to_le_bytes());
            record[14..16].copy_from_slice(&0x0100u16.to_le_bytes());
            record[16..24].copy_from_slice(&lba.to_le_bytes());
            record[24..32].copy_from_slice(&(at / 1000).to_le_bytes());
            out.write_all(&record)
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "a format that is only read")),
    }
}

/// Writes a line of commands.
fn write_command(request: &WorkloadRequest, out: &mut dyn Write) -> io::Result<()> {
    let (at, command) = (request.at.0, request.command);
    let is_own = |&&(_, op, action): &&(_, Op, _)| {
        op == command.op && (op != Op::ManageZone || action == command.zone_action)
    };
    let name = COMMANDS.iter().find(is_own).map_or("", |&(name, ..)| name);
    write!(out, "{}.{:09},{name}", at / 1_000_000_000, at % 1_000_000_000)?;
    let offset = u128::from(command.lba.0) * 512;
    match command.op {
        Op::Flush => writeln!(out),
        Op::ManageZone => writeln!(out, ",{offset}"),
        Op::Write if command.placement.0 != 0 => {
            writeln!(out, ",{offset},{},{}", u64::from(command.sectors) * 512, command.placement.0)
        }
        _ => writeln!(out, ",{offset},{}", u64::from(command.sectors) * 512),
    }
}

/// Writes an event of Windows.
fn write_etw_event(request: &WorkloadRequest, out: &mut dyn Write) -> io::Result<()> {
    let (at, command) = (request.at.0 / 1000, request.command);
    let (offset, size) = (u128::from(command.lba.0) * 512, u64::from(command.sectors) * 512);
    let name = match command.op {
        Op::Read => "DiskRead",
        Op::Write => "DiskWrite",
        _ => return writeln!(out, "{:>15}, {at}, outlast ( 0), 0, 0x0, 0, 0", "DiskFlush"),
    };
    writeln!(out, "{name:>15}, {at}, outlast ( 0), 0, 0x0, {offset:#012x}, {size:#010x}, 0, 0")
}

/// Writes a line of blkparse: `action` Q for the arrival of a request, C for its completion.
fn write_blk_event(
    number: u64,
    action: char,
    request: &WorkloadRequest,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (at, command) = (request.at.0, request.command);
    let time = format!("{:5}.{:09}", at / 1_000_000_000, at % 1_000_000_000);
    let rwbs = match (command.op, command.fua) {
        (Op::Read, _) => "R",
        (Op::Write, false) => "W",
        (Op::Write, true) => "WF",
        (Op::Trim, _) => "D",
        (Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone, _) => {
            return writeln!(out, "  8,0    0 {number:8} {time}     0  {action} FWS [outlast]");
        }
    };
    let (lba, sectors) = (command.lba, command.sectors);
    writeln!(out, "  8,0    0 {number:8} {time}     0  {action} {rwbs:>3} {lba} + {sectors} [outlast]")
}

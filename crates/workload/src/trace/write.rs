//! One request as a line or record of each format.

use super::Format;
use crate::error::bad;
use crate::{Request, WorkloadError};
use outlast_device::Op;
use outlast_units::Nanos;
use std::io::{self, Write};

/// FILETIME of 1970-01-01: where written MSR traces start.
const FILETIME_1970: u64 = 116_444_736_000_000_000;
/// The columns of what Windows's text says of a read or a write, and of a flush.
const ETW_MOVES: &str =
    "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum";
const ETW_FLUSHES: &str = "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime, DiskNum";
/// The device that written fio logs name.
const IOLOG_FILE: &str = "/dev/outlast";

/// Writes requests as a trace, one after another in order of arrival.
pub struct TraceWriter<'a> {
    format: Format,
    to: &'a mut dyn Write,
    /// Requests written, and completions.
    written: u64,
    completed: u64,
    /// When the last of them arrived, in ns.
    previous: u64,
}

impl<'a> TraceWriter<'a> {
    /// Characters of a remark at most.
    pub const REMARK: usize = 1000;

    /// Begins a trace in `format`.
    ///
    /// # Errors
    /// `auto`, which is no format to write; or `to` cannot be written.
    pub fn new(format: Format, to: &'a mut dyn Write) -> Result<Self, WorkloadError> {
        if format == Format::Auto {
            return Err(bad("format", format, format!("name the format to write: one of {}", Format::NAMES)));
        }
        header(format, to).map_err(WorkloadError::Write)?;
        Ok(Self { format, to, written: 0, completed: 0, previous: 0 })
    }

    /// Writes a request; time below the format's resolution is dropped.
    ///
    /// # Errors
    /// The format cannot hold it, or it cannot be written.
    pub fn write(&mut self, own: &Request) -> Result<(), WorkloadError> {
        self.written += 1;
        if let Some(why) = obstacle(self.format, own) {
            let command = own.command;
            let what = format!("{:?} of {} sectors at LBA {}", command.op, command.sectors, command.lba)
                .to_lowercase();
            let (number, format) = (self.written, self.format.name());
            return Err(WorkloadError::NotRepresentable { number, what, format, why });
        }
        request(self.format, self.written + self.completed, self.previous, own, self.to)
            .map_err(WorkloadError::Write)?;
        self.previous = own.at.0;
        Ok(())
    }

    /// Writes that a request has completed, at the time that it has here, for blkparse; the other formats have no place for it and leave it out.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn done(&mut self, own: &Request) -> Result<(), WorkloadError> {
        if self.format != Format::Blkparse {
            return Ok(());
        }
        self.completed += 1;
        event(self.written + self.completed, 'C', own, self.to).map_err(WorkloadError::Write)
    }

    /// Writes what happened at `at` and is no request, as a message of blkparse; the other formats have no place for it and leave it out.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn remark(&mut self, at: Nanos, text: &str) -> Result<(), WorkloadError> {
        if self.format != Format::Blkparse {
            return Ok(());
        }
        let text: String =
            text.chars().map(|own| if own.is_control() { ' ' } else { own }).take(Self::REMARK).collect();
        let (seconds, rest) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000);
        writeln!(self.to, "  8,0    0        0 {seconds:5}.{rest:09}     0  m   N {text}")
            .map_err(WorkloadError::Write)
    }

    /// Ends the trace; returns how many requests it has.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(self) -> Result<u64, WorkloadError> {
        trailer(self.format, self.previous, self.to).map_err(WorkloadError::Write)?;
        self.to.flush().map_err(WorkloadError::Write)?;
        Ok(self.written)
    }
}

/// Why a request cannot be written; `None` if it can. Time below the format's resolution is dropped: 100 ns for msr, 1 us
/// for fio-iolog, vscsi, alibaba and etw, none for spc, ascii and blkparse.
fn obstacle(format: Format, request: &Request) -> Option<&'static str> {
    let command = request.command;
    let rich = matches!(format, Format::Blkparse | Format::FioIolog | Format::FioIologV2);
    match command.op {
        Op::Trim if !rich => Some("the format has no trim"),
        Op::Flush if !rich && format != Format::Etw => Some("the format has no flush"),
        Op::LbaStatus => Some("no format has queries of the LBA status"),
        _ if command.fua && format != Format::Blkparse => Some("the format has no forced unit access"),
        _ if format == Format::Vscsi && u64::from(command.sectors) * 512 > u64::from(u32::MAX) => {
            Some("the format has 32 bits for the size")
        }
        _ => None,
    }
}

/// What comes before the first request.
fn header(format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::FioIolog => writeln!(out, "fio version 3 iolog\n0 {IOLOG_FILE} add\n0 {IOLOG_FILE} open"),
        Format::FioIologV2 => writeln!(out, "fio version 2 iolog\n{IOLOG_FILE} add\n{IOLOG_FILE} open"),
        Format::Etw => {
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

/// What comes after the last request, which arrived at `at` ns.
fn trailer(format: Format, at: u64, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::FioIolog => writeln!(out, "{} {IOLOG_FILE} close", at / 1000),
        Format::FioIologV2 => writeln!(out, "{IOLOG_FILE} close"),
        _ => Ok(()),
    }
}

/// Writes request `number` (from 1); `previous` is the arrival of the one before, in ns.
fn request(
    format: Format,
    number: u64,
    previous: u64,
    request: &Request,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (at, command) = (request.at.0, request.command);
    let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
    let (offset, size) = (u128::from(lba) * 512, sectors * 512);
    let read = command.op == Op::Read;
    match format {
        Format::Msr => {
            let ticks = FILETIME_1970 + at / 100;
            writeln!(out, "{ticks},outlast,0,{},{offset},{size},0", if read { "Read" } else { "Write" })
        }
        Format::Spc => {
            let code = if read { 'r' } else { 'w' };
            writeln!(out, "0,{lba},{size},{code},{}.{:09}", at / 1_000_000_000, at % 1_000_000_000)
        }
        Format::Ascii => writeln!(out, "{at} 0 {lba} {sectors} {}", u8::from(read)),
        Format::Alibaba => writeln!(out, "0,{},{offset},{size},{}", if read { 'R' } else { 'W' }, at / 1000),
        Format::Blkparse => event(number, 'Q', request, out),
        Format::Etw => disk_event(request, out),
        Format::FioIolog | Format::FioIologV2 => {
            let action = match command.op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Trim => "trim",
                Op::Flush | Op::LbaStatus => "sync",
            };
            if format == Format::FioIolog {
                return writeln!(out, "{} {IOLOG_FILE} {action} {offset} {size}", at / 1000);
            }
            // The difference of the rounded times, so that rounding does not add up.
            let wait = at / 1000 - previous / 1000;
            if wait > 0 {
                writeln!(out, "{IOLOG_FILE} wait {wait} 0")?;
            }
            writeln!(out, "{IOLOG_FILE} {action} {offset} {size}")
        }
        Format::Vscsi => {
            let wide = lba > u64::from(u32::MAX);
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
        Format::Auto => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "auto cannot be written: name a format"))
        }
    }
}

/// An event of Windows.
fn disk_event(request: &Request, out: &mut dyn Write) -> io::Result<()> {
    let (at, command) = (request.at.0 / 1000, request.command);
    let (offset, size) = (u128::from(command.lba.0) * 512, u64::from(command.sectors) * 512);
    let name = match command.op {
        Op::Read => "DiskRead",
        Op::Write => "DiskWrite",
        _ => return writeln!(out, "{:>15}, {at}, outlast ( 0), 0, 0x0, 0, 0", "DiskFlush"),
    };
    writeln!(out, "{name:>15}, {at}, outlast ( 0), 0, 0x0, {offset:#012x}, {size:#010x}, 0, 0")
}

/// A line of blkparse: what becomes of a request.
fn event(number: u64, action: char, request: &Request, out: &mut dyn Write) -> io::Result<()> {
    let (at, command) = (request.at.0, request.command);
    let time = format!("{:5}.{:09}", at / 1_000_000_000, at % 1_000_000_000);
    let rwbs = match (command.op, command.fua) {
        (Op::Read, _) => "R",
        (Op::Write, false) => "W",
        (Op::Write, true) => "WF",
        (Op::Trim, _) => "D",
        (Op::Flush | Op::LbaStatus, _) => {
            return writeln!(out, "  8,0    0 {number:8} {time}     0  {action} FWS [outlast]");
        }
    };
    let (lba, sectors) = (command.lba, command.sectors);
    writeln!(out, "  8,0    0 {number:8} {time}     0  {action} {rwbs:>3} {lba} + {sectors} [outlast]")
}

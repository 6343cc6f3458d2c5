//! Requests of a caller, what becomes of them, and what they amount to.

use crate::failure::CallFailure;
use outlast_device::{Command, Op, Outcome};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

/// A request of the caller.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest<'a> {
    /// Read, write, trim or flush.
    pub op: Op,
    /// First byte, a multiple of a sector. Ignored by a flush.
    pub offset: u64,
    /// Bytes, a multiple of a sector and not 0. Ignored by a flush.
    pub length: u64,
    /// Name that the completion has.
    pub name: u64,
    /// True for a write that completes only when it is on flash.
    pub fua: bool,
    /// Contents of a write, as long as it. They must be given where the device keeps contents, and are ignored elsewhere.
    pub data: Option<&'a [u8]>,
}

impl HostRequest<'_> {
    /// Command that the device is given.
    ///
    /// # Errors
    /// An address or a length that is no whole number of sectors, or a length that no command has.
    pub(crate) fn command(&self) -> Result<Command, CallFailure> {
        if self.op == Op::Flush {
            return Ok(Command::FLUSH);
        }
        let in_sectors = |name: &str, bytes: u64| {
            let whole = bytes.is_multiple_of(SECTOR_BYTES).then_some(bytes / SECTOR_BYTES);
            whole.ok_or_else(|| {
                CallFailure::argument(format!(
                    "{name} = {bytes}: must be a multiple of {SECTOR_BYTES}, a sector's bytes"
                ))
            })
        };
        let (lba, sectors) = (in_sectors("offset", self.offset)?, in_sectors("length", self.length)?);
        let sectors = u32::try_from(sectors).ok().filter(|&sectors| sectors != 0).ok_or_else(|| {
            let most = u64::from(u32::MAX) * SECTOR_BYTES;
            CallFailure::argument(format!("length = {}: must be from {SECTOR_BYTES} to {most}", self.length))
        })?;
        Ok(Command { fua: self.fua && self.op == Op::Write, ..Command::new(self.op, Lba(lba), sectors) })
    }
}

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCompletion {
    /// Name that the caller gave it.
    pub name: u64,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it ended.
    pub at: Nanos,
    /// How.
    pub outcome: Outcome,
    /// Contents of a read, where the device keeps contents; else empty.
    pub data: Vec<u8>,
}

/// Totals since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostTotals {
    /// Requests that have ended, whatever became of them.
    pub requests: u64,
    /// Requests that were not served.
    pub failed: u64,
    /// Bytes of reads that were served.
    pub read_bytes: u64,
    /// Bytes of writes that were served.
    pub written_bytes: u64,
    /// Bytes that flash programmed, of all drives.
    pub programmed_bytes: u64,
    /// Blocks that flash erased, of all drives.
    pub erased_blocks: u64,
    /// Mean P/E cycles of the blocks, of all drives.
    pub mean_cycles: f64,
}

//! Requests of clients to the device behind an export.

use outlast_units::Bytes;

use crate::{ErrorCode, MetaContext, MetaContexts, StatusExtent};

/// Name of a request in flight: dense from 0, below [`crate::ConnectionLimits::requests`], free again once the request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// A checked request: it lies within the export, respects the block sizes, and is allowed by the export's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdRequest<'a> {
    /// Name of the request.
    pub id: RequestId,
    /// Offset in the export, in bytes; 0 for a flush.
    pub offset: u64,
    /// Length in bytes; 0 only for a flush.
    pub length: Bytes,
    /// Command of the request.
    pub command: NbdCommand<'a>,
}

/// Commands, each with the methods that answer it. [`crate::NbdConnection::fail`] answers all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand<'a> {
    /// Read: [`crate::NbdConnection::read`] or [`crate::NbdConnection::read_parts`]. At most the largest block size.
    Read,
    /// Write: [`crate::NbdConnection::done`]. At most the largest block size.
    Write {
        /// Data, lent from the input buffer until the connection is next called.
        data: &'a [u8],
        /// Forced unit access: to be answered when the write would survive a loss of power.
        fua: bool,
    },
    /// Flush: [`crate::NbdConnection::done`], when every write answered before the flush arrived, on any connection, would survive a loss of power.
    Flush,
    /// Deallocation, if the device can make use of it: [`crate::NbdConnection::done`]. May be as long as the export.
    Trim {
        /// Forced unit access.
        fua: bool,
    },
    /// Zeroing, after which the range reads as zeroes: [`crate::NbdConnection::done`]. May be as long as the export.
    WriteZeroes {
        /// Forced unit access.
        fua: bool,
        /// Allows deallocation instead of stored zeroes.
        may_punch: bool,
        /// Requires zeroing faster than writing, or failure at once with [`ErrorCode::NotSup`].
        fast: bool,
    },
    /// Announcement of a read: [`crate::NbdConnection::done`]. May be as long as the export.
    Cache,
    /// Query for the state of a range: [`crate::NbdConnection::extents`]. May be as long as the export.
    Status {
        /// Contexts to be answered for, at least one.
        contexts: MetaContexts,
        /// True if one extent of each context suffices.
        one: bool,
    },
}

/// A run of bytes in the answer to a read. The first begins at the request's offset, each further one at the end of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPart<'a> {
    /// Bytes that were read.
    Data(&'a [u8]),
    /// Number of bytes that read as zeroes.
    Zero(u32),
    /// Number of bytes that could not be read, with the error.
    Failed(u32, ErrorCode),
}

impl ReadPart<'_> {
    /// Length in bytes.
    pub fn length(&self) -> u64 {
        match *self {
            Self::Data(data) => data.len() as u64,
            Self::Zero(length) | Self::Failed(length, _) => u64::from(length),
        }
    }
}

/// A context and its extents: see [`crate::NbdConnection::extents`].
pub type ContextExtents<'a> = (MetaContext, &'a [StatusExtent]);

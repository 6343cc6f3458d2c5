//! What a client asks of the device behind an export.

use outlast_units::Bytes;

use crate::{Context, Contexts, ErrorCode, Extent};

/// The connection's name for a request in flight: dense from 0, below [`crate::Limits::requests`], and used again once it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// One request, checked: it lies within the export, keeps to the block sizes, and is one that the export's features allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Its name in the answer.
    pub id: RequestId,
    /// Where in the export it begins, in bytes. 0 for a flush.
    pub offset: u64,
    /// Its length; 0 only for a flush.
    pub length: Bytes,
    /// What to do.
    pub op: Op<'a>,
}

/// The kinds of request. Each says how it is answered; each can be answered with [`crate::Connection::fail`], too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<'a> {
    /// Read: [`crate::Connection::read`] or [`crate::Connection::read_parts`]. Not longer than the largest block size.
    Read,
    /// Write: [`crate::Connection::done`]. Not longer than the largest block size.
    Write {
        /// What to write, where the socket has put it: it is lent until the connection is next called.
        data: &'a [u8],
        /// Answered only when it would survive a loss of power.
        fua: bool,
    },
    /// Answered when every write that was answered before this came, on whatever connection, would survive a loss of power:
    /// [`crate::Connection::done`].
    Flush,
    /// Nobody needs the data any more, if that is of use to know: [`crate::Connection::done`]. May be as long as the export.
    Trim {
        /// As for writes.
        fua: bool,
    },
    /// Afterwards the range reads as zeroes: [`crate::Connection::done`]. May be as long as the export.
    WriteZeroes {
        /// As for writes.
        fua: bool,
        /// Whether nothing need be stored for it.
        may_punch: bool,
        /// To be done faster than writing, or to fail at once with [`ErrorCode::NotSup`].
        fast: bool,
    },
    /// The range will be read soon: [`crate::Connection::done`]. May be as long as the export.
    Cache,
    /// What these contexts say of the range: [`crate::Connection::extents`]. May be as long as the export.
    Status {
        /// The contexts to be answered for, at least one.
        contexts: Contexts,
        /// Whether one extent of each is all that is wanted.
        one: bool,
    },
}

/// A run of bytes of the answer to a read. The first begins at the request's offset, each further one where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// These bytes.
    Data(&'a [u8]),
    /// So many zeroes.
    Zero(u32),
    /// So many bytes could not be read.
    Failed(u32, ErrorCode),
}

impl Part<'_> {
    /// Bytes that it stands for.
    pub fn length(&self) -> u64 {
        match *self {
            Self::Data(data) => data.len() as u64,
            Self::Zero(length) | Self::Failed(length, _) => u64::from(length),
        }
    }
}

/// What one context says: see [`crate::Connection::extents`].
pub type ContextExtents<'a> = (Context, &'a [Extent]);

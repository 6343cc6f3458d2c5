//! A client's socket.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A socket that never blocks.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Made ready for the loop.
    pub(crate) fn prepared(self) -> io::Result<Self> {
        match &self {
            Self::Unix(stream) => stream.set_nonblocking(true)?,
            Self::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                // Replies leave once a turn, in one write: nothing is gained by waiting for more.
                stream.set_nodelay(true)?;
            }
        }
        Ok(self)
    }

    /// Reads; `None` where nothing is there yet.
    pub(crate) fn read(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        tried(match self {
            Self::Unix(stream) => stream.read(space),
            Self::Tcp(stream) => stream.read(space),
        })
    }

    /// Writes; `None` where the client has to read first.
    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        tried(match self {
            Self::Unix(stream) => stream.write_vectored(slices),
            Self::Tcp(stream) => stream.write_vectored(slices),
        })
    }
}

fn tried(outcome: io::Result<usize>) -> io::Result<Option<usize>> {
    match outcome {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

//! Socket of a client.

use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Non-blocking socket.
#[derive(Debug)]
pub(crate) enum ClientStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl ClientStream {
    /// Sets the options that the loop needs.
    pub(crate) fn prepared(self) -> io::Result<Self> {
        match &self {
            Self::Unix(stream) => stream.set_nonblocking(true)?,
            Self::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                // Replies leave once a turn in one write, so waiting for more gains nothing.
                stream.set_nodelay(true)?;
            }
        }
        Ok(self)
    }

    /// The server's own address of a TCP connection.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(stream) => stream.local_addr().ok(),
        }
    }

    /// Reads; `None` if nothing is there yet.
    pub(crate) fn read(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        tried(match self {
            Self::Unix(stream) => stream.read(space),
            Self::Tcp(stream) => stream.read(space),
        })
    }

    /// Writes; `None` if the client must read first.
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

impl AsFd for ClientStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

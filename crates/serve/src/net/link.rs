//! A client's socket, in plain text or within TLS.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

use super::Stream;

/// Encrypted bytes that are read at once.
const RAW: usize = 64 << 10;
/// Encrypted bytes that may wait to be sent: more leave with the next write.
const SEALED: usize = 256 << 10;

/// System calls on sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

impl std::ops::AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

/// A socket that never blocks, and TLS on it from [`Link::secure`] on.
#[derive(Debug)]
pub(crate) struct Link {
    stream: Stream,
    tls: Option<Box<Tls>>,
    pub(crate) calls: Calls,
}

/// One side of TLS, and what the socket has brought for it.
#[derive(Debug)]
struct Tls {
    connection: ServerConnection,
    raw: Vec<u8>,
    /// What of `raw` has come and was not given to `connection`.
    held: std::ops::Range<usize>,
    /// Whether the client has said that nothing follows.
    is_over: bool,
}

impl Link {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, tls: None, calls: Calls::default() }
    }

    /// From now on the two sides agree on keys; what has been written before and has not left yet is plain text.
    pub(crate) fn secure(&mut self, config: Arc<ServerConfig>) -> Result<(), rustls::Error> {
        let mut connection = ServerConnection::new(config)?;
        connection.set_buffer_limit(Some(SEALED));
        self.tls = Some(Box::new(Tls { connection, raw: vec![0; RAW], held: 0..0, is_over: false }));
        Ok(())
    }

    /// Returns whether bytes in both directions are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.connection.is_handshaking())
    }

    /// Whether the two sides still agree on keys: nothing of the protocol goes either way.
    #[inline]
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.connection.is_handshaking())
    }

    /// Goes on with the handshake. Whether it is over.
    pub(crate) fn shake(&mut self) -> io::Result<bool> {
        if !self.fetch()? {
            return Ok(false);
        }
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.connection.is_handshaking() && !tls.held.is_empty() {
            tls.open(&mut self.stream)?;
        }
        Ok(!tls.connection.is_handshaking())
    }

    /// Reads what the client has sent; `None` where nothing is there yet.
    pub(crate) fn read(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        if self.tls.is_none() {
            self.calls.reads += 1;
            return self.stream.read(space);
        }
        match self.read_held(space)? {
            None if self.fetch()? => self.read_held(space),
            found => Ok(found),
        }
    }

    /// As [`Link::read`], of what the socket has brought before: nobody else will say that it is there.
    #[inline]
    pub(crate) fn read_held(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => Ok(None),
            Some(tls) => tls.read(space, &mut self.stream),
        }
    }

    /// Reads from the socket, where nothing is held. Whether there was anything; an end without TLS's own is an error.
    fn fetch(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(false) };
        if tls.held.is_empty() {
            self.calls.reads += 1;
            match self.stream.read(&mut tls.raw)? {
                None => return Ok(false),
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(count) => tls.held = 0..count,
            }
        }
        Ok(true)
    }

    /// Writes; `None` where the client has to read first. Within TLS what is taken leaves with [`Link::flush`] at the latest.
    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        let Some(tls) = self.tls.as_mut().filter(|tls| !tls.connection.is_handshaking()) else {
            self.calls.writes += 1;
            return self.stream.write(slices);
        };
        let taken = tls.connection.writer().write_vectored(slices)?;
        if taken > 0 || !self.flush()? {
            return Ok((taken > 0).then_some(taken));
        }
        let Some(tls) = &mut self.tls else { return Ok(None) };
        tls.connection.writer().write_vectored(slices).map(Some)
    }

    /// Sends what TLS has. Whether all has left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.connection.wants_write() {
            self.calls.writes += 1;
            match tls.connection.write_tls(&mut Sink(&mut self.stream)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Says, within TLS, that nothing follows, so that the client knows the end from one that somebody else has made.
    pub(crate) fn end(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.connection.send_close_notify();
            // Who does not listen any more need not know.
            let _ = self.flush();
        }
    }

    /// Whether TLS has something that the client must read first.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.connection.wants_write())
    }
}

impl Tls {
    /// Opens a part of what is held. What is no TLS, or is of somebody who is not let in, is told to the client, if it listens.
    fn open(&mut self, stream: &mut Stream) -> io::Result<()> {
        let mut held = &self.raw[self.held.clone()];
        self.held.start += self.connection.read_tls(&mut held)?;
        self.connection.process_new_packets().map(|_| ()).map_err(|error| {
            let _ = self.connection.write_tls(&mut Sink(stream));
            io::Error::new(io::ErrorKind::InvalidData, error)
        })
    }

    /// Opens as much of what is held as there is space for; `Some(0)` at the end.
    fn read(&mut self, space: &mut [u8], stream: &mut Stream) -> io::Result<Option<usize>> {
        let mut count = 0;
        while count < space.len() && !self.is_over {
            match self.connection.reader().read(&mut space[count..]) {
                Ok(0) => self.is_over = true,
                Ok(more) => count += more,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Err(_) if self.held.is_empty() => break,
                Err(_) => self.open(stream)?,
            }
        }
        Ok((count > 0 || self.is_over).then_some(count))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The socket as TLS wants it: what would block is an error.
struct Sink<'a>(&'a mut Stream);

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.write(slices)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

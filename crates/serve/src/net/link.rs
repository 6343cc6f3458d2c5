//! Socket of a client, in plain text or with TLS.

use std::io::{self, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

use super::ClientStream;

/// Encrypted bytes read with one call.
const RAW: usize = 64 << 10;
/// Most encrypted bytes that wait to be sent; more plain text is taken when they have left.
const SEALED: usize = 256 << 10;

/// Number of system calls on sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketCalls {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

impl std::ops::AddAssign for SocketCalls {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

/// Non-blocking socket of a client, with TLS after [`ClientLink::secure`].
#[derive(Debug)]
pub(crate) struct ClientLink {
    stream: ClientStream,
    tls: Option<Box<TlsChannel>>,
    pub(crate) calls: SocketCalls,
}

/// State of TLS, with encrypted input that was not decrypted yet.
#[derive(Debug)]
struct TlsChannel {
    connection: ServerConnection,
    raw: Vec<u8>,
    /// Part of `raw` that was received and not passed to `connection`.
    held: std::ops::Range<usize>,
    /// Set once the client has closed its side within TLS.
    is_over: bool,
}

impl ClientLink {
    pub(crate) fn new(stream: ClientStream) -> Self {
        Self { stream, tls: None, calls: SocketCalls::default() }
    }

    /// Begins a TLS handshake. Output that was written before and has not left yet is sent as plain text.
    pub(crate) fn secure(&mut self, config: Arc<ServerConfig>) -> Result<(), rustls::Error> {
        let mut connection = ServerConnection::new(config)?;
        // Bounds the memory of a client that does not read.
        connection.set_buffer_limit(Some(SEALED));
        self.tls = Some(Box::new(TlsChannel { connection, raw: vec![0; RAW], held: 0..0, is_over: false }));
        Ok(())
    }

    /// The server's own address of a TCP connection.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.stream.local_address()
    }

    /// True if bytes in both directions are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.connection.is_handshaking())
    }

    /// True during the handshake, when no bytes of the protocol are exchanged.
    #[inline]
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.connection.is_handshaking())
    }

    /// Continues the handshake. True once it is over.
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

    /// Reads input; `None` if there is none yet.
    pub(crate) fn read(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        if self.tls.is_none() {
            self.calls.reads += 1;
            return self.stream.read(space);
        }
        match self.read_held(space)? {
            None if self.fetch()? => self.read_held(space),
            outcome => Ok(outcome),
        }
    }

    /// As [`ClientLink::read`], without a system call: the poller does not report input that TLS has received already.
    #[inline]
    pub(crate) fn read_held(&mut self, space: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.tls {
            None => Ok(None),
            Some(tls) => tls.read(space, &mut self.stream),
        }
    }

    /// Reads encrypted input if none is held. False if there is none. An end of the connection without TLS's own end is an error, since an attacker
    /// could cause it.
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

    /// Writes output; `None` if the client must read first. With TLS, output may wait until [`ClientLink::flush`].
    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        let Some(tls) = self.tls.as_mut().filter(|tls| !tls.connection.is_handshaking()) else {
            self.calls.writes += 1;
            return self.stream.write(slices);
        };
        // If the buffer of TLS is full, some of it is sent and the write repeated.
        let taken = tls.connection.writer().write_vectored(slices)?;
        if taken > 0 || !self.flush()? {
            return Ok((taken > 0).then_some(taken));
        }
        let Some(tls) = &mut self.tls else { return Ok(None) };
        tls.connection.writer().write_vectored(slices).map(Some)
    }

    /// Sends encrypted output. True if all has left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.connection.wants_write() {
            self.calls.writes += 1;
            match tls.connection.write_tls(&mut TlsSink(&mut self.stream)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Announces the end within TLS, so that the client can tell it from a connection that was cut.
    pub(crate) fn end(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.connection.send_close_notify();
            // Best effort: the client may be gone.
            let _ = self.flush();
        }
    }

    /// True if encrypted output waits for the client to read.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.connection.wants_write())
    }
}

impl TlsChannel {
    /// Decrypts a part of the held input. Errors of the handshake are reported to the client if it still reads.
    fn open(&mut self, stream: &mut ClientStream) -> io::Result<()> {
        let mut held = &self.raw[self.held.clone()];
        self.held.start += self.connection.read_tls(&mut held)?;
        self.connection.process_new_packets().map(|_| ()).map_err(|error| {
            let _ = self.connection.write_tls(&mut TlsSink(stream));
            io::Error::new(io::ErrorKind::InvalidData, error)
        })
    }

    /// Decrypts held input as far as there is space; `Some(0)` at the end.
    fn read(&mut self, space: &mut [u8], stream: &mut ClientStream) -> io::Result<Option<usize>> {
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

impl AsFd for ClientLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Adapter for rustls: an operation that would block is an error there.
struct TlsSink<'a>(&'a mut ClientStream);

impl Write for TlsSink<'_> {
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

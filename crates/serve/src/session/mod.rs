//! One client: its socket and its side of the protocol.

mod backend;
mod front;

pub(crate) use backend::{Answer, Backend, Origin, Target};
pub(crate) use front::{Front, HANDSHAKE};

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use outlast_nbd::{Connection, Event, RequestId, Server};

use crate::net::{Interest, Stream};

/// Slices of one gathered write; more leave with the next.
const SLICES: usize = 64;

/// A client's session.
#[derive(Debug)]
pub(crate) struct Session {
    stream: Stream,
    connection: Connection,
    /// What it has opened.
    target: Option<Target>,
    /// When it connected, by the system's monotonic clock.
    born: Duration,
    /// What its socket is waited for.
    interest: Interest,
    /// Tells it from sessions that had its number before.
    generation: u32,
    /// Whether it is in the list of those to be looked at.
    is_listed: bool,
}

impl Session {
    fn new(stream: Stream, server: Arc<Server>, born: Duration, generation: u32) -> Self {
        let connection = Connection::new(server);
        let interest = Interest { input: true, output: false };
        Self { stream, connection, target: None, born, interest, generation, is_listed: false }
    }

    /// Reads what the socket has. Whether the client is still there.
    fn read(&mut self) -> bool {
        let space = self.connection.space();
        if space.is_empty() {
            return true;
        }
        match self.stream.read(space) {
            Ok(None) => true,
            Ok(Some(0)) | Err(_) => false,
            Ok(Some(count)) => {
                self.connection.filled(count);
                true
            }
        }
    }

    /// Hands all that the client asks to `backend`. Whether the session goes on.
    fn listen(&mut self, number: u32, backend: &mut impl Backend) -> bool {
        let generation = self.generation;
        loop {
            let Some(event) = self.connection.poll() else { return true };
            match event {
                Event::Request(request) => {
                    let Some(target) = self.target else { return false };
                    backend.request(target, Origin { session: number, generation, id: request.id }, &request);
                }
                Event::Opened => {
                    let opened = self.connection.export();
                    self.target = opened.and_then(|(_, export)| backend.open(&export.name));
                    if self.target.is_none() {
                        return false;
                    }
                }
                Event::StartTls => return false,
                Event::Ended(_) => {}
            }
        }
    }

    /// The answer to a request.
    fn give(&mut self, id: RequestId, answer: Answer) {
        match answer {
            Answer::Done => self.connection.done(id),
            Answer::Data(data) => self.connection.read(id, data),
            Answer::Extents(extents) => {
                let extents: Vec<_> = extents.iter().map(|(context, own)| (*context, &own[..])).collect();
                self.connection.extents(id, &extents);
            }
            Answer::Failed(failure) => self.connection.fail(id, failure),
        }
    }

    /// Sends what there is to be sent. Whether the client is still there.
    fn send(&mut self) -> bool {
        while self.connection.output_len() > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, bytes) in slices.iter_mut().zip(self.connection.output()) {
                *slice = IoSlice::new(bytes);
                count += 1;
            }
            match self.stream.write(&slices[..count]) {
                Ok(None) => return true,
                Ok(Some(0)) | Err(_) => return false,
                Ok(Some(sent)) => self.connection.sent(sent),
            }
        }
        true
    }

    /// What its socket is to be waited for, if that has changed.
    fn changed_interest(&mut self) -> Option<Interest> {
        let interest =
            Interest { input: self.connection.wants_input(), output: self.connection.output_len() > 0 };
        (interest != std::mem::replace(&mut self.interest, interest)).then_some(interest)
    }

    /// Whether it still negotiates, `HANDSHAKE` after it began.
    fn is_overdue(&self, now: Duration) -> bool {
        self.target.is_none() && now.saturating_sub(self.born) >= HANDSHAKE
    }
}

/// The system has not enough for another client; those that are there go on.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let known = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::CONNABORTED, Errno::INTR];
    rustix::io::Errno::from_io_error(error).is_some_and(|error| known.contains(&error))
}

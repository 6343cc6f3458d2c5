//! One client: its socket and its side of the protocol.

mod backend;
mod front;
mod room;

pub(crate) use backend::{Answer, Backend, Origin, Target};
pub(crate) use front::{CLIENTS_MEMORY, Front, HANDSHAKE};

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use outlast_nbd::{Connection, End, Event, RequestId, Server};

use rustls::ServerConfig;

use crate::net::{Interest, Link};
use room::{EACH, Room};

/// Slices of one gathered write; more leave with the next.
const SLICES: usize = 64;

/// A client's session.
#[derive(Debug)]
pub(crate) struct Session {
    link: Link,
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
    /// What its client makes the server hold, as [`Room`] knows it.
    held: u64,
    /// Bytes that have gone either way, and how many had when the session was last looked over.
    moved: u64,
    seen: u64,
}

impl Session {
    fn new(link: Link, server: Arc<Server>, born: Duration, generation: u32) -> Self {
        let connection = Connection::new(server);
        let interest = Interest { input: true, output: false };
        Self {
            link,
            connection,
            target: None,
            born,
            interest,
            generation,
            is_listed: false,
            held: 0,
            moved: 0,
            seen: 0,
        }
    }

    /// Reads what the socket has. Whether the client is still there.
    fn read(&mut self) -> bool {
        if self.link.is_handshaking() {
            return match self.link.shake() {
                Ok(true) => {
                    self.connection.tls_started();
                    true
                }
                Ok(false) => true,
                Err(_) => false,
            };
        }
        let space = self.connection.space();
        if space.is_empty() {
            return true;
        }
        match self.link.read(space) {
            Ok(None) => true,
            Ok(Some(0)) | Err(_) => false,
            Ok(Some(count)) => {
                self.moved += count as u64;
                self.connection.filled(count);
                true
            }
        }
    }

    /// Takes in what the socket has brought and there was no room for. `None` where the client is not there any more.
    fn take_in(&mut self) -> Option<bool> {
        if self.link.is_handshaking() {
            return Some(false);
        }
        let space = self.connection.space();
        if space.is_empty() {
            return Some(false);
        }
        match self.link.read_held(space) {
            Ok(None) => Some(false),
            Ok(Some(0)) | Err(_) => None,
            Ok(Some(count)) => {
                self.connection.filled(count);
                Some(true)
            }
        }
    }

    /// Hands what the client asks to `backend`, as far as there is `room` for it. Whether the session goes on.
    fn listen(
        &mut self,
        number: u32,
        tls: Option<&Arc<ServerConfig>>,
        backend: &mut impl Backend,
        room: &mut Room,
    ) -> bool {
        self.connection.allow(room.allowance(self.held));
        let goes_on = self.listen_within(number, tls, backend);
        let held = self.connection.held();
        room.changed(self.held, held);
        self.held = held;
        if self.connection.is_short() {
            room.note_short();
        }
        goes_on
    }

    /// Whether it has moved a byte since this was last asked.
    fn has_moved(&mut self) -> bool {
        std::mem::replace(&mut self.seen, self.moved) != self.moved
    }

    /// Whether it keeps more memory than each may, and it is the client that does not go on: it leaves replies lying, or has stopped within a message.
    fn keeps_others_waiting(&self) -> bool {
        let is_idle = self.connection.in_flight() == 0 && !self.connection.is_short();
        self.held > EACH && (self.connection.output_len() > 0 || is_idle)
    }

    fn listen_within(
        &mut self,
        number: u32,
        tls: Option<&Arc<ServerConfig>>,
        backend: &mut impl Backend,
    ) -> bool {
        let generation = self.generation;
        loop {
            let Some(event) = self.connection.poll() else {
                match self.take_in() {
                    Some(true) => continue,
                    Some(false) => return true,
                    None => return false,
                }
            };
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
                Event::StartTls => {
                    if tls.is_none_or(|tls| self.link.secure(tls.clone()).is_err()) {
                        return false;
                    }
                }
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
            match self.link.write(&slices[..count]) {
                Ok(None) => return true,
                Ok(Some(0)) | Err(_) => return false,
                Ok(Some(sent)) => {
                    self.moved += sent as u64;
                    self.connection.sent(sent);
                }
            }
        }
        self.link.flush().is_ok()
    }

    /// Whether the client is to be read from.
    fn wants_input(&self) -> bool {
        self.connection.wants_input() || self.link.is_handshaking()
    }

    /// What its socket is to be waited for, if that has changed.
    fn changed_interest(&mut self) -> Option<Interest> {
        let output = self.connection.output_len() > 0 || self.link.has_output();
        let interest = Interest { input: self.wants_input(), output };
        (interest != std::mem::replace(&mut self.interest, interest)).then_some(interest)
    }

    /// Whether nothing is left to be said.
    fn is_over(&self) -> bool {
        let is_heard = matches!(self.connection.end(), Some(End::Violation(_))) || !self.link.has_output();
        self.connection.is_finished() && is_heard
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

//! One client: its socket, and its session of whatever protocol.

mod backend;
mod doors;
mod front;
mod room;

pub(crate) use backend::{Backend, Origin, Target};
pub(crate) use doors::Door;
pub(crate) use front::{CLIENTS_MEMORY, Front, HANDSHAKE};

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use crate::net::{Interest, Link};
use crate::protocol::{Answer, Offer, RequestTag, SessionEnd, SessionEvent, WireSession};
use crate::tls::{Encryption, TlsPolicy};
use room::{EACH, Room};

/// Slices of one gathered write; more leave with the next.
const SLICES: usize = 64;

/// A client's session.
#[derive(Debug)]
pub(crate) struct Session {
    link: Link,
    wire: Box<dyn WireSession>,
    /// The offer when it connected.
    offer: Arc<Offer>,
    /// The target that it has opened, and the number of the export in the offer.
    target: Option<Target>,
    export: usize,
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
    fn new(
        link: Link,
        wire: Box<dyn WireSession>,
        offer: Arc<Offer>,
        born: Duration,
        generation: u32,
    ) -> Self {
        let interest = Interest { input: true, output: false };
        Self {
            link,
            wire,
            offer,
            target: None,
            export: 0,
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
                    self.wire.tls_started();
                    true
                }
                Ok(false) => true,
                Err(_) => false,
            };
        }
        let space = self.wire.space();
        if space.is_empty() {
            return true;
        }
        match self.link.read(space) {
            Ok(None) => true,
            Ok(Some(0)) | Err(_) => false,
            Ok(Some(count)) => {
                self.moved += count as u64;
                self.wire.filled(count);
                true
            }
        }
    }

    /// Takes in what the socket has brought and there was no room for. `None` where the client is not there any more.
    fn take_in(&mut self) -> Option<bool> {
        if self.link.is_handshaking() {
            return Some(false);
        }
        let space = self.wire.space();
        if space.is_empty() {
            return Some(false);
        }
        match self.link.read_held(space) {
            Ok(None) => Some(false),
            Ok(Some(0)) | Err(_) => None,
            Ok(Some(count)) => {
                self.wire.filled(count);
                Some(true)
            }
        }
    }

    /// Hands what the client asks to `backend`, as far as there is `room` for it. Whether the session goes on.
    fn listen(
        &mut self,
        number: u32,
        tls: Option<&Encryption>,
        backend: &mut impl Backend,
        room: &mut Room,
    ) -> bool {
        self.wire.allow(room.allowance(self.held));
        let goes_on = self.listen_within(number, tls, backend);
        let held = self.wire.held();
        room.changed(self.held, held);
        self.held = held;
        if self.wire.is_short() {
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
        let is_idle = self.wire.in_flight() == 0 && !self.wire.is_short();
        self.held > EACH && (self.wire.output_len() > 0 || is_idle)
    }

    fn listen_within(&mut self, number: u32, tls: Option<&Encryption>, backend: &mut impl Backend) -> bool {
        let generation = self.generation;
        loop {
            let Some(event) = self.wire.poll() else {
                match self.take_in() {
                    Some(true) => continue,
                    Some(false) => return true,
                    None => return false,
                }
            };
            match event {
                SessionEvent::Request(request) => {
                    let Some(target) = self.target else { return false };
                    debug_assert!(
                        self.offer.exports()[self.export].takes(&request),
                        "a session checks requests: {request:?}"
                    );
                    backend.request(
                        target,
                        Origin { session: number, generation, tag: request.tag },
                        &request,
                    );
                }
                SessionEvent::Opened => {
                    let Some(number) = self.wire.export() else { return false };
                    // Whatever the protocol has let pass.
                    let must_encrypt = tls.is_some_and(|tls| tls.policy == TlsPolicy::Require);
                    if must_encrypt && !self.link.is_encrypted() {
                        return false;
                    }
                    self.export = number;
                    self.target = backend.open(&self.offer.exports()[number].name);
                    if self.target.is_none() {
                        return false;
                    }
                }
                SessionEvent::Secure => {
                    if tls.is_none_or(|tls| self.link.secure(tls.config.clone()).is_err()) {
                        return false;
                    }
                }
            }
        }
    }

    /// The answer to a request.
    fn give(&mut self, tag: RequestTag, answer: Answer) {
        self.wire.answer(tag, answer);
    }

    /// Sends what there is to be sent. Whether the client is still there.
    fn send(&mut self) -> bool {
        while self.wire.output_len() > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.wire.output(&mut slices);
            match self.link.write(&slices[..count]) {
                Ok(None) => return true,
                Ok(Some(0)) | Err(_) => return false,
                Ok(Some(sent)) => {
                    self.moved += sent as u64;
                    self.wire.sent(sent);
                }
            }
        }
        self.link.flush().is_ok()
    }

    /// Whether the client is to be read from.
    fn wants_input(&self) -> bool {
        self.wire.wants_input() || self.link.is_handshaking()
    }

    /// What its socket is to be waited for, if that has changed.
    fn changed_interest(&mut self) -> Option<Interest> {
        let output = self.wire.output_len() > 0 || self.link.has_output();
        let interest = Interest { input: self.wants_input(), output };
        (interest != std::mem::replace(&mut self.interest, interest)).then_some(interest)
    }

    /// Whether nothing is left to be said.
    fn is_over(&self) -> bool {
        match self.wire.end() {
            None => false,
            Some(SessionEnd::Broken) => true,
            Some(SessionEnd::Parted) => {
                self.wire.in_flight() == 0 && self.wire.output_len() == 0 && !self.link.has_output()
            }
        }
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

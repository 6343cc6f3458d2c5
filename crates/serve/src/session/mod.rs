//! One client: its socket, and its session in some protocol.

mod backend;
mod clients;
mod listeners;
mod memory;

pub(crate) use backend::{ExportTarget, RequestOrigin, SessionBackend};
pub(crate) use clients::{CLIENTS_MEMORY_LIMIT, ClientSessions, HANDSHAKE_LIMIT};
pub(crate) use listeners::ProtocolListener;

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::monotonic;
use crate::net::{ClientLink, SocketInterest};
use crate::protocol::{BlockReply, ExportOffer, RequestTag, SessionEnd, SessionEvent, WireSession};
use crate::tls::{SessionEncryption, TlsPolicy};
use memory::{ClientMemory, EACH_CLIENT};

/// Most slices of one gathered write; more output leaves with the next write.
const SLICES: usize = 64;

/// The session of a client.
#[derive(Debug)]
pub(crate) struct ClientSession {
    link: ClientLink,
    wire: Box<dyn WireSession>,
    /// Exports that were offered when the client connected.
    offer: Arc<ExportOffer>,
    /// Opened export, and its index in the offer.
    target: Option<ExportTarget>,
    export: usize,
    /// Time of the connection, on the system's monotonic clock.
    connected_at: Duration,
    /// Events for which the poller watches the socket.
    interest: SocketInterest,
    /// Tells the session from earlier ones with the same number.
    generation: u32,
    /// Set while the session is in the list of those to be handled.
    is_listed: bool,
    /// Set from an end of other sessions, which the client has brought about, until those are closed.
    has_ended_others: bool,
    /// Bytes held for the client, as counted in [`ClientMemory`].
    held: u64,
    /// Time at which the client was last heard, on the system's monotonic clock.
    heard_at: Duration,
    /// Limit of its silence when its requests were handled last.
    silence_limit: Option<Duration>,
    /// Bytes sent and received so far, and their number at the last review.
    moved_bytes: u64,
    reviewed_bytes: u64,
}

impl ClientSession {
    fn new(
        link: ClientLink,
        wire: Box<dyn WireSession>,
        offer: Arc<ExportOffer>,
        connected_at: Duration,
        generation: u32,
    ) -> Self {
        let interest = SocketInterest { input: true, output: false };
        Self {
            link,
            wire,
            offer,
            target: None,
            export: 0,
            connected_at,
            interest,
            generation,
            is_listed: false,
            has_ended_others: false,
            held: 0,
            heard_at: connected_at,
            silence_limit: None,
            moved_bytes: 0,
            reviewed_bytes: 0,
        }
    }

    /// Reads from the socket. False if the client is gone.
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
                self.moved_bytes += count as u64;
                if self.wire.silence_limit().is_some() {
                    self.heard_at = monotonic();
                }
                self.wire.filled(count);
                true
            }
        }
    }

    /// Reads bytes that TLS has received before and there was no room for. True if some were read; `None` if the client is gone.
    fn read_buffered(&mut self) -> Option<bool> {
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

    /// Passes requests of the client to `backend`, within its share of `memory`. False if the session is to be closed.
    fn handle_requests(
        &mut self,
        number: u32,
        tls: Option<&SessionEncryption>,
        backend: &mut impl SessionBackend,
        memory: &mut ClientMemory,
    ) -> bool {
        // Set anew each time: the share depends on what other clients hold.
        self.wire.allow(memory.allowance(self.held));
        let is_connected = self.poll_requests(number, tls, backend);
        let limit = self.wire.silence_limit();
        if limit != self.silence_limit {
            // While there was no limit, nobody noted when the client was heard; it has just asked for this one.
            (self.silence_limit, self.heard_at) = (limit, monotonic());
        }
        let held = self.wire.held();
        memory.update(self.held, held);
        self.held = held;
        if self.wire.is_short() {
            memory.note_shortage();
        }
        is_connected
    }

    /// True if the client has ended other sessions since the last call.
    fn take_has_ended_others(&mut self) -> bool {
        std::mem::take(&mut self.has_ended_others)
    }

    /// True if a byte was sent or received since the last call.
    fn take_has_moved(&mut self) -> bool {
        std::mem::replace(&mut self.reviewed_bytes, self.moved_bytes) != self.moved_bytes
    }

    /// True if the client holds more memory than each may, and is itself the reason: it leaves replies unread, or has stopped within a message.
    fn holds_up_others(&self) -> bool {
        // Idle with memory held: a message has begun and its end does not come.
        let is_idle = self.wire.in_flight() == 0 && !self.wire.is_short();
        self.held > EACH_CLIENT && (self.wire.output_len() > 0 || is_idle)
    }

    fn poll_requests(
        &mut self,
        number: u32,
        tls: Option<&SessionEncryption>,
        backend: &mut impl SessionBackend,
    ) -> bool {
        let generation = self.generation;
        loop {
            let Some(event) = self.wire.poll() else {
                // TLS may hold decrypted bytes that no socket event will announce.
                match self.read_buffered() {
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
                        RequestOrigin { session: number, generation, tag: request.tag },
                        &request,
                    );
                }
                SessionEvent::Opened => {
                    let Some(number) = self.wire.export() else { return false };
                    // Checked here as well, in case the protocol has let the client pass.
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
                SessionEvent::OthersEnded => self.has_ended_others = true,
                SessionEvent::Secure => {
                    if tls.is_none_or(|tls| self.link.secure(tls.config.clone()).is_err()) {
                        return false;
                    }
                }
            }
        }
    }

    /// Passes a reply to the protocol.
    fn reply(&mut self, tag: RequestTag, reply: BlockReply) {
        self.wire.reply(tag, reply);
    }

    /// Sends output as far as the socket takes it. False if the client is gone.
    fn send(&mut self) -> bool {
        while self.wire.output_len() > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.wire.output(&mut slices);
            match self.link.write(&slices[..count]) {
                Ok(None) => return true,
                Ok(Some(0)) | Err(_) => return false,
                Ok(Some(sent)) => {
                    self.moved_bytes += sent as u64;
                    self.wire.sent(sent);
                }
            }
        }
        self.link.flush().is_ok()
    }

    /// True if the socket is to be read.
    fn wants_input(&self) -> bool {
        self.wire.wants_input() || self.link.is_handshaking()
    }

    /// Events to watch the socket for, if they have changed.
    fn changed_interest(&mut self) -> Option<SocketInterest> {
        let output = self.wire.output_len() > 0 || self.link.has_output();
        let interest = SocketInterest { input: self.wants_input(), output };
        (interest != std::mem::replace(&mut self.interest, interest)).then_some(interest)
    }

    /// True if nothing remains to be sent.
    fn is_over(&self) -> bool {
        match self.wire.end() {
            None => false,
            Some(SessionEnd::Broken) => true,
            Some(SessionEnd::Parted) => {
                self.wire.in_flight() == 0 && self.wire.output_len() == 0 && !self.link.has_output()
            }
        }
    }

    /// Time at which the client will have been silent for too long, if that is limited.
    fn silent_until(&self) -> Option<Duration> {
        self.wire.silence_limit().map(|limit| self.heard_at + limit)
    }

    /// True if the client still negotiates, `HANDSHAKE_LIMIT` after it connected.
    fn is_overdue(&self, now: Duration) -> bool {
        self.target.is_none() && now.saturating_sub(self.connected_at) >= HANDSHAKE_LIMIT
    }
}

/// True if the system lacks resources for another client, or the client has gone already; the others stay.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let shortages =
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::CONNABORTED, Errno::INTR];
    rustix::io::Errno::from_io_error(error).is_some_and(|error| shortages.contains(&error))
}

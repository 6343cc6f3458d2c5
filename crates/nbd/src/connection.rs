//! One client.

use std::sync::Arc;

use crate::context::Contexts;
use crate::error::{End, Failure};
use crate::export::{Export, Server};
use crate::inbox::Inbox;
use crate::negotiate::{self, Negotiation};
use crate::outbox::Outbox;
use crate::request::{ContextExtents, Op, Part, Request, RequestId};
use crate::transmit::{self, Kind, Transmission};

/// What a connection has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The client is told that TLS begins. To be done: send what [`Connection::output`] has in plain text, do the TLS handshake, call
    /// [`Connection::tls_started`]; all further bytes in and out go through TLS. If the handshake fails, close.
    StartTls,
    /// Negotiation is over: requests for this export follow ([`Connection::export`]).
    Opened,
    /// A request. It is in flight until it is answered.
    Request(Request<'a>),
    /// The session has ended: nothing is read any more. Comes once.
    Ended(End),
}

/// The server's side of one session: a machine that is given bytes and answers, and gives events and bytes.
///
/// **Input**: [`Connection::space`] and [`Connection::filled`]. **Events**: [`Connection::poll`], until there is none. **Answers**, in
/// any order, each once: [`Connection::done`], [`Connection::read`], [`Connection::read_parts`], [`Connection::extents`],
/// [`Connection::fail`]. **Output**: [`Connection::output`] and [`Connection::sent`].
///
/// After every input, answer and `sent` there may be new events: what could not be let in for want of room may be now. A session is over
/// when [`Connection::is_finished`], or when the client closes: then the connection is dropped, and with it what is in flight.
///
/// It never blocks, and what it holds is bounded by [`Server::limits`] whatever the client sends.
#[derive(Debug)]
pub struct Connection {
    server: Arc<Server>,
    inbox: Inbox,
    out: Outbox,
    phase: Phase,
    end: Option<End>,
}

#[derive(Debug)]
enum Phase {
    Negotiating(Negotiation),
    Transmitting(Transmission),
}

impl Connection {
    /// A client that has just connected. The greeting is there to be sent.
    pub fn new(server: Arc<Server>) -> Self {
        let mut out = Outbox::default();
        let phase = Phase::Negotiating(Negotiation::new(&mut out));
        let inbox = Inbox::new(server.limits().read_ahead.0 as usize);
        Self { server, inbox, out, phase, end: None }
    }

    /// Where the next bytes from the client go. Empty when no more are wanted at present: see [`Connection::wants_input`].
    pub fn space(&mut self) -> &mut [u8] {
        if self.is_deaf() { &mut [] } else { self.inbox.space() }
    }

    /// The first `count` bytes of what [`Connection::space`] gave are from the client.
    ///
    /// # Panics
    /// If `space` did not give as many.
    pub fn filled(&mut self, count: usize) {
        assert!(count == 0 || !self.is_deaf(), "nothing comes when there was no space");
        self.inbox.filled(count);
    }

    /// Whether to read from the client. When not, events have to be taken, requests answered, output sent or TLS started first.
    pub fn wants_input(&self) -> bool {
        !self.is_deaf() && self.inbox.has_space()
    }

    fn is_deaf(&self) -> bool {
        let is_starting_tls = matches!(&self.phase, Phase::Negotiating(phase) if phase.is_starting_tls());
        self.end.is_some() || is_starting_tls
    }

    /// The next event.
    #[inline]
    pub fn poll(&mut self) -> Option<Event<'_>> {
        if self.end.is_some() {
            return None;
        }
        let step = match &mut self.phase {
            Phase::Negotiating(phase) => match phase.step(&self.server, &mut self.inbox, &mut self.out) {
                Ok(negotiate::Step::Wait) => return None,
                Ok(negotiate::Step::StartTls) => return Some(Event::StartTls),
                Ok(negotiate::Step::Abort) => return Some(self.ended(End::Aborted)),
                Ok(negotiate::Step::Open(agreed)) => {
                    self.phase = Phase::Transmitting(Transmission::new(agreed, phase.is_shutting_down()));
                    return Some(Event::Opened);
                }
                Err(violation) => return Some(self.ended(End::Violation(violation))),
            },
            Phase::Transmitting(phase) => phase.step(&self.server, &mut self.inbox, &mut self.out),
        };
        match step {
            Ok(transmit::Step::Wait) => None,
            Ok(transmit::Step::Disconnect) => Some(self.ended(End::Disconnected)),
            Err(violation) => Some(self.ended(End::Violation(violation))),
            Ok(transmit::Step::Request { id, offset, length, kind, payload }) => {
                let op = match kind {
                    Kind::Read { .. } => Op::Read,
                    Kind::Write { fua } => Op::Write { data: self.inbox.taken(payload), fua },
                    Kind::Flush => Op::Flush,
                    Kind::Trim { fua } => Op::Trim { fua },
                    Kind::WriteZeroes { fua, may_punch, fast } => Op::WriteZeroes { fua, may_punch, fast },
                    Kind::Cache => Op::Cache,
                    Kind::Status { contexts, one } => Op::Status { contexts, one },
                };
                Some(Event::Request(Request { id, offset, length: outlast_units::Bytes(length), op }))
            }
        }
    }

    fn ended(&mut self, end: End) -> Event<'static> {
        self.end = Some(end);
        if matches!(end, End::Violation(_)) {
            self.out.clear();
        }
        Event::Ended(end)
    }

    /// TLS is there: bytes from now on were decrypted, and will be encrypted.
    ///
    /// # Panics
    /// If [`Event::StartTls`] was not the last event.
    pub fn tls_started(&mut self) {
        match &mut self.phase {
            Phase::Negotiating(phase) => phase.tls_started(),
            Phase::Transmitting(_) => panic!("TLS starts during negotiation"),
        }
    }

    /// The server is going down: options and requests that come from now on are refused, saying so. Requests in flight are to be answered,
    /// with [`crate::ErrorCode::Shutdown`] if that is to be quick.
    pub fn shut_down(&mut self) {
        match &mut self.phase {
            Phase::Negotiating(phase) => phase.shut_down(),
            Phase::Transmitting(phase) => phase.shut_down(),
        }
    }

    /// The export that the client has opened, with its number in [`Server::exports`].
    pub fn export(&self) -> Option<(usize, &Export)> {
        match &self.phase {
            Phase::Negotiating(_) => None,
            Phase::Transmitting(phase) => Some((phase.export(), &self.server.exports()[phase.export()])),
        }
    }

    /// Requests that are not answered.
    pub fn in_flight(&self) -> usize {
        match &self.phase {
            Phase::Negotiating(_) => 0,
            Phase::Transmitting(phase) => phase.in_flight(),
        }
    }

    /// Contexts that a request in flight asks about: none, if it is no [`Op::Status`].
    pub fn contexts(&self, id: RequestId) -> Contexts {
        let Phase::Transmitting(phase) = &self.phase else { return Contexts::NONE };
        phase.contexts(id)
    }

    /// How the session has ended, if it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Whether the session has ended and nothing is left to be answered or sent: time to close.
    pub fn is_finished(&self) -> bool {
        match self.end {
            None => false,
            Some(End::Violation(_)) => true,
            Some(End::Aborted | End::Disconnected) => self.in_flight() == 0 && self.out.len() == 0,
        }
    }

    /// What is to be sent, in order, as slices for one gathered write.
    pub fn output(&self) -> impl Iterator<Item = &[u8]> {
        self.out.slices()
    }

    /// Bytes of [`Connection::output`].
    #[inline]
    pub fn output_len(&self) -> usize {
        self.out.len()
    }

    /// The first `count` bytes of [`Connection::output`] are sent.
    ///
    /// # Panics
    /// If there were not as many.
    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.out.sent(count);
    }

    /// What its client makes it and its caller hold, in bytes: requests in flight, replies that are not sent, and a long message that is coming
    /// in. Beside that, each connection has its read-ahead and some KiB.
    #[inline]
    pub fn held(&self) -> u64 {
        let reserved = match &self.phase {
            Phase::Negotiating(_) => 0,
            Phase::Transmitting(phase) => phase.reserved(),
        };
        reserved + (self.out.len() + self.inbox.beyond()) as u64
    }

    /// From now on requests are let in, and room is made for long messages, while it does not hold more than `bytes`: for callers that divide one
    /// memory among many clients. What it holds already it keeps. Without, [`crate::Limits`] alone bound it.
    #[inline]
    pub fn allow(&mut self, bytes: u64) {
        self.inbox.allow(usize::try_from(bytes).unwrap_or(usize::MAX));
        if let Phase::Transmitting(phase) = &mut self.phase {
            phase.allow(bytes);
        }
    }

    /// Whether something waits for [`Connection::allow`] to allow more.
    #[inline]
    pub fn is_short(&self) -> bool {
        let is_waiting = match &self.phase {
            Phase::Negotiating(_) => false,
            Phase::Transmitting(phase) => phase.is_short(),
        };
        self.end.is_none() && (is_waiting || self.inbox.is_capped())
    }

    /// Bytes that the connection has allocated: what [`Server::memory_max`] bounds.
    pub fn heap_bytes(&self) -> usize {
        let phase = match &self.phase {
            Phase::Negotiating(_) => 0,
            Phase::Transmitting(phase) => phase.heap_bytes(),
        };
        self.inbox.heap_bytes() + self.out.heap_bytes() + phase
    }

    /// A write, trim, zeroing, flush or cache is done.
    ///
    /// # Panics
    /// These five: if `id` is not in flight, or the answer is not one to such a request.
    pub fn done(&mut self, id: RequestId) {
        self.answer(|phase, _, out| phase.done(id, out));
    }

    /// A request has failed.
    ///
    /// # Panics
    /// See [`Connection::done`].
    pub fn fail<'a>(&mut self, id: RequestId, failure: impl Into<Failure<'a>>) {
        self.answer(|phase, _, out| phase.fail(id, failure.into(), out));
    }

    /// A read is done: these are its bytes, which are sent from where they are if they are many.
    ///
    /// # Panics
    /// See [`Connection::done`].
    pub fn read(&mut self, id: RequestId, data: Vec<u8>) {
        self.answer(|phase, _, out| phase.read(id, data, out));
    }

    /// A read is done, at least in part: these runs are its bytes. Without structured replies one failed run fails all of it; with them
    /// the client learns which bytes failed, and has the others.
    ///
    /// # Panics
    /// See [`Connection::done`].
    pub fn read_parts(&mut self, id: RequestId, parts: &[Part<'_>]) {
        self.answer(|phase, _, out| phase.read_parts(id, parts, out));
    }

    /// What the contexts of a status request say, each from the request's offset on: at least one extent, as many as
    /// [`crate::Limits::extents`] at most are sent, and they may end before the request does or beyond it, but with the export.
    ///
    /// # Panics
    /// See [`Connection::done`].
    pub fn extents(&mut self, id: RequestId, answers: &[ContextExtents<'_>]) {
        self.answer(|phase, server, out| phase.extents(server, id, answers, out));
    }

    #[inline]
    fn answer(&mut self, give: impl FnOnce(&mut Transmission, &Server, &mut Outbox)) {
        let Phase::Transmitting(phase) = &mut self.phase else {
            panic!("requests are answered after negotiation")
        };
        give(phase, &self.server, &mut self.out);
        if matches!(self.end, Some(End::Violation(_))) {
            self.out.clear();
        }
    }
}

//! The connection of one client.

mod answers;

use std::sync::Arc;

use crate::context::MetaContexts;
use crate::error::ConnectionEnd;
use crate::export::{NbdExport, NbdServer};
use crate::input_buffer::InputBuffer;
use crate::negotiate::{self, Negotiation};
use crate::output_queue::OutputQueue;
use crate::request::{NbdCommand, NbdRequest, RequestId};
use crate::transmit::{self, RequestKind, Transmission};

/// Event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEvent<'a> {
    /// The client has been told that TLS begins. Next: send [`NbdConnection::output`] in plain text, do the TLS handshake, call
    /// [`NbdConnection::tls_started`]; all further bytes in and out go through TLS. If the handshake fails, close the socket.
    StartTls,
    /// Negotiation is over: requests for this export follow ([`NbdConnection::export`]).
    Opened,
    /// A request, in flight until it is answered.
    Request(NbdRequest<'a>),
    /// The session has ended: no more input is read. Comes once.
    Ended(ConnectionEnd),
}

/// The server's side of one session: a state machine that takes bytes and answers, and returns events and bytes.
///
/// **Input**: [`NbdConnection::space`] and [`NbdConnection::filled`]. **Events**: [`NbdConnection::poll`], until there is none. **Answers**, in
/// any order, each once: [`NbdConnection::done`], [`NbdConnection::read`], [`NbdConnection::read_parts`], [`NbdConnection::extents`],
/// [`NbdConnection::fail`]. **Output**: [`NbdConnection::output`] and [`NbdConnection::sent`].
///
/// After every input, answer and `sent` there may be new events, since requests may have waited for room. A session is over when
/// [`NbdConnection::is_finished`], or when the client closes; then the connection is dropped, with its requests in flight.
///
/// The connection never blocks, and [`NbdServer::limits`] bound its memory whatever the client sends.
#[derive(Debug)]
pub struct NbdConnection {
    server: Arc<NbdServer>,
    input: InputBuffer,
    output: OutputQueue,
    phase: ConnectionPhase,
    end: Option<ConnectionEnd>,
}

#[derive(Debug)]
enum ConnectionPhase {
    Negotiating(Negotiation),
    Transmitting(Transmission),
}

impl NbdConnection {
    /// A connection of a client that has just connected. Its output holds the greeting.
    pub fn new(server: Arc<NbdServer>) -> Self {
        let mut output = OutputQueue::default();
        let phase = ConnectionPhase::Negotiating(Negotiation::new(&mut output));
        let input = InputBuffer::new(server.limits().read_ahead.0 as usize);
        Self { server, input, output, phase, end: None }
    }

    /// Buffer for the next bytes from the client. Empty while no input is wanted: see [`NbdConnection::wants_input`].
    pub fn space(&mut self) -> &mut [u8] {
        if self.ignores_input() { &mut [] } else { self.input.space() }
    }

    /// Notes that the first `count` bytes of [`NbdConnection::space`] have been filled.
    ///
    /// # Panics
    /// If `space` was shorter.
    pub fn filled(&mut self, count: usize) {
        assert!(count == 0 || !self.ignores_input(), "nothing comes when there was no space");
        self.input.filled(count);
    }

    /// True if the socket is to be read. Otherwise events must be taken, requests answered, output sent or TLS started first.
    pub fn wants_input(&self) -> bool {
        !self.ignores_input() && self.input.has_space()
    }

    fn ignores_input(&self) -> bool {
        let is_starting_tls =
            matches!(&self.phase, ConnectionPhase::Negotiating(phase) if phase.is_starting_tls());
        self.end.is_some() || is_starting_tls
    }

    /// Next event.
    #[inline]
    pub fn poll(&mut self) -> Option<ConnectionEvent<'_>> {
        if self.end.is_some() {
            return None;
        }
        let step = match &mut self.phase {
            ConnectionPhase::Negotiating(phase) => {
                match phase.step(&self.server, &mut self.input, &mut self.output) {
                    Ok(negotiate::NegotiationStep::Wait) => return None,
                    Ok(negotiate::NegotiationStep::StartTls) => return Some(ConnectionEvent::StartTls),
                    Ok(negotiate::NegotiationStep::Abort) => {
                        return Some(self.end_with(ConnectionEnd::Aborted));
                    }
                    Ok(negotiate::NegotiationStep::Open(agreed)) => {
                        self.phase = ConnectionPhase::Transmitting(Transmission::new(
                            agreed,
                            phase.is_shutting_down(),
                        ));
                        return Some(ConnectionEvent::Opened);
                    }
                    Err(violation) => return Some(self.end_with(ConnectionEnd::Violation(violation))),
                }
            }
            ConnectionPhase::Transmitting(phase) => {
                phase.step(&self.server, &mut self.input, &mut self.output)
            }
        };
        match step {
            Ok(transmit::TransmissionStep::Wait) => None,
            Ok(transmit::TransmissionStep::Disconnect) => Some(self.end_with(ConnectionEnd::Disconnected)),
            Err(violation) => Some(self.end_with(ConnectionEnd::Violation(violation))),
            Ok(transmit::TransmissionStep::Request { id, offset, length, kind, payload }) => {
                let command = match kind {
                    RequestKind::Read { .. } => NbdCommand::Read,
                    RequestKind::Write { fua } => NbdCommand::Write { data: self.input.taken(payload), fua },
                    RequestKind::Flush => NbdCommand::Flush,
                    RequestKind::Trim { fua } => NbdCommand::Trim { fua },
                    RequestKind::WriteZeroes { fua, may_punch, fast } => {
                        NbdCommand::WriteZeroes { fua, may_punch, fast }
                    }
                    RequestKind::Cache => NbdCommand::Cache,
                    RequestKind::Status { contexts, one } => NbdCommand::Status { contexts, one },
                };
                Some(ConnectionEvent::Request(NbdRequest {
                    id,
                    offset,
                    length: outlast_units::Bytes(length),
                    command,
                }))
            }
        }
    }

    fn end_with(&mut self, end: ConnectionEnd) -> ConnectionEvent<'static> {
        self.end = Some(end);
        if matches!(end, ConnectionEnd::Violation(_)) {
            // After a violation nothing is sent any more.
            self.output.clear();
        }
        ConnectionEvent::Ended(end)
    }

    /// Notes that TLS is set up: all bytes in and out are now those within TLS.
    ///
    /// # Panics
    /// If [`ConnectionEvent::StartTls`] was not the last event.
    pub fn tls_started(&mut self) {
        match &mut self.phase {
            ConnectionPhase::Negotiating(phase) => phase.tls_started(),
            ConnectionPhase::Transmitting(_) => panic!("TLS starts during negotiation"),
        }
    }

    /// Refuses further options and requests, since the server ends. Requests in flight are still to be answered, with [`crate::ErrorCode::Shutdown`]
    /// if that must be quick.
    pub fn shut_down(&mut self) {
        match &mut self.phase {
            ConnectionPhase::Negotiating(phase) => phase.shut_down(),
            ConnectionPhase::Transmitting(phase) => phase.shut_down(),
        }
    }

    /// Export that the client has opened, with its index in [`NbdServer::exports`].
    pub fn export(&self) -> Option<(usize, &NbdExport)> {
        match &self.phase {
            ConnectionPhase::Negotiating(_) => None,
            ConnectionPhase::Transmitting(phase) => {
                Some((phase.export(), &self.server.exports()[phase.export()]))
            }
        }
    }

    /// Number of requests in flight.
    pub fn in_flight(&self) -> usize {
        match &self.phase {
            ConnectionPhase::Negotiating(_) => 0,
            ConnectionPhase::Transmitting(phase) => phase.in_flight(),
        }
    }

    /// Contexts that a request in flight asks for; none unless it is [`NbdCommand::Status`].
    pub fn contexts(&self, id: RequestId) -> MetaContexts {
        let ConnectionPhase::Transmitting(phase) = &self.phase else { return MetaContexts::NONE };
        phase.contexts(id)
    }

    /// End of the session, if it has ended.
    pub fn end(&self) -> Option<ConnectionEnd> {
        self.end
    }

    /// True if the session has ended and everything is answered and sent: the socket can be closed.
    pub fn is_finished(&self) -> bool {
        match self.end {
            None => false,
            Some(ConnectionEnd::Violation(_)) => true,
            Some(ConnectionEnd::Aborted | ConnectionEnd::Disconnected) => {
                self.in_flight() == 0 && self.output.len() == 0
            }
        }
    }

    /// Output in order, as slices for one gathered write.
    pub fn output(&self) -> impl Iterator<Item = &[u8]> {
        self.output.slices()
    }

    /// Bytes of [`NbdConnection::output`].
    #[inline]
    pub fn output_len(&self) -> usize {
        self.output.len()
    }

    /// Notes that the first `count` bytes of [`NbdConnection::output`] were sent.
    ///
    /// # Panics
    /// If the output was shorter.
    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.output.sent(count);
    }

    /// Bytes held for the client by the connection and its caller: requests in flight, unsent replies, and a long message being received. The
    /// read-ahead and some KiB for each connection are not counted.
    #[inline]
    pub fn held(&self) -> u64 {
        let reserved = match &self.phase {
            ConnectionPhase::Negotiating(_) => 0,
            ConnectionPhase::Transmitting(phase) => phase.reserved(),
        };
        reserved + (self.output.len() + self.input.bytes_beyond_read_ahead()) as u64
    }

    /// Limits the bytes held: further requests, and long messages, wait until they fit. For callers that divide one memory among many clients. Bytes
    /// held already are kept. Without a call, [`crate::ConnectionLimits`] alone apply.
    #[inline]
    pub fn allow(&mut self, bytes: u64) {
        self.input.allow(usize::try_from(bytes).unwrap_or(usize::MAX));
        if let ConnectionPhase::Transmitting(phase) = &mut self.phase {
            phase.allow(bytes);
        }
    }

    /// True if a request or message waits for a higher [`NbdConnection::allow`].
    #[inline]
    pub fn is_short(&self) -> bool {
        let is_waiting = match &self.phase {
            ConnectionPhase::Negotiating(_) => false,
            ConnectionPhase::Transmitting(phase) => phase.is_short(),
        };
        self.end.is_none() && (is_waiting || self.input.is_capped())
    }

    /// Bytes that the connection has allocated, bounded by [`NbdServer::memory_max`].
    pub fn heap_bytes(&self) -> usize {
        let phase = match &self.phase {
            ConnectionPhase::Negotiating(_) => 0,
            ConnectionPhase::Transmitting(phase) => phase.heap_bytes(),
        };
        self.input.heap_bytes() + self.output.heap_bytes() + phase
    }
}

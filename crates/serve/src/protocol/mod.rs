//! The language between the wire and the service: what clients ask, what comes of it, and what they are offered, in the words of no protocol.
//!
//! A protocol is a [`WireProtocol`], which has a [`WireSession`] for each client: bytes and answers in, requests and bytes out, without a
//! socket or a clock. Sockets, TLS, time limits and memory are the business of `session/`, the same for all protocols. NBD is in `nbd/`; a
//! protocol of lines of text, which shows that another one fits, is among the tests here.

mod export;
mod request;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::io::IoSlice;

use crate::net::Listen;
pub use export::OfferError;
pub(crate) use export::{Abilities, ExportFacts, ExportSizes, Offer};
pub(crate) use request::{Answer, BlockOp, BlockRequest, FailureKind, RequestFailure, RequestTag};

/// A protocol: what all its sessions share.
pub(crate) trait WireProtocol: Debug + Send {
    /// Offers this to clients that connect from now on; sessions that have begun keep what they were offered.
    ///
    /// # Errors
    /// The protocol has no place for it; what was offered before remains.
    fn offer(&mut self, offer: &Offer) -> Result<(), OfferError>;

    /// Begins the session of a client that has just connected.
    fn begin(&mut self) -> Box<dyn WireSession>;

    /// The URI of an export of a server that listens at `place`.
    fn uri(&self, place: &Listen, export: &str) -> String;
}

/// One client's side of a protocol: a machine that is given bytes and answers, and gives events and bytes.
///
/// **Input**: [`WireSession::space`] and [`WireSession::filled`]. **Events**: [`WireSession::poll`], until there is none. **Answers**, in any order,
/// each once: [`WireSession::answer`]. **Output**: [`WireSession::output`] and [`WireSession::sent`]. After each of these there may be new events.
///
/// A session makes requests only of what its client has opened, each of which [`ExportFacts::takes`]: the service relies on it. It lets requests in
/// while what it holds stays within [`WireSession::allow`], and one by itself in any case.
pub(crate) trait WireSession: Debug + Send {
    /// The buffer for the next bytes from the client. Empty while no more are wanted.
    fn space(&mut self) -> &mut [u8];

    /// The first `count` bytes of what [`WireSession::space`] gave are from the client.
    fn filled(&mut self, count: usize);

    /// Returns whether to read from the client.
    fn wants_input(&self) -> bool;

    /// The next event.
    fn poll(&mut self) -> Option<SessionEvent<'_>>;

    /// The export that the client has opened, by its number in the offer with which the session began.
    fn export(&self) -> Option<usize>;

    /// Answers a request in flight.
    fn answer(&mut self, tag: RequestTag, answer: Answer);

    /// Requests that are not answered.
    fn in_flight(&self) -> usize;

    /// Puts what is to be sent, in order, into `slices`, as much as they take; returns how many are used.
    fn output<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize;

    /// Bytes that are to be sent.
    fn output_len(&self) -> usize;

    /// The first `count` bytes of [`WireSession::output`] are sent.
    fn sent(&mut self, count: usize);

    /// Bytes that the client makes the session and the service hold: requests in flight, replies that are not sent, a long message that is coming in.
    fn held(&self) -> u64;

    /// From now on requests are let in, and room is made for long messages, while the session holds no more than `bytes`.
    fn allow(&mut self, bytes: u64);

    /// Returns whether something waits for [`WireSession::allow`] to allow more.
    fn is_short(&self) -> bool;

    /// TLS is there, as [`SessionEvent::Secure`] asked for.
    fn tls_started(&mut self);

    /// The server is going down: what the client asks from now on is refused, as far as the protocol has words for it.
    fn shut_down(&mut self);

    /// The end of the session, if it has ended: no byte is read any more.
    fn end(&self) -> Option<SessionEnd>;
}

/// An event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEvent<'a> {
    /// TLS begins behind what is to be sent at present. If it cannot, the client is disconnected.
    Secure,
    /// The client has opened an export ([`WireSession::export`]): requests follow.
    Opened,
    /// A request, in flight until it is answered.
    Request(BlockRequest<'a>),
}

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    /// The client takes its leave: what is in flight is answered and sent, then the socket is closed.
    Parted,
    /// The client broke a rule after which its bytes cannot be trusted: the socket is closed once the client has been told what TLS still has.
    Broken,
}

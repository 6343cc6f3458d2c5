//! The language between protocols and devices: requests, replies and exports, in the terms of no particular protocol.
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
use std::net::SocketAddr;
use std::time::Duration;

use crate::net::ListenAddress;
pub use export::OfferError;
pub(crate) use export::{
    ExportAbilities, ExportFacts, ExportNamespace, ExportOffer, ExportSizes, ExportZones,
};
pub(crate) use request::{
    BlockOp, BlockReply, BlockRequest, DeviceNews, FailureKind, HealthPage, RequestFailure, RequestTag,
    ZoneList, ZoneListQuery,
};

/// A protocol: what all its sessions share.
pub(crate) trait WireProtocol: Debug + Send {
    /// Offers these exports to clients that connect from now on; open sessions keep their offer.
    ///
    /// # Errors
    /// The protocol cannot express the offer; the previous one remains.
    fn offer(&mut self, offer: &ExportOffer) -> Result<(), OfferError>;

    /// Begins the session of a client that has just connected, to this address if it is one of TCP.
    fn begin(&mut self, at: Option<SocketAddr>) -> Box<dyn WireSession>;

    /// True if sessions can be encrypted.
    fn can_encrypt(&self) -> bool {
        true
    }

    /// URI of an export of a server that listens at `address`.
    fn uri(&self, address: &ListenAddress, export: &str) -> String;
}

/// The server's side of one client's session: a state machine that takes bytes and replies, and returns events and bytes.
///
/// **Input**: [`WireSession::space`] and [`WireSession::filled`]. **Events**: [`WireSession::poll`], until there is none. **Replies**, in any order,
/// each once: [`WireSession::reply`]. **Output**: [`WireSession::output`] and [`WireSession::sent`]. After each of these there may be new events.
///
/// A session makes requests only of the export that its client has opened, and only such as [`ExportFacts::takes`]: devices rely on it. It passes on
/// requests while the bytes it holds stay within [`WireSession::allow`], and in any case one at a time.
pub(crate) trait WireSession: Debug + Send {
    /// Buffer for the next bytes from the client. Empty while no input is wanted.
    fn space(&mut self) -> &mut [u8];

    /// Notes that the first `count` bytes of [`WireSession::space`] have been filled.
    fn filled(&mut self, count: usize);

    /// True if the client's socket is to be read.
    fn wants_input(&self) -> bool;

    /// Next event.
    fn poll(&mut self) -> Option<SessionEvent<'_>>;

    /// Export that the client has opened, as an index into the offer with which the session began.
    fn export(&self) -> Option<usize>;

    /// Replies to a request in flight.
    fn reply(&mut self, tag: RequestTag, reply: BlockReply);

    /// Number of requests in flight.
    fn in_flight(&self) -> usize;

    /// Output, in order, as far as `slices` takes it; returns the number of slices used.
    fn output<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize;

    /// Bytes of output.
    fn output_len(&self) -> usize;

    /// Notes that the first `count` bytes of [`WireSession::output`] were sent.
    fn sent(&mut self, count: usize);

    /// Bytes held for the client in the session and behind it: requests in flight, unsent replies, and a long message being received.
    fn held(&self) -> u64;

    /// Limits the bytes held: further requests, and long messages, wait until they fit.
    fn allow(&mut self, bytes: u64);

    /// True if a request or message waits for a higher [`WireSession::allow`].
    fn is_short(&self) -> bool;

    /// Notes that TLS, for which [`SessionEvent::Secure`] has asked, is set up.
    fn tls_started(&mut self);

    /// Notes what the device tells unasked.
    fn report_news(&mut self, _news: DeviceNews) {}

    /// Longest time for which the client may be silent; `None` without limit.
    fn silence_limit(&self) -> Option<Duration> {
        None
    }

    /// Refuses further requests as far as the protocol can say so, since the server ends.
    fn shut_down(&mut self);

    /// End of the session, once it has ended: no more input is read.
    fn end(&self) -> Option<SessionEnd>;
}

/// An event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEvent<'a> {
    /// TLS is to begin after the present output. If it cannot, the client is disconnected.
    Secure,
    /// The client has opened an export ([`WireSession::export`]); requests follow.
    Opened,
    /// The client has ended other sessions of its own.
    OthersEnded,
    /// A request, in flight until it is answered.
    Request(BlockRequest<'a>),
}

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    /// The client has left: requests in flight are answered, then the socket is closed.
    Parted,
    /// The client has violated the protocol, and its bytes cannot be trusted any more: the socket is closed.
    Broken,
}

//! A client in its negotiation.

use outlast_nbd::{ConnectionLimits, TlsMode};

use super::client::{self, OptionReply, greeting, option, option_replies};
use super::link::TestLink;
use super::server;

/// A client of a server with `tls`, past the greeting, that has sent `flags`.
pub(crate) fn client(tls: TlsMode, flags: u32) -> TestLink {
    let mut link = TestLink::new(server(tls, ConnectionLimits::default()));
    link.send(&client::flags(flags));
    greeting(&mut &link.take()[..]);
    link
}

/// Sends one option; returns the types of the replies.
pub(crate) fn kinds(link: &mut TestLink, number: u32, data: &[u8]) -> Vec<u32> {
    let replies = replies(link, number, data);
    replies.iter().map(|reply| reply.kind).collect()
}

/// Sends one option; returns the replies.
pub(crate) fn replies(link: &mut TestLink, number: u32, data: &[u8]) -> Vec<OptionReply> {
    link.send(&option(number, data));
    let bytes = link.take();
    let mut rest = &bytes[..];
    let replies = option_replies(&mut rest);
    assert!(rest.is_empty() && replies.iter().all(|reply| reply.option == number), "{replies:?}");
    replies
}

//! A client past its negotiation.

use outlast_nbd::{ConnectionLimits, RequestId, TlsMode};

use super::client::{Ask, Form, MessageContent, ServerMessage, messages, open};
use super::link::{LinkEvent, OwnedCommand, TestLink};
use super::server;

/// A client that has opened the export `name`.
pub(crate) fn opened(form: Form, name: &str) -> TestLink {
    opened_with(form, name, ConnectionLimits::default())
}

/// As `opened`, of a server with these limits.
pub(crate) fn opened_with(form: Form, name: &str, limits: ConnectionLimits) -> TestLink {
    let mut link = TestLink::new(server(TlsMode::Off, limits));
    assert_eq!(link.send(&open(form, name)).last(), Some(&LinkEvent::Opened));
    link.take();
    link
}

/// What the server says, when reads had 512 bytes and all was asked at `offset`.
pub(crate) fn said(link: &mut TestLink, form: Form, offset: u64) -> Vec<ServerMessage> {
    messages(form, &link.take(), |_| 512, |_| offset)
}

/// Sends `ask`, which is refused; returns the error.
pub(crate) fn refused(link: &mut TestLink, form: Form, ask: &Ask) -> u32 {
    assert_eq!(link.send(&ask.bytes(form)), [], "{ask:?} does not reach the device");
    match &said(link, form, ask.offset)[..] {
        [
            ServerMessage {
                cookie,
                is_last: true,
                what: MessageContent::Simple { error, .. } | MessageContent::Error { error, .. },
            },
        ] => {
            assert_eq!(*cookie, ask.cookie);
            *error
        }
        other => panic!("{ask:?} was answered with {other:?}"),
    }
}

/// Sends `ask`, which reaches the device; returns what it is there.
pub(crate) fn reaches(link: &mut TestLink, form: Form, ask: &Ask) -> (RequestId, OwnedCommand) {
    match &link.send(&ask.bytes(form))[..] {
        [LinkEvent::Request { id, op, .. }] => (*id, op.clone()),
        other => panic!("{ask:?} became {other:?}"),
    }
}

/// The requests among `events`.
pub(crate) fn ids(events: &[LinkEvent]) -> Vec<RequestId> {
    let of = |event: &LinkEvent| match event {
        LinkEvent::Request { id, .. } => *id,
        other => panic!("{other:?}"),
    };
    events.iter().map(of).collect()
}

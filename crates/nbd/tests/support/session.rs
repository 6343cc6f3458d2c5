//! A client past its negotiation.

use outlast_nbd::{Limits, RequestId, Tls};

use super::client::{Ask, Form, Message, What, messages, open};
use super::link::{Got, GotOp, Link};
use super::server;

/// A client that has opened the export `name`.
pub(crate) fn opened(form: Form, name: &str) -> Link {
    opened_with(form, name, Limits::default())
}

/// As `opened`, of a server with these limits.
pub(crate) fn opened_with(form: Form, name: &str, limits: Limits) -> Link {
    let mut link = Link::new(server(Tls::Off, limits));
    assert_eq!(link.send(&open(form, name)).last(), Some(&Got::Opened));
    link.take();
    link
}

/// What the server says, when reads had 512 bytes and all was asked at `offset`.
pub(crate) fn said(link: &mut Link, form: Form, offset: u64) -> Vec<Message> {
    messages(form, &link.take(), |_| 512, |_| offset)
}

/// Sends `ask`, which is refused; returns the error.
pub(crate) fn refused(link: &mut Link, form: Form, ask: &Ask) -> u32 {
    assert_eq!(link.send(&ask.bytes(form)), [], "{ask:?} does not reach the device");
    match &said(link, form, ask.offset)[..] {
        [Message { cookie, is_last: true, what: What::Simple { error, .. } | What::Error { error, .. } }] => {
            assert_eq!(*cookie, ask.cookie);
            *error
        }
        other => panic!("{ask:?} was answered with {other:?}"),
    }
}

/// Sends `ask`, which reaches the device; returns what it is there.
pub(crate) fn reaches(link: &mut Link, form: Form, ask: &Ask) -> (RequestId, GotOp) {
    match &link.send(&ask.bytes(form))[..] {
        [Got::Request { id, op, .. }] => (*id, op.clone()),
        other => panic!("{ask:?} became {other:?}"),
    }
}

/// The requests among `events`.
pub(crate) fn ids(events: &[Got]) -> Vec<RequestId> {
    let of = |event: &Got| match event {
        Got::Request { id, .. } => *id,
        other => panic!("{other:?}"),
    };
    events.iter().map(of).collect()
}

//! What is in flight, what is sent when, how a session ends, and what a caller may not do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{ConnectionEnd, ConnectionLimits, ErrorCode, NbdConnection, ReplyFailure, RequestId};
use outlast_units::Bytes;
use support::client::*;
use support::link::LinkEvent;
use support::session::{ids, opened, opened_with, reaches, refused, said};

const ESHUTDOWN: u32 = 108;

#[test]
fn replies_may_come_in_any_order_and_leave_together() {
    let form = Form::Simple;
    let mut link = opened(form, "disk");
    let asks: Vec<u8> = (0..4).flat_map(|cookie| Ask::new(READ, cookie, 512, 512).bytes(form)).collect();
    let events = link.send(&asks);
    let ids = ids(&events);
    assert_eq!(ids, [0, 1, 2, 3].map(RequestId));
    for at in [2, 0, 3, 1] {
        link.connection.read(ids[at], vec![at as u8; 512]);
    }
    assert_eq!(link.connection.output().count(), 1, "small replies are gathered");
    let order: Vec<_> = said(&mut link, form, 512).iter().map(|message| message.cookie).collect();
    assert_eq!(order, [2, 0, 3, 1]);
}

#[test]
fn large_replies_are_sent_without_copying() {
    let mut link = opened(Form::Simple, "disk");
    let (id, _) = reaches(&mut link, Form::Simple, &Ask::new(READ, 1, 0, 1 << 20));
    let data = vec![3; 1 << 20];
    let place = data.as_ptr();
    link.connection.read(id, data);
    let slices: Vec<_> = link.connection.output().collect();
    assert_eq!((slices.len(), slices[0].len()), (2, 16));
    assert_eq!(slices[1].as_ptr(), place);
    link.connection.sent(17);
    assert_eq!(link.connection.output().next().unwrap().len(), (1 << 20) - 1);
}

#[test]
fn requests_in_flight_are_bounded() {
    let limits = ConnectionLimits { requests: 3, bytes: Bytes::kib(8), ..ConnectionLimits::default() };
    let mut link = opened_with(Form::Simple, "disk", limits);
    let ask = |length| Ask::new(READ, 1, 0, length).bytes(Form::Simple);
    assert_eq!(ids(&link.send(&ask(512).repeat(5))).len(), 3, "by number");
    link.connection.fail(RequestId(1), ErrorCode::Io);
    assert_eq!(ids(&link.send(&[])), [RequestId(1)], "one gone, one in");
    for id in [0, 1, 2] {
        link.connection.fail(RequestId(id), ErrorCode::Io);
    }
    let last = ids(&link.send(&[]));
    assert_eq!(last.len(), 1, "all five have come in");
    link.connection.fail(last[0], ErrorCode::Io);
    link.take();
    let two = ids(&link.send(&ask(3584).repeat(4)));
    assert_eq!(two.len(), 2, "by bytes");
    link.connection.read(two[0], vec![0; 3584]);
    assert_eq!(link.connection.poll(), None, "what is not sent counts");
    link.take();
    assert!(link.connection.poll().is_some());
}

#[test]
fn one_request_is_accepted_however_large() {
    let limits = ConnectionLimits { bytes: Bytes(1), ..ConnectionLimits::default() };
    let mut link = opened_with(Form::Simple, "disk", limits);
    let ask = Ask::new(READ, 1, 0, 1 << 20).bytes(Form::Simple);
    assert_eq!(link.send(&ask.repeat(2)).len(), 1);
    link.connection.read(RequestId(0), vec![0; 1 << 20]);
    assert_eq!(link.send(&[]).len(), 1);
}

#[test]
fn a_disconnect_lets_what_is_in_flight_end() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let (id, _) = reaches(&mut link, form, &Ask::write(form, 1, 0, vec![1; 512]));
        let bytes = [Ask::new(DISC, 2, 0, 0).bytes(form), Ask::new(READ, 3, 0, 512).bytes(form)].concat();
        assert_eq!(link.send(&bytes), [LinkEvent::Ended(ConnectionEnd::Disconnected)]);
        assert!(!link.connection.is_finished());
        link.connection.done(id);
        assert!(!link.connection.is_finished(), "the answer is not sent yet");
        assert!(!link.take().is_empty() && link.connection.is_finished());
    }
}

#[test]
fn a_server_that_goes_down_refuses_what_comes() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let (id, _) = reaches(&mut link, form, &Ask::new(READ, 1, 0, 512));
        link.connection.shut_down();
        assert_eq!(refused(&mut link, form, &Ask::write(form, 2, 0, vec![1; 512])), ESHUTDOWN);
        assert_eq!(refused(&mut link, form, &Ask::new(77, 2, 0, 0)), ESHUTDOWN);
        link.connection.fail(id, ErrorCode::Shutdown);
        assert_eq!(
            link.send(&Ask::new(DISC, 3, 0, 0).bytes(form)),
            [LinkEvent::Ended(ConnectionEnd::Disconnected)]
        );
    }
}

/// Whether a misuse by the caller, who has read 512 bytes at 512 as request 0, is noticed.
fn is_noticed(misuse: impl FnOnce(&mut NbdConnection) + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(|| {
        let mut link = opened(Form::Structured, "disk");
        reaches(&mut link, Form::Structured, &Ask::new(READ, 1, 512, 512));
        misuse(&mut link.connection);
    })
    .is_err()
}

#[test]
fn mistakes_of_the_caller_panic() {
    let id = RequestId(0);
    assert!(!is_noticed(|connection| connection.read(id, vec![0; 512])));
    assert!(is_noticed(|connection| connection.read(id, vec![0; 511])), "a byte too few");
    assert!(is_noticed(|connection| connection.done(id)), "a read without bytes");
    assert!(is_noticed(|connection| connection.fail(RequestId(1), ErrorCode::Io)), "no such request");
    assert!(is_noticed(|connection| connection.fail(id, ErrorCode::NotSup)), "only for fast zeroes");
    assert!(is_noticed(|connection| {
        connection.fail(id, ErrorCode::Io);
        connection.fail(id, ErrorCode::Io);
    }));
    assert!(is_noticed(
        |connection| connection.fail(id, ReplyFailure { code: ErrorCode::Io, at: Some(1024), text: "" })
    ));
    assert!(is_noticed(|connection| connection.extents(id, &[])), "not a status");
    assert!(is_noticed(|connection| connection.sent(1)), "nothing to be sent");
    assert!(is_noticed(|connection| connection.filled(1 << 30)), "no such space");
    assert!(is_noticed(NbdConnection::tls_started), "TLS was not asked for");
}

#[test]
fn memory_grows_with_received_bytes_and_not_with_announced_lengths() {
    for form in FORMS {
        let limits = ConnectionLimits { read_ahead: Bytes::kib(4), ..ConnectionLimits::default() };
        let mut link = opened_with(form, "disk", limits);
        let bytes = Ask::write(form, 1, 0, vec![1; 1 << 20]).bytes(form);
        for come in [32, 20_000, 300_000] {
            link.send(&bytes[..come]);
            let heap = link.connection.heap_bytes();
            assert!(heap <= 2 * come + (8 << 10), "{heap} bytes for {come}");
            link = opened_with(form, "disk", limits);
        }
        assert_eq!(ids(&link.send(&bytes)), [RequestId(0)]);
    }
}

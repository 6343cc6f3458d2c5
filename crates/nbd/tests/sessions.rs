//! TLS, and how a negotiation ends.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{ConnectionEnd, ConnectionLimits, ProtocolViolation, TlsMode};
use support::client::{self, *};
use support::handshake::{client, kinds, replies};
use support::link::{LinkEvent, TestLink};
use support::server;

#[test]
fn tls_is_refused_by_a_server_without_it() {
    let mut link = client(TlsMode::Off, 3);
    assert_eq!(kinds(&mut link, 5, &[]), [POLICY]);
    assert_eq!(kinds(&mut link, 6, &info("secret", &[])), [3, 3, ACK]);
}

#[test]
fn required_tls_comes_before_everything() {
    let mut link = client(TlsMode::Required, 3);
    for number in [3, 4, 6, 7, 8, 9, 10, 11, 99] {
        assert_eq!(kinds(&mut link, number, &info("disk", &[])), [TLS_REQD], "{number}");
        assert_eq!(kinds(&mut link, number, &vec![0; 50_000]), [TLS_REQD], "{number}");
    }
    assert_eq!(link.send(&option(5, &[])), [LinkEvent::StartTls]);
    assert_eq!(option_replies(&mut &link.take()[..])[0].kind, ACK);
    assert!(!link.connection.wants_input(), "bytes before the handshake are not for this crate");
    link.connection.tls_started();
    assert_eq!(kinds(&mut link, 5, &[]), [INVALID], "once is enough");
    assert_eq!(kinds(&mut link, 3, &[]), [2, 2, 2, ACK]);
    assert_eq!(link.send(&option(7, &info("secret", &[]))), [LinkEvent::Opened]);

    let mut link = client(TlsMode::Required, 3);
    assert_eq!(
        link.send(&option(2, &[])),
        [LinkEvent::Ended(ConnectionEnd::Aborted)],
        "who may not stay may leave"
    );
}

#[test]
fn allowed_tls_hides_what_needs_it() {
    let mut link = client(TlsMode::Allowed, 3);
    assert_eq!(kinds(&mut link, 3, &[]), [2, 2, ACK]);
    assert_eq!(kinds(&mut link, 6, &info("disk", &[])), [3, 3, ACK]);
    for number in [6, 7] {
        assert_eq!(kinds(&mut link, number, &info("secret", &[])), [TLS_REQD]);
        assert_eq!(kinds(&mut link, number, &info("none", &[])), [TLS_REQD], "names are not to be guessed");
    }
    assert_eq!(kinds(&mut link, 8, &[]), [ACK]);
    // TLS_REQD is only for options that open exports or tell of them.
    assert_eq!(kinds(&mut link, 9, &queries("secret", &[])), [UNKNOWN]);
    assert_eq!(kinds(&mut link, 10, &queries("secret", &[])), [UNKNOWN]);
    assert_eq!(link.send(&option(5, &[])), [LinkEvent::StartTls]);
    link.take();
    link.connection.tls_started();
    assert_eq!(kinds(&mut link, 6, &info("secret", &[])), [3, 3, ACK]);
    assert_eq!(kinds(&mut link, 6, &info("none", &[])), [UNKNOWN]);
}

/// CVE-2021-3716 of another server: whoever sits between client and server could send options in plain text that held for the encrypted
/// session, or bytes that were taken for encrypted ones.
#[test]
fn terms_negotiated_before_tls_are_reset() {
    let mut link = client(TlsMode::Allowed, 3);
    assert_eq!(kinds(&mut link, 11, &[]), [ACK]);
    assert_eq!(kinds(&mut link, 10, &queries("disk", &["base:allocation"])), [4, ACK]);
    link.send(&option(5, &[]));
    link.take();
    link.connection.tls_started();
    assert_eq!(kinds(&mut link, 9, &queries("disk", &[])), [INVALID], "neither structured nor extended");
    assert_eq!(kinds(&mut link, 8, &[]), [ACK]);
    let told = replies(&mut link, 6, &info("disk", &[]));
    assert_eq!(told[1].data[10] & 0x10, 0, "no contexts");

    let mut link = client(TlsMode::Allowed, 3);
    let both = [option(5, &[]), option(8, &[])].concat();
    assert_eq!(link.send(&both), [LinkEvent::Ended(ConnectionEnd::Violation(ProtocolViolation::PlainText))]);
}

#[test]
fn options_without_an_error_reply_end_the_session() {
    let ended = |violation| vec![LinkEvent::Ended(ConnectionEnd::Violation(violation))];
    assert_eq!(client(TlsMode::Off, 3).send(&option(1, b"none")), ended(ProtocolViolation::ExportName));
    assert_eq!(client(TlsMode::Required, 3).send(&option(1, b"disk")), ended(ProtocolViolation::ExportName));
    assert_eq!(client(TlsMode::Allowed, 3).send(&option(1, b"secret")), ended(ProtocolViolation::ExportName));
    assert_eq!(
        client(TlsMode::Off, 3).send(&[&option(11, &[])[..], &option(1, b"disk")].concat()),
        ended(ProtocolViolation::ExportName)
    );
    assert_eq!(
        client(TlsMode::Off, 3).send(&option(1, &vec![b'a'; 65_535])),
        ended(ProtocolViolation::ExportName)
    );
    assert_eq!(client(TlsMode::Off, 0).send(&option(3, &[])), ended(ProtocolViolation::NotFixed(3)));
    let mut link = TestLink::new(server(TlsMode::Off, ConnectionLimits::default()));
    assert_eq!(link.send(&client::flags(4)), ended(ProtocolViolation::ClientFlags(4)));
    assert_eq!(
        client(TlsMode::Off, 3).send(b"IHAVEOPU01234567"),
        ended(ProtocolViolation::OptionMagic(0x4948_4156_454f_5055))
    );
    let long = [b"IHAVEOPT", &99_u32.to_be_bytes()[..], &(1_u32 << 26).to_be_bytes()].concat();
    assert_eq!(
        client(TlsMode::Off, 3).send(&long),
        ended(ProtocolViolation::OptionLength { option: 99, length: 1 << 26 })
    );
}

#[test]
fn a_server_that_goes_down_says_so() {
    let mut link = client(TlsMode::Allowed, 3);
    link.connection.shut_down();
    for number in [3, 5, 6, 7, 8, 99] {
        assert_eq!(kinds(&mut link, number, &[]), [SHUTDOWN]);
    }
    assert_eq!(link.send(&option(2, &[])), [LinkEvent::Ended(ConnectionEnd::Aborted)]);
    let mut link = client(TlsMode::Off, 3);
    link.connection.shut_down();
    assert_eq!(
        link.send(&option(1, b"disk")),
        [LinkEvent::Ended(ConnectionEnd::Violation(ProtocolViolation::ExportName))]
    );
}

#[test]
fn options_are_counted() {
    let limits = ConnectionLimits { options: 3, ..ConnectionLimits::default() };
    let mut link = TestLink::new(server(TlsMode::Off, limits));
    link.send(&client::flags(3));
    assert_eq!(link.send(&option(3, &[]).repeat(3)), []);
    assert_eq!(
        link.send(&option(3, &[])),
        [LinkEvent::Ended(ConnectionEnd::Violation(ProtocolViolation::Options(3)))]
    );
}

#[test]
fn after_a_violation_nothing_is_sent_and_nothing_is_read() {
    let mut link = client(TlsMode::Off, 3);
    link.send(&[option(3, &[]), option(1, b"none")].concat());
    link.take();
    assert!(
        link.connection.is_finished() && !link.connection.wants_input() && link.connection.space().is_empty()
    );
    assert!(link.connection.poll().is_none(), "the end is told once");
}

#[test]
fn abort_is_acknowledged_with_and_without_data() {
    for data in [vec![], b"goodbye".to_vec(), vec![0; 50_000]] {
        let mut link = client(TlsMode::Off, 3);
        assert_eq!(link.send(&option(2, &data)), [LinkEvent::Ended(ConnectionEnd::Aborted)]);
        assert!(link.connection.is_finished(), "the acknowledgement has been taken");
        assert_eq!(option_replies(&mut &link.take()[..])[0].kind, ACK);
    }
}

//! Does it matter in which pieces the bytes come? And is what comes out what the device said?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{ConnectionLimits, NbdCommand, NbdConnection, NbdRequest, NbdServer, RequestId, TlsMode};
use outlast_units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::client::*;
use support::disk::{Disk, SECTOR};
use support::link::{LinkEvent, OwnedCommand, TestLink};

/// Sectors of the export.
const SECTORS: u64 = 64;

fn a_form() -> impl Strategy<Value = Form> {
    prop::sample::select(&FORMS[..])
}

/// Requests, most of them good.
fn asks(form: Form) -> impl Strategy<Value = Vec<Ask>> {
    let command = prop_oneof![
        8 => prop::sample::select(vec![READ, WRITE, FLUSH, TRIM, CACHE, ZEROES, STATUS]),
        1 => any::<u16>().prop_filter("a disconnect ends it", |&command| command != DISC),
    ];
    let flags = prop_oneof![
        4 => Just(0_u16),
        3 => prop::sample::select(vec![FUA, NO_HOLE, DF, ONE, FAST, FUA | NO_HOLE, FUA | FAST]),
        1 => any::<u16>(),
    ];
    let range = prop_oneof![
        9 => (0..SECTORS, 1..16_u64).prop_map(|(at, count)| (at * SECTOR, count.min(SECTORS - at) * SECTOR)),
        1 => (0..SECTORS * SECTOR * 2, 0..4000_u64),
    ];
    let one =
        (command, flags, range, any::<u8>()).prop_map(move |(command, flags, (offset, length), fill)| {
            let ask = Ask::new(command, 0, offset, length).flags(flags);
            let has_payload = match form {
                Form::Extended => ask.flags & PAYLOAD != 0 || command == WRITE,
                Form::Simple | Form::Structured => command == WRITE,
            };
            let extra = if has_payload && form == Form::Extended { PAYLOAD } else { 0 };
            let payload = if has_payload { vec![fill; length as usize] } else { Vec::new() };
            let ask =
                if command == FLUSH && !has_payload { Ask { offset: 0, length: 0, ..ask } } else { ask };
            Ask { payload, ..ask }.flags(extra)
        });
    prop::collection::vec(one, 1..60).prop_map(|asks| {
        let cookies = asks.into_iter().enumerate();
        cookies.map(|(cookie, ask)| Ask { cookie: cookie as u64, ..ask }).collect()
    })
}

fn small() -> Arc<NbdServer> {
    let limits = ConnectionLimits {
        requests: 5,
        bytes: Bytes::kib(20),
        read_ahead: Bytes(700),
        ..ConnectionLimits::default()
    };
    let server = NbdServer::new(vec![support::export("small", SECTORS * SECTOR)], TlsMode::Off, limits);
    Arc::new(server.unwrap())
}

/// A device on which something is stored and something lost.
fn disk() -> Disk {
    let mut disk = Disk::new(SECTORS * SECTOR);
    disk.lose(40 * SECTOR, 3 * SECTOR);
    disk
}

/// Sends all of `bytes` in pieces as long as `pieces` say, round and round; returns the events and the server's bytes.
fn send(bytes: &[u8], pieces: &[usize], disk: &mut Disk) -> (Vec<LinkEvent>, Vec<u8>) {
    let mut link = TestLink::new(small());
    let mut events = Vec::new();
    let mut pieces = pieces.iter().cycle();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, later) = rest.split_at((*pieces.next().unwrap()).min(rest.len()));
        rest = later;
        link.send_with(piece, |connection, got| {
            answer(connection, &got, disk);
            events.push(got);
        });
    }
    (events, link.take())
}

fn answer(connection: &mut NbdConnection, got: &LinkEvent, disk: &mut Disk) {
    let LinkEvent::Request { id, offset, length, op } = got else { return };
    let command = match op {
        OwnedCommand::Read => NbdCommand::Read,
        OwnedCommand::Write { data, fua } => NbdCommand::Write { data, fua: *fua },
        OwnedCommand::Flush => NbdCommand::Flush,
        OwnedCommand::Trim { fua } => NbdCommand::Trim { fua: *fua },
        OwnedCommand::WriteZeroes { fua, may_punch, fast } => {
            NbdCommand::WriteZeroes { fua: *fua, may_punch: *may_punch, fast: *fast }
        }
        OwnedCommand::Cache => NbdCommand::Cache,
        OwnedCommand::Status { contexts, one } => NbdCommand::Status { contexts: *contexts, one: *one },
    };
    let request = NbdRequest { id: *id, offset: *offset, length: Bytes(*length), command };
    disk.answer(&request).give(connection, *id);
}

/// The server's bytes behind the negotiation.
fn transmitted(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    greeting(&mut rest);
    option_replies(&mut rest);
    rest
}

proptest! {
    /// One byte at a time, all at once, or anything between: the same events, the same bytes.
    #[test]
    fn any_split_of_the_bytes_gives_the_same_events(
        (form, asks) in a_form().prop_flat_map(|form| (Just(form), asks(form))),
        pieces in prop::collection::vec(prop_oneof![1..40_usize, 1..3000_usize], 1..20),
    ) {
        let mut bytes = open(form, "small");
        bytes.extend(asks.iter().flat_map(|ask| ask.bytes(form)));
        let whole = send(&bytes, &[bytes.len()], &mut disk());
        prop_assert_eq!(&send(&bytes, &[1], &mut disk()), &whole);
        prop_assert_eq!(&send(&bytes, &pieces, &mut disk()), &whole);
    }

    /// Every request is answered once, and what is read is what a plain array holds.
    #[test]
    fn replies_are_what_a_plain_array_says(
        (form, asks) in a_form().prop_flat_map(|form| (Just(form), asks(form))),
    ) {
        let mut bytes = open(form, "small");
        bytes.extend(asks.iter().flat_map(|ask| ask.bytes(form)));
        let (_, received) = send(&bytes, &[bytes.len()], &mut disk());
        let messages = messages(
            form,
            transmitted(&received),
            |cookie| if asks[cookie as usize].command == READ { asks[cookie as usize].length as usize } else { 0 },
            |cookie| asks[cookie as usize].offset,
        );
        let mut by_cookie: BTreeMap<u64, Vec<ServerMessage>> = BTreeMap::new();
        for message in messages {
            by_cookie.entry(message.cookie).or_default().push(message);
        }
        prop_assert_eq!(by_cookie.len(), asks.len());
        let mut model = disk();
        for (ask, messages) in asks.iter().zip(by_cookie.values()) {
            let (last, before) = messages.split_last().unwrap();
            prop_assert!(last.is_last && before.iter().all(|message| !message.is_last));
            compare(&mut model, ask, messages);
        }
    }
}

/// Does what was asked on the model, and compares what was said. A write that was answered without an error counts.
fn compare(model: &mut Disk, ask: &Ask, messages: &[ServerMessage]) {
    let errors = messages.iter().filter_map(|message| match &message.what {
        MessageContent::Simple { error, .. } if *error != 0 => Some((*error, None)),
        MessageContent::Error { error, at, .. } => Some((*error, *at)),
        _ => None,
    });
    let errors: Vec<_> = errors.collect();
    let range = ask.offset..ask.offset + ask.length;
    if ask.command == READ {
        let is_bad = ask.flags & !(FUA | DF) != 0 || range.end > SECTORS * SECTOR;
        let is_odd = !(range.start | ask.length).is_multiple_of(SECTOR) || ask.length == 0;
        if errors.iter().all(|(error, _)| *error == 5) {
            assert!(!is_bad && !is_odd, "{ask:?} was to be refused");
            read(model, ask, messages, &errors);
        }
        return;
    }
    if !errors.is_empty() || matches!(ask.command, FLUSH | CACHE | STATUS) {
        return;
    }
    let request = match ask.command {
        WRITE => NbdCommand::Write { data: &ask.payload, fua: true },
        TRIM => NbdCommand::Trim { fua: true },
        ZEROES => NbdCommand::WriteZeroes { fua: true, may_punch: ask.flags & NO_HOLE == 0, fast: false },
        other => panic!("command {other} succeeded"),
    };
    let (offset, length) = (ask.offset, Bytes(ask.length));
    model.answer(&NbdRequest { id: RequestId(0), offset, length, command: request });
}

/// Every byte is there once, or is behind an error.
fn read(model: &Disk, ask: &Ask, messages: &[ServerMessage], errors: &[(u32, Option<u64>)]) {
    let mut seen = BTreeMap::new();
    for message in messages {
        let (offset, data) = match &message.what {
            MessageContent::Data { offset, data } => (*offset, data.clone()),
            MessageContent::Simple { error: 0, data } => (ask.offset, data.clone()),
            MessageContent::Hole { offset, length } => (*offset, vec![0; *length as usize]),
            _ => continue,
        };
        for (at, byte) in (offset..).zip(data) {
            assert_eq!(seen.insert(at, byte), None, "byte {at} is told twice");
        }
    }
    let is_lost = (ask.offset..ask.offset + ask.length).any(|at| model.is_lost(at));
    assert_eq!(is_lost, !errors.is_empty(), "{ask:?} {errors:?}");
    assert!(errors.iter().all(|(_, at)| {
        at.is_none_or(|at| model.is_lost(at) && !model.is_lost(at.max(1) - 1) || at == ask.offset)
    }));
    for at in ask.offset..ask.offset + ask.length {
        match seen.remove(&at) {
            Some(byte) => {
                assert!(!model.is_lost(at), "byte {at} is lost");
                assert_eq!(byte, model.bytes[at as usize], "byte {at}");
            }
            None => assert!(is_lost, "byte {at} is missing"),
        }
    }
    assert!(seen.is_empty(), "what was not asked for: {seen:?}");
}

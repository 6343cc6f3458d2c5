//! Is every answer sent in the form that was negotiated, and does a client learn all that the device knows?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{
    ConnectionLimits, ErrorCode, MetaContext, MetaContexts, ReadPart, ReplyFailure, StatusExtent, TlsMode,
};
use outlast_units::Bytes;
use support::client::*;
use support::link::{OwnedCommand, TestLink};
use support::session::{opened, reaches, refused, said};

const EINVAL: u32 = 22;

#[test]
fn replies_have_the_form_that_was_negotiated() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let (id, _) = reaches(&mut link, form, &Ask::new(TRIM, 0xdead_beef_0000_0001, 0, 512));
        link.connection.done(id);
        let what = match form {
            Form::Simple | Form::Structured => MessageContent::Simple { error: 0, data: vec![] },
            Form::Extended => MessageContent::Nothing,
        };
        let done = ServerMessage { cookie: 0xdead_beef_0000_0001, is_last: true, what };
        let read = |_| if form == Form::Simple { 0 } else { 512 };
        let bytes = link.take();
        let messages = messages(form, &bytes, |_| 0, |_| 0);
        assert_eq!((messages, read(0)), (vec![done], read(0)));

        let (id, _) = reaches(&mut link, form, &Ask::new(READ, 5, 512, 512));
        link.connection.read(id, (0..=255).chain(0..=255).collect());
        let data: Vec<u8> = (0..=255).chain(0..=255).collect();
        let what = match form {
            Form::Simple => MessageContent::Simple { error: 0, data },
            Form::Structured | Form::Extended => MessageContent::Data { offset: 512, data },
        };
        assert_eq!(said(&mut link, form, 512), [ServerMessage { cookie: 5, is_last: true, what }]);

        let (id, _) = reaches(&mut link, form, &Ask::new(READ, 6, 512, 1024));
        link.connection.fail(id, ReplyFailure { code: ErrorCode::Io, at: Some(1024), text: "worn out" });
        let what = match form {
            Form::Simple => MessageContent::Simple { error: 5, data: vec![] },
            _ => MessageContent::Error { error: 5, at: Some(1024), text: "worn out".to_owned() },
        };
        assert_eq!(said(&mut link, form, 512), [ServerMessage { cookie: 6, is_last: true, what }]);
    }
}

/// Reads 2,048 bytes from 512 on, of which the device gives `parts`.
fn read_in_parts(form: Form, flags: u16, parts: &[ReadPart<'_>]) -> Vec<ServerMessage> {
    let mut link = opened(form, "disk");
    let (id, _) = reaches(&mut link, form, &Ask::new(READ, 1, 512, 2048).flags(flags));
    link.connection.read_parts(id, parts);
    messages(form, &link.take(), |_| 2048, |_| 512)
}

#[test]
fn a_client_learns_which_bytes_were_lost() {
    let (ones, twos) = ([1; 512], [2; 512]);
    let parts = [
        ReadPart::Data(&ones),
        ReadPart::Failed(512, ErrorCode::Io),
        ReadPart::Zero(512),
        ReadPart::Data(&twos),
    ];
    let lost = |is_last| {
        (is_last, MessageContent::Error { error: 5, at: Some(1024), text: "unreadable from here".to_owned() })
    };
    let first = (false, MessageContent::Data { offset: 512, data: ones.to_vec() });
    let whats = |messages: Vec<ServerMessage>| {
        messages.into_iter().map(|message| (message.is_last, message.what)).collect::<Vec<_>>()
    };
    for form in [Form::Structured, Form::Extended] {
        let hole = (false, MessageContent::Hole { offset: 1536, length: 512 });
        let last = (true, MessageContent::Data { offset: 2048, data: twos.to_vec() });
        assert_eq!(whats(read_in_parts(form, 0, &parts)), [first.clone(), lost(false), hole, last]);
        // Unfragmented: one chunk of data at most, and what failed.
        assert_eq!(whats(read_in_parts(form, DF, &parts)), [first.clone(), lost(true)]);
        assert_eq!(
            whats(read_in_parts(form, DF, &[ReadPart::Zero(1024), ReadPart::Zero(1024)])),
            [(true, MessageContent::Hole { offset: 512, length: 2048 })]
        );
        let mixed = [ReadPart::Zero(512), ReadPart::Data(&ones), ReadPart::Zero(1024)];
        let data = [&[0; 512][..], &ones, &[0; 1024]].concat();
        assert_eq!(
            whats(read_in_parts(form, DF, &mixed)),
            [(true, MessageContent::Data { offset: 512, data })]
        );
        let all = [ReadPart::Failed(2048, ErrorCode::Io)];
        let error =
            MessageContent::Error { error: 5, at: Some(512), text: "unreadable from here".to_owned() };
        assert_eq!(whats(read_in_parts(form, DF, &all)), [(true, error.clone())]);
        assert_eq!(whats(read_in_parts(form, 0, &all)), [(true, error)]);
    }
    assert_eq!(
        whats(read_in_parts(Form::Simple, 0, &parts)),
        [(true, MessageContent::Simple { error: 5, data: vec![] })]
    );
    let good = [ReadPart::Data(&ones), ReadPart::Zero(1024), ReadPart::Data(&twos)];
    let data = [&ones[..], &[0; 1024], &twos].concat();
    assert_eq!(
        whats(read_in_parts(Form::Simple, 0, &good)),
        [(true, MessageContent::Simple { error: 0, data })]
    );
}

fn extent(length: u64, flags: u32) -> StatusExtent {
    StatusExtent { length: Bytes(length), flags }
}

/// Asks for the status of `length` bytes at 512; returns the extents of both contexts.
fn status(form: Form, flags: u16, length: u64, extents: &[StatusExtent]) -> Vec<(u32, Vec<(u64, u64)>)> {
    let export = support::export("huge", 1 << 40);
    let limits = ConnectionLimits { extents: 3, ..ConnectionLimits::default() };
    let server = outlast_nbd::NbdServer::new(vec![export], TlsMode::Off, limits).unwrap();
    let mut link = TestLink::new(std::sync::Arc::new(server));
    link.send(&open(form, "huge"));
    link.take();
    let (id, _) = reaches(&mut link, form, &Ask::new(STATUS, 1, 512, length).flags(flags));
    link.connection
        .extents(id, &[(MetaContext::Health, &[extent(512, 9)]), (MetaContext::Allocation, extents)]);
    let messages = messages(form, &link.take(), |_| 0, |_| 512);
    assert_eq!(messages.iter().map(|message| message.is_last).collect::<Vec<_>>(), [false, true]);
    let parts = messages.into_iter().map(|message| match message.what {
        MessageContent::Status { context, extents } => (context, extents),
        other => panic!("{other:?}"),
    });
    parts.collect()
}

#[test]
fn extents_are_merged_and_trimmed() {
    let all =
        [extent(512, 3), extent(512, 3), extent(1024, 0), extent(512, 1), extent(512, 2), extent(512, 0)];
    for form in [Form::Structured, Form::Extended] {
        let of = |flags, length, extents: &[StatusExtent]| {
            let answers = status(form, flags, length, extents);
            assert_eq!(answers[1], (2, vec![(512, 9)]));
            assert_eq!(answers[0].0, 1);
            answers[0].1.clone()
        };
        assert_eq!(of(0, 4096, &all), [(1024, 3), (1024, 0), (512, 1)], "three at most");
        assert_eq!(of(0, 1024, &all), [(1024, 3)], "none begins behind the request");
        assert_eq!(of(0, 512, &all), [(512, 3)]);
        assert_eq!(of(0, 1536, &all), [(1024, 3), (1024, 0)], "the last one may end behind it");
        assert_eq!(of(ONE, 4096, &all), [(1024, 3)]);
        assert_eq!(of(ONE, 512, &[extent(4096, 1)]), [(512, 1)], "a single one ends with the request");
        let long = [extent(1 << 39, 3), extent(512, 0)];
        let told = if form == Form::Extended { 1 << 39 } else { (1 << 32) - (1 << 16) };
        assert_eq!(of(0, 1024, &long), [(told, 3)]);
    }
}

#[test]
fn a_status_can_be_asked_of_some_contexts_only() {
    let form = Form::Extended;
    let mut link = opened(form, "disk");
    let ask = |length: u64, ids: &[u32]| {
        let mut payload = length.to_be_bytes().to_vec();
        payload.extend(ids.iter().flat_map(|id| id.to_be_bytes()));
        Ask { length: payload.len() as u64, payload, ..Ask::new(STATUS, 1, 512, 0).flags(PAYLOAD) }
    };
    let contexts = MetaContexts::NONE.with(MetaContext::Health);
    let (id, op) = reaches(&mut link, form, &ask(1024, &[2]));
    assert_eq!(op, OwnedCommand::Status { contexts, one: false });
    assert_eq!(link.connection.contexts(id), contexts);
    link.connection.extents(id, &[(MetaContext::Health, &[extent(512, 1), extent(512, 0)])]);
    let what = MessageContent::Status { context: 2, extents: vec![(512, 1), (512, 0)] };
    assert_eq!(said(&mut link, form, 512), [ServerMessage { cookie: 1, is_last: true, what }]);
    reaches(&mut link, form, &ask(512, &[2, 1]));
    for (length, ids) in [
        (512, &[2, 2][..]),
        (512, &[3]),
        (512, &[0]),
        (512, &[]),
        (512, &[1, 2, 1]),
        (0, &[1]),
        (1 << 20, &[1]),
    ] {
        assert_eq!(refused(&mut link, form, &ask(length, ids)), EINVAL, "{length} {ids:?}");
    }
    let ragged = Ask { length: 13, payload: vec![0; 13], ..ask(0, &[]) };
    assert_eq!(refused(&mut link, form, &ragged), EINVAL);
    reaches(&mut link, form, &ask(512, &[1]));
}

#[test]
fn long_texts_are_cut_between_letters() {
    let mut link = opened(Form::Structured, "disk");
    let (id, _) = reaches(&mut link, Form::Structured, &Ask::new(FLUSH, 1, 0, 0));
    let text = "ä".repeat(3000);
    link.connection.fail(id, ReplyFailure { code: ErrorCode::Io, at: None, text: &format!("x{text}") });
    let what = MessageContent::Error { error: 5, at: None, text: format!("x{}", "ä".repeat(99)) };
    assert_eq!(said(&mut link, Form::Structured, 0), [ServerMessage { cookie: 1, is_last: true, what }]);
}

//! Is every request checked as the specification says, in each form of requests?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{
    ConnectionEnd, ConnectionLimits, ErrorCode, MetaContext, MetaContexts, ProtocolViolation, TlsMode,
};
use support::client::*;
use support::link::{LinkEvent, OwnedCommand, TestLink};
use support::session::{opened, reaches, refused};

const EPERM: u32 = 1;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const EOVERFLOW: u32 = 75;

#[test]
fn requests_reach_the_device_with_their_flags() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let mut seen = |ask: Ask| {
            let events = link.send(&ask.bytes(form));
            let [LinkEvent::Request { id, offset, length, op }] = &events[..] else { panic!("{events:?}") };
            let is_flush = ask.command == FLUSH;
            assert_eq!((*offset, *length), if is_flush { (0, 0) } else { (ask.offset, ask.length) });
            let contexts =
                if let OwnedCommand::Status { contexts, .. } = op { *contexts } else { MetaContexts::NONE };
            assert_eq!(link.connection.contexts(*id), contexts);
            link.connection.fail(*id, ErrorCode::Io);
            assert_eq!(link.connection.contexts(*id), MetaContexts::NONE, "it is not in flight any more");
            op.clone()
        };
        assert_eq!(seen(Ask::new(READ, 1, 512, 1024)), OwnedCommand::Read);
        let data: Vec<u8> = (0..=255).cycle().take(1536).collect();
        assert_eq!(
            seen(Ask::write(form, 2, 0, data.clone())),
            OwnedCommand::Write { data: data.clone(), fua: false }
        );
        assert_eq!(
            seen(Ask::write(form, 2, 0, data.clone()).flags(FUA)),
            OwnedCommand::Write { data, fua: true }
        );
        assert_eq!(seen(Ask::new(FLUSH, 3, 0, 0)), OwnedCommand::Flush);
        assert_eq!(seen(Ask::new(TRIM, 4, 0, 1 << 20)), OwnedCommand::Trim { fua: false });
        assert_eq!(seen(Ask::new(TRIM, 4, 0, 512).flags(FUA)), OwnedCommand::Trim { fua: true });
        assert_eq!(seen(Ask::new(CACHE, 5, 0, 1 << 20)), OwnedCommand::Cache);
        let zeroes = |flags| Ask::new(ZEROES, 6, 512, 512).flags(flags);
        let is = |fua, may_punch, fast| OwnedCommand::WriteZeroes { fua, may_punch, fast };
        assert_eq!(seen(zeroes(0)), is(false, true, false));
        assert_eq!(seen(zeroes(FUA | NO_HOLE)), is(true, false, false));
        assert_eq!(seen(zeroes(FAST)), is(false, true, true));
        // "Existing clients are known to set this bit on other commands."
        assert_eq!(seen(Ask::new(READ, 1, 0, 512).flags(FUA)), OwnedCommand::Read);
        assert_eq!(seen(Ask::new(FLUSH, 1, 0, 0).flags(FUA)), OwnedCommand::Flush);
        if form != Form::Simple {
            let contexts = MetaContexts::NONE.with(MetaContext::Allocation).with(MetaContext::Health);
            assert_eq!(seen(Ask::new(READ, 1, 0, 512).flags(DF)), OwnedCommand::Read);
            assert_eq!(seen(Ask::new(STATUS, 7, 0, 512)), OwnedCommand::Status { contexts, one: false });
            assert_eq!(
                seen(Ask::new(STATUS, 7, 0, 512).flags(ONE)),
                OwnedCommand::Status { contexts, one: true }
            );
        }
    }
}

#[test]
fn what_is_wrong_is_refused_and_the_session_goes_on() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let end = 1 << 20;
        let mut is =
            |ask: Ask, error: u32| assert_eq!(refused(&mut link, form, &ask), error, "{form:?} {ask:?}");
        for command in [8, 9, 255, 65_535] {
            is(Ask::new(command, 1, 0, 512), EINVAL);
        }
        for command in [READ, TRIM, CACHE] {
            is(Ask::new(command, 2, end, 512), EINVAL);
            is(Ask::new(command, 2, end - 512, 1024), EINVAL);
            is(Ask::new(command, 2, u64::MAX - 511, 512), EINVAL);
            is(Ask::new(command, 2, 0, 0), EINVAL);
            is(Ask::new(command, 2, 0, 511), EINVAL);
            is(Ask::new(command, 2, 1, 512), EINVAL);
            for flag in [NO_HOLE, ONE, FAST, PAYLOAD, 64, 1 << 15] {
                // A payload that none of these has is 512 bytes long here, and thrown away.
                let ask = Ask::new(command, 3, 0, 512).flags(flag);
                let payload =
                    if form == Form::Extended && flag == PAYLOAD { vec![0; 512] } else { Vec::new() };
                is(Ask { payload, ..ask }, EINVAL);
            }
        }
        is(Ask::write(form, 4, end - 512, vec![1; 1024]), ENOSPC);
        is(Ask::write(form, 4, end, vec![1; 512]), ENOSPC);
        is(Ask::new(ZEROES, 4, end - 512, 1024), ENOSPC);
        is(Ask::write(form, 4, 0, vec![1; 100]), EINVAL);
        is(Ask::write(form, 4, 0, vec![1; 512]).flags(DF), EINVAL);
        is(Ask::write(form, 4, 0, Vec::new()), EINVAL);
        is(Ask::new(ZEROES, 5, 0, 512).flags(DF), EINVAL);
        is(Ask::new(FLUSH, 6, 512, 0), EINVAL);
        is(Ask::new(FLUSH, 6, 0, 512), EINVAL);
        if form == Form::Simple {
            is(Ask::new(READ, 7, 0, 512).flags(DF), EINVAL);
            is(Ask::new(STATUS, 7, 0, 512), EINVAL);
            is(Ask::write(form, 7, 0, vec![1; 512]).flags(PAYLOAD), EINVAL);
        } else {
            is(Ask::new(STATUS, 7, end, 512), EINVAL);
            is(Ask::new(STATUS, 7, 0, 512).flags(DF), EINVAL);
        }
        if form == Form::Extended {
            is(Ask::new(TRIM, 7, 0, 1 << 40), EINVAL);
        }
        let (id, _) = reaches(&mut link, form, &Ask::new(READ, 99, 0, 512));
        link.connection.read(id, vec![7; 512]);
    }
}

#[test]
fn a_read_only_export_is_not_written() {
    for form in FORMS {
        let mut link = opened(form, "fixed");
        assert_eq!(refused(&mut link, form, &Ask::write(form, 1, 0, vec![0; 512])), EPERM);
        assert_eq!(refused(&mut link, form, &Ask::write(form, 1, 1 << 30, vec![0; 512])), EPERM);
        assert_eq!(refused(&mut link, form, &Ask::new(TRIM, 1, 0, 512)), EPERM);
        assert_eq!(refused(&mut link, form, &Ask::new(ZEROES, 1, 0, 512)), EPERM);
        reaches(&mut link, form, &Ask::new(FLUSH, 1, 0, 0));
        reaches(&mut link, form, &Ask::new(READ, 1, 0, 512));
    }
}

#[test]
fn commands_that_were_not_advertised_are_refused() {
    use outlast_nbd::{ExportFeatures, NbdExport, NbdServer};
    let bare = NbdExport { features: ExportFeatures::NONE, ..support::export("bare", 4096) };
    let server =
        std::sync::Arc::new(NbdServer::new(vec![bare], TlsMode::Off, ConnectionLimits::default()).unwrap());
    let mut link = TestLink::new(server);
    link.send(&open(Form::Structured, "bare"));
    link.take();
    for command in [FLUSH, TRIM, CACHE, ZEROES] {
        let length = if command == FLUSH { 0 } else { 512 };
        assert_eq!(refused(&mut link, Form::Structured, &Ask::new(command, 1, 0, length)), EINVAL);
    }
    let write = Ask::write(Form::Structured, 1, 0, vec![0; 512]);
    assert_eq!(refused(&mut link, Form::Structured, &write.clone().flags(FUA)), EINVAL);
    reaches(&mut link, Form::Structured, &write);
}

/// An export of 128 MiB with the default sizes: 32 MiB at once.
fn large(form: Form) -> TestLink {
    let export = support::export("large", 128 << 20);
    let server =
        outlast_nbd::NbdServer::new(vec![export], TlsMode::Off, ConnectionLimits::default()).unwrap();
    let mut link = TestLink::new(std::sync::Arc::new(server));
    link.send(&open(form, "large"));
    link.take();
    link
}

#[test]
fn what_is_too_long_is_refused_or_ends_the_session() {
    for form in FORMS {
        let mut link = large(form);
        let long = Ask::new(READ, 1, 0, (32 << 20) + 512);
        assert_eq!(refused(&mut link, form, &long), if form == Form::Simple { EINVAL } else { EOVERFLOW });
        for command in [TRIM, CACHE, ZEROES] {
            reaches(&mut link, form, &Ask::new(command, 1, 0, 128 << 20));
        }
        let (_, op) = reaches(&mut link, form, &Ask::write(form, 2, 0, vec![9; 32 << 20]));
        assert!(matches!(op, OwnedCommand::Write { data, .. } if data == vec![9; 32 << 20]));
        let ask = Ask { length: (32 << 20) + 1, ..Ask::write(form, 3, 0, Vec::new()) };
        let end = ConnectionEnd::Violation(ProtocolViolation::Payload((32 << 20) + 1));
        assert_eq!(link.send(&ask.bytes(form)), [LinkEvent::Ended(end)]);
    }
}

#[test]
fn a_request_that_does_not_begin_as_one_ends_the_session() {
    for form in FORMS {
        let mut link = opened(form, "disk");
        let other = if form == Form::Extended { Form::Simple } else { Form::Extended };
        let bytes = [Ask::new(READ, 1, 0, 512).bytes(other), vec![0; 8]].concat();
        let events = link.send(&bytes);
        assert!(
            matches!(
                events[..],
                [LinkEvent::Ended(ConnectionEnd::Violation(ProtocolViolation::RequestMagic(_)))]
            ),
            "{events:?}"
        );
    }
}

/// QEMU's client (10.0.2) negotiates extended headers and then writes without `NBD_CMD_FLAG_PAYLOAD_LEN`, which the extension demands. Its
/// payload was taken for requests, and the session ended.
#[test]
fn qemu_writes_without_the_flag_for_payloads() {
    let form = Form::Extended;
    let mut link = opened(form, "disk");
    let write = Ask { flags: FUA, ..Ask::write(form, 1, 0, vec![4; 512]) };
    let (_, op) = reaches(&mut link, form, &write);
    assert_eq!(op, OwnedCommand::Write { data: vec![4; 512], fua: true });
    reaches(&mut link, form, &Ask::new(READ, 2, 0, 512));
}

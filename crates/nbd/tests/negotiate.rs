//! Is every option answered as the specification says?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{
    BlockSizes, ConnectionEnd, ConnectionLimits, ExportFeatures, NbdExport, NbdServer, ProtocolViolation,
    TlsMode,
};
use std::sync::Arc;
use support::client::{self, *};
use support::export;
use support::handshake::{client, kinds, replies};
use support::link::{LinkEvent, TestLink};

#[test]
fn exports_are_listed_with_their_descriptions() {
    let replies = replies(&mut client(TlsMode::Off, 3), 3, &[]);
    let names: Vec<_> =
        replies.iter().map(|reply| String::from_utf8_lossy(&reply.data[..]).into_owned()).collect();
    assert_eq!(
        names[..3],
        [
            "\0\0\0\u{4}diskthe export disk",
            "\0\0\0\u{5}fixedthe export fixed",
            "\0\0\0\u{6}secretthe export secret"
        ]
    );
    assert_eq!(replies.iter().map(|reply| reply.kind).collect::<Vec<_>>(), [2, 2, 2, ACK]);
}

#[test]
fn info_tells_and_go_opens() {
    let mut link = client(TlsMode::Off, 3);
    let told = replies(&mut link, 6, &info("fixed", &[0, 1, 2, 3, 77]));
    let data: Vec<_> = told.iter().map(|reply| (reply.kind, &reply.data[..])).collect();
    // Read-only: flags 0x107 and cache are there, trim and zeroes are not. Then name, description, acknowledgement.
    assert_eq!(data[0], (3, &[0, 3, 0, 0, 2, 0, 0, 0, 16, 0, 2, 0, 0, 0][..]));
    assert_eq!(data[1], (3, &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0b101, 0b1111][..]));
    assert_eq!(data[2..], [(3, &b"\0\x01fixed"[..]), (3, &b"\0\x02the export fixed"[..]), (ACK, &[][..])]);
    assert_eq!(link.connection.export(), None);

    assert_eq!(link.send(&option(7, &info("fixed", &[]))), [LinkEvent::Opened]);
    assert_eq!(
        option_replies(&mut &link.take()[..]).iter().map(|reply| reply.kind).collect::<Vec<_>>(),
        [3, 3, ACK]
    );
    assert_eq!(link.connection.export().unwrap().1.name, "fixed");
}

#[test]
fn an_empty_name_opens_the_first_export() {
    let mut link = client(TlsMode::Off, 3);
    link.send(&option(7, &info("", &[])));
    assert_eq!(link.connection.export().unwrap().0, 0);
    let mut named = TestLink::new(Arc::new(
        NbdServer::new(vec![export("a", 512), export("", 512)], TlsMode::Off, ConnectionLimits::default())
            .unwrap(),
    ));
    named.send(&open(Form::Simple, ""));
    assert_eq!(named.connection.export().unwrap().0, 1);
}

#[test]
fn an_export_is_opened_by_its_name_alone() {
    for (flags, zeroes) in [(0, 124), (1, 124), (3, 0)] {
        let mut link = client(TlsMode::Off, flags);
        assert_eq!(link.send(&option(1, b"disk")), [LinkEvent::Opened]);
        let bytes = link.take();
        // 1 MiB; flags: has flags, flush, FUA, trim, zeroes, multi-conn, cache, fast zero.
        assert_eq!(bytes[..10], [0, 0, 0, 0, 0, 16, 0, 0, 0b1101, 0b0110_1101]);
        assert_eq!(bytes[10..], vec![0; zeroes], "flags {flags}");
    }
}

#[test]
fn unknown_options_are_unsupported_whatever_their_data() {
    let mut link = client(TlsMode::Off, 3);
    for length in [0, 1, 40_000, 1 << 20] {
        assert_eq!(kinds(&mut link, 4, &vec![7; length]).len(), 1);
        assert_eq!(kinds(&mut link, 1234, &vec![7; length]), [UNSUP]);
    }
    assert_eq!(kinds(&mut link, 7, &info("disk", &[])), [3, 3, ACK]);
}

#[test]
fn garbled_options_are_invalid_and_long_ones_too_big() {
    let mut link = client(TlsMode::Off, 3);
    for number in [3, 8, 11] {
        assert_eq!(kinds(&mut link, number, b"data"), [INVALID]);
    }
    assert_eq!(kinds(&mut link, 5, b"data"), [INVALID]);
    for data in
        [&b""[..], b"\0\0\0\x01", b"\0\0\0\x05disk\0\0", b"\0\0\0\x04disk\0\x01", b"\xff\xff\xff\xffdisk\0\0"]
    {
        assert_eq!(kinds(&mut link, 6, data), [INVALID], "{data:?}");
        assert_eq!(kinds(&mut link, 7, data), [INVALID], "{data:?}");
    }
    let long = "n".repeat(4097);
    assert_eq!(kinds(&mut link, 6, &info(&long, &[])), [INVALID]);
    assert_eq!(kinds(&mut link, 6, &info(&long[..4096], &[])), [UNKNOWN]);
    assert_eq!(kinds(&mut link, 7, &info(&"n".repeat(65_535), &[])), [TOO_BIG]);
    assert_eq!(kinds(&mut link, 3, &vec![0; 1 << 20]), [TOO_BIG]);
    assert_eq!(kinds(&mut link, 7, &info("disk", &[])), [3, 3, ACK]);
}

#[test]
fn contexts_are_listed_and_selected() {
    let mut link = client(TlsMode::Off, 3);
    assert_eq!(kinds(&mut link, 9, &queries("disk", &[])), [INVALID], "structured replies come first");
    assert_eq!(kinds(&mut link, 10, &queries("disk", &[])), [INVALID], "structured replies come first");
    assert_eq!(kinds(&mut link, 8, &[]), [ACK]);
    let mut names = |number: u32, of: &[&str]| {
        let replies = replies(&mut link, number, &queries("disk", of));
        assert_eq!(replies.last().unwrap().kind, ACK);
        let named = replies.iter().filter(|reply| reply.kind == 4);
        named
            .map(|reply| (reply.data[3], String::from_utf8_lossy(&reply.data[4..]).into_owned()))
            .collect::<Vec<_>>()
    };
    let (allocation, health) = ("base:allocation".to_owned(), "x-outlast:health".to_owned());
    assert_eq!(names(9, &[]), [(0, allocation.clone()), (0, health.clone())]);
    assert_eq!(names(9, &["base:"]), [(0, allocation.clone())]);
    assert_eq!(names(9, &["x-outlast:", "x-other:", "base:none"]), [(0, health.clone())]);
    assert_eq!(names(10, &["base:", "x-outlast:"]), [], "a wildcard selects nothing");
    assert_eq!(names(10, &[]), []);
    assert_eq!(
        names(10, &["x-outlast:health", "base:allocation", "base:allocation"]),
        [(1, allocation), (2, health)]
    );
    for number in [9, 10] {
        assert_eq!(kinds(&mut link, number, &queries("none", &[])), [UNKNOWN]);
        assert_eq!(kinds(&mut link, number, &queries("disk", &["colon"])), [INVALID]);
        assert_eq!(kinds(&mut link, number, &queries("disk", &["a:"])[..12]), [INVALID]);
        assert_eq!(kinds(&mut link, number, b"\0\0\0\x04disk\xff\xff\xff\xff"), [INVALID]);
        assert_eq!(kinds(&mut link, number, &queries(&"n".repeat(5000), &[])), [INVALID]);
    }
}

#[test]
fn headers_are_extended_in_place_of_structured_replies() {
    let mut link = client(TlsMode::Off, 3);
    assert_eq!(kinds(&mut link, 8, &[]), [ACK]);
    assert_eq!(kinds(&mut link, 11, &[]), [ACK]);
    assert_eq!(kinds(&mut link, 11, &[]), [ACK]);
    assert_eq!(kinds(&mut link, 8, &[]), [EXT_HEADER_REQD]);
    assert_eq!(kinds(&mut link, 10, &queries("disk", &["base:allocation"])), [4, ACK]);
    let flags = |link: &mut TestLink, name| {
        let replies = replies(link, 6, &info(name, &[]));
        u16::from_be_bytes(replies[1].data[10..].try_into().unwrap())
    };
    assert_eq!(flags(&mut link, "disk") & 0x1080, 0x1080, "DF, and the payload of a status");
    assert_eq!(flags(&mut link, "fixed") & 0x1080, 0x0080, "no contexts of this one are selected");
    assert_eq!(kinds(&mut link, 10, &queries("disk", &["broken"])), [INVALID]);
    assert_eq!(flags(&mut link, "disk") & 0x1080, 0x0080, "a selection that fails selects nothing");
}

#[test]
fn an_export_may_insist_on_its_block_sizes() {
    let blocks = BlockSizes { required: true, ..BlockSizes::default() };
    let strict = NbdExport { blocks, ..export("strict", 4096) };
    let server = Arc::new(NbdServer::new(vec![strict], TlsMode::Off, ConnectionLimits::default()).unwrap());
    let mut link = TestLink::new(server.clone());
    link.send(&client::flags(3));
    greeting(&mut &link.take()[..]);
    assert_eq!(kinds(&mut link, 6, &info("strict", &[])), [3, BLOCK_SIZE_REQD]);
    assert_eq!(kinds(&mut link, 7, &info("strict", &[1])), [3, BLOCK_SIZE_REQD]);
    assert_eq!(link.send(&option(7, &info("strict", &[3]))), [LinkEvent::Opened]);
    let mut link = TestLink::new(server);
    link.send(&client::flags(3));
    assert_eq!(
        link.send(&option(1, b"strict")),
        [LinkEvent::Ended(ConnectionEnd::Violation(ProtocolViolation::ExportName))]
    );
}

#[test]
fn settings_that_the_protocol_cannot_express_are_refused_in_one_line() {
    let refused = |export: NbdExport, tls| {
        NbdServer::new(vec![export], tls, ConnectionLimits::default()).unwrap_err().to_string()
    };
    let good = export("e", 4096);
    let with = |minimum: u64, preferred: u64, maximum: u64| {
        let [minimum, preferred, maximum] = [minimum, preferred, maximum].map(outlast_units::Bytes);
        NbdExport { blocks: BlockSizes { minimum, preferred, maximum, required: false }, ..good.clone() }
    };
    for (minimum, preferred, maximum) in [
        (0, 4096, 1 << 20),
        (3, 4096, 1 << 20),
        (1 << 17, 1 << 17, 1 << 20),
        (512, 256, 1 << 20),
        (1, 256, 1 << 20),
        (512, 4096, 2048),
        (512, 512, 1000),
        (512, 4096, 1 << 27),
    ] {
        assert!(refused(with(minimum, preferred, maximum), TlsMode::Off).contains("block sizes"));
    }
    assert!(refused(export("e", 4095), TlsMode::Off).contains("size 4095 is not a multiple"));
    assert!(refused(export("e", 1 << 63), TlsMode::Off).contains("below 2^63"));
    assert!(refused(export(&"e".repeat(4097), 512), TlsMode::Off).contains("name has 4097 bytes"));
    assert!(
        refused(NbdExport { description: "\0".to_owned(), ..good.clone() }, TlsMode::Off)
            .contains("description has 1 bytes or a NUL")
    );
    assert!(
        refused(NbdExport { features: ExportFeatures::FAST_ZERO, ..good.clone() }, TlsMode::Off)
            .contains("fast zeroes")
    );
    assert!(refused(NbdExport { tls_only: true, ..good.clone() }, TlsMode::Off).contains("needs TLS"));
    let twice = NbdServer::new(vec![good.clone(), good.clone()], TlsMode::Off, ConnectionLimits::default());
    assert_eq!(twice.unwrap_err().to_string(), "export \"e\" is there twice");
    let none = NbdServer::new(
        vec![good],
        TlsMode::Off,
        ConnectionLimits { requests: 0, ..ConnectionLimits::default() },
    );
    assert_eq!(none.unwrap_err().to_string(), "limit requests is 0; at least 1");
}

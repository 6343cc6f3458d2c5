//! Any bytes as a client's requests, in pieces of any size: no panic, no request outside its export, every one answered, and no more
//! memory than was said. The first byte chooses the form of requests, the second the length of the pieces.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use outlast_nbd::{
    BlockSizes, ConnectionEvent, ConnectionLimits, ErrorCode, ExportFeatures, MetaContext, NbdCommand,
    NbdConnection, NbdExport, NbdServer, ReadPart, RequestId, StatusExtent, TlsMode,
};
use outlast_units::Bytes;

const SIZE: u64 = 1 << 20;

fn server() -> NbdServer {
    let features = ExportFeatures::FLUSH
        | ExportFeatures::FUA
        | ExportFeatures::TRIM
        | ExportFeatures::WRITE_ZEROES
        | ExportFeatures::CACHE;
    let export = NbdExport {
        name: "a".to_owned(),
        description: String::new(),
        size: Bytes(SIZE),
        blocks: BlockSizes::default(),
        features: features | ExportFeatures::FAST_ZERO,
        contexts: MetaContext::ALL.into_iter().collect(),
        tls_only: false,
    };
    let limits = ConnectionLimits { read_ahead: Bytes::kib(4), requests: 4, ..ConnectionLimits::default() };
    NbdServer::new(vec![export], TlsMode::Off, limits).expect("a plain export")
}

/// Flags, the form of replies, both contexts, `NBD_OPT_GO`.
fn opening(form: u8) -> Vec<u8> {
    let mut bytes = b"\0\0\0\x03".to_vec();
    match form % 3 {
        0 => {}
        1 => bytes.extend(b"IHAVEOPT\0\0\0\x08\0\0\0\0"),
        _ => bytes.extend(b"IHAVEOPT\0\0\0\x0b\0\0\0\0"),
    }
    bytes.extend(b"IHAVEOPT\0\0\0\x0a\0\0\0\x30\0\0\0\x01a\0\0\0\x02\0\0\0\x0fbase:allocation\0\0\0\x10x-outlast:health");
    bytes.extend(b"IHAVEOPT\0\0\0\x07\0\0\0\x07\0\0\0\x01a\0\0");
    bytes
}

fn feed(connection: &mut NbdConnection, mut bytes: &[u8]) {
    loop {
        let mut asked: Vec<(RequestId, u64, bool, bool)> = Vec::new();
        while let Some(event) = connection.poll() {
            if let ConnectionEvent::Request(request) = event {
                let (offset, length) = (request.offset, request.length.0);
                assert!(offset + length <= SIZE && (offset | length) % 512 == 0, "{request:?}");
                let is_status = matches!(request.command, NbdCommand::Status { .. });
                asked.push((request.id, length, request.command == NbdCommand::Read, is_status));
            }
        }
        for (id, length, is_read, is_status) in asked {
            if is_status {
                let extents = [StatusExtent { length: Bytes(512), flags: 1 }];
                connection.extents(id, &MetaContext::ALL.map(|context| (context, &extents[..])));
            } else if is_read {
                let half = (length / 2) as u32;
                connection.read_parts(id, &[ReadPart::Failed(half, ErrorCode::Io), ReadPart::Zero(half)]);
            } else {
                connection.done(id);
            }
        }
        connection.sent(connection.output_len());
        if bytes.is_empty() || connection.end().is_some() {
            return;
        }
        let space = connection.space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        connection.filled(count);
        bytes = &bytes[count..];
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [form, piece, bytes @ ..] = bytes else { return };
    let server = Arc::new(server());
    let mut connection = NbdConnection::new(server.clone());
    feed(&mut connection, &opening(*form));
    assert!(connection.export().is_some(), "the opening opens");
    for piece in bytes.chunks(usize::from(*piece) + 1) {
        feed(&mut connection, piece);
        assert!(connection.heap_bytes() <= server.memory_max());
    }
});

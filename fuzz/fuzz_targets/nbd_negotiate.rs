//! Any bytes as a client's negotiation, in pieces of any size: no panic, and no more memory than was said. The first byte chooses the mode
//! of TLS, the second the length of the pieces.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use outlast_nbd::{
    BlockSizes, ConnectionEvent, ConnectionLimits, ExportFeatures, MetaContext, NbdConnection, NbdExport,
    NbdServer, TlsMode,
};
use outlast_units::Bytes;

fn server(tls: TlsMode) -> NbdServer {
    let export = |name: &str, tls_only| NbdExport {
        name: name.to_owned(),
        description: "an export".to_owned(),
        size: Bytes::mib(1),
        blocks: BlockSizes::default(),
        features: ExportFeatures::FLUSH | ExportFeatures::TRIM,
        contexts: MetaContext::ALL.into_iter().collect(),
        tls_only,
    };
    let exports = vec![export("a", false), export("b", tls != TlsMode::Off)];
    let limits = ConnectionLimits { read_ahead: Bytes::kib(4), ..ConnectionLimits::default() };
    NbdServer::new(exports, tls, limits).expect("two plain exports")
}

fuzz_target!(|bytes: &[u8]| {
    let [mode, piece, bytes @ ..] = bytes else { return };
    let server =
        Arc::new(server([TlsMode::Off, TlsMode::Allowed, TlsMode::Required][usize::from(*mode) % 3]));
    let mut connection = NbdConnection::new(server.clone());
    for piece in bytes.chunks(usize::from(*piece) + 1) {
        let mut starts_tls = false;
        while let Some(event) = connection.poll() {
            match event {
                ConnectionEvent::StartTls => starts_tls = true,
                ConnectionEvent::Opened | ConnectionEvent::Ended(_) => return,
                ConnectionEvent::Request(request) => panic!("{request:?} without an export"),
            }
        }
        if starts_tls {
            connection.tls_started();
        }
        let space = connection.space();
        let count = space.len().min(piece.len());
        space[..count].copy_from_slice(&piece[..count]);
        connection.filled(count);
        assert!(connection.heap_bytes() <= server.memory_max());
        connection.sent(connection.output_len());
    }
});

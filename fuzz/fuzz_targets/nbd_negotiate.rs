//! Any bytes as a client's negotiation, in pieces of any size: no panic, and no more memory than was said. The first byte chooses the mode
//! of TLS, the second the length of the pieces.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use outlast_nbd::{BlockSizes, Connection, Context, Event, Export, Features, Limits, Server, Tls};
use outlast_units::Bytes;

fn server(tls: Tls) -> Server {
    let export = |name: &str, tls_only| Export {
        name: name.to_owned(),
        description: "an export".to_owned(),
        size: Bytes::mib(1),
        blocks: BlockSizes::default(),
        features: Features::FLUSH | Features::TRIM,
        contexts: Context::ALL.into_iter().collect(),
        tls_only,
    };
    let exports = vec![export("a", false), export("b", tls != Tls::Off)];
    let limits = Limits { read_ahead: Bytes::kib(4), ..Limits::default() };
    Server::new(exports, tls, limits).expect("two plain exports")
}

fuzz_target!(|bytes: &[u8]| {
    let [mode, piece, bytes @ ..] = bytes else { return };
    let server = Arc::new(server([Tls::Off, Tls::Allowed, Tls::Required][usize::from(*mode) % 3]));
    let mut connection = Connection::new(server.clone());
    for piece in bytes.chunks(usize::from(*piece) + 1) {
        let mut starts_tls = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::StartTls => starts_tls = true,
                Event::Opened | Event::Ended(_) => return,
                Event::Request(request) => panic!("{request:?} without an export"),
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

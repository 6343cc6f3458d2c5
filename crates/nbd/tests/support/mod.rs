//! A client of the tests' own, written from the specification: it shares no constant and no code with the crate.

#![allow(dead_code, reason = "each test uses a part of what they share")]

pub(crate) mod client;
pub(crate) mod disk;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod serve;
pub(crate) mod session;

use outlast_nbd::{BlockSizes, Context, Contexts, Export, Features, Limits, Server, Tls};
use outlast_units::Bytes;
use std::sync::Arc;

/// All that an export may offer.
pub(crate) fn everything() -> Features {
    Features::FLUSH
        | Features::FUA
        | Features::TRIM
        | Features::WRITE_ZEROES
        | Features::FAST_ZERO
        | Features::CACHE
        | Features::MULTI_CONN
}

/// An export of `size` bytes that offers everything.
pub(crate) fn export(name: &str, size: u64) -> Export {
    Export {
        name: name.to_owned(),
        description: format!("the export {name}"),
        size: Bytes(size),
        blocks: BlockSizes::default(),
        features: everything(),
        contexts: Contexts::NONE.with(Context::Allocation).with(Context::Health),
        tls_only: false,
    }
}

/// Three exports: `disk` of 1 MiB, `fixed` of 64 KiB to be read only, `secret`, which needs TLS where there is any.
pub(crate) fn server(tls: Tls, limits: Limits) -> Arc<Server> {
    let fixed = Export { features: everything() | Features::READ_ONLY, ..export("fixed", 64 << 10) };
    let secret = Export { tls_only: tls != Tls::Off, ..export("secret", 4096) };
    Arc::new(Server::new(vec![export("disk", 1 << 20), fixed, secret], tls, limits).unwrap())
}

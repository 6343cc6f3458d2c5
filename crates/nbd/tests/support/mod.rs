//! A client of the tests' own, written from the specification: it shares no constant and no code with the crate.

#![allow(dead_code, reason = "each test uses a part of what they share")]

pub(crate) mod client;
pub(crate) mod disk;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod serve;
pub(crate) mod session;

use outlast_nbd::{
    BlockSizes, ConnectionLimits, ExportFeatures, MetaContext, MetaContexts, NbdExport, NbdServer, TlsMode,
};
use outlast_units::Bytes;
use std::sync::Arc;

/// All that an export may offer.
pub(crate) fn everything() -> ExportFeatures {
    ExportFeatures::FLUSH
        | ExportFeatures::FUA
        | ExportFeatures::TRIM
        | ExportFeatures::WRITE_ZEROES
        | ExportFeatures::FAST_ZERO
        | ExportFeatures::CACHE
        | ExportFeatures::MULTI_CONN
}

/// An export of `size` bytes that offers everything.
pub(crate) fn export(name: &str, size: u64) -> NbdExport {
    NbdExport {
        name: name.to_owned(),
        description: format!("the export {name}"),
        size: Bytes(size),
        blocks: BlockSizes::default(),
        features: everything(),
        contexts: MetaContexts::NONE.with(MetaContext::Allocation).with(MetaContext::Health),
        tls_only: false,
    }
}

/// Three exports: `disk` of 1 MiB, `fixed` of 64 KiB to be read only, `secret`, which needs TLS where there is any.
pub(crate) fn server(tls: TlsMode, limits: ConnectionLimits) -> Arc<NbdServer> {
    let fixed = NbdExport { features: everything() | ExportFeatures::READ_ONLY, ..export("fixed", 64 << 10) };
    let secret = NbdExport { tls_only: tls != TlsMode::Off, ..export("secret", 4096) };
    Arc::new(NbdServer::new(vec![export("disk", 1 << 20), fixed, secret], tls, limits).unwrap())
}

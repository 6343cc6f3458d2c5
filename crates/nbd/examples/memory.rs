//! A disk in memory over NBD, to try clients on and to measure what the protocol costs: `memory PATH.sock SIZE`, with a size such as
//! `1GiB`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program of its own at the edge")]

#[allow(dead_code, reason = "tests use what this program does not")]
#[path = "../tests/support/disk.rs"]
mod disk;
#[allow(dead_code, reason = "tests use what this program does not")]
#[path = "../tests/support/serve.rs"]
mod serve;

use std::error::Error;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

use outlast_nbd::{BlockSizes, ConnectionLimits, ExportFeatures, MetaContext, NbdExport, NbdServer, TlsMode};
use outlast_units::Bytes;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, size] = &arguments[..] else { return Err("usage: memory PATH.sock SIZE".into()) };
    let size: Bytes = size.parse()?;
    let can_zero = ExportFeatures::TRIM | ExportFeatures::WRITE_ZEROES | ExportFeatures::FAST_ZERO;
    let export = NbdExport {
        name: "memory".to_owned(),
        description: format!("{size} in memory"),
        size,
        blocks: BlockSizes::default(),
        features: ExportFeatures::FLUSH
            | ExportFeatures::FUA
            | ExportFeatures::CACHE
            | ExportFeatures::MULTI_CONN
            | can_zero,
        contexts: MetaContext::ALL.into_iter().collect(),
        tls_only: false,
    };
    let server = Arc::new(NbdServer::new(vec![export], TlsMode::Off, ConnectionLimits::default())?);
    let disks = serve::disks(&server);
    let listener = UnixListener::bind(PathBuf::from(path))?;
    println!("nbd+unix:///memory?socket={path}");
    for stream in listener.incoming() {
        let (stream, server, disks) = (stream?, server.clone(), disks.clone());
        std::thread::spawn(move || serve::session(stream, server, &disks));
    }
    Ok(())
}

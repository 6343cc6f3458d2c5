//! A server with nothing behind it, which answers at once: what the loop and the protocol cost by themselves.

use std::io;

use outlast_nbd::{BlockSizes, Contexts, Export, Features, Op, Request};
use outlast_units::Bytes;

use crate::at_once::{self, AtOnce};
use crate::handle::ServerHandle;
use crate::net::Listen;
use crate::server::ServeError;
use crate::session::Answer;

/// Serves `size` bytes of zeroes, which forget what is written, on a thread of its own: for measurements.
///
/// # Errors
/// Nobody can listen there.
pub fn serve_without_device(listen: &Listen, size: Bytes) -> Result<ServerHandle, ServeError> {
    let export = Export {
        name: String::new(),
        description: "nothing".to_owned(),
        size,
        blocks: BlockSizes::default(),
        features: Features::FLUSH | Features::FUA | Features::MULTI_CONN | Features::TRIM,
        contexts: Contexts::NONE,
        tls_only: false,
    };
    at_once::serve(listen, export, Nothing)
}

/// What is behind the loop then.
struct Nothing;

impl AtOnce for Nothing {
    fn answer(&mut self, request: &Request<'_>) -> Answer {
        match request.op {
            Op::Read => Answer::Data(vec![0; request.length.0 as usize]),
            _ => Answer::Done,
        }
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

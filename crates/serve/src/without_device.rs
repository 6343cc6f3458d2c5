//! A server with nothing behind it, which answers at once: what the loop and the protocol cost by themselves.

use std::io;

use outlast_units::Bytes;

use crate::at_once::{self, AtOnce};
use crate::handle::ServerHandle;
use crate::net::Listen;
use crate::protocol::{Abilities, Answer, BlockOp, BlockRequest, ExportFacts, ExportSizes};
use crate::server::ServeError;

/// Serves `size` bytes of zeroes, which forget what is written, on a thread of its own: for measurements.
///
/// # Errors
/// Nobody can listen there.
pub fn serve_without_device(listen: &Listen, size: Bytes) -> Result<ServerHandle, ServeError> {
    let export = ExportFacts {
        name: String::new(),
        description: "nothing".to_owned(),
        size,
        sizes: ExportSizes::default(),
        abilities: Abilities::WRITE | Abilities::TRIM,
    };
    at_once::serve(listen, export, Nothing)
}

/// What is behind the loop then.
struct Nothing;

impl AtOnce for Nothing {
    fn answer(&mut self, request: &BlockRequest<'_>) -> Answer {
        match request.op {
            BlockOp::Read => Answer::Data(vec![0; request.length.0 as usize]),
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

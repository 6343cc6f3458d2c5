//! A server without a device, which replies at once: measures the cost of the loop and of the protocol.

use std::io;

use outlast_units::Bytes;

use crate::handle::ServerHandle;
use crate::instant::{self, InstantDevice};
use crate::net::ListenAddress;
use crate::protocol::{BlockOp, BlockReply, BlockRequest, ExportAbilities, ExportFacts, ExportSizes};
use crate::server::ServeError;

/// Serves `size` bytes that read as zeroes and ignore writes, on a thread of its own. For measurements.
///
/// # Errors
/// Nothing can listen at the address.
pub fn serve_without_device(listen: &ListenAddress, size: Bytes) -> Result<ServerHandle, ServeError> {
    let export = ExportFacts {
        name: String::new(),
        description: "nothing".to_owned(),
        size,
        sizes: ExportSizes::default(),
        abilities: ExportAbilities::WRITE | ExportAbilities::TRIM,
        namespaces: Vec::new(),
        placement: None,
        reclaim_unit: Bytes(0),
        zones: None,
    };
    instant::serve(listen, export, ZeroDevice)
}

/// A device of zeroes.
struct ZeroDevice;

impl InstantDevice for ZeroDevice {
    fn reply_to(&mut self, request: &BlockRequest<'_>) -> BlockReply {
        match request.op {
            BlockOp::Read { .. } => BlockReply::Data(vec![0; request.length.0 as usize]),
            _ => BlockReply::Done,
        }
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn shut_down(&mut self) -> io::Result<()> {
        Ok(())
    }
}

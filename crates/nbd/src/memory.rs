//! What one connection can take up.

use crate::export::Server;
use crate::negotiate::{self, OPTION_DATA_MAX};
use crate::outbox::PIECE;
use crate::transmit::Transmission;

impl Server {
    /// Bytes that a connection allocates at most, whatever its client sends; beside the heads of the parts of
    /// [`crate::Connection::read_parts`], 66 bytes each. It comes to some four times the limit of bytes, and in use to a small fraction.
    pub fn memory_max(&self) -> usize {
        let input = self.exports().iter().map(|export| export.blocks.maximum.0 as usize).max().unwrap_or(0);
        let input = (32 + input).max(16 + OPTION_DATA_MAX).max(self.limits().read_ahead.0 as usize);
        let reply = Transmission::cost_max(self) as usize;
        // A buffer that grows has up to twice the room that it needs, and the first one may be sent except for its end.
        let output = 2 * reply.max(self.limits().bytes.0 as usize) + 2 * (reply + PIECE);
        let output = output.max(4 * negotiate::output_max(self)) + PIECE;
        input + output + 2 * self.limits().requests as usize * Transmission::ENTRY
    }
}

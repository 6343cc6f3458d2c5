//! Bound on the memory of a connection.

use crate::export::NbdServer;
use crate::negotiate::{self, MAX_OPTION_DATA};
use crate::output_queue::PIECE_BYTES;
use crate::transmit::Transmission;

impl NbdServer {
    /// Most bytes that a connection allocates, whatever its client sends, except for 66 bytes for each part of [`crate::NbdConnection::read_parts`].
    /// About four times the limit of bytes; usual connections need a small fraction of it.
    pub fn memory_max(&self) -> usize {
        let input = self.exports().iter().map(|export| export.blocks.maximum.0 as usize).max().unwrap_or(0);
        // The longest message is an extended head of 32 bytes with a payload, or an option of 16 bytes with data.
        let input = (32 + input).max(16 + MAX_OPTION_DATA).max(self.limits().read_ahead.0 as usize);
        let reply = Transmission::max_cost(self) as usize;
        // A growing vector has up to twice the capacity that it needs, and the first piece may be sent except for its
        // last byte.
        let output = 2 * reply.max(self.limits().bytes.0 as usize) + 2 * (reply + PIECE_BYTES);
        let output = output.max(4 * negotiate::max_output(self)) + PIECE_BYTES;
        input + output + 2 * self.limits().requests as usize * Transmission::ENTRY_BYTES
    }
}

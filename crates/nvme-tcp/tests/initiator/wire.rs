//! What carries bytes between a host and a controller.

/// A connection, as a host has it.
pub(crate) trait HostWire {
    /// Sends bytes.
    fn send(&mut self, bytes: &[u8]);

    /// Receives exactly `count` bytes.
    fn receive(&mut self, count: usize) -> Vec<u8>;

    /// True if bytes have come that were not received.
    fn has_input(&mut self) -> bool;
}

//! What a device holds, without a command: the bytes that a read would give.

use outlast_units::Lba;
use std::sync::Arc;

/// A run of sectors with what reading it would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peek {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors; not 0.
    pub sectors: u64,
    /// What they hold.
    pub held: Held,
}

/// What reading sectors would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Zeroes.
    Zeroes,
    /// The bytes from byte `from` on. They are shared with the device: two answers with the same memory are equal, and it holds nothing else
    /// for as long as one of them is kept.
    Bytes {
        /// Where they are.
        memory: Arc<[u8]>,
        /// Where they begin there.
        from: usize,
    },
    /// Nothing: reading fails, as [`ExtentState::lost`](crate::ExtentState::lost) says.
    Lost,
    /// Only a read can tell.
    Unknown,
}

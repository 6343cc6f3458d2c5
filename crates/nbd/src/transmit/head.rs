//! The head of a request: the section "Request message", and the extension's form of it.

use crate::error::Violation;
use crate::reply::Mode;
use crate::wire::{command, command_flag, magic, u16_at, u32_at, u64_at};

/// What stands before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) flags: u16,
    pub(crate) command: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    /// Bytes of the export; of a request with a payload that says so itself, 0.
    pub(crate) length: u64,
    /// Bytes of payload.
    pub(crate) payload: u64,
}

impl Head {
    /// Reads the first bytes of `bytes`, as many as the mode's requests have.
    #[inline]
    pub(crate) fn parse(mode: Mode, bytes: &[u8]) -> Result<Self, Violation> {
        let is_extended = mode == Mode::Extended;
        let expected = if is_extended { magic::EXTENDED_REQUEST } else { magic::REQUEST };
        let found = u32_at(bytes, 0);
        if found != expected {
            return Err(Violation::RequestMagic(found));
        }
        let (flags, command) = (u16_at(bytes, 4), u16_at(bytes, 6));
        let length = if is_extended { u64_at(bytes, 24) } else { u64::from(u32_at(bytes, 24)) };
        // A write has a payload with extended headers, too, whether or not it says so: QEMU's client (10.0) does not set the flag, and
        // QEMU's server does not insist on it.
        let has_payload = command == command::WRITE || is_extended && flags & command_flag::PAYLOAD_LEN != 0;
        let is_effect = !has_payload || command == command::WRITE;
        Ok(Self {
            flags,
            command,
            cookie: u64_at(bytes, 8),
            offset: u64_at(bytes, 16),
            length: if is_effect { length } else { 0 },
            payload: if has_payload { length } else { 0 },
        })
    }
}

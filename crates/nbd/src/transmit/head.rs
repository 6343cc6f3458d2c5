//! Heads of requests: the section "Request message", and its extended form.

use crate::error::ProtocolViolation;
use crate::reply::MessageMode;
use crate::wire::{command, command_flag, magic, u16_at, u32_at, u64_at};

/// Head of a request, before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub(crate) flags: u16,
    pub(crate) command: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    /// Length of the range in the export, in bytes; 0 if the payload has it instead.
    pub(crate) length: u64,
    /// Length of the payload in bytes.
    pub(crate) payload: u64,
}

impl RequestHead {
    /// Parses the head of a request in the format of `mode`.
    #[inline]
    pub(crate) fn parse(mode: MessageMode, bytes: &[u8]) -> Result<Self, ProtocolViolation> {
        let is_extended = mode == MessageMode::Extended;
        let expected = if is_extended { magic::EXTENDED_REQUEST } else { magic::REQUEST };
        let magic = u32_at(bytes, 0);
        if magic != expected {
            return Err(ProtocolViolation::RequestMagic(magic));
        }
        let (flags, command) = (u16_at(bytes, 4), u16_at(bytes, 6));
        let length = if is_extended { u64_at(bytes, 24) } else { u64::from(u32_at(bytes, 24)) };
        // A write with extended headers has a payload whether or not the flag says so: QEMU's client (10.0) does not set
        // the flag, and QEMU's server does not require it.
        let has_payload = command == command::WRITE || is_extended && flags & command_flag::PAYLOAD_LEN != 0;
        let length_is_range = !has_payload || command == command::WRITE;
        Ok(Self {
            flags,
            command,
            cookie: u64_at(bytes, 8),
            offset: u64_at(bytes, 16),
            length: if length_is_range { length } else { 0 },
            payload: if has_payload { length } else { 0 },
        })
    }
}

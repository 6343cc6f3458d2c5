//! Numbers of the protocol, named as in `doc/proto.md` without the prefix `NBD_`, and readers of big-endian numbers.

/// Sections "Newstyle negotiation" and "Fixed newstyle negotiation".
pub(crate) mod magic {
    pub(crate) const INIT: u64 = 0x4e42_444d_4147_4943;
    pub(crate) const OPTION: u64 = 0x4948_4156_454f_5054;
    pub(crate) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
    pub(crate) const REQUEST: u32 = 0x2560_9513;
    pub(crate) const SIMPLE_REPLY: u32 = 0x6744_6698;
    pub(crate) const STRUCTURED_REPLY: u32 = 0x668e_33ef;
    pub(crate) const EXTENDED_REQUEST: u32 = 0x21e4_1c71;
    pub(crate) const EXTENDED_REPLY: u32 = 0x6e8a_278c;
}

/// Sections "Handshake flags" and "Client flags": the bits are the same on both sides.
pub(crate) mod handshake {
    pub(crate) const FIXED_NEWSTYLE: u16 = 1 << 0;
    pub(crate) const NO_ZEROES: u16 = 1 << 1;
}

/// Section "Option types".
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
    pub(crate) const EXTENDED_HEADERS: u32 = 11;
}

/// Section "Option reply types".
pub(crate) mod answer {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    pub(crate) const ERR_UNSUP: u32 = ERROR + 1;
    pub(crate) const ERR_POLICY: u32 = ERROR + 2;
    pub(crate) const ERR_INVALID: u32 = ERROR + 3;
    pub(crate) const ERR_TLS_REQD: u32 = ERROR + 5;
    pub(crate) const ERR_UNKNOWN: u32 = ERROR + 6;
    pub(crate) const ERR_SHUTDOWN: u32 = ERROR + 7;
    pub(crate) const ERR_BLOCK_SIZE_REQD: u32 = ERROR + 8;
    pub(crate) const ERR_TOO_BIG: u32 = ERROR + 9;
    pub(crate) const ERR_EXT_HEADER_REQD: u32 = ERROR + 10;
}

/// Information types of `NBD_REP_INFO`.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Section "Transmission flags". The flags that a caller sets are in `ExportFeatures`.
pub(crate) mod export_flag {
    pub(crate) const HAS_FLAGS: u16 = 1 << 0;
    pub(crate) const SEND_DF: u16 = 1 << 7;
    pub(crate) const BLOCK_STATUS_PAYLOAD: u16 = 1 << 12;
}

/// Section "Request types".
pub(crate) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISC: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const CACHE: u16 = 5;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Section "Command flags".
pub(crate) mod command_flag {
    pub(crate) const FUA: u16 = 1 << 0;
    pub(crate) const NO_HOLE: u16 = 1 << 1;
    pub(crate) const DF: u16 = 1 << 2;
    pub(crate) const REQ_ONE: u16 = 1 << 3;
    pub(crate) const FAST_ZERO: u16 = 1 << 4;
    pub(crate) const PAYLOAD_LEN: u16 = 1 << 5;
}

/// Section "Structured reply types", and `NBD_REPLY_FLAG_DONE`.
pub(crate) mod chunk {
    pub(crate) const FLAG_DONE: u16 = 1 << 0;
    pub(crate) const NONE: u16 = 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const OFFSET_HOLE: u16 = 2;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const BLOCK_STATUS_EXT: u16 = 6;
    pub(crate) const ERROR: u16 = (1 << 15) + 1;
    pub(crate) const ERROR_OFFSET: u16 = (1 << 15) + 2;
}

/// Longest string in bytes, such as a name of an export: section "Conventions".
pub(crate) const STRING_MAX: usize = 4096;

/// Length up to which a payload must be accepted as harmless, whatever was advertised: section "Size constraints".
pub(crate) const PAYLOAD_HARMLESS: u64 = 1 << 25;

/// The big-endian 16-bit number at offset `at`.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The big-endian 32-bit number at offset `at`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The big-endian 64-bit number at offset `at`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) << 32 | u64::from(u32_at(bytes, at + 4))
}

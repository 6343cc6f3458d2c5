//! Protocol data units of `NVMe/TCP` (`NVMe/TCP` Transport Specification 1.0, section 3.6).

/// Types of units.
pub(crate) const IC_REQ: u8 = 0x00;
pub(crate) const IC_RESP: u8 = 0x01;
pub(crate) const H2C_TERM: u8 = 0x02;
pub(crate) const C2H_TERM: u8 = 0x03;
pub(crate) const CAPSULE_CMD: u8 = 0x04;
pub(crate) const CAPSULE_RESP: u8 = 0x05;
pub(crate) const H2C_DATA: u8 = 0x06;
pub(crate) const C2H_DATA: u8 = 0x07;
pub(crate) const R2T: u8 = 0x09;

/// Flags.
pub(crate) const HEADER_DIGEST: u8 = 1;
pub(crate) const DATA_DIGEST: u8 = 1 << 1;
pub(crate) const LAST: u8 = 1 << 2;

/// Lengths, in bytes.
pub(crate) const COMMON_BYTES: usize = 8;
pub(crate) const IC_BYTES: usize = 128;
pub(crate) const SHORT_BYTES: usize = 24;
pub(crate) const CAPSULE_BYTES: usize = 72;
pub(crate) const DIGEST_BYTES: usize = 4;
/// Fields of a short unit behind its common header.
pub(crate) const FIELD_BYTES: usize = SHORT_BYTES - COMMON_BYTES;
/// Longest part of a unit for the host before its data: the greatest alignment that a host may ask for.
pub(crate) const HEAD_BYTES: usize = 128;
/// Longest copy of a wrong header in a termination request.
const TERM_COPY_BYTES: usize = 128;

/// Causes of a termination (FES), and the offset of the wrong field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FatalError {
    /// A field of the header is wrong: its offset.
    Field(u32),
    /// A unit that is not allowed at this point.
    Sequence,
    /// The digest of the header is wrong: the digest that came.
    HeaderDigest(u32),
    /// Data outside of what was asked for.
    DataRange,
    /// More data in a unit than was promised to be taken.
    DataLimit,
    /// A parameter that is not supported: the offset of its field.
    Unsupported(u32),
}

impl FatalError {
    fn fields(self) -> (u16, u32) {
        match self {
            Self::Field(offset) => (1, offset),
            Self::Sequence => (2, 0),
            Self::HeaderDigest(digest) => (3, digest),
            Self::DataRange => (4, 0),
            Self::DataLimit => (5, 0),
            Self::Unsupported(offset) => (6, offset),
        }
    }
}

/// The common header of all units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommonHeader {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// Length of the header, without its digest.
    pub(crate) header: usize,
    /// Offset of the data; 0 without data.
    pub(crate) data: usize,
    /// Length of the whole unit.
    pub(crate) length: usize,
}

impl CommonHeader {
    /// Reads the first [`COMMON_BYTES`] bytes of a unit.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self {
            kind: bytes[0],
            flags: bytes[1],
            header: bytes[2].into(),
            data: bytes[3].into(),
            length: u32_at(bytes, 4) as usize,
        }
    }

    /// Checks the header of a unit from a host: its type, and its lengths against the longest `data` of its type.
    pub(crate) fn check(&self, digests: Digests, is_open: bool, data: usize) -> Result<(), FatalError> {
        let header = match self.kind {
            IC_REQ => IC_BYTES,
            CAPSULE_CMD => CAPSULE_BYTES,
            H2C_DATA | H2C_TERM => SHORT_BYTES,
            _ => return Err(FatalError::Field(0)),
        };
        if (self.kind == IC_REQ) == is_open && self.kind != H2C_TERM {
            return Err(FatalError::Sequence);
        }
        if self.header != header {
            return Err(FatalError::Field(2));
        }
        let (longest, has_digests) = match self.kind {
            IC_REQ => (IC_BYTES, false),
            H2C_TERM => (SHORT_BYTES + TERM_COPY_BYTES, false),
            _ => (usize::from(u8::MAX) + data + DIGEST_BYTES, true),
        };
        let least = self.end_of_header(digests.header && has_digests);
        if self.length < least || self.length > longest {
            return Err(FatalError::Field(4));
        }
        if !has_digests {
            return Ok(());
        }
        let has_data = self.length > least;
        if (self.flags & HEADER_DIGEST != 0) != digests.header
            || has_data && (self.flags & DATA_DIGEST != 0) != digests.data
        {
            return Err(FatalError::Field(1));
        }
        // Data begins behind the header, in units of 4 bytes, and its digest follows it.
        let tail = if digests.data { DIGEST_BYTES } else { 0 };
        let fits = self.data >= least && self.data.is_multiple_of(4) && self.data + tail <= self.length;
        if has_data && !fits {
            return Err(FatalError::Field(3));
        }
        let count = self.length.saturating_sub(self.data + tail);
        if has_data && count > data { Err(FatalError::DataLimit) } else { Ok(()) }
    }

    /// Offset behind the header and its digest.
    pub(crate) fn end_of_header(&self, has_digest: bool) -> usize {
        self.header + if has_digest { DIGEST_BYTES } else { 0 }
    }
}

/// Digests that host and controller have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) header: bool,
    pub(crate) data: bool,
}

/// A unit without data, or the part before it: common header, `fields` behind it, padding up to `length`.
pub(crate) fn header(kind: u8, flags: u8, length: usize, fields: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, flags, length as u8, 0];
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend(fields);
    bytes.resize(length, 0);
    bytes
}

/// Sets the length of a unit, and the offset of its data.
pub(crate) fn set_lengths(bytes: &mut [u8], data: usize, length: usize) {
    bytes[3] = data as u8;
    bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
}

/// A termination request for `error` in a unit that began with `wrong`.
pub(crate) fn termination(error: FatalError, wrong: &[u8]) -> Vec<u8> {
    let (status, information) = error.fields();
    let mut fields = status.to_le_bytes().to_vec();
    fields.extend(information.to_le_bytes());
    let mut unit = header(C2H_TERM, 0, SHORT_BYTES, &fields);
    unit.extend(&wrong[..wrong.len().min(TERM_COPY_BYTES)]);
    let length = unit.len();
    set_lengths(&mut unit, 0, length);
    unit
}

/// The 16-bit number at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The 32-bit number at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

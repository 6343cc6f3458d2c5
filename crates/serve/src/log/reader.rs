//! Reading a segment. What is read may be torn, damaged, or something else altogether.

use super::record::{HEADER, LONGEST, PREFIX, Record, checksum, decode};
use super::{MAGIC, Place, SEGMENT_HEADER, VERSION};
use std::io::{self, Read};
use thiserror::Error;

/// Why a segment cannot be read on.
#[derive(Debug, Error)]
pub enum Damage {
    /// It is no segment of a log.
    #[error("is not a log of an Outlast image")]
    Foreign,
    /// It is one of another version.
    #[error("has version {found}; this program reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It is a segment of another image, or another one of this.
    #[error("is segment {segment} of image {image:016x}, and does not belong here")]
    Elsewhere {
        /// The image that it belongs to.
        image: u64,
        /// Its number there.
        segment: u32,
    },
    /// A record is not as it was written, or has not been written whole.
    #[error("is damaged at byte {offset}")]
    Record {
        /// Where the record begins.
        offset: u64,
    },
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Reads the records of a segment in order. Takes no more memory than the longest of them, and never more than [`LONGEST`] allows.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    place: Place,
    /// Where the record in `body` lies.
    at: Place,
    body: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// A segment that should be number `segment` of `image`.
    ///
    /// # Errors
    /// It is not.
    pub fn new(mut from: R, image: u64, segment: u32) -> Result<Self, Damage> {
        let mut header = [0; SEGMENT_HEADER];
        let got = fill(&mut from, &mut header)?;
        if got >= 8 && header[..8] != MAGIC {
            return Err(Damage::Foreign);
        }
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if got < SEGMENT_HEADER || crc32c::crc32c(&header[..24]) != number(24) {
            return Err(Damage::Record { offset: 0 });
        }
        if number(8) != VERSION {
            return Err(Damage::Version { found: number(8) });
        }
        let found = u64::from(number(12)) | u64::from(number(16)) << 32;
        if (found, number(20)) != (image, segment) {
            return Err(Damage::Elsewhere { image: found, segment: number(20) });
        }
        let place = Place { image, segment, offset: SEGMENT_HEADER as u64 };
        Ok(Self { from, place, at: place, body: Vec::new() })
    }

    /// Where the next record begins.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// There is something, and it is no whole record.
    #[allow(clippy::should_implement_trait, reason = "a record borrows from its reader")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Damage> {
        Ok(if self.read()? { self.record().1 } else { None })
    }

    /// Reads the next record, for [`Reader::record`]; false at the end.
    ///
    /// # Errors
    /// Those of [`Reader::next`].
    pub fn read(&mut self) -> Result<bool, Damage> {
        let damage = Damage::Record { offset: self.place.offset };
        let mut prefix = [0; PREFIX];
        match fill(&mut self.from, &mut prefix)? {
            0 => return Ok(false),
            PREFIX => {}
            _ => return Err(damage),
        }
        let len = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]);
        let sum = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
        if (len as usize) < HEADER - PREFIX || len as usize > HEADER - PREFIX + LONGEST {
            return Err(damage);
        }
        // As much as there is, not as much as a damaged length says.
        self.body.clear();
        let got = self.from.by_ref().take(len.into()).read_to_end(&mut self.body)?;
        if got != len as usize || checksum(&self.place, len, &self.body) != sum {
            return Err(damage);
        }
        if decode(&self.body).is_none() {
            return Err(damage);
        }
        self.at = self.place;
        self.place.offset += (PREFIX + got) as u64;
        Ok(true)
    }

    /// The record that was read last, and where it lies.
    pub fn record(&self) -> (Place, Option<Record<'_>>) {
        (self.at, decode(&self.body))
    }
}

/// Fills `buffer` as far as there is something; returns how far.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

//! Reading of segments, which may be torn, damaged, or no segments at all.

use super::record::{LogRecord, MAX_PAYLOAD, RECORD_HEADER, RECORD_PREFIX, checksum, decode};
use super::{MAGIC, RecordPlace, SEGMENT_HEADER, VERSION};
use std::io::{self, Read};
use thiserror::Error;

/// Reason for which a segment cannot be read further.
#[derive(Debug, Error)]
pub enum LogDamage {
    /// The file is no segment of a log.
    #[error("is not a log of an Outlast image")]
    Foreign,
    /// The segment has another version.
    #[error("has version {version}; this program reads version {VERSION}")]
    Version {
        /// Version of the segment.
        version: u32,
    },
    /// The segment belongs to another image, or has another number.
    #[error("is segment {segment} of image {image:016x}, and does not belong here")]
    Elsewhere {
        /// Number of the image it belongs to.
        image: u64,
        /// Number of the segment there.
        segment: u32,
    },
    /// A record is damaged or incomplete.
    #[error("is damaged at byte {offset}")]
    Record {
        /// Offset of the record, in bytes.
        offset: u64,
    },
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Reader of the records of a segment, in order. Its memory is that of the longest record, at most [`MAX_PAYLOAD`] and a header.
#[derive(Debug)]
pub struct SegmentReader<R> {
    from: R,
    place: RecordPlace,
    /// Place of the record in `body`.
    at: RecordPlace,
    body: Vec<u8>,
}

impl<R: Read> SegmentReader<R> {
    /// Opens a segment that must be number `segment` of `image`.
    ///
    /// # Errors
    /// The segment is not the expected one.
    pub fn new(mut from: R, image: u64, segment: u32) -> Result<Self, LogDamage> {
        let mut header = [0; SEGMENT_HEADER];
        let filled = fill(&mut from, &mut header)?;
        // Compared before the checksum, so that a foreign file is not reported as damaged.
        if filled >= 8 && header[..8] != MAGIC {
            return Err(LogDamage::Foreign);
        }
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if filled < SEGMENT_HEADER || crc32c::crc32c(&header[..24]) != number(24) {
            return Err(LogDamage::Record { offset: 0 });
        }
        if number(8) != VERSION {
            return Err(LogDamage::Version { version: number(8) });
        }
        let found_image = u64::from(number(12)) | u64::from(number(16)) << 32;
        if (found_image, number(20)) != (image, segment) {
            return Err(LogDamage::Elsewhere { image: found_image, segment: number(20) });
        }
        let place = RecordPlace { image, segment, offset: SEGMENT_HEADER as u64 };
        Ok(Self { from, place, at: place, body: Vec::new() })
    }

    /// Place of the next record.
    pub fn place(&self) -> RecordPlace {
        self.place
    }

    /// Next record; `None` at the end.
    ///
    /// # Errors
    /// The bytes that follow are no complete record.
    #[allow(clippy::should_implement_trait, reason = "a record borrows from its reader")]
    pub fn next(&mut self) -> Result<Option<LogRecord<'_>>, LogDamage> {
        Ok(if self.read()? { self.record().1 } else { None })
    }

    /// Reads the next record, which [`SegmentReader::record`] then returns; false at the end.
    ///
    /// # Errors
    /// Those of [`SegmentReader::next`].
    pub fn read(&mut self) -> Result<bool, LogDamage> {
        let damage = LogDamage::Record { offset: self.place.offset };
        let mut prefix = [0; RECORD_PREFIX];
        match fill(&mut self.from, &mut prefix)? {
            0 => return Ok(false),
            RECORD_PREFIX => {}
            _ => return Err(damage),
        }
        let len = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]);
        let sum = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
        if (len as usize) < RECORD_HEADER - RECORD_PREFIX
            || len as usize > RECORD_HEADER - RECORD_PREFIX + MAX_PAYLOAD
        {
            return Err(damage);
        }
        // Reads as many bytes as there are, so that a damaged length does not reserve memory.
        self.body.clear();
        let filled = self.from.by_ref().take(len.into()).read_to_end(&mut self.body)?;
        if filled != len as usize || checksum(&self.place, len, &self.body) != sum {
            return Err(damage);
        }
        // A right checksum does not suffice: a record forged with one may have any content.
        if decode(&self.body).is_none() {
            return Err(damage);
        }
        self.at = self.place;
        self.place.offset += (RECORD_PREFIX + filled) as u64;
        Ok(true)
    }

    /// The record read last, and its place.
    pub fn record(&self) -> (RecordPlace, Option<LogRecord<'_>>) {
        (self.at, decode(&self.body))
    }
}

/// Fills `buffer` as far as the input lasts; returns the number of bytes.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

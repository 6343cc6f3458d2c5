//! Any bytes as a segment of a log of inputs: no panic, records only where their checksum says so, and no more memory than a record may take.
//! Bytes that do not begin with a header are read behind a good one, and made into records whose checksums are right, so that what is in a
//! record is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_serve::log::{MAX_PAYLOAD, SegmentReader, segment_header};

const IMAGE: u64 = 1;
const SEGMENT: u32 = 1;
/// Bytes of a record's fields, behind its length and checksum.
const FIELDS: usize = 36;

/// Bytes as records, each with the fields and the payload that they say.
fn records(mut bytes: &[u8]) -> Vec<u8> {
    let mut log = segment_header(IMAGE, SEGMENT).to_vec();
    while let Some((&size, rest)) = bytes.split_first() {
        let length = FIELDS + usize::from(size) * 16;
        let (body, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        let length = (body.len() as u32).to_le_bytes();
        let place =
            [&IMAGE.to_le_bytes()[..], &SEGMENT.to_le_bytes(), &(log.len() as u64).to_le_bytes()].concat();
        let sum = crc32c::crc32c(&[&place[..], &length, body].concat());
        log.extend_from_slice(&[&length[..], &sum.to_le_bytes(), body].concat());
    }
    log
}

/// How many records there are before the end, or what is none.
fn read(log: &[u8]) -> usize {
    let Ok(mut reader) = SegmentReader::new(log, IMAGE, SEGMENT) else { return 0 };
    let (mut before, mut count) = (reader.place().offset, 0);
    while let Ok(Some(record)) = reader.next() {
        assert!(format!("{:?}", record.input()).len() <= MAX_PAYLOAD);
        let place = reader.place();
        assert!(place.offset > before && place.offset <= log.len() as u64);
        before = place.offset;
        count += 1;
    }
    count
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&[&segment_header(IMAGE, SEGMENT)[..], bytes].concat());
    read(&records(bytes));
    // A mark with what there is: checksums as the reader has them.
    if let Ok(text) = std::str::from_utf8(&bytes[..bytes.len().min(250 * 16)]) {
        let padded = format!("{text}{}", " ".repeat(text.len().next_multiple_of(16) - text.len()));
        let mut mark = vec![(padded.len() / 16) as u8];
        mark.extend_from_slice(&[0; FIELDS]);
        mark[1 + 8] = 6;
        mark.extend_from_slice(padded.as_bytes());
        assert_eq!(read(&records(&mark)), 1, "a mark is a record");
    }
});

//! Any bytes as a segment of a log of inputs: no panic, records only where their checksum says so, and no more memory than a record may take.
//! Bytes that do not begin with a header are read behind a good one, so that records are reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_serve::log::{LONGEST, Reader, segment_header};

fuzz_target!(|bytes: &[u8]| {
    let header = segment_header(1, 1);
    for text in [bytes.to_vec(), [&header[..], bytes].concat()] {
        let Ok(mut reader) = Reader::new(text.as_slice(), 1, 1) else { continue };
        let mut before = reader.place().offset;
        while let Ok(Some(record)) = reader.next() {
            assert!(format!("{:?}", record.input()).len() <= LONGEST);
            let place = reader.place();
            assert!(place.offset > before && place.offset <= text.len() as u64);
            before = place.offset;
        }
    }
});

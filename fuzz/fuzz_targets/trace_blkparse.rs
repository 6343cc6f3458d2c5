//! Any bytes through the parser of format blkparse: no panic, no endless loop.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_workload::{TraceFormat, parse_bytes};

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_bytes(TraceFormat::Blkparse, bytes);
});

//! Any bytes behind the beginning of each compression and encoding: no panic, no endless loop, bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_workload::{TraceFormat, parse_bytes};

/// Beginnings of gzip, zstd, bzip2, xz, a zip archive, and UTF-16 in both orders.
const MAGICS: [&[u8]; 7] = [
    &[0x1f, 0x8b, 8],
    &[0x28, 0xb5, 0x2f, 0xfd],
    b"BZh91AY&SY",
    &[0xfd, b'7', b'z', b'X', b'Z', 0],
    b"PK\x03\x04",
    &[0xff, 0xfe],
    &[0xfe, 0xff],
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let magic = MAGICS[usize::from(first) % MAGICS.len()];
    let _ = parse_bytes(TraceFormat::Msr, &[magic, rest].concat());
    // Files whose beginning the fuzzer has found itself.
    let _ = parse_bytes(TraceFormat::Msr, rest);
});

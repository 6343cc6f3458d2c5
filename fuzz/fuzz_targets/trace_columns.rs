//! Any bytes through the readers of tables, of caches' traces and of block events: no panic, no endless loop.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_workload::{TraceFormat, parse_bytes};

fuzz_target!(|bytes: &[u8]| {
    for format in [
        TraceFormat::MsrShort,
        TraceFormat::Fiu,
        TraceFormat::Tencent,
        TraceFormat::Systor,
        TraceFormat::K5,
        TraceFormat::CloudPhysics,
        TraceFormat::OracleGeneral,
        TraceFormat::Biosnoop,
        TraceFormat::BlockRq,
    ] {
        let _ = parse_bytes(format, bytes);
    }
});

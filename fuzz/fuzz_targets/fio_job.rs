//! Any text as a fio job: no panic, and no request beyond the device.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_units::Bytes;
use outlast_workload::{WorkloadTarget, parse_job};

fuzz_target!(|text: &str| {
    let target = WorkloadTarget {
        capacity: Bytes::mib(64),
        seed: 1,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    if let Ok(mut workload) = parse_job(text, &target) {
        let mut requests = Vec::new();
        let _ = workload.source.fill(&mut requests, 256);
        for request in requests {
            assert!(request.command.lba.0 + u64::from(request.command.sectors) <= 131_072, "{request:?}");
        }
    }
});

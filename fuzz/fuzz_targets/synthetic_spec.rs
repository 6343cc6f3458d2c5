//! Any text as the settings of a synthetic stream: no panic, and no request beyond the device.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_units::Bytes;
use outlast_workload::{SyntheticSpec, WorkloadSpec, WorkloadTarget};

fuzz_target!(|text: &str| {
    let Ok(synthetic) = toml::from_str::<SyntheticSpec>(text) else { return };
    let spec = WorkloadSpec { synthetic: Some(synthetic), ..WorkloadSpec::default() };
    let target = WorkloadTarget {
        capacity: Bytes::mib(64),
        seed: 1,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    if let Ok(mut workload) = spec.open(&target) {
        let mut requests = Vec::new();
        let _ = workload.source.fill(&mut requests, 256);
        for request in requests {
            assert!(request.command.lba.0 + u64::from(request.command.sectors) <= 131_072, "{request:?}");
        }
    }
});

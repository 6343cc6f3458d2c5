//! Does every genuine trace read as its documentation says? The captures lie outside the repository: in the folder that
//! `OUTLAST_TRACES` names, or in `../shared/traces` beside the repository. Absent ones are skipped, saying so.
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::print_stdout,
    reason = "tests fail by panicking, build small texts, and say what they skip"
)]

use outlast_units::Bytes;
use outlast_workload::{AddressUnit, DeviceLayout, TimeUnit, TraceFormat, TraceSpec, trace_info};
use outlast_workload::{WorkloadSpec, WorkloadTarget};

/// The file's path, or `None` (with a message) if it is not there.
fn trace(name: &str) -> Option<String> {
    #[allow(clippy::disallowed_methods, reason = "tests find the captures outside the repository")]
    let folder = std::env::var("OUTLAST_TRACES")
        .unwrap_or_else(|_| format!("{}/../../../shared/traces", env!("CARGO_MANIFEST_DIR")));
    let path = format!("{folder}/{name}.zst");
    if std::path::Path::new(&path).exists() {
        return Some(path);
    }
    println!("skipped: {path} is not there");
    None
}

/// Figures from the documentation of the captures: name, format, units, records, span in s, reads in %, mean KiB of reads and of
/// writes, footprint in MiB, written GiB, hot20 in %. Figures there are rounded to the last digit shown.
struct CaptureFigures {
    name: &'static str,
    format: TraceFormat,
    time: TimeUnit,
    address: AddressUnit,
    records: u64,
    span: f64,
    reads: f64,
    mean: (f64, f64),
    footprint: f64,
    written: f64,
    hot20: f64,
}

const BYTE: AddressUnit = AddressUnit::Byte;
const SECTOR: AddressUnit = AddressUnit::Sector;

#[rustfmt::skip]
const ROWS: [CaptureFigures; 8] = [
    CaptureFigures { name: "ms-prod-dtrs-127k.ascii", format: TraceFormat::Ascii, time: TimeUnit::Us, address: SECTOR, records: 127_043, span: 300.0, reads: 89.0, mean: (55.6, 53.4), footprint: 4970.0, written: 0.71, hot20: 34.9 },
    CaptureFigures { name: "cloudphysics-2h.vscsi", format: TraceFormat::Vscsi, time: TimeUnit::Us, address: BYTE, records: 113_872, span: 7200.0, reads: 41.0, mean: (37.4, 35.2), footprint: 1052.0, written: 2.24, hot20: 42.1 },
    CaptureFigures { name: "spc-financial1-first10k.ascii", format: TraceFormat::Ascii, time: TimeUnit::Ns, address: SECTOR, records: 10_000, span: 260.0, reads: 41.0, mean: (6.1, 4.9), footprint: 29.0, written: 0.03, hot20: 58.2 },
    CaptureFigures { name: "msr-cut10k-rw20_80.txt", format: TraceFormat::Ascii, time: TimeUnit::Ms, address: BYTE, records: 10_000, span: 243.0, reads: 20.0, mean: (1.8, 6.2), footprint: 29.0, written: 0.05, hot20: 64.3 },
    CaptureFigures { name: "msft-iozone-100k.ascii", format: TraceFormat::Ascii, time: TimeUnit::Ms, address: SECTOR, records: 100_000, span: 936.0, reads: 0.0, mean: (0.0, 360.0), footprint: 1060.0, written: 34.3, hot20: 47.8 },
    CaptureFigures { name: "msr-hm_0-first899.csv", format: TraceFormat::Msr, time: TimeUnit::Filetime, address: BYTE, records: 899, span: 127.0, reads: 45.0, mean: (11.1, 7.1), footprint: 6.0, written: 0.003, hot20: 40.4 },
    CaptureFigures { name: "mqsim-tpcc-small.trace", format: TraceFormat::Ascii, time: TimeUnit::Ns, address: SECTOR, records: 6_999, span: 0.14, reads: 63.0, mean: (8.1, 8.7), footprint: 80.0, written: 0.02, hot20: 20.8 },
    CaptureFigures { name: "ycsb-rocksdb-blkparse-first10000.txt", format: TraceFormat::Blkparse, time: TimeUnit::S, address: SECTOR, records: 1_695, span: 0.7, reads: 100.0, mean: (114.0, 0.0), footprint: 189.0, written: 0.0, hot20: 20.0 },
];

#[test]
fn every_trace_reads_as_documented() {
    for row in ROWS {
        let Some(file) = trace(row.name) else { continue };
        // The documented footprints count the same address of two devices twice.
        let spec = TraceSpec { file, devices: DeviceLayout::Concat, ..TraceSpec::default() };
        let info = trace_info(&spec).unwrap();
        let name = row.name;
        assert_eq!(
            (info.format, info.time_unit, info.address_unit),
            (row.format, row.time, row.address),
            "{name}: {:?}",
            info.notes
        );
        assert_eq!(info.compression, "zstd");
        assert_eq!(info.records, row.records, "{name}");
        // Each figure may differ by half of the last digit shown; for spans and shares of whole numbers that is 0.5.
        let near = |what: &str, found: f64, wanted: f64, half: f64| {
            assert!((found - wanted).abs() <= half, "{name}: {what} is {found}, documented {wanted}");
        };
        near("span", info.span_s, row.span, if row.span < 1.0 { 0.05 } else { 0.5 });
        near("reads", info.reads.percent, row.reads, 0.5);
        near(
            "mean read",
            info.reads.mean_bytes / 1024.0,
            row.mean.0,
            if row.mean.0 > 100.0 { 0.5 } else { 0.05 },
        );
        near(
            "mean write",
            info.writes.mean_bytes / 1024.0,
            row.mean.1,
            if row.mean.1 > 100.0 { 0.5 } else { 0.05 },
        );
        near("footprint", info.footprint_mib, row.footprint, 0.5);
        near(
            "written",
            info.writes.bytes as f64 / f64::from(1 << 30),
            row.written,
            if row.written > 10.0 { 0.05 } else { 0.005 },
        );
        near("hot20", info.hot20_percent.unwrap(), row.hot20, 0.05);
        println!("{name}: {}", serde_json::to_string(&info).unwrap());
    }
}

#[test]
fn every_trace_replays_on_a_small_device_within_its_capacity() {
    let target = WorkloadTarget {
        capacity: Bytes::gib(2),
        seed: 1,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    for row in ROWS {
        let Some(file) = trace(row.name) else { continue };
        for addresses in ["wrap", "fit"] {
            let text = format!(
                "[trace]\nfile = {file:?}\naddresses = \"{addresses}\"\nalign = \"4KiB\"\nrepeat = 2"
            );
            let spec: WorkloadSpec = toml::from_str(&text).unwrap();
            let mut workload = spec.open(&target).unwrap();
            let mut requests = Vec::new();
            while workload.source.fill(&mut requests, 1000).unwrap() > 0 {}
            assert_eq!(requests.len() as u64, 2 * row.records, "{}", row.name);
            assert!(requests.is_sorted_by_key(|request| request.at));
            let within = |r: &outlast_workload::WorkloadRequest| {
                r.command.lba.0 + u64::from(r.command.sectors) <= (2 << 30) / 512
            };
            assert!(requests.iter().all(within), "{}", row.name);
            assert_eq!(workload.source.progress(), Some(1.0));
            // Again from the beginning: the same.
            workload.source.rewind().unwrap();
            let mut again = Vec::new();
            workload.source.fill(&mut again, 500).unwrap();
            assert_eq!(again[..], requests[..500]);
        }
    }
}

//! Does any fuzz target fail on inputs like those that people write?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unused_attributes,
    reason = "tests fail by panicking and read what lies in the repository; targets, which are programs, say that they have no main"
)]

#[path = "../../../fuzz/fuzz_targets/chip_file.rs"]
mod chip_file;
#[path = "../../../fuzz/fuzz_targets/fio_job.rs"]
mod fio_job;
#[path = "../../../fuzz/fuzz_targets/nbd_negotiate.rs"]
mod nbd_negotiate;
#[path = "../../../fuzz/fuzz_targets/nbd_transmit.rs"]
mod nbd_transmit;
#[path = "../../../fuzz/fuzz_targets/nvme_tcp.rs"]
mod nvme_tcp;
#[path = "../../../fuzz/fuzz_targets/scenario.rs"]
mod scenario;
#[path = "../../../fuzz/fuzz_targets/serve_log.rs"]
mod serve_log;
#[path = "../../../fuzz/fuzz_targets/snapshot.rs"]
mod snapshot;
#[path = "../../../fuzz/fuzz_targets/synthetic_spec.rs"]
mod synthetic_spec;
#[path = "../../../fuzz/fuzz_targets/trace_alibaba.rs"]
mod trace_alibaba;
#[path = "../../../fuzz/fuzz_targets/trace_ascii.rs"]
mod trace_ascii;
#[path = "../../../fuzz/fuzz_targets/trace_auto.rs"]
mod trace_auto;
#[path = "../../../fuzz/fuzz_targets/trace_blkparse.rs"]
mod trace_blkparse;
#[path = "../../../fuzz/fuzz_targets/trace_columns.rs"]
mod trace_columns;
#[path = "../../../fuzz/fuzz_targets/trace_etw.rs"]
mod trace_etw;
#[path = "../../../fuzz/fuzz_targets/trace_fio_iolog.rs"]
mod trace_fio_iolog;
#[path = "../../../fuzz/fuzz_targets/trace_msr.rs"]
mod trace_msr;
#[path = "../../../fuzz/fuzz_targets/trace_packed.rs"]
mod trace_packed;
#[path = "../../../fuzz/fuzz_targets/trace_spc.rs"]
mod trace_spc;
#[path = "../../../fuzz/fuzz_targets/trace_vscsi.rs"]
mod trace_vscsi;

use std::fs;
use std::path::{Path, PathBuf};

use outlast_workload::{AddressUnit, TimeUnit, TraceFormat, TraceSpec, convert};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository, in the order of their names.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has no file *.{ending}");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A short trace in a format.
fn trace(format: TraceFormat) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    fs::write(&file, "0 0 8 8 1\n1500000 0 4096 16 0\n2500000 0 131064 8 0\n").unwrap();
    let spec = TraceSpec {
        file: file.to_str().unwrap().to_owned(),
        format: TraceFormat::Ascii,
        time_unit: Some(TimeUnit::Ns),
        address_unit: Some(AddressUnit::Sector),
        ..TraceSpec::default()
    };
    let mut written = Vec::new();
    convert(&spec, format, &mut written, &mut |_| true).unwrap();
    written
}

/// What a target reads when it reads something that is right; none where a target makes its inputs itself.
pub(crate) fn samples(module: &str) -> Vec<Vec<u8>> {
    const FORMATS: [TraceFormat; 10] = [
        TraceFormat::Msr,
        TraceFormat::Spc,
        TraceFormat::Ascii,
        TraceFormat::Blkparse,
        TraceFormat::FioIolog,
        TraceFormat::FioIologV2,
        TraceFormat::Vscsi,
        TraceFormat::Alibaba,
        TraceFormat::Etw,
        TraceFormat::Commands,
    ];
    match module.rsplit("::").next().unwrap() {
        "chip_file" => vec![
            b"pe_cycles,retention_days,reads,errors,bits\n0,0,0,3,10000000\n1000,30,1000,40,10000000\n".to_vec(),
            b"pe_cycles,rber\n0,1.09e-7\n1000,1.4728e-7\n10000,2.2109e-6\n19000,3.3189e-5\n".to_vec(),
        ],
        "fio_job" => files("tests/fio", "fio"),
        "scenario" => files("scenarios/presets", "toml"),
        "synthetic_spec" => vec![
            b"pattern = \"uniform\"\nread_percent = 70\nsize = \"4KiB\"\nrate_iops = 45000\narrival = \"poisson\"\nduration = \"1s\"\n".to_vec(),
            b"requests = 1000\nqueue_depth = 4\npattern = { zipf = 0.9 }\n".to_vec(),
        ],
        "nvme_tcp" => vec![nvme_capsules(0), nvme_capsules(2), nvme_placement(0), nvme_administration(3)],
        name if name.starts_with("trace_") => FORMATS.map(trace).to_vec(),
        _ => Vec::new(),
    }
}

/// A command of an NVMe/TCP host as a unit: opcode, length of its data, dwords 10 to 13, and bytes of data in the capsule.
type NvmeCommand = (u8, u16, [u32; 4], usize);

/// Units of an I/O queue: a write with its data in the capsule, a read, deallocation and a copy.
fn nvme_capsules(mode: u8) -> Vec<u8> {
    nvme_units(
        mode,
        1,
        &[
            (0x01, 512, [0; 4], 512),
            (0x02, 4096, [0, 0, 7, 0], 0),
            (0x09, 16, [0, 4, 0, 0], 16),
            (0x19, 32, [0; 4], 32),
        ],
    )
}

/// Units of an I/O queue for the second namespace: a placed write, the status of handles and their update, a flush.
fn nvme_placement(mode: u8) -> Vec<u8> {
    nvme_units(
        mode,
        2,
        &[
            (0x01, 4096, [1, 0, 2 << 20, 1 << 16], 4096),
            (0x12, 256, [1, 63, 0, 0], 0),
            (0x1D, 4, [1 | 1 << 16, 0, 0, 0], 4),
            (0x00, 0, [0; 4], 0),
        ],
    )
}

/// Units of an admin queue: Identify, logs of LBA status, of the endurance group and of placement, features, a directive, Get LBA Status.
fn nvme_administration(mode: u8) -> Vec<u8> {
    let log = |page: u32| (0x02, 512, [page | 127 << 16, 1 << 16, 0, 0], 0);
    nvme_units(
        mode,
        2,
        &[
            (0x06, 4096, [0; 4], 0),
            log(0x0E),
            log(0x09),
            log(0x20),
            log(0x21),
            log(0x22),
            log(0x23),
            (0x09, 2, [0x1E, 2 << 16, 1, 0], 2),
            (0x0A, 16, [0x1E, 3 << 16, 0, 0], 0),
            (0x1A, 4096, [1023, 1, 0, 0], 0),
            (0x86, 4096, [0, 0, 1023, 0x11 << 24], 0),
        ],
    )
}

/// Commands for a namespace as units, behind the bytes that choose the queue and the length of pieces.
fn nvme_units(mode: u8, namespace: u8, commands: &[NvmeCommand]) -> Vec<u8> {
    let mut units = vec![mode, 255];
    for (id, &(opcode, length, dwords, data)) in (0..).zip(commands) {
        let mut unit = vec![0; 72 + data];
        unit[..5].copy_from_slice(&[0x04, 0, 72, if data > 0 { 72 } else { 0 }, ((72 + data) & 0xFF) as u8]);
        unit[5] = ((72 + data) >> 8) as u8;
        (unit[8], unit[9], unit[10], unit[12]) = (opcode, 0x40, id, namespace);
        unit[40..42].copy_from_slice(&u16::to_le_bytes(length));
        unit[47] = if data > 0 { 0x01 } else { 0x5A };
        for (place, dword) in unit[48..64].chunks_exact_mut(4).zip(dwords) {
            place.copy_from_slice(&dword.to_le_bytes());
        }
        units.extend(unit);
    }
    units
}

#[test]
fn every_target_is_here() {
    let here = include_str!("targets.rs");
    for entry in fs::read_dir(repository().join("fuzz/fuzz_targets")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(here.contains(&format!("fuzz_targets/{name}\"]")), "{name} is no module of this test");
    }
}

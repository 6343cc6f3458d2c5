//! A served drive beside nbdkit's memory plugin and qemu-nbd on a file in memory: fio's nbd engine, random requests of 4 KiB over a Unix socket, each
//! load against each server in turn; before that NBD and NVMe/TCP on one drive, by clients of our own. A request's cost is the server's processor time, by the system's own account (`/proc`), which counts in
//! hundredths of a second: a load has a number of requests, however long they take. The second table is how late answers are by the clock on the wall, with and without spinning. Programs that are not
//! installed are left out. It takes some four minutes.

#![allow(clippy::disallowed_methods, reason = "servers are processes, and what they cost is in /proc")]

mod servers;
mod wires;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use outlast_serve::ClockMode;
use servers::{DrivePreparation, MeasuredServer, SIZE};
use wires::ServedAt;

/// Reading or writing, depth over all connections, connections.
type NbdLoad = (&'static str, u32, u32);

const LOADS: [NbdLoad; 6] = [
    ("randread", 1, 1),
    ("randread", 32, 1),
    ("randread", 32, 4),
    ("randwrite", 1, 1),
    ("randwrite", 32, 1),
    ("randwrite", 32, 4),
];

/// From a load that the drive carries with ease to one that fills the server's processor.
const MODERATE: [NbdLoad; 8] = [
    ("randread", 1, 1),
    ("randread", 4, 1),
    ("randread", 32, 1),
    ("randread", 32, 4),
    ("randwrite", 1, 1),
    ("randwrite", 4, 1),
    ("randwrite", 32, 1),
    ("randwrite", 32, 4),
];

const WALL: ClockMode = ClockMode::Wall { speed: 1.0 };

/// Result of a load.
struct LoadResult {
    iops: f64,
    /// Processor time of the server, in microseconds a request.
    cpu_us: f64,
}

/// Measures all loads against all servers; the tables.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("outlast-bench-serve-{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let requests = if quick { 20_000 } else { 200_000 };
    let tables = protocols(quick).and_then(|protocols| {
        let costs = costs(&folder, &format!("--number_ios={requests}"))?;
        lateness(&folder, if quick { 1 } else { 2 })
            .map(|lateness| format!("{protocols}\n{costs}\n{lateness}"))
    });
    let _ = fs::remove_dir_all(&folder);
    tables
}

/// Table of the cost of requests by protocol, on one drive in virtual time that was written once.
pub(crate) fn protocols(quick: bool) -> Result<String, String> {
    let server = MeasuredServer::doors(DrivePreparation::Filled, ClockMode::Virtual)?;
    let nvme = server.nvme.as_deref().ok_or("the server has no door for NVMe/TCP")?;
    let address = |uri: &str| uri.split("//").nth(1).unwrap_or_default().to_owned();
    let nbd = address(&server.uri);
    let at = ServedAt { nbd: nbd.split('/').next().unwrap_or_default(), nvme: &address(nvme) };
    wires::table(&at, &LOADS, if quick { (1, 5_000) } else { (7, 50_000) })
}

/// Table of the cost of requests.
fn costs(folder: &Path, length: &str) -> Result<String, String> {
    let nbdkit = |name: &str, plugin: &str| {
        MeasuredServer::other(name, "nbdkit", folder, None, |socket| {
            ["-f", "-U", &socket, plugin, &format!("size={SIZE}")].map(str::to_owned).to_vec()
        })
    };
    let file = PathBuf::from("/dev/shm").join(format!("outlast-bench-{}", std::process::id()));
    let served = file.display().to_string();
    let qemu = MeasuredServer::other("qemu-nbd", "qemu-nbd", folder, Some(file), |socket| {
        let words = ["-t", "-e", "8", "-f", "raw", "-k", &socket, &served];
        words.map(str::to_owned).to_vec()
    });
    // Others stay, and have in memory what earlier loads wrote. What loads do to a drive stays with the drive: each load has its own; only the
    // one that takes long to prepare stays. A fresh drive takes its memory from the system as it is written to, as does an nbdkit that is
    // started for the load.
    let others = [
        ("nbdkit memory", nbdkit("nbdkit memory", "memory")),
        ("nbdkit null", nbdkit("nbdkit null", "null")),
        ("qemu-nbd, tmpfs", qemu),
    ];
    let collecting = MeasuredServer::drive(folder, DrivePreparation::Collecting, ClockMode::Virtual, false)?;
    let mut text = String::from(
        "IOPS, the server's microseconds of processor time a request, IOPS a CPU-second, and the last as a share of nbdkit memory's\n",
    );
    for load in LOADS {
        let mut yardstick = None;
        let mut row = |name: &str, server: &MeasuredServer| -> Result<(), String> {
            let found = loaded(folder, server, load, length)?;
            let per_cpu_s = 1e6 / found.cpu_us;
            let share = *yardstick.get_or_insert(per_cpu_s);
            let (rw, depth, connections) = load;
            let _ = writeln!(
                text,
                "{name:<24} {rw:<9} depth {depth:>2} x {connections}: {:>7.0} IOPS {:>6.1} us {per_cpu_s:>8.0} {:>5.2}",
                found.iops,
                found.cpu_us,
                per_cpu_s / share,
            );
            Ok(())
        };
        for (name, server) in &others {
            if let Some(server) = server {
                row(name, server)?;
            }
        }
        let (rw, depth, connections) = load;
        if let Some(server) = nbdkit(&format!("nbdkit anew {rw} {depth} {connections}"), "memory") {
            row("nbdkit memory, anew", &server)?;
        }
        row("loop without a device", &MeasuredServer::nothing(folder)?)?;
        row(
            "fresh, virtual",
            &MeasuredServer::drive(folder, DrivePreparation::Fresh, ClockMode::Virtual, false)?,
        )?;
        row("collecting, virtual", &collecting)?;
        row("fresh, wall", &MeasuredServer::drive(folder, DrivePreparation::Fresh, WALL, false)?)?;
    }
    Ok(text)
}

/// Table of the lateness of answers by wall clock, on a full drive.
fn lateness(folder: &Path, seconds: u32) -> Result<String, String> {
    let mut text =
        String::from("Lateness in microseconds on the wall: p50, p90, p99, p99.9, share over 20 us\n");
    for spin in [false, true] {
        for load in MODERATE {
            let server = MeasuredServer::drive(folder, DrivePreparation::Filled, WALL, spin)?;
            let found = loaded(folder, &server, load, &format!("--time_based --runtime={seconds}"))?;
            let metrics = server.metrics();
            let late = |name: &str| metrics["lateness"][name].as_f64().unwrap_or(f64::NAN);
            let (rw, depth, connections) = load;
            let _ = writeln!(
                text,
                "{:<24} {rw:<9} depth {depth:>2} x {connections}: {:>7.0} IOPS {:>6.1} us | {:>6.1} {:>6.1} {:>6.1} {:>7.1} {:>6.2} %",
                if spin { "full, wall, --spin" } else { "full, wall" },
                found.iops,
                found.cpu_us,
                late("p50_us"),
                late("p90_us"),
                late("p99_us"),
                late("p999_us"),
                late("late_share") * 100.0,
            );
        }
    }
    Ok(text)
}

/// Runs a load of some length against a server.
fn loaded(folder: &Path, server: &MeasuredServer, load: NbdLoad, length: &str) -> Result<LoadResult, String> {
    let before = server.cpu_s();
    let (requests, took) = fio(folder, &server.uri, load, length)?;
    let cpu = server.cpu_s() - before;
    Ok(LoadResult { iops: requests / took, cpu_us: cpu / requests * 1e6 })
}

/// Runs fio, as long as its options say; requests done, and seconds.
fn fio(
    folder: &Path,
    uri: &str,
    (rw, depth, connections): NbdLoad,
    length: &str,
) -> Result<(f64, f64), String> {
    let done = Command::new("fio")
        .args(["--name=a", "--ioengine=nbd", "--bs=4k", "--norandommap"])
        .args(["--output-format=json", "--group_reporting"])
        .args([format!("--uri={uri}"), format!("--rw={rw}"), format!("--size={SIZE}")])
        .args([format!("--iodepth={}", depth / connections), format!("--numjobs={connections}")])
        .args(length.split(' '))
        .current_dir(folder)
        .output()
        .map_err(|error| format!("fio: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let json = text.find('{').map_or("", |at| &text[at..]);
    let found: serde_json::Value =
        serde_json::from_str(json).map_err(|error| format!("fio: {error}: {text}"))?;
    let side = if rw == "randread" { "read" } else { "write" };
    let figure = |name: &str| found["jobs"][0][side][name].as_f64().unwrap_or(0.0);
    Ok((figure("total_ios"), figure("runtime") / 1000.0))
}

//! A served drive beside nbdkit's memory plugin and qemu-nbd on a file in memory: fio's nbd engine, random requests of 4 KiB over a Unix socket, each
//! load against each server in turn. A request's cost is the server's processor time, by the system's own account (`/proc`), which counts in
//! hundredths of a second. Programs that are not installed are left out.

#![allow(clippy::disallowed_methods, reason = "servers are processes, and what they cost is in /proc")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outlast_engine::parse_text;
use outlast_serve::{ClockMode, Listen, ServeConfig, Server, ServerHandle, Status};

/// What a server offers.
const SIZE: &str = "1G";
/// Reading or writing, depth, connections.
const LOADS: [(&str, u32, u32); 6] = [
    ("randread", 1, 1),
    ("randread", 32, 1),
    ("randread", 32, 4),
    ("randwrite", 1, 1),
    ("randwrite", 32, 1),
    ("randwrite", 32, 4),
];

/// The drive: 1 GiB without parity, on the flash of the preset `demo`.
const DRIVE: &str = "extends = \"demo\"\nname = \"served\"\n[device.geometry]\nblocks_per_plane = 37\n[device.ftl]\n\
     capacity = \"1GiB\"\n[device]\nbytes = true\n";
/// It begins empty.
const FRESH: &str = "[precondition]\nfill = \"none\"\noverwrite = \"none\"\n";

enum Running {
    Own(ServerHandle),
    Other(Child),
}

struct Measured {
    name: &'static str,
    uri: String,
    running: Running,
}

impl Measured {
    /// Seconds of processor time that the server has taken.
    fn cpu_s(&self) -> f64 {
        let process = match &self.running {
            Running::Own(_) => std::process::id(),
            Running::Other(child) => child.id(),
        };
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        ticks / 100.0
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Own(handle) => {
                handle.stop();
                while !matches!(handle.status(), Status::Ended(_)) {
                    sleep(Duration::from_millis(5));
                }
            }
            Running::Other(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Measures all loads against all servers; the table.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("outlast-bench-serve-{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let table = table(&folder, if quick { 1 } else { 4 });
    let _ = fs::remove_dir_all(&folder);
    table
}

fn table(folder: &Path, seconds: u32) -> Result<String, String> {
    let servers = [
        other("nbdkit", folder, |socket| {
            vec!["-f".into(), "-U".into(), socket.into(), "memory".into(), SIZE.into()]
        }),
        other("qemu-nbd", folder, |socket| {
            let file = PathBuf::from("/dev/shm").join(format!("outlast-bench-{}", std::process::id()));
            let _ = fs::File::create(&file).and_then(|file| file.set_len(1 << 30));
            let words = ["-t", "-e", "8", "-f", "raw", "-k", socket];
            words.map(Into::into).into_iter().chain([file.display().to_string()]).collect()
        }),
        own("drive, fresh, virtual", folder, FRESH, ClockMode::Virtual)?,
        own("drive, fresh, wall", folder, FRESH, ClockMode::Wall { speed: 1.0 })?,
        own("drive, full, virtual", folder, "", ClockMode::Virtual)?,
    ];
    let mut text = String::from("server, load: IOPS, server's microseconds a request, IOPS a CPU-second\n");
    for (rw, depth, connections) in LOADS {
        for server in servers.iter().flatten() {
            let before = server.cpu_s();
            let (requests, took) = fio(folder, &server.uri, rw, depth, connections, seconds)?;
            let cpu = server.cpu_s() - before;
            let _ = writeln!(
                text,
                "{:<24} {rw:<9} depth {depth:>2} x {connections}: {:>7.0} IOPS {:>6.1} us {:>8.0}",
                server.name,
                requests / took,
                cpu / requests * 1e6,
                requests / cpu,
            );
        }
    }
    for server in servers.iter().flatten() {
        if let Running::Own(handle) = &server.running {
            let metrics = handle.request(serde_json::json!({ "do": "metrics" }));
            let _ = writeln!(text, "{}: lateness {}", server.name, metrics["ok"]["lateness"]);
        }
    }
    let _ = fs::remove_file(format!("/dev/shm/outlast-bench-{}", std::process::id()));
    Ok(text)
}

/// Another server, if it is installed.
fn other(name: &'static str, folder: &Path, arguments: impl FnOnce(&str) -> Vec<String>) -> Option<Measured> {
    let socket = folder.join(name);
    let mut command = Command::new(name);
    command.args(arguments(&socket.display().to_string())).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().ok()?;
    let begun = Instant::now();
    while !socket.exists() && begun.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(10));
    }
    let uri = format!("nbd+unix:///?socket={}", socket.display());
    Some(Measured { name, uri, running: Running::Other(child) })
}

/// One of ours.
fn own(name: &'static str, folder: &Path, more: &str, clock: ClockMode) -> Result<Option<Measured>, String> {
    let (scenario, _) = parse_text(&format!("{DRIVE}{more}")).map_err(|error| error.to_string())?;
    let listen = Listen::Unix(folder.join(name.replace([' ', ','], "-")));
    let config = ServeConfig {
        scenario: Some(scenario),
        image: None,
        contents: outlast_serve::ContentsIn::Memory,
        listen,
        insecure: false,
        clock,
        spin: false,
        export: Some(String::new()),
    };
    let handle = Server::start(config).map_err(|error| error.to_string())?;
    while matches!(handle.status(), Status::Preparing(_)) {
        sleep(Duration::from_millis(20));
    }
    Ok(Some(Measured { name, uri: handle.uri().to_owned(), running: Running::Own(handle) }))
}

/// Runs fio; requests done, and seconds.
fn fio(
    folder: &Path,
    uri: &str,
    rw: &str,
    depth: u32,
    connections: u32,
    seconds: u32,
) -> Result<(f64, f64), String> {
    let depth = depth / connections;
    let done = Command::new("fio")
        .args([
            "--name=a",
            "--ioengine=nbd",
            "--bs=4k",
            "--time_based",
            "--output-format=json",
            "--group_reporting",
        ])
        .args([
            format!("--uri={uri}"),
            format!("--rw={rw}"),
            format!("--iodepth={depth}"),
            format!("--size={SIZE}"),
        ])
        .args([format!("--numjobs={connections}"), format!("--runtime={seconds}")])
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

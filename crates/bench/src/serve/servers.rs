//! Servers to measure: processes of other programs, and our own server within this process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outlast_engine::parse_text;
use outlast_serve::{
    ClockMode, DeviceServer, ListenAddress, ServeConfig, ServerHandle, ServerStatus, serve_without_device,
};
use outlast_units::Bytes;

/// Capacity that a server exports.
pub(super) const SIZE: &str = "1G";

/// The drive: 1 GiB without parity, on the flash of the preset `demo`.
const DRIVE: &str = "extends = \"demo\"\nname = \"served\"\n[device.geometry]\nblocks_per_plane = 37\n[device.ftl]\n\
     capacity = \"1GiB\"\n[device]\nbytes = true\n";

/// Preparation of the drive.
#[derive(Clone, Copy)]
pub(super) enum DrivePreparation {
    /// Empty.
    Fresh,
    /// Every unit written once.
    Filled,
    /// Overwritten until its write amplification stands still: it collects.
    Collecting,
}

impl DrivePreparation {
    fn settings(self) -> &'static str {
        match self {
            Self::Fresh => "[precondition]\nfill = \"none\"\noverwrite = \"none\"\n",
            Self::Filled => "[precondition]\noverwrite = \"none\"\n",
            Self::Collecting => "",
        }
    }
}

enum ServerProcess {
    Own(ServerHandle),
    Other(Child, Option<PathBuf>),
}

/// A server that listens.
pub(super) struct MeasuredServer {
    pub(super) uri: String,
    /// Address for NVMe/TCP, if there is one.
    pub(super) nvme: Option<String>,
    running: ServerProcess,
}

impl MeasuredServer {
    /// Starts another program, if it is installed; `file` is served by it, made and removed here.
    pub(super) fn other(
        name: &str,
        program: &str,
        folder: &Path,
        file: Option<PathBuf>,
        arguments: impl FnOnce(String) -> Vec<String>,
    ) -> Option<Self> {
        let socket = folder.join(name.replace(' ', "-"));
        if let Some(file) = &file {
            fs::File::create(file).and_then(|file| file.set_len(1 << 30)).ok()?;
        }
        let mut command = Command::new(program);
        command.args(arguments(socket.display().to_string())).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().ok()?;
        let running = ServerProcess::Other(child, file);
        let begun = Instant::now();
        while !socket.exists() && begun.elapsed() < Duration::from_secs(10) {
            sleep(Duration::from_millis(10));
        }
        Some(Self { uri: format!("nbd+unix:///?socket={}", socket.display()), nvme: None, running })
    }

    /// Starts our server on a drive.
    pub(super) fn drive(
        folder: &Path,
        prepared: DrivePreparation,
        clock: ClockMode,
        spin: bool,
    ) -> Result<Self, String> {
        let listen = ListenAddress::Unix(free(folder));
        let config = ServeConfig { spin, export: Some(String::new()), ..config(listen, prepared, clock)? };
        Self::ready(DeviceServer::start(config).map_err(|error| error.to_string())?)
    }

    /// Starts our server on a drive, with doors for NBD and for NVMe/TCP at free ports of this machine.
    pub(super) fn doors(prepared: DrivePreparation, clock: ClockMode) -> Result<Self, String> {
        let any = || "tcp:127.0.0.1:0".parse::<ListenAddress>().map_err(|error| error.to_string());
        let config = ServeConfig { nvme: Some(any()?), ..config(any()?, prepared, clock)? };
        Self::ready(DeviceServer::start(config).map_err(|error| error.to_string())?)
    }

    /// Starts our server without a device.
    pub(super) fn nothing(folder: &Path) -> Result<Self, String> {
        let listen = ListenAddress::Unix(free(folder));
        Self::ready(serve_without_device(&listen, Bytes::gib(1)).map_err(|error| error.to_string())?)
    }

    fn ready(handle: ServerHandle) -> Result<Self, String> {
        loop {
            match handle.status() {
                ServerStatus::Preparing(_) => sleep(Duration::from_millis(5)),
                ServerStatus::Serving(_) => {
                    let (uri, nvme) = (handle.uri().to_owned(), handle.nvme_uri().map(str::to_owned));
                    return Ok(Self { uri, nvme, running: ServerProcess::Own(handle) });
                }
                ServerStatus::Ended(error) => return Err(error.unwrap_or_default()),
            }
        }
    }

    /// Seconds of processor time that the server has taken.
    pub(super) fn cpu_s(&self) -> f64 {
        let process = match &self.running {
            ServerProcess::Own(_) => std::process::id(),
            ServerProcess::Other(child, _) => child.id(),
        };
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        ticks / 100.0
    }

    /// Metrics that one of our servers reports.
    pub(super) fn metrics(&self) -> serde_json::Value {
        match &self.running {
            ServerProcess::Own(handle) => {
                handle.request(serde_json::json!({ "do": "metrics" }))["ok"].clone()
            }
            ServerProcess::Other(..) => serde_json::Value::Null,
        }
    }
}

/// Settings of our server on the drive.
fn config(
    listen: ListenAddress,
    prepared: DrivePreparation,
    clock: ClockMode,
) -> Result<ServeConfig, String> {
    let text = format!("{DRIVE}{}", prepared.settings());
    let (scenario, _) = parse_text(&text).map_err(|error| error.to_string())?;
    Ok(ServeConfig {
        scenario: Some(scenario),
        image: None,
        contents: outlast_serve::ContentsIn::Memory,
        listen,
        nvme: None,
        insecure: false,
        tls: None,
        clock,
        spin: false,
        export: None,
    })
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        match &mut self.running {
            ServerProcess::Own(handle) => {
                handle.stop();
                while !matches!(handle.status(), ServerStatus::Ended(_)) {
                    sleep(Duration::from_millis(5));
                }
            }
            ServerProcess::Other(child, file) => {
                let _ = child.kill();
                let _ = child.wait();
                if let Some(file) = file {
                    let _ = fs::remove_file(file);
                }
            }
        }
    }
}

/// A path for a socket that nobody uses: each server removes its own.
fn free(folder: &Path) -> PathBuf {
    let taken = |number: &u32| !folder.join(format!("own-{number}")).exists();
    folder.join(format!("own-{}", (0..99).find(taken).unwrap_or_default()))
}

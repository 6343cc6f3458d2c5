//! Do real clients agree? Each test says so when its tool is absent, and is skipped then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "clients are processes, and what they copy is in files")]

use crate::support;

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;

use outlast_nbd::{ConnectionLimits, NbdServer, TlsMode};
use serde_json::Value;
use support::serve::{self, Disks};

const MIB: u64 = 1 << 20;

/// A server of `disk` (64 MiB), `fixed` (64 KiB, read-only) and `name with spaces`, in a directory of its own.
struct ServedDisk {
    folder: PathBuf,
    disks: Disks,
}

impl ServedDisk {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("outlast-nbd-{test}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mut exports = support::server(TlsMode::Off, ConnectionLimits::default()).exports()[..2].to_vec();
        exports[0].size = outlast_units::Bytes(64 * MIB);
        exports.push(support::export("name with spaces", 4096));
        let server = Arc::new(NbdServer::new(exports, TlsMode::Off, ConnectionLimits::default()).unwrap());
        let disks = serve::disks(&server);
        serve::start(&folder.join("s"), server, disks.clone()).unwrap();
        Self { folder, disks }
    }

    fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.folder.join("s").display())
    }

    /// A file in the directory.
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs a client for a minute at most; it must succeed.
    fn run(&self, command: &str, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = Command::new("timeout")
            .arg("60")
            .arg(command)
            .args(arguments)
            .current_dir(&self.folder)
            .output()
            .unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{command} {arguments:?}: {status}\n{stdout}\n{stderr}");
        stdout.into_owned()
    }

    fn json(&self, command: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(command, arguments)).unwrap()
    }
}

impl Drop for ServedDisk {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

/// Whether a program is there and can be asked for its version.
fn has(command: &str, argument: &str) -> bool {
    let found = Command::new(command).arg(argument).output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: {command} is absent");
    }
    found
}

#[test]
fn nbdinfo_sees_what_is_offered() {
    if !has("nbdinfo", "--version") {
        return;
    }
    let served = ServedDisk::new("nbdinfo");
    let found = served.json("nbdinfo", &["--json", "--list", &served.uri("")]);
    assert_eq!(found["protocol"], "newstyle-fixed");
    assert_eq!(found["structured"], true);
    let exports = found["exports"].as_array().unwrap();
    let names: Vec<_> = exports.iter().map(|export| export["export-name"].as_str().unwrap()).collect();
    assert_eq!(names, ["disk", "fixed", "name with spaces"]);
    for (export, is_fixed) in [(&exports[0], false), (&exports[1], true)] {
        assert_eq!(export["contexts"], serde_json::json!(["base:allocation", "x-outlast:health"]));
        assert_eq!(export["is_read_only"], is_fixed);
        for feature in ["can_trim", "can_zero", "can_fast_zero"] {
            assert_eq!(export[feature], !is_fixed, "{feature}");
        }
        for feature in ["can_cache", "can_df", "can_flush", "can_fua", "can_multi_conn"] {
            assert_eq!(export[feature], true, "{feature}");
        }
        let sizes = ["minimum", "preferred", "maximum"]
            .map(|size| export[format!("block_size_{size}")].as_u64().unwrap());
        assert_eq!(sizes, [512, 4096, 32 * MIB]);
    }
    assert_eq!(exports[0]["export-size"], 64 * MIB);
    assert_eq!(exports[0]["description"], "the export disk");
}

#[test]
fn maps_show_holes_and_losses() {
    if !has("nbdinfo", "--version") || !has("qemu-io", "--version") {
        return;
    }
    let served = ServedDisk::new("maps");
    let uri = served.uri("disk");
    served.run(
        "qemu-io",
        &["-f", "raw", "-c", "write -P 7 1M 2M", "-c", "discard 2M 64k", "-c", "flush", &uri],
    );
    served.disks[0].lock().unwrap().lose(MIB, 4096);
    let map = |context: &str| {
        let found = served.json("nbdinfo", &["--json", &format!("--map={context}"), &uri]);
        let of = |extent: &Value| ["offset", "length", "type"].map(|key| extent[key].as_u64().unwrap());
        found.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let (hole, kib) = (3, 1024);
    assert_eq!(
        map("base:allocation"),
        [
            [0, MIB, hole],
            [MIB, MIB, 0],
            [2 * MIB, 64 * kib, hole],
            [2 * MIB + 64 * kib, MIB - 64 * kib, 0],
            [3 * MIB, 61 * MIB, hole]
        ]
    );
    assert_eq!(map("x-outlast:health"), [[0, MIB, 0], [MIB, 4096, 1], [MIB + 4096, 63 * MIB - 4096, 0]]);
}

#[test]
fn libnbd_agrees_about_flags_and_errors() {
    let python = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        Command::new(python).args(["-c", "import nbd"]).output().is_ok_and(|output| output.status.success())
    });
    let Some(python) = python else {
        eprintln!("skipped: Python's nbd module is absent");
        return;
    };
    let served = ServedDisk::new("libnbd");
    served.disks[0].lock().unwrap().lose(8 * MIB, 1024);
    let (disk, fixed) = (served.uri("disk"), served.uri("fixed"));
    let said = served.run(python, &["-c", include_str!("interop.py"), &disk, &fixed]);
    assert_eq!(said.trim(), "all as specified", "{said}");
}

#[test]
fn fio_reads_what_it_wrote() {
    let has_engine = Command::new("fio")
        .arg("--enghelp")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("nbd"));
    if !has_engine {
        eprintln!("skipped: fio or its nbd engine is absent");
        return;
    }
    for jobs in ["1", "4"] {
        let served = ServedDisk::new(&format!("fio{jobs}"));
        let uri = format!("--uri={}", served.uri("disk"));
        let jobs = format!("--numjobs={jobs}");
        let output = format!("--output={}", served.file("json"));
        let mut arguments =
            vec!["--name=verify", "--ioengine=nbd", "--rw=randrw", "--bsrange=512-64k", "--iodepth=16"];
        arguments.extend([
            "--verify=crc32c",
            "--verify_state_save=0",
            "--size=16m",
            "--offset_increment=16m",
        ]);
        arguments.push("--output-format=json");
        arguments.extend([&uri[..], &jobs, &output]);
        served.run("fio", &arguments);
        let found: Value =
            serde_json::from_str(&std::fs::read_to_string(served.file("json")).unwrap()).unwrap();
        for job in found["jobs"].as_array().unwrap() {
            assert_eq!(
                (&job["error"], job["read"]["total_ios"].as_u64().unwrap() > 100),
                (&Value::from(0), true)
            );
        }
    }
}

#[test]
fn images_are_copied_there_and_back() {
    if !has("nbdcopy", "--version") {
        return;
    }
    let served = ServedDisk::new("copy");
    let (uri, image, back) = (served.uri("disk"), served.file("image"), served.file("back"));
    // Neither periodic nor without holes.
    let mut bytes = vec![0; 64 << 20];
    let mut rng = outlast_units::rng::SplitMix::new(1, "image");
    for piece in bytes.chunks_mut(64 << 10).step_by(3) {
        piece.fill_with(|| rng.next_u64() as u8);
    }
    std::fs::write(&image, &bytes).unwrap();
    served.run("nbdcopy", &["--flush", "--connections=4", &image, &uri]);
    assert!(served.disks[0].lock().unwrap().bytes == bytes, "the disk holds the image");
    served.run("nbdcopy", &[&uri, &back]);
    assert!(std::fs::read(&back).unwrap() == bytes, "the copy is the image");
}

#[test]
fn qemu_sees_the_same_image() {
    if !has("qemu-img", "--version") {
        return;
    }
    let served = ServedDisk::new("qemu");
    let (uri, image) = (served.uri("disk"), served.file("image"));
    let mut bytes = vec![0_u8; 64 << 20];
    bytes[5 << 20..][..3 << 20].fill(9);
    std::fs::write(&image, &bytes).unwrap();
    served.run("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", &image, &uri]);
    served.run("qemu-img", &["compare", "-f", "raw", "-F", "raw", &image, &uri]);
    served.run(
        "qemu-io",
        &["-f", "raw", "-c", "write -z -u 6M 1M", "-c", "write -z 7M 512k", "-c", "read -P 0 6M 1536k", &uri],
    );
    let map = served.json("qemu-img", &["map", "--output=json", "-f", "raw", &uri]);
    let holes: Vec<_> = map.as_array().unwrap().iter().filter(|extent| extent["zero"] == true).collect();
    let of =
        |extent: &&Value| [&extent["start"], &extent["length"]].map(|value| value.as_u64().unwrap() / MIB);
    let holes: Vec<_> = holes.iter().map(of).collect();
    assert_eq!(holes, [[0, 5], [6, 1], [8, 56]]);
}

/// nbdkit's own client as a proxy in front: its filter compares what it reads with what is written.
#[test]
fn nbdkit_passes_everything_on() {
    if !has("nbdkit", "--version") || !has("nbdcopy", "--version") {
        return;
    }
    let served = ServedDisk::new("nbdkit");
    let (uri, image) = (format!("uri={}", served.uri("disk")), served.file("image"));
    std::fs::write(&image, vec![5; 1 << 20]).unwrap();
    let run = format!("nbdcopy --flush {image} \"$uri\" && nbdinfo --map \"$uri\"");
    let map = served.run("nbdkit", &["-U", "-", "nbd", &uri, "--run", &run]);
    let map: Vec<Vec<_>> = map.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(map, [["0", "1048576", "0", "data"], ["1048576", "66060288", "3", "hole,zero"]]);
}

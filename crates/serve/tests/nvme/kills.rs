//! Does a host that comes back to a killed server find all that it had flushed? Servers are killed in this process, by a copy of what they have left
//! so far, and as processes by `kill -9`.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use outlast_serve::{DeviceServer, ImageConfig, ImageOptions, ServeConfig, ServerStatus};
use outlast_units::rng::SplitMix;
use serde_json::json;

use super::{HOST, NvmeServer, admin_at, config, doomed, io_at};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::load::folder;
use crate::support::{DRIVE, bytes};

/// Units of 4096 bytes that are written to: few, so that they are written often.
const UNITS: u64 = 24;
/// Copies an image as a process leaves it that is killed: the log last, since it grows meanwhile. Where files have come or gone during the copy, as
/// when the log is compacted, no process could have left what was copied, and it is copied anew.
pub(super) fn copy_image(from: &Path, to: &Path) {
    loop {
        let before = names(from);
        let is_copied = copy_files(from, to);
        if is_copied && names(from) == before {
            return;
        }
        fs::remove_dir_all(to).unwrap();
    }
}

/// Files of an image, in order.
fn names(image: &Path) -> Vec<PathBuf> {
    let parts = ["checkpoints", "log"].into_iter().filter_map(|part| fs::read_dir(image.join(part)).ok());
    let mut names: Vec<PathBuf> = parts.flatten().map(|entry| entry.unwrap().path()).collect();
    names.sort_unstable();
    names
}

/// Copies the files that are there; false if one of them went before its turn.
fn copy_files(from: &Path, to: &Path) -> bool {
    for part in ["", "checkpoints", "log"] {
        fs::create_dir_all(to.join(part)).unwrap();
        let Ok(entries) = fs::read_dir(from.join(part)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            if let Err(error) = fs::copy(&path, to.join(part).join(path.file_name().unwrap())) {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
                return false;
            }
        }
    }
    true
}

/// A server over the image in `folder`, made with the scenario if it is not there.
pub(super) fn serve(image: &Path) -> NvmeServer {
    let folder = tempfile::tempdir().unwrap();
    let kept = ImageConfig { folder: image.to_owned(), options: ImageOptions::default(), at: None };
    let plain = config(DRIVE, &folder);
    let scenario = plain.scenario.clone().filter(|_| !image.exists());
    let served = ServeConfig { image: Some(kept), scenario, ..plain };
    NvmeServer::of(DeviceServer::start(served).unwrap(), folder)
}

#[test]
fn what_was_flushed_is_there_after_every_kill() {
    let images = folder("nvme-kills-40");
    kill_servers(40, |kill| serve_here(&images, kill));
}

#[test]
#[ignore = "takes a minute: make nightly runs it"]
fn what_was_flushed_is_there_after_each_of_five_hundred_kills() {
    let images = folder("nvme-kills-500");
    kill_servers(500, |kill| serve_here(&images, kill));
}

#[test]
fn what_was_flushed_is_there_after_kill_9_of_a_process() {
    let image = folder("nvme-processes-10").join("image");
    kill_servers(10, |_| serve_elsewhere(&image));
}

#[test]
#[ignore = "takes minutes: make nightly runs it"]
fn what_was_flushed_is_there_after_kill_9_of_five_hundred_processes() {
    let image = folder("nvme-processes-500").join("image");
    kill_servers(500, |_| serve_elsewhere(&image));
}

/// A server that is going to be killed: where it is, and how it is killed. What killing returns is done once the host has gone.
struct DoomedServer {
    address: String,
    kill: Box<dyn FnOnce() -> Box<dyn FnOnce()>>,
}

/// A server in this process over image `kill` - 1 of `images`. Killed, it leaves a copy of that as image `kill`, as it is at that moment.
fn serve_here(images: &Path, kill: u64) -> DoomedServer {
    let (image, killed) = (images.join((kill - 1).to_string()), images.join(kill.to_string()));
    let served = serve(&image);
    let address = served.address.clone();
    let kill = move || -> Box<dyn FnOnce()> {
        copy_image(&image, &killed);
        let state = served.ask(json!({ "do": "state" }));
        assert!(state["machine"]["powered"].as_bool().unwrap());
        Box::new(move || {
            served.ask(json!({ "do": "stop" }));
            // Its successor has a copy. A server writes into its image until it has ended.
            let ended = loop {
                match served.handle.status() {
                    ended @ ServerStatus::Ended(_) => break ended,
                    status => drop(served.handle.wait(&status, Duration::from_mins(1))),
                }
            };
            assert_eq!(ended, ServerStatus::Ended(None));
            fs::remove_dir_all(&image).unwrap();
        })
    };
    DoomedServer { address, kill: Box::new(kill) }
}

/// A server in a process of its own over `image`, which is killed by SIGKILL.
fn serve_elsewhere(image: &Path) -> DoomedServer {
    let words = ["--exact", "nvme::doomed::serves_until_it_is_killed", "--ignored", "--nocapture"];
    let mut process = Command::new(env::current_exe().unwrap())
        .args(words)
        .env(doomed::IMAGE, image)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut told = lines.map_while(Result::ok);
    // The harness says something before, on the same line.
    let address = told.find_map(|line| Some(line.split_once(doomed::ADDRESS)?.1.to_owned())).unwrap();
    let kill = move || -> Box<dyn FnOnce()> {
        process.kill().unwrap();
        process.wait().unwrap();
        Box::new(|| ())
    };
    DoomedServer { address, kill: Box::new(kill) }
}

/// Kills `kills` servers under load, one after another, each over what its predecessor left; `start` begins the one with that number, from 1.
fn kill_servers(kills: u64, start: impl Fn(u64) -> DoomedServer) {
    let mut initial: Vec<Vec<u8>> = Vec::new();
    let mut rng = SplitMix::new(fuzzed::drawn(), "nvme-kills");
    // What each unit has been given, oldest first, from what the latest flush covers on; 0 is what was there before.
    let mut given: Vec<Vec<u64>> = vec![vec![0]; UNITS as usize];
    let mut version = 0;
    for kill in 1..=kills {
        let served = start(kill);
        let admin = admin_at(&served.address, HOST, LinkWishes::default());
        let wishes = LinkWishes { data_digest: kill % 2 == 0, in_capsule: 8192, ..LinkWishes::default() };
        let mut io = io_at(&served.address, &admin, HOST, 1, wishes);
        for (unit, versions) in (0..).zip(&mut given) {
            let data = io.run(WireCommand::read(unit * 8, 8)).unwrap().1;
            if kill == 1 {
                initial.push(data.clone());
            }
            let content =
                |version| if version == 0 { initial[unit as usize].clone() } else { bytes(8, version) };
            let is = |&&version: &&u64| data == content(version);
            let found = versions.iter().rev().find(is).copied();
            let found =
                found.unwrap_or_else(|| panic!("kill {kill}: unit {unit} holds none of {versions:?}"));
            *versions = vec![found];
        }
        let mut sent = Vec::new();
        for _ in 0..20 + rng.below(60) {
            let unit = rng.below(UNITS);
            version += 1;
            given[unit as usize].push(version);
            let is_forced = rng.below(8) == 0;
            // Two writes of a unit under way may come to pass in either order.
            for id in sent.drain(..) {
                io.wait(id).unwrap();
            }
            sent.push(io.send(WireCommand::write(unit * 8, bytes(8, version), is_forced)));
            if is_forced {
                io.wait(sent.pop().unwrap()).unwrap();
                given[unit as usize] = vec![version];
            }
            if rng.below(12) == 0 {
                for id in sent.drain(..) {
                    io.wait(id).unwrap();
                }
                io.run(WireCommand::flush()).unwrap();
                for versions in &mut given {
                    drop(versions.drain(..versions.len() - 1));
                }
            }
        }
        // The last write may be under way, in part, or not there at all.
        let end = (served.kill)();
        drop((io, admin));
        end();
    }
}

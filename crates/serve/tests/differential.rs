//! Is what clients get what the drive gives? Random commands by a socket; then those that the server has recorded, at the times that it has
//! recorded, straight into a twin of the drive or the array: the same bytes, outcomes and counts.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_device::{Command, Completion, Device, Op, Outcome};
use outlast_engine::{InService, RunControl};
use outlast_serve::log::SegmentReader;
use outlast_serve::{
    ClockMode, DeviceInput, DeviceServer, ImageConfig, ImageOptions, ListenAddress, ServeConfig,
    ServerHandle, ServerStatus,
};
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SECTOR_BYTES};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;
use support::client::{Client, FLUSH, FUA, NO_HOLE, NbdReply, READ, TRIM, WRITE, ZEROES};
use support::load::folder;
use support::{ARRAY, DRIVE, bytes, scenario};

/// Requests of the client, beside those that read everything at the end.
const REQUESTS: u64 = 3000;
/// Requests under way at most.
const DEPTH: usize = 12;
/// Sectors of a unit.
const UNIT: u64 = 8;

/// A read or a write as the client sees it.
#[derive(Debug, PartialEq)]
struct ClientResult {
    op: Op,
    lba: u64,
    sectors: u32,
    outcome: Outcome,
    data: Vec<u8>,
}

fn outcome(error: u32) -> Outcome {
    match error {
        0 => Outcome::Ok,
        1 => Outcome::ReadOnly,
        5 => Outcome::MediumError,
        other => panic!("error {other}"),
    }
}

fn ask(server: &ServerHandle, request: Value) -> Value {
    let answer = server.request(request);
    answer.get("ok").unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Random requests, and what befalls the device in between; at last everything is read. Returns reads and writes in the order of asking.
fn load(server: &ServerHandle, socket: &Path, faults: &[(u64, Value)], seed: u64) -> Vec<ClientResult> {
    let mut client = Client::open(socket, "served");
    let mut rng = SplitMix::new(seed, "differential");
    let sectors = ask(server, json!({"do": "state"}))["exports"][0]["size"].as_u64().unwrap() / SECTOR_BYTES;
    let mut asked: Vec<(u64, Op, u64, u32)> = Vec::new();
    for turn in 0..REQUESTS {
        for (_, request) in faults.iter().filter(|(at, _)| *at == turn) {
            ask(server, request.clone());
        }
        while client.under_way() >= DEPTH {
            client.wait();
        }
        let count = 1 + if rng.below(4) == 0 { rng.below(200) } else { rng.below(3) * UNIT };
        let count = count.min(sectors);
        let lba = rng.below(sectors - count + 1);
        let (offset, length) = (lba * SECTOR_BYTES, (count * SECTOR_BYTES) as u32);
        let flags = if rng.below(6) == 0 { FUA } else { 0 };
        match rng.below(20) {
            0..9 => {
                let data = bytes(count as u32, turn + 1);
                let number = client.ask(WRITE, flags, offset, length, &data);
                asked.push((number, Op::Write, lba, count as u32));
            }
            9..16 => {
                asked.push((client.ask(READ, 0, offset, length, &[]), Op::Read, lba, count as u32));
            }
            16 => drop(client.ask(TRIM, flags, offset, length, &[])),
            17 => drop(client.ask(ZEROES, flags, offset, length, &[])),
            18 => drop(client.ask(ZEROES, flags | NO_HOLE, offset, length, &[])),
            _ => drop(client.ask(FLUSH, 0, 0, 0, &[])),
        }
    }
    client.drain();
    for lba in (0..sectors).step_by(64) {
        let count = (sectors - lba).min(64) as u32;
        let length = count * SECTOR_BYTES as u32;
        asked.push((client.ask(READ, 0, lba * SECTOR_BYTES, length, &[]), Op::Read, lba, count));
        client.drain();
    }
    let seen = |(number, op, lba, sectors): (u64, Op, u64, u32)| {
        let (error, data): NbdReply = client.answers.remove(&number).unwrap();
        ClientResult { op, lba, sectors, outcome: outcome(error), data }
    };
    asked.into_iter().map(seen).collect()
}

/// A twin that has never been served.
struct UnservedTwin {
    device: InService,
    /// Its commands, in the order in which they came, and what came of them.
    commands: Vec<(Command, bool, Option<Outcome>, Vec<u8>)>,
    /// Places among them, by tag, of those that are under way.
    flying: BTreeMap<u32, usize>,
}

impl UnservedTwin {
    fn advance(&mut self, now: Nanos) {
        let mut done: Vec<Completion> = Vec::new();
        self.device.advance(now, &mut done);
        for done in done {
            let command = &mut self.commands[self.flying.remove(&done.tag.0).unwrap()];
            command.2 = Some(done.outcome);
            command.3 = self.device.take_data(done.tag).unwrap_or_default();
        }
    }

    /// Does what the log has, up to the mark; the time of that.
    fn follow(&mut self, folder: &Path) -> Nanos {
        let text = fs::read_to_string(folder.join("image")).unwrap();
        let number = u64::from_str_radix(text.split(' ').nth(3).unwrap(), 16).unwrap();
        let log = File::open(folder.join("log/00000001")).unwrap();
        let mut reader = SegmentReader::new(std::io::BufReader::new(log), number, 1).unwrap();
        while let Some(record) = reader.next().unwrap() {
            let at = record.at;
            self.advance(at);
            match record.input() {
                DeviceInput::Command { tag, command, data } => {
                    self.flying.insert(tag.0, self.commands.len());
                    let is_zero = data.iter().all(|&byte| byte == 0);
                    self.commands.push((command, is_zero, None, Vec::new()));
                    self.device.submit_data(at, command, tag, data);
                }
                DeviceInput::Fault(fault) => self.device.strike(at, fault).unwrap(),
                DeviceInput::Replace { member, force } => self.device.replace(at, member, force).unwrap(),
                DeviceInput::Mark(_) => return at,
                other => panic!("{other:?}"),
            }
        }
        panic!("the mark is in the log");
    }

    /// Reads and writes that a client has asked for: zeroes are written for it, too, but it writes none itself.
    fn seen(self) -> Vec<ClientResult> {
        let of_client = |command: &Command, is_zero: bool| match command.op {
            Op::Read => true,
            Op::Write => !is_zero,
            Op::Trim | Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => false,
        };
        let commands =
            self.commands.into_iter().filter(|(command, is_zero, ..)| of_client(command, *is_zero));
        let seen = |(command, _, outcome, data): (Command, bool, Option<Outcome>, Vec<u8>)| ClientResult {
            op: command.op,
            lba: command.lba.0,
            sectors: command.sectors,
            outcome: outcome.unwrap(),
            data,
        };
        commands.map(seen).collect()
    }

    /// Figures as the server's state has them.
    fn figures(&self) -> Value {
        let drive = |ssd: &&outlast_ssd::Ssd| {
            let counters = ssd.counters();
            let units: BTreeMap<_, _> =
                ssd.written().iter().map(|(cause, units)| (cause.name(), units)).collect();
            let reads: BTreeMap<_, _> =
                counters.reads.iter().map(|(cause, pages)| (cause.name(), pages)).collect();
            json!({
                "units": units, "reads": reads, "erases": counters.erases, "blocked_ns": counters.blocked_ns,
                "lost_units": ssd.lost_units(),
            })
        };
        let drives: Vec<Value> = self.device.drives().iter().map(drive).collect();
        json!(drives)
    }
}

/// The same figures, of a server.
fn figures(state: &Value) -> Value {
    let names = ["units", "reads", "erases", "blocked_ns", "lost_units"];
    let drive = |drive: &Value| -> Value {
        names.iter().map(|&name| (name.to_owned(), drive[name].clone())).collect()
    };
    state["machine"]["drives"].as_array().unwrap().iter().map(drive).collect()
}

fn compare(name: &str, text: &str, clock: ClockMode, faults: &[(u64, Value)]) {
    let image = folder(name);
    let socket = folder(&format!("{name}.socket"));
    fs::remove_file(&socket).ok();
    let mut scenario = scenario(text);
    let options = ImageOptions { keep_log: true, ..ImageOptions::default() };
    let config = ServeConfig {
        contents: outlast_serve::ContentsIn::Memory,
        scenario: Some(scenario.clone()),
        image: Some(ImageConfig { folder: image.clone(), options, at: None }),
        listen: ListenAddress::Unix(socket.clone()),
        nvme: None,
        insecure: false,
        tls: None,
        clock,
        spin: false,
        export: None,
    };
    let server = DeviceServer::start(config).unwrap();
    let mut seen = load(&server, &socket, faults, 17);
    ask(&server, json!({"do": "clock", "pause": true}));
    ask(&server, json!({"do": "mark", "text": "end"}));
    let state = ask(&server, json!({"do": "state"}));
    server.stop();
    while !matches!(server.status(), ServerStatus::Ended(_)) {
        server.wait(&server.status(), Duration::from_millis(50));
    }
    scenario.device.bytes = true;
    let device = InService::new(scenario, &mut |_| RunControl::Continue).unwrap().unwrap();
    let mut twin = UnservedTwin { device, commands: Vec::new(), flying: BTreeMap::new() };
    let at = twin.follow(&image);
    assert_eq!(at.0, state["machine"]["now_ns"].as_u64().unwrap());
    assert_eq!(twin.figures(), figures(&state));
    if let Some(array) = twin.device.array() {
        let told = &state["machine"]["array"];
        let status = array.status(at);
        assert_eq!(told["lost_sectors"], json!(status.lost_sectors));
        let in_sync: Vec<bool> = status.members.iter().map(|member| member.in_sync).collect();
        let said = told["members"].as_array().unwrap().iter();
        assert_eq!(said.map(|member| member["in_sync"].as_bool().unwrap()).collect::<Vec<_>>(), in_sync);
    }
    let direct = twin.seen();
    assert_eq!(direct.len(), seen.len());
    let failed = seen.iter().filter(|seen| seen.outcome != Outcome::Ok).count();
    for (number, (seen, direct)) in seen.iter_mut().zip(&direct).enumerate() {
        assert!(seen == direct, "command {number}: {:?} and {:?}", short(seen), short(direct));
    }
    assert!(failed > 0 || text.contains("[array]"), "some of a dead die's data is lost");
}

fn short(seen: &ClientResult) -> (Op, u64, u32, Outcome, u64) {
    let sum = seen.data.iter().fold(0u64, |sum, &byte| outlast_units::rng::mix(sum ^ u64::from(byte)));
    (seen.op, seen.lba, seen.sectors, seen.outcome, sum)
}

#[test]
fn a_served_drive_is_the_drive() {
    let faults = [(1500, json!({"do": "fault", "fault": {"kind": "die", "die": 3}}))];
    compare("twin-drive", DRIVE, ClockMode::Virtual, &faults);
    compare("twin-drive-by-the-wall", DRIVE, ClockMode::Wall { speed: 10.0 }, &faults);
}

#[test]
fn a_served_array_is_the_array() {
    let faults = [
        (700, json!({"do": "fault", "fault": {"kind": "die", "die": 3, "device": 1}})),
        (1400, json!({"do": "fault", "fault": {"kind": "device", "device": 2}})),
        (1800, json!({"do": "replace", "member": 2})),
    ];
    let text = format!("{DRIVE}{ARRAY}");
    compare("twin-array", &text, ClockMode::Virtual, &faults);
    compare("twin-array-by-the-wall", &text, ClockMode::Wall { speed: 10.0 }, &faults);
}

//! Recordings of small devices, with all inputs, and the content of a copy of the device after a cut.
#![allow(dead_code, reason = "each test binary uses its own part")]

use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_engine::{Scenario, ScenarioLayer, load};
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, InputRecorder, PowerChange, ServedDevice};
use outlast_torture::OpenRecording;
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::ops::Range;
use std::path::PathBuf;
use tempfile::TempDir;

/// A drive of four dies and about 1 MiB, empty at first.
pub(crate) const DRIVE: &str = r#"
name = "recorded"
seed = 7
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 24
pages_per_block = 8
page_size = "16KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
capacity = "1MiB"
[device.controller]
write_cache = "CACHE"
write_buffer = "256KiB"
[workload.synthetic]
requests = 1
queue_depth = 1
[precondition]
fill = "none"
overwrite = "none"
"#;

/// The scenario that a text describes.
pub(crate) fn scenario(text: &str) -> Scenario {
    let layer =
        ScenarioLayer::Toml { name: "test".to_owned(), text: text.to_owned(), folder: PathBuf::new() };
    load(&[layer], &[], &|_| Err(std::io::Error::other("no files"))).unwrap().0
}

/// An input of a recorded device.
#[derive(Clone, Debug)]
pub(crate) enum GivenInput {
    Command(Tag, Command, Vec<u8>),
    Mark(String),
}

/// A host of a device that is recorded.
pub(crate) struct Host {
    pub(crate) folder: TempDir,
    image: DeviceImage,
    machine: ServedDevice,
    pub(crate) now: Nanos,
    pub(crate) given: Vec<(Nanos, GivenInput)>,
    /// The commands under way, with the sectors that each changes.
    in_flight: Vec<(Tag, Range<u64>)>,
    version: u64,
}

/// A finished recording with its scenario and inputs.
pub(crate) struct Recorded {
    pub(crate) folder: TempDir,
    pub(crate) scenario: Scenario,
    pub(crate) recording: OpenRecording,
    pub(crate) given: Vec<(Nanos, GivenInput)>,
    pub(crate) end: Nanos,
}

impl Host {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ImageOptions { keep_log: true, ..ImageOptions::default() };
        let path = folder.path().join("run");
        let opened =
            DeviceImage::open(&path, Some(scenario), options, &mut |_| outlast_engine::RunControl::Continue);
        let (image, machine) = opened.unwrap().unwrap();
        let now = machine.now();
        Self { folder, image, machine, now, given: Vec::new(), in_flight: Vec::new(), version: 0 }
    }

    fn give(&mut self, input: &DeviceInput<'_>) {
        self.image.record(self.now, input);
        self.image.commit().unwrap();
        self.machine.apply(self.now, input).unwrap();
    }

    /// A command, which gets the first tag that is free; a write brings bytes that tell it from all others. As hosts do, it does not change
    /// what another under way changes: which of the two a device takes last is its own business.
    pub(crate) fn submit(&mut self, op: Op, lba: u64, sectors: u32, fua: bool) {
        let end = lba + u64::from(sectors);
        let overlaps = |own: &Range<u64>| own.start < end && lba < own.end;
        while matches!(op, Op::Write | Op::Trim) && self.in_flight.iter().any(|(_, own)| overlaps(own)) {
            self.wait(self.in_flight.len() - 1);
        }
        self.version += 1;
        let data = if op == Op::Write { stamp(lba, sectors, self.version) } else { Vec::new() };
        let command = Command { fua, ..Command::new(op, Lba(lba), sectors) };
        let tag = (0..1000).map(Tag).find(|tag| self.in_flight.iter().all(|(own, _)| own != tag)).unwrap();
        self.give(&DeviceInput::Command { tag, command, data: &data });
        let changed = if matches!(op, Op::Write | Op::Trim) { lba..lba + u64::from(sectors) } else { 0..0 };
        self.in_flight.push((tag, changed));
        self.given.push((self.now, GivenInput::Command(tag, command, data)));
    }

    pub(crate) fn mark(&mut self, text: &str) {
        self.give(&DeviceInput::Mark(text));
        self.given.push((self.now, GivenInput::Mark(text.to_owned())));
    }

    /// Waits until at most `left` commands are under way.
    pub(crate) fn wait(&mut self, left: usize) {
        let mut done: Vec<Completion> = Vec::new();
        while self.in_flight.len() > left {
            self.now = self.now.max(self.machine.next_deadline().expect("something completes"));
            self.machine.advance(self.now, &mut done);
            for done in done.drain(..) {
                assert_eq!(done.outcome, Outcome::Ok);
                drop(self.machine.take_data(done.tag));
                self.in_flight.retain(|(tag, _)| *tag != done.tag);
            }
        }
    }

    /// Time passes.
    pub(crate) fn idle(&mut self, span: Nanos) {
        let until = self.now + span;
        let mut done = Vec::new();
        self.machine.advance(until, &mut done);
        for done in done {
            drop(self.machine.take_data(done.tag));
            self.in_flight.retain(|(tag, _)| *tag != done.tag);
        }
        self.now = until;
    }

    /// `commands` random ones, most to a tenth of the space.
    pub(crate) fn random(&mut self, rng: &mut SplitMix, commands: u64, trims: bool) {
        let sectors = self.machine.identify().capacity.0 / SECTOR_BYTES;
        let depth = 1 + rng.below(6) as usize;
        // As those of a server: what a device can forget, and what keeps parity right.
        let trim = self.machine.identify().optimal_io.0 / SECTOR_BYTES;
        for number in 0..commands {
            self.wait(depth - 1);
            let hot = if rng.below(3) == 0 { sectors } else { sectors / 10 };
            let unit = rng.below(hot / 8);
            let whole = rng.below(3) != 0;
            let count = if whole { 8 * (1 + rng.below(5)) } else { 1 + rng.below(20) };
            let lba = if whole { unit * 8 } else { unit * 8 + rng.below(8) };
            let count = count.min(sectors - lba) as u32;
            match rng.below(20) {
                0..12 => self.submit(Op::Write, lba, count, rng.below(8) == 0),
                12 if trims => {
                    let first = lba / trim * trim;
                    let count = trim * (1 + rng.below(3));
                    self.submit(Op::Trim, first, count.min(sectors - first) as u32, false);
                }
                13 | 14 => self.submit(Op::Read, lba, count, false),
                15 => self.mark(&format!("mark {number}")),
                _ => self.submit(Op::Flush, 0, 0, false),
            }
            if rng.below(4) == 0 {
                self.idle(Nanos(rng.below(3_000_000)));
            }
        }
        self.wait(0);
        self.idle(Nanos(rng.below(3_000_000)));
        self.mark("the end");
    }

    pub(crate) fn finish(mut self) -> Recorded {
        self.image.acknowledge(self.now, true).unwrap();
        let scenario = self.machine.scenario().clone();
        drop(self.image);
        let path = self.folder.path().join("run");
        let recording =
            OpenRecording::open(&path, &mut |_| outlast_engine::RunControl::Continue).unwrap().unwrap();
        Recorded { folder: self.folder, scenario, recording, given: self.given, end: self.now }
    }
}

impl Recorded {
    /// A machine made from `scenario` that has been given all that the recorded one was given by `at`, each command under a tag of its own.
    pub(crate) fn machine_at(&self, scenario: &Scenario, at: Nanos) -> ServedDevice {
        let mut machine = ServedDevice::new(scenario).unwrap();
        let come = self.given.iter().take_while(|(when, _)| *when <= at);
        for ((when, given), number) in come.zip(0..) {
            match given {
                GivenInput::Command(_, command, data) => {
                    let input = DeviceInput::Command { tag: Tag(number), command: *command, data };
                    machine.apply(*when, &input).unwrap();
                }
                GivenInput::Mark(text) => machine.apply(*when, &DeviceInput::Mark(text)).unwrap(),
            }
        }
        machine.apply(at, &DeviceInput::Advance).unwrap();
        machine
    }
}

/// Bytes of every sector of `machine`, read by commands; `None` if it is unreadable.
pub(crate) fn read_all(machine: &mut ServedDevice) -> Vec<Option<Vec<u8>>> {
    let sectors = machine.identify().capacity.0 / SECTOR_BYTES;
    let mut found = Vec::new();
    let mut lba = 0;
    while lba < sectors {
        match read(machine, lba, 8) {
            Some(bytes) => {
                found.extend(bytes.chunks_exact(SECTOR_BYTES as usize).map(|bytes| Some(bytes.to_vec())));
            }
            None => found.extend((lba..lba + 8).map(|lba| read(machine, lba, 1))),
        }
        lba += 8;
    }
    found
}

fn read(machine: &mut ServedDevice, lba: u64, sectors: u32) -> Option<Vec<u8>> {
    const TAG: Tag = Tag(77_777);
    let command = Command::new(Op::Read, Lba(lba), sectors);
    machine.apply(machine.now(), &DeviceInput::Command { tag: TAG, command, data: &[] }).unwrap();
    loop {
        let mut done = Vec::new();
        machine.advance(machine.next_deadline().unwrap(), &mut done);
        if let Some(done) = done.iter().find(|done| done.tag == TAG) {
            let data = machine.take_data(TAG);
            drop(machine.take_failed(TAG));
            return data.filter(|_| done.outcome == Outcome::Ok);
        }
    }
}

/// Cuts the power and restores it; true if the device starts.
pub(crate) fn cut(machine: &mut ServedDevice) -> bool {
    machine.apply(machine.now(), &DeviceInput::Power(PowerChange::Cut { force: false })).is_ok()
}

/// Bytes that no other write has, nor any other sector of this one.
fn stamp(lba: u64, sectors: u32, version: u64) -> Vec<u8> {
    let words = (0..u64::from(sectors) * SECTOR_BYTES / 8)
        .map(|word| outlast_units::rng::mix(version << 40 ^ lba << 16 ^ word) | 1);
    words.flat_map(u64::to_le_bytes).collect()
}

/// An array of `members` such drives.
pub(crate) fn array(level: &str, members: u16, consistency: &str, cache: &str) -> Scenario {
    let array = format!(
        "[array]\nlevel = \"{level}\"\nmembers = {members}\nchunk = \"16KiB\"\nconsistency = \"{consistency}\"\nsafe_mode_delay = \"5ms\"\n\
         [array.log]\nsize = \"128KiB\"\nbitmap_chunk = \"64KiB\"\nbitmap_delay = \"20ms\"\n"
    );
    scenario(&format!("{}\n{array}", DRIVE.replace("CACHE", cache)))
}

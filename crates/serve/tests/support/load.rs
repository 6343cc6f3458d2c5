//! A host that writes, trims and flushes at random, and knows at each time what a machine that loses its power then may hold.

use super::{bytes, command, scenario};
use outlast_device::{Command, Op, Outcome, Tag};
use outlast_engine::Control;
use outlast_serve::{Image, ImageOptions, Input, Machine, Recorder};
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Sectors of a unit.
pub(crate) const UNIT: u32 = 8;
/// Commands under way at most.
const DEPTH: usize = 6;

/// What a unit has been given, oldest first, and which of it the latest flush or forced write covers. 0 is "zeroes".
#[derive(Clone, Default)]
pub(crate) struct Unit {
    pub(crate) versions: Vec<u64>,
    pub(crate) floor: usize,
    /// The latest that has been acknowledged.
    done: usize,
    busy: bool,
}

/// A moment when replies had just left.
pub(crate) struct Moment {
    /// Length of the log.
    pub(crate) offset: u64,
    clock: Vec<u8>,
    units: Vec<Unit>,
}

struct Flying {
    unit: usize,
    op: Op,
    fua: bool,
    /// Losses of power before it.
    losses: u32,
    /// Of a flush, what had been acknowledged before it.
    covers: Vec<usize>,
}

pub(crate) struct Load {
    pub(crate) folder: PathBuf,
    image: Image,
    pub(crate) machine: Machine,
    rng: SplitMix,
    now: Nanos,
    units: Vec<Unit>,
    flying: BTreeMap<u32, Flying>,
    version: u64,
    losses: u32,
    pub(crate) moments: Vec<Moment>,
    /// Where records begin.
    pub(crate) records: Vec<u64>,
}

/// A folder of this name for the image of a test, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    // The tests of all packages share what is above.
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_PKG_NAME"));
    fs::create_dir_all(&own).unwrap();
    let folder = own.join(name);
    fs::remove_dir_all(&folder).ok();
    folder
}

/// Opens the image in `folder`.
pub(crate) fn open(folder: &Path, text: Option<&str>) -> (Image, Machine) {
    open_with(folder, text, ImageOptions::default())
}

fn open_with(folder: &Path, text: Option<&str>, options: ImageOptions) -> (Image, Machine) {
    let scenario = text.map(scenario);
    Image::open(folder, scenario.as_ref(), options, &mut |_| Control::Continue).unwrap().unwrap()
}

impl Load {
    /// On a new image in `folder`, writing to `units` units.
    pub(crate) fn new(folder: PathBuf, text: &str, units: usize, seed: u64) -> Self {
        Self::with(folder, text, units, seed, ImageOptions::default())
    }

    pub(crate) fn with(folder: PathBuf, text: &str, units: usize, seed: u64, options: ImageOptions) -> Self {
        let (image, machine) = open_with(&folder, Some(text), options);
        assert!(image.found().made && machine.identify().capacity.0 >= units as u64 * 4096);
        let unit = Unit { versions: vec![0], ..Unit::default() };
        let mut load = Self {
            folder,
            now: machine.now(),
            image,
            machine,
            rng: SplitMix::new(seed, "load"),
            units: vec![unit; units],
            flying: BTreeMap::new(),
            version: 0,
            losses: 0,
            moments: Vec::new(),
            records: Vec::new(),
        };
        load.note();
        load
    }

    fn note(&mut self) {
        let clock = fs::read(self.folder.join("clock")).unwrap();
        self.moments.push(Moment { offset: self.image.place().offset, clock, units: self.units.clone() });
    }

    /// One turn of a server's loop.
    pub(crate) fn turn(&mut self) {
        let soon = Nanos(self.now.0 + self.rng.below(90_000));
        self.now =
            self.machine.next_deadline().filter(|_| self.rng.below(3) == 0).unwrap_or(soon).max(self.now);
        let mut done = Vec::new();
        self.machine.advance(self.now, &mut done);
        let mut durable = false;
        for done in done {
            self.machine.take_data(done.tag);
            let ended = self.flying.remove(&done.tag.0).expect("only what is under way completes");
            durable |= ended.op == Op::Flush || ended.fua;
            self.ended(&ended, done.outcome);
        }
        for _ in 0..self.rng.below(4) {
            self.submit();
        }
        self.image.commit().unwrap();
        self.image.acknowledge(self.now, durable).unwrap();
        self.image.tend(&self.machine).unwrap();
        self.note();
    }

    fn ended(&mut self, ended: &Flying, outcome: Outcome) {
        assert!(matches!(outcome, Outcome::Ok | Outcome::Aborted), "{outcome:?}");
        let ok = outcome == Outcome::Ok;
        match ended.op {
            Op::Flush if ok => {
                for (unit, &covered) in self.units.iter_mut().zip(&ended.covers) {
                    unit.floor = unit.floor.max(covered);
                }
            }
            Op::Write | Op::Trim => {
                let unit = &mut self.units[ended.unit];
                unit.busy = false;
                let newest = unit.versions.len() - 1;
                // A drive keeps trims, flushed or not; a model that counts on less holds for both.
                if ok && ended.fua {
                    unit.floor = newest;
                }
                if ok && ended.losses == self.losses {
                    unit.done = newest;
                }
            }
            _ => {}
        }
    }

    /// Gives `input` to the image and the machine.
    pub(crate) fn give(&mut self, input: &Input<'_>) {
        self.records.push(self.image.place().offset);
        self.image.record(self.now, input);
        self.machine.apply(self.now, input).unwrap();
        if matches!(input, Input::Power(_)) {
            self.losses += 1;
            // What had been acknowledged since the last flush may be gone.
            self.units.iter_mut().for_each(|unit| unit.done = unit.floor);
        }
    }

    fn submit(&mut self) {
        let unit = self.rng.below(self.units.len() as u64) as usize;
        if self.flying.len() == DEPTH || self.units[unit].busy {
            return;
        }
        let tag = (0..DEPTH as u32).find(|tag| !self.flying.contains_key(tag)).unwrap();
        let mut op =
            [Op::Write, Op::Write, Op::Write, Op::Trim, Op::Read, Op::Flush][self.rng.below(6) as usize];
        if op == Op::Trim && self.machine.scenario().array.is_some() {
            // To an array with parity the trim of a part of a stripe is advice, which it does not take.
            op = Op::Write;
        }
        let mut command = command(op, unit as u64 * u64::from(UNIT), UNIT);
        let mut data = Vec::new();
        let mut flying = Flying { unit, op, fua: false, losses: self.losses, covers: Vec::new() };
        match op {
            Op::Write => {
                self.version += 1;
                data = bytes(UNIT, self.version);
                command.fua = self.rng.below(8) == 0;
                flying.fua = command.fua;
                self.units[unit].versions.push(self.version);
                self.units[unit].busy = true;
            }
            Op::Trim => {
                self.units[unit].versions.push(0);
                self.units[unit].busy = true;
            }
            Op::Flush => {
                command = Command { sectors: 0, ..command };
                flying.covers = self.units.iter().map(|unit| unit.done).collect();
            }
            _ => {}
        }
        self.flying.insert(tag, flying);
        self.give(&Input::Command { tag: Tag(tag), command, data: &data });
    }

    /// The image as a process leaves it that is killed now; and what its units may hold.
    pub(crate) fn killed_now(&self, to: &Path) -> Vec<Vec<u64>> {
        fs::remove_dir_all(to).ok();
        // Checkpoints last: one may get its name meanwhile, and then the log is still whole.
        for part in ["", "log", "checkpoints"] {
            fs::create_dir_all(to.join(part)).unwrap();
            let entries = fs::read_dir(self.folder.join(part)).into_iter().flatten();
            for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
                // An unfinished checkpoint may just have got its name.
                fs::copy(&path, to.join(part).join(path.file_name().unwrap())).ok();
            }
        }
        self.units.iter().map(|unit| unit.versions[unit.floor..].to_vec()).collect()
    }

    /// Bytes of log written.
    pub(crate) fn written(&self) -> u64 {
        self.image.written()
    }

    /// A shutdown that is announced; the machine as it then is.
    pub(crate) fn shut_down(mut self) -> Machine {
        self.image.shut_down(&mut self.machine, self.now).unwrap();
        self.machine
    }

    /// The image as a process leaves it that is killed when its log had `length` bytes; and what its units may hold.
    pub(crate) fn killed_at(&self, length: u64, to: &Path, pick: u64) -> Vec<Vec<u64>> {
        fs::remove_dir_all(to).ok();
        fs::create_dir_all(to.join("log")).unwrap();
        for name in ["image", "scenario.toml"] {
            fs::copy(self.folder.join(name), to.join(name)).unwrap();
        }
        let log = fs::read(self.folder.join("log/00000001")).unwrap();
        fs::write(to.join("log/00000001"), &log[..length as usize]).unwrap();
        let behind = self.moments.partition_point(|moment| moment.offset <= length);
        let last = self.moments[behind - 1].offset;
        let first = self.moments.partition_point(|moment| moment.offset < last);
        let moment = &self.moments[first + pick as usize % (behind - first)];
        fs::write(to.join("clock"), &moment.clock).unwrap();
        // What was being written may be there.
        let given = &self.moments[behind.min(self.moments.len() - 1)].units;
        moment.units.iter().zip(given).map(|(then, given)| given.versions[then.floor..].to_vec()).collect()
    }
}

/// What each of `units` units holds, as a version; panics where one holds nothing that `may` says.
pub(crate) fn contents(machine: &mut Machine, may: &[Vec<u64>]) -> Vec<u64> {
    let mut found = Vec::new();
    for (unit, may) in may.iter().enumerate() {
        let read = command(Op::Read, unit as u64 * u64::from(UNIT), UNIT);
        machine.apply(machine.now(), &Input::Command { tag: Tag(0), command: read, data: &[] }).unwrap();
        let mut done = Vec::new();
        while done.is_empty() {
            machine.advance(machine.next_deadline().expect("a read completes"), &mut done);
        }
        assert_eq!((done.len(), done[0].outcome), (1, Outcome::Ok));
        let data = machine.take_data(Tag(0)).unwrap();
        let version = may.iter().rev().find(|&&version| data == content(version));
        found.push(*version.unwrap_or_else(|| panic!("unit {unit} holds none of {may:?}")));
    }
    found
}

fn content(version: u64) -> Vec<u8> {
    if version == 0 { vec![0; 4096] } else { bytes(UNIT, version) }
}

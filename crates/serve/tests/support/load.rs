//! A host that writes, trims and flushes at random, and knows at each time what a device that loses its power then may hold.

mod killed;

#[allow(unused_imports, reason = "each test uses its part")]
pub(crate) use killed::contents;

use super::{bytes, command, scenario};
use outlast_device::{Command, Op, Outcome, Tag};
use outlast_engine::RunControl;
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, InputRecorder, ServedDevice};
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
pub(crate) struct UnitHistory {
    pub(crate) versions: Vec<u64>,
    pub(crate) floor: usize,
    /// The latest that has been acknowledged.
    done: usize,
    busy: bool,
}

/// A moment when replies had just left.
pub(crate) struct ReplyMoment {
    /// Length of the log.
    pub(crate) offset: u64,
    clock: Vec<u8>,
    units: Vec<UnitHistory>,
}

struct CommandUnderWay {
    unit: usize,
    op: Op,
    fua: bool,
    /// Losses of power before it.
    losses: u32,
    /// Of a flush, what had been acknowledged before it.
    covers: Vec<usize>,
}

pub(crate) struct RecordedLoad {
    pub(crate) folder: PathBuf,
    image: DeviceImage,
    pub(crate) device: ServedDevice,
    rng: SplitMix,
    now: Nanos,
    units: Vec<UnitHistory>,
    flying: BTreeMap<u32, CommandUnderWay>,
    version: u64,
    losses: u32,
    pub(crate) moments: Vec<ReplyMoment>,
    /// Where records begin.
    pub(crate) records: Vec<u64>,
    /// Why no checkpoint could be made.
    pub(crate) troubles: Vec<String>,
    options: ImageOptions,
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
pub(crate) fn open(folder: &Path, text: Option<&str>) -> (DeviceImage, ServedDevice) {
    open_with(folder, text, ImageOptions::default())
}

fn open_with(folder: &Path, text: Option<&str>, options: ImageOptions) -> (DeviceImage, ServedDevice) {
    let scenario = text.map(scenario);
    DeviceImage::open(folder, scenario.as_ref(), options, &mut |_| RunControl::Continue).unwrap().unwrap()
}

impl RecordedLoad {
    /// On a new image in `folder`, writing to `units` units.
    pub(crate) fn new(folder: PathBuf, text: &str, units: usize, seed: u64) -> Self {
        Self::with(folder, text, units, seed, ImageOptions::default())
    }

    pub(crate) fn with(folder: PathBuf, text: &str, units: usize, seed: u64, options: ImageOptions) -> Self {
        let (image, device) = open_with(&folder, Some(text), options);
        assert!(image.opening_report().made && device.identify().capacity.0 >= units as u64 * 4096);
        Self::of(image, device, folder, units, seed, options)
    }

    /// On the image that is in `folder`.
    pub(crate) fn again(folder: PathBuf, units: usize, seed: u64, options: ImageOptions) -> Self {
        let (image, device) = open_with(&folder, None, options);
        Self::of(image, device, folder, units, seed, options)
    }

    fn of(
        image: DeviceImage,
        device: ServedDevice,
        folder: PathBuf,
        units: usize,
        seed: u64,
        options: ImageOptions,
    ) -> Self {
        let unit = UnitHistory { versions: vec![0], ..UnitHistory::default() };
        let mut load = Self {
            folder,
            now: device.now(),
            image,
            device,
            rng: SplitMix::new(seed, "load"),
            units: vec![unit; units],
            flying: BTreeMap::new(),
            version: 0,
            losses: 0,
            moments: Vec::new(),
            records: Vec::new(),
            troubles: Vec::new(),
            options,
        };
        load.note();
        load
    }

    fn note(&mut self) {
        let clock = fs::read(self.folder.join("clock")).unwrap();
        self.moments.push(ReplyMoment {
            offset: self.image.place().offset,
            clock,
            units: self.units.clone(),
        });
    }

    /// One turn of a server's loop.
    pub(crate) fn turn(&mut self) {
        let soon = Nanos(self.now.0 + self.rng.below(90_000));
        self.now =
            self.device.next_deadline().filter(|_| self.rng.below(3) == 0).unwrap_or(soon).max(self.now);
        let mut done = Vec::new();
        self.device.advance(self.now, &mut done);
        let mut durable = false;
        for done in done {
            self.device.take_data(done.tag);
            let ended = self.flying.remove(&done.tag.0).expect("only what is under way completes");
            durable |= ended.op == Op::Flush || ended.fua;
            self.ended(&ended, done.outcome);
        }
        for _ in 0..self.rng.below(4) {
            self.submit();
        }
        self.image.commit().unwrap();
        self.image.acknowledge(self.now, durable).unwrap();
        self.troubles.extend(self.image.checkpoint_if_due(&self.device).err().map(|error| error.to_string()));
        self.note();
    }

    fn ended(&mut self, ended: &CommandUnderWay, outcome: Outcome) {
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

    /// Gives `input` to the image and the device.
    pub(crate) fn give(&mut self, input: &DeviceInput<'_>) {
        self.records.push(self.image.place().offset);
        self.image.record(self.now, input);
        self.device.apply(self.now, input).unwrap();
        if matches!(input, DeviceInput::Power(_)) {
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
        if op == Op::Trim && self.device.scenario().array.is_some() {
            // To an array with parity the trim of a part of a stripe is advice, which it does not take.
            op = Op::Write;
        }
        let mut command = command(op, unit as u64 * u64::from(UNIT), UNIT);
        let mut data = Vec::new();
        let mut flying = CommandUnderWay { unit, op, fua: false, losses: self.losses, covers: Vec::new() };
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
        self.give(&DeviceInput::Command { tag: Tag(tag), command, data: &data });
    }

    /// The device as a log gives it: what has completed has been heard of.
    pub(crate) fn now_as_replayed(&self) -> ServedDevice {
        let (mut device, mut done) = (self.device.fork(), Vec::new());
        device.advance(device.now(), &mut done);
        for done in done {
            drop(device.take_data(done.tag));
        }
        device
    }

    /// The number of the image.
    pub(crate) fn number(&self) -> u64 {
        self.image.place().image
    }

    /// The segment of the log that is written.
    pub(crate) fn segment(&self) -> u32 {
        self.image.place().segment
    }

    /// Bytes of log written.
    pub(crate) fn written(&self) -> u64 {
        self.image.written()
    }

    /// A shutdown that is announced; the device as it then is.
    pub(crate) fn shut_down(mut self) -> ServedDevice {
        self.image.shut_down(&mut self.device, self.now).unwrap();
        self.device
    }
}

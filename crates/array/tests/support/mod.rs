//! A host with an oracle: it knows, for each sector, which contents a read may return.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod drives;
pub(crate) mod failing;
pub(crate) mod life;
pub(crate) mod policies;
pub(crate) mod settings;

use outlast_array::{Array, ArrayCounters, PlainDevice};
use outlast_device::{Command, Completion, Device, LatencyCause, Op, Outcome, Tag};
use outlast_settings::array::{ArrayConfig, PlainConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::collections::BTreeMap;

pub(crate) const SECTOR: usize = SECTOR_BYTES as usize;

/// Routes a command without time to members that do nothing with it; the array counts it.
pub(crate) fn route<D: Device>(array: &mut Array<D>, command: Command) -> Outcome {
    let mut counters = ArrayCounters::default();
    let outcome = array.route_untimed(command, &mut counters, &mut |_, _| {});
    array.count_untimed(counters);
    outcome
}

/// The content of a sector: recognisable, and different at every write. Version 0 is zeroes.
pub(crate) fn stamp(lba: u64, version: u64) -> [u8; SECTOR] {
    let mut bytes = [0; SECTOR];
    if version == 0 {
        return bytes;
    }
    let mut rng = SplitMix::new(lba ^ version.rotate_left(32), "content");
    for (i, word) in bytes.chunks_exact_mut(8).enumerate() {
        let value = if i == 0 { version } else { rng.next_u64() };
        word.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The version of a sector's content.
pub(crate) fn version_of(lba: u64, bytes: &[u8]) -> Option<u64> {
    let version = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    (stamp(lba, version) == bytes).then_some(version)
}

/// A device with random but repeatable times, so that commands overtake each other.
pub(crate) fn plain(sectors: u64, seed: u64) -> PlainDevice {
    plain_with(false, sectors, seed)
}

/// The same with a buffer that forgets without power.
pub(crate) fn volatile(sectors: u64, seed: u64) -> PlainDevice {
    plain_with(true, sectors, seed)
}

fn plain_with(volatile_cache: bool, sectors: u64, seed: u64) -> PlainDevice {
    let config = PlainConfig {
        volatile_cache,
        read_latency: Nanos::micros(40 + seed % 7),
        write_latency: Nanos::micros(70 + seed % 5),
        lanes: 4,
        bytes: true,
        endurance: Some(100),
        ..PlainConfig::new(Bytes(sectors * SECTOR_BYTES))
    };
    PlainDevice::new(config, seed).unwrap()
}

pub(crate) fn array(config: ArrayConfig, sectors: u64) -> Array<PlainDevice> {
    let devices = u64::from(config.members + config.spares);
    Array::new(config, (0..devices).map(|seed| plain(sectors, seed)).collect(), true).unwrap()
}

pub(crate) fn command(op: Op, lba: u64, sectors: u32) -> Command {
    Command::new(op, Lba(lba), sectors)
}

#[derive(Default, Clone, Debug)]
struct Sector {
    allowed: Vec<u64>,
    in_flight: Vec<u64>,
    /// All writes since none was in flight: any of them may turn out last.
    group: Vec<u64>,
    kept: bool,
    /// Whatever may be on flash: what a flush or FUA has made durable, and all that was written since.
    durable: Vec<u64>,
    /// Being written when power failed: holds anything that was written, or is unreadable.
    doubtful: bool,
}

#[derive(Clone)]
struct Pending {
    command: Command,
    since: Nanos,
    version: u64,
    /// For a read: content that each sector may return. For a flush: content of each sector of the device that it makes durable.
    allowed: Vec<Vec<u64>>,
}

/// A host over any device.
#[derive(Clone)]
pub(crate) struct Host<D> {
    pub(crate) device: D,
    sectors: Vec<Sector>,
    pending: BTreeMap<Tag, Pending>,
    version: u64,
    next_tag: u32,
    pub(crate) now: Nanos,
    pub(crate) reads_checked: u64,
    pub(crate) completed: u64,
    /// Commands of which the device told where their time went.
    pub(crate) split: u64,
    /// Whether processors of members search and mark for repairs, which takes time; nothing else does of theirs.
    pub(crate) members_search: bool,
    /// Reads that ended with a medium error, as ranges.
    pub(crate) errors: Vec<(u64, u32)>,
    pub(crate) refused: u64,
    /// Count wrong content rather than fail.
    pub(crate) tolerant: bool,
    pub(crate) wrong: u64,
    /// The device promises only what was flushed or written with FUA; else all that it acknowledged.
    pub(crate) forgetful: bool,
}

impl<D: Device> Host<D> {
    pub(crate) fn new(device: D) -> Self {
        let sectors = (device.identify().capacity.0 / SECTOR_BYTES) as usize;
        Self {
            device,
            sectors: vec![Sector { allowed: vec![0], durable: vec![0], ..Sector::default() }; sectors],
            pending: BTreeMap::new(),
            version: 0,
            next_tag: 0,
            now: Nanos::ZERO,
            reads_checked: 0,
            completed: 0,
            split: 0,
            members_search: false,
            errors: Vec::new(),
            refused: 0,
            tolerant: false,
            wrong: 0,
            forgetful: false,
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.sectors.len() as u64
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.pending.len()
    }

    fn range(command: &Command) -> std::ops::Range<usize> {
        command.lba.0 as usize..command.lba.0 as usize + command.sectors as usize
    }

    pub(crate) fn submit(&mut self, command: Command) {
        let tag = Tag(self.next_tag);
        self.next_tag = (self.next_tag + 1) % 1024;
        assert!(!self.pending.contains_key(&tag), "a tag is used twice");
        self.version += 1;
        let (mut allowed, mut data) = (Vec::new(), Vec::new());
        match command.op {
            Op::Read => {
                let sectors = &self.sectors[Self::range(&command)];
                allowed = sectors.iter().map(|s| [&s.allowed[..], &s.group[..]].concat()).collect();
            }
            Op::Flush => {
                allowed = self.sectors.iter().map(|s| [&s.allowed[..], &s.group[..]].concat()).collect();
            }
            Op::Write | Op::Trim => {
                let written = if command.op == Op::Write { self.version } else { 0 };
                for lba in Self::range(&command) {
                    self.sectors[lba].in_flight.push(written);
                    self.sectors[lba].group.push(written);
                    self.sectors[lba].durable.push(written);
                    self.sectors[lba].kept |= command.op == Op::Trim;
                    if command.op == Op::Write {
                        data.extend_from_slice(&stamp(lba as u64, written));
                    }
                }
                for pending in self.pending.values_mut() {
                    let span = match pending.command.op {
                        Op::Read => Self::range(&pending.command),
                        Op::Flush => 0..self.sectors.len(),
                        _ => continue,
                    };
                    for (i, lba) in span.enumerate() {
                        if Self::range(&command).contains(&lba) {
                            pending.allowed[i].push(written);
                        }
                    }
                }
            }
            Op::LbaStatus | Op::Append | Op::ManageZone => {}
        }
        let version = if command.op == Op::Write { self.version } else { 0 };
        self.pending.insert(tag, Pending { command, since: self.now, version, allowed });
        self.device.submit_data(self.now, command, tag, &data);
    }

    fn complete(&mut self, completion: Completion) {
        let Pending { command, since, version, allowed } = self.pending.remove(&completion.tag).unwrap();
        self.completed += 1;
        if let Some(parts) = self.device.take_parts(completion.tag) {
            let latency = completion.at - since;
            assert_eq!(Nanos(parts.total()), latency, "{command:?} spent its time on {parts:?}");
            // Processors take no time else: what counts for them nobody has laid claim to.
            let claimed = parts[LatencyCause::Firmware] == 0 || self.members_search;
            assert!(claimed, "{command:?}: {parts:?}");
            self.split += 1;
        }
        match (command.op, completion.outcome) {
            (Op::Read, Outcome::Ok) => {
                let data = self.device.take_data(completion.tag).expect("bytes are kept");
                assert_eq!(data.len(), command.sectors as usize * SECTOR);
                for (i, lba) in Self::range(&command).enumerate() {
                    let bytes = &data[i * SECTOR..(i + 1) * SECTOR];
                    let version = version_of(lba as u64, bytes);
                    let fine = version.is_some_and(|version| allowed[i].contains(&version));
                    self.wrong += u64::from(!fine);
                    assert!(
                        fine || self.tolerant,
                        "sector {lba} at {}: {version:?}, not one of {:?}",
                        self.now,
                        allowed[i]
                    );
                    self.reads_checked += 1;
                }
            }
            (Op::Read, Outcome::MediumError) => self.errors.push((command.lba.0, command.sectors)),
            (Op::Read | Op::Flush, Outcome::Aborted) => {}
            (Op::Write | Op::Trim, outcome) => {
                if !matches!(outcome, Outcome::Ok | Outcome::Aborted) {
                    self.refused += 1;
                }
                for lba in Self::range(&command) {
                    let sector = &mut self.sectors[lba];
                    let place = sector.in_flight.iter().position(|&v| v == version).unwrap();
                    sector.in_flight.swap_remove(place);
                    // What was refused or aborted may have been written in part.
                    sector.kept |= outcome != Outcome::Ok;
                    sector.doubtful |= outcome == Outcome::Aborted;
                    if sector.in_flight.is_empty() {
                        let group = std::mem::take(&mut sector.group);
                        if sector.kept {
                            sector.allowed.extend(group);
                        } else {
                            if command.fua && group.len() == 1 {
                                sector.durable.clone_from(&group);
                            }
                            sector.allowed = group;
                            sector.doubtful = false;
                        }
                        sector.kept = false;
                    }
                }
            }
            (Op::Flush, Outcome::Ok) => {
                for (sector, kept) in self.sectors.iter_mut().zip(allowed) {
                    sector.durable = kept;
                }
            }
            (_, outcome) => assert_eq!(outcome, Outcome::Ok),
        }
    }

    /// Takes completions that the device gave when it was advanced from elsewhere.
    pub(crate) fn accept(&mut self, completions: Vec<Completion>) {
        for completion in completions {
            self.complete(completion);
        }
    }

    /// Lets time pass until something completes or nothing is left to do; returns whether anything completed.
    pub(crate) fn step(&mut self) -> bool {
        let mut completions = Vec::new();
        let reached = self.device.advance_to_completion(Nanos(u64::MAX - 1), &mut completions);
        if completions.is_empty() {
            return false;
        }
        assert!(reached >= self.now, "time ran backwards");
        self.now = reached;
        for completion in completions {
            assert!(completion.at <= reached, "completed in the future");
            self.complete(completion);
        }
        true
    }

    /// Lets time pass until the host has nothing in flight and the device nothing to do.
    pub(crate) fn drain(&mut self) {
        while let Some(at) = self.device.next_deadline() {
            let mut completions = Vec::new();
            self.now = at;
            self.device.advance(at, &mut completions);
            for completion in completions {
                self.complete(completion);
            }
        }
        assert!(self.pending.is_empty(), "commands never completed");
    }

    /// Power failed: what was in flight may have been written or not, sector by sector.
    pub(crate) fn forget_in_flight(&mut self) {
        self.pending.clear();
        for sector in &mut self.sectors {
            let group = std::mem::take(&mut sector.group);
            sector.doubtful |= !sector.in_flight.is_empty();
            sector.allowed.extend(group);
            sector.in_flight.clear();
            sector.kept = false;
        }
        self.forget_unflushed();
    }

    /// Power failed: a forgetful device may be back at what was there before.
    pub(crate) fn forget_unflushed(&mut self) {
        for sector in self.sectors.iter_mut().filter(|_| self.forgetful) {
            sector.allowed.extend(&sector.durable);
            sector.allowed.sort_unstable();
            sector.allowed.dedup();
            sector.durable.clone_from(&sector.allowed);
        }
    }

    /// True if sector `lba` was being written when power failed, and has not been written since.
    pub(crate) fn is_doubtful(&self, lba: u64) -> bool {
        self.sectors[lba as usize].doubtful
    }

    /// Reads everything and compares; returns the sectors that could not be read.
    pub(crate) fn read_all(&mut self) -> Vec<u64> {
        self.drain();
        let mut unreadable = Vec::new();
        let capacity = self.capacity();
        let step = 16;
        for lba in (0..capacity).step_by(step) {
            let sectors = (capacity - lba).min(step as u64) as u32;
            self.errors.clear();
            self.submit(command(Op::Read, lba, sectors));
            while self.in_flight() > 0 {
                assert!(self.step());
            }
            if self.errors.is_empty() {
                continue;
            }
            for lba in lba..lba + u64::from(sectors) {
                self.errors.clear();
                self.submit(command(Op::Read, lba, 1));
                while self.in_flight() > 0 {
                    assert!(self.step());
                }
                if !self.errors.is_empty() {
                    unreadable.push(lba);
                }
            }
        }
        self.errors.clear();
        unreadable
    }

    /// A random command of the mix: mostly small, sometimes over several stripes.
    pub(crate) fn random(&mut self, rng: &mut SplitMix, longest: u64) -> Command {
        let capacity = self.capacity();
        let sectors = match rng.below(4) {
            0 => 1 + rng.below(longest),
            1 => 8,
            _ => 1 + rng.below(12),
        }
        .min(capacity);
        let lba = rng.below(capacity - sectors + 1);
        let op = match rng.below(20) {
            0..10 => Op::Write,
            10..18 => Op::Read,
            18 => Op::Trim,
            _ => Op::Flush,
        };
        let mut command = command(op, lba, sectors as u32);
        command.fua = op == Op::Write && rng.below(8) == 0;
        if op == Op::Flush {
            (command.lba, command.sectors) = (Lba(0), 0);
        }
        command
    }
}

//! Writes that carry data, each unit with different bytes: cost of real bytes in a drive, and in an array of four. Each run ends by reading everything
//! back and comparing it with a map of the last writes.

use crate::case::scenario_of;
use crate::{hashes::digest, protection};
use outlast_array::Array;
use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_engine::parse_text;
use outlast_media::ByteStore;
use outlast_serve::FileStore;
use outlast_settings::array::{ArrayConfig, BackgroundConfig, Level};
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{Lba, Nanos};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write as _;
use std::sync::Arc;

/// Bytes of a unit, and of the runs of which each differs from all others.
const UNIT: usize = 4096;
const RUN: usize = 256;
const SECTORS: u32 = 8;
/// Pages of noise that writes begin with.
const PAGES: u64 = 16;
const DEPTH: u32 = 32;
const MEMBERS: u16 = 4;

/// A drive of the cases `bytes-*`, or an array of four of them, and random writes to it.
#[derive(Clone)]
pub(crate) struct DataCase {
    pub(crate) name: String,
    drive: Result<SsdConfig, String>,
    members: u16,
    /// True if the bytes are kept in a temporary file.
    on_disk: bool,
    /// Random writes, after each unit has been written once.
    pub(crate) requests: u64,
}

/// Result of a run.
pub(crate) struct DataResult {
    /// All results of the simulation, with a hash of the bytes that were read back.
    pub(crate) text: String,
    /// Seconds of the processor for the random writes.
    seconds: f64,
}

/// All cases.
pub(crate) fn all(quick: bool) -> Vec<DataCase> {
    let requests = if quick { 5_000 } else { 400_000 };
    let drives = |gib: f64| {
        protection::bytes(gib, requests).map(|case| {
            let kind = case.name.replace("bytes", "data");
            let config = parse_text(&case.scenario).map(|(scenario, _)| scenario.device);
            (kind, config.map_err(|error| error.to_string()))
        })
    };
    let mut cases: Vec<DataCase> = drives(0.25)
        .map(|(name, drive)| DataCase { name, drive, members: 0, on_disk: false, requests })
        .collect();
    // Filling four drives and reading them back takes longer than the writes of a quick run: there they are a quarter as large.
    let plain = drives(if quick { 0.0625 } else { 0.25 }).next();
    cases.extend(plain.map(|(_, drive)| DataCase {
        name: "data-raid5".to_owned(),
        drive,
        members: MEMBERS,
        on_disk: false,
        requests: requests / 2,
    }));
    cases
}

/// The cases of one drive, with what is written kept on disk: each gives the same.
pub(crate) fn on_disk(quick: bool) -> Vec<DataCase> {
    let cases = all(quick).into_iter().filter(|case| case.members == 0);
    cases.map(|case| DataCase { name: format!("{}-on-disk", case.name), on_disk: true, ..case }).collect()
}

/// A store among the system's temporary files.
fn store() -> Result<Arc<dyn ByteStore>, String> {
    let store = FileStore::new(&std::env::temp_dir()).map_err(|error| error.to_string())?;
    Ok(Arc::new(store))
}

impl DataCase {
    /// Runs the case. Counters of features that are switched off are left out of the result.
    pub(crate) fn run(&self) -> Result<DataResult, String> {
        let config = self.drive.clone()?;
        let drive = |seed| Ssd::new(config.clone(), seed).map_err(|error| error.to_string());
        if self.members == 0 {
            let mut ssd = drive(1)?;
            if self.on_disk {
                ssd.keep_contents_in(&store()?);
            }
            let found = self.on(&mut ssd)?;
            let text = format!("{}\n{:?}\n{}", found.text, ssd.counters(), digest::units(&ssd.written()));
            let text = digest::without_young_counters(&text);
            return Ok(DataResult { text, ..found });
        }
        let drives = (1..=u64::from(self.members)).map(drive).collect::<Result<Vec<_>, _>>()?;
        let background = BackgroundConfig { min_rate: None, max_rate: None, ..BackgroundConfig::default() };
        let config = ArrayConfig { background, ..ArrayConfig::new(Level::Raid5, self.members) };
        let mut array = Array::new(config, drives, true).map_err(|error| error.to_string())?;
        self.on(&mut array)
    }

    fn on<D: Device>(&self, device: &mut D) -> Result<DataResult, String> {
        let mut host = DataHost::new(device.identify().capacity.0 / UNIT as u64);
        host.fill(device)?;
        let start = processor_seconds();
        write(&mut host, device, self.requests)?;
        let seconds = processor_seconds() - start;
        let written = host.now;
        let read = host.read_back(device)?;
        device.self_check()?;
        let mut text = format!("written by {written}, read by {}, content {read:016x}", host.now);
        let _ = write!(text, "\n{:?}\nlatencies {:016x}", device.smart(), host.latencies);
        Ok(DataResult { text, seconds })
    }

    /// A line of the benchmark.
    pub(crate) fn measure(&self) -> Result<String, String> {
        let found = self.run()?;
        let rate = self.requests as f64 / found.seconds;
        let hash = digest::hash(&found.text);
        Ok(format!("{:<24} {:>9} {rate:>11.0} writes/CPU-s with data  {hash:016x}", self.name, self.requests))
    }
}

/// Time to clone a drive with 1 GiB of live data (a tenth of it if `quick`), in memory and on disk, compared with a drive that keeps no bytes: the
/// least of nine.
pub(crate) fn forks(quick: bool) -> Result<String, String> {
    let gib = if quick { 0.125 } else { 1.25 };
    let text = |bytes: bool| {
        let device = format!("bytes = {bytes}\n");
        scenario_of(
            gib,
            16,
            0.8,
            &device,
            "workload.synthetic = { pattern = \"uniform\", queue_depth = 1, requests = 1 }\n",
        )
    };
    let mut least = [f64::INFINITY; 3];
    let mut live = 0;
    for ((bytes, on_disk), least) in [(true, false), (true, true), (false, false)].into_iter().zip(&mut least)
    {
        let config = parse_text(&text(bytes)).map_err(|error| error.to_string())?.0.device;
        let mut ssd = Ssd::new(config, 1).map_err(|error| error.to_string())?;
        if on_disk {
            ssd.keep_contents_in(&store()?);
        }
        let mut host = DataHost::new(ssd.identify().capacity.0 / UNIT as u64);
        host.fill(&mut ssd)?;
        live = host.versions.len() * UNIT / 1_048_576;
        for _ in 0..9 {
            let start = processor_seconds();
            let fork = ssd.clone();
            *least = least.min(processor_seconds() - start);
            drop(fork);
        }
    }
    let [with, on_disk, without] = least.map(|seconds| seconds * 1e6);
    Ok(format!(
        "forks: {live} MiB of live data: {with:.0} µs; on disk: {on_disk:.0} µs; of a drive that keeps no bytes: {without:.0} µs"
    ))
}

/// The random writes, in a function of its own, so that callgrind can count them.
#[inline(never)]
fn write<D: Device>(host: &mut DataHost, device: &mut D, requests: u64) -> Result<(), String> {
    for _ in 0..requests {
        let unit = host.rng.below(host.versions.len() as u64);
        host.put(device, unit)?;
    }
    host.settle(device)
}

/// A host with a queue of [`DEPTH`] commands, and a map of what it has written.
struct DataHost {
    /// Number of writes to each unit.
    versions: Vec<u32>,
    rng: SplitMix,
    noise: Vec<u8>,
    data: Vec<u8>,
    now: Nanos,
    free: Vec<Tag>,
    begun: [Nanos; DEPTH as usize],
    completions: Vec<outlast_device::Completion>,
    latencies: u64,
}

impl DataHost {
    fn new(units: u64) -> Self {
        let mut rng = SplitMix::new(1, "bench.data");
        let words = PAGES as usize * UNIT / 8;
        Self {
            versions: vec![0; units as usize],
            noise: (0..words).flat_map(|_| rng.next_u64().to_le_bytes()).collect(),
            rng,
            data: vec![0; UNIT],
            now: Nanos::ZERO,
            free: (0..DEPTH).map(Tag).collect(),
            begun: [Nanos::ZERO; DEPTH as usize],
            completions: Vec::new(),
            latencies: 0,
        }
    }

    /// Makes the content of version `version` of unit `unit`: noise, with a mark in each run.
    fn make(&mut self, unit: u64, version: u32) {
        let key = mix(unit << 32 | u64::from(version));
        let page = (key % PAGES) as usize * UNIT;
        self.data.copy_from_slice(&self.noise[page..page + UNIT]);
        for (at, run) in (0..).zip(self.data.chunks_exact_mut(RUN)) {
            run[..8].copy_from_slice(&(key + at).to_le_bytes());
        }
    }

    /// Writes each unit once, in order.
    fn fill<D: Device>(&mut self, device: &mut D) -> Result<(), String> {
        for unit in 0..self.versions.len() as u64 {
            self.put(device, unit)?;
        }
        self.settle(device)
    }

    fn put<D: Device>(&mut self, device: &mut D, unit: u64) -> Result<(), String> {
        let tag = self.tag(device)?;
        self.versions[unit as usize] += 1;
        self.make(unit, self.versions[unit as usize]);
        self.begun[tag.0 as usize] = self.now;
        device.submit_data(self.now, command(Op::Write, unit), tag, &self.data);
        Ok(())
    }

    /// A tag that is free; waits until one is.
    fn tag<D: Device>(&mut self, device: &mut D) -> Result<Tag, String> {
        loop {
            if let Some(tag) = self.free.pop() {
                return Ok(tag);
            }
            self.step(device)?;
        }
    }

    fn step<D: Device>(&mut self, device: &mut D) -> Result<(), String> {
        self.now = device.advance_to_completion(Nanos::MAX, &mut self.completions).max(self.now);
        if self.completions.is_empty() {
            return Err("commands are under way and nothing happens".to_owned());
        }
        for completion in self.completions.drain(..) {
            if completion.outcome != Outcome::Ok {
                return Err(format!("{completion:?}"));
            }
            let latency = completion.at - self.begun[completion.tag.0 as usize];
            self.latencies = mix(self.latencies ^ latency.0);
            self.free.push(completion.tag);
        }
        Ok(())
    }

    fn settle<D: Device>(&mut self, device: &mut D) -> Result<(), String> {
        while self.free.len() < DEPTH as usize {
            self.step(device)?;
        }
        Ok(())
    }

    /// Reads every unit and compares it with what was written last; returns a hash of all.
    fn read_back<D: Device>(&mut self, device: &mut D) -> Result<u64, String> {
        let mut hash = 0;
        for unit in 0..self.versions.len() as u64 {
            let tag = self.tag(device)?;
            self.begun[tag.0 as usize] = self.now;
            device.submit(self.now, command(Op::Read, unit), tag);
            self.settle(device)?;
            let read = device.take_data(tag).ok_or("a read has no data")?;
            self.make(unit, self.versions[unit as usize]);
            if read != self.data {
                return Err(format!("unit {unit} holds other bytes than were written last"));
            }
            let words = read.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
            hash = words.fold(hash, |hash, word| mix(hash ^ word));
        }
        Ok(hash)
    }
}

fn command(op: Op, unit: u64) -> Command {
    Command::new(op, Lba(unit * u64::from(SECTORS)), SECTORS)
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

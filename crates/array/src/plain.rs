//! A device without firmware: fixed latency, bandwidth, and the faults that an array must live with.

use outlast_device::{
    Command, Completion, Device, Extent, ExtentState, Extents, Held, Identity, LbaRun, NamespaceId, Notice,
    NoticeKind, Op, Outcome, Peek, PowerCycle, SectorRun, Smart, Tag,
};
use outlast_media::ConfigError;
use outlast_settings::array::PlainConfig;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, ListMap, Nanos, SECTOR_BYTES, to_count, to_length};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

const SECTOR: usize = to_length(SECTOR_BYTES);
/// Sectors that are allocated together.
const PAGE_SECTORS: u64 = 8;
/// Bound of restored counts, so that sums cannot overflow.
const MOST: u64 = 1 << 50;

/// Something that will fail within a [`PlainDevice`].
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct PlainFailure {
    /// Time of the failure.
    pub at: Nanos,
    /// The notice that the device gives.
    pub notice: NoticeKind,
    /// Sectors that can no longer be read, until they are written.
    pub lost: Vec<u64>,
    /// Sectors that can be read but are to be written again.
    pub fake: Vec<u64>,
}

/// A command under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct PlainCommand {
    command: Command,
    tag: Tag,
    data: Vec<u8>,
}

/// A sector before a write: its bytes, whether it could not be read, and how it was listed.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct SectorBefore {
    bytes: Option<Box<[u8]>>,
    unreadable: bool,
    listed: Option<bool>,
}

/// A device with fixed times. It stands in for a drive where only its speed, its wear and its faults matter.
///
/// A command takes the lane that is free first, for its latency and its transfer. Bytes are read and written when it ends.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct PlainDevice {
    config: PlainConfig,
    lanes: Vec<Nanos>,
    /// Ends of commands in flight, with their number in `entries`.
    queue: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    entries: Vec<PlainCommand>,
    free: Vec<u32>,
    sequence: u64,
    pages: Vec<Option<Box<[u8]>>>,
    data_out: ListMap<Tag, Vec<u8>>,
    /// Sectors that cannot be read until they are written.
    unreadable: BTreeSet<u64>,
    /// Sectors that are to be written again, and whether they can be read.
    listed: BTreeMap<u64, bool>,
    /// Failures to come, in order of time.
    failures: VecDeque<PlainFailure>,
    notices: VecDeque<Notice>,
    status_out: ListMap<Tag, Vec<LbaRun>>,
    failed_out: ListMap<Tag, Vec<SectorRun>>,
    /// Former content of sectors with writes that a loss of power may undo.
    unflushed: BTreeMap<u64, SectorBefore>,
    rng: SplitMix,
    read_only: bool,
    smart: Smart,
    sectors_read: u64,
    sectors_written: u64,
    /// Cycles spent before this life.
    worn: f64,
}

impl PlainDevice {
    /// Checks a restored device: its settings are valid, and its tables have the sizes that follow from them.
    fn check_restored(&self) -> Result<(), String> {
        self.config.validate().map_err(|error| error.to_string())?;
        let capacity = self.config.capacity.0 / SECTOR_BYTES;
        let pages = if self.config.bytes { capacity.div_ceil(PAGE_SECTORS) } else { 0 };
        let is_page = |page: &[u8]| page.len() == to_length(PAGE_SECTORS) * SECTOR;
        let sized = self.lanes.len() == usize::from(self.config.lanes) && self.pages.len() as u64 == pages;
        if !sized || !self.pages.iter().flatten().all(|page| is_page(page)) {
            return Err("a device has lanes or pages other than its settings say".to_owned());
        }
        let mut seen = vec![false; self.entries.len()];
        let queued = self.queue.iter().map(|&Reverse((_, _, index))| index);
        for index in queued.clone().chain(self.free.iter().copied()) {
            if seen.get_mut(index as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(format!("command {index} of {} is none, or there twice", self.entries.len()));
            }
        }
        for PlainCommand { command, .. } in queued.filter_map(|index| self.entries.get(index as usize)) {
            if command.lba.0 > capacity || u64::from(command.sectors) > capacity {
                return Err(format!("{command:?} is beyond a device of {capacity} sectors"));
            }
        }
        let is_before = |(&sector, before): (&u64, &SectorBefore)| {
            sector < capacity && before.bytes.as_ref().is_none_or(|bytes| bytes.len() == SECTOR)
        };
        let figures = [self.sequence, self.sectors_read, self.sectors_written];
        let smart = [self.smart.host_read_commands, self.smart.host_write_commands, self.smart.media_errors];
        if !self.unflushed.iter().all(is_before) || figures.iter().chain(&smart).any(|&count| count >= MOST) {
            return Err("a device counts more than it can have done, or has writes beyond its end".to_owned());
        }
        self.self_check()
    }

    /// An empty device.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn new(config: PlainConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let pages = if config.bytes { config.capacity.0.div_ceil(PAGE_SECTORS * SECTOR_BYTES) } else { 0 };
        Ok(Self {
            lanes: vec![Nanos::ZERO; usize::from(config.lanes)],
            queue: BinaryHeap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            pages: vec![None; to_length(pages)],
            data_out: ListMap::default(),
            unreadable: BTreeSet::new(),
            listed: BTreeMap::new(),
            failures: VecDeque::new(),
            notices: VecDeque::new(),
            status_out: ListMap::default(),
            failed_out: ListMap::default(),
            unflushed: BTreeMap::new(),
            rng: SplitMix::new(seed, "plain device"),
            read_only: false,
            smart: Smart { available_spare: 100, ..Smart::default() },
            sectors_read: 0,
            sectors_written: 0,
            worn: 0.0,
            config,
        })
    }

    /// Sets the cycles that the device has spent before.
    #[must_use]
    pub fn pre_worn(mut self, cycles: f64) -> Self {
        self.worn = cycles;
        self
    }

    /// Cycles spent: capacities written in this life, plus those spent before.
    pub fn cycles(&self) -> f64 {
        self.worn + (self.sectors_written * SECTOR_BYTES) as f64 / self.config.capacity.0 as f64
    }

    /// Bytes written in this life.
    pub fn bytes_written(&self) -> Bytes {
        Bytes(self.sectors_written * SECTOR_BYTES)
    }

    /// Makes sector `sector` unreadable until it is written.
    pub fn make_unreadable(&mut self, sector: u64) {
        self.unreadable.insert(sector);
    }

    /// True if sector `sector` cannot be read.
    pub fn is_unreadable(&self, sector: u64) -> bool {
        self.unreadable.contains(&sector)
    }

    /// Sectors that cannot be read.
    pub fn unreadable_sectors(&self) -> usize {
        self.unreadable.len()
    }

    /// Schedules a failure. One that is due already takes place with the next `advance`.
    pub fn plan_failure(&mut self, failure: PlainFailure) {
        // Sorted by time; of equal times, in the order of the calls.
        let place = self.failures.iter().position(|other| other.at > failure.at);
        self.failures.insert(place.unwrap_or(self.failures.len()), failure);
    }

    /// Sectors that are to be written again.
    pub fn listed_sectors(&self) -> usize {
        self.listed.len()
    }

    /// Lets the failures happen that are due.
    fn fail_due(&mut self, now: Nanos) {
        while let Some(failure) = self.failures.pop_front_if(|failure| failure.at <= now) {
            self.unreadable.extend(&failure.lost);
            self.listed.extend(failure.fake.iter().map(|&sector| (sector, true)));
            self.listed.extend(failure.lost.iter().map(|&sector| (sector, false)));
            self.notices.push_back(Notice { at: failure.at, kind: failure.notice });
        }
    }

    /// The listed sectors of a range, as runs.
    fn status_of(&self, range: std::ops::Range<u64>) -> Vec<LbaRun> {
        let mut runs: Vec<LbaRun> = Vec::new();
        for (&sector, &readable) in self.listed.range(range) {
            match runs.last_mut() {
                Some(run) if run.readable == readable && run.lba.0 + u64::from(run.sectors) == sector => {
                    run.sectors += 1;
                }
                _ => runs.push(LbaRun { lba: Lba(sector), sectors: 1, readable }),
            }
        }
        runs
    }

    /// State of a sector, for extents.
    fn state_of(&self, sector: u64) -> ExtentState {
        let listed = self.listed.get(&sector);
        let lost = self.unreadable.contains(&sector) || listed == Some(&false);
        ExtentState {
            allocated: lost || listed.is_some() || !self.config.bytes || self.sector(sector).is_some(),
            lost,
            misplaced: !lost && listed == Some(&true),
            volatile: self.unflushed.contains_key(&sector),
        }
    }

    /// Flips a bit of sector `sector`: a silent error.
    pub fn corrupt(&mut self, sector: u64) {
        let mut bytes = self.sector(sector).map_or_else(|| vec![0; SECTOR], <[u8]>::to_vec);
        bytes[to_length(sector % SECTOR_BYTES)] ^= 0x10;
        self.store(sector, Some(&bytes));
    }

    /// Makes the device read-only: from now on every write ends with [`Outcome::ReadOnly`].
    pub fn refuse_writes(&mut self) {
        self.read_only = true;
    }

    /// The content of a sector; `None`: zeroes.
    pub fn sector(&self, sector: u64) -> Option<&[u8]> {
        let page = self.pages.get(to_length(sector / PAGE_SECTORS))?.as_deref()?;
        Some(&page[to_length(sector % PAGE_SECTORS) * SECTOR..][..SECTOR])
    }

    /// Stores a sector; `None`: zeroes.
    fn store(&mut self, sector: u64, bytes: Option<&[u8]>) {
        if !self.config.bytes {
            return;
        }
        let page = &mut self.pages[to_length(sector / PAGE_SECTORS)];
        let page = page.get_or_insert_with(|| vec![0; to_length(PAGE_SECTORS) * SECTOR].into_boxed_slice());
        let place = &mut page[to_length(sector % PAGE_SECTORS) * SECTOR..][..SECTOR];
        match bytes {
            Some(bytes) => place.copy_from_slice(bytes),
            None => place.fill(0),
        }
    }

    /// Queues a command on the lane that is free first; those without a time end at once.
    fn enqueue(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        let bytes = Bytes(u64::from(command.sectors) * SECTOR_BYTES);
        let (latency, rate) = match command.op {
            Op::Read => (self.config.read_latency, self.config.read_rate),
            Op::Write => (self.config.write_latency, self.config.write_rate),
            Op::LbaStatus => (self.config.status_latency, None),
            Op::Trim | Op::Flush | Op::Append | Op::ManageZone => (Nanos::ZERO, None),
        };
        let span = latency + rate.map_or(Nanos::ZERO, |rate| rate.time_for(bytes));
        let end = if span == Nanos::ZERO {
            now
        } else {
            // The lane that is free first.
            let lane = self.lanes.iter_mut().min().expect("there is at least one lane");
            *lane = (*lane).max(now) + span;
            *lane
        };
        let data = if self.config.bytes { data.to_vec() } else { Vec::new() };
        let entry = PlainCommand { command, tag, data };
        let index = if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            index
        } else {
            self.entries.push(entry);
            to_count(self.entries.len() - 1)
        };
        // The sequence number keeps commands that end together in the order of submission.
        self.queue.push(Reverse((end, self.sequence, index)));
        self.sequence += 1;
    }

    /// Carries out command `index`, which ends now.
    fn finish(&mut self, index: u32) -> Outcome {
        let PlainCommand { command, tag, data } = &mut self.entries[index as usize];
        let (command, tag, data) = (*command, *tag, std::mem::take(data));
        self.free.push(index);
        let range = command.lba.0..command.lba.0 + u64::from(command.sectors);
        if command.op != Op::Flush && range.end * SECTOR_BYTES > self.config.capacity.0 {
            return Outcome::OutOfRange;
        }
        if command.namespace != NamespaceId::FIRST {
            return Outcome::InvalidNamespace;
        }
        match command.op {
            Op::Read => {
                self.smart.host_read_commands += 1;
                self.sectors_read += u64::from(command.sectors);
                let bad = self.unreadable.range(range.clone());
                let bad: Vec<_> = bad.map(|&sector| SectorRun { lba: Lba(sector), sectors: 1 }).collect();
                if !bad.is_empty() {
                    self.smart.media_errors += 1;
                    self.failed_out.insert(tag, SectorRun::joined(bad));
                    return Outcome::MediumError;
                }
                if self.config.bytes {
                    let mut bytes = vec![0; command.sectors as usize * SECTOR];
                    for (sector, place) in range.zip(bytes.chunks_exact_mut(SECTOR)) {
                        if let Some(content) = self.sector(sector) {
                            place.copy_from_slice(content);
                        }
                    }
                    self.data_out.insert(tag, bytes);
                }
            }
            Op::Write | Op::Trim if self.read_only => return Outcome::ReadOnly,
            Op::Write | Op::Trim => {
                for (i, sector) in range.enumerate() {
                    self.remember(sector, command.fua);
                    self.store(sector, data.get(i * SECTOR..(i + 1) * SECTOR));
                    self.unreadable.remove(&sector);
                    self.listed.remove(&sector);
                }
                if command.op == Op::Write {
                    self.smart.host_write_commands += 1;
                    self.sectors_written += u64::from(command.sectors);
                }
            }
            Op::Flush => self.unflushed.clear(),
            Op::Append | Op::ManageZone => return Outcome::InvalidOpcode,
            Op::LbaStatus => {
                let runs = self.status_of(range);
                self.status_out.insert(tag, runs);
            }
        }
        Outcome::Ok
    }

    /// Keeps the content of a sector before a write that a loss of power may undo.
    fn remember(&mut self, sector: u64, durable: bool) {
        // A durable write cannot be undone; without bytes nothing could be restored.
        if durable || !self.config.bytes {
            self.unflushed.remove(&sector);
        } else if self.config.volatile_cache && !self.unflushed.contains_key(&sector) {
            let before = SectorBefore {
                bytes: self.sector(sector).map(Into::into),
                unreadable: self.unreadable.contains(&sector),
                listed: self.listed.get(&sector).copied(),
            };
            self.unflushed.insert(sector, before);
        }
    }
}

impl PowerCycle for PlainDevice {
    fn power_cycle(&mut self, _off: Nanos, on: Nanos) {
        // Of writes in flight each sector may have been written or not, independently; likewise unflushed ones may be undone.
        let mut queue = std::mem::take(&mut self.queue);
        while let Some(Reverse((_, _, index))) = queue.pop() {
            let PlainCommand { command, data, .. } = self.entries[index as usize].clone();
            self.free.push(index);
            if command.op != Op::Write || self.read_only {
                continue;
            }
            for i in 0..u64::from(command.sectors) {
                let (sector, from) = (command.lba.0 + i, to_length(i) * SECTOR);
                if self.rng.below(2) == 0 && sector * SECTOR_BYTES < self.config.capacity.0 {
                    self.store(sector, data.get(from..from + SECTOR));
                    self.unreadable.remove(&sector);
                    self.listed.remove(&sector);
                    self.unflushed.remove(&sector);
                }
            }
        }
        for (sector, before) in std::mem::take(&mut self.unflushed) {
            if self.rng.below(2) == 0 {
                self.store(sector, before.bytes.as_deref());
                if before.unreadable {
                    self.unreadable.insert(sector);
                }
                self.listed.extend(before.listed.map(|readable| (sector, readable)));
            }
        }
        self.data_out.clear();
        self.status_out.clear();
        self.failed_out.clear();
        self.lanes.fill(on);
    }
}

impl Device for PlainDevice {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.enqueue(now, command, tag, &[]);
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.enqueue(now, command, tag, data);
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.data_out.remove(tag)
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.status_out.remove(tag)
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.failed_out.remove(tag)
    }

    /// States of sectors; without bytes all count as allocated, and none as volatile.
    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        let end = lba.0.saturating_add(sectors).min(self.config.capacity.0 / SECTOR_BYTES);
        let mut extents = Extents::default();
        for sector in lba.0..end {
            extents.push(Lba(sector), 1, self.state_of(sector));
        }
        extents.into_vec()
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        let end = lba.0.saturating_add(sectors).min(self.config.capacity.0 / SECTOR_BYTES);
        to.extend((lba.0..end).map(|sector| {
            let held = match self.sector(sector) {
                _ if self.state_of(sector).lost => Held::Lost,
                Some(bytes) => Held::Bytes { memory: bytes.into(), from: 0 },
                None if self.config.bytes => Held::Zeroes,
                None => Held::Unknown,
            };
            Peek { lba: Lba(sector), sectors: 1, held }
        }));
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    #[inline]
    fn has_notice(&self) -> bool {
        !self.notices.is_empty()
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let next = self.queue.peek().map(|&Reverse((at, _, _))| at);
        match self.failures.front() {
            None => next,
            Some(failure) => Some(next.map_or(failure.at, |at| at.min(failure.at))),
        }
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while let Some(&Reverse((at, _, index))) = self.queue.peek() {
            if at > now {
                break;
            }
            self.queue.pop();
            self.fail_due(at);
            let tag = self.entries[index as usize].tag;
            let outcome = self.finish(index);
            completions.push(Completion::new(at, tag, outcome));
        }
        self.fail_due(now);
    }

    fn identify(&self) -> Identity {
        Identity {
            model: "plain".to_owned(),
            capacity: self.config.capacity,
            optimal_io: Bytes(SECTOR_BYTES),
            link: self.config.write_rate,
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "a percentage; it saturates at 2^32")]
    fn smart(&self) -> Smart {
        let used = self.config.endurance.map_or(0.0, |rated| self.cycles() * 100.0 / f64::from(rated));
        Smart {
            data_units_read: self.sectors_read.div_ceil(1000),
            data_units_written: self.sectors_written.div_ceil(1000),
            percentage_used: used as u32,
            read_only: self.read_only,
            ..self.smart
        }
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        let queued = self.queue.iter().map(|&Reverse((_, _, index))| &self.entries[index as usize]);
        Some(queued.map(|entry| (entry.tag, Some(entry.command.sectors))).collect())
    }

    fn self_check(&self) -> Result<(), String> {
        if self.queue.len() + self.free.len() != self.entries.len() {
            return Err(format!(
                "{} entries, {} queued, {} free",
                self.entries.len(),
                self.queue.len(),
                self.free.len()
            ));
        }
        Ok(())
    }
}

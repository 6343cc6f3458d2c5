//! A model that knows what each mapping unit of a drive may hold, power cuts included.

use super::host::{SECTOR, stamp};
pub(crate) use super::unit::{Content, Pending, Unit};
use outlast_device::{Command, Device, LatencyParts, Op, Outcome, PlacementId, Tag};
use outlast_media::UnitTear;
use outlast_settings::drive::{FlushPolicy, SsdConfig, Trims, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{Lba, Nanos};
use std::collections::BTreeMap;

#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) ssd: Ssd,
    pub(crate) cache: WriteCache,
    pub(crate) now: Nanos,
    pub(crate) units: Vec<Unit>,
    pub(crate) pending: BTreeMap<Tag, Pending>,
    pub(crate) seq: u64,
    pub(crate) version: u64,
    pub(crate) next_tag: u32,
    /// Sectors of a unit.
    pub(crate) sectors: usize,
    pub(crate) may_fail: bool,
    /// How many dies may fail before each unit's data may be lost, where that is watched; and how many have.
    pub(crate) promised: Vec<u8>,
    pub(crate) failed_dies: u8,
    pub(crate) refused: u64,
    /// Of those, for want of room.
    pub(crate) no_room: u64,
    pub(crate) medium_errors: u64,
    pub(crate) checked: u64,
    /// Units that did not hold the newest content that they might have held.
    pub(crate) fallen_back: u64,
    /// What losses of power leave of what is being programmed.
    pub(crate) tear: UnitTear,
    /// Units that held parts of several contents after a loss of power.
    pub(crate) torn: u64,
    /// Commands of which the drive told where their time went, and where that of all of them did.
    pub(crate) told: u64,
    pub(crate) spent: LatencyParts,
}

impl Model {
    pub(crate) fn new(mut config: SsdConfig, seed: u64) -> Self {
        config.bytes = true;
        let cache = config.controller.write_cache;
        let ssd = Ssd::new(config, seed).expect("a drive that works");
        let sectors = ssd.sectors_per_unit() as usize;
        let empty = Unit { possible: vec![(0, vec![vec![0; sectors]])], pending: None, changes: 0 };
        Self {
            cache,
            now: Nanos::ZERO,
            units: vec![empty; ssd.units() as usize],
            ssd,
            pending: BTreeMap::new(),
            seq: 0,
            version: 0,
            next_tag: 0,
            sectors,
            may_fail: false,
            promised: Vec::new(),
            failed_dies: 0,
            refused: 0,
            no_room: 0,
            medium_errors: 0,
            checked: 0,
            fallen_back: 0,
            tear: UnitTear::Nothing,
            torn: 0,
            told: 0,
            spent: LatencyParts::default(),
        }
    }

    /// Submits a command for units `first..end`; of a partial write, all but `skip` sectors at the beginning.
    pub(crate) fn submit(
        &mut self,
        op: Op,
        first: usize,
        end: usize,
        skip: usize,
        fua: bool,
        placement: u16,
    ) {
        self.version += 1;
        let lba = first * self.sectors + skip;
        let sectors = if op == Op::Flush { 0 } else { end * self.sectors - lba };
        let command = Command {
            placement: PlacementId(placement),
            fua,
            ..Command::new(op, Lba(lba as u64), sectors as u32)
        };
        let (mut allowed, mut data) = (Vec::new(), Vec::new());
        match op {
            Op::Read => {
                for unit in &self.units[first..end] {
                    let mut contents = unit.current().to_vec();
                    contents.extend(unit.pending.clone());
                    allowed.push((contents, unit.changes));
                }
            }
            Op::Write | Op::Trim => {
                for unit in first..end {
                    let mut content = self.units[unit].current()[0].clone();
                    for (sector, version) in content.iter_mut().enumerate() {
                        if unit * self.sectors + sector >= lba {
                            *version = if op == Op::Write { self.version } else { 0 };
                        }
                    }
                    // A read that is under way may find it, even if another change follows before that ends.
                    for read in self.pending.values_mut().filter(|other| other.command.op == Op::Read) {
                        if (read.first..read.end).contains(&unit) {
                            read.allowed[unit - read.first].0.push(content.clone());
                        }
                    }
                    self.units[unit].changes += 1;
                    self.units[unit].pending = Some(content);
                }
                for sector in lba..lba + sectors {
                    data.extend_from_slice(&stamp(sector as u64, self.version));
                }
            }
            Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => {}
        }
        let tag = Tag(self.next_tag);
        self.next_tag += 1;
        self.pending.insert(tag, Pending { command, first, end, seq: self.seq, allowed, at: self.now });
        self.ssd.submit_data(self.now, command, tag, if op == Op::Write { &data } else { &[] });
    }

    pub(crate) fn is_free(&self, first: usize, end: usize) -> bool {
        self.units[first..end].iter().all(|unit| unit.pending.is_none())
    }

    /// Lets time pass until something completes, at most until `limit`; false when nothing did.
    pub(crate) fn step(&mut self, limit: Nanos) -> bool {
        let mut completions = Vec::new();
        // The drive also gives the time back when it has something to tell; who asks for that does so afterwards.
        let mut reached = self.ssd.advance_to_completion(limit, &mut completions);
        while completions.is_empty() && reached < limit {
            reached = self.ssd.advance_to_completion(limit, &mut completions);
        }
        if reached != Nanos::MAX {
            self.now = self.now.max(reached);
        }
        for completion in &completions {
            assert!(completion.at <= self.now, "{completion:?} at {}", self.now);
            let pending = self.pending.remove(&completion.tag).expect("completed once, and not after a cut");
            if let Some(parts) = self.ssd.take_parts(completion.tag) {
                let latency = completion.at - pending.at;
                assert_eq!(parts.total(), latency.0, "{:?}: {parts:?}", pending.command);
                self.told += 1;
                self.spent = self.spent + parts;
            }
            self.completed(completion.tag, &pending, completion.outcome);
        }
        !completions.is_empty()
    }

    pub(crate) fn completed(&mut self, tag: Tag, pending: &Pending, outcome: Outcome) {
        if outcome != Outcome::Ok {
            assert!(
                outcome == Outcome::ReadOnly || (self.may_fail && outcome == Outcome::MediumError),
                "{:?}: {outcome:?}",
                pending.command
            );
            let promised = self.promised.get(pending.first..pending.end).unwrap_or_default();
            let owed = !promised.is_empty() && promised.iter().all(|&dies| dies >= self.failed_dies);
            assert!(
                outcome != Outcome::MediumError || !owed,
                "units {}..{} may lose {promised:?} dies, {} have failed: {:?} {outcome:?}",
                pending.first,
                pending.end,
                self.failed_dies,
                pending.command
            );
        }
        let controller = &self.ssd.config().controller;
        let (honours, keeps_trims) =
            (controller.flush == FlushPolicy::Honour, controller.trims == Trims::Kept);
        match pending.command.op {
            Op::Read if outcome != Outcome::Ok => self.medium_errors += 1,
            Op::Read => {
                let data = self.ssd.take_data(tag).expect("a read returns data");
                let bytes = self.sectors * SECTOR;
                for (unit, (found, allowed)) in
                    (pending.first..pending.end).zip(data.chunks_exact(bytes).zip(&pending.allowed))
                {
                    self.look(unit, found, allowed);
                }
            }
            Op::Write | Op::Trim => {
                self.seq += 1;
                for unit in &mut self.units[pending.first..pending.end] {
                    if outcome != Outcome::Ok {
                        // Some units may have been written, and may be in the buffer only.
                        unit.refused(self.seq);
                        continue;
                    }
                    let content = unit.pending.take().unwrap();
                    let written = self.cache != WriteCache::Volatile || (pending.command.fua && honours);
                    if if pending.command.op == Op::Trim { keeps_trims } else { written } {
                        unit.possible.clear();
                    }
                    unit.possible.push((self.seq, vec![content]));
                }
                self.refused += u64::from(outcome != Outcome::Ok);
                self.no_room += u64::from(outcome == Outcome::ReadOnly);
            }
            Op::LbaStatus | Op::Append | Op::ManageZone => {}
            Op::Flush if !honours => {}
            Op::Flush => {
                for unit in &mut self.units {
                    let covered = unit.possible.iter().rposition(|&(seq, _)| seq <= pending.seq);
                    unit.possible.drain(..covered.unwrap_or(0));
                }
            }
        }
    }

    pub(crate) fn holds(&self, unit: usize, content: &Content, found: &[u8]) -> bool {
        found.chunks_exact(SECTOR).zip(content).enumerate().all(|(sector, (bytes, &version))| {
            if version == 0 {
                bytes.iter().all(|&byte| byte == 0)
            } else {
                bytes == stamp((unit * self.sectors + sector) as u64, version)
            }
        })
    }

    /// A read found `found` in `unit`.
    pub(crate) fn look(&mut self, unit: usize, found: &[u8], (allowed, changes): &(Vec<Content>, u64)) {
        self.checked += 1;
        let state = &self.units[unit];
        let quiet = state.changes == *changes && state.pending.is_none();
        let mut contents = allowed.clone();
        if !quiet {
            contents.extend(state.current().iter().cloned());
            contents.extend(state.pending.clone());
            // Written and superseded while the read was under way: whole contents all the same.
            contents.extend(state.possible.iter().flat_map(|(_, contents)| contents.iter().cloned()));
        }
        let matching = contents.iter().find(|content| self.holds(unit, content, found));
        let torn = || self.torn_from(unit, &contents, found);
        let Some(content) = matching.cloned().or_else(torn) else {
            let versions = |(sector, bytes): (usize, &[u8])| {
                let lba = (unit * self.sectors + sector) as u64;
                (0..=self.version).find(|&version| {
                    if version == 0 {
                        bytes.iter().all(|&byte| byte == 0)
                    } else {
                        bytes == stamp(lba, version)
                    }
                })
            };
            let found: Vec<_> = found.chunks_exact(SECTOR).enumerate().map(versions).collect();
            panic!("unit {unit} at {} holds {found:?}, which is none of {contents:?}", self.now);
        };
        self.torn += u64::from(!contents.contains(&content));
        if quiet && state.current().len() > 1 {
            // From now on it is this one.
            let (_, last) = self.units[unit].possible.last_mut().unwrap();
            *last = vec![content];
        }
    }

    /// Reads all units; afterwards each is known.
    pub(crate) fn read_everything(&mut self) {
        self.settle_down();
        let before: Vec<Content> = self.units.iter().map(|unit| unit.current()[0].clone()).collect();
        for unit in 0..self.units.len() {
            self.submit(Op::Read, unit, unit + 1, 0, false, 0);
            while self.pending.len() >= 32 {
                self.step(Nanos::MAX);
            }
        }
        self.settle_down();
        let after = self.units.iter().map(|unit| &unit.current()[0]);
        self.fallen_back += before.iter().zip(after).filter(|(before, after)| before != after).count() as u64;
        self.ssd.self_check().unwrap();
    }

    pub(crate) fn settle_down(&mut self) {
        while !self.pending.is_empty() {
            assert!(self.step(Nanos::MAX), "commands never completed: {:?}", self.pending.keys());
        }
    }
}

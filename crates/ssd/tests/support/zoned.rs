//! A host of a drive with zones, which knows by plain lists what the zones hold.

use super::tiny;
use outlast_device::{Command, CommandResult, Device, Op, Outcome, Tag, ZoneAction, ZoneId, ZoneTable};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::zones::{FinishCost, ZonesConfig};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;

mod checks;

pub(crate) const UNIT: u64 = 4096;
pub(crate) const SECTORS: u32 = 8;

pub(crate) fn zoned(count: u32, superblocks: u32, active: u32) -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 32;
    config.ftl.capacity = None;
    config.bytes = true;
    config.controller.queue_depth = 1024;
    config.zones = Some(ZonesConfig {
        count,
        superblocks,
        size: Some(Bytes(u64::from(superblocks) * 64 * UNIT + 8 * UNIT)),
        max_active: active,
        max_open: Some(active.div_ceil(2)),
        finish: FinishCost::Written,
        finish_time: Nanos::micros(50),
        reset_time: Nanos::micros(100),
        reset_time_partial: Nanos::micros(30),
        erase_time: None,
        random_write: None,
    });
    config
}

/// What a host does next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write { zone: u32, append: bool, units: u32 },
    Act(u32, ZoneAction),
    Flush,
    Wait(usize),
    Check,
    Cut,
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => (0..6u32, any::<bool>(), 1..40u32).prop_map(|(zone, append, units)| Step::Write { zone, append, units }),
        10 => (0..6u32, prop::sample::select(ZoneAction::ALL.to_vec())).prop_map(|(zone, action)| Step::Act(zone, action)),
        6 => (0..6u32).prop_map(|zone| Step::Act(zone, ZoneAction::Reset)),
        3 => Just(Step::Flush),
        10 => (0..12usize).prop_map(Step::Wait),
        1 => Just(Step::Check),
        1 => Just(Step::Cut),
    ];
    prop::collection::vec(step, 1..200)
}

/// Value of a unit of which the host knows nothing, as its write failed.
const UNKNOWN: u64 = u64::MAX;

/// A command that the host waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    command: Command,
    expected: Outcome,
    result: u64,
    zone: Option<ZoneId>,
    /// Units of the zone that were written after it.
    units: u64,
    /// Resets of the zone that came before it.
    resets: u32,
}

#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) ssd: Ssd,
    pub(crate) now: Nanos,
    /// What the host knows of states: moved by every command as it is submitted.
    pub(crate) table: ZoneTable,
    /// Value of each unit, by zone.
    values: Vec<Vec<u64>>,
    /// Units of each zone that survive a loss of power.
    safe: Vec<u64>,
    /// Units whose writes have completed, for the next flush.
    acknowledged: Vec<u64>,
    pending: BTreeMap<u32, Pending>,
    flushes: BTreeMap<u32, Vec<u64>>,
    next_tag: u32,
    next_value: u64,
    is_protected: bool,
    /// True if flash may fail for good: reads and writes may, and zones be given up.
    pub(crate) fails: bool,
    /// Reads that failed as the medium did, and writes that found no room.
    pub(crate) medium_errors: u64,
    pub(crate) refused: u64,
    resets: Vec<u32>,
}

impl Host {
    pub(crate) fn new(config: SsdConfig) -> Self {
        let is_protected = config.controller.write_cache == WriteCache::Protected;
        let ssd = Ssd::new(config, 3).unwrap();
        let table = ssd.zones().unwrap().clone();
        let zones = table.layout().zones as usize;
        Self {
            ssd,
            now: Nanos::ZERO,
            table,
            values: vec![Vec::new(); zones],
            safe: vec![0; zones],
            acknowledged: vec![0; zones],
            pending: BTreeMap::new(),
            flushes: BTreeMap::new(),
            next_tag: 0,
            next_value: 0,
            is_protected,
            fails: false,
            medium_errors: 0,
            refused: 0,
            resets: vec![0; zones],
        }
    }

    /// The same host before another drive.
    pub(crate) fn with(&self, ssd: Ssd) -> Self {
        Self { ssd, ..self.clone() }
    }

    pub(crate) fn live(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match *step {
            Step::Write { zone, append, units } => self.write(ZoneId(zone), append, units),
            Step::Act(zone, action) => self.act(ZoneId(zone), action),
            Step::Flush => self.flush(),
            Step::Wait(left) => self.advance(left),
            Step::Check => self.check(),
            Step::Cut => self.cut(),
        }
    }

    pub(crate) fn start(&self, zone: ZoneId) -> Lba {
        self.table.layout().start(zone)
    }

    pub(crate) fn submit(&mut self, command: Command, pending: Pending, data: &[u8]) {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.pending.insert(tag, pending);
        if command.op == Op::Flush {
            self.flushes.insert(tag, self.acknowledged.clone());
        }
        self.ssd.submit_data(self.now, command, Tag(tag), data);
    }

    pub(crate) fn write(&mut self, zone: ZoneId, append: bool, units: u32) {
        self.look_again();
        let written = self.table.written(zone);
        let (op, lba) = if append {
            (Op::Append, self.start(zone))
        } else {
            (Op::Write, Lba(self.start(zone).0 + written))
        };
        let command = Command::new(op, lba, units * SECTORS);
        // A write behind a full zone without a gap is one to the next zone, or to none.
        let is_beyond = lba.0 + u64::from(units * SECTORS) > self.table.layout().sectors();
        let zone = if is_beyond { zone } else { self.table.layout().place(lba).0 };
        let moved = if is_beyond {
            Err(Outcome::OutOfRange)
        } else {
            self.table.write(op, lba, units * SECTORS).map_err(Outcome::Zone)
        };
        let mut data = Vec::new();
        for _ in 0..units {
            self.next_value += 1;
            data.extend(bytes_of(self.next_value));
            if moved.is_ok() {
                self.values[zone.index()].push(self.next_value);
            }
        }
        let result = if append && moved.is_ok() { self.start(zone).0 + written } else { 0 };
        let expected = moved.map_or_else(|refused| refused, |_| Outcome::Ok);
        let units = self.values[zone.index()].len() as u64;
        let resets = self.resets[zone.index()];
        self.submit(command, Pending { command, expected, result, zone: Some(zone), units, resets }, &data);
    }

    /// Learns which zones the drive has given up.
    fn look_again(&mut self) {
        if self.fails {
            self.table = self.ssd.zones().unwrap().clone();
        }
    }

    pub(crate) fn act(&mut self, zone: ZoneId, action: ZoneAction) {
        self.look_again();
        let command = Command::manage_zone(action, self.start(zone));
        let moved = self.table.manage(action, self.start(zone));
        if moved.is_ok() && action == ZoneAction::Reset {
            self.values[zone.index()].clear();
            self.resets[zone.index()] += 1;
            self.safe[zone.index()] = 0;
            self.acknowledged[zone.index()] = 0;
            // A flush under way says nothing of what is written after the reset.
            self.flushes.values_mut().for_each(|flush| flush[zone.index()] = 0);
        }
        let expected = moved.map_or_else(Outcome::Zone, |_| Outcome::Ok);
        self.submit(
            command,
            Pending { command, expected, result: 0, zone: Some(zone), units: 0, resets: 0 },
            &[],
        );
    }

    pub(crate) fn flush(&mut self) {
        let pending = Pending {
            command: Command::FLUSH,
            expected: Outcome::Ok,
            result: 0,
            zone: None,
            units: 0,
            resets: 0,
        };
        self.submit(Command::FLUSH, pending, &[]);
    }

    /// Takes what completes until at most `left` commands are under way.
    pub(crate) fn advance(&mut self, left: usize) {
        let mut done = Vec::new();
        while self.pending.len() > left {
            self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut done);
            assert!(!done.is_empty(), "{:?} never complete", self.pending);
            for completion in done.drain(..) {
                let pending = self.pending.remove(&completion.tag.0).unwrap();
                if self.fails && completion.outcome != pending.expected {
                    self.failed(&pending, completion.outcome);
                    self.flushes.remove(&completion.tag.0);
                    continue;
                }
                assert_eq!(completion.outcome, pending.expected, "{pending:?}");
                assert_eq!(completion.result, CommandResult(pending.result), "{pending:?}");
                if let Some(flushed) = self.flushes.remove(&completion.tag.0) {
                    for (safe, flushed) in self.safe.iter_mut().zip(flushed) {
                        *safe = (*safe).max(flushed);
                    }
                }
                self.completed(&pending);
            }
        }
    }

    /// A second in which nothing is asked of the drive.
    pub(crate) fn rest(&mut self) {
        self.advance(0);
        self.now += Nanos::millis(1000);
        let mut done = Vec::new();
        self.ssd.advance(self.now, &mut done);
        assert!(done.is_empty(), "{done:?}");
    }
}

fn bytes_of(value: u64) -> Vec<u8> {
    let mut bytes = vec![0; UNIT as usize];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    bytes
}

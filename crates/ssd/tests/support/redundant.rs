//! A drive with parity over its dies, and a host that knows what each of its units holds.

use super::host::{SECTOR, stamp};
use super::{command, tiny};
use outlast_device::{Completion, Device, Op, Outcome, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::ProtectionConfig;
use outlast_ssd::{Reason, Ssd};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};

pub(crate) const DIES: u16 = 8;
pub(crate) const UNITS: u64 = 600;
pub(crate) const SECTORS: u64 = 8;

/// Eight dies of one plane, whose blocks give 64 superblocks of 64 units.
pub(crate) fn drive(protection: ProtectionConfig, cache: WriteCache) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 4;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.ftl.capacity = Some(Bytes(UNITS * 4096));
    config.controller.write_cache = cache;
    config.controller.write_buffer = Bytes::kib(256);
    config.protection = Some(protection);
    config.bytes = true;
    config
}

pub(crate) fn code(data: u16, parity: u8) -> ProtectionConfig {
    ProtectionConfig { data, parity, ..ProtectionConfig::default() }
}

/// A drive and what each of its units holds: the number of the write that came last, 0 for none.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) ssd: Ssd,
    pub(crate) now: Nanos,
    units: Vec<u64>,
    writes: u64,
}

impl Life {
    pub(crate) fn new(config: SsdConfig, seed: u64) -> Self {
        let mut ssd = Ssd::new(config, seed).unwrap();
        ssd.begin_timed();
        Self { ssd, now: Nanos::ZERO, units: vec![0; UNITS as usize], writes: 0 }
    }

    fn ask(&mut self, op: Op, unit: u64, data: &[u8]) -> (Outcome, Option<Vec<u8>>) {
        let sectors = if op == Op::Flush { 0 } else { SECTORS as u32 };
        self.ssd.submit_data(self.now, command(op, unit * SECTORS, sectors), Tag(0), data);
        let mut completions: Vec<Completion> = Vec::new();
        self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut completions);
        assert_eq!(completions.len(), 1, "one command, one answer");
        (completions[0].outcome, self.ssd.take_data(Tag(0)))
    }

    fn bytes(unit: u64, write: u64) -> Vec<u8> {
        let sectors = unit * SECTORS..(unit + 1) * SECTORS;
        if write == 0 {
            vec![0; SECTOR * SECTORS as usize]
        } else {
            sectors.flat_map(|lba| stamp(lba, write)).collect()
        }
    }

    /// Whether the write was taken.
    pub(crate) fn write(&mut self, unit: u64) -> bool {
        self.writes += 1;
        let (outcome, _) = self.ask(Op::Write, unit, &Self::bytes(unit, self.writes));
        if outcome == Outcome::Ok {
            self.units[unit as usize] = self.writes;
        }
        outcome == Outcome::Ok
    }

    pub(crate) fn write_some(&mut self, rng: &mut SplitMix, count: u64) {
        for _ in 0..count {
            self.write(rng.below(UNITS));
        }
    }

    pub(crate) fn flush(&mut self) {
        assert_eq!(self.ask(Op::Flush, 0, &[]).0, Outcome::Ok);
    }

    /// Units that cannot be read; all others hold what they should.
    pub(crate) fn unreadable(&mut self) -> Vec<u64> {
        let mut bad = Vec::new();
        for unit in 0..UNITS {
            let (outcome, data) = self.ask(Op::Read, unit, &[]);
            if let Some(data) = data {
                assert!(
                    data == Self::bytes(unit, self.units[unit as usize]),
                    "unit {unit} holds something else"
                );
            } else {
                assert_eq!(outcome, Outcome::MediumError, "unit {unit}");
                bad.push(unit);
            }
        }
        bad
    }

    pub(crate) fn rest(&mut self, span: Nanos) {
        self.now += span;
        self.ssd.advance(self.now, &mut Vec::new());
    }

    pub(crate) fn kill(&mut self, die: u16) {
        self.ssd.inject(self.now, DriveFault { die, damage: DieDamage::Die });
    }

    pub(crate) fn check(&self) {
        self.ssd.self_check().unwrap();
    }

    pub(crate) fn moved_for_protection(&self) -> u64 {
        [Reason::Exposed, Reason::Code, Reason::Dies].map(|reason| self.ssd.moved_for(reason)).iter().sum()
    }
}

/// Long enough for everything that is to be moved.
pub(crate) const LONG: Nanos = Nanos::secs(60);

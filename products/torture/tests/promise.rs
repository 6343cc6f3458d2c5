//! Does the contract allow exactly what a drive's model says may survive? Random commands to a drive with a volatile buffer, beside the model that
//! its own tests of power cuts rely on: at random moments, every unit's possible contents by the one and by the other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ssd_support as drive;

use drive::host::{SECTOR, stamp};
use drive::model::{Content, Model};
use drive::tiny;
use outlast_device::{Op, Tag};
use outlast_settings::drive::{Trims, WriteCache};
use outlast_torture::contract::{ContractSettings, contract_state, contract_states};
use outlast_torture::{FlushId, HistoryBuilder, WriteData, WriteId};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A command under way, as the history knows it.
enum Asked {
    Write(WriteId),
    Flush(FlushId),
}

/// The model, and the history of what it is asked.
struct Both {
    model: Model,
    builder: HistoryBuilder,
    source: Vec<u8>,
    asked: BTreeMap<Tag, Asked>,
}

impl Both {
    fn new(seed: u64) -> Self {
        let mut config = tiny();
        config.controller.write_cache = WriteCache::Volatile;
        // Trims that are kept are kept sooner than the contract asks for.
        config.controller.trims = Trims::Volatile;
        // Little more than `life` writes to: every unit is compared, in every state.
        config.ftl.capacity = Some(Bytes::kib(4 * 48));
        let model = Model::new(config, seed);
        Self { model, builder: HistoryBuilder::new(), source: Vec::new(), asked: BTreeMap::new() }
    }

    fn submit(&mut self, op: Op, first: usize, end: usize, fua: bool) {
        let tag = Tag(self.model.next_tag);
        self.model.submit(op, first, end, 0, fua, 0);
        let (now, sectors) = (self.model.now, self.model.sectors);
        let (lba, count) = (Lba((first * sectors) as u64), ((end - first) * sectors) as u32);
        let asked = match op {
            Op::Write => {
                let data = WriteData::At { file: 0, offset: self.source.len() as u64 };
                let own = lba.0..lba.0 + u64::from(count);
                own.for_each(|lba| self.source.extend(stamp(lba, self.model.version)));
                Asked::Write(self.builder.write(now, lba, count, data, (fua, false)))
            }
            Op::Trim => Asked::Write(self.builder.write(now, lba, count, WriteData::Zeroes, (false, true))),
            _ => Asked::Flush(self.builder.flush(now)),
        };
        self.asked.insert(tag, asked);
    }

    /// Lets time pass until something completes, at most to `limit`.
    fn step(&mut self, limit: Nanos) -> bool {
        let stepped = self.model.step(limit);
        let done: Vec<Tag> =
            self.asked.keys().copied().filter(|tag| !self.model.pending.contains_key(tag)).collect();
        for tag in done {
            match self.asked.remove(&tag).unwrap() {
                Asked::Write(id) => self.builder.write_done(self.model.now, id),
                Asked::Flush(id) => self.builder.flush_done(self.model.now, id),
            }
        }
        stepped
    }

    fn bytes(&self, unit: usize, content: &Content) -> Vec<u8> {
        let sector = |(at, &version): (usize, &u64)| {
            let lba = (unit * self.model.sectors + at) as u64;
            if version == 0 { [0; SECTOR] } else { stamp(lba, version) }
        };
        content.iter().enumerate().flat_map(sector).collect()
    }

    /// Compares the contents that every unit may have after a power loss now, by the drive's promise and by the enumerated states.
    fn compare(&self) -> usize {
        let units = self.model.units.len();
        let history = self
            .builder
            .clone()
            .finish((units * self.model.sectors) as u64, true, Box::new(self.source.clone()))
            .unwrap();
        let cut = history.events.len();
        let settings = ContractSettings { window: (cut, cut), piece: 8, random: 0, seed: 0 };
        let all: Vec<_> = contract_states(&history, &settings)
            .distinct
            .into_iter()
            .map(|each| contract_state(&history, &settings, each))
            .collect();
        let mut open = 0;
        for (unit, known) in self.model.units.iter().enumerate() {
            let contents = known.possible.iter().flat_map(|(_, contents)| contents).chain(&known.pending);
            let expected: BTreeSet<Vec<u8>> = contents.map(|content| self.bytes(unit, content)).collect();
            let read = |state: &outlast_torture::CrashState| {
                let mut bytes = vec![0; self.model.sectors * SECTOR];
                state.read(&history, (unit * bytes.len()) as u64, &mut bytes).unwrap();
                bytes
            };
            let found: BTreeSet<Vec<u8>> = all.iter().map(read).collect();
            assert_eq!(found.len(), expected.len(), "unit {unit} at {}", self.model.now);
            assert!(found == expected, "unit {unit} at {}", self.model.now);
            open += usize::from(expected.len() > 1);
        }
        open
    }
}

fn life(seed: u64, commands: u32) -> usize {
    let (mut both, mut rng, mut open) = (Both::new(seed), SplitMix::new(seed, "commands"), 0);
    // A part of the drive, so that units are written again while they are open.
    let span = 24;
    for number in 0..commands {
        while both.model.pending.len() >= 6 {
            assert!(both.step(Nanos::MAX), "commands are pending and nothing happens");
        }
        let (op, longest) = match rng.below(20) {
            0..15 => (Op::Write, 3),
            15..17 => (Op::Trim, 4),
            _ => (Op::Flush, 1),
        };
        let first = rng.below(span) as usize;
        let end = first + 1 + rng.below(longest) as usize;
        if op == Op::Flush || both.model.is_free(first, end) {
            both.submit(op, first, end, op == Op::Write && rng.below(10) == 0);
        }
        if rng.below(3) == 0 {
            let at = both.model.now + Nanos(rng.below(2_000_000));
            while both.model.now < at && both.step(at) {}
            both.model.now = both.model.now.max(at);
        }
        if number % 25 == 24 {
            open += both.compare();
        }
    }
    assert_eq!(both.model.refused, 0);
    open
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, ..ProptestConfig::default() })]

    #[test]
    fn the_contract_allows_what_the_model_of_a_drive_does(seed: u64) {
        life(seed, 150);
    }
}

#[test]
fn random_recordings_have_lost_writes_to_compare() {
    assert!(life(1, 300) > 50, "units with more than one possible content");
}

//! How long the reads of collection hold a die, against the sum of what they sense and send. No tolerance: times are whole nanoseconds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_media::{PageTimes, PlaneReads};
use outlast_settings::drive::{DecodeTimes, SsdConfig};
use outlast_settings::ftl::GcReads;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Nanos};
use proptest::prelude::*;
use std::collections::BTreeSet;
use support::{command, tiny, weak_flash};

const COMMAND: u64 = 200;
const PROGRAM: u64 = 700_000;
const ERASE: u64 = 3_500_000;
/// Bytes of a unit, and nanoseconds that it holds the channel.
const UNIT: u64 = 4096;
/// By page type.
const SENSE: [u64; 3] = [40_000, 50_000, 70_000];
const ROWS: u64 = 24;
const FULL: u64 = 6;

/// One die whose program units have `one_shot` rows of `planes` pages of `on_a_page` units.
#[derive(Clone, Copy, Debug)]
struct Shape {
    planes: u64,
    one_shot: u64,
    on_a_page: u64,
}

impl Shape {
    /// Twelve superblocks, six of which the host's data fills. Collection begins when three are free.
    fn config(self, reads: GcReads) -> SsdConfig {
        let mut config = tiny();
        config.geometry.channels = 1;
        config.geometry.dies_per_chip = 1;
        config.geometry.planes_per_die = self.planes as u16;
        config.geometry.blocks_per_plane = 12;
        config.geometry.pages_per_block = ROWS as u32;
        config.geometry.page_size = Bytes(self.on_a_page * UNIT);
        config.timing.read = PageTimes::ByType(SENSE.map(Nanos).to_vec());
        config.timing.bus = ByteRate::new(1_000_000_000).unwrap();
        config.ftl.capacity = Some(Bytes(FULL * self.units() * UNIT));
        config.ftl.one_shot = self.one_shot as u8;
        config.ftl.gc.start_free = Some(3);
        config.ftl.gc.reads = reads;
        config.controller.write_buffer = Bytes::mib(4);
        config
    }

    /// Units of a superblock, and of a program unit.
    fn units(self) -> u64 {
        ROWS * self.planes * self.on_a_page
    }

    fn program_unit(self) -> u64 {
        self.planes * self.one_shot * self.on_a_page
    }

    /// How long the die is held by reading the units `valid` of superblock `number`, and how many pages they lie on.
    fn reading(self, reads: GcReads, number: u64, valid: &BTreeSet<u64>) -> (u64, u64) {
        let (mut time, mut pages) = (0, 0);
        for superpage in 0..ROWS / self.one_shot {
            let first = number * self.units() + superpage * self.program_unit();
            let mut is_begun = false;
            for row in 0..self.one_shot {
                let sense = SENSE[(superpage * self.one_shot + row) as usize % SENSE.len()];
                let mut is_sensed = false;
                for plane in 0..self.planes {
                    let page = first + (row * self.planes + plane) * self.on_a_page;
                    let units = valid.range(page..page + self.on_a_page).count() as u64;
                    if units == 0 {
                        continue;
                    }
                    let alone = reads == GcReads::Page;
                    time += units * UNIT;
                    time += if alone || !is_sensed { sense } else { 0 };
                    time += if alone || !is_begun { COMMAND } else { 0 };
                    pages += 1;
                    (is_sensed, is_begun) = (true, true);
                }
            }
        }
        (time, pages)
    }
}

/// Units `written` of the first three superblocks, two superblocks full, are written once more without time. Writing the last of them again
/// begins collection, which ends when two of the three have been erased. Returns how long the die was at work for reads, the pages that they sensed, and
/// the units that they moved.
fn collected(shape: Shape, reads: GcReads, written: &[u64]) -> (u64, u64, u64) {
    let mut ssd = Ssd::new(shape.config(reads), 1).unwrap();
    for unit in (0..ssd.units()).chain(written.iter().copied()) {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    ssd.reset_counters(Nanos::ZERO);
    for (tag, &unit) in written.iter().rev().take(shape.program_unit() as usize).enumerate() {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(tag as u32));
    }
    let (mut now, mut completions) = (Nanos::ZERO, Vec::new());
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
    }
    assert!(completions.iter().all(|done| done.outcome == Outcome::Ok));
    ssd.self_check().unwrap();
    let counters = ssd.counters();
    assert_eq!(counters.erases, 2 * shape.planes, "two victims");
    let programs = counters.programs / (shape.planes * shape.one_shot);
    let others = programs * (COMMAND + shape.program_unit() * UNIT + PROGRAM) + 2 * (COMMAND + ERASE);
    let busy = (ssd.die_utilisation(now, now)[0] * now.0 as f64).round() as u64;
    (busy - others, counters.reads[ReadCause::Gc], ssd.written()[ProgramCause::Gc])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A die senses all planes of a row at once, or each page with valid units by itself; what leaves it is the same.
    #[test]
    fn reading_a_victim_takes_what_its_pages_take(
        planes in prop::sample::select(vec![1, 2, 4]),
        one_shot in prop::sample::select(vec![1, 3]),
        on_a_page in prop::sample::select(vec![1, 2, 4]),
        seed: u64,
        shares in (0.0..1.0, 0.0..1.0),
    ) {
        let shape = Shape { planes, one_shot, on_a_page };
        let part = |share: f64| (shape.units() as f64 * share / 8.0) as u64;
        // Valid units that the three are to keep, a superblock full; the third has most and stays.
        let least = 1 + part(shares.0);
        let second = least + 1 + part(shares.1);
        let third = shape.units() - least - second;
        let mut rng = SplitMix::new(seed, "stale");
        let mut valid: Vec<BTreeSet<u64>> = Vec::new();
        for (number, count) in [least, second, third].into_iter().enumerate() {
            let mut kept = BTreeSet::new();
            while (kept.len() as u64) < count {
                kept.insert(number as u64 * shape.units() + rng.below(shape.units()));
            }
            valid.push(kept);
        }
        let written: Vec<u64> =
            (0..3 * shape.units()).filter(|unit| valid.iter().all(|kept| !kept.contains(unit))).collect();
        for reads in [GcReads::MultiPlane, GcReads::Page] {
            let each = [0, 1].map(|number| shape.reading(reads, number as u64, &valid[number]));
            let expected = (each[0].0 + each[1].0, each[0].1 + each[1].1, least + second);
            prop_assert_eq!(collected(shape, reads, &written), expected, "{:?}", reads);
        }
    }
}

/// A die with a cache register senses the next page while the last leaves it: a read of collection that fails then waits until its plane is free before
/// it senses again. One read in four fails; the account is looked at after each event.
#[test]
fn room_is_kept_for_a_unit_whose_read_waits_to_be_repeated() {
    let shape = Shape { planes: 2, one_shot: 1, on_a_page: 1 };
    let mut config = shape.config(GcReads::Page);
    config.timing.cache_read = Some(Nanos::micros(3));
    config.timing.plane_reads = PlaneReads::Independent;
    config.controller.decode = DecodeTimes { hard: Nanos(7_000), retry: Nanos(9_000) };
    config.reliability = Some(weak_flash(Some(2), None));
    config.hazards.transient_read = 0.25;
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    let (mut rng, mut now, mut completions) = (SplitMix::new(1, "host"), Nanos::ZERO, Vec::new());
    let (mut free, mut submitted) = ((0..16).collect::<Vec<u32>>(), 0);
    while submitted < 4000 || !ssd.is_idle() {
        for tag in free.drain(..).take(4000 - submitted) {
            let op = if tag < 4 { Op::Write } else { Op::Read };
            ssd.submit(now, command(op, rng.below(ssd.units()) * 8, 8), Tag(tag));
            submitted += 1;
        }
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
        ssd.self_check().unwrap();
        free.extend(completions.drain(..).map(|completion| completion.tag.0));
    }
    assert!(ssd.counters().reads[ReadCause::Gc] > 100, "collection reads");
}

//! When does a drive find out that one of its dies has failed, and does it tell its host exactly which data is gone?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, NoticeKind, Op, Tag};
use outlast_ftl::ReadCause;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{
    Identifier, MountConfig, PredictConfig, Rebuild, RepairConfig, RepairScheme, SsdConfig, WriteCache,
};
use outlast_settings::ftl::{PartialConfig, PartialPlace, ProtectionConfig};
use outlast_ssd::{Reason, Ssd};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use support::model::Model;
use support::{command, tiny};

const IDENTIFIERS: [Identifier; 4] =
    [Identifier::L2pOneCore, Identifier::L2pAllCores, Identifier::P2lPage, Identifier::P2lBlock];

/// `cores` cores of `dies` dies of 2 planes of 24 blocks of 8 pages.
fn drive(cores: u16, dies: u16, share: f64, identifier: Identifier) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = cores;
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = dies;
    config.geometry.blocks_per_plane = 24;
    config.geometry.pages_per_block = 8;
    let units = (f64::from(cores * dies * 2 * 24 * 8) * share) as u64;
    config.ftl.capacity = Some(Bytes(units * 4096));
    config.controller.flash_cores = cores;
    config.controller.write_buffer = Bytes::kib(128 * u64::from(cores));
    config.repair = Some(RepairConfig {
        scheme: RepairScheme::Isolated,
        identifier,
        bad_blocks: 8,
        ..RepairConfig::default()
    });
    config
}

fn repair(config: &mut SsdConfig) -> &mut RepairConfig {
    config.repair.as_mut().unwrap()
}

struct Life {
    model: Model,
    rng: SplitMix,
}

impl Life {
    fn new(config: &SsdConfig, seed: u64) -> Self {
        let mut model = Model::new(config.clone(), seed);
        model.may_fail = true;
        model.ssd.begin_timed();
        let mut life = Self { model, rng: SplitMix::new(seed, "find") };
        for unit in 0..life.model.units.len() {
            life.write(unit);
            if life.model.pending.len() >= 16 {
                life.model.step(Nanos::MAX);
            }
        }
        life.model.settle_down();
        life
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn write(&mut self, unit: usize) {
        self.model.submit(Op::Write, unit, unit + 1, 0, false, 0);
    }

    /// Random commands, with cuts of power if `cuts`.
    fn work(&mut self, commands: u32, cuts: bool) {
        let units = self.model.units.len();
        for number in 0..commands {
            while self.model.pending.len() >= 8 {
                assert!(self.model.step(Nanos::MAX), "commands are pending and nothing happens");
            }
            if cuts && self.below(200) == 0 {
                let at = self.model.now + Nanos(self.rng.below(3_000_000));
                while self.model.now < at && self.model.step(at) {}
                self.model.now = at;
                self.model.cut();
            }
            let op = match self.below(100) {
                0..60 => Op::Write,
                60..90 => Op::Read,
                90..95 => Op::Trim,
                95..98 => Op::LbaStatus,
                _ => Op::Flush,
            };
            let count = 1 + self.below(4);
            let first = self.below(units - count);
            if matches!(op, Op::Read | Op::Flush | Op::LbaStatus) || self.model.is_free(first, first + count)
            {
                self.model.submit(op, first, first + count, 0, false, 0);
            }
            if number % 500 == 0 {
                self.model.ssd.self_check().unwrap();
            }
        }
    }

    fn fail(&mut self, die: u16, damage: DieDamage) {
        let now = self.model.now;
        self.model.ssd.inject(now, DriveFault { die, damage });
    }

    fn rest(&mut self) {
        self.model.settle_down();
        let mut none = Vec::new();
        while let Some(at) = self.model.ssd.next_deadline() {
            self.model.ssd.advance(at, &mut none);
            self.model.now = self.model.now.max(at);
        }
        assert!(none.is_empty());
    }

    /// What the drive reports: units, with whether they can be read. In ranges of an odd length.
    fn ask(&mut self) -> Vec<(usize, bool)> {
        let (units, mut all) = (self.model.units.len(), Vec::new());
        for first in (0..units).step_by(77) {
            let tag = Tag(self.model.next_tag);
            self.model.submit(Op::LbaStatus, first, units.min(first + 77), 0, false, 0);
            self.model.settle_down();
            let runs = self.model.ssd.take_lba_status(tag).expect("an answer");
            let sectors = self.model.sectors as u64;
            let mut end = None;
            for run in runs {
                assert!(
                    run.sectors != 0 && run.lba.0 % sectors == 0 && u64::from(run.sectors) % sectors == 0
                );
                assert!(end != Some((run.lba.0, run.readable)), "runs that touch are joined");
                end = Some((run.lba.0 + u64::from(run.sectors), run.readable));
                let from = run.lba.0 / sectors;
                let own = from..from + u64::from(run.sectors) / sectors;
                all.extend(own.map(|unit| (unit as usize, run.readable)));
            }
        }
        assert!(all.is_sorted_by(|a, b| a.0 < b.0), "in order of address");
        all
    }

    /// Units that a host cannot read: it tries them all.
    fn unreadable(&mut self) -> Vec<usize> {
        let mut bad = Vec::new();
        for unit in 0..self.model.units.len() {
            let before = self.model.medium_errors;
            self.model.submit(Op::Read, unit, unit + 1, 0, false, 0);
            self.model.settle_down();
            if self.model.medium_errors != before {
                bad.push(unit);
            }
        }
        bad
    }

    /// The drive reports what a host cannot read, and what lies in the wrong place, and nothing else; returns both counts.
    fn check(&mut self) -> (usize, usize) {
        self.rest();
        let told = self.ask();
        let bad: Vec<usize> =
            told.iter().filter(|&&(_, readable)| !readable).map(|&(unit, _)| unit).collect();
        assert_eq!(bad, self.unreadable());
        let mut left: Vec<usize> = self.model.ssd.left_behind_units().map(|unit| unit as usize).collect();
        left.sort_unstable();
        let misplaced: Vec<usize> =
            told.iter().filter(|&&(_, readable)| readable).map(|&(unit, _)| unit).collect();
        assert_eq!(misplaced, left);
        assert_eq!(self.model.ssd.is_repaired(), told.is_empty());
        (bad.len(), left.len())
    }

    /// The host writes all that is reported again.
    fn recover(&mut self) {
        for (unit, _) in self.ask() {
            self.write(unit);
            self.model.settle_down();
            assert_eq!(self.model.no_room, 0, "there is room");
        }
        assert_eq!(self.check(), (0, 0));
        assert!(self.model.ssd.is_repaired());
    }

    fn notices(&mut self) -> Vec<NoticeKind> {
        std::iter::from_fn(|| self.model.ssd.take_notice()).map(|notice| notice.kind).collect()
    }
}

/// Reads until the failure of `dies` dies is known.
fn until_detected(life: &mut Life, dies: usize) {
    for unit in (0..life.model.units.len()).cycle().take(5 * life.model.units.len()) {
        if life.model.ssd.repairs().len() == dies {
            return;
        }
        life.model.submit(Op::Read, unit, unit + 1, 0, false, 0);
        life.model.settle_down();
    }
    panic!("{dies} failures were not found");
}

#[test]
fn every_identifier_reports_exactly_what_cannot_be_read() {
    let (mut found, mut misplaced) = (0, 0);
    for (seed, identifier) in (0..).zip(IDENTIFIERS.into_iter().cycle().take(16)) {
        let mut config = drive(2 + seed as u16 % 2, 4, 0.45, identifier);
        config.ftl.multi_plane = seed % 3 != 0;
        config.geometry.page_size = Bytes::kib([4, 16][seed as usize / 4 % 2]);
        config.ftl.mapping_unit = Bytes::kib([4, 8][seed as usize / 8]);
        if seed >= 8 {
            repair(&mut config).scheme = RepairScheme::Cooperative;
        }
        config.ftl.capacity = Some(Bytes(config.ftl.mapping_unit.0 * 500));
        let mut life = Life::new(&config, seed);
        life.work(1000, false);
        let die = life.below(8) as u16;
        life.fail(die, DieDamage::Die);
        // Some data is found to be lost, or is written again, before the failure is known.
        life.work(40, false);
        until_detected(&mut life, 1);
        let (bad, left) = life.check();
        life.work(500, false);
        let (later, _) = life.check();
        // Writes and trims take units out; nothing adds any.
        assert!(later < bad, "{later} of {bad} units are still reported");
        let record = life.model.ssd.repairs()[0].clone();
        assert!(record.die == die && record.failed_units > 0 && record.queries > 0);
        assert_eq!(record.lists_read != 0, matches!(identifier, Identifier::P2lPage | Identifier::P2lBlock));
        assert!(!record.searched, "{identifier:?}, seed {seed}: the neighbour is sound");
        life.recover();
        life.model.read_everything();
        found += bad;
        misplaced += left;
    }
    assert!(found > 500 && misplaced > 100, "{found} units found, {misplaced} misplaced");
}

#[test]
fn queries_take_the_time_that_their_formula_says() {
    for identifier in IDENTIFIERS {
        let config = drive(2, 4, 0.5, identifier);
        let own = config.repair.clone().unwrap();
        let mut ssd = Ssd::new(SsdConfig { bytes: false, ..config }, 1).unwrap();
        (0..ssd.units()).for_each(|unit| ssd.write_unit_untimed(unit, 0).unwrap());
        ssd.begin_timed();
        ssd.inject(Nanos::ZERO, DriveFault { die: 5, damage: DieDamage::Die });
        ssd.detect_untimed(Nanos::ZERO);
        let failed = ssd.repairs()[0].failed_units;
        let units = ssd.units();
        let mut now = Nanos::secs(1);
        while ssd.take_notice().is_some() {}
        let mut query = |ssd: &mut Ssd, units: u64| {
            ssd.submit(now, command(Op::LbaStatus, 0, (units * 8) as u32), Tag(1));
            let done = ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
            let found: u64 =
                ssd.take_lba_status(Tag(1)).unwrap().iter().map(|run| u64::from(run.sectors) / 8).sum();
            let took = done - now;
            now = done + Nanos::secs(1);
            (took.0, found)
        };
        let first = query(&mut ssd, units);
        let half = query(&mut ssd, units / 2 + 1);
        assert_eq!(first.1, failed);
        let of = |entries: u64, found: u64| {
            let share = entries.div_ceil(2);
            match identifier {
                Identifier::L2pOneCore => entries * own.scan_cost().0 + found * own.found_cost().0,
                // The victim, core 1, has the smaller share of an odd number of entries.
                Identifier::L2pAllCores => (share * own.scan_cost().0).max(
                    entries / 2 * own.scan_cost().0
                        + entries * own.copy_cost().0
                        + found * own.found_cost().0,
                ),
                _ => share * own.marked_scan_cost().0,
            }
        };
        assert_eq!(half.0, of(units / 2 + 1, half.1), "{identifier:?}");
        let record = ssd.repairs()[0].clone();
        let lists = if identifier == Identifier::P2lPage || identifier == Identifier::P2lBlock {
            // One read after the other, of a page of each plane; marking goes on beside it.
            let timing = &ssd.config().timing;
            let read = 200 + 60_000 + timing.bus.time_for(Bytes(2 * 4096)).0;
            let (reads, mark) = (record.lists_read / 2, own.mark_cost().0);
            assert!(record.marked == failed);
            // All named units of a page are marked before the next page comes, of a block they are not.
            (reads * read, reads * read + failed * mark)
        } else {
            (0, 0)
        };
        let rest = first.0 - of(units, failed);
        assert!((lists.0..=lists.1).contains(&rest), "{identifier:?}: {rest}, not {lists:?}");
        assert_eq!(record.identify_busy.0, first.0 + half.0);
    }
}

#[test]
fn a_failed_die_is_known_within_dozens_of_milliseconds() {
    for busy in [false, true] {
        let mut life = Life::new(&drive(2, 4, 0.45, Identifier::P2lBlock), 3);
        life.work(500, false);
        life.rest();
        life.fail(6, DieDamage::Die);
        let at = life.model.now;
        if busy {
            life.work(400, false);
        } else {
            // Nobody touches it: nobody knows.
            life.rest();
            assert!(life.model.ssd.repairs().is_empty());
            until_detected(&mut life, 1);
        }
        let record = life.model.ssd.repairs().first().expect("found by now").clone();
        assert_eq!((record.die, record.failed_at, record.bad_blocks), (6, Some(at), 9));
        assert!(record.probes >= 1 && record.probes <= 8);
        let most = if busy { Nanos::millis(50) } else { Nanos::millis(2) };
        assert!(record.detection() > Nanos::ZERO && record.detection() < most, "{}", record.detection());
        assert_eq!(life.notices()[0], NoticeKind::DieFailed { die: 6 });
    }
}

#[test]
fn single_bad_blocks_do_not_fail_a_die() {
    let mut config = drive(1, 4, 0.4, Identifier::P2lBlock);
    config.ftl.spare_blocks = 2;
    let mut life = Life::new(&config, 5);
    for (die, block) in [(0u16, 3u32), (1, 8), (1, 12), (2, 5)] {
        life.fail(die, DieDamage::Block { plane: 1, block });
        life.work(1500, false);
    }
    life.rest();
    assert!(life.model.ssd.repairs().is_empty() && life.notices().is_empty());
    assert!(life.model.ssd.counters().reads[ReadCause::Probe] > 0, "the blocks beside were looked at");
    // What the blocks held is reported all the same, once it is known to be lost.
    let lost: Vec<usize> = life.unreadable();
    let told: Vec<usize> = life.ask().iter().map(|&(unit, _)| unit).collect();
    assert!(told.iter().all(|unit| lost.contains(unit)));
    assert_eq!(told.len() as u64, life.model.ssd.lost_units());
}

#[test]
fn a_plane_or_many_bad_blocks_fail_a_die() {
    let mut life = Life::new(&drive(1, 4, 0.4, Identifier::L2pAllCores), 6);
    life.fail(2, DieDamage::Plane { plane: 1 });
    life.work(200, false);
    until_detected(&mut life, 1);
    assert_eq!(life.model.ssd.repairs()[0].die, 2);
    // The other plane can still be read.
    life.rest();
    let told = life.ask();
    let bad: Vec<usize> = told.iter().filter(|run| !run.1).map(|run| run.0).collect();
    assert_eq!(bad, life.unreadable());
    assert!(told.len() > bad.len() && !bad.is_empty());
    life.recover();

    let mut life = Life::new(&drive(1, 4, 0.4, Identifier::L2pAllCores), 7);
    // Every other block: no probe gets further than one.
    for block in (0..24).step_by(2) {
        life.fail(1, DieDamage::Block { plane: 0, block });
    }
    life.work(2000, false);
    let record = life.model.ssd.repairs()[0].clone();
    assert_eq!((record.die, record.failed_at, record.bad_blocks), (1, None, 9));
}

#[test]
fn when_two_neighbours_fail_together_the_table_is_searched() {
    for identifier in [Identifier::P2lPage, Identifier::P2lBlock] {
        let mut life = Life::new(&drive(2, 5, 0.25, identifier), 8);
        life.work(500, false);
        for die in [6, 7] {
            life.fail(die, DieDamage::Die);
        }
        until_detected(&mut life, 2);
        life.check();
        let records = life.model.ssd.repairs();
        // In allocation order die 6 comes before die 7, and keeps its lists.
        let searched: Vec<u16> =
            records.iter().filter(|record| record.searched).map(|record| record.die).collect();
        assert_eq!(searched, [7]);
        assert!(records.iter().all(|record| record.failed_units > 20));
        life.recover();
        // Once all has been written anew, lists are with the dies that are left.
        life.work(4000, false);
        life.rest();
        life.fail(8, DieDamage::Die);
        until_detected(&mut life, 3);
        life.check();
        assert!(!life.model.ssd.repairs()[2].searched);
        life.recover();
    }
}

#[test]
fn what_stripes_give_is_rebuilt_inside_or_reported_as_readable() {
    for rebuild in [Rebuild::Cheapest, Rebuild::Device, Rebuild::Host] {
        let mut config = drive(2, 4, 0.25, Identifier::P2lBlock);
        let partial = PartialConfig { place: PartialPlace::Cache, ..PartialConfig::default() };
        config.protection =
            Some(ProtectionConfig { data: 3, parity: 1, partial, ..ProtectionConfig::default() });
        repair(&mut config).rebuild = rebuild;
        let mut life = Life::new(&config, 9);
        life.work(1000, false);
        life.rest();
        life.fail(1, DieDamage::Die);
        until_detected(&mut life, 1);
        let failed = life.model.ssd.repairs()[0].failed_units;
        assert!(failed > 30);
        if rebuild == Rebuild::Host {
            life.rest();
            let told = life.ask();
            assert_eq!(told.len() as u64, failed);
            assert!(told.iter().all(|&(_, readable)| readable));
            life.recover();
        } else {
            assert_eq!(life.ask(), [], "the drive rebuilds it all");
            life.rest();
            assert!(life.model.ssd.moved_for(Reason::Exposed) > 0);
        }
        assert_eq!(life.unreadable(), [0; 0]);
        // A superblock is moved when it is full.
        life.work(1500, false);
        life.rest();
        assert_eq!(life.model.ssd.failed_units(1), 0);
        assert!(life.model.ssd.is_repaired());
        // A second failure at once, before anything else: stripes are whole again.
        life.fail(3, DieDamage::Die);
        assert_eq!(life.unreadable(), [0; 0]);
    }
}

#[test]
fn the_cheapest_rebuild_depends_on_the_link() {
    // Three reads on four dies take 0.75 x 73 us; eight kilobytes twice over the link 16 us or 164 us.
    for (rate, told) in [(1_000_000_000, true), (100_000_000, false)] {
        let mut config = drive(1, 4, 0.25, Identifier::L2pAllCores);
        config.protection = Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        config.controller.link = outlast_units::ByteRate::new(rate);
        let mut life = Life::new(&config, 10);
        life.rest();
        life.fail(1, DieDamage::Die);
        until_detected(&mut life, 1);
        assert_eq!(!life.ask().is_empty(), told, "{rate}");
    }
}

#[test]
fn a_die_that_is_expected_to_fail_is_emptied_before_it_does() {
    for limits in [
        PredictConfig { bad_blocks: 3, ..PredictConfig::default() },
        PredictConfig { bad_blocks: 7, uncorrectable: 4 },
    ] {
        let mut config = drive(2, 4, 0.3, Identifier::P2lBlock);
        repair(&mut config).predict = Some(limits);
        let mut life = Life::new(&config, 11);
        life.work(500, false);
        life.rest();
        for block in 0..8 {
            life.fail(2, DieDamage::Block { plane: 0, block });
        }
        life.unreadable();
        assert_eq!(life.notices(), [NoticeKind::DieFailing { die: 2 }]);
        life.rest();
        assert!(life.model.ssd.moved_for(Reason::Evacuation) > 0);
        assert_eq!(life.model.ssd.failed_units(2), 0, "all that could be read has been moved");
        let lost = life.model.ssd.lost_units();
        life.fail(2, DieDamage::Die);
        assert_eq!(life.unreadable().len() as u64, lost, "nothing more is lost");
        life.work(3000, false);
        life.recover();
    }
}

#[test]
fn what_has_not_been_moved_when_the_die_fails_is_lost_and_nothing_else() {
    let mut config = drive(2, 4, 0.3, Identifier::P2lBlock);
    repair(&mut config).predict = Some(PredictConfig { bad_blocks: 1, ..PredictConfig::default() });
    let mut life = Life::new(&config, 12);
    life.fail(1, DieDamage::Block { plane: 0, block: 1 });
    for unit in 0..life.model.units.len() {
        life.model.submit(Op::Read, unit, unit + 1, 0, false, 0);
        life.model.settle_down();
        if life.model.ssd.moved_for(Reason::Evacuation) >= 3 {
            break;
        }
    }
    let left = life.model.ssd.failed_units(1);
    assert!(left > 0, "the evacuation is under way");
    life.fail(1, DieDamage::Die);
    until_detected(&mut life, 1);
    let (bad, _) = life.check();
    assert!(bad as u64 <= left + 16 && bad > 0);
    life.recover();
}

#[test]
fn drives_break_at_any_moment_of_their_work() {
    let caches = [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off];
    let (mut reported, mut failures) = (0, 0);
    for seed in 0..12 {
        let mut config = drive(2, 4, 0.42, IDENTIFIERS[seed as usize % 4]);
        config.controller.write_cache = caches[seed as usize / 4];
        config.mount = (seed % 3 == 1).then(MountConfig::default);
        if seed % 2 == 0 && seed < 4 {
            repair(&mut config).scheme = RepairScheme::Cooperative;
        }
        config.ftl.multi_plane = seed % 3 != 0;
        let mut life = Life::new(&config, seed);
        let cuts = seed % 2 == 1;
        for round in 0..2 {
            life.work(500, cuts);
            // Collection is under way nearly all the time.
            let at = life.model.now + Nanos(life.rng.below(5_000_000));
            while life.model.now < at && life.model.step(at) {}
            let die = round * 4 + life.below(4) as u16;
            life.fail(die, DieDamage::Die);
            life.work(500, cuts);
            until_detected(&mut life, usize::from(round) + 1);
            reported += life.check().0;
            life.recover();
            failures += 1;
        }
        assert_eq!(life.model.no_room, 0, "seed {seed}");
        life.work(200, cuts);
        life.model.settle_down();
        life.model.read_everything();
        life.model.ssd.self_check().unwrap();
    }
    assert!(reported > 200 && failures == 24, "{reported} units reported");
}

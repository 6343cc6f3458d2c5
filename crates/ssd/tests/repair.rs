//! Does a drive that loses dies keep everything else, and take back what its host gives it? Random commands with real bytes while dies
//! fail; then a host that rewrites what it cannot read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, NoticeKind, Op};
use outlast_ftl::ProgramCause;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{Migration, MountConfig, RepairConfig, RepairScheme, SsdConfig};
use outlast_settings::ftl::{ClassConfig, PartialConfig, PartialPlace, ProtectionConfig, RangeConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, CoreId, Nanos};
use proptest::prelude::*;
use support::model::Model;
use support::tiny;

/// `cores` cores of `dies` dies each; every core's dies can hold 320 units a die.
fn drive(cores: u16, dies: u16, units: u64, migration: Migration) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = cores;
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = dies;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 40;
    config.geometry.pages_per_block = 8;
    config.ftl.mapping_unit = Bytes::kib(4);
    config.ftl.capacity = Some(Bytes(units * 4096));
    config.controller.flash_cores = cores;
    config.controller.write_buffer = Bytes::kib(128 * u64::from(cores));
    config.repair = Some(RepairConfig {
        scheme: RepairScheme::Cooperative,
        // Takes no room on flash.
        identifier: outlast_settings::drive::Identifier::L2pAllCores,
        migration,
        ..RepairConfig::default()
    });
    config
}

struct Life {
    model: Model,
    rng: SplitMix,
    /// Dies that work.
    dies: Vec<u16>,
    rewritten: u64,
}

impl Life {
    fn new(config: &SsdConfig, seed: u64) -> Self {
        let mut model = Model::new(config.clone(), seed);
        model.may_fail = true;
        model.ssd.begin_timed();
        let dies = (0..config.geometry.dies()).collect();
        Self { model, rng: SplitMix::new(seed, "repair"), dies, rewritten: 0 }
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn fill(&mut self) {
        for unit in 0..self.model.units.len() {
            self.model.submit(Op::Write, unit, unit + 1, 0, false, 0);
            while self.model.pending.len() >= 16 {
                self.model.step(Nanos::MAX);
            }
        }
        self.model.settle_down();
    }

    /// Random commands, with cuts of power if `cuts`.
    fn work(&mut self, commands: u32, cuts: bool) {
        let units = self.model.units.len();
        for _ in 0..commands {
            while self.model.pending.len() >= 8 {
                assert!(self.model.step(Nanos::MAX), "commands are pending and nothing happens");
            }
            if cuts && self.below(100) == 0 {
                let at = self.model.now + Nanos(self.rng.below(3_000_000));
                while self.model.now < at && self.model.step(at) {}
                self.model.now = at;
                self.model.cut();
            }
            let (op, longest) = match self.below(100) {
                0..60 => (Op::Write, if self.below(8) == 0 { 20 } else { 3 }),
                60..92 => (Op::Read, 5),
                92..97 => (Op::Trim, 3),
                _ => (Op::Flush, 1),
            };
            let count = 1 + self.below(longest);
            let first = self.below(units - count);
            let end = first + count;
            if op == Op::Read || op == Op::Flush || self.model.is_free(first, end) {
                let known = self.model.units[first].current().len() == 1;
                let skip = if op == Op::Write && known && self.below(3) == 0 { self.below(8) } else { 0 };
                self.model.submit(op, first, end, skip, false, 0);
            }
        }
    }

    /// A die that works fails, if possible of the core `of`.
    fn fail(&mut self, of: Option<usize>) {
        let own = |die: &&u16| {
            of.is_none_or(|core| {
                self.model.ssd.dies_of_core(CoreId(core as u16)).iter().any(|own| own.0 == **die)
            })
        };
        let candidates: Vec<u16> = self.dies.iter().filter(own).copied().collect();
        let die = candidates[self.below(candidates.len())];
        self.dies.retain(|&other| other != die);
        let now = self.model.now;
        self.model.ssd.inject(now, DriveFault { die, damage: DieDamage::Die });
        self.model.ssd.detect_untimed(now);
        self.model.ssd.self_check().unwrap();
    }

    fn notices(&mut self) -> Vec<NoticeKind> {
        std::iter::from_fn(|| self.model.ssd.take_notice()).map(|notice| notice.kind).collect()
    }

    /// The host: it reads everything and rewrites what it cannot have, which it knows from elsewhere, and what is in the wrong place.
    fn recover(&mut self) {
        self.model.settle_down();
        for unit in 0..self.model.units.len() {
            let before = self.model.medium_errors;
            self.model.submit(Op::Read, unit, unit + 1, 0, false, 0);
            self.model.settle_down();
            if self.model.medium_errors != before {
                self.model.submit(Op::Write, unit, unit + 1, 0, false, 0);
                self.model.settle_down();
                self.rewritten += 1;
            }
        }
        let left: Vec<u64> = self.model.ssd.left_behind_units().collect();
        for unit in left {
            self.model.submit(Op::Write, unit as usize, unit as usize + 1, 0, false, 0);
            self.model.settle_down();
        }
        self.model.ssd.self_check().unwrap();
    }

    /// Lets all that the drive does by itself come to its end.
    fn rest(&mut self) {
        let mut none = Vec::new();
        while let Some(at) = self.model.ssd.next_deadline() {
            self.model.ssd.advance(at, &mut none);
            self.model.now = at;
        }
        assert!(none.is_empty());
    }

    /// Everything is there, and where it belongs.
    fn is_whole(&mut self) {
        let errors = self.model.medium_errors;
        self.model.read_everything();
        assert_eq!(self.model.medium_errors, errors, "a repaired drive has all of its data");
        assert_eq!(self.model.ssd.left_behind_units().count(), 0);
    }
}

/// A life in which a die fails in each of `failures`, if possible of the given core, and is repaired.
fn live(config: &SsdConfig, seed: u64, failures: &[Option<usize>], commands: u32, cuts: bool) -> Life {
    let mut life = Life::new(config, seed);
    life.fill();
    life.work(commands, cuts);
    for &core in failures {
        life.fail(core);
        // The host goes on before it repairs, and while it does.
        life.work(commands, cuts);
        if config.repair.as_ref().unwrap().migration == Migration::Device {
            life.model.settle_down();
            life.rest();
            assert_eq!(
                life.model.ssd.left_behind_units().count(),
                0,
                "the drive has moved all that it could"
            );
        }
        life.recover();
        life.work(commands, cuts);
        life.model.settle_down();
        assert_eq!(life.model.no_room, 0, "seed {seed}: there was room");
    }
    life.is_whole();
    life
}

#[test]
fn dies_fail_on_one_core_and_everywhere() {
    // Of sixteen dies with 320 units each, up to three fail: 2240 units fill 54 % of what is left then.
    let (mut rewritten, mut moved) = (0, 0);
    for (seed, failures) in (0..).zip([
        &[Some(3), Some(3), Some(3)][..],
        &[Some(0), Some(1), Some(2)],
        &[Some(2), Some(0), Some(2)],
        &[None, None, None],
    ]) {
        for migration in [Migration::Host, Migration::Device] {
            let life = live(&drive(4, 4, 2240, migration), seed, failures, 1200, true);
            rewritten += life.rewritten;
            let migrated = life.model.ssd.written()[ProgramCause::Migrated];
            assert_eq!(migrated != 0, migration == Migration::Device);
            moved += migrated;
        }
    }
    assert!(rewritten > 1000 && moved > 300, "{rewritten} units rewritten, {moved} moved");
}

#[test]
fn a_drive_nearly_full_is_repaired() {
    // 64 dies, 20 480 units; after one failure 88 % of what remains is used, and a tenth is kept back.
    for migration in [Migration::Host, Migration::Device] {
        let config = drive(4, 16, 17_800, migration);
        let mut life = live(&config, 7, &[Some(1)], 3000, false);
        // All cores have the same share of work: utilisations agree except for the rounding of the last redirection unit.
        let utilisation = life.model.ssd.space_utilisation();
        let (least, most) = (
            utilisation.iter().copied().fold(1.0, f64::min),
            utilisation.iter().copied().fold(0.0, f64::max),
        );
        assert!(most - least < 3.0 / 4800.0, "{utilisation:?}");
        life.model.ssd.reset_counters(life.model.now);
        life.work(20_000, false);
        life.is_whole();
        let waf = life.model.ssd.write_amplification_by_core();
        assert!(waf.iter().all(|&own| own > 2.0 && (own / waf[0] - 1.0).abs() < 0.1), "{waf:?}");
    }
}

#[test]
fn stripes_within_the_drive_and_repair_go_together() {
    for (seed, place) in (0..).zip([PartialPlace::None, PartialPlace::Inline, PartialPlace::Cache]) {
        for migration in [Migration::Host, Migration::Device] {
            let mut config = drive(4, 4, 1500, migration);
            let partial = PartialConfig { place, timeout: Nanos::millis(2), ..PartialConfig::default() };
            config.protection =
                Some(ProtectionConfig { data: 3, parity: 1, partial, ..ProtectionConfig::default() });
            live(&config, seed, &[Some(1), Some(2)], 1500, true);
        }
    }
}

#[test]
fn units_keep_their_class_where_they_live_now() {
    for (seed, migration) in [(0, Migration::Host), (1, Migration::Device)] {
        let mut config = drive(4, 4, 1400, migration);
        let class = |number: u64, data: u16, parity: u8| ClassConfig {
            data: Some(data),
            parity: Some(parity),
            ranges: vec![RangeConfig {
                from: Bytes(number * 700 * 4096),
                to: Bytes((number + 1) * 700 * 4096),
            }],
            ..ClassConfig::default()
        };
        let classes = vec![class(0, 4, 0), class(1, 3, 1)];
        config.protection = Some(ProtectionConfig { classes, ..ProtectionConfig::default() });
        let mut life = Life::new(&config, seed);
        // What has parity bears the failure of a die of its core without an error.
        life.model.promised = (0..1400).map(|unit| (unit / 700) as u8).collect();
        life.model.failed_dies = 1;
        life.fill();
        for core in [1, 3] {
            life.work(1500, true);
            life.fail(Some(core));
            life.work(1500, true);
            life.recover();
        }
        life.is_whole();
        let rebuilt = life.model.ssd.corrections().stripe;
        assert!(life.rewritten > 5 && rebuilt > 20, "{} rewritten, {rebuilt} rebuilt", life.rewritten);
    }
}

#[test]
fn the_host_is_told_which_repair_is_the_last() {
    // One failure can be taken; a second one on the same core would leave 89.6 % of its dies' room to the data, and four superblocks
    // of forty are needed beside it.
    let config = drive(4, 4, 4200, Migration::Host);
    let mut life = Life::new(&config, 1);
    life.fill();
    life.fail(Some(1));
    let die = 4 + (4..8).position(|die| !life.dies.contains(&die)).unwrap() as u16;
    assert_eq!(life.notices(), [NoticeKind::DieFailed { die }, NoticeKind::LastRepair { die }]);
    life.recover();
    assert!(!life.model.ssd.smart().read_only);
    let known: Vec<_> = life.dies.clone();
    life.fail(Some(1));
    let die = *known.iter().find(|die| !life.dies.contains(die)).unwrap();
    assert_eq!(life.notices(), [NoticeKind::DieFailed { die }, NoticeKind::BeyondRepair { die }]);
    // What can still be read is served, and is the truth; writes are refused where there is no room.
    assert!(life.model.ssd.smart().read_only);
    life.work(500, true);
    life.model.settle_down();
    assert!(life.model.no_room > 0);
    let before = life.model.medium_errors;
    life.model.read_everything();
    assert!(life.model.medium_errors - before < 4200 / 8);
}

#[test]
fn a_drive_that_was_repaired_before_is_as_one_repaired_now() {
    for scheme in [RepairScheme::Cooperative, RepairScheme::Isolated] {
        let mut config = drive(4, 8, 4 * 1800, Migration::Host);
        config.repair.as_mut().unwrap().scheme = scheme;
        let mut now = Ssd::new(config.clone(), 5).unwrap();
        now.begin_timed();
        for die in [3, 17] {
            now.inject(Nanos::ZERO, DriveFault { die, damage: DieDamage::Die });
            now.detect_untimed(Nanos::ZERO);
        }
        config.repair.as_mut().unwrap().repaired_dies = vec![3, 17];
        let mut before = Ssd::new(config.clone(), 5).unwrap();
        assert_eq!(before.space_utilisation(), now.space_utilisation());
        for unit in 0..before.units() {
            before.write_unit_untimed(unit, 0).unwrap();
        }
        before.self_check().unwrap();
        // Every core's dies are gone in turn until there is no room.
        config.repair.as_mut().unwrap().repaired_dies = (0..32).collect();
        let refused = Ssd::new(config, 5).unwrap_err().to_string();
        assert!(
            refused.contains("device.repair.repaired_dies[") && refused.contains("too little room"),
            "{refused}"
        );
    }
}

#[test]
fn without_cooperation_only_the_victim_pays() {
    let mut config = drive(4, 4, 2240, Migration::Host);
    config.repair.as_mut().unwrap().scheme = RepairScheme::Isolated;
    let life = live(&config, 3, &[Some(1)], 1000, true);
    let utilisation = life.model.ssd.space_utilisation();
    for (core, dies) in [4.0, 3.0, 4.0, 4.0].into_iter().enumerate() {
        assert!((utilisation[core] - 560.0 / (320.0 * dies)).abs() < 1e-12, "{utilisation:?}");
    }
    assert_eq!(life.model.ssd.written()[ProgramCause::Migrated], 0);
}

#[test]
fn redirected_units_have_addresses_beyond_the_hosts() {
    // Figure 8 on a drive of as many dies: every fifteenth unit of the victim goes to each helper.
    let config = SsdConfig { bytes: false, ..drive(4, 4, 2400, Migration::Host) };
    let mut ssd = Ssd::new(config, 0).unwrap();
    ssd.inject(Nanos::ZERO, DriveFault { die: 13, damage: DieDamage::Die });
    ssd.detect_untimed(Nanos::ZERO);
    let extended = |unit: u64| ssd.extended_address(unit);
    assert_eq!([3, 7, 11].map(extended), [2400, 2401, 2402].map(Some));
    assert_eq!([63, 67, 71].map(extended), [2404, 2405, 2406].map(Some));
    assert_eq!((0..2400).filter(|&unit| extended(unit).is_some()).count(), 3 * 40);
    assert_eq!([0, 1, 2, 15, 59].map(extended), [None; 5]);
}

#[test]
fn power_may_fail_at_any_moment_of_a_move() {
    let mut cuts = 0;
    for seed in 0..8 {
        let mut config = drive(4, 4, 2240, Migration::Device);
        config.mount = (seed % 2 == 0).then(MountConfig::default);
        let mut life = Life::new(&config, seed);
        life.fill();
        life.work(500, false);
        life.fail(None);
        while life.model.ssd.left_behind_units().count() != 0 {
            // Now and then it stays long enough for program operations to end, else the buffer would never empty.
            let longest = if life.below(2) == 0 { 5_000_000 } else { 300_000 };
            let at = life.model.now + Nanos(life.rng.below(longest));
            while life.model.now < at && life.model.step(at) {}
            life.model.now = at;
            life.model.cut();
            cuts += 1;
            assert!(cuts < 1000, "moves go on");
            // Units that are about to be moved are written and trimmed.
            let left: Vec<u64> = life.model.ssd.left_behind_units().take(3).collect();
            for (unit, op) in left.into_iter().zip([Op::Write, Op::Trim, Op::Write]) {
                let unit = unit as usize;
                let known = life.model.units[unit].current().len() == 1;
                life.model.submit(op, unit, unit + 1, usize::from(op == Op::Write && known), false, 0);
            }
        }
        life.recover();
        life.is_whole();
    }
    assert!(cuts > 20, "{cuts} cuts");
}

#[test]
fn a_core_that_holds_too_much_refuses_writes_until_it_has_let_go() {
    // Before what was redirected has left it, the victim has room for 864 units. Without the failed die it holds 787, and the host
    // wants to give it back 210; then another 157 leave.
    let mut life = Life::new(&drive(4, 4, 4200, Migration::Host), 5);
    life.fill();
    life.fail(Some(1));
    let left: Vec<u64> = life.model.ssd.left_behind_units().collect();
    // Only what is lost is written at first: the wrong order.
    for unit in (1..4200).step_by(4).filter(|&unit| !left.contains(&unit)) {
        life.model.submit(Op::Read, unit as usize, unit as usize + 1, 0, false, 0);
        let before = life.model.medium_errors;
        life.model.settle_down();
        if life.model.medium_errors != before {
            life.model.submit(Op::Write, unit as usize, unit as usize + 1, 0, false, 0);
            life.model.settle_down();
        }
    }
    assert!(life.model.no_room > 20, "{} refused", life.model.no_room);
    assert!(!life.model.ssd.smart().read_only, "it is a passing state");
    life.recover();
    let refused = life.model.no_room;
    life.recover();
    life.work(2000, true);
    life.is_whole();
    assert_eq!(life.model.no_room, refused);
    // A drive that moves units itself does so before the host is half-way.
    let mut life = Life::new(&drive(4, 4, 4200, Migration::Device), 5);
    life.fill();
    life.fail(Some(1));
    life.recover();
    life.work(2000, true);
    life.is_whole();
    assert_eq!(life.model.no_room, 0);
}

#[test]
fn untimed_commands_know_where_units_live() {
    let config = SsdConfig { bytes: false, ..drive(4, 4, 2240, Migration::Host) };
    let mut ssd = Ssd::new(config, 0).unwrap();
    (0..2240).for_each(|unit| ssd.write_unit_untimed(unit, 0).unwrap());
    ssd.begin_timed();
    ssd.inject(Nanos::ZERO, DriveFault { die: 5, damage: DieDamage::Die });
    ssd.detect_untimed(Nanos::ZERO);
    let left: Vec<u64> = ssd.left_behind_units().collect();
    assert!(left.len() > 50 && left.iter().all(|unit| unit % 4 == 1), "{left:?}");
    let (trimmed, written) = left.split_at(left.len() / 2);
    for &unit in trimmed {
        ssd.apply_untimed(&support::command(Op::Trim, unit * 8, 8));
    }
    for &unit in written {
        ssd.apply_untimed(&support::command(Op::Write, unit * 8, 3));
    }
    ssd.self_check().unwrap();
    assert_eq!(ssd.left_behind_units().count(), 0);
    let before = ssd.counters().unmapped_reads;
    for &unit in &left {
        ssd.apply_untimed(&support::command(Op::Read, unit * 8, 8));
    }
    assert_eq!(ssd.counters().unmapped_reads - before, trimmed.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_else_is_lost(
        cores in 2u16..5, dies in 2u16..5, uneven in 0u16..3, share in 0.2f64..0.5, odd in 0u64..7, device: bool, stripes: bool, cuts: bool,
        failures in prop::collection::vec(prop::option::of(0usize..4), 1..4), seed: u64,
    ) {
        let units = (f64::from(cores * dies * 320) * share) as u64 + odd;
        let migration = if device { Migration::Device } else { Migration::Host };
        let mut config = drive(cores, dies, units, migration);
        config.mount = seed.is_multiple_of(2).then(MountConfig::default);
        if uneven != 0 {
            // One channel: the cores take dies in turn, and the first ones may have one more.
            config.geometry.channels = 1;
            config.geometry.dies_per_chip = cores * dies + uneven % cores;
        }
        if stripes {
            let partial = PartialConfig { place: PartialPlace::Inline, timeout: Nanos::millis(2), ..PartialConfig::default() };
            config.protection = Some(ProtectionConfig { data: dies - 1, parity: 1, partial, ..ProtectionConfig::default() });
        }
        let Ok(_) = Ssd::new(config.clone(), seed) else { return Ok(()) };
        let mut life = Life::new(&config, seed);
        life.fill();
        for core in failures {
            life.work(300, cuts);
            let left = |core: usize| life.model.ssd.dies_of_core(CoreId(core as u16)).iter().filter(|die| life.dies.contains(&die.0)).count();
            let core = core.map(|core| core % usize::from(cores)).filter(|&core| left(core) != 0);
            life.fail(core);
            life.work(300, cuts);
            if life.model.ssd.smart().read_only {
                break;
            }
            life.recover();
        }
        life.work(300, cuts);
        life.model.read_everything();
    }
}

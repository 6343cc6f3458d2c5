//! Do arrays of real drives live through failing dies? Dies fail, two at once, too, and again while the last failure is being repaired;
//! power fails at any moment; collection is in full swing. Every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use outlast_array::{
    Array, ArrayConfig, BackgroundConfig, Consistency, EjectionConfig, Level, LogConfig, LogPlace,
    RepairConfig as ArrayRepair, RepairWay, State,
};
use outlast_device::{Command, Device, Op};
use outlast_ftl::FtlConfig;
use outlast_media::{Damage, DefectConfig, Fault, Geometry, HazardConfig, PageTimes, Timing};
use outlast_ssd::{
    ControllerConfig, Identifier, Migration, RepairConfig, RepairScheme, Ssd, SsdConfig, WriteCache,
};
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};
use support::Host;

const BLOCKS: u32 = 24;
const PAGES: u32 = 16;
/// Sectors of a mapping unit: commands are aligned to it, as a file system's are.
const UNIT: u64 = 8;

/// Die failures that a drive lives through here.
const MOST: usize = 2;

/// A drive of 2 MiB in eight dies, which two flash cores share, that keeps its bytes.
fn drive(repair: &RepairConfig, seed: u64) -> Ssd {
    let config = SsdConfig {
        geometry: Geometry {
            channels: 4,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes_per_die: 1,
            blocks_per_plane: BLOCKS,
            pages_per_block: PAGES,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        },
        timing: Timing {
            read: PageTimes::Same(Nanos::micros(60)),
            program: PageTimes::Same(Nanos::micros(700)),
            erase: Nanos::micros(3500),
            bus: ByteRate::new(667_000_000).unwrap(),
            command: Nanos(200),
            suspend: None,
        },
        defects: DefectConfig::default(),
        ftl: FtlConfig { capacity: Some(Bytes::kib(3584)), spare_blocks: 2, ..FtlConfig::default() },
        controller: ControllerConfig {
            flash_cores: 2,
            write_buffer: Bytes::kib(128),
            write_cache: WriteCache::Protected,
            ..ControllerConfig::default()
        },
        reliability: None,
        protection: None,
        absent_dies: Vec::new(),
        repair: Some(repair.clone()),
        scrub: None,
        hazards: HazardConfig::default(),
        model: "small".to_owned(),
        bytes: true,
    };
    Ssd::new(config, seed).unwrap()
}

fn small(level: Level, members: u16, consistency: Consistency) -> ArrayConfig {
    ArrayConfig {
        chunk: Bytes::kib(16),
        consistency,
        log: LogConfig {
            size: Bytes::kib(128),
            bitmap_chunk: Bytes::kib(64),
            bitmap_delay: Nanos::millis(3),
            place: LogPlace::Members,
        },
        background: BackgroundConfig {
            min_rate: ByteRate::new(40_000_000),
            max_rate: None,
            idle_after: Nanos::millis(1),
            window: 6,
            scrub_interval: None,
        },
        // Broken pages are many here, and members leave on command.
        ejection: EjectionConfig { read_errors: u32::MAX, ..EjectionConfig::default() },
        ..ArrayConfig::new(level, members)
    }
}

struct Torture {
    host: Host<Array<Ssd>>,
    rng: SplitMix,
    repair: RepairConfig,
    redundancy: usize,
    seed: u64,
    /// Members of which a die has failed since every page was last looked at.
    broken: Vec<usize>,
    /// Dies that have failed, by member.
    dies: Vec<Vec<u16>>,
    failed: u32,
    exchanged: u32,
    cuts: u32,
    may_be_lost: bool,
}

impl Torture {
    fn new(config: &ArrayConfig, repair: &RepairConfig, seed: u64) -> Self {
        let drives =
            (0..u64::from(config.devices())).map(|index| drive(repair, seed * 1000 + index)).collect();
        let array = Array::new(config.clone(), drives, true).unwrap();
        Self {
            host: Host::new(array),
            rng: SplitMix::new(seed, "torture of dies"),
            repair: repair.clone(),
            redundancy: usize::from(config.redundancy()),
            seed: seed * 1000 + 100,
            broken: Vec::new(),
            dies: vec![Vec::new(); usize::from(config.members)],
            failed: 0,
            exchanged: 0,
            cuts: 0,
            may_be_lost: false,
        }
    }

    fn members(&self) -> usize {
        usize::from(self.host.device.config().members)
    }

    fn missing(&self) -> usize {
        let status = self.host.device.status(self.host.now);
        status.members.iter().filter(|member| !member.in_sync).count()
    }

    fn has_records(&self) -> bool {
        matches!(self.host.device.config().consistency, Consistency::Ppl | Consistency::Journal)
    }

    /// With no records of writes under way, anything may fail only once parity fits again.
    fn settle(&mut self) {
        if self.cuts > 0 && !self.has_records() {
            self.host.drain();
        }
    }

    fn next(&mut self) -> Command {
        let mut command = self.host.random(&mut self.rng, 64);
        if command.op != Op::Flush {
            let end = (command.lba.0 + u64::from(command.sectors)).next_multiple_of(UNIT);
            command.lba = Lba(command.lba.0 / UNIT * UNIT);
            command.sectors = (end.min(self.host.capacity()) - command.lba.0) as u32;
        }
        command
    }

    fn step(&mut self) {
        while self.host.in_flight() >= 16 {
            assert!(self.host.step(), "the host waits for ever");
        }
        let next = self.next();
        self.host.submit(next);
        if self.rng.below(15) == 0 {
            self.fault();
            self.host.device.self_check().unwrap();
        }
    }

    fn fault(&mut self) {
        let member = self.rng.below(self.members() as u64) as usize;
        match self.rng.below(12) {
            0 => self.make_whole(),
            1..=3 => self.fail_dies(member),
            4..=6 => self.power_cut(),
            _ => {}
        }
    }

    /// A die fails, or two at once; the member may still be busy with the last one.
    fn fail_dies(&mut self, member: usize) {
        if !self.broken.contains(&member) && self.missing() + self.broken.len() >= self.redundancy {
            return;
        }
        self.settle();
        for _ in 0..=self.rng.below(2) {
            let die = self.rng.below(8) as u16;
            if self.dies[member].len() == MOST || self.dies[member].contains(&die) {
                continue;
            }
            let now = self.host.now;
            let Some(drive) = self.host.device.member_mut(member) else { return };
            drive.inject(now, Fault { die, damage: Damage::Die });
            self.dies[member].push(die);
            self.failed += 1;
            if !self.broken.contains(&member) {
                self.broken.push(member);
            }
        }
    }

    /// A rest, in which every page is looked at and all that is broken is found and made good. Drives that have little space left are
    /// exchanged.
    fn make_whole(&mut self) {
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        self.broken.clear();
        for column in 0..self.members() {
            let absent = self.host.device.member(column).is_none();
            if absent || self.dies[column].len() == MOST {
                self.replace(column);
            }
        }
        let now = self.host.now;
        while self.host.device.status(now).spares < usize::from(self.host.device.config().spares) {
            self.seed += 1;
            self.host.device.add_spare(now, drive(&self.repair, self.seed)).unwrap();
        }
        self.host.drain();
    }

    fn replace(&mut self, column: usize) {
        self.settle();
        self.seed += 1;
        self.exchanged += 1;
        self.host.device.replace(self.host.now, column, drive(&self.repair, self.seed), false).unwrap();
        self.dies[column].clear();
        self.host.drain();
    }

    fn power_cut(&mut self) {
        // Without records nothing may be missing: that is the write hole, and has tests of its own.
        if !self.has_records() && self.missing() + self.broken.len() > 0 {
            self.make_whole();
            for _ in 0..8 {
                let next = self.next();
                self.host.submit(next);
            }
        }
        let now = self.host.now + Nanos(self.rng.below(1_500_000));
        if self.rng.below(2) == 0 {
            self.host.device.power_cut(now);
            self.host.forget_in_flight();
        } else {
            // The host hears of everything.
            self.host.device.power_failure(now);
            while self.host.in_flight() > 0 {
                assert!(self.host.step(), "commands outlived a loss of power");
            }
            assert!(self.host.now <= now);
        }
        self.host.now = now;
        self.host.device.power_on(now, false).unwrap();
        self.cuts += 1;
    }

    /// Nothing is lost but what was being written when power failed, and only what is lost cannot be read.
    fn check_losses(&mut self) {
        let lost = self.host.device.lost().clone();
        for sector in lost.iter().flatten() {
            assert!(self.host.is_doubtful(sector), "sector {sector} is lost");
        }
        for (lba, sectors) in std::mem::take(&mut self.host.errors) {
            let range = lba..lba + u64::from(sectors);
            assert!(self.may_be_lost || lost.overlaps(&range), "a read of {range:?} failed");
        }
        // What is overwritten is no longer lost, but reads of it may still be under way.
        self.may_be_lost = !lost.is_empty() || self.may_be_lost && self.host.in_flight() > 0;
        assert_eq!(self.host.refused, 0, "a write was refused");
    }

    /// Everything made whole: no error, no mismatch, nothing lost.
    fn end(&mut self) {
        self.make_whole();
        // The first scrub finds what is still unreadable, the second nothing.
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        let before = self.host.device.counters();
        self.host.device.start_scrub(self.host.now, false);
        self.host.drain();
        let after = self.host.device.counters();
        assert_eq!(after.read_errors, before.read_errors, "unreadable sectors are left");
        assert_eq!((before.mismatches, after.mismatches), (0, 0), "redundancy did not fit");
        self.check_losses();
        let lost: Vec<u64> = self.host.device.lost().iter().flatten().collect();
        assert_eq!(self.host.read_all(), lost);
        let status = self.host.device.status(self.host.now);
        assert_eq!((status.state, status.progress, status.stripes_to_move), (State::Clean, None, 0));
        self.host.device.self_check().unwrap();
    }
}

/// `steps` commands over three seeds.
fn torture(config: &ArrayConfig, repair: &RepairConfig, steps: u32) {
    let (mut failed, mut repaired, mut cuts) = (0, 0, 0);
    for seed in 1..4 {
        let mut torture = Torture::new(config, repair, seed);
        for _ in 0..steps / 3 {
            torture.step();
            torture.check_losses();
        }
        torture.end();
        failed += torture.failed;
        cuts += torture.cuts;
        repaired += torture.host.device.repairs().iter().filter(|own| own.finished_at.is_some()).count();
    }
    assert!(
        failed >= 6 && repaired >= 3 && cuts >= 6,
        "{failed} dies failed, {repaired} repairs, {cuts} cuts"
    );
}

fn repair(scheme: RepairScheme, identifier: Identifier) -> RepairConfig {
    RepairConfig { scheme, identifier, bad_blocks: 4, ..RepairConfig::default() }
}

fn array(level: Level, members: u16, consistency: Consistency, way: RepairWay) -> ArrayConfig {
    let spares = u16::from(way != RepairWay::Die);
    let repair = ArrayRepair { way, range: Bytes::kib(256), ..ArrayRepair::default() };
    ArrayConfig { spares, repair, ..small(level, members, consistency) }
}

#[test]
fn raid5_of_drives_that_share_the_loss() {
    let config = array(Level::Raid5, 4, Consistency::Ppl, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lBlock), 6_000);
}

#[test]
fn raid5_of_drives_that_hand_data_over_themselves() {
    let config = array(Level::Raid5, 4, Consistency::Journal, RepairWay::Die);
    let own = repair(RepairScheme::Cooperative, Identifier::L2pAllCores);
    torture(&config, &RepairConfig { migration: Migration::Device, ..own }, 6_000);
}

#[test]
fn raid5_of_drives_whose_cores_are_on_their_own() {
    let config = array(Level::Raid5, 4, Consistency::Resync, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Isolated, Identifier::L2pOneCore), 6_000);
}

#[test]
fn raid6_with_dies_of_two_members_at_once() {
    let config = array(Level::Raid6, 5, Consistency::Ppl, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lPage), 6_000);
}

#[test]
fn raid5_with_rebuild_assist() {
    let config = array(Level::Raid5, 4, Consistency::Ppl, RepairWay::Assist);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lBlock), 4_500);
}

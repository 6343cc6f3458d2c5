//! Does content survive on arrays of real drives, with all that happens to them at once? Members fail and are exchanged, pages break within
//! drives, parity moves, and power fails at any moment; every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use outlast_array::{
    Array, ArrayConfig, BackgroundConfig, Consistency, EjectionConfig, EventKind, Level, LogConfig, LogPlace,
    ReplacementConfig, ShiftWay, State,
};
use outlast_device::{Command, Device, Op};
use outlast_ftl::FtlConfig;
use outlast_media::{Damage, DefectConfig, Fault, Geometry, HazardConfig, PageTimes, Timing};
use outlast_ssd::{ControllerConfig, Ssd, SsdConfig, WriteCache};
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};
use support::Host;

const BLOCKS: u32 = 24;
const PAGES: u32 = 16;
/// Sectors of a mapping unit: commands are aligned to it, as a file system's are.
const UNIT: u64 = 8;

/// A drive of 1 MiB that keeps its bytes.
fn drive(write_cache: WriteCache, seed: u64) -> Ssd {
    let config = SsdConfig {
        geometry: Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
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
        ftl: FtlConfig { capacity: Some(Bytes::mib(1)), spare_blocks: 6, ..FtlConfig::default() },
        controller: ControllerConfig {
            write_buffer: Bytes::kib(64),
            write_cache,
            ..ControllerConfig::default()
        },
        reliability: None,
        protection: None,
        absent_dies: Vec::new(),
        repair: None,
        scrub: None,
        hazards: HazardConfig::default(),
        model: "small".to_owned(),
        bytes: true,
    };
    Ssd::new(config, seed).unwrap()
}

fn mean_cycles(ssd: &Ssd) -> f64 {
    ssd.ftls().map(|ftl| ftl.blocks().mean_cycles()).sum::<f64>() / ssd.ftls().len() as f64
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
    cache: WriteCache,
    redundancy: usize,
    seed: u64,
    /// A page may have broken that no pass has looked at yet.
    broken: usize,
    failed: u32,
    exchanged: u32,
    pages: u32,
    cuts: u32,
    may_be_lost: bool,
}

impl Torture {
    fn new(config: &ArrayConfig, cache: WriteCache, seed: u64) -> Self {
        let drives = (0..u64::from(config.members)).map(|index| drive(cache, seed * 1000 + index)).collect();
        let array = Array::new(config.clone(), drives, true).unwrap().with_age(mean_cycles);
        Self {
            host: Host::new(array),
            rng: SplitMix::new(seed, "torture of drives"),
            cache,
            redundancy: usize::from(config.redundancy()),
            seed: seed * 1000 + 100,
            broken: 0,
            failed: 0,
            exchanged: 0,
            pages: 0,
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

    /// Whether redundancy can do without one thing more.
    fn has_slack(&self) -> bool {
        self.missing() + self.broken < self.redundancy
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
        // What a volatile buffer may forget the oracle would have to forgive.
        command.fua |= command.op == Op::Write && self.cache == WriteCache::Volatile;
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
        let what = self.rng.below(12);
        if what < 3 {
            // More may fail.
            self.make_whole();
        }
        match what {
            0 | 3 if self.has_slack() => {
                self.settle();
                self.host.device.fail_member(self.host.now, member).unwrap_or_default();
                self.failed += 1;
            }
            1 | 4 => self.replace(member),
            2 | 5 if self.has_slack() => {
                self.settle();
                self.break_page(member);
            }
            6..=9 => self.power_cut(),
            _ => {}
        }
    }

    /// A rest, in which whoever is missing is replaced, rebuilding ends, and every page is looked at.
    fn make_whole(&mut self) {
        for column in 0..self.members() {
            if self.host.device.member(column).is_none() {
                self.replace(column);
            }
        }
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        self.broken = 0;
    }

    fn break_page(&mut self, member: usize) {
        let (die, block, page) =
            (self.rng.below(2), self.rng.below(BLOCKS.into()), self.rng.below(PAGES.into()));
        let damage = Damage::Page { plane: 0, block: block as u32, page: page as u32 };
        let now = self.host.now;
        if let Some(drive) = self.host.device.member_mut(member) {
            drive.inject(now, Fault { die: die as u16, damage });
            self.pages += 1;
            self.broken += 1;
        }
    }

    fn replace(&mut self, member: usize) {
        let absent = (0..self.members()).find(|&column| self.host.device.member(column).is_none());
        if absent.is_none() {
            if !self.has_slack() {
                return;
            }
            self.settle();
            self.exchanged += 1;
        }
        self.seed += 1;
        let (now, column) = (self.host.now, absent.unwrap_or(member));
        self.host.device.replace(now, column, drive(self.cache, self.seed), false).unwrap();
    }

    fn power_cut(&mut self) {
        // Without records nothing may be missing: that is the write hole, and has tests of its own.
        if !self.has_records() && self.missing() + self.broken > 0 {
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
        for column in 0..self.members() {
            self.host.drain();
            if self.host.device.member(column).is_none() {
                self.replace(column);
            }
        }
        self.host.device.finish_shift(self.host.now);
        self.host.drain();
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

/// `steps` commands over three seeds; returns how often parity began to move.
fn torture(config: &ArrayConfig, cache: WriteCache, steps: u32) -> usize {
    let (mut done, mut shifts) = ([0; 4], 0);
    for seed in 1..4 {
        let mut torture = Torture::new(config, cache, seed);
        for _ in 0..steps / 3 {
            torture.step();
            torture.check_losses();
        }
        torture.end();
        let own = [torture.failed, torture.exchanged, torture.pages, torture.cuts];
        done.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        let events = torture.host.device.events().iter();
        shifts += events.filter(|event| matches!(event.kind, EventKind::ShiftStarted { .. })).count();
    }
    assert!(done.iter().all(|&count| count >= steps / 800), "failures, exchanges, pages, cuts: {done:?}");
    shifts
}

#[test]
fn raid5_with_a_partial_parity_log() {
    torture(&small(Level::Raid5, 4, Consistency::Ppl), WriteCache::Protected, 6_000);
}

/// The log makes every write durable, whatever the drives' buffers forget.
#[test]
fn raid5_with_a_partial_parity_log_and_volatile_buffers() {
    torture(&small(Level::Raid5, 4, Consistency::Ppl), WriteCache::Volatile, 4_500);
}

#[test]
fn raid6_with_a_journal() {
    torture(&small(Level::Raid6, 5, Consistency::Journal), WriteCache::Off, 6_000);
}

#[test]
fn raid6_with_a_bitmap_and_volatile_buffers() {
    torture(&small(Level::Raid6, 5, Consistency::Bitmap), WriteCache::Volatile, 6_000);
}

#[test]
fn raid5_with_resynchronisation() {
    torture(&small(Level::Raid5, 4, Consistency::Resync), WriteCache::Off, 6_000);
}

#[test]
fn mirrored_drives() {
    torture(&small(Level::Raid1, 3, Consistency::Bitmap), WriteCache::Volatile, 4_500);
}

/// Parity moves at exchanges, in each of the three ways.
#[test]
fn diff_raid() {
    for shift in [ShiftWay::Naive, ShiftWay::Minimal, ShiftWay::Lazy] {
        let config = ArrayConfig {
            parity_percent: Some(vec![70.0, 10.0, 10.0, 10.0]),
            replacement: ReplacementConfig { shift, limit_percent: None },
            ..small(Level::Raid5, 4, Consistency::Ppl)
        };
        let shifts = torture(&config, WriteCache::Protected, 4_500);
        assert!(shifts > 0, "{shift:?}: parity never moved");
    }
}

/// A rebuild that is over has reached flash: the array has noted that the member is whole.
#[test]
fn what_was_rebuilt_survives_a_loss_of_power() {
    for seed in 0..4 {
        let mut torture =
            Torture::new(&small(Level::Raid5, 4, Consistency::Resync), WriteCache::Volatile, seed);
        for _ in 0..300 {
            let next = torture.next();
            torture.host.submit(next);
            torture.host.drain();
        }
        torture.host.submit(support::command(Op::Flush, 0, 0));
        torture.host.drain();
        torture.host.device.replace(torture.host.now, 1, drive(torture.cache, 77 + seed), false).unwrap();
        while torture.missing() > 0 {
            torture.host.now = torture.host.device.next_deadline().unwrap();
            torture.host.device.advance(torture.host.now, &mut Vec::new());
        }
        torture.host.device.power_cut(torture.host.now);
        torture.host.device.power_on(torture.host.now, false).unwrap();
        torture.end();
    }
}

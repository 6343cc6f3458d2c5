//! Content survives failing dies beside everything else. Random work with bytes while members lose strided sectors, one after another
//! and together, fail as a whole and are replaced, and power fails; every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayHealth, PlainDevice, PlainFailure};
use outlast_decisions::{RepairDecision, RepairWay};
use outlast_device::{Device, NoticeKind};
use outlast_settings::array::{
    ArrayConfig, Consistency, FakeWay, Level, PlainConfig, RepairConfig, RepairOrder, ShiftWay, StripeWrites,
};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use support::Host;
use support::life::WAYS;
use support::policies::{decided, paced};
use support::settings::{ArraySettings, array_of, by};

const SECTORS: u64 = 400;

fn config(level: Level, members: u16, repair: RepairConfig) -> ArrayConfig {
    let consistency = if level == Level::Raid10 { Consistency::Bitmap } else { Consistency::Ppl };
    let config = array_of(level, members).with_consistency(consistency).with_small_log(Bytes::kib(32));
    let config = config.with_rates(Some(60_000_000), None).with_window(6).with_repair(repair).with_spares(1);
    // Lower than what a die costs in read errors: whoever is thrown out for these is noticed.
    config.with_read_errors(30)
}

fn device(seed: u64) -> PlainDevice {
    let config = PlainConfig {
        read_latency: Nanos::micros(40 + seed % 7),
        write_latency: Nanos::micros(70 + seed % 5),
        status_latency: Nanos::micros(150 + seed % 11 * 30),
        lanes: 4,
        bytes: true,
        endurance: Some(100),
        ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
    };
    PlainDevice::new(config, seed).unwrap()
}

#[derive(Default, Debug)]
struct Seen {
    dies: u32,
    together: u32,
    during: u32,
    failed: u32,
    replaced: u32,
    cuts: u32,
    resumed: u32,
    repaired: u32,
}

struct Torture {
    host: Host<Array<PlainDevice>>,
    rng: SplitMix,
    redundancy: usize,
    seed: u64,
    die: u16,
    seen: Seen,
    may_be_lost: bool,
}

impl Torture {
    fn new(config: &ArrayConfig, seed: u64) -> Self {
        let devices = (0..u64::from(config.devices())).map(device).collect();
        Self {
            host: Host::new(Array::new(config.clone(), devices, true).unwrap()),
            rng: SplitMix::new(seed, "repair torture"),
            redundancy: usize::from(config.redundancy()),
            seed: 100 + 1000 * seed,
            die: 0,
            seen: Seen::default(),
            may_be_lost: false,
        }
    }

    fn members(&self) -> usize {
        usize::from(self.host.device.config().members)
    }

    /// Members other than `own` that cannot give sector `sector`: copies of it, and what parity covers it with, lie at the same place.
    fn lacking(&self, own: usize, sector: u64) -> usize {
        let status = self.host.device.status(self.host.now);
        // Those that are to be rebuilt as a whole will be missing as a whole.
        let leaves = |column: usize| {
            let mut repairs =
                self.host.device.repairs().iter().filter(|repair| repair.member.index() == column);
            repairs.any(|repair| repair.way == RepairWay::Rebuild && repair.finished_at.is_none())
        };
        let lacks = |column: &usize| {
            let device = self.host.device.member(*column);
            let gone = !status.members[*column].in_sync || leaves(*column);
            gone || device.is_none_or(|device| device.is_unreadable(sector))
        };
        (0..self.members()).filter(|&column| column != own).filter(lacks).count()
    }

    fn worst(&self, own: usize) -> usize {
        (0..SECTORS).map(|sector| self.lacking(own, sector)).max().unwrap_or(0)
    }

    fn under_way(&self) -> bool {
        self.host.device.repairs().iter().any(|repair| repair.finished_at.is_none())
    }

    fn step(&mut self) {
        while self.host.in_flight() >= 24 {
            assert!(self.host.step(), "the host waits for ever");
        }
        let next = self.host.random(&mut self.rng, 100);
        self.host.submit(next);
        if self.rng.below(30) == 0 {
            self.fault();
        }
    }

    fn fault(&mut self) {
        let member = self.rng.below(self.members() as u64) as usize;
        match self.rng.below(9) {
            0..4 => self.fail_die(member),
            4 if self.worst(member) < self.redundancy => {
                let under_way = self.under_way();
                if self.host.device.fail_member(self.host.now, member).is_ok() {
                    self.seen.failed += 1;
                    self.seen.during += u32::from(under_way);
                }
            }
            5 => self.replace(),
            6 => self.power_cut(),
            7 => self.host.device.start_scrub(self.host.now, true),
            // A rest, in which recovery ends and more may fail.
            _ => self.host.drain(),
        }
        self.host.device.self_check().unwrap();
    }

    /// A die fails that holds every so many sectors; of those, the ones that redundancy can still make good.
    fn fail_die(&mut self, member: usize) {
        let (run, stride) = (1 + self.rng.below(6), 16 + self.rng.below(30));
        let first = self.rng.below(stride);
        let held = (0..SECTORS).filter(|sector| (sector + stride - first) % stride < run);
        let held: Vec<u64> = held.filter(|&sector| self.lacking(member, sector) < self.redundancy).collect();
        if held.is_empty() || self.host.device.member(member).is_none() {
            return;
        }
        self.seen.together += u32::from(self.under_way());
        let fake = (0..SECTORS).filter(|sector| sector % 61 == first && !held.contains(sector)).collect();
        self.die += 1;
        let die = self.die;
        let notice = match self.rng.below(12) {
            0 => NoticeKind::BeyondRepair { die },
            1 => NoticeKind::LastRepair { die },
            _ => NoticeKind::DieFailed { die },
        };
        let mut failure = Some(PlainFailure { at: self.host.now, notice, lost: held, fake });
        self.host.device.with_devices(|index, device| {
            if index == member {
                failure.take().into_iter().for_each(|failure| device.plan_failure(failure));
            }
        });
        self.seen.dies += 1;
        // It takes place before anything else fails.
        let mut completions = Vec::new();
        self.host.device.advance(self.host.now, &mut completions);
        self.host.accept(completions);
    }

    fn replace(&mut self) {
        self.seed += 1;
        let status = self.host.device.status(self.host.now);
        if let Some(column) = status.members.iter().position(|member| !member.present) {
            self.host.device.replace(self.host.now, column, device(self.seed), false).unwrap();
            self.seen.replaced += 1;
        } else if status.spares == 0 {
            self.host.device.add_spare(self.host.now, device(self.seed)).unwrap();
        }
    }

    fn power_cut(&mut self) {
        // Without records a member must not be missing: that is the write hole, and has a test of its own.
        let config = self.host.device.config();
        let status = self.host.device.status(self.host.now);
        if config.consistency == Consistency::Bitmap && status.members.iter().any(|member| !member.in_sync) {
            return;
        }
        let now = self.host.now + Nanos(self.rng.below(200_000));
        self.host.device.power_cut(now);
        self.host.now = now;
        self.host.forget_in_flight();
        self.host.device.power_on(now, false).unwrap();
        self.seen.cuts += 1;
    }

    /// Only sectors that were being written when power failed may be lost, and only lost sectors cannot be read.
    fn check_losses(&mut self) {
        let lost = self.host.device.lost().clone();
        for sector in lost.iter().flatten() {
            assert!(self.host.is_doubtful(sector), "sector {sector} is lost");
        }
        for (lba, sectors) in std::mem::take(&mut self.host.errors) {
            let range = lba..lba + u64::from(sectors);
            assert!(self.may_be_lost || lost.overlaps(&range), "a read of {range:?} failed");
        }
        self.may_be_lost = !lost.is_empty() || self.may_be_lost && self.host.in_flight() > 0;
    }

    /// Everything made whole: no repair left, no error, no mismatch, nothing lost.
    fn end(&mut self) {
        self.host.device.finish_shift(self.host.now);
        for _ in 0..3 * self.members() {
            self.host.drain();
            self.replace();
        }
        self.host.drain();
        for repair in self.host.device.repairs() {
            assert!(repair.finished_at.is_some(), "{repair:?}");
            self.seen.resumed += repair.resumed;
            self.seen.repaired += u32::from(!repair.abandoned);
        }
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        let before = self.host.device.counters();
        self.host.device.start_scrub(self.host.now, false);
        self.host.drain();
        let after = self.host.device.counters();
        assert_eq!(before.mismatches, 0, "a scrub found redundancy that did not fit");
        assert_eq!(after.mismatches, 0, "redundancy does not fit");
        assert_eq!(after.read_errors, before.read_errors, "unreadable sectors are left");
        assert_eq!(after.ejected, 0, "a member was thrown out");
        self.check_losses();
        let lost: Vec<u64> = self.host.device.lost().iter().flatten().collect();
        assert_eq!(self.host.read_all(), lost);
        let status = self.host.device.status(self.host.now);
        assert_eq!((status.state, status.progress), (ArrayHealth::Clean, None), "{status}");
        self.host.device.self_check().unwrap();
    }
}

/// Six thousand commands with four seeds.
fn torture(config: &ArrayConfig) {
    let mut all = Seen::default();
    for seed in 0..4 {
        let mut torture = Torture::new(config, seed);
        for _ in 0..1500 {
            torture.step();
            torture.check_losses();
            assert_eq!(torture.host.refused, 0, "a write was refused");
        }
        torture.end();
        let seen = torture.seen;
        all = Seen {
            dies: all.dies + seen.dies,
            together: all.together + seen.together,
            during: all.during + seen.during,
            failed: all.failed + seen.failed,
            replaced: all.replaced + seen.replaced,
            cuts: all.cuts + seen.cuts,
            resumed: all.resumed + seen.resumed,
            repaired: all.repaired + seen.repaired,
        };
    }
    assert!(all.dies >= 20 && all.together >= 4 && all.repaired >= 10, "{all:?}");
    assert!(all.cuts >= 4 && all.failed >= 2 && all.replaced >= 1, "{all:?}");
    // A member that is being replaced must not be missing when power fails, without records.
    assert!(all.resumed >= 1 || config.consistency == Consistency::Bitmap, "{all:?}");
    assert!(all.during >= 1 || config.repair.way != RepairWay::Die, "{all:?}");
}

#[test]
fn raid5_by_die() {
    torture(&config(Level::Raid5, 5, by(RepairWay::Die)));
}

#[test]
fn raid5_by_die_with_ranges_ahead_and_copies_of_fakes() {
    let repair = RepairConfig { queries: 3, fakes: FakeWay::Copy, ..by(RepairWay::Die) };
    torture(&config(Level::Raid5, 4, repair));
}

#[test]
fn raid6_by_die() {
    torture(&config(Level::Raid6, 5, by(RepairWay::Die)));
    let repair = RepairConfig { order: RepairOrder::Exposure, queries: 2, ..by(RepairWay::Die) };
    torture(&config(Level::Raid6, 6, repair));
}

#[test]
fn raid10_by_die() {
    torture(&config(Level::Raid10, 4, by(RepairWay::Die)));
}

#[test]
fn raid5_by_assist() {
    torture(&config(Level::Raid5, 5, by(RepairWay::Assist)));
}

#[test]
fn raid6_by_assist() {
    torture(&config(Level::Raid6, 5, RepairConfig { queries: 2, ..by(RepairWay::Assist) }));
}

#[test]
fn raid10_by_assist() {
    torture(&config(Level::Raid10, 4, by(RepairWay::Assist)));
}

#[test]
fn raid5_by_rebuild() {
    torture(&config(Level::Raid5, 5, by(RepairWay::Rebuild)));
}

#[test]
fn raid6_by_rebuild() {
    torture(&config(Level::Raid6, 5, by(RepairWay::Rebuild)));
}

/// Code that says a different way for each die, mostly later, and a different pace each time.
#[test]
fn repairs_deferred_by_user_code() {
    for (level, members) in [(Level::Raid5, 5), (Level::Raid6, 5), (Level::Raid10, 4)] {
        // What is put off counts as about to leave, as far as it matters which further faults are borne.
        let config = config(level, members, by(RepairWay::Rebuild));
        let (config, failures) = decided(&config, |failure, _| {
            let way = WAYS[usize::from(failure.die) % 3];
            let later = RepairDecision::Later(Nanos::micros(400 + 700 * u64::from(failure.die % 5)));
            let decides = failure.asked >= u32::from(failure.die % 4);
            Ok(Some(if decides { RepairDecision::Now(way) } else { later }))
        });
        let (mut config, paces) = paced(&config, |pace, had| {
            let rate = [2e6, 50e6, 1e9, 1.0][had as usize % 4];
            Ok((pace.under_way % 7 != 3).then_some(rate))
        });
        config.background.own = Some(Nanos::micros(150));
        torture(&config);
        assert!(failures.lock().unwrap().iter().any(|failure| failure.asked == 3));
        assert!(paces.lock().unwrap().len() > 100);
    }
}

/// Parity moves to the oldest members at every replacement, in each of the three ways, while dies fail.
#[test]
fn parity_moves_meanwhile() {
    for shift in [ShiftWay::Naive, ShiftWay::Minimal, ShiftWay::Lazy] {
        for way in [RepairWay::Die, RepairWay::Assist] {
            let config = config(Level::Raid5, 5, by(way)).with_writes(StripeWrites::NoReconstruct);
            torture(&config.with_parity_percent(&[60.0, 10.0, 10.0, 10.0, 10.0], shift));
        }
    }
}

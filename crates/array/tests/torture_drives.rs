//! Content survives on arrays of real drives, with everything that happens to them at once. Members fail and are exchanged, pages break within
//! drives, parity moves, and power fails at any moment; every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayEventKind};
use outlast_device::{Device, Op};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::array::{ArrayConfig, Consistency, Level, ShiftWay};
use outlast_settings::drive::WriteCache;
use outlast_ssd::Ssd;
use outlast_units::Bytes;
use support::drives::{self, Trial};
use support::settings::ArraySettings;

const BLOCKS: u32 = 24;
const PAGES: u32 = 16;

/// A drive of 1 MiB that keeps its bytes.
fn drive(write_cache: WriteCache, seed: u64) -> Ssd {
    let mut config = drives::drive([2, 1, 1], BLOCKS, PAGES, Bytes::mib(1), Bytes::kib(64));
    config.ftl.spare_blocks = 6;
    config.controller.write_cache = write_cache;
    Ssd::new(config, seed).unwrap()
}

fn mean_cycles(ssd: &Ssd) -> f64 {
    ssd.ftls().map(|ftl| ftl.space().blocks().mean_cycles()).sum::<f64>() / ssd.ftls().len() as f64
}

struct Torture {
    trial: Trial,
    cache: WriteCache,
    redundancy: usize,
    seed: u64,
    /// A page may have broken that no pass has looked at yet.
    broken: usize,
    failed: u32,
    exchanged: u32,
    pages: u32,
}

impl Torture {
    fn new(config: &ArrayConfig, cache: WriteCache, seed: u64) -> Self {
        let drives = (0..u64::from(config.members)).map(|index| drive(cache, seed * 1000 + index)).collect();
        let array = Array::new(config.clone(), drives, true).unwrap().with_age(mean_cycles);
        let mut trial = Trial::new(array, seed);
        // Records make writes durable; without them a volatile buffer keeps what it was told to.
        trial.host.forgetful = cache == WriteCache::Volatile && !trial.has_records();
        Self {
            trial,
            cache,
            redundancy: usize::from(config.redundancy()),
            seed: seed * 1000 + 100,
            broken: 0,
            failed: 0,
            exchanged: 0,
            pages: 0,
        }
    }

    /// True if redundancy covers one more failure.
    fn has_slack(&self) -> bool {
        self.trial.missing() + self.broken < self.redundancy
    }

    fn step(&mut self) {
        let next = self.trial.next();
        self.trial.work(next);
        if self.trial.rng.below(15) == 0 {
            self.fault();
            self.trial.host.device.self_check().unwrap();
        }
    }

    fn fault(&mut self) {
        let member = self.trial.rng.below(self.trial.members() as u64) as usize;
        let what = self.trial.rng.below(12);
        if what < 3 {
            // More may fail.
            self.make_whole();
        }
        match what {
            0 | 3 if self.has_slack() => {
                self.trial.settle();
                self.trial.host.device.fail_member(self.trial.host.now, member).unwrap_or_default();
                self.failed += 1;
            }
            1 | 4 => self.replace(member),
            2 | 5 if self.has_slack() => {
                self.trial.settle();
                self.break_page(member);
            }
            6..=9 => self.power_cut(),
            _ => {}
        }
    }

    /// A rest, in which whoever is missing is replaced, rebuilding ends, and every page is looked at.
    fn make_whole(&mut self) {
        for column in 0..self.trial.members() {
            if self.trial.host.device.member(column).is_none() {
                self.replace(column);
            }
        }
        self.trial.host.device.start_scrub(self.trial.host.now, true);
        self.trial.host.drain();
        self.broken = 0;
    }

    fn break_page(&mut self, member: usize) {
        let (die, block, page) = (
            self.trial.rng.below(2),
            self.trial.rng.below(BLOCKS.into()),
            self.trial.rng.below(PAGES.into()),
        );
        let damage = DieDamage::Page { plane: 0, block: block as u32, page: page as u32 };
        let now = self.trial.host.now;
        if let Some(drive) = self.trial.host.device.member_mut(member) {
            drive.inject(now, DriveFault { die: die as u16, damage });
            self.pages += 1;
            self.broken += 1;
        }
    }

    fn replace(&mut self, member: usize) {
        let absent =
            (0..self.trial.members()).find(|&column| self.trial.host.device.member(column).is_none());
        if absent.is_none() {
            if !self.has_slack() {
                return;
            }
            self.trial.settle();
            self.exchanged += 1;
        }
        self.seed += 1;
        let (now, column) = (self.trial.host.now, absent.unwrap_or(member));
        self.trial.host.device.replace(now, column, drive(self.cache, self.seed), false).unwrap();
    }

    fn power_cut(&mut self) {
        // Without records nothing may be missing: that is the write hole, and has tests of its own.
        if !self.trial.has_records() && self.trial.missing() + self.broken > 0 {
            self.make_whole();
            for _ in 0..8 {
                let next = self.trial.next();
                self.trial.host.submit(next);
            }
        }
        self.trial.cut();
    }

    /// Everything made whole: no error, no mismatch, nothing lost.
    fn end(&mut self) {
        for column in 0..self.trial.members() {
            self.trial.host.drain();
            if self.trial.host.device.member(column).is_none() {
                self.replace(column);
            }
        }
        self.trial.host.device.finish_shift(self.trial.host.now);
        self.trial.host.drain();
        self.trial.reckon();
    }
}

/// `steps` commands over three seeds; returns how often parity began to move.
fn torture(config: &ArrayConfig, cache: WriteCache, steps: u32) -> usize {
    let (mut done, mut shifts) = ([0; 4], 0);
    for seed in 1..4 {
        let mut torture = Torture::new(config, cache, seed);
        for _ in 0..steps / 3 {
            torture.step();
            torture.trial.check_losses();
        }
        torture.end();
        let own = [torture.failed, torture.exchanged, torture.pages, torture.trial.cuts];
        done.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        let events = torture.trial.host.device.events().iter();
        shifts += events.filter(|event| matches!(event.kind, ArrayEventKind::ShiftStarted { .. })).count();
    }
    assert!(done.iter().all(|&count| count >= steps / 800), "failures, exchanges, pages, cuts: {done:?}");
    shifts
}

#[test]
fn raid5_with_a_partial_parity_log() {
    torture(&drives::small(Level::Raid5, 4, Consistency::Ppl), WriteCache::Protected, 6_000);
}

/// The log makes every write durable, whatever the drives' buffers forget.
#[test]
fn raid5_with_a_partial_parity_log_and_volatile_buffers() {
    torture(&drives::small(Level::Raid5, 4, Consistency::Ppl), WriteCache::Volatile, 4_500);
}

#[test]
fn raid6_with_a_journal_and_volatile_buffers() {
    torture(&drives::small(Level::Raid6, 5, Consistency::Journal), WriteCache::Volatile, 4_500);
}

#[test]
fn raid5_with_resynchronisation_and_volatile_buffers() {
    torture(&drives::small(Level::Raid5, 4, Consistency::Resync), WriteCache::Volatile, 4_500);
}

#[test]
fn raid6_with_a_journal() {
    torture(&drives::small(Level::Raid6, 5, Consistency::Journal), WriteCache::Off, 6_000);
}

#[test]
fn raid6_with_a_bitmap_and_volatile_buffers() {
    torture(&drives::small(Level::Raid6, 5, Consistency::Bitmap), WriteCache::Volatile, 6_000);
}

#[test]
fn raid5_with_resynchronisation() {
    torture(&drives::small(Level::Raid5, 4, Consistency::Resync), WriteCache::Off, 6_000);
}

#[test]
fn mirrored_drives() {
    torture(&drives::small(Level::Raid1, 3, Consistency::Bitmap), WriteCache::Volatile, 4_500);
}

/// Parity moves at exchanges, in each of the three ways.
#[test]
fn diff_raid() {
    for shift in [ShiftWay::Naive, ShiftWay::Minimal, ShiftWay::Lazy] {
        let config = drives::small(Level::Raid5, 4, Consistency::Ppl);
        let config = config.with_parity_percent(&[70.0, 10.0, 10.0, 10.0], shift);
        let shifts = torture(&config, WriteCache::Protected, 4_500);
        assert!(shifts > 0, "{shift:?}: parity never moved");
    }
}

/// A rebuild that is over has reached flash: the array has noted that the member is whole.
#[test]
fn what_was_rebuilt_survives_a_loss_of_power() {
    for seed in 0..4 {
        let mut torture =
            Torture::new(&drives::small(Level::Raid5, 4, Consistency::Resync), WriteCache::Volatile, seed);
        for _ in 0..300 {
            let next = torture.trial.next();
            torture.trial.host.submit(next);
            torture.trial.host.drain();
        }
        torture.trial.host.submit(support::command(Op::Flush, 0, 0));
        torture.trial.host.drain();
        torture
            .trial
            .host
            .device
            .replace(torture.trial.host.now, 1, drive(torture.cache, 77 + seed), false)
            .unwrap();
        while torture.trial.missing() > 0 {
            torture.trial.host.now = torture.trial.host.device.next_deadline().unwrap();
            torture.trial.host.device.advance(torture.trial.host.now, &mut Vec::new());
        }
        torture.trial.host.device.power_cut(torture.trial.host.now);
        torture.trial.host.device.power_on(torture.trial.host.now, false).unwrap();
        torture.end();
    }
}

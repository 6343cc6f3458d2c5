//! Every byte is right on an array of real drives whose members fail, whose flash breaks, and which are replaced.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayEventKind};
use outlast_device::{Completion, Device, Op, Outcome, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::array::{ArrayConfig, Level, ShiftWay};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use support::settings::{ArraySettings, array_of};
use support::{command, drives};

const SECTOR: usize = SECTOR_BYTES as usize;
const BLOCKS: u32 = 28;

/// A drive of 2 MiB that keeps its bytes.
fn drive(seed: u64) -> Ssd {
    let mut config = drives::drive([2, 1, 1], BLOCKS, 16, Bytes::mib(2), Bytes::kib(64));
    config.ftl.spare_blocks = 6;
    Ssd::new(config, seed).unwrap()
}

struct Stand {
    array: Array<Ssd>,
    /// Expected content of every sector.
    truth: Vec<u8>,
    rng: SplitMix,
    now: Nanos,
    made: u64,
    /// Pages broken, members failed, members exchanged.
    done: [u32; 3],
}

impl Stand {
    fn new(config: ArrayConfig, seed: u64) -> Self {
        let members = u64::from(config.members);
        let drives = (0..members).map(|index| drive(seed * 100 + index)).collect();
        let array = Array::new(config, drives, true).unwrap();
        let truth = vec![0; array.identify().capacity.0 as usize];
        let rng = SplitMix::new(seed, "drives");
        Self { array, truth, rng, now: Nanos::ZERO, made: seed * 100 + members, done: [0; 3] }
    }

    /// Carries out one command, and all that has begun before; returns its data.
    fn run(&mut self, op: Op, lba: u64, sectors: u32, data: &[u8]) -> (Outcome, Vec<u8>) {
        self.array.submit_data(self.now, command(op, lba, sectors), Tag(0), data);
        let mut completions: Vec<Completion> = Vec::new();
        while completions.is_empty() {
            self.now = self.array.advance_to_completion(Nanos::MAX, &mut completions);
        }
        (completions[0].outcome, self.array.take_data(Tag(0)).unwrap_or_default())
    }

    fn step(&mut self) {
        let sectors = self.truth.len() as u64 / SECTOR_BYTES;
        let count = 8 * (1 + self.rng.below(12)) as u32;
        let lba = self.rng.below((sectors - u64::from(count)) / 8) * 8;
        let range = lba as usize * SECTOR..(lba as usize + count as usize) * SECTOR;
        if self.rng.below(2) == 0 {
            let fill = self.rng.next_u64() as u8;
            let data: Vec<u8> = (0..range.len()).map(|at| fill ^ (at / SECTOR) as u8).collect();
            assert_eq!(self.run(Op::Write, lba, count, &data).0, Outcome::Ok);
            self.truth[range].copy_from_slice(&data);
        } else {
            let (outcome, data) = self.run(Op::Read, lba, count, &[]);
            assert_eq!(outcome, Outcome::Ok);
            assert!(data == self.truth[range], "a read at sector {lba} returned what was not written");
        }
        let whole = self.array.status(self.now).members.iter().all(|member| member.in_sync);
        let member = self.rng.below(self.array.config().members.into()) as usize;
        match self.rng.below(1500) {
            // With every member whole one page may be unreadable; the next pass finds it.
            0..5 if whole => {
                let (die, block, page) =
                    (self.rng.below(2), self.rng.below(BLOCKS.into()), self.rng.below(16));
                let damage = DieDamage::Page { plane: 0, block: block as u32, page: page as u32 };
                self.array
                    .member_mut(member)
                    .unwrap()
                    .inject(self.now, DriveFault { die: die as u16, damage });
                self.array.start_scrub(self.now, true);
                self.settle();
                self.done[0] += 1;
            }
            20..23 if whole => {
                self.array.fail_member(self.now, member).unwrap();
                self.done[1] += 1;
            }
            23..26 if whole => {
                self.made += 1;
                self.array.replace(self.now, member, drive(self.made), false).unwrap();
                self.done[2] += 1;
            }
            26..60 if !whole => {
                let missing = (0..usize::from(self.array.config().members))
                    .find(|&column| self.array.member(column).is_none());
                if let Some(column) = missing {
                    self.made += 1;
                    self.array.replace(self.now, column, drive(self.made), false).unwrap();
                }
            }
            _ => {}
        }
    }

    /// Lets everything that has begun come to its end.
    fn settle(&mut self) {
        let mut completions = Vec::new();
        while let Some(at) = self.array.next_deadline() {
            self.now = at;
            self.array.advance(at, &mut completions);
        }
    }
}

fn stand(config: ArrayConfig, steps: u32) {
    let config = config.with_chunk(Bytes::kib(16)).unpaced();
    let mut done = [0; 3];
    for seed in 1..4 {
        let mut stand = Stand::new(config.clone(), seed);
        for _ in 0..steps {
            stand.step();
        }
        stand.settle();
        let missing: Vec<usize> =
            (0..usize::from(config.members)).filter(|&column| stand.array.member(column).is_none()).collect();
        for column in missing {
            stand.made += 1;
            stand.array.replace(stand.now, column, drive(stand.made), false).unwrap();
        }
        stand.settle();
        stand.array.start_scrub(stand.now, false);
        stand.settle();
        let last = stand.array.events().last().unwrap().kind.clone();
        assert_eq!(last, ArrayEventKind::Scrubbed { mismatches: 0 });
        assert!(stand.array.lost().is_empty(), "nothing is lost");
        stand.array.self_check().unwrap();
        done.iter_mut().zip(stand.done).for_each(|(sum, own)| *sum += own);
    }
    assert!(done.iter().all(|&count| count > 0), "pages, failures, exchanges: {done:?}");
}

#[test]
fn raid5_of_drives() {
    stand(array_of(Level::Raid5, 4), 3000);
}

#[test]
fn raid6_of_drives() {
    stand(array_of(Level::Raid6, 5), 2000);
}

#[test]
fn mirrored_drives() {
    stand(array_of(Level::Raid10, 4), 2000);
}

/// Parity by percentages: every exchange moves parity to the oldest.
#[test]
fn diff_raid_of_drives() {
    let percent = [70.0, 10.0, 10.0, 10.0];
    stand(array_of(Level::Raid5, 4).with_parity_percent(&percent, ShiftWay::Minimal), 3000);
}

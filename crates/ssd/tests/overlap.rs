//! Collection that reads the next victim while the last one is erased: host writes never come to a stop, and wait less.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_settings::drive::SsdConfig;
use outlast_settings::ftl::{VictimPolicy, WearLeveling};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use support::pacing::{Paced, pacings};
use support::tiny;

/// A host that keeps `depth` writes of a random unit under way.
struct Host {
    ssd: Ssd,
    rng: SplitMix,
    now: Nanos,
    free: Vec<Tag>,
    written: u64,
    longest: Nanos,
}

impl Host {
    /// Of a drive that has been filled, and written over at random without time until every superblock was collected a few times.
    fn new(config: &SsdConfig, seed: u64, depth: u32) -> Self {
        let mut ssd = Ssd::new(config.clone(), seed).unwrap();
        let mut rng = SplitMix::new(seed, "writes");
        let units = ssd.units();
        (0..units).for_each(|unit| ssd.write_unit_untimed(unit, 0).unwrap());
        (0..4 * units).for_each(|_| ssd.write_unit_untimed(rng.below(units), 0).unwrap());
        ssd.begin_timed();
        ssd.reset_counters(Nanos::ZERO);
        let free = (0..depth).map(Tag).collect();
        Self { ssd, rng, now: Nanos::ZERO, free, written: 0, longest: Nanos::ZERO }
    }

    /// Goes on until at least one more write has ended; notes how long that took.
    fn write(&mut self) {
        let units = self.ssd.units();
        for tag in self.free.drain(..) {
            let lba = Lba(8 * self.rng.below(units));
            self.ssd.submit(self.now, Command::new(Op::Write, lba, 8), tag);
        }
        let mut ended = Vec::new();
        let now = self.ssd.advance_to_completion(Nanos::MAX, &mut ended);
        assert!(!ended.is_empty(), "writes are under way, and nothing happens any more");
        assert!(ended.iter().all(|end| end.outcome == Outcome::Ok));
        self.longest = self.longest.max(now - self.now);
        self.now = now;
        self.written += ended.len() as u64;
        self.free.extend(ended.iter().map(|end| end.tag));
    }
}

/// Four dies, whose superblocks of 512 units take as long to erase as to write a tenth of them.
fn erases_slowly(overlap: bool) -> SsdConfig {
    let mut config = tiny();
    config.geometry.pages_per_block = 64;
    config.geometry.blocks_per_plane = 96;
    config.timing.erase = Nanos::millis(10);
    config.ftl.capacity = Some(Bytes(75 * 512 * 4096));
    config.ftl.gc.overlap = overlap;
    config.controller.write_buffer = Bytes::mib(1);
    config
}

/// Where all dies erase a victim at once nothing is moved meanwhile, and a host that writes as fast as it may has used up what was kept back for that time: it waits for nearly
/// all of the erasure. Where they do one after the other, with the next victim under way, three of four dies move what lets it in.
#[test]
fn a_host_does_not_wait_for_an_erasure() {
    let [at_once, beside] = [false, true].map(|overlap| {
        let mut host = Host::new(&erases_slowly(overlap), 1, 32);
        while host.ssd.victims().0 < 200 {
            host.write();
        }
        host.ssd.self_check().unwrap();
        host.longest
    });
    assert!(at_once >= Nanos::millis(8) && beside < Nanos::millis(4), "{at_once} at once, {beside} beside");
}

/// A random small drive with collection that overlaps.
#[derive(Clone, Debug)]
struct Drive {
    channels: u16,
    dies: u16,
    planes: u16,
    pages: u32,
    one_shot: u8,
    blocks: u32,
    spare: f64,
    policy: VictimPolicy,
    buffer: u64,
    erase: u64,
    gap: Option<u32>,
    paced: Paced,
}

impl Drive {
    fn config(&self) -> SsdConfig {
        let mut config = tiny();
        config.geometry.channels = self.channels;
        config.geometry.dies_per_chip = self.dies;
        config.geometry.planes_per_die = self.planes;
        config.geometry.pages_per_block = self.pages;
        config.geometry.blocks_per_plane = self.blocks;
        config.timing.erase = Nanos::micros(self.erase);
        let raw = config.geometry.raw_capacity().0;
        config.ftl.capacity = Some(Bytes((raw as f64 / (1.0 + self.spare)) as u64 / 4096 * 4096));
        // Streams' open superblocks and those held back.
        config.geometry.blocks_per_plane += 9;
        config.ftl.one_shot = self.one_shot;
        config.ftl.gc.policy = self.policy;
        config.ftl.wear_leveling = WearLeveling { static_gap: self.gap, ..WearLeveling::default() };
        config.controller.write_buffer =
            Bytes::kib(4 * (1 + u64::from(self.planes) * u64::from(self.one_shot) + self.buffer));
        self.paced.set(&mut config);
        config
    }
}

fn drives() -> impl Strategy<Value = Drive> {
    let shape = (
        1u16..=2,
        1u16..=4,
        1u16..=2,
        prop::sample::select(vec![6u32, 12, 24]),
        prop::sample::select(vec![1u8, 3]),
    );
    let size = (12u32..40, 0.02f64..0.5, 0u64..200, prop::sample::select(vec![100u64, 3_500, 30_000]));
    let policy = prop::sample::select(VictimPolicy::ALL.to_vec());
    (shape, size, policy, prop::option::of(2u32..6), pacings()).prop_map(
        |((channels, dies, planes, pages, one_shot), (blocks, spare, buffer, erase), policy, gap, paced)| {
            Drive {
                channels,
                dies,
                planes,
                pages,
                one_shot,
                blocks,
                spare,
                policy,
                buffer,
                erase,
                gap,
                paced,
            }
        },
    )
}

/// A host that always wants to write to `drive` can: between two of its writes no more passes than it takes to move and erase all superblocks
/// from beginning to end, one program unit after the other.
fn goes_on(drive: &Drive, seed: u64, depth: u32) -> Result<(), TestCaseError> {
    let config = drive.config();
    let mut host = Host::new(&config, seed, depth);
    let slots = u64::from(config.geometry.pages_per_block) * u64::from(drive.planes);
    let dies = u64::from(drive.channels) * u64::from(drive.dies);
    // Reading, sending and programming each slot of a superblock by itself, and erasing one die after the other.
    let one = slots * dies * (60_000 + 700_000 + 20_000) + dies * (drive.erase * 1000 + 10_000);
    let superblocks = u64::from(config.geometry.blocks_per_plane);
    let mut looked = 0;
    while host.written < 3 * slots * dies * superblocks {
        host.write();
        prop_assert!(host.longest.0 <= superblocks * one, "{} without a write", host.longest);
        looked += 1;
        if looked % 64 == 0 {
            let checked = host.ssd.self_check();
            prop_assert!(checked.is_ok(), "{checked:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the drive and however it is paced.
    #[test]
    fn host_writes_never_come_to_a_stop(drive in drives(), seed: u64, depth in 1u32..48) {
        let paced = drive.paced.overlapping();
        goes_on(&Drive { paced, ..drive }, seed, depth)?;
    }

    /// Also where what is moved takes room from the host's own superblock.
    #[test]
    fn host_writes_go_on_beside_relocated_data(drive in drives(), seed: u64, depth in 1u32..48) {
        let paced = drive.paced.mixed();
        goes_on(&Drive { paced, ..drive }, seed, depth)?;
    }
}

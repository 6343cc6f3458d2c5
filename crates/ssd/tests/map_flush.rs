//! What do flushes of the mapping table do to a drive? They occupy its dies, take space that is collected again, count by themselves, and go
//! on after whatever befalls the drive.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, PowerCycle, Tag};
use outlast_ftl::ProgramCause;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::{MapFlushConfig, Pacing, ProtectionConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use support::{command, tiny};

/// Pages of 4 KiB with entries of 64 bytes: 64 units of the drive's 600 each.
const PAGES: u64 = 10;

fn flushing(interval: Option<Nanos>, written: Option<Bytes>) -> SsdConfig {
    let mut config = tiny();
    config.bytes = true;
    config.ftl.map_flush =
        Some(MapFlushConfig { interval, written, entry: Bytes(64), ..MapFlushConfig::default() });
    config
}

fn drain(ssd: &mut Ssd) {
    let mut completions = Vec::new();
    while !ssd.is_idle() {
        let at = ssd.next_deadline().unwrap();
        ssd.advance(at, &mut completions);
    }
}

fn write(ssd: &mut Ssd, now: Nanos, unit: u64, tag: u64) {
    ssd.submit_data(now, command(Op::Write, unit * 8, 8), Tag(tag as u32), &[unit as u8; 4096]);
}

#[test]
fn a_flush_by_time_writes_the_pages_that_are_dirty_and_takes_time_on_dies() {
    let mut ssd = Ssd::new(flushing(Some(Nanos::millis(10)), None), 1).unwrap();
    ssd.begin_timed();
    for unit in [0, 1, 63, 64, 300] {
        write(&mut ssd, Nanos(0), unit, unit);
    }
    let mut completions = Vec::new();
    ssd.advance(Nanos::millis(9), &mut completions);
    let before = ssd.counters().programs;
    assert_eq!((completions.len(), ssd.written()[ProgramCause::Map]), (5, 0));
    ssd.advance(Nanos::millis(10), &mut completions);
    assert!(!ssd.is_idle(), "programs of the table are under way");
    ssd.advance(Nanos::millis(19), &mut completions);
    // Two planes make a program unit of two map pages: three dirty ones, and an empty slot.
    let written = ssd.written();
    assert_eq!((written[ProgramCause::Map], written[ProgramCause::Padding]), (3, 1));
    assert_eq!(ssd.counters().programs, before + 4);
    ssd.advance(Nanos::millis(100), &mut completions);
    assert_eq!(ssd.written()[ProgramCause::Map], 3, "nothing has changed since");
    ssd.self_check().unwrap();
}

#[test]
fn what_flushes_write_is_collected_and_the_counts_add_up() {
    for cache in [WriteCache::Protected, WriteCache::Volatile] {
        let mut config = flushing(None, Some(Bytes::kib(32)));
        config.geometry.blocks_per_plane = 24;
        config.controller.write_cache = cache;
        config.protection = Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        let (mut rng, writes) = (SplitMix::new(2, "test"), 6000);
        for number in 0..writes {
            let now = Nanos(number * 2_000_000);
            ssd.advance(now, &mut Vec::new());
            write(&mut ssd, now, rng.below(600), number);
        }
        drain(&mut ssd);
        ssd.self_check().unwrap();
        let (written, counters) = (ssd.written(), ssd.counters());
        let flushes: u64 = ssd.ftls().map(|ftl| ftl.figures().map_flushes).sum();
        // Eight units between two flushes; one under way may put off the next.
        assert!((writes / 8 - 50..=writes / 8).contains(&flushes), "{flushes} flushes");
        // Eight writes hit some of ten pages; collection moves units of others.
        let map = written[ProgramCause::Map];
        assert!(map > 4 * flushes && map <= PAGES * flushes, "{map} pages of the table in {flushes} flushes");
        assert!(written[ProgramCause::MapParity] != 0 && written[ProgramCause::Gc] != 0, "{written:?}");
        assert_eq!(written[ProgramCause::Host], writes);
        let buffered: u64 = ssd.ftls().map(|ftl| ftl.figures().buffered_units).sum();
        assert_eq!(
            written.total() - buffered,
            counters.programs,
            "all causes together are what was programmed"
        );
        let dirty: u32 = ssd.ftls().map(outlast_ftl::Ftl::dirty_map_pages).sum();
        assert!(u64::from(dirty) <= PAGES);
    }
}

/// Program operations of the table fail, or power does: what did not come to flash is dirty again, and the next flush writes it.
#[test]
fn what_does_not_come_to_flash_is_flushed_again() {
    for (cache, breaks) in
        [(WriteCache::Protected, true), (WriteCache::Volatile, true), (WriteCache::Volatile, false)]
    {
        let mut config = flushing(Some(Nanos::millis(10)), None);
        config.controller.write_cache = cache;
        config.ftl.spare_blocks = 2;
        config.geometry.blocks_per_plane = 20;
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        for unit in 0..600 {
            write(&mut ssd, Nanos(0), unit, unit);
        }
        let mut completions = Vec::new();
        ssd.advance(Nanos::millis(9), &mut completions);
        drain(&mut ssd);
        assert_eq!(ssd.ftls().map(outlast_ftl::Ftl::dirty_map_pages).sum::<u32>(), 0, "flushed by then");
        ssd.advance(Nanos::millis(995), &mut completions);
        write(&mut ssd, Nanos::millis(995), 0, 2000);
        ssd.submit(Nanos::millis(995), command(Op::Flush, 0, 0), Tag(1000));
        ssd.advance(Nanos::millis(999), &mut completions);
        if breaks {
            for die in 0..4 {
                for block in 0..20 {
                    let damage = DieDamage::Program { plane: 0, block };
                    ssd.inject(Nanos::millis(999), DriveFault { die, damage });
                }
            }
        }
        ssd.advance(Nanos::millis(1000), &mut completions);
        assert_eq!(ssd.ftls().map(outlast_ftl::Ftl::dirty_map_pages).sum::<u32>(), 0, "on their way");
        if breaks {
            drain(&mut ssd);
            assert!(ssd.counters().program_failures != 0);
        } else {
            ssd.power_cycle(Nanos(1_000_100_000), Nanos(1_000_100_000));
        }
        assert_eq!(ssd.ftls().map(outlast_ftl::Ftl::dirty_map_pages).sum::<u32>(), 1, "{cache:?}");
        assert_eq!(ssd.counters().lost_units, 0);
        ssd.self_check().unwrap();
    }
}

/// The whole table is due again before it is on flash, and fills superblocks faster than they are erased; below the high mark the host has no share of
/// what is gained. Collection must reach that mark all the same.
#[test]
fn a_table_that_is_always_due_does_not_take_all_that_collection_gains() {
    let mut config = flushing(Some(Nanos::millis(1)), None);
    if let Some(map_flush) = &mut config.ftl.map_flush {
        map_flush.dirty_only = false;
    }
    config.geometry.blocks_per_plane = 24;
    config.ftl.gc.pacing = Pacing::Burst;
    (config.ftl.gc.stop_free, config.ftl.gc.host_share) = (Some(7), Some(0.0));
    // Lanes are erased one after the other.
    config.controller.internal_operations = Some(1);
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let (mut rng, writes) = (SplitMix::new(2, "test"), 3000);
    let (mut now, mut completions, mut events) = (Nanos(0), Vec::new(), 0);
    for number in 0..writes {
        write(&mut ssd, now, rng.below(600), number);
        while completions.len() as u64 <= number {
            events += 1;
            assert!(events < 100_000, "{number} of {writes} writes have ended by {now}");
            now = ssd.next_deadline().unwrap();
            ssd.advance(now, &mut completions);
        }
    }
    let (written, flushes) = (ssd.written(), ssd.ftls().map(|ftl| ftl.figures().map_flushes).sum::<u64>());
    assert_eq!(written[ProgramCause::Host], writes);
    // Every superblock of the host's, 64 units, could be followed by one.
    assert!(flushes > writes / 128, "{flushes} flushes, which go on beside");
    ssd.self_check().unwrap();
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refused = |map_flush: MapFlushConfig| {
        let mut config = tiny();
        config.ftl.map_flush = Some(map_flush);
        Ssd::new(config, 1).err().unwrap().to_string()
    };
    let none = MapFlushConfig::default();
    assert!(refused(none).contains("device.ftl.map_flush.interval"));
    let timed = MapFlushConfig { interval: Some(Nanos::millis(1)), ..none };
    assert!(refused(MapFlushConfig { entry: Bytes(0), ..timed }).contains("device.ftl.map_flush.entry"));
    assert!(refused(MapFlushConfig { interval: Some(Nanos(1)), ..timed }).contains("at least 1us"));
    let written = MapFlushConfig { written: Some(Bytes(512)), ..none };
    assert!(refused(written).contains("at least one mapping unit, 4KiB"));
}

/// Where nothing paces the host, it has a write waiting whenever collection gains a superblock, and takes it. A flush that waits for one has the next.
#[test]
fn a_flush_finds_room_beside_a_host_that_takes_all_that_collection_gains() {
    let mut config = flushing(None, Some(Bytes::kib(256)));
    config.ftl.gc.pacing = Pacing::None;
    config.geometry.blocks_per_plane = 24;
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let (mut rng, mut now, mut ended) = (SplitMix::new(2, "test"), Nanos(0), Vec::new());
    let (mut under_way, mut left) = (0, 12_000);
    while left != 0 || under_way != 0 {
        while left != 0 && under_way < 32 {
            write(&mut ssd, now, rng.below(600), left);
            (left, under_way) = (left - 1, under_way + 1);
        }
        ended.clear();
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut ended);
        under_way -= ended.len();
    }
    ssd.self_check().unwrap();
    let flushes: u64 = ssd.ftls().map(|ftl| ftl.figures().map_flushes).sum();
    // One is due every 64 units. It waits no longer than until the host has filled its superblock of 64, and puts off the next at most.
    let due = 12_000 / 64;
    assert!((due / 2..=due).contains(&flushes), "{flushes} flushes of {due}");
    // Of ten pages nearly all are dirty each time.
    let map = ssd.written()[ProgramCause::Map];
    assert!(map > 9 * flushes - PAGES, "{map} pages of the table in {flushes} flushes");
}

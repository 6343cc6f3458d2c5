//! What does a mapping table cost that does not fit in memory? Reads of its pages, exactly where an LRU list lacks them, and writes of those that leave dirty.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Device, LatencyCause, Op, PowerCycle, Tag};
use outlast_ftl::{MountOptions, MountReads, ProgramCause, ReadCause};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{MountConfig, SsdConfig};
use outlast_settings::ftl::{MapCacheConfig, MapFlushConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use std::collections::VecDeque;
use support::{command, tiny};

/// Units of the drive: 64 in each of ten pages of the table.
const UNITS: u64 = 600;

/// `pages` pages of the table fit in memory; without time between, all of them come to flash while the drive is filled.
fn cached(pages: u64, prefetch: u32) -> SsdConfig {
    let mut config = tiny();
    config.bytes = true;
    config.ftl.map_flush =
        Some(MapFlushConfig { written: Some(Bytes::kib(64)), entry: Bytes(64), ..MapFlushConfig::default() });
    config.ftl.map_cache =
        Some(MapCacheConfig { size: Bytes(pages * 4096), host_lookup: Nanos::ZERO, prefetch });
    config
}

fn drain(ssd: &mut Ssd) -> Vec<Completion> {
    let mut completions = Vec::new();
    while !ssd.is_idle() {
        let at = ssd.next_deadline().unwrap();
        ssd.advance(at, &mut completions);
    }
    completions
}

fn write(ssd: &mut Ssd, now: Nanos, unit: u64, tag: u64) {
    ssd.submit_data(now, command(Op::Write, unit * 8, 8), Tag(tag as u32), &[unit as u8; 4096]);
}

/// A drive of `config`, all of which has been written, and when it is at rest.
fn full(config: SsdConfig) -> (Ssd, Nanos) {
    let mut ssd = Ssd::new(config, 5).unwrap();
    ssd.begin_timed();
    let mut now = Nanos::ZERO;
    for round in 0..2 {
        for unit in 0..UNITS {
            write(&mut ssd, now, unit, unit);
            for ended in drain(&mut ssd) {
                now = now.max(ended.at);
            }
            now = Nanos(now.0 + 1_000_000 * (1 - round));
        }
    }
    now = Nanos(now.0 + 1_000_000_000);
    ssd.advance(now, &mut Vec::new());
    (ssd, now)
}

/// Reads `unit` alone; returns how long it took.
fn read(ssd: &mut Ssd, now: &mut Nanos, unit: u64) -> Nanos {
    ssd.submit(*now, command(Op::Read, 8 * unit, 8), Tag(0));
    let mut ended = Vec::new();
    while ended.is_empty() {
        let at = ssd.next_deadline().unwrap();
        ssd.advance(at, &mut ended);
    }
    assert!(ended[0].outcome == outlast_device::Outcome::Ok);
    let took = ended[0].at - *now;
    *now = ended[0].at;
    took
}

/// One command at a time: its page is in memory exactly if a list of the pages used last has it. The mean time is that of one sensing and transfer, and of
/// another for each miss.
#[test]
fn the_mean_time_of_reads_is_that_of_one_and_of_another_for_each_miss() {
    for pages in [3, 5, 8] {
        let (mut ssd, mut now) = full(cached(pages, 0));
        let (mut rng, mut list) = (SplitMix::new(3, "units"), VecDeque::<u64>::new());
        for unit in [0, 64, 128, 192, 256, 320, 384, 448, 512, 576] {
            read(&mut ssd, &mut now, unit);
            list.push_front(unit / 64);
        }
        list.truncate(pages as usize);
        let alone = read(&mut ssd, &mut now, 577);
        ssd.reset_counters(now);
        let (mut hits, mut sum, reads) = (0, 0, 4000);
        for step in 0..reads {
            let unit = rng.below(UNITS);
            let before = ssd.counters().map_hits;
            sum += read(&mut ssd, &mut now, unit).0;
            let place = list.iter().position(|&page| page == unit / 64);
            assert_eq!(ssd.counters().map_hits - before, u64::from(place.is_some()), "step {step}");
            hits += u64::from(place.is_some());
            match place {
                Some(place) => _ = list.remove(place),
                None => list.truncate(pages as usize - 1),
            }
            list.push_front(unit / 64);
        }
        let counters = ssd.counters();
        assert_eq!((counters.map_hits, counters.map_misses), (hits, reads - hits));
        assert_eq!(counters.reads[ReadCause::Host], reads);
        // A page that is still in the buffer is read from there.
        assert!(counters.reads[ReadCause::Map] <= reads - hits);
        let share = hits as f64 / reads as f64;
        let (mean, expected) = (sum as f64 / reads as f64, alone.0 as f64 * (2.0 - share));
        assert!((mean / expected - 1.0).abs() < 0.02, "{pages} pages: {mean} ns, not {expected}");
        // Pages hold 64 units each, the last one fewer.
        assert!((share - pages as f64 * 64.0 / UNITS as f64).abs() < 0.05, "{share} hits of {pages} pages");
        ssd.self_check().unwrap();
    }
}

#[test]
fn units_that_miss_the_same_page_wait_for_one_read_of_it() {
    let (mut ssd, mut now) = full(cached(2, 0));
    for unit in [0, 64, 128] {
        read(&mut ssd, &mut now, unit);
    }
    ssd.reset_counters(now);
    for unit in 300..320 {
        ssd.submit(now, command(Op::Read, 8 * unit, 8), Tag(unit as u32));
    }
    ssd.self_check().unwrap();
    assert_eq!(drain(&mut ssd).len(), 20);
    let counters = ssd.counters();
    // Units 300 to 319 have their entries in one page.
    assert_eq!((counters.reads[ReadCause::Map], counters.map_misses, counters.map_hits), (1, 20, 0));
    ssd.self_check().unwrap();
}

#[test]
fn a_sequential_run_finds_what_was_read_ahead() {
    let misses = |prefetch| {
        let (mut ssd, mut now) = full(cached(6, prefetch));
        for unit in [0, 64, 128, 192, 256, 320, 384, 448, 512, 576] {
            read(&mut ssd, &mut now, unit);
        }
        ssd.reset_counters(now);
        for unit in 0..UNITS {
            read(&mut ssd, &mut now, unit);
        }
        (ssd.counters().map_misses, ssd.counters().reads[ReadCause::Map])
    };
    assert_eq!(misses(0), (10, 10));
    // Pages 0 and 1 are missing; with 1 come 2, 3 and 4. So it goes on with 5, whose neighbour is not the page that was missing last, and 6.
    let (missing, read) = misses(3);
    assert!(missing <= 6 && read == 10, "{missing} pages are missing, {read} are read");
}

#[test]
fn pages_that_leave_dirty_are_written_and_those_that_leave_clean_are_not() {
    let mut config = cached(3, 0);
    if let Some(flush) = &mut config.ftl.map_flush {
        // No flush is due by itself.
        (flush.written, flush.interval) = (None, Some(Nanos::secs(100_000)));
    }
    let (mut ssd, mut now) = full(config);
    let written = ssd.written()[ProgramCause::Map];
    assert!(written > 10, "each page of the table was dirty when it left: {written} were written");
    let mut rng = SplitMix::new(8, "units");
    for _ in 0..40 {
        read(&mut ssd, &mut now, rng.below(UNITS));
    }
    ssd.reset_counters(now);
    for _ in 0..2000 {
        read(&mut ssd, &mut now, rng.below(UNITS));
    }
    assert_eq!(ssd.written()[ProgramCause::Map], 0, "reads make no page dirty");
    for _ in 0..2000 {
        write(&mut ssd, now, rng.below(UNITS), 0);
        for ended in drain(&mut ssd) {
            now = now.max(ended.at);
        }
    }
    let (misses, written) = (ssd.counters().map_misses, ssd.written()[ProgramCause::Map]);
    assert!(written > 1000 && written <= misses, "{written} pages written, {misses} missing");
    ssd.self_check().unwrap();
}

/// Power fails while units wait, and dies fail with pages of the table: nothing is stuck, and what can be read is what was written.
#[test]
fn whatever_befalls_the_drive_units_go_on() {
    let (mut ssd, mut now) = full(cached(2, 0));
    for unit in (0..UNITS).step_by(37) {
        ssd.submit(now, command(Op::Read, 8 * unit, 8), Tag(unit as u32));
    }
    ssd.power_cycle(now, now);
    ssd.self_check().unwrap();
    drain(&mut ssd);
    now = Nanos(now.0 + 1_000_000_000);
    ssd.advance(now, &mut Vec::new());
    read(&mut ssd, &mut now, 3);
    ssd.inject(now, DriveFault { die: 1, damage: DieDamage::Die });
    for unit in 0..UNITS {
        ssd.submit(now, command(Op::Read, 8 * unit, 8), Tag(unit as u32));
    }
    assert_eq!(drain(&mut ssd).len(), UNITS as usize);
    ssd.self_check().unwrap();
}

#[test]
fn the_time_for_the_table_is_a_part_of_its_own() {
    let (mut ssd, mut now) = full(cached(2, 0));
    ssd.split_latencies();
    for unit in [0, 64, 128, 192] {
        ssd.submit(now, command(Op::Read, 8 * unit, 8), Tag(1));
        let ended = drain(&mut ssd);
        let parts = ssd.take_parts(Tag(1)).unwrap();
        let took = ended[0].at - now;
        now = ended[0].at;
        assert_eq!(parts.total(), took.0);
        assert!(parts[LatencyCause::Map] * 2 == took.0, "{parts:?} of {took}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |map_flush, size, prefetch| {
        let mut config = cached(4, 0);
        config.ftl.map_flush = map_flush;
        config.ftl.map_cache = Some(MapCacheConfig { size, host_lookup: Nanos::ZERO, prefetch });
        Ssd::new(config, 1).unwrap_err().to_string()
    };
    let flush = cached(4, 0).ftl.map_flush;
    assert!(refused(None, Bytes(1 << 20), 0).contains("device.ftl.map_flush"));
    assert!(refused(flush, Bytes(4096), 0).contains("device.ftl.map_cache.size"));
    assert!(refused(flush, Bytes(1 << 20), 65).contains("device.ftl.map_cache.prefetch"));
}

/// Preconditioning leaves what the host's history would: the pages that it used last, and those that left dirty on flash.
#[test]
fn writes_without_time_leave_the_pages_used_last() {
    for (pages, prefetch) in [(3, 0), (5, 0), (8, 1)] {
        let mut ssd = Ssd::new(cached(pages, prefetch), 5).unwrap();
        let (mut rng, mut list) = (SplitMix::new(6, "units"), VecDeque::<u64>::new());
        for _ in 0..3000 {
            let unit = rng.below(UNITS);
            ssd.write_unit_untimed(unit, 0).unwrap();
            list.retain(|&page| page != unit / 64);
            list.push_front(unit / 64);
            list.truncate(pages as usize);
        }
        assert!(ssd.written()[ProgramCause::Map] > 100, "pages that left dirty were written");
        ssd.begin_timed();
        ssd.reset_counters(Nanos::ZERO);
        let mut now = Nanos::ZERO;
        if prefetch == 0 {
            for &page in list.iter().rev() {
                read(&mut ssd, &mut now, page * 64);
            }
            assert_eq!((ssd.counters().map_hits, ssd.counters().map_misses), (pages, 0));
        }
        for unit in (0..UNITS).step_by(64) {
            read(&mut ssd, &mut now, unit);
        }
        assert!(ssd.counters().map_misses > 0, "the table does not fit");
        ssd.self_check().unwrap();
    }
}

/// After a loss of power a mount reads where the table's pages are, and those whose entries have changed since they were written.
#[test]
fn a_mount_reads_the_directory_and_stale_pages_of_the_table() {
    let mut config = cached(3, 0);
    config.mount = Some(MountConfig { lists: false, checkpoint_every: None });
    if let Some(flush) = &mut config.ftl.map_flush {
        (flush.written, flush.interval) = (None, Some(Nanos::secs(100_000)));
    }
    let (mut ssd, now) = full(config);
    let reads = |ssd: &Ssd, reads_table: bool| {
        let options = MountOptions { checkpoint_every: None, lists: false, reads_table };
        ssd.ftls().next().unwrap().mount_reads(options, 4096, true)
    };
    let (with, without) = (reads(&ssd, true), reads(&ssd, false));
    let dirty = ssd.ftls().next().unwrap().dirty_map_pages() as usize;
    assert_eq!((with.directory, without.directory, without.map_pages.len()), (1, 0, 0));
    assert!((1..=dirty).contains(&with.map_pages.len()), "{with:?}, {dirty} pages are dirty");
    assert_eq!(MountReads { directory: 0, map_pages: Vec::new(), ..with.clone() }, without);
    ssd.power_cycle(now, now);
    ssd.self_check().unwrap();
    assert!(ssd.mounts().pages > with.directory + with.map_pages.len() as u64);
}

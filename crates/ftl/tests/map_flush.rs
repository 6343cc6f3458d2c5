//! Pages of the mapping table that a flush writes, by closed forms: after writes at random, and after writes in order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{Ftl, FtlOptions, ProgramCause};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{FtlConfig, MapCacheConfig, MapFlushConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn, Nanos};

const UNIT: u64 = 512;
/// Entries of 8 bytes: 64 to a page.
const ENTRIES: u64 = 64;
const PAGES: u64 = 500;
const UNITS: u64 = PAGES * ENTRIES;

/// A drive with so much space that nothing is collected while `writes` units are written.
fn roomy(writes: u64, written: u64, dirty_only: bool) -> Ftl {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: (2 * (UNITS + writes) / 128) as u32 + 16,
        pages_per_block: 32,
        page_size: Bytes(UNIT),
        spare_per_page: Bytes(0),
    };
    let map_flush = MapFlushConfig {
        written: Some(Bytes(written * UNIT)),
        entry: Bytes(UNIT / ENTRIES),
        dirty_only,
        ..MapFlushConfig::default()
    };
    let config = FtlConfig {
        mapping_unit: Bytes(UNIT),
        capacity: Some(Bytes(UNITS * UNIT)),
        map_flush: Some(map_flush),
        ..FtlConfig::default()
    };
    let dies: Vec<DieId> = (0..4).map(DieId).collect();
    Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, UNITS, &FtlOptions::default()).unwrap()
}

fn map_units(ftl: &Ftl) -> u64 {
    ftl.figures().written[ProgramCause::Map]
}

/// Of n writes to M pages of the table at random, M (1 - (1 - 1/M)^n) pages are hit: the expected number of boxes that are not empty. Its
/// variance is below that of as many pages hit independently, which the tolerance of four standard errors takes.
#[test]
fn writes_at_random_make_as_many_pages_dirty_as_balls_fill_boxes() {
    for each in [50u64, 500, 3000] {
        let flushes = 40;
        let mut ftl = roomy(each * flushes, each, true);
        let stream = ftl.streams().host(0, 0);
        let mut rng = SplitMix::new(each, "test");
        for _ in 0..each * flushes {
            ftl.write_untimed(stream, Lpn(rng.below(UNITS) as u32)).unwrap();
        }
        let figures = ftl.figures();
        assert_eq!((figures.map_flushes, figures.victims), (flushes, 0), "flushes after each {each} units");
        let pages = PAGES as f64;
        let hit = 1.0 - (1.0 - 1.0 / pages).powi(each as i32);
        let expected = pages * hit * flushes as f64;
        let error = (pages * hit * (1.0 - hit) * flushes as f64).sqrt();
        let measured = map_units(&ftl) as f64;
        assert!(
            (measured - expected).abs() <= 4.0 * error,
            "{measured} pages of the table for {each} writes each, {expected} expected, give or take {error}"
        );
        assert_eq!(ftl.self_check(), Ok(()));
    }
}

/// Writes in order fill one page of the table after another: so many units, so many entries, exactly, where flushes come between pages.
#[test]
fn writes_in_order_make_one_page_dirty_for_all_entries_of_it() {
    for (each, pages) in [(ENTRIES, 1), (4 * ENTRIES, 4), (ENTRIES / 2, 1)] {
        let mut ftl = roomy(UNITS, each, true);
        let stream = ftl.streams().host(0, 0);
        for lpn in 0..UNITS {
            ftl.write_untimed(stream, Lpn(lpn as u32)).unwrap();
        }
        let flushes = UNITS / each;
        assert_eq!((ftl.figures().map_flushes, map_units(&ftl)), (flushes, flushes * pages));
        assert_eq!(ftl.dirty_map_pages(), 0);
    }
}

/// Without `dirty_only` each flush writes all pages.
#[test]
fn the_whole_table_costs_its_size_each_time() {
    let mut ftl = roomy(1000, 100, false);
    let stream = ftl.streams().host(0, 0);
    for lpn in 0..1000 {
        ftl.write_untimed(stream, Lpn(lpn)).unwrap();
    }
    assert_eq!(map_units(&ftl), 10 * PAGES);
}

/// An idle drive has flushed what it had to before time begins; a trim makes a page dirty, an unwritten one does not.
#[test]
fn what_is_flushed_is_clean_until_an_entry_changes() {
    let mut ftl = roomy(1000, 1 << 30, true);
    let stream = ftl.streams().host(0, 0);
    for lpn in [3, 5, 64, 640] {
        ftl.write_untimed(stream, Lpn(lpn)).unwrap();
    }
    assert_eq!((ftl.dirty_map_pages(), map_units(&ftl)), (3, 0));
    ftl.settle_untimed();
    assert_eq!((ftl.dirty_map_pages(), map_units(&ftl)), (0, 3));
    assert!(ftl.awaits_host_writes(), "nothing has been written since");
    assert!(!ftl.trim(Lpn(700)) && ftl.trim(Lpn(64)));
    assert_eq!(ftl.dirty_map_pages(), 1);
    let (figures, units) = (ftl.figures(), u64::from(ftl.layout().units_per_pu()));
    assert_eq!(figures.buffered_units % units, 4 % units, "the last program unit of the table is padded");
    ftl.write_untimed(stream, Lpn(3)).unwrap();
    assert!(!ftl.awaits_host_writes());
    assert_eq!(ftl.self_check(), Ok(()));
}

/// A drive with a table that does not fit: before each write the page with its entry comes to memory, and another leaves, so that a flush is due before the
/// host has written. Where the host finds the last superblock but the reserve kept for that flush, the flush comes first.
#[test]
fn a_page_that_leaves_the_cache_before_a_write_never_makes_a_drive_full() {
    let units = 1200;
    for (superblocks, entry) in [(52, UNIT / 8), (60, UNIT / 4), (64, UNIT / 4), (80, UNIT / 2)] {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: superblocks,
            pages_per_block: 16,
            page_size: Bytes(UNIT),
            spare_per_page: Bytes(0),
        };
        let map_flush = MapFlushConfig {
            written: Some(Bytes(1 << 30)),
            entry: Bytes(entry),
            dirty_only: true,
            ..MapFlushConfig::default()
        };
        let config = FtlConfig {
            mapping_unit: Bytes(UNIT),
            capacity: Some(Bytes(units * UNIT)),
            map_flush: Some(map_flush),
            map_cache: Some(MapCacheConfig { size: Bytes(8 * UNIT), host_lookup: Nanos::ZERO, prefetch: 0 }),
            ..FtlConfig::default()
        };
        let dies: Vec<DieId> = (0..2).map(DieId).collect();
        let options = FtlOptions::default();
        let mut ftl = Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, units, &options).unwrap();
        let stream = ftl.streams().host(0, 0);
        let mut rng = SplitMix::new(entry, "test");
        for write in 0..20 * units {
            let lpn = Lpn(rng.below(units) as u32);
            let page = ftl.map_page_with(lpn).unwrap();
            ftl.recall_map_page(page);
            ftl.evict_map_page((page + 1) % ftl.map_pages());
            assert!(
                ftl.write_untimed(stream, lpn).is_ok(),
                "write {write} of a drive of {superblocks} superblocks, entries of {entry} B"
            );
        }
        assert_eq!(ftl.self_check(), Ok(()));
    }
}

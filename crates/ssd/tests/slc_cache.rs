//! An SLC cache: host writes are fast while it has room, and then go on directly or wait for folding, which is collection.

use crate::support::{closed_loop, command, tiny, weak_flash};
use outlast_device::{Device, Op};
use outlast_ftl::{ProgramCause, SlcCacheFigures, UnitsWritten};
use outlast_media::PageTimes;
use outlast_settings::drive::{SlcCacheConfig, SsdConfig, WhenFull, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};

/// Units of a superblock of the cache: a row in four of `tiny` with blocks of 12 pages.
pub(crate) const CACHED: u32 = 32;
const UNITS: u32 = 1000;

/// A cache of a third of the pages, of a drive with 24 superblocks of 96 units.
pub(crate) fn cached(change: impl FnOnce(&mut SlcCacheConfig)) -> SsdConfig {
    let mut config = tiny();
    (config.geometry.pages_per_block, config.geometry.blocks_per_plane) = (12, 24);
    config.ftl.capacity = Some(Bytes(u64::from(UNITS) * 4096));
    let mut cache = SlcCacheConfig {
        bits_per_cell: 1,
        native_bits_per_cell: Some(3),
        static_size: Bytes(0),
        dynamic_share: Some(1.0),
        dynamic_size: None,
        when_full: WhenFull::Direct,
        fold_after_idle: None,
        fold_from: None,
        read: PageTimes::Same(Nanos::micros(25)),
        program: PageTimes::Same(Nanos::micros(100)),
        endurance: None,
        error_rate: None,
    };
    change(&mut cache);
    config.slc_cache = Some(cache);
    config
}

pub(crate) fn figures(ssd: &Ssd) -> SlcCacheFigures {
    ssd.ftls().next().unwrap().space().slc_cache_figures().expect("the drive has a cache")
}

pub(crate) fn written(ssd: &Ssd) -> UnitsWritten {
    ssd.ftls().next().unwrap().figures().written
}

/// Writes units 0 to `units` in order at queue depth 16, from `start` on; returns the time for each `part` units, in nanoseconds, and the end.
pub(crate) fn fill(ssd: &mut Ssd, start: Nanos, units: u32, part: u32) -> (Vec<u64>, Nanos) {
    let mut ends = vec![start];
    for first in (0..units).step_by(part as usize) {
        let (_, end) = closed_loop(ssd, *ends.last().unwrap(), 16, part.min(units - first), |unit| {
            command(Op::Write, 8 * u64::from(first + unit), 8)
        });
        ends.push(end);
    }
    (ends.windows(2).map(|pair| pair[1].0 - pair[0].0).collect(), *ends.last().unwrap())
}

#[test]
fn a_fixed_cache_is_a_burst_and_then_writes_go_on_directly() {
    let size = Bytes(u64::from(4 * CACHED) * 4096);
    let mut ssd = Ssd::new(cached(|own| (own.dynamic_share, own.static_size) = (None, size)), 1).unwrap();
    let (times, _) = fill(&mut ssd, Nanos::ZERO, 12 * CACHED, 2 * CACHED);
    assert!(times[1] * 2 < times[3], "{times:?}");
    let units = u64::from(4 * CACHED);
    assert_eq!(figures(&ssd), SlcCacheFigures { superblocks: 4, units, limit: units, valid: units });
    assert_eq!(ssd.slc_cache().unwrap().0.filled_units, units);
    let written = written(&ssd);
    assert_eq!(written[ProgramCause::Host], u64::from(12 * CACHED), "{written:?}");
    assert_eq!(written.total(), written[ProgramCause::Host], "the write amplification is 1");
    ssd.self_check().unwrap();
}

#[test]
fn a_cache_of_the_whole_drive_is_folded_while_the_host_writes() {
    for when_full in [WhenFull::Direct, WhenFull::Fold] {
        let mut ssd = Ssd::new(cached(|own| own.when_full = when_full), 1).unwrap();
        let (times, end) = fill(&mut ssd, Nanos::ZERO, UNITS, 100);
        assert!(times[8] > 3 * times[1], "{when_full:?} {times:?}");
        let written = written(&ssd);
        assert_eq!((written[ProgramCause::Host], written[ProgramCause::Gc]), (u64::from(UNITS), 0));
        assert!(written[ProgramCause::Fold] > u64::from(UNITS) / 8, "{when_full:?} {written:?}");
        let (_, end) = closed_loop(&mut ssd, end, 16, 5 * UNITS, |unit| {
            command(Op::Write, 8 * u64::from(unit.wrapping_mul(2_654_435_761) % UNITS), 8)
        });
        ssd.self_check().unwrap();
        closed_loop(&mut ssd, end, 16, UNITS, |unit| command(Op::Read, 8 * u64::from(unit), 8));
        ssd.self_check().unwrap();
    }
}

#[test]
fn idle_time_gives_the_cache_back_linearly() {
    let pause = Nanos::millis(2);
    let mut ssd = Ssd::new(cached(|own| own.fold_after_idle = Some(pause)), 1).unwrap();
    let (_, end) = fill(&mut ssd, Nanos::ZERO, 12 * CACHED, 12 * CACHED);
    let full = figures(&ssd).valid;
    assert_eq!(full, u64::from(12 * CACHED));
    let mut left = vec![full];
    for part in 1..=10 {
        ssd.advance(Nanos(end.0 + pause.0 + part * 10_000_000), &mut Vec::new());
        left.push(figures(&ssd).valid);
        ssd.self_check().unwrap();
    }
    // What each part of the time has folded while there was anything, to within a superblock.
    let folded: Vec<u64> =
        left.windows(2).map(|pair| pair[0] - pair[1]).take_while(|&units| units != 0).collect();
    let mean = folded[..folded.len() - 1].iter().sum::<u64>() / (folded.len() as u64 - 1);
    assert!(folded.len() >= 5, "{left:?}");
    assert!(
        folded[..folded.len() - 1].iter().all(|units| units.abs_diff(mean) <= u64::from(CACHED)),
        "{left:?}"
    );
    assert_eq!((left.last(), figures(&ssd).superblocks), (Some(&0), 0), "{left:?}");
    assert_eq!(written(&ssd)[ProgramCause::Fold], full, "1 + the folded share");
    assert_eq!(written(&ssd).total(), 2 * full);
}

#[test]
fn nothing_is_folded_while_the_host_is_at_work() {
    let mut ssd = Ssd::new(cached(|own| own.fold_after_idle = Some(Nanos::millis(2))), 1).unwrap();
    let (_, end) = fill(&mut ssd, Nanos::ZERO, 6 * CACHED, 6 * CACHED);
    // Reads of one unit after another, over ten times the pause.
    closed_loop(&mut ssd, end, 1, 800, |unit| command(Op::Read, 8 * u64::from(unit % (6 * CACHED)), 8));
    assert_eq!(written(&ssd)[ProgramCause::Fold], 0);
    ssd.self_check().unwrap();
}

/// The only superblock of the cache is folded into a part of a program unit. Its erasure, for which the host waits, needs that part on flash, and no other victim
/// fills the rest.
#[test]
fn a_write_that_waits_for_folding_has_a_part_of_a_program_unit_padded() {
    // Four units in a page: two rows are a superblock of the cache.
    let each = 2 * 8 * 4;
    for pause in [None, Some(Nanos::micros(100))] {
        let mut config = cached(|own| {
            (own.when_full, own.fold_after_idle) = (WhenFull::Fold, pause);
            (own.dynamic_share, own.static_size) = (None, Bytes(u64::from(each) * 4096));
        });
        (config.geometry.page_size, config.geometry.pages_per_block) = (Bytes::kib(16), 6);
        config.controller.write_cache = WriteCache::Off;
        let mut ssd = Ssd::new(config, 1).unwrap();
        // A write at a time, each of a program unit: when the next one comes, the superblock that it has filled is sealed, with five valid units.
        let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 1, 10 * each, |number| {
            command(Op::Write, 8 * u64::from(number % 5), 8)
        });
        assert!(written(&ssd)[ProgramCause::Fold] != 0, "{:?}", written(&ssd));
        assert_eq!(figures(&ssd).limit, u64::from(each));
        closed_loop(&mut ssd, end, 16, UNITS, |unit| command(Op::Read, 8 * u64::from(unit), 8));
        ssd.self_check().unwrap();
    }
}

/// Data in the cache errs at the cache's rate, and once folded at the rate of the others.
#[test]
fn cells_of_the_cache_err_at_a_rate_of_their_own() {
    let units = 4 * CACHED;
    // Units whose first read fails: in the cache, and once they have been folded.
    let failing = |rate: Option<f64>| {
        let mut config = cached(|own| {
            (own.fold_after_idle, own.error_rate) = (Some(Nanos::millis(2)), rate);
        });
        config.reliability = Some(weak_flash(Some(20), None));
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        let (_, end) = fill(&mut ssd, Nanos::ZERO, units, units);
        let read_all = |ssd: &mut Ssd, now: Nanos| {
            let before = ssd.corrections().ecc;
            let (_, end) = closed_loop(ssd, now, 4, units, |unit| command(Op::Read, 8 * u64::from(unit), 8));
            (u64::from(units) - (ssd.corrections().ecc - before), end)
        };
        let (cached, end) = read_all(&mut ssd, end);
        let rest = Nanos(end.0 + 2_000_000_000);
        ssd.advance(rest, &mut Vec::new());
        assert_eq!(figures(&ssd).valid, 0, "all is folded");
        (cached, read_all(&mut ssd, rest).0)
    };
    let [plain, better, worse] = [None, Some(0.01), Some(2.0)].map(failing);
    assert!(better.0 == 0 && worse.0 > u64::from(units) / 2, "{plain:?}, {better:?}, {worse:?}");
    assert!(plain.0 < u64::from(units) / 8 && worse.1 < u64::from(units) / 8, "{plain:?}, {worse:?}");
}

#[test]
fn error_rates_that_cannot_be_are_refused() {
    let refused = |errs: bool, rate: f64| {
        let mut config = cached(|own| own.error_rate = Some(rate));
        config.reliability = errs.then(|| weak_flash(None, None));
        Ssd::new(config, 1).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(false, 0.1).contains("needs device.reliability"));
    assert!(refused(true, 0.0).contains("device.slc_cache.error_rate = 0"));
    assert!(refused(true, 11.0).contains("at most 10"));
}

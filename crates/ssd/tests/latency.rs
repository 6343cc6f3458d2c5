//! What one command takes on an idle drive, against the sum of its parts. No tolerance: times are whole nanoseconds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_ftl::ReadCause;
use outlast_media::{Geometry, PageTimes};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Bytes, Nanos};
use support::{command, tiny};

const PAGE: u64 = 16 * 1024;
const COMMAND: u64 = 200;
const READ: u64 = 60_000;
/// One byte a nanosecond: transfers take as many nanoseconds as they have bytes.
const BUS: u64 = 1_000_000_000;

/// 16 dies, two to a channel, of two planes with 16-KiB pages: a program unit holds eight 4-KiB units of two pages.
fn sixteen_dies() -> SsdConfig {
    let mut config = tiny();
    config.geometry = Geometry {
        channels: 8,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 32,
        pages_per_block: 16,
        page_size: Bytes(PAGE),
        spare_per_page: Bytes(0),
    };
    config.timing.bus = ByteRate::new(BUS).unwrap();
    config.ftl.capacity = Some(Bytes::mib(64));
    config.controller.write_buffer = Bytes::mib(4);
    config
}

/// A drive with its first `mib` MiB written in order and all of it on flash.
fn written(config: &SsdConfig, mib: u64) -> (Ssd, Nanos) {
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    for part in 0..mib * 8 {
        ssd.submit(Nanos::ZERO, command(Op::Write, part * 256, 256), Tag(part as u32));
    }
    let now = run_out(&mut ssd, Nanos::ZERO);
    ssd.reset_counters(now);
    (ssd, now)
}

fn run_out(ssd: &mut Ssd, mut now: Nanos) -> Nanos {
    let mut completions = Vec::new();
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
    }
    assert!(completions.iter().all(|done| done.outcome == Outcome::Ok), "{completions:?}");
    now
}

/// Latency of one read by itself, in nanoseconds, and the pages that it sensed.
fn read_alone(config: &SsdConfig, lba: u64, sectors: u32) -> (u64, u64) {
    let (mut ssd, now) = written(config, 8);
    let before = ssd.counters().reads[ReadCause::Host];
    ssd.submit(now, command(Op::Read, lba, sectors), Tag(0));
    let mut completions = Vec::new();
    let end = ssd.advance_to_completion(Nanos::MAX, &mut completions);
    assert_eq!((completions.len(), completions[0].outcome), (1, Outcome::Ok));
    (end.0 - now.0, ssd.counters().reads[ReadCause::Host] - before)
}

/// The dies sense side by side, both planes of each at once; then each channel carries what its dies hold, one after the other.
#[test]
fn an_idle_drive_senses_each_page_of_a_read_once() {
    let config = sixteen_dies();
    // KiB, page reads, and bytes that the busiest channel carries; 512 KiB lie on all 16 dies, two to a channel.
    let cases = [(4, 1, 4096), (16, 1, PAGE), (32, 2, 2 * PAGE), (128, 8, 2 * PAGE), (512, 32, 4 * PAGE)];
    for (kib, pages, bytes) in cases {
        let (latency, sensed) = read_alone(&config, 0, kib * 2);
        assert_eq!(sensed, pages, "pages sensed for {kib} KiB");
        assert_eq!(latency, COMMAND + READ + bytes, "{kib} KiB");
    }
}

/// Two program units of one die, one after the other; the second is not sensed before the first has left.
#[test]
fn two_program_units_of_a_die_are_two_sensings() {
    let mut config = sixteen_dies();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.blocks_per_plane = 512;
    let (latency, sensed) = read_alone(&config, 0, 128);
    assert_eq!((latency, sensed), (2 * (COMMAND + READ + 2 * PAGE), 4));
}

/// A flash core that takes time looks up all units of a page, then has the page read: `k` units of one page cost `k` times the core's
/// time, one sensing, and the transfer.
#[test]
fn a_core_that_takes_time_has_each_page_read_once() {
    let mut config = sixteen_dies();
    config.controller.read_cost = Nanos(1000);
    for units in 1..=4 {
        let (latency, sensed) = read_alone(&config, 0, units * 8);
        let own = u64::from(units);
        assert_eq!(latency, own * 1000 + COMMAND + READ + own * 4096, "{units} units of one page");
        assert_eq!(sensed, 1);
    }
    // Pages of the same program unit are sensed together; the first sector and the last may lie within a unit.
    assert_eq!(read_alone(&config, 1, 62).1, 2);
    assert_eq!(read_alone(&config, 1, 62).0, 8 * 1000 + COMMAND + READ + 2 * PAGE);
    // Eight program units: the last one is looked up when 32 units have been.
    let (latency, sensed) = read_alone(&config, 0, 256);
    assert_eq!((latency, sensed), (32 * 1000 + COMMAND + READ + 2 * PAGE, 8));
}

/// The same with a core busy elsewhere: units that cost nothing are all looked up when it is free.
#[test]
fn a_busy_core_has_each_page_read_once() {
    let mut config = sixteen_dies();
    config.controller.flash_cores = 2;
    config.controller.read_cost = Nanos(500);
    // 64 KiB: units go to the cores in turn; each has eight of them, a program unit.
    let (latency, sensed) = read_alone(&config, 0, 128);
    assert_eq!((latency, sensed), (8 * 500 + COMMAND + READ + 2 * PAGE, 4));
}

/// A read of a page depends on its page type, a program on its own: each is charged its own time.
#[test]
fn a_read_takes_the_read_time_of_its_page_type() {
    let mut config = sixteen_dies();
    config.timing.read = PageTimes::ByType(vec![Nanos(40_000), Nanos(70_000)]);
    config.timing.program = PageTimes::Same(Nanos(900_000));
    // 16 dies of 32 KiB to a row of pages.
    assert_eq!(read_alone(&config, 0, 8).0, COMMAND + 40_000 + 4096);
    assert_eq!(read_alone(&config, 1024, 8).0, COMMAND + 70_000 + 4096);
}

/// A word line programmed in one shot: the data of all its pages goes in, then its time runs once; a page of it is read by itself, with the
/// time of its type.
#[test]
fn a_word_line_in_one_shot_takes_its_time_once() {
    let mut config = sixteen_dies();
    config.geometry.pages_per_block = 18;
    config.ftl.one_shot = 3;
    config.timing.program = PageTimes::Same(Nanos(900_000));
    config.timing.read = PageTimes::ByType(vec![Nanos(40_000), Nanos(70_000), Nanos(90_000)]);
    config.controller.write_cache = WriteCache::Off;
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    // A program unit: three pages on each of two planes.
    let whole = 3 * 2 * PAGE;
    ssd.submit(Nanos::ZERO, command(Op::Write, 0, (whole / 512) as u32), Tag(0));
    let end = run_out(&mut ssd, Nanos::ZERO);
    assert_eq!(end.0, COMMAND + whole + 900_000);
    assert_eq!((ssd.counters().programs, ssd.counters().multi_plane_programs), (6, 1), "pages, operations");
    // Plane after plane, then row after row.
    for (kib, read) in [(0, 40_000), (16, 40_000), (32, 70_000), (64, 90_000), (92, 90_000)] {
        let mut completions = Vec::new();
        ssd.submit(end, command(Op::Read, kib * 2, 8), Tag(1));
        let now = ssd.advance_to_completion(Nanos::MAX, &mut completions);
        assert_eq!(now.0 - end.0, COMMAND + read + 4096, "the unit at {kib} KiB");
        ssd = Ssd::new(config.clone(), 1).unwrap();
        ssd.submit(Nanos::ZERO, command(Op::Write, 0, (whole / 512) as u32), Tag(0));
        assert_eq!(run_out(&mut ssd, Nanos::ZERO), end);
    }
}

//! The array does what Linux's md does. `tests/md/answers.txt` holds the answers of md itself (`tests/md/record.py` boots a kernel and asks
//! it): which members are read for a write of each size, with redundancy known to fit and while a resynchronisation waits, with every member
//! there and with some missing, and how long after a write an array is clean.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Device, Op, Outcome, Tag};
use outlast_settings::array::Level;
use outlast_units::Nanos;
use support::settings::{ArraySettings, array_of};
use support::{array, command, route};

const ANSWERS: &str = include_str!("../../../tests/md/answers.txt");
/// Stripes of one chunk of 4 KiB on each member.
const SECTORS: u64 = 400;

fn rows(way: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let own = ANSWERS.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    own.filter(move |row| row[0] == way)
}

fn level(name: &str) -> Level {
    match name {
        "raid5" => Level::Raid5,
        "raid6" => Level::Raid6,
        other => panic!("{other}"),
    }
}

fn parities(level: Level) -> u64 {
    if level == Level::Raid6 { 2 } else { 1 }
}

fn commands(array: &Array<PlainDevice>) -> Vec<(u64, u64)> {
    let counted = |column| {
        let smart = array.member(column).map(Device::smart).unwrap_or_default();
        (smart.host_read_commands, smart.host_write_commands)
    };
    (0..10).map(counted).collect()
}

/// Chunks read for a write of `chunks` chunks, and members both read and written.
fn write(array: &mut Array<PlainDevice>, now: Nanos, stripe: u64, data: u64, chunks: u32) -> (u64, u64) {
    let before = commands(array);
    array.submit_data(
        now,
        command(Op::Write, stripe * data * 8, chunks * 8),
        Tag(0),
        &vec![1; chunks as usize * 4096],
    );
    let mut done = Vec::new();
    array.advance(now + Nanos::millis(10), &mut done);
    assert_eq!(done.len(), 1);
    let each = commands(array).into_iter().zip(before).map(|(now, then)| (now.0 - then.0, now.1 - then.1));
    each.fold((0, 0), |(reads, both), (read, written)| {
        (reads + read, both + u64::from(read > 0 && written > 0))
    })
}

/// An array of chunks of 4 KiB and the time: whose redundancy fits, or where a resynchronisation waits, members `failed` missing.
fn asked(level: Level, members: u16, in_doubt: bool, failed: &[usize]) -> (Array<PlainDevice>, Nanos) {
    // One group at the start of a resynchronisation, and the next after four seconds.
    let config = array_of(level, members).with_rates(Some(1000), Some(1000));
    let mut array = array(config, SECTORS);
    let mut now = Nanos::ZERO;
    if in_doubt {
        array.submit(now, command(Op::Write, 0, 8), Tag(1));
        array.power_cut(now);
        array.power_on(now, false).unwrap();
        now = Nanos::secs(1);
        array.advance(now, &mut Vec::new());
    }
    for &column in failed {
        array.fail_member(now, column).unwrap();
    }
    assert_eq!(array.is_in_doubt(), in_doubt);
    (array, now)
}

#[test]
fn a_write_reads_what_md_reads() {
    let mut compared = 0;
    for way in ["idle", "resync"] {
        for row in rows(way) {
            let numbers: Vec<u64> = row[2..].iter().map(|number| number.parse().unwrap()).collect();
            let [members, chunks, read, both] = numbers[..] else { panic!("{row:?}") };
            let level = level(row[1]);
            let data = members - parities(level);
            let (mut array, now) = asked(level, members as u16, way == "resync", &[]);
            assert_eq!(write(&mut array, now, 30 + chunks, data, chunks as u32), (read, both), "{row:?}");
            compared += 1;
        }
    }
    // Three to ten members of RAID-5 and four to ten of RAID-6, from one chunk to all, twice.
    assert_eq!(compared, 2 * ((2..=9).sum::<u64>() + (2..=8).sum::<u64>()));
}

/// With each member missing in turn of each stripe, or two of RAID-6: parity, data that is written, data that is not. The same without time.
#[test]
fn a_degraded_write_reads_what_md_reads() {
    let mut compared = 0;
    for way in ["degraded", "degraded-resync"] {
        for row in rows(way) {
            let number = |field: usize| row[field].parse::<u64>().unwrap();
            let (members, stripe, chunks) = (number(2), number(4), number(5));
            let failed: Vec<usize> = row[3].split(',').map(|disk| disk.parse().unwrap()).collect();
            let level = level(row[1]);
            let data = members - parities(level);
            // The rotation decides, and there are fewer stripes here.
            let stripe = members * 2 + stripe % members;
            let (array, now) = asked(level, members as u16, way == "degraded-resync", &failed);
            let mut timed = array.clone();
            let found = write(&mut timed, now, stripe, data, chunks as u32);
            assert_eq!(found, (number(6), number(7)), "{row:?}");
            let mut untimed = array;
            let before = untimed.counters().member_reads;
            let whole = command(Op::Write, stripe * data * 8, chunks as u32 * 8);
            assert_eq!(route(&mut untimed, whole), Outcome::Ok);
            assert_eq!(untimed.counters().member_reads - before, number(6), "without time: {row:?}");
            compared += 1;
        }
    }
    // So many places of a rotation as members, from one chunk to all: RAID-5 without one member, RAID-6 without one, two side by side, two not.
    assert_eq!(compared, 2 * ((3 * 2 + 5 * 4 + 8 * 7) + 3 * (4 * 2 + 5 * 3 + 8 * 6)));
}

/// The rest of a chunk plays no part: a write of some of its rows reads those rows, from the same members.
#[test]
fn part_of_a_chunk_is_written_like_a_whole_one() {
    for row in rows("degraded").filter(|row| row[2] == "8" && row[5] == "1") {
        let number = |field: usize| row[field].parse::<u64>().unwrap();
        let failed: Vec<usize> = row[3].split(',').map(|disk| disk.parse().unwrap()).collect();
        let level = level(row[1]);
        let (mut array, now) = asked(level, 8, false, &failed);
        let stripe = 16 + number(4) % 8;
        let before = array.counters().member_reads;
        array.submit(now, command(Op::Write, stripe * (8 - parities(level)) * 8 + 2, 4), Tag(0));
        array.advance(now + Nanos::millis(10), &mut Vec::new());
        assert_eq!(array.counters().member_reads - before, number(6), "{row:?}");
    }
}

/// md's delay is 200 ms in ticks of its clock of 4 ms (204 ms here), rounded so that one to two of them pass. Linux's timers of more than 63
/// ticks are late by up to eight (`kernel/time/timer.c`), and the measurement adds up to a hundredth of a second at each end.
#[test]
fn an_array_is_clean_when_mds_is() {
    let mut longest = 0;
    for row in rows("clean-after") {
        let took: u64 = row[1].parse().unwrap();
        assert!((204 - 10..=2 * 204 + 8 * 4 + 20).contains(&took), "{row:?}");
        assert_eq!(row[2..], ["active", "clean"]);
        longest = longest.max(took);
    }
    assert!(longest > 300, "no phase of the clock was late");
    // Ours, over the phases of its own clock.
    for phase in 0..20 {
        let written = Nanos::millis(1_000 + phase * 11);
        let in_doubt = |after: u64| {
            let mut array = array(array_of(Level::Raid5, 4), SECTORS);
            array.advance(written, &mut Vec::new());
            array.submit(written, command(Op::Write, 0, 8), Tag(1));
            let cut = written + Nanos::millis(after);
            array.advance(cut, &mut Vec::new());
            array.power_cut(cut);
            array.power_on(cut, false).unwrap();
            array.is_in_doubt()
        };
        assert!(in_doubt(199) && !in_doubt(402), "written at {written}");
    }
}

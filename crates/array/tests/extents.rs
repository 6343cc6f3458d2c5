//! Extents and peeks of an array are true, whatever its members have lost: taken in the middle of its life, then compared with copies of
//! the array that are read from end to end, with and without a loss of power.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Device, ExtentState, Held, NoticeKind, Op, Outcome, Peek, SectorRun, Tag};
use outlast_settings::array::{ArrayConfig, Consistency, Level};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use proptest::prelude::*;
use support::life::filled;
use support::settings::{ArraySettings, array_of};
use support::{Host, command, plain, volatile};

pub(crate) const SECTORS: u64 = 200;

pub(crate) fn small(level: Level, members: u16) -> ArrayConfig {
    let config =
        array_of(level, members).with_consistency(Consistency::Resync).with_small_log(Bytes::kib(32));
    let config = config.with_rates(Some(6_000_000), Some(6_000_000)).with_window(6);
    config.with_read_errors(u32::MAX)
}

/// A life of `commands` commands on an array that is empty or full, with `faults` unreadable sectors and at most two members lost, one of
/// which may be on its way back.
fn age_array(level: Level, forgets: bool, seed: u64, commands: u64, faults: u64) -> Host<Array<PlainDevice>> {
    let mut rng = SplitMix::new(seed, "extents");
    let member = |seed| if forgets { volatile(SECTORS, seed) } else { plain(SECTORS, seed) };
    let config = small(level, 4);
    let members = u64::from(config.members);
    let array = Array::new(config, (0..members).map(member).collect(), true).unwrap();
    let mut host = if seed.is_multiple_of(2) { filled(array) } else { Host::new(array) };
    for _ in 0..commands {
        if rng.below(commands) < faults {
            if rng.below(4) == 0 {
                // Refused where the data would be lost.
                let column = rng.below(members) as usize;
                if host.device.fail_member(host.now, column).is_ok() && rng.below(2) == 0 {
                    host.device.replace(host.now, column, member(10 + rng.below(9)), false).unwrap();
                }
            } else if let Some(device) = host.device.member_mut(rng.below(members) as usize) {
                let first = rng.below(SECTORS);
                (first..(first + 6).min(SECTORS)).for_each(|sector| device.make_unreadable(sector));
            }
        }
        let next = host.random(&mut rng, 40);
        host.submit(next);
        while host.in_flight() > 4 {
            assert!(host.step());
        }
    }
    while host.in_flight() > 0 {
        assert!(host.step());
    }
    host
}

/// Result of a read of sector `sector`.
fn read(array: &mut Array<PlainDevice>, now: Nanos, sector: u64) -> Option<Vec<u8>> {
    let mut done = Vec::new();
    array.submit(now, command(Op::Read, sector, 1), Tag(7777));
    while !done.iter().any(|completion: &outlast_device::Completion| completion.tag == Tag(7777)) {
        array.advance_to_completion(Nanos(u64::MAX - 1), &mut done);
    }
    let outcome = done.iter().find(|completion| completion.tag == Tag(7777)).unwrap().outcome;
    let failed = array.take_failed(Tag(7777));
    match outcome {
        Outcome::Ok => assert_eq!(failed, None),
        outcome => {
            let run = SectorRun { lba: Lba(sector), sectors: 1 };
            assert_eq!((outcome, failed), (Outcome::MediumError, Some(vec![run])));
        }
    }
    array.take_data(Tag(7777))
}

/// Content of a sector as known without a read.
#[derive(Debug)]
enum PeekedSector {
    Unknown,
    /// The result of a read: the bytes, or `None` if it fails.
    Known(Option<Vec<u8>>),
}

/// Content of the sectors from `lba` on, as the array knows it without a read.
fn peek(array: &Array<PlainDevice>, lba: u64, sectors: u64) -> Vec<PeekedSector> {
    let mut peeks = Vec::new();
    array.peek(Lba(lba), sectors, &mut peeks);
    let mut peeked = Vec::new();
    for Peek { lba: first, sectors, held } in peeks {
        assert_eq!(first.0, lba + peeked.len() as u64);
        for sector in 0..sectors as usize {
            peeked.push(match &held {
                Held::Zeroes => PeekedSector::Known(Some(vec![0; SECTOR_BYTES as usize])),
                Held::Bytes { memory, from } => {
                    let first = from + sector * SECTOR_BYTES as usize;
                    PeekedSector::Known(Some(memory[first..first + SECTOR_BYTES as usize].to_vec()))
                }
                Held::Lost => PeekedSector::Known(None),
                Held::Unknown => PeekedSector::Unknown,
            });
        }
    }
    peeked
}

pub(crate) fn sector_states(array: &Array<PlainDevice>, lba: u64, sectors: u64) -> Vec<ExtentState> {
    let extents = array.extents(Lba(lba), sectors);
    assert!(extents.windows(2).all(|pair| pair[0].lba.0 + pair[0].sectors == pair[1].lba.0));
    extents.iter().flat_map(|extent| vec![extent.state; extent.sectors as usize]).collect()
}

#[derive(Default, Debug)]
struct StateCounts {
    holes: u64,
    lost: u64,
    misplaced: u64,
    volatile: u64,
    peeked: u64,
}

fn check_states(host: &Host<Array<PlainDevice>>, seed: u64, counts: &mut StateCounts) {
    let (array, now) = (&host.device, host.now);
    let states = sector_states(array, 0, u64::MAX);
    assert_eq!(states.len() as u64, host.capacity());
    let mut rng = SplitMix::new(seed, "ranges");
    for _ in 0..10 {
        let first = rng.below(host.capacity());
        let count = 1 + rng.below(host.capacity() - first);
        assert_eq!(sector_states(array, first, count), states[first as usize..(first + count) as usize]);
    }
    let mut before = Vec::new();
    let peeked = peek(array, 0, u64::MAX);
    assert_eq!(peeked.len(), states.len());
    for (sector, state) in (0..).zip(&states) {
        // Each from a copy of its own: reading mends what it can.
        let content = read(&mut array.clone(), now, sector);
        assert_eq!(state.lost, content.is_none(), "sector {sector} is {state:?}");
        let is_zero = content.as_ref().is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
        assert!(state.allocated || is_zero, "sector {sector} is {state:?}");
        if let PeekedSector::Known(peeked) = &peeked[sector as usize] {
            assert_eq!(*peeked, content, "sector {sector} is {state:?}");
            counts.peeked += 1;
        }
        assert!(!(state.lost && state.misplaced));
        counts.holes += u64::from(!state.allocated);
        counts.lost += u64::from(state.lost);
        counts.misplaced += u64::from(state.misplaced);
        before.push(content);
    }
    let mut cut = array.clone();
    cut.power_cut(now);
    cut.power_on(now, true).unwrap();
    for (sector, (state, before)) in (0..).zip(states.iter().zip(before)) {
        let after = read(&mut cut.clone(), now, sector);
        assert!(state.volatile || state.lost || after == before, "sector {sector} is {state:?}");
        counts.volatile += u64::from(after != before);
    }
    // Once members are rebuilt, and what cannot be saved is given up, what is given is still the truth.
    let mut later = host.clone();
    later.drain();
    later.read_all();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_an_array_says_is_what_it_gives_and_keeps(
        level in prop::sample::select(vec![
            Level::Raid0, Level::Raid1, Level::Raid4, Level::Raid5, Level::Raid6, Level::Raid10,
        ]),
        forgets: bool, seed: u64, commands in 5u64..80, faults in 0u64..10,
    ) {
        check_states(&age_array(level, forgets, seed, commands, faults), seed, &mut StateCounts::default());
    }
}

#[test]
fn extents_have_every_state() {
    let mut counts = StateCounts::default();
    for seed in 0..6 {
        for level in [Level::Raid5, Level::Raid10] {
            check_states(&age_array(level, true, seed, 40, 6), seed, &mut counts);
        }
    }
    let StateCounts { holes, lost, misplaced, volatile, peeked } = counts;
    assert!(holes > 50 && lost > 5 && misplaced > 50 && volatile > 50 && peeked > 500, "{counts:?}");
}

/// A device by itself: what was never written is a hole, what failed is lost or is asked for, what has not been flushed may go.
#[test]
fn a_plain_device_reports_the_same_states_of_its_sectors() {
    let mut host = Host::new(volatile(64, 1));
    host.submit(command(Op::Write, 8, 16));
    host.drain();
    host.submit(command(Op::Flush, 0, 0));
    host.drain();
    host.submit(command(Op::Write, 20, 2));
    host.drain();
    host.device.make_unreadable(9);
    let (lost, fake) = (vec![10], vec![11, 12]);
    let notice = NoticeKind::DieFailed { die: 0 };
    host.device.plan_failure(outlast_array::PlainFailure { at: host.now, notice, lost, fake });
    host.device.advance(host.now, &mut Vec::new());
    let reported: Vec<_> =
        host.device.extents(Lba(0), 28).iter().map(|run| (run.lba.0, run.sectors, run.state)).collect();
    let (good, hole) = (ExtentState::GOOD, ExtentState::HOLE);
    let expected = [
        (0, 8, hole),
        (8, 1, good),
        (9, 2, ExtentState { lost: true, ..good }),
        (11, 2, ExtentState { misplaced: true, ..good }),
        (13, 7, good),
        (20, 2, ExtentState { volatile: true, ..good }),
        (22, 2, good),
        (24, 4, hole),
    ];
    assert_eq!(reported, expected);
    assert_eq!(host.device.identify().capacity, Bytes(64 * SECTOR_BYTES));
    host.device.submit(host.now, command(Op::Read, 8, 8), Tag(3));
    let mut done = Vec::new();
    host.device.advance_to_completion(Nanos(u64::MAX - 1), &mut done);
    assert_eq!(done[0].outcome, Outcome::MediumError);
    assert_eq!(host.device.take_failed(Tag(3)), Some(vec![SectorRun { lba: Lba(9), sectors: 2 }]));
}

//! Members that fail, wear out, refuse writes, or come back from a loss of power: one case each.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayError, ArrayEventKind, ArrayHealth, ColumnIndex, PassKind, PlainDevice};
use outlast_device::{Device, Op};
use outlast_settings::array::{ArrayConfig, Consistency, Level, PlainConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Nanos};
use support::life;
use support::settings::{ArraySettings, array_of};
use support::{Host, array, command, plain};

const SECTORS: u64 = 400;

fn small(level: Level, members: u16) -> ArrayConfig {
    array_of(level, members).unpaced()
}

/// A host that has written every sector.
fn filled(config: ArrayConfig) -> Host<Array<PlainDevice>> {
    life::filled(array(config, SECTORS))
}

fn has(host: &Host<Array<PlainDevice>>, wanted: impl Fn(&ArrayEventKind) -> bool) -> bool {
    host.device.events().iter().any(|event| wanted(&event.kind))
}

#[test]
fn a_spare_takes_over_automatically() {
    let mut host = filled(small(Level::Raid5, 4).with_spares(1));
    host.device.fail_member(host.now, 1).unwrap();
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Degraded);
    assert_eq!(host.device.progress(host.now).unwrap().kind, PassKind::Rebuild);
    host.drain();
    let status = host.device.status(host.now);
    assert_eq!((status.state, status.spares), (ArrayHealth::Clean, 0));
    assert!(has(&host, |kind| *kind == ArrayEventKind::Rebuilt { member: ColumnIndex(1) }));
    assert_eq!(host.device.removed().len(), 1);
    host.device.fail_member(host.now, 3).unwrap();
    assert_eq!(host.read_all(), [0u64; 0], "the rebuilt member holds what it should");
    assert_eq!(host.device.fail_member(host.now, 3), Err(ArrayError::Absent { member: 3 }));
}

#[test]
fn the_only_copy_is_not_replaced_without_force() {
    let mut host = filled(small(Level::Raid5, 3));
    host.device.fail_member(host.now, 0).unwrap();
    let refused = host.device.replace(host.now, 1, plain(SECTORS, 9), false).unwrap_err();
    assert_eq!(refused, ArrayError::OnlyCopy { member: 1 });
    let small_one = host.device.replace(host.now, 0, plain(SECTORS / 2, 9), false).unwrap_err();
    assert!(small_one.to_string().starts_with("capacity = 100KiB: the new device must have at least 200KiB"));
    let nowhere = host.device.replace(host.now, 7, plain(SECTORS, 9), false).unwrap_err();
    assert_eq!(nowhere.to_string(), "member = 7: must be below 3, the number of members");
    let mut raid0 = filled(small(Level::Raid0, 2));
    assert!(raid0.device.replace(raid0.now, 0, plain(SECTORS, 9), false).is_err());
    let mut raid10 = filled(small(Level::Raid10, 4));
    raid10.device.fail_member(raid10.now, 0).unwrap();
    assert!(raid10.device.replace(raid10.now, 1, plain(SECTORS, 9), false).is_err(), "1 mirrors 0");
    raid10.device.replace(raid10.now, 2, plain(SECTORS, 9), false).unwrap();
    assert_eq!(raid10.read_all(), [0u64; 0]);
}

/// Two members of RAID-5 are gone: what is on the others can still be read, nothing is invented, nothing more is written.
#[test]
fn a_failed_array_returns_no_wrong_data() {
    let mut host = filled(small(Level::Raid5, 5));
    host.device.fail_member(host.now, 0).unwrap();
    host.device.fail_member(host.now, 1).unwrap();
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Failed);
    let unreadable = host.read_all().len() as u64;
    // Of each stripe's four data chunks those on two of five members are gone: two, or one where parity was one of these.
    assert_eq!(unreadable, host.capacity() / 4 * 8 / 5);
    host.submit(command(Op::Write, 0, 8));
    host.drain();
    assert_eq!(host.refused, 1);
}

/// A second member fails during the rebuild: what was rebuilt so far is safe, the rest is lost where it needs both.
#[test]
fn a_second_failure_during_rebuild_costs_only_what_was_not_rebuilt() {
    let mut config = small(Level::Raid5, 4);
    config.background.window = 1;
    let mut host = filled(config);
    host.device.fail_member(host.now, 2).unwrap();
    host.device.replace(host.now, 2, plain(SECTORS, 77), false).unwrap();
    while host.device.progress(host.now).is_some_and(|progress| progress.done < Bytes::kib(100)) {
        let at = host.device.next_deadline().unwrap();
        host.now = at;
        host.device.advance(at, &mut Vec::new());
    }
    host.device.fail_member(host.now, 0).unwrap();
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Failed);
    let unreadable = host.read_all();
    assert!(unreadable.iter().all(|&lba| lba >= 25 * 24), "the first 25 stripes are rebuilt: {unreadable:?}");
    assert!(!unreadable.is_empty() && unreadable.len() as u64 <= 25 * 16);
}

/// Unreadable sectors met while rebuilding are counted and located, and the rest of their stripes is saved.
#[test]
fn unreadable_sectors_during_rebuild_cost_only_themselves() {
    let mut host = filled(small(Level::Raid5, 4));
    host.device.member_mut(1).unwrap().make_unreadable(3);
    host.device.member_mut(3).unwrap().make_unreadable(100);
    host.device.fail_member(host.now, 0).unwrap();
    host.device.replace(host.now, 0, plain(SECTORS, 5), false).unwrap();
    host.drain();
    let status = host.device.status(host.now);
    assert_eq!(status.state, ArrayHealth::Clean);
    let lost: Vec<u64> = host.device.lost().iter().flatten().collect();
    // In each of the two rows, the chunk of the missing member and the unreadable one, unless one of them was parity.
    assert_eq!(status.lost_sectors, lost.len() as u64);
    assert!((2..=4).contains(&lost.len()), "{lost:?}");
    assert_eq!(host.read_all(), lost);
    for &lba in &lost {
        host.submit(command(Op::Write, lba, 1));
    }
    assert_eq!(host.read_all(), [0u64; 0], "what is written anew can be read again");
    assert!(host.device.lost().is_empty());
    host.device.start_scrub(host.now, false);
    host.drain();
    assert_eq!(host.device.counters().mismatches, 0);
}

/// A scrub finds silent corruption of parity and of copies, says how much, and repairs it when told to.
#[test]
fn scrubs_find_and_repair() {
    for (config, member) in
        [(small(Level::Raid4, 4), 3), (small(Level::Raid1, 2), 1), (small(Level::Raid6, 5), 2)]
    {
        let mut host = filled(config);
        // Sector 1 of the first stripe: parity of RAID-4, a copy, and (left-symmetric) data of RAID-6: two parities disagree.
        host.device.member_mut(member).unwrap().corrupt(1);
        host.device.member_mut(member).unwrap().make_unreadable(200);
        host.device.start_scrub(host.now, false);
        host.drain();
        let found = host.device.counters();
        assert!((1..=2).contains(&found.mismatches));
        assert_eq!(found.sectors_repaired, 8, "the chunk with the unreadable one is rewritten in any case");
        host.device.start_scrub(host.now, true);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 2 * found.mismatches);
        host.device.start_scrub(host.now, false);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 2 * found.mismatches, "repaired");
        assert!(has(&host, |kind| *kind == ArrayEventKind::Scrubbed { mismatches: 0 }));
    }
}

#[test]
fn scrubs_start_at_the_interval() {
    let mut config = small(Level::Raid5, 3);
    config.background.scrub_interval = Some(Nanos::secs(10));
    let mut array = array(config, SECTORS);
    array.advance(Nanos::secs(35), &mut Vec::new());
    let scrubs =
        array.events().iter().filter(|event| matches!(event.kind, ArrayEventKind::Scrubbed { .. })).count();
    assert_eq!(scrubs, 3);
}

/// Read errors beyond the threshold throw a member out, unless the array needs it.
#[test]
fn failing_members_are_ejected() {
    let mut host = filled(small(Level::Raid5, 4).with_spares(1).with_read_errors(5));
    for sector in 0..40 {
        host.device.member_mut(2).unwrap().make_unreadable(sector * 8);
    }
    assert_eq!(host.read_all(), [0u64; 0]);
    host.drain();
    assert_eq!(host.device.counters().ejected, 1);
    assert!(
        has(&host, |kind| *kind == ArrayEventKind::MemberFailed { member: ColumnIndex(2), failed: false })
    );
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean, "the spare took over");
    // RAID-0 keeps its member: bad data is better than none.
    let mut raid0 = filled(small(Level::Raid0, 2).with_read_errors(5));
    for sector in 0..40 {
        raid0.device.member_mut(1).unwrap().make_unreadable(sector);
    }
    assert_eq!(raid0.read_all().len(), 40);
    assert_eq!(raid0.device.counters().ejected, 0);
}

/// A member may have as many read errors as the threshold says; one more, and it is ejected.
#[test]
fn a_member_is_ejected_by_the_first_error_above_the_threshold() {
    for read_errors in [0, 1, 5, 20] {
        let ejected = |errors: u64| {
            let mut host = filled(small(Level::Raid1, 2).with_read_errors(read_errors));
            (0..errors).for_each(|sector| host.device.member_mut(0).unwrap().make_unreadable(sector * 8));
            for sector in 0..errors {
                // The least busy copy, of equals the first: the one that cannot be read.
                host.submit(command(Op::Read, sector * 8, 1));
                host.drain();
            }
            assert!(host.errors.is_empty());
            assert_eq!(host.device.counters().read_errors, errors);
            host.device.counters().ejected
        };
        assert_eq!(
            (ejected(read_errors.into()), ejected(u64::from(read_errors) + 1)),
            (0, 1),
            "{read_errors}"
        );
    }
}

#[test]
fn a_member_that_refuses_writes_leaves_or_makes_the_array_read_only() {
    let mut host = filled(small(Level::Raid5, 4));
    host.device.member_mut(0).unwrap().refuse_writes();
    for lba in 0..20 {
        host.submit(command(Op::Write, lba * 8, 8));
    }
    host.drain();
    assert_eq!((host.refused, host.device.status(host.now).state), (0, ArrayHealth::Degraded));
    host.device.member_mut(1).unwrap().refuse_writes();
    for lba in 0..20 {
        host.submit(command(Op::Write, lba * 8, 8));
    }
    host.drain();
    assert!(host.refused > 0 && host.device.status(host.now).read_only);
    let unreadable = host.read_all();
    let lost: Vec<u64> = host.device.lost().iter().flatten().collect();
    assert_eq!(unreadable, lost, "what parity can no longer give is an error, not an invention");
}

/// md's rates: a rebuild goes at the upper one, and so it does beside a busy host, for which it waits no longer than what it has under way.
#[test]
fn rebuild_keeps_to_its_upper_rate() {
    let measure = |busy: bool| {
        let mut config = small(Level::Raid5, 4);
        config.background.min_rate = ByteRate::new(1_000_000);
        config.background.max_rate = ByteRate::new(10_000_000);
        let mut host = filled(config);
        host.now += Nanos::secs(1);
        host.device.fail_member(host.now, 1).unwrap();
        let start = host.now;
        host.device.replace(start, 1, plain(SECTORS, 5), false).unwrap();
        let mut rng = SplitMix::new(1, "busy");
        let rebuilt = |host: &Host<Array<PlainDevice>>| {
            let events = host.device.events().iter();
            events
                .filter(|event| event.kind == ArrayEventKind::Rebuilt { member: ColumnIndex(1) })
                .map(|event| event.at)
                .next()
        };
        while busy && rebuilt(&host).is_none() {
            while host.in_flight() < 4 {
                let next = host.random(&mut rng, 8);
                host.submit(next);
            }
            assert!(host.step());
        }
        host.drain();
        (rebuilt(&host).unwrap() - start).as_secs_f64()
    };
    // 50 stripes of 4 KiB, the first at once: 49 × 4096 B at the rate, plus the last stripe's own time, below a millisecond.
    let (idle, busy) = (measure(false), measure(true));
    assert!((0.0200..0.0212).contains(&idle), "{idle}");
    assert!((0.0200..0.0222).contains(&busy), "{busy}: it waits once, at 128 KiB");
}

/// Power fails while two members of each stripe are being written, and one is missing afterwards. Without records the array must
/// refuse, and its data is wrong when forced; with records it is right.
#[test]
fn the_write_hole_is_there_and_records_close_it() {
    let wrong = |consistency: Consistency| {
        let mut bad = 0;
        let mut refused = 0;
        for seed in 0..20 {
            let mut config = small(Level::Raid5, 4).with_consistency(consistency);
            config.log.size = Bytes::kib(32);
            let mut host = filled(config);
            for lba in 0..20 {
                host.submit(command(Op::Write, (lba * 7 + seed) * 24 % 900, 3));
            }
            let cut = host.now + Nanos::micros(100 + seed * 20);
            host.device.power_cut(cut);
            host.now = cut;
            host.forget_in_flight();
            // A member does not come back, and its absence shows before the array starts.
            host.device.fail_member(cut, 1).unwrap();
            refused += u32::from(host.device.power_on(cut, false).is_err());
            host.device.power_on(cut, true).unwrap();
            host.tolerant = true;
            host.read_all();
            bad += u32::from(host.wrong > 0);
            let holes = host.device.counters().write_holes;
            assert!(host.wrong == 0 || holes > 0, "wrong content without a known hole");
        }
        (bad, refused)
    };
    let (bad, refused) = wrong(Consistency::Resync);
    assert!(bad > 0 && refused == 20, "{bad} holes, {refused} refused");
    let (bad, refused) = wrong(Consistency::Bitmap);
    assert!(bad > 0 && refused > 0, "{bad} holes, {refused} refused");
    assert_eq!(
        wrong(Consistency::Ppl),
        (0, 0),
        "in-flight data of the missing member may be unreadable, never wrong"
    );
    assert_eq!(wrong(Consistency::Journal), (0, 0));
}

#[test]
fn members_are_used_up_to_the_size_of_the_smallest_and_a_notice_says_so() {
    let devices = vec![plain(400, 0), plain(240, 1), plain(400, 2)];
    let array = Array::new(small(Level::Raid5, 3), devices, true).unwrap();
    assert_eq!(array.identify().capacity, Bytes::kib(240));
    assert_eq!(array.notices(), ["members differ in size: 120KiB of each is used, up to 200KiB there is"]);
    let too_few = Array::new(small(Level::Raid6, 4), vec![plain(400, 0)], true).unwrap_err();
    assert_eq!(too_few.to_string(), "array.members = 4: needs 4 devices with its 0 spares, not 1");
    let config = small(Level::Raid5, 3).with_chunk(Bytes::mib(1));
    let devices = vec![plain(400, 0), plain(400, 1), plain(400, 2)];
    let error = Array::new(config, devices, true).unwrap_err().to_string();
    assert_eq!(error, "array.chunk = 1MiB: must fit into the 200KiB of the smallest member");
}

#[test]
fn status_reads_like_mdstat() {
    let mut host = filled(small(Level::Raid5, 4).with_spares(1));
    assert_eq!(host.device.status(host.now).to_string(), "raid5 [4/4] [UUUU] spares=1");
    host.device.fail_member(host.now, 2).unwrap();
    let status = host.device.status(host.now).to_string();
    assert!(status.starts_with("raid5 [4/3] [UU_U] recovery = 0.0%"), "{status}");
}

/// Bookkeeping does not grow with the size of the array, and grows with the number of drives at most as they do.
#[test]
fn memory_is_linear_in_drives() {
    let bytes = |members: u16, capacity: Bytes| {
        let devices = (0..members)
            .map(|seed| PlainDevice::new(PlainConfig::new(capacity), u64::from(seed)).unwrap())
            .collect();
        let mut host = Host::new(Array::new(small(Level::Raid5, members), devices, false).unwrap());
        for i in 0..64 {
            host.device.submit(
                Nanos::ZERO,
                command(Op::Write, i * 8 * 31 % host.capacity(), 8),
                outlast_device::Tag(i as u32),
            );
        }
        host.device.heap_bytes()
    };
    assert_eq!(bytes(4, Bytes::mib(1)), bytes(4, Bytes::mib(64)));
    assert!(bytes(16, Bytes::mib(1)) <= 4 * bytes(4, Bytes::mib(1)));
}

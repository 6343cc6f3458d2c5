//! Every read returns the last write while all members work: every level and layout, with bytes; and the cost of each write.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Device, Op, Outcome};
use outlast_settings::array::{ArrayConfig, CopyLayout, Level, ParityLayout, ShiftWay, StripeWrites};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use support::drives;
use support::settings::{ArraySettings, array_of};
use support::{Host, array, command, plain, route};

/// One configuration of each kind.
fn every_kind() -> Vec<ArrayConfig> {
    let mut kinds = vec![
        array_of(Level::Raid0, 3),
        array_of(Level::Raid1, 3),
        array_of(Level::Raid4, 4),
        array_of(Level::Raid6, 6),
        array_of(Level::Code, 7).with_parities(3),
        array_of(Level::Code, 2).with_parities(1),
    ];
    for layout in [
        ParityLayout::LeftSymmetric,
        ParityLayout::LeftAsymmetric,
        ParityLayout::RightSymmetric,
        ParityLayout::RightAsymmetric,
        ParityLayout::ParityFirst,
        ParityLayout::ParityLast,
    ] {
        kinds.push(array_of(Level::Raid5, 5).with(|config| config.layout = layout));
    }
    for copy_layout in [CopyLayout::Near, CopyLayout::Far, CopyLayout::Offset] {
        kinds.push(array_of(Level::Raid10, 3).with_copies(copy_layout));
        kinds.push(array_of(Level::Raid10, 4).with_copies(copy_layout).with(|config| config.copies = 3));
    }
    for writes in [StripeWrites::NoReconstruct, StripeWrites::ChunkByChunk] {
        let of = |level, percent| array_of(level, 5).with_parity_percent(percent, ShiftWay::Minimal);
        kinds.push(of(Level::Raid5, &[80.0, 5.0, 5.0, 5.0, 5.0]).with_writes(writes));
        kinds.push(of(Level::Raid6, &[40.0, 20.0, 20.0, 10.0, 10.0]).with_writes(writes));
    }
    kinds
}

#[test]
fn every_read_returns_the_last_write() {
    for (seed, config) in every_kind().into_iter().enumerate() {
        let mut rng = SplitMix::new(seed as u64, "normal");
        let mut host = Host::new(array(config.clone(), 200));
        for _ in 0..1_000 {
            while host.in_flight() >= 16 {
                assert!(host.step());
            }
            let next = host.random(&mut rng, 90);
            host.submit(next);
        }
        host.drain();
        host.device.self_check().unwrap();
        assert_eq!(host.read_all(), [0u64; 0], "{config:?}");
        assert!(host.reads_checked > 3_000);
        host.device.start_scrub(host.now, false);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 0, "{config:?}");
        let counters = host.device.counters();
        assert_eq!((counters.sectors_lost, counters.read_errors), (0, 0));
    }
}

/// Arrays are devices: RAID-0 over RAID-5 over plain devices (RAID-50).
#[test]
fn arrays_nest() {
    let inner = |seed: u64| {
        let config = array_of(Level::Raid5, 3);
        Array::new(config, (0..3).map(|i| plain(200, seed * 3 + i)).collect::<Vec<PlainDevice>>(), true)
            .unwrap()
    };
    let outer = Array::new(array_of(Level::Raid0, 2), vec![inner(0), inner(1)], true).unwrap();
    let mut host = Host::new(outer);
    let mut rng = SplitMix::new(5, "nested");
    for step in 0..2_000 {
        while host.in_flight() >= 16 {
            assert!(host.step());
        }
        if step == 1_000 {
            let now = host.now;
            host.device.member_mut(1).unwrap().fail_member(now, 2).unwrap();
        }
        let next = host.random(&mut rng, 90);
        host.submit(next);
    }
    assert_eq!(host.read_all(), [0u64; 0]);
    assert!(host.device.member(1).unwrap().counters().degraded_reads > 50);
}

/// A drive of 16 superblocks of 64 units of 4 KiB, of which the host sees 600 units.
fn drive(seed: u64) -> Ssd {
    Ssd::new(drives::drive([2, 2, 2], 16, 8, Bytes(600 * 4096), Bytes::kib(256)), seed).unwrap()
}

/// Simulated drives as members: garbage collection below, a member failed and replaced above.
#[test]
fn drives_can_be_members() {
    for level in [Level::Raid5, Level::Raid1, Level::Raid6] {
        let array = Array::new(array_of(level, 4), (0..4).map(drive).collect(), true).unwrap();
        let mut host = Host::new(array);
        let mut rng = SplitMix::new(9, "drives");
        for step in 0..6_000 {
            while host.in_flight() >= 16 {
                assert!(host.step());
            }
            match step {
                2_000 => host.device.fail_member(host.now, 1).unwrap(),
                3_000 => {
                    host.device.replace(host.now, 1, drive(7), false).unwrap();
                }
                _ => {}
            }
            let next = host.random(&mut rng, 90);
            host.submit(next);
        }
        assert_eq!(host.read_all(), [0u64; 0]);
        host.device.start_scrub(host.now, false);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 0);
        host.device.self_check().unwrap();
    }
}

/// Member commands of one write of `sectors` at `lba` on a five-member RAID-5 with chunks of 8 sectors.
fn cost(writes: StripeWrites, lba: u64, sectors: u32) -> (u64, u64) {
    let mut host = Host::new(array(array_of(Level::Raid5, 5).with_writes(writes), 200));
    host.submit(command(Op::Write, lba, sectors));
    host.drain();
    (host.device.counters().member_reads, host.device.counters().member_writes)
}

/// Reads and writes by method: old data and parity for one chunk of four (2 + 2), the rest for three (1 + 4), nothing for all (0 + 5).
#[test]
fn the_cheapest_write_method_is_chosen() {
    use StripeWrites::{Cheapest, ChunkByChunk, NoReconstruct};
    assert_eq!(cost(Cheapest, 0, 8), (2, 2));
    assert_eq!(cost(Cheapest, 0, 16), (2, 3), "two of four: the other two, rather than two and parity");
    assert_eq!(cost(Cheapest, 0, 24), (1, 4));
    assert_eq!(cost(Cheapest, 0, 32), (0, 5));
    assert_eq!(cost(NoReconstruct, 0, 24), (4, 4));
    assert_eq!(cost(NoReconstruct, 0, 32), (0, 5));
    assert_eq!(cost(ChunkByChunk, 0, 32), (8, 8));
    // Rows 4..8 of chunk 0 and all of chunks 1 to 3: one band over three chunks, one over all.
    assert_eq!(cost(Cheapest, 4, 28), (1, 9));
}

/// Counts of a write of the first `chunks` chunks of a stripe, with time and without: full, reconstruct- and read-modify-writes, reads of
/// members.
fn ways(level: Level, members: u16, chunks: u32) -> [[u64; 4]; 2] {
    let counted = |array: &Array<PlainDevice>| {
        let counters = array.counters();
        [counters.full_writes, counters.complete_writes, counters.delta_writes, counters.member_reads]
    };
    let write = command(Op::Write, 0, chunks * 8);
    let mut host = Host::new(array(array_of(level, members), 200));
    host.submit(write);
    host.drain();
    let mut untimed = array(array_of(level, members), 200);
    assert_eq!(route(&mut untimed, write), Outcome::Ok);
    [counted(&host.device), counted(&untimed)]
}

/// md's choice (`handle_stripe_dirtying`, `rmw_level` 1, the default): `rcw` chunks would have to be read to write the stripe anew, `rmw` to
/// change its parity. Of two that cost the same the former: one chunk of a RAID-5 of four members, or of a RAID-6 of six, reads the rest.
#[test]
fn at_equal_cost_the_unwritten_data_is_read() {
    let mut ties = 0;
    for (level, parities) in [(Level::Raid5, 1), (Level::Raid6, 2)] {
        for members in parities + 2..=16 {
            let data = members - parities;
            for written in 1..=data {
                let (rcw, rmw) = (data - written, written + parities);
                ties += u32::from(rcw == rmw);
                let expected = match rcw {
                    0 => [1, 0, 0, 0],
                    _ if rcw <= rmw => [0, 1, 0, rcw],
                    _ => [0, 0, 1, rmw],
                };
                let found = ways(level, members, u32::from(written));
                assert_eq!(found, [expected.map(u64::from); 2], "{level:?} of {members}, {written} chunks");
            }
        }
    }
    // Every other size of array has one: data = 2 · written + parities.
    assert_eq!(ties, 7 + 6);
    assert_eq!(ways(Level::Raid5, 4, 1), [[0, 1, 0, 2]; 2]);
    assert_eq!(ways(Level::Raid6, 6, 1), [[0, 1, 0, 3]; 2]);
}

/// Two writes of one sector that are under way at once leave copies and parity in agreement.
#[test]
fn overlapping_writes_leave_redundancy_right() {
    for config in [array_of(Level::Raid1, 2), array_of(Level::Raid5, 3), array_of(Level::Raid6, 5)] {
        let mut host = Host::new(array(config, 64));
        for _ in 0..200 {
            host.submit(command(Op::Write, 3, 2));
        }
        host.device.start_scrub(Nanos::ZERO, false);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 0);
        assert_eq!(host.read_all(), [0u64; 0]);
    }
}

//! Data that an array gives up: the losses that this causes, those that it must not cause, and reads that may return wrong data.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::extents::{SECTORS, sector_states, small};
use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_decisions::RepairWay;
use outlast_device::Op;
use outlast_settings::array::{Consistency, Level};
use support::life::{Life, at_rates, filled, owns_up};
use support::settings::ArraySettings;
use support::{Host, command, plain};

fn empty(level: Level, members: u16) -> Array<PlainDevice> {
    let devices = (0..u64::from(members)).map(|seed| plain(SECTORS, seed)).collect();
    Array::new(small(level, members), devices, true).unwrap()
}

/// Two members cannot read sector 3 of a row. A write of the one's chunk finds that out and gives the other's up, for which it writes
/// zeroes; a read that came meanwhile waits for it, and must not take the zeroes for data.
#[test]
fn a_read_that_waits_while_its_data_is_given_up_fails() {
    let mut host = Host::new(empty(Level::Raid4, 4));
    host.submit(command(Op::Write, 0, 24));
    host.drain();
    (0..2).for_each(|column| host.device.member_mut(column).unwrap().make_unreadable(3));
    assert!(sector_states(&host.device, 3, 1)[0].lost && sector_states(&host.device, 11, 1)[0].lost);
    host.submit(command(Op::Write, 8, 5));
    host.submit(command(Op::Read, 3, 1));
    host.drain();
    assert_eq!(host.errors, [(3, 1)]);
    assert!(sector_states(&host.device, 3, 1)[0].lost && !sector_states(&host.device, 11, 1)[0].lost);
    assert_eq!(host.read_all(), [3]);
}

/// A rebuild that cannot save its member's data still costs another's only the sectors that cannot be read.
#[test]
fn a_rebuild_without_redundancy_gives_up_no_sector_that_can_be_read() {
    let mut host = Host::new(empty(Level::Raid0, 4));
    host.submit(command(Op::Write, 0, 64));
    host.drain();
    (10..13).for_each(|sector| host.device.member_mut(2).unwrap().make_unreadable(sector));
    host.device.fail_member(host.now, 3).unwrap();
    host.device.replace(host.now, 3, plain(SECTORS, 9), false).unwrap();
    let states = sector_states(&host.device, 0, 64);
    host.drain();
    assert_eq!(sector_states(&host.device, 0, 64), states);
    assert_eq!(
        host.read_all().into_iter().filter(|&lba| lba < 64).collect::<Vec<_>>(),
        [24, 25, 26, 27, 28, 29, 30, 31, 50, 51, 52, 56, 57, 58, 59, 60, 61, 62, 63]
    );
    // All of the lost member's chunks, once.
    assert_eq!(host.device.counters().sectors_lost, SECTORS + 3);
}

/// Of a stripe some members are gone, and of another some sectors cannot be read, though parity can: what is given up becomes zeroes, to
/// which the old parity does not belong, so that nothing can be computed from both.
#[test]
fn data_that_was_given_up_is_no_source_of_other_data() {
    for (level, members, gone) in [(Level::Raid5, 4, &[1, 3][..]), (Level::Raid6, 5, &[1, 2, 4])] {
        let mut host = filled(empty(level, members));
        // Member 0 has data of the second stripe.
        (9..13).for_each(|sector| host.device.member_mut(0).unwrap().make_unreadable(sector));
        for &column in gone {
            host.device.fail_member(host.now, column).unwrap();
            host.device.replace(host.now, column, plain(SECTORS, 10), false).unwrap();
        }
        let states = sector_states(&host.device, 0, 64);
        host.drain();
        assert_eq!(sector_states(&host.device, 0, 64), states);
        let lost = host.read_all().into_iter().filter(|&lba| lba < 64).count();
        assert_eq!(lost, states.iter().filter(|state| state.lost).count());
    }
}

/// Parity that a loss of power has left wrong gives wrong data, which the array cannot know; but that it was needed it counts, whether a
/// member is gone or only some of its sectors. Where records carry writes over the loss of power nothing is wrong.
#[test]
fn wrong_data_comes_only_of_write_holes_that_are_counted() {
    use Consistency::{Bitmap, Journal, Ppl, Resync};
    for (consistency, may_be_wrong) in [(Resync, true), (Bitmap, true), (Ppl, false), (Journal, false)] {
        let mut wrong = 0;
        for seed in 0..120 {
            let config = at_rates(RepairWay::Die, 1_000_000, 50_000_000).with_consistency(consistency);
            let mut life = Life::new(&config, seed);
            life.go_on(if seed % 2 == 0 { 20 } else { 160 });
            life.host.drain();
            life.host.read_all();
            owns_up(&life.host, &(consistency, seed));
            wrong += u32::from(life.host.wrong > 0);
        }
        assert_eq!(wrong > 3, may_be_wrong, "{consistency:?}: content was wrong in {wrong} lives");
    }
}

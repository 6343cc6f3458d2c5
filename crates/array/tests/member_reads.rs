//! Reads of a member from outside return the content of the member, not that of the array.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Completion, Device, Extent, ExtentState, Op, Outcome, SectorRun, Tag};
use outlast_settings::array::Level;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use support::settings::array_of;
use support::{Host, array, command};

const SECTORS: u64 = 200;
const TAG: Tag = Tag(5000);

fn filled(level: Level) -> Host<Array<PlainDevice>> {
    let mut host = Host::new(array(array_of(level, 3), SECTORS));
    for lba in (0..host.capacity()).step_by(8) {
        host.submit(command(Op::Write, lba, 8));
        host.drain();
    }
    host
}

/// The completion of the read under way; there is nothing else.
fn wait(array: &mut Array<PlainDevice>) -> Completion {
    let mut done = Vec::new();
    array.advance_to_completion(Nanos(u64::MAX - 1), &mut done);
    assert_eq!((done.len(), done[0].tag), (1, TAG));
    array.self_check().unwrap();
    done[0]
}

fn read(
    host: &mut Host<Array<PlainDevice>>,
    column: usize,
    lba: u64,
    sectors: u32,
) -> (Outcome, Option<Vec<u8>>) {
    host.device.read_member(host.now, column, Lba(lba), sectors, TAG);
    let done = wait(&mut host.device);
    host.now = done.at;
    (done.outcome, host.device.take_data(TAG))
}

fn run(lba: u64, sectors: u64) -> Vec<SectorRun> {
    vec![SectorRun { lba: Lba(lba), sectors }]
}

#[test]
fn copies_are_alike_and_parity_fits() {
    for level in [Level::Raid1, Level::Raid4, Level::Raid5] {
        let mut host = filled(level);
        let (before, own) = (host.now, host.device.counters());
        let sectors = (host.capacity() / if level == Level::Raid1 { 1 } else { 2 }) as u32;
        let members: Vec<Vec<u8>> =
            (0..3).map(|column| read(&mut host, column, 0, sectors).1.unwrap()).collect();
        assert!(members[0].iter().any(|&byte| byte != 0) && host.now > before, "reading takes time");
        if level == Level::Raid1 {
            assert!(members[0] == members[1] && members[1] == members[2]);
        } else {
            assert!((0..members[0].len()).all(|at| members[0][at] ^ members[1][at] ^ members[2][at] == 0));
        }
        assert_eq!(host.device.counters(), own, "it is none of the array's work");
    }
}

#[test]
fn a_read_from_outside_fails_at_sectors_that_the_member_cannot_read() {
    let mut host = filled(Level::Raid5);
    (40..43).for_each(|sector| host.device.member_mut(1).unwrap().make_unreadable(sector));
    assert_eq!(read(&mut host, 1, 32, 16), (Outcome::MediumError, None));
    assert_eq!(host.device.take_failed(TAG).unwrap(), run(40, 3));
    let runs = host.device.member_extents(1, Lba(32), 16);
    let lost = runs.iter().filter(|run| run.state.lost).map(|run| (run.lba.0, run.sectors));
    assert_eq!(lost.collect::<Vec<_>>(), [(40, 3)]);
    assert_eq!(read(&mut host, 2, 32, 16).0, Outcome::Ok);
}

#[test]
fn a_read_of_a_dead_member_fails() {
    let mut host = filled(Level::Raid5);
    // One read is under way when it dies.
    host.device.read_member(host.now, 1, Lba(8), 8, TAG);
    host.device.fail_member(host.now, 1).unwrap();
    assert_eq!(wait(&mut host.device).outcome, Outcome::MediumError);
    assert_eq!(host.device.take_failed(TAG).unwrap(), run(8, 8));
    assert_eq!(read(&mut host, 1, 16, 4), (Outcome::MediumError, None));
    assert_eq!(host.device.take_failed(TAG).unwrap(), run(16, 4));
    let lost = ExtentState { lost: true, ..ExtentState::GOOD };
    assert_eq!(host.device.member_extents(1, Lba(16), 4), [Extent { lba: Lba(16), sectors: 4, state: lost }]);
}

#[test]
fn a_read_beyond_the_end_of_a_member_is_out_of_range() {
    let mut host = filled(Level::Raid5);
    let end = host.device.member_capacity().0 / SECTOR_BYTES;
    assert_eq!(read(&mut host, 0, end - 1, 1).0, Outcome::Ok);
    assert_eq!(read(&mut host, 0, end - 1, 2).0, Outcome::OutOfRange);
    assert_eq!(read(&mut host, 3, 0, 1).0, Outcome::OutOfRange);
    let told: u64 = host.device.member_extents(0, Lba(end - 8), 100).iter().map(|run| run.sectors).sum();
    assert_eq!((told, host.device.member_extents(0, Lba(end), 1)), (8, Vec::new()));
}

/// The host hears of a loss of power, and so does who reads a member.
#[test]
fn a_loss_of_power_aborts_a_read_from_outside() {
    let mut host = filled(Level::Raid5);
    host.device.read_member(host.now, 1, Lba(8), 8, TAG);
    host.device.power_failure(host.now);
    host.device.power_on(host.now, false).unwrap();
    assert_eq!(wait(&mut host.device).outcome, Outcome::Aborted);
    host.drain();
}

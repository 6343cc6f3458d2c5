//! Do the members of an array in service give what they hold, and share their time with it?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Outcome, SectorRun, Tag};
use outlast_serve::{DeviceInput, PowerChange, RefusedInput, parse_fault};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use support::{ARRAY, DRIVE, Host, bytes};

const TAG: Tag = Tag(7);

fn written(level: &str) -> Host {
    let mut host = Host::new(&format!("{DRIVE}{}", ARRAY.replace("raid5", level)));
    for at in 0..256 {
        assert_eq!(host.write(at * 8, &bytes(8, at)), Outcome::Ok);
    }
    host
}

fn begin(host: &mut Host, member: u8, lba: u64, sectors: u32) {
    let input = DeviceInput::ReadMember { tag: TAG, member, lba: Lba(lba), sectors };
    host.device.apply(host.now, &input).unwrap();
}

fn read(host: &mut Host, member: u8, lba: u64, sectors: u32) -> Completion {
    begin(host, member, lba, sectors);
    let done = host.wait();
    assert_eq!(done.tag, TAG);
    done
}

#[test]
fn copies_are_alike_and_parity_fits() {
    for (level, data) in [("raid1", 1), ("raid5", 3)] {
        let mut host = written(level);
        let sectors = (host.device.identify().capacity.0 / SECTOR_BYTES / data) as u32;
        let member = |host: &mut Host, member| {
            assert_eq!(read(host, member, 0, sectors).outcome, Outcome::Ok);
            host.device.take_data(TAG).unwrap()
        };
        let all: Vec<Vec<u8>> = (0..4).map(|own| member(&mut host, own)).collect();
        assert!(all[0].starts_with(&bytes(8, 0)));
        if level == "raid1" {
            assert!(all.iter().all(|own| *own == all[0]));
        } else {
            assert!((0..all[0].len()).all(|at| all.iter().fold(0, |sum, own| sum ^ own[at]) == 0));
        }
        host.device.self_check().unwrap();
    }
}

#[test]
fn a_member_that_is_read_has_less_time_for_the_array() {
    let alone = written("raid1");
    let mut shared = Host { device: alone.device.fork(), now: alone.now };
    let (mut alone, start) = (alone, shared.now);
    // Both copies are busy.
    for member in 0..4 {
        let input =
            DeviceInput::ReadMember { tag: Tag(100 + u32::from(member)), member, lba: Lba(0), sectors: 1024 };
        shared.device.apply(start, &input).unwrap();
    }
    alone.read(0, 8).unwrap();
    let command = support::command(outlast_device::Op::Read, 0, 8);
    shared.device.apply(start, &DeviceInput::Command { tag: TAG, command, data: &[] }).unwrap();
    let mut done = Vec::new();
    shared.device.advance(start + Nanos::secs(1), &mut done);
    let end = done.iter().find(|done| done.tag == TAG).unwrap().at;
    assert!(end > alone.now + Nanos::micros(100), "{end} with, {} without", alone.now);
}

#[test]
fn a_dead_member_gives_nothing_and_says_so() {
    let mut host = written("raid5");
    let fault = parse_fault(&serde_json::json!({"kind": "device", "device": 2})).unwrap();
    begin(&mut host, 2, 0, 8);
    host.device.apply(host.now, &DeviceInput::Fault(&fault)).unwrap();
    assert_eq!(host.wait().outcome, Outcome::MediumError, "it was under way");
    assert_eq!(host.device.take_failed(TAG), Some(vec![SectorRun { lba: Lba(0), sectors: 8 }]));
    assert_eq!(read(&mut host, 2, 24, 8).outcome, Outcome::MediumError);
    assert_eq!(host.device.take_failed(TAG), Some(vec![SectorRun { lba: Lba(24), sectors: 8 }]));
    let said = host.device.member_extents(2, Lba(0), 64);
    assert!(said.len() == 1 && said[0].state.lost && said[0].sectors == 64, "{said:?}");
    assert_eq!(read(&mut host, 1, 0, 8).outcome, Outcome::Ok);
    assert!(host.device.member_extents(1, Lba(0), 64).iter().all(|run| !run.state.lost));
}

#[test]
fn a_loss_of_power_aborts_what_is_under_way_once() {
    let mut host = written("raid5");
    begin(&mut host, 0, 0, 64);
    host.power(PowerChange::Cut { force: false });
    assert_eq!(host.wait().outcome, Outcome::Aborted);
    assert_eq!(host.device.in_flight(), 0);
    assert_eq!(read(&mut host, 0, 0, 64).outcome, Outcome::Ok);
}

#[test]
fn what_has_no_members_refuses() {
    let mut drive = Host::new(DRIVE);
    let input = DeviceInput::ReadMember { tag: TAG, member: 0, lba: Lba(0), sectors: 8 };
    let refused = drive.device.apply(drive.now, &input);
    assert!(matches!(refused, Err(RefusedInput::Service(_))), "{refused:?}");
    assert_eq!((drive.device.members(), drive.device.member_extents(0, Lba(0), 8)), (0, Vec::new()));
    assert_eq!(drive.device.in_flight(), 0);
    let mut array = written("raid5");
    assert_eq!(read(&mut array, 4, 0, 8).outcome, Outcome::OutOfRange);
    assert!(array.device.member_extents(4, Lba(0), 8).is_empty());
    begin(&mut array, 0, 0, 8);
    let again = array.device.apply(array.now, &input);
    assert!(matches!(again, Err(RefusedInput::TagInUse(TAG))));
}

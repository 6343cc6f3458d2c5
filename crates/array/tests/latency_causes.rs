//! The latency of an array's command is that of its members' commands, one after another, with the waits of the array between them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::Array;
use outlast_device::{Command, Completion, Device, LatencyCause as Cause, LatencyParts, Op, Outcome, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::array::{ArrayConfig, Consistency, Level};
use outlast_settings::drive::WriteCache;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use support::{command, drives};

/// A drive of 2 MiB whose writes complete on flash, which tells where time goes.
fn drive(seed: u64) -> Ssd {
    let mut config = drives::drive([2, 1, 1], 28, 16, Bytes::mib(2), Bytes::kib(64));
    config.ftl.spare_blocks = 6;
    config.controller.write_cache = WriteCache::Off;
    let mut drive = Ssd::new(config, seed).unwrap();
    drive.split_latencies();
    drive
}

fn array(consistency: Consistency) -> Stand<Array<Ssd>> {
    array_of(Level::Raid5, 4, consistency)
}

fn array_of(level: Level, members: u16, consistency: Consistency) -> Stand<Array<Ssd>> {
    let config: ArrayConfig = drives::small(level, members, consistency);
    let mut array = Array::new(config, (0..members.into()).map(drive).collect(), true).unwrap();
    array.split_latencies();
    Stand::new(array)
}

/// A device, and what time it is.
struct Stand<D> {
    device: D,
    now: Nanos,
}

impl<D: Device> Stand<D> {
    fn new(device: D) -> Self {
        Self { device, now: Nanos::ZERO }
    }

    fn submit(&mut self, command: Command, tag: u32) {
        let bytes = if command.op == Op::Write { command.sectors as usize * support::SECTOR } else { 0 };
        self.device.submit_data(self.now, command, Tag(tag), &vec![7; bytes]);
    }

    /// Outcome and parts of each of `count` commands submitted now; the parts sum to the latency. Runs until the array is idle.
    fn finish(&mut self, count: usize) -> Vec<(Outcome, LatencyParts)> {
        let mut completions: Vec<Completion> = Vec::new();
        let since = self.now;
        while completions.len() < count {
            self.now = self.device.advance_to_completion(Nanos(u64::MAX - 1), &mut completions);
        }
        completions.sort_by_key(|completion| completion.tag);
        let parts = completions.iter().map(|completion| {
            let parts = self.device.take_parts(completion.tag).unwrap();
            assert_eq!(Nanos(parts.total()), completion.at - since, "{parts:?}");
            assert_eq!(parts[Cause::Firmware], 0, "nobody has laid claim to it: {parts:?}");
            (completion.outcome, parts)
        });
        let parts = parts.collect();
        while let Some(at) = self.device.next_deadline() {
            self.now = at;
            self.device.advance(at, &mut Vec::new());
        }
        self.device.self_check().unwrap();
        parts
    }

    fn run(&mut self, commands: &[Command]) -> Vec<(Outcome, LatencyParts)> {
        commands.iter().zip(0..).for_each(|(&command, tag)| self.submit(command, tag));
        self.finish(commands.len())
    }

    fn one(&mut self, op: Op, lba: u64, sectors: u32) -> LatencyParts {
        let (outcome, parts) = self.run(&[command(op, lba, sectors)])[0];
        assert_eq!(outcome, Outcome::Ok);
        parts
    }
}

/// The first unit of each chunk of the first stripe is read, one after the other.
fn chunks(stand: &mut Stand<Array<Ssd>>) -> Vec<LatencyParts> {
    (0..3).map(|chunk| stand.one(Op::Read, chunk * 32, 8)).collect()
}

fn sum(parts: &[&LatencyParts]) -> Vec<u64> {
    Cause::ALL.iter().map(|&cause| parts.iter().map(|parts| parts[cause]).sum()).collect()
}

/// A small write reads old data and old parity, then writes both: a drive's read and its write, one after the other.
#[test]
fn a_small_write_is_a_read_and_a_write() {
    let mut alone = Stand::new(drive(9));
    let full = alone.one(Op::Write, 0, 32);
    let (read, write) = (alone.one(Op::Read, 0, 8), alone.one(Op::Write, 0, 8));
    assert!(read[Cause::Sensing] > 0 && write[Cause::Program] > 0);
    let mut array = array(Consistency::Resync);
    // Three chunks of 16 KiB are a stripe: nothing is read for it.
    let stripe = array.one(Op::Write, 0, 96);
    assert_eq!(sum(&[&stripe]), sum(&[&full]));
    assert_eq!(sum(&[&array.one(Op::Read, 0, 8)]), sum(&[&read]));
    assert_eq!(sum(&[&array.one(Op::Write, 0, 8)]), sum(&[&read, &write]));
}

#[test]
fn a_write_waits_for_the_lock_of_its_stripe() {
    let mut array = array(Consistency::Resync);
    array.one(Op::Write, 0, 96);
    let alone = array.one(Op::Write, 0, 8);
    let both = array.run(&[command(Op::Write, 0, 8), command(Op::Write, 0, 8)]);
    assert_eq!(sum(&[&both[0].1]), sum(&[&alone]));
    assert_eq!(both[1].1[Cause::StripeLock], alone.total());
}

/// Data of a failed member is computed from the others.
#[test]
fn missing_data_is_computed_from_other_members() {
    let mut array = array(Consistency::Resync);
    array.one(Op::Write, 0, 96);
    let whole = chunks(&mut array);
    assert!(whole.iter().all(|parts| parts[Cause::Degraded] == 0));
    array.submit(command(Op::Read, 0, 8), 0);
    let column = busy(&array.device);
    array.finish(1);
    array.device.fail_member(array.now, column).unwrap();
    let degraded = chunks(&mut array);
    // Three drives read at once, each as it would for itself.
    assert_eq!((degraded[0].total(), degraded[0][Cause::Degraded]), (whole[0].total(), whole[0].total()));
    assert!(degraded[1..].iter().all(|parts| parts[Cause::Degraded] == 0));
}

/// Of a RAID-6 without a chunk and without a parity the write of another chunk has to find out what the missing one holds.
#[test]
fn a_write_that_needs_missing_data_reads_the_other_members() {
    let mut array = array_of(Level::Raid6, 5, Consistency::Resync);
    array.one(Op::Write, 0, 96);
    let read = chunks(&mut array)[1];
    let columns: Vec<usize> = (0..3)
        .map(|chunk| {
            array.submit(command(Op::Read, chunk * 32, 8), 0);
            let column = busy(&array.device);
            array.finish(1);
            column
        })
        .collect();
    let parity = (0..5).find(|column| !columns.contains(column)).unwrap();
    for column in [columns[0], parity] {
        array.device.fail_member(array.now, column).unwrap();
    }
    let write = array.one(Op::Write, 32, 8);
    assert_eq!((write[Cause::Degraded], write[Cause::Sensing]), (read.total(), 0), "{write:?}");
    assert!(write[Cause::Program] > 0);
}

/// The member that is at work.
fn busy(array: &Array<Ssd>) -> usize {
    (0..array.config().members.into())
        .find(|&column| array.member(column).unwrap().next_deadline().is_some())
        .unwrap()
}

/// A read that a drive cannot give is first what it took to find out, then what it took to read the others.
#[test]
fn a_read_that_fails_goes_on_with_the_others() {
    let mut array = array(Consistency::Resync);
    array.one(Op::Write, 0, 96);
    let whole = chunks(&mut array);
    array.submit(command(Op::Read, 0, 8), 0);
    let column = busy(&array.device);
    array.finish(1);
    for (die, page) in (0..2).flat_map(|die| (0..16).map(move |page| (die, page))) {
        let damage = DieDamage::Page { plane: 0, block: 0, page };
        array.device.member_mut(column).unwrap().inject(array.now, DriveFault { die, damage });
    }
    let failed = array.one(Op::Read, 0, 8);
    assert_eq!(failed[Cause::Degraded], whole[1].total());
    assert_eq!(failed[Cause::Sensing], whole[0][Cause::Sensing]);
}

#[test]
fn commands_that_end_with_a_member_or_with_power_count_as_aborted() {
    let mut array = array(Consistency::Resync);
    array.one(Op::Write, 0, 96);
    let whole = chunks(&mut array);
    array.submit(command(Op::Read, 0, 8), 0);
    let column = busy(&array.device);
    array.device.fail_member(array.now + Nanos::micros(10), column).unwrap();
    let (outcome, parts) = array.finish(1)[0];
    assert_eq!((outcome, parts[Cause::Aborted]), (Outcome::Ok, 10_000));
    assert_eq!(parts[Cause::Degraded], whole[1].total());

    array.submit(command(Op::Write, 0, 8), 0);
    array.device.power_failure(array.now + Nanos::micros(100));
    let (outcome, parts) = array.finish(1)[0];
    assert_eq!((outcome, parts.total()), (Outcome::Aborted, 100_000));
    // It was past reading what it must know.
    assert_eq!(parts[Cause::Aborted], 100_000 - whole[1].total());
}

/// A journal is written before the data, and a bitmap's mark before that; both count as records.
#[test]
fn records_count_as_records() {
    let mut alone = Stand::new(drive(9));
    let (write, small) = (alone.one(Op::Write, 0, 32), alone.one(Op::Write, 0, 8));
    for consistency in [Consistency::Journal, Consistency::Bitmap] {
        let mut array = array(consistency);
        let parts = array.one(Op::Write, 0, 96);
        assert_eq!(parts[Cause::Program], write[Cause::Program]);
        assert!(parts[Cause::Record] >= small.total(), "{consistency:?}: {parts:?}");
    }
}

/// A write to a stripe that is being rebuilt waits for it, and does not call it another request's lock.
#[test]
fn a_rebuild_holds_its_stripe() {
    let mut array = array(Consistency::Resync);
    array.one(Op::Write, 0, 6 * 96);
    array.device.replace(array.now, 1, drive(77), false).unwrap();
    let commands: Vec<_> = (0..6).map(|stripe| command(Op::Write, stripe * 96, 8)).collect();
    let ended = array.run(&commands);
    assert!(ended.iter().any(|(_, parts)| parts[Cause::StripeRebuild] > 0), "{ended:?}");
    assert!(ended.iter().all(|(_, parts)| parts[Cause::StripeLock] == 0), "{ended:?}");
}

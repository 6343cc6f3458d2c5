//! Without redundancy nothing gives back what a pass overwrites: does the host's data outlive the rebuilds and scrubs beside it?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Device, Op};
use outlast_settings::array::Level;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use support::settings::{ArraySettings, array_of};
use support::{Host, array, command, plain};

const SECTORS: u64 = 200;
const MEMBERS: u16 = 3;
/// Sectors of a chunk.
const CHUNK: u64 = 8;

/// A host that has written every sector of an array with chunks of `chunk` sectors.
fn filled(chunk: u64) -> Host<Array<PlainDevice>> {
    let config = array_of(Level::Raid0, MEMBERS).with_chunk(Bytes(chunk * SECTOR_BYTES));
    let config = config.with_rates(Some(6_000_000), Some(6_000_000)).with_window(3);
    let mut host = Host::new(array(config, SECTORS));
    for lba in (0..host.capacity()).step_by(CHUNK as usize) {
        host.submit(command(Op::Write, lba, CHUNK as u32));
        host.drain();
    }
    host
}

/// Lets time pass while the host waits for nothing.
fn wait(host: &mut Host<Array<PlainDevice>>, time: Nanos) {
    host.now += time;
    let mut completions = Vec::new();
    host.device.advance(host.now, &mut completions);
    host.accept(completions);
}

fn replace(host: &mut Host<Array<PlainDevice>>, column: usize) {
    host.device.fail_member(host.now, column).unwrap();
    host.device.replace(host.now, column, plain(SECTORS, 9), false).unwrap();
}

/// The chunks of a replaced member are written or trimmed before, while and after the rebuild puts zeroes there: what is accepted is kept, and
/// what will be zeroes is refused.
#[test]
fn a_change_beside_a_rebuild_is_kept_or_refused() {
    let (mut refused, mut kept) = (0, 0);
    for op in [Op::Write, Op::Trim] {
        for (group, delay) in
            (0..6).flat_map(|group| (0..30).map(move |step| (group, Nanos::micros(20 * step))))
        {
            let mut host = filled(CHUNK);
            replace(&mut host, 1);
            wait(&mut host, delay);
            let lba = (group * u64::from(MEMBERS) + 1) * CHUNK;
            host.submit(command(op, lba + 2, 4));
            host.drain();
            let lost = host.read_all();
            let own: Vec<u64> =
                lost.into_iter().filter(|sector| (lba..lba + CHUNK).contains(sector)).collect();
            if host.refused == 0 {
                kept += 1;
                assert_eq!(own, [0, 1, 6, 7].map(|row| lba + row), "{op:?} of group {group} after {delay}");
            } else {
                refused += 1;
                assert_eq!(
                    own,
                    (lba..lba + CHUNK).collect::<Vec<_>>(),
                    "{op:?} of group {group} after {delay}"
                );
            }
            host.device.self_check().unwrap();
        }
    }
    assert!(refused > 30 && kept > 30, "{refused} refused, {kept} kept");
}

/// A scrub meets a sector that cannot be read, and puts zeroes there; what the host writes there at that time stays.
#[test]
fn a_write_beside_a_scrub_is_kept() {
    for step in 0..60 {
        let mut host = filled(CHUNK);
        host.device.member_mut(0).unwrap().make_unreadable(3);
        host.device.start_scrub(host.now, true);
        wait(&mut host, Nanos::micros(10 * step));
        host.submit(command(Op::Write, 3, 1));
        host.drain();
        assert_eq!((host.read_all(), host.refused), (Vec::new(), 0), "step {step}");
    }
}

/// A pass that begins finds a sector that cannot be read, while a write of it is under way.
#[test]
fn a_write_that_began_before_a_pass_is_kept() {
    for (rebuild, step) in
        [true, false].into_iter().flat_map(|rebuild| (0..8).map(move |step| (rebuild, step)))
    {
        // With chunks of one sector the pass needs one look to give it up.
        let mut host = filled(1);
        host.device.member_mut(0).unwrap().make_unreadable(0);
        host.submit(command(Op::Write, 0, 1));
        wait(&mut host, Nanos::micros(10 * step));
        if rebuild {
            replace(&mut host, 1);
        } else {
            host.device.start_scrub(host.now, true);
        }
        host.drain();
        assert_eq!(host.refused, 0);
        assert!(!host.read_all().contains(&0), "rebuild {rebuild}, step {step}");
    }
}

/// While a member is missing, what lies on the others is written as ever.
#[test]
fn a_missing_member_costs_only_its_own_chunks() {
    let mut host = filled(CHUNK);
    host.device.fail_member(host.now, 2).unwrap();
    for chunk in 0..host.capacity() / CHUNK {
        host.submit(command(Op::Write, chunk * CHUNK, CHUNK as u32));
        host.drain();
        assert_eq!(host.refused, (chunk + 1) / u64::from(MEMBERS), "chunk {chunk}");
    }
    let on_missing = |lba: &u64| lba / CHUNK % u64::from(MEMBERS) == 2;
    assert_eq!(host.read_all(), (0..host.capacity()).filter(on_missing).collect::<Vec<_>>());
}

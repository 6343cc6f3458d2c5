//! Time and result of a recovery that reads and writes chunks one by one, against closed forms.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Device, Op};
use outlast_settings::array::{ChunkOrder, Level, PlainConfig, ShiftWay};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use support::settings::{ArraySettings, array_of};
use support::{Host, command};

const GROUPS: u64 = 40;
const READ: u64 = 50;
const WRITE: u64 = 200;
/// Transfer time of a chunk of 4 KiB, at a byte per nanosecond.
const TRANSFER: u64 = 4096;

fn member(seed: u64) -> PlainDevice {
    let rate = ByteRate::new(1_000_000_000);
    let config = PlainConfig {
        read_latency: Nanos::micros(READ),
        write_latency: Nanos::micros(WRITE),
        read_rate: rate,
        write_rate: rate,
        bytes: true,
        endurance: Some(100),
        ..PlainConfig::new(Bytes(GROUPS * 4096))
    };
    PlainDevice::new(config, seed).unwrap()
}

/// Cost of a recovery: time, chunks read, chunks written.
struct Took {
    time: u64,
    reads: u64,
    writes: u64,
}

/// Fills an array, replaces its first member, and checks what it then holds.
fn recovery(chunks: ChunkOrder, shift: Option<ShiftWay>) -> Took {
    let mut config = array_of(Level::Raid5, 5).unpaced().with_window(1).with_chunk_order(chunks);
    if let Some(shift) = shift {
        config = config.with_parity_percent(&[80.0, 5.0, 5.0, 5.0, 5.0], shift);
    }
    let array = Array::new(config, (0..5).map(member).collect(), true).unwrap();
    let mut host = Host::new(array.with_age(PlainDevice::cycles));
    let chunk = (TRANSFER / SECTOR_BYTES) as u32;
    for lba in (0..host.capacity()).step_by(chunk as usize) {
        host.submit(command(Op::Write, lba, chunk));
        host.drain();
    }
    let (before, begun) = (host.device.counters(), host.now);
    host.device.fail_member(host.now, 0).unwrap();
    host.device.replace(host.now, 0, member(9), false).unwrap();
    host.drain();
    let after = host.device.counters();
    let took = Took {
        time: (host.now - begun).0,
        reads: after.member_reads - before.member_reads,
        writes: after.member_writes - before.member_writes,
    };
    assert_eq!(host.read_all(), [0u64; 0], "every sector holds what was written");
    // Redundancy fits as well: whichever member goes, the others tell.
    host.device.fail_member(host.now, 3).unwrap();
    assert_eq!(host.read_all(), [0u64; 0], "the recovered member holds what it should");
    assert!(host.device.self_check().is_ok());
    took
}

const ONE_READ: u64 = READ * 1000 + TRANSFER;
const ONE_WRITE: u64 = WRITE * 1000 + TRANSFER;

#[test]
fn a_rebuild_takes_each_chunk_its_read_write_and_transfer() {
    for (chunks, reads_in_turn) in
        [(ChunkOrder::Together, 1), (ChunkOrder::WritesInTurn, 1), (ChunkOrder::InTurn, 4)]
    {
        let took = recovery(chunks, None);
        assert_eq!((took.reads, took.writes), (4 * GROUPS, GROUPS), "{chunks:?}");
        assert_eq!(took.time, GROUPS * (reads_in_turn * ONE_READ + ONE_WRITE), "{chunks:?}");
    }
}

#[test]
fn parity_moves_write_by_write() {
    for shift in [ShiftWay::Minimal, ShiftWay::Naive] {
        let together = recovery(ChunkOrder::Together, Some(shift));
        assert_eq!(together.time, GROUPS * (ONE_READ + ONE_WRITE), "{shift:?}");
        let writes = recovery(ChunkOrder::WritesInTurn, Some(shift));
        assert_eq!(writes.time, GROUPS * ONE_READ + writes.writes * ONE_WRITE, "{shift:?}");
        let all = recovery(ChunkOrder::InTurn, Some(shift));
        assert_eq!(all.time, all.reads * ONE_READ + all.writes * ONE_WRITE, "{shift:?}");
        assert_eq!((writes.reads, writes.writes), (together.reads, together.writes), "{shift:?}");
        assert_eq!((all.reads, all.writes), (together.reads, together.writes), "{shift:?}");
        assert!(together.writes > GROUPS + GROUPS / 2, "{shift:?} moves much: {}", together.writes);
    }
}

#[test]
fn a_larger_window_does_not_change_chunks_that_go_one_by_one() {
    let config = |window, chunks| array_of(Level::Raid5, 5).with_window(window).with_chunk_order(chunks);
    let time = |config| {
        let mut host = Host::new(Array::new(config, (0..5).map(member).collect(), true).unwrap());
        host.device.fail_member(host.now, 0).unwrap();
        host.device.replace(host.now, 0, member(9), false).unwrap();
        host.drain();
        host.now.0
    };
    assert!(time(config(32, ChunkOrder::Together)) < GROUPS * (ONE_READ + ONE_WRITE));
    assert_eq!(time(config(32, ChunkOrder::InTurn)), GROUPS * (4 * ONE_READ + ONE_WRITE));
}

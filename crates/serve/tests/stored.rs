//! Is a device whose contents are on disk the device that it is with contents in memory, and is its file as large as what it holds?
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Op, Tag};
use outlast_serve::{DeviceInput, FileStore, PowerChange, ServedDevice, parse_fault};
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::sync::Arc;
use support::load::folder;
use support::{ARRAY, DRIVE, bytes, command, scenario};

fn store(name: &str) -> Arc<FileStore> {
    let folder = folder(name);
    std::fs::create_dir_all(&folder).unwrap();
    Arc::new(FileStore::new(&folder).unwrap())
}

fn written(device: &ServedDevice) -> Vec<u8> {
    let mut file = Vec::new();
    device.write(&mut file).unwrap();
    file
}

/// Commands, a loss of power, a fault and a replacement, the same for all that begin with the same seed.
fn live(device: &mut ServedDevice, seed: u64, turns: u32) -> Vec<(u64, Vec<u8>)> {
    let (mut rng, mut found) = (SplitMix::new(seed, "life"), Vec::new());
    let sectors = device.identify().capacity.0 / SECTOR_BYTES;
    let is_array = device.scenario().array.is_some();
    for turn in 0..turns {
        let now = Nanos(device.now().0 + rng.below(400_000));
        let mut done = Vec::new();
        device.advance(now, &mut done);
        for done in done {
            found.push((done.at.0, device.take_data(done.tag).unwrap_or_default()));
            device.take_failed(done.tag);
        }
        if turn == turns / 2 {
            let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 2})).unwrap();
            let fault = outlast_media::FaultSpec { device: is_array.then_some(1), ..fault };
            device.apply(now, &DeviceInput::Fault(&fault)).unwrap();
        }
        if turn == turns / 3 {
            device.apply(now, &DeviceInput::Power(PowerChange::Cut { force: true })).unwrap();
        }
        if is_array && turn == turns * 2 / 3 {
            device.apply(now, &DeviceInput::Replace { member: 1, force: true }).unwrap();
        }
        let count = 1 + rng.below(24);
        let first = rng.below(sectors - count);
        let (op, count) = [(Op::Write, count), (Op::Write, count), (Op::Read, count), (Op::Flush, 0)]
            [rng.below(4) as usize];
        let command = command(op, if op == Op::Flush { 0 } else { first }, count as u32);
        let data = if op == Op::Write { bytes(count as u32, rng.next_u64()) } else { Vec::new() };
        // A tag that is still in use is refused, by all of them.
        let _ = device.apply(now, &DeviceInput::Command { tag: Tag(turn % 8), command, data: &data });
    }
    found
}

#[test]
fn contents_on_disk_are_those_in_memory_to_the_byte() {
    for (name, text) in [("drive", DRIVE.to_owned()), ("array", format!("{DRIVE}{ARRAY}"))] {
        let store = store(&format!("stored-{name}"));
        let mut plain = ServedDevice::new(&scenario(&text)).unwrap();
        let mut stored = plain.clone();
        stored.keep_contents_in(store.clone());
        assert_eq!(live(&mut plain, 1, 600), live(&mut stored, 1, 600));
        assert!(store.bytes().1 > 1 << 20, "the store holds {:?}", store.bytes());
        let file = written(&plain);
        assert!(written(&stored) == file, "{name}: the same inputs give another machine");
        let mut read =
            ServedDevice::read(plain.scenario(), &mut file.as_slice(), Some(store.clone())).unwrap();
        let mut fork = stored.fork();
        live(&mut fork, 7, 200);
        let found = live(&mut plain, 2, 300);
        for device in [&mut stored, &mut read] {
            assert_eq!(live(device, 2, 300), found);
            assert!(written(device) == written(&plain), "{name}: they have gone on differently");
            device.check_contents().unwrap();
        }
        drop((stored, read, fork));
        assert_eq!(store.bytes().1, 0, "{name}: what nobody refers to is given up");
    }
}

/// A drive without parity holds what is live. Ten times as much is written, and the file is no longer than that and what was in flight.
#[test]
fn a_file_does_not_grow_with_what_is_overwritten() {
    let store = store("overwritten");
    let text = DRIVE.replace("write_cache = \"volatile\"", "write_cache = \"protected\"");
    let mut device = ServedDevice::new(&scenario(&text)).unwrap();
    device.keep_contents_in(store.clone());
    let (capacity, mut longest) = (device.identify().capacity.0, 0);
    for round in 0..10 {
        for first in (0..capacity / SECTOR_BYTES).step_by(64) {
            let sectors = 64.min(capacity / SECTOR_BYTES - first) as u32;
            let (now, data) = (device.now(), bytes(sectors, round << 20 | first));
            let command = command(Op::Write, first, sectors);
            device.apply(now, &DeviceInput::Command { tag: Tag(0), command, data: &data }).unwrap();
            let mut done = Vec::new();
            while done.is_empty() {
                device.advance(device.next_deadline().unwrap(), &mut done);
            }
        }
        longest = longest.max(store.bytes().0);
    }
    assert_eq!(store.bytes().1, capacity);
    assert!(longest <= capacity + (1 << 20), "a drive of {capacity} bytes has a file of {longest}");
    let fork = device.fork();
    drop(device);
    assert_eq!(store.bytes().1, capacity, "a fork holds what it shares");
    drop(fork);
    assert_eq!(store.bytes().1, 0);
}

//! Does an image's log, read record by record, give its device again, and does it say where it ends too soon?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_device::Op;
use outlast_engine::RunControl;
use outlast_serve::{ContentsIn, DeviceImage, DeviceInput, ImageError, LogRecords, ServedDevice};
use outlast_units::Nanos;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use support::DRIVE;
use support::load::{RecordedLoad, folder};

fn written(device: &ServedDevice) -> Vec<u8> {
    let mut bytes = Vec::new();
    device.write(&mut bytes).unwrap();
    bytes
}

/// The image of a load of so many turns, whose server has been killed.
fn loaded(name: &str, turns: u32) -> std::path::PathBuf {
    let mut load = RecordedLoad::new(folder(name), DRIVE, 24, 3);
    (0..turns).for_each(|_| load.turn());
    load.folder.clone()
}

fn prepare_with_records(folder: &Path) -> (ServedDevice, LogRecords) {
    DeviceImage::prepare_with_records(folder, |_| (), &mut |_| RunControl::Continue).unwrap().unwrap()
}

/// All records given to the device; how many writes were among them, whose bytes are where the record says.
fn play(device: &mut ServedDevice, records: &mut LogRecords) -> Result<u64, ImageError> {
    let (mut writes, segments) = (0, records.open_segments()?);
    while let Some((record, payload)) = records.next()? {
        if let DeviceInput::Command { command, data, .. } = record.input()
            && command.op == Op::Write
        {
            let mut found = vec![0; data.len()];
            assert_eq!(payload.segment, 1);
            segments[0].read_exact_at(&mut found, payload.offset).unwrap();
            assert_eq!(found, data, "at byte {}", payload.offset);
            writes += 1;
        }
        let mut completions = Vec::new();
        device.advance(record.at, &mut completions);
        let _refused = device.apply(record.at, &record.input());
        for done in completions {
            let _ =
                (device.take_data(done.tag), device.take_lba_status(done.tag), device.take_failed(done.tag));
        }
    }
    Ok(writes)
}

/// Nobody waits for what completes.
fn come_to(device: &mut ServedDevice, now: Nanos) {
    let mut completions = Vec::new();
    device.advance(now, &mut completions);
    for done in completions {
        let _ = (device.take_data(done.tag), device.take_lba_status(done.tag), device.take_failed(done.tag));
    }
}

#[test]
fn replaying_all_records_gives_the_same_device() {
    let folder = loaded("records", 1000);
    let (mut device, mut records) = prepare_with_records(&folder);
    assert!(play(&mut device, &mut records).unwrap() > 100);
    let at = device.now();
    let expected = DeviceImage::device_at(&folder, at, ContentsIn::Memory, &mut |_| RunControl::Continue)
        .unwrap()
        .unwrap();
    assert!(records.end() >= at);
    come_to(&mut device, at);
    assert!(written(&device) == written(&expected));
}

#[test]
fn a_changed_setting_gives_another_device_from_the_same_log() {
    let folder = loaded("changed", 100);
    let change = |scenario: &mut outlast_engine::Scenario| scenario.name = "changed".to_owned();
    let (device, _) =
        DeviceImage::prepare_with_records(&folder, change, &mut |_| RunControl::Continue).unwrap().unwrap();
    assert_eq!(device.scenario().name, "changed");
    assert_eq!(prepare_with_records(&folder).0.scenario().name, "served");
}

#[test]
fn a_torn_end_is_the_end_unless_something_was_promised_behind_it() {
    let folder = loaded("torn", 60);
    let segment = folder.join("log/00000001");
    let whole = fs::read(&segment).unwrap();
    // Behind all that replies have promised.
    fs::write(&segment, [whole.as_slice(), &[9; 20]].concat()).unwrap();
    let (mut device, mut records) = prepare_with_records(&folder);
    let writes = play(&mut device, &mut records).unwrap();
    assert!(writes > 10);
    // A record that is not whole before that.
    let (mut damaged, middle) = (whole.clone(), whole.len() / 2);
    damaged[middle] ^= 1;
    fs::write(&segment, damaged).unwrap();
    let (mut device, mut records) = prepare_with_records(&folder);
    let error = play(&mut device, &mut records).unwrap_err().to_string();
    assert!(error.contains("00000001: is damaged at byte"), "{error}");
    // Nothing behind the header.
    fs::write(&segment, &whole[..28]).unwrap();
    let (mut device, mut records) = prepare_with_records(&folder);
    let error = play(&mut device, &mut records).unwrap_err().to_string();
    assert!(error.contains("ends at byte 28, but replies that depend"), "{error}");
    fs::write(&segment, &whole).unwrap();
    assert_eq!(
        play(&mut prepare_with_records(&folder).0, &mut prepare_with_records(&folder).1).unwrap(),
        writes
    );
}

#[test]
fn a_log_without_its_beginning_or_with_a_gap_is_refused() {
    let folder = loaded("gap", 30);
    let segment = folder.join("log/00000001");
    fs::copy(&segment, folder.join("log/00000003")).unwrap();
    let (mut device, mut records) = prepare_with_records(&folder);
    let error = play(&mut device, &mut records).unwrap_err().to_string();
    assert!(error.ends_with("log: segment 2 of the log is missing"), "{error}");
    fs::remove_file(&segment).unwrap();
    let error = LogRecords::open(&folder).unwrap_err().to_string();
    assert!(
        error.ends_with("log: does not go back to the beginning, which serving with keep-log prevents"),
        "{error}"
    );
}

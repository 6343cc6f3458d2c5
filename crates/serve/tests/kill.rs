//! Does a killed server leave what it has promised, and nothing that nobody has written?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_engine::RunControl;
use outlast_serve::{ContentsIn, DeviceImage, DeviceInput, PowerChange, parse_fault};
use outlast_units::rng::SplitMix;
use std::path::Path;
use support::load::{RecordedLoad, contents, folder, open};
use support::{ARRAY, DRIVE};

/// Units written to: few, so that they are written often.
const UNITS: usize = 24;

/// Without a journal, units of a die that has failed are rebuilt from stripes that a kill has torn, which no RAID-5 can.
const JOURNAL: &str = "consistency = \"journal\"\n[array.log]\nsize = \"64KiB\"\n";

/// Kills a server at byte `length` of its log, and looks at what the next two find.
fn kill(load: &RecordedLoad, length: u64, to: &Path, pick: u64) {
    let may = load.killed_at(length, to, pick);
    let (image, device) = open(to, None);
    let (boundary, found) = (load.records.contains(&length), image.opening_report());
    assert!(!found.made && !found.clean);
    assert_eq!(
        found.torn,
        !boundary && load.moments.iter().all(|moment| moment.offset != length),
        "at {length}"
    );
    device.self_check().unwrap();
    let first = contents(&mut device.fork(), &may);
    let printed = pick.is_multiple_of(8).then(|| format!("{device:?}"));
    drop((image, device));
    // The same again, and killed before it was asked anything.
    load.killed_at(length, to, pick);
    let (image, device) = open(to, None);
    assert!(
        printed.is_none_or(|printed| printed == format!("{device:?}")),
        "the same log gives the same machine"
    );
    drop((image, device));
    let (_, mut device) = open(to, None);
    assert_eq!(contents(&mut device, &may), first, "a second loss of power takes no more");
}

/// Turns of a load, and 60 kills at random bytes of its log, others by each commit.
fn random_kills(name: &str, text: &str, turns: u64, disturb: impl Fn(&mut RecordedLoad, u64)) {
    let mut load = RecordedLoad::new(folder(name), text, UNITS, 3);
    for turn in 0..turns {
        load.turn();
        disturb(&mut load, turn);
    }
    let (first, last) = (load.moments[0].offset, load.moments.last().unwrap().offset);
    assert!(load.records.len() > 200, "{} records", load.records.len());
    let mut rng = SplitMix::new(fuzzed::drawn(), "kills");
    let to = folder(&format!("{name}-killed"));
    for kills in 0..60 {
        let length = match kills % 4 {
            0 => load.records[rng.below(load.records.len() as u64) as usize],
            _ => first + rng.below(last - first + 1),
        };
        kill(&load, length, &to, rng.below(1 << 32));
    }
}

#[test]
fn every_record_boundary_and_some_bytes_within() {
    let mut load = RecordedLoad::new(folder("every"), DRIVE, UNITS, 1);
    while load.records.len() < 60 {
        load.turn();
    }
    let to = folder("every-killed");
    for (at, &record) in load.records.iter().enumerate() {
        for inside in [0, 1, 8, 35, 36] {
            if record + inside <= load.moments.last().unwrap().offset {
                kill(&load, record + inside, &to, at as u64);
            }
        }
    }
}

#[test]
fn random_kills_of_a_drive() {
    random_kills("drive", DRIVE, 1500, |load, turn| {
        if turn == 700 {
            load.give(&DeviceInput::Power(PowerChange::Cut { force: false }));
        }
    });
}

/// A die of a member dies, which the array makes good.
#[test]
fn random_kills_of_an_array() {
    random_kills("array", &format!("{DRIVE}{ARRAY}{JOURNAL}"), 1500, |load, turn| {
        if turn == 600 {
            let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 2, "device": 1})).unwrap();
            load.give(&DeviceInput::Fault(&fault));
        }
    });
}

/// The log gives the device that is, at any time while it is served.
#[test]
fn the_log_gives_the_served_device() {
    for (name, text) in [("is-drive", DRIVE.to_owned()), ("is-array", format!("{DRIVE}{ARRAY}"))] {
        let mut load = RecordedLoad::new(folder(name), &text, UNITS, 9);
        for turn in 1..=300 {
            load.turn();
            if turn % 20 == 0 {
                let again =
                    DeviceImage::device_at(&load.folder, load.device.now(), ContentsIn::Memory, &mut |_| {
                        RunControl::Continue
                    });
                let is = load.now_as_replayed();
                let (is, again) = (format!("{is:?}"), format!("{:?}", again.unwrap().unwrap()));
                let at = is.bytes().zip(again.bytes()).position(|(a, b)| a != b);
                let around = |text: &str| {
                    at.map(|at| text[at.saturating_sub(300)..(at + 100).min(text.len())].to_owned())
                };
                assert_eq!(around(&is), around(&again), "turn {turn}");
            }
        }
    }
}

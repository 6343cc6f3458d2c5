//! Is the log of a device bounded while it is served, and what is there instead the same?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_engine::RunControl;
use outlast_serve::{ContentsIn, DeviceImage};
use outlast_units::Nanos;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use support::DRIVE;
use support::kept::{EVERY, TURN, UNITS, bytes_of, copy, devices, names, options, refusal, state, turns};
use support::load::{RecordedLoad, contents, folder, open};

#[test]
fn log_and_checkpoints_are_bounded() {
    for (name, text) in devices() {
        let mut load =
            RecordedLoad::with(folder(&format!("bounded-{name}")), &text, UNITS, 4, options(false));
        let (log, checkpoints) = (load.folder.join("log"), load.folder.join("checkpoints"));
        turns(&mut load, 4, |load, name| {
            assert_eq!(names(&checkpoints), [name], "the one before is gone");
            assert_eq!(names(&log), [name], "and so is the log before it");
            assert!(load.written() >= EVERY);
        });
        assert!(load.written() > 4 * EVERY);
        // A start goes on counting where the one before was.
        for _ in 0..20 {
            load.turn();
        }
        let (folder, most) = (load.folder.clone(), EVERY + TURN);
        drop(load);
        for _ in 0..6 {
            assert!(bytes_of(&log) <= most, "{} bytes of log", bytes_of(&log));
            let (device, sizes) = (folder.clone(), bytes_of(&checkpoints));
            let mut load = RecordedLoad::again(device, UNITS, 5, options(false));
            while load.written() < EVERY / 4 {
                load.turn();
            }
            load.wait_for_checkpoint();
            assert!(bytes_of(&checkpoints) < 2 * sizes, "one checkpoint is kept");
        }
    }
}

/// A start from a checkpoint gives the device that the whole log gives, after a kill and after a shutdown that was announced.
#[test]
fn a_checkpoint_and_the_later_log_give_the_same_device() {
    for (name, text) in devices() {
        let mut load = RecordedLoad::with(folder(&format!("whole-{name}")), &text, UNITS, 6, options(true));
        turns(&mut load, 3, |_, _| {});
        for _ in 0..60 {
            load.turn();
        }
        let killed = folder(&format!("whole-{name}-killed"));
        load.killed_now(&killed);
        let to = load.folder.clone();
        let before = state(&load.shut_down());
        for (image, is_clean) in [(killed, false), (to, true)] {
            let newest = names(&image.join("checkpoints")).pop().unwrap();
            assert_eq!(names(&image.join("log"))[0], "00000001", "the log has been kept");
            let [whole, tail] = ["all", "tail"].map(|part| {
                let to = folder(&format!("whole-{name}-{is_clean}-{part}"));
                copy(&image, &to);
                to
            });
            fs::remove_dir_all(whole.join("checkpoints")).unwrap();
            for segment in names(&tail.join("log")).iter().filter(|&segment| *segment < newest) {
                fs::remove_file(tail.join("log").join(segment)).unwrap();
            }
            let ([all, rest], devices): ([_; 2], Vec<_>) = {
                let opened = [whole, tail].map(|folder| open(&folder, None));
                let inputs = [opened[0].0.opening_report().inputs, opened[1].0.opening_report().inputs];
                (inputs, opened.into_iter().map(|(_, device)| state(&device)).collect())
            };
            assert!(rest < all / 2, "{rest} of {all} inputs are repeated");
            assert!(devices[0] == devices[1], "{name}: the checkpoint's machine is another");
            assert!(!is_clean || devices[0] == before, "{name}: it is not the machine that was shut down");
        }
    }
}

#[test]
fn earlier_states_are_available_as_far_back_as_the_log() {
    let at = |image: &PathBuf, at| {
        DeviceImage::device_at(image, at, ContentsIn::Memory, &mut |_| RunControl::Continue)
    };
    for keep_log in [true, false] {
        let to = folder(&format!("past-{keep_log}"));
        let mut load = RecordedLoad::with(to.clone(), DRIVE, UNITS, 8, options(keep_log));
        for _ in 0..50 {
            load.turn();
        }
        let (early, then) = (load.device.now(), load.now_as_replayed());
        turns(&mut load, 2, |_, _| {});
        let oldest = load.device.now();
        for _ in 0..50 {
            load.turn();
        }
        let (late, now) = (load.device.now(), load.now_as_replayed());
        assert!(state(&at(&to, late).unwrap().unwrap()) == state(&now));
        let beyond = at(&to, late + Nanos(1)).unwrap_err().to_string();
        let log = to.join("log").display().to_string();
        assert_eq!(beyond, format!("{log}: ends at {late}, before {}", late + Nanos(1)));
        if keep_log {
            assert!(state(&at(&to, early).unwrap().unwrap()) == state(&then));
        } else {
            let gone = at(&to, early).unwrap_err().to_string();
            let expected =
                format!("{log}: goes back to {oldest}, not to {early}: the log before its checkpoint");
            assert!(gone.starts_with(&expected), "{gone}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_version_says_what_to_do() {
    let to = folder("version");
    let mut load = RecordedLoad::with(to.clone(), DRIVE, UNITS, 9, options(false));
    turns(&mut load, 1, |_, _| {});
    drop(load);
    let name = names(&to.join("checkpoints")).pop().unwrap();
    let path = to.join("checkpoints").join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..12].copy_from_slice(&7u32.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let expected = "was written by Outlast of another format: serve the image with the Outlast that wrote it, and copy its data to a new \
                    one";
    assert_eq!(refusal(&to), format!("{}: {expected}", path.display()));
    fs::write(to.join("checkpoints/notes"), "").unwrap();
    assert_eq!(
        refusal(&to),
        format!("{}: is not a checkpoint of this image", to.join("checkpoints/notes").display())
    );
}

/// A disk that takes no checkpoint: it is told, the device goes on, and nothing is lost.
#[test]
fn a_checkpoint_that_cannot_be_written_loses_nothing() {
    let to = folder("full");
    let mut load = RecordedLoad::with(to.clone(), DRIVE, UNITS, 10, options(false));
    // No file can be written there.
    for segment in 2..10 {
        fs::create_dir_all(to.join(format!("checkpoints/{segment:08}.new"))).unwrap();
    }
    let mut told = Vec::new();
    while told.len() < 2 {
        load.turn();
        told.append(&mut load.troubles);
        std::thread::sleep(Duration::from_micros(100));
    }
    let expected = format!("{}: Is a directory", to.join("checkpoints/00000002").display());
    assert!(told[0].starts_with(&expected), "{told:?}");
    let killed = folder("full-killed");
    let may = load.killed_now(&killed);
    let (image, mut device) = open(&killed, None);
    assert!(names(&killed.join("log"))[0] == "00000001" && image.opening_report().inputs > 100);
    contents(&mut device, &may);
}

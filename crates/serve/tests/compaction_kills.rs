//! Is the same device there whenever a server is killed that makes checkpoints?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use std::fs;
use support::kept::{UNITS, copy, devices, names, options, refusal, state, turns};
use support::load::{RecordedLoad, contents, folder, open};

/// What a kill leaves at each step of making a checkpoint, and a crash of the host that tears it: always the same device.
#[test]
fn a_kill_at_any_step_of_a_checkpoint_leaves_the_same_device() {
    for (name, text) in devices() {
        let mut load = RecordedLoad::with(folder(&format!("steps-{name}")), &text, UNITS, 7, options(true));
        // Checkpoints that the next one removes.
        let kept = folder(&format!("steps-{name}-kept"));
        fs::create_dir_all(&kept).unwrap();
        turns(&mut load, 3, |load, name| {
            fs::copy(load.folder.join("checkpoints").join(name), kept.join(name)).unwrap();
        });
        for _ in 0..30 {
            load.turn();
        }
        let whole = folder(&format!("steps-{name}-whole"));
        load.killed_now(&whole);
        drop(load);
        fs::remove_dir_all(whole.join("checkpoints")).unwrap();
        fs::create_dir_all(whole.join("checkpoints")).unwrap();
        let checkpoints = names(&kept);
        let [old, new] = [&checkpoints[1], &checkpoints[2]];
        let bytes = fs::read(kept.join(new)).unwrap();
        let to = folder(&format!("steps-{name}-killed"));
        // What of the image is there: checkpoints with as many bytes of them as are left, and segments from one on.
        let leave = |files: &[(&str, usize)], first: &str| {
            fs::remove_dir_all(&to).ok();
            copy(&whole, &to);
            for &(name, length) in files {
                let bytes = fs::read(kept.join(&name[..8])).unwrap();
                fs::write(to.join("checkpoints").join(name), &bytes[..length.min(bytes.len())]).unwrap();
            }
            for segment in names(&to.join("log")).iter().filter(|segment| ***segment < *first) {
                fs::remove_file(to.join("log").join(segment)).unwrap();
            }
        };
        leave(&[], "00000001");
        let expected = state(&open(&to, None).1);
        let all = usize::MAX;
        let unfinished = format!("{new}.new");
        let between = format!("{:08}", old.parse::<u32>().unwrap() + 1);
        let mut cases: Vec<(Vec<(&str, usize)>, &str)> = vec![
            (vec![(old, all), (new, all)], old),
            (vec![(new, all)], old),
            (vec![(new, all)], &between),
            (vec![(new, all)], new),
            (vec![(new, all), (old, 100)], new),
        ];
        for torn in [0, 1, 11, bytes.len() / 2, bytes.len() - 1] {
            cases.push((vec![(&unfinished, torn)], "00000001"));
            cases.push((vec![(old, all), (&unfinished, torn)], old));
            cases.push((vec![(old, all), (new, torn)], old));
            cases.push((vec![(old, torn), (new, torn)], "00000001"));
        }
        for (files, first) in cases {
            leave(&files, first);
            let (image, device) = open(&to, None);
            assert!(state(&device) == expected, "{name}: {files:?}, log from {first}");
            drop(image);
            let left = names(&to.join("checkpoints"));
            assert!(left.len() <= 1 && !left.contains(&unfinished), "{files:?} has left {left:?}");
            assert!(state(&open(&to, None).1) != expected, "another loss of power is counted");
        }
        leave(&[(new, bytes.len() / 2)], new);
        let refused = refusal(&to);
        assert_eq!(
            refused,
            format!("{}: is damaged: it ends too early", to.join("checkpoints").join(new).display())
        );
    }
}

/// Kills while checkpoints are being written, as the threads happen to be: what was promised is there.
#[test]
fn kills_while_checkpoints_are_written() {
    for (name, text) in devices() {
        let mut load = RecordedLoad::with(folder(&format!("while-{name}")), &text, UNITS, 4, options(false));
        let to = folder(&format!("while-{name}-killed"));
        for turn in 0..2000 {
            load.turn();
            if turn % 40 == 0 {
                let may = load.killed_now(&to);
                let (image, mut device) = open(&to, None);
                assert!(!image.opening_report().clean);
                device.self_check().unwrap();
                contents(&mut device, &may);
            }
        }
        assert!(load.segment() > 3, "checkpoints have been made");
    }
}

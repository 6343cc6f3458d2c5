//! Do all who read a log, and change nothing, notice what is missing from it or damaged?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_engine::RunControl;
use outlast_serve::{ContentsIn, DeviceImage, ImageError, LogTraceSummary};
use outlast_units::Nanos;
use std::fs;
use std::path::{Path, PathBuf};
use support::DRIVE;
use support::kept::{copy, names, refusal, turns};
use support::load::{RecordedLoad, folder};

/// An image with its whole log in several segments, whose server was killed, and the simulated time of its end.
fn kept(name: &str) -> (PathBuf, Nanos) {
    let mut load = RecordedLoad::with(folder(name), DRIVE, 8, 2, support::kept::options(true));
    turns(&mut load, 4, |_, _| ());
    (0..20).for_each(|_| load.turn());
    (load.folder.clone(), load.device.now())
}

fn trace(image: &Path) -> Result<LogTraceSummary, ImageError> {
    DeviceImage::trace(image, &mut Vec::new())
}

fn device_at(image: &Path, at: Nanos) -> Result<(), ImageError> {
    DeviceImage::device_at(image, at, ContentsIn::Memory, &mut |_| RunControl::Continue).map(|_| ())
}

/// Why the trace of an image is refused, without its path. A server refuses it for the same reason where it reads as much of the log.
fn trace_refusal(image: &Path, server_too: bool) -> String {
    let text = trace(image).unwrap_err().to_string();
    if server_too {
        assert_eq!(text, refusal(image));
    }
    text.strip_prefix(&format!("{}/", image.display())).unwrap().to_owned()
}

fn segment(image: &Path, number: usize) -> PathBuf {
    image.join(format!("log/{number:08}"))
}

#[test]
fn a_trace_of_a_log_with_a_gap_is_refused() {
    let (good, _) = kept("gaps");
    let count = names(&good.join("log")).len();
    assert!(count >= 5);
    let whole = trace(&good).unwrap();
    assert!(whole.is_whole);
    let image = folder("gaps-in");
    for gap in 2..count {
        fs::remove_dir_all(&image).ok();
        copy(&good, &image);
        fs::remove_file(segment(&image, gap)).unwrap();
        assert_eq!(trace_refusal(&image, false), format!("log: segment {gap} of the log is missing"));
    }
    fs::remove_dir_all(&image).ok();
    copy(&good, &image);
    fs::remove_file(segment(&image, count)).unwrap();
    let text = trace_refusal(&image, false);
    assert!(text.starts_with(&format!("log/{:08}: ends at byte ", count - 1)), "{text}");
    assert!(text.contains(&format!(" of segment {count} were already sent")), "{text}");
    (1..count).for_each(|number| fs::remove_file(segment(&image, number)).unwrap());
    assert_eq!(trace_refusal(&image, false), format!("log: segment {count} of the log is missing"));
}

/// Checkpoints stand for what came before them.
#[test]
fn a_trace_without_the_oldest_log_is_one_from_a_checkpoint_on() {
    let (good, _) = kept("oldest");
    let whole = trace(&good).unwrap();
    let image = folder("oldest-in");
    copy(&good, &image);
    fs::remove_file(segment(&image, 1)).unwrap();
    let rest = trace(&image).unwrap();
    assert!(!rest.is_whole && rest.requests < whole.requests && rest.requests > 0);
    fs::remove_dir_all(image.join("checkpoints")).unwrap();
    assert_eq!(trace_refusal(&image, true), "log: segment 1 of the log is missing");
}

#[test]
fn a_trace_of_a_damaged_log_is_refused_unless_no_reply_depends_on_it() {
    let (good, _) = kept("damage");
    let count = names(&good.join("log")).len();
    let whole = trace(&good).unwrap();
    let image = folder("damage-in");
    for number in [1, 2, count] {
        fs::remove_dir_all(&image).ok();
        copy(&good, &image);
        let mut bytes = fs::read(segment(&image, number)).unwrap();
        bytes[70] ^= 1;
        fs::write(segment(&image, number), bytes).unwrap();
        let expected = format!("log/{number:08}: is damaged at byte 28");
        assert_eq!(trace_refusal(&image, number == count), expected);
    }
    copy(&good, &image);
    let last = segment(&image, count);
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() - 1]).unwrap();
    assert!(trace_refusal(&image, true).contains(": is damaged at byte "));
    fs::write(&last, [bytes.as_slice(), &[7; 50]].concat()).unwrap();
    assert_eq!(trace(&image).unwrap(), whole, "a record that was cut short by a kill");
}

#[test]
fn a_new_image_without_any_log_has_an_empty_trace() {
    let (load, image) = (RecordedLoad::new(folder("no-log"), DRIVE, 8, 2), folder("no-log-in"));
    load.killed_at(load.moments[0].offset, &image, 0);
    // Nothing has been asked, so its clock says that no reply depends on the log.
    fs::remove_file(segment(&image, 1)).unwrap();
    assert_eq!(trace(&image).unwrap(), LogTraceSummary { is_whole: true, ..LogTraceSummary::default() });
}

/// The past before the damage is known, and that after it is not.
#[test]
fn an_earlier_state_is_refused_if_the_log_up_to_it_is_incomplete() {
    let (good, end) = kept("past-gaps");
    let count = names(&good.join("log")).len();
    let image = folder("past-gaps-in");
    let soon = Nanos(1);
    copy(&good, &image);
    fs::remove_dir_all(image.join("checkpoints")).unwrap();
    device_at(&image, end).unwrap();
    let mut bytes = fs::read(segment(&image, count)).unwrap();
    bytes[70] ^= 1;
    fs::write(segment(&image, count), bytes).unwrap();
    device_at(&image, soon).unwrap();
    let text = device_at(&image, end).unwrap_err().to_string();
    assert!(text.ends_with(&format!("log/{count:08}: is damaged at byte 28")), "{text}");
    fs::remove_file(segment(&image, count)).unwrap();
    device_at(&image, soon).unwrap();
    let text = device_at(&image, end).unwrap_err().to_string();
    assert!(text.contains(&format!("log/{:08}: ends at byte ", count - 1)), "{text}");
}

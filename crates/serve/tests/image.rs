//! Is an image used only where it can be, and does it say why not?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_device::{Op, Tag};
use outlast_engine::RunControl;
use outlast_serve::log::VERSION;
use outlast_serve::{
    ContentsIn, DeviceImage, DeviceInput, ImageError, ImageOptions, InputRecorder, PowerChange,
};
use outlast_units::Nanos;
use std::fs;
use std::path::Path;
use support::load::{RecordedLoad, contents, folder, open};
use support::{DRIVE, scenario};

fn reopen(folder: &Path, salvage: bool) -> Result<DeviceImage, ImageError> {
    let options = ImageOptions { salvage, ..ImageOptions::default() };
    DeviceImage::open(folder, None, options, &mut |_| RunControl::Continue).map(|opened| opened.unwrap().0)
}

/// Why the image in `folder` is refused, without its path.
fn refusal(folder: &Path) -> String {
    let text = reopen(folder, false).unwrap_err().to_string();
    text.strip_prefix(&format!("{}", folder.display())).unwrap().trim_start_matches('/').to_owned()
}

/// An image with some records, killed.
fn used(name: &str) -> RecordedLoad {
    let mut load = RecordedLoad::new(folder(&format!("{name}-used")), DRIVE, 8, 2);
    for _ in 0..40 {
        load.turn();
    }
    load
}

fn killed(name: &str) -> (RecordedLoad, std::path::PathBuf) {
    let (load, to) = (used(name), folder(name));
    load.killed_at(load.moments.last().unwrap().offset, &to, 0);
    (load, to)
}

#[test]
fn a_shutdown_that_was_announced_loses_nothing() {
    let to = folder("clean");
    let (mut image, mut device) = open(&to, Some(DRIVE));
    let data = support::bytes(8, 1);
    let write = support::command(Op::Write, 0, 8);
    let input = DeviceInput::Command { tag: Tag(0), command: write, data: &data };
    image.record(Nanos(1000), &input);
    image.commit().unwrap();
    device.apply(Nanos(1000), &input).unwrap();
    image.shut_down(&mut device, Nanos(1000)).unwrap();
    let now = device.now();
    let before = format!("{device:?}");
    let (image, mut device) = open(&to, None);
    assert!(image.opening_report().clean && device.now() == now);
    assert_eq!(format!("{device:?}"), before, "it is as it was");
    assert_eq!(device.state().drives[0].power_cuts, 0);
    assert_eq!(contents(&mut device, &[vec![1]]), [1]);
    drop(image);
    let (image, device) = open(&to, None);
    assert!(
        !image.opening_report().clean && device.state().drives[0].power_cuts == 1,
        "this time nobody announced it"
    );
}

#[test]
fn what_is_damaged_before_a_promise_is_refused_and_behind_it_cut_off() {
    let (load, to) = killed("damaged");
    let path = to.join("log/00000001");
    let log = fs::read(&path).unwrap();
    let write = load.records.windows(2).find(|pair| pair[1] - pair[0] > 100).unwrap();
    let (record, last) = (write[0], *load.records.last().unwrap());
    for at in [record, record + 3, record + 5, record + 12, record + 40] {
        let mut damaged = log.clone();
        damaged[at as usize] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        assert_eq!(refusal(&to), format!("log/00000001: is damaged at byte {record}"));
    }
    fs::write(&path, &log[..last as usize]).unwrap();
    let text = refusal(&to);
    let expected = format!("log/00000001: ends at byte {last}, but replies that depend");
    assert!(text.starts_with(&expected), "{text}");
    let image = reopen(&to, true).unwrap();
    assert_eq!(image.opening_report().inputs as usize, load.records.len() - 1, "what is left can be had");
    drop(image);
    // Behind what replies have promised.
    load.killed_at(log.len() as u64, &to, 0);
    fs::write(&path, [log.as_slice(), &[7; 50]].concat()).unwrap();
    let image = reopen(&to, false).unwrap();
    assert!(image.opening_report().torn && image.opening_report().inputs as usize == load.records.len());
    drop(image);
    assert!(!reopen(&to, false).unwrap().opening_report().torn, "what was no record has been taken away");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (_, to) = killed("foreign");
    let (_, other) = killed("foreign-other");
    let log = to.join("log/00000001");
    let own = fs::read(&log).unwrap();
    fs::write(&log, "#!/bin/sh\necho no log, and longer than a header\n").unwrap();
    assert_eq!(refusal(&to), "log/00000001: is not a log of an Outlast image");
    fs::copy(other.join("log/00000001"), &log).unwrap();
    assert!(
        refusal(&to).contains("is segment 1 of image ") && refusal(&to).ends_with("and does not belong here")
    );
    let mut newer = own.clone();
    newer[8] = 9;
    let sum = crc32c::crc32c(&newer[..24]);
    newer[24..28].copy_from_slice(&sum.to_le_bytes());
    fs::write(&log, newer).unwrap();
    assert_eq!(refusal(&to), "log/00000001: has version 9; this program reads version 4");
    fs::rename(&log, to.join("log/00000002")).unwrap();
    assert_eq!(refusal(&to), "log: segment 1 of the log is missing");
    fs::rename(to.join("log/00000002"), to.join("log/notes.txt")).unwrap();
    assert_eq!(refusal(&to), "log/notes.txt: is not a segment of the log");
    fs::remove_file(to.join("log/notes.txt")).unwrap();
    fs::write(&log, own).unwrap();
    fs::copy(other.join("clock"), to.join("clock")).unwrap();
    assert_eq!(refusal(&to), "clock: is damaged, or of another image");
    let text = fs::read_to_string(to.join("scenario.toml")).unwrap();
    fs::write(to.join("scenario.toml"), text.replace("seed = 7", "seed = 8")).unwrap();
    assert!(refusal(&to).starts_with("scenario.toml: has been changed since the image was made"));
    fs::write(to.join("image"), "outlast image 7 0 0\n").unwrap();
    assert_eq!(
        refusal(&to),
        "image: has version 7; this program reads version 4: serve the image with the Outlast that wrote it, and copy its data to a new one"
    );
    fs::write(to.join("image"), [0xff, 0xfe]).unwrap();
    assert!(refusal(&to).starts_with("image: "));
    fs::write(to.join("image"), "hello\n").unwrap();
    assert_eq!(refusal(&to), "image: is not an Outlast image");
}

/// The sentence about such a setting has its line, which is another one in the file of the image: the image was of another scenario.
#[test]
fn an_image_of_a_scenario_with_settings_that_do_not_count_is_opened_again() {
    let to = folder("void");
    let text = format!("{DRIVE}\n[device.ftl.gc]\npolicy = \"fifo\"\nchoices = 4\n");
    assert_eq!(scenario(&text).void.len(), 1);
    for _ in 0..2 {
        open(&to, Some(&text));
    }
}

#[test]
fn an_image_is_used_by_one_server_and_for_one_scenario() {
    let to = folder("lock");
    let (image, _) = open(&to, Some(DRIVE));
    assert_eq!(refusal(&to), ": is in use by another server");
    drop(image);
    let other = scenario(&DRIVE.replace("seed = 7", "seed = 8"));
    let refused =
        DeviceImage::open(&to, Some(&other), ImageOptions::default(), &mut |_| RunControl::Continue);
    assert!(refused.unwrap_err().to_string().contains("made from another scenario"));
    open(&to, Some(DRIVE));
    assert!(DeviceImage::scenario(&to).unwrap().device.bytes);
    let none = folder("none");
    assert_eq!(
        refusal(&none),
        ": is not an Outlast image; to create one: outlast serve SCENARIO --image DIR"
    );
    fs::create_dir_all(&none).unwrap();
    fs::write(none.join("thesis.tex"), "").unwrap();
    let refused =
        DeviceImage::open(&none, Some(&other), ImageOptions::default(), &mut |_| RunControl::Continue);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .ends_with("holds thesis.tex and is not an Outlast image: name an empty folder")
    );
}

/// The device at a moment of the past is that of a server that was killed then, without its loss of power.
#[test]
fn an_earlier_state_can_be_served() {
    let (_, to) = killed("past");
    let at = |at: Nanos| {
        DeviceImage::device_at(&to, at, ContentsIn::Memory, &mut |_| RunControl::Continue).unwrap().unwrap()
    };
    let before = fs::read(to.join("log/00000001")).unwrap();
    assert_eq!(at(Nanos(0)).in_flight(), 0);
    let late = at(Nanos::millis(1));
    assert_eq!(late.now(), Nanos::millis(1));
    assert!(late.smart().host_write_commands > at(Nanos(0)).smart().host_write_commands);
    assert_eq!(fs::read(to.join("log/00000001")).unwrap(), before, "looking changes nothing");
}

/// What must come of a certain log. Where something else does, the images of users are lost: `log::VERSION` has to grow with it.
#[test]
fn the_same_log_gives_what_it_always_gave() {
    let to = folder("golden");
    let (mut image, mut device) = open(&to, Some(DRIVE));
    let mut now = Nanos::ZERO;
    for turn in 0..400u64 {
        now = Nanos(turn * 30_000);
        let place = outlast_units::rng::mix(turn);
        let op = [Op::Write, Op::Write, Op::Trim, Op::Flush][place as usize % 4];
        let mut command = support::command(op, place / 4 % 64 * 8, 8);
        command.fua = op == Op::Write && turn % 16 == 0;
        let data = if op == Op::Write { support::bytes(8, turn + 1) } else { Vec::new() };
        let command = if op == Op::Flush { support::command(op, 0, 0) } else { command };
        let input = match turn {
            150 => DeviceInput::Power(PowerChange::Off),
            151 => DeviceInput::Power(PowerChange::On { force: false }),
            250 => DeviceInput::Power(PowerChange::Cut { force: false }),
            _ => DeviceInput::Command { tag: Tag(turn as u32), command, data: &data },
        };
        image.record(now, &input);
        device.apply(now, &input).unwrap();
    }
    image.acknowledge(now, false).unwrap();
    drop((image, device));
    let (_, mut device) = open(&to, None);
    let drive = device.state().drives.remove(0);
    let causes = drive.units.iter().chain(&drive.reads).filter(|(_, count)| **count > 0).collect::<Vec<_>>();
    let told = format!("{causes:?} {} {}", drive.erases, drive.power_cuts);
    let any: Vec<u64> = (0..=400).collect();
    let held = contents(&mut device, &vec![any; 64]);
    let sum = crc32c::crc32c(format!("{told} {held:?}").as_bytes());
    assert_eq!((VERSION, sum), (4, 392_578_401), "{told} {held:?}");
}

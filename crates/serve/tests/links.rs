//! Can somebody else's image reach out of its folder?
//!
//! An image comes in an archive, which keeps links. Each entry in turn is put elsewhere, and a link, a FIFO or another thing in its place.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use outlast_engine::RunControl;
use outlast_serve::{
    ContentsIn, DeviceImage, DeviceInput, ImageOptions, InputRecorder, LogRecords, PowerChange,
};
use outlast_units::{Bytes, Nanos};
use support::DRIVE;
use support::kept::{copy, turns};
use support::load::{RecordedLoad, folder, open};

/// All files below a folder with their bytes, and links with what they lead to.
fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            found.extend(all(&path));
        } else if kind.is_file() {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// An image with a checkpoint and some log, and the name of its newest segment.
fn used(name: &str) -> (PathBuf, String) {
    let mut load =
        RecordedLoad::with(folder(&format!("{name}-used")), DRIVE, 8, 2, support::kept::options(true));
    let mut segment = String::new();
    turns(&mut load, 1, |_, name| name.clone_into(&mut segment));
    (0..20).for_each(|_| load.turn());
    (load.folder.clone(), segment)
}

fn options(every: u64) -> ImageOptions {
    ImageOptions { checkpoint_every: Some(Bytes(every)), ..ImageOptions::default() }
}

/// What comes of each way to use an image: why it is refused, if it is.
fn uses(image: &Path) -> Vec<Option<String>> {
    let go_on = &mut |_: &_| RunControl::Continue;
    let records = || -> Result<(), outlast_serve::ImageError> {
        let mut records = LogRecords::open(image)?;
        while records.next()?.is_some() {}
        records.open_segments().map(|_| ())
    };
    vec![
        records().err().map(|error| error.to_string()),
        DeviceImage::trace(image, &mut Vec::new()).err().map(|error| error.to_string()),
        DeviceImage::device_at(image, Nanos(1), ContentsIn::Memory, go_on)
            .err()
            .map(|error| error.to_string()),
        DeviceImage::scenario(image).err().map(|error| error.to_string()),
        DeviceImage::open(image, None, options(64 << 10), go_on).err().map(|error| error.to_string()),
    ]
}

/// What an image is not made of.
const KINDS: [&str; 5] = ["link", "dangling link", "FIFO", "socket", "wrong kind"];

fn put(kind: &str, at: &Path, victim: &Path) {
    match kind {
        "link" => symlink(victim, at).unwrap(),
        "dangling link" => symlink(victim.with_file_name("nothing-here"), at).unwrap(),
        "FIFO" => assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success()),
        // Its path may be long: a socket's is made where it is short, and moved.
        "socket" => {
            let short = folder("s");
            drop(UnixListener::bind(&short).unwrap());
            fs::rename(short, at).unwrap();
        }
        _ if victim.is_dir() => fs::write(at, "a file").unwrap(),
        _ => fs::create_dir(at).unwrap(),
    }
}

#[test]
fn no_entry_of_an_image_leads_out_of_it() {
    let (good, segment) = used("links");
    let entries = [
        "image",
        "scenario.toml",
        "log",
        "checkpoints",
        "clock",
        "lock",
        "clean",
        "log/00000001",
        &format!("log/{segment}"),
        &format!("checkpoints/{segment}"),
        &format!("checkpoints/{segment}.new"),
    ];
    for entry in entries {
        for kind in KINDS {
            let both = folder("links-both");
            let (victim, evil) = (both.join("victim"), both.join("evil"));
            copy(&good, &victim);
            copy(&good, &evil);
            for file in ["clean", &format!("checkpoints/{segment}.new")] {
                fs::write(victim.join(file), "").unwrap();
            }
            let at = evil.join(entry);
            let _ = if at.is_dir() { fs::remove_dir_all(&at) } else { fs::remove_file(&at) };
            put(kind, &at, &victim.join(entry));
            let (before, around) = (all(&victim), all(&both).len());
            for refused in uses(&evil) {
                let refused = refused.unwrap_or_else(|| panic!("{entry} as {kind} is used"));
                let (path, why) = refused.split_once(": is ").unwrap_or_else(|| panic!("{refused}"));
                assert!(Path::new(path) == at && why.contains(", and must be a "), "{refused}");
                assert!(!refused.contains('\n'), "{refused}");
            }
            assert_eq!(all(&victim), before, "{entry} as {kind}");
            assert_eq!(all(&both).len(), around, "{entry} as {kind}: something new");
        }
    }
}

/// Copies of backup programs (`cp -al`) share files: what one writes the other has.
#[test]
fn a_file_with_a_hard_link_is_not_written() {
    let (good, segment) = used("hard");
    let link = |entry: &str| {
        let (victim, evil) = (folder("hard-victim"), folder("hard-evil"));
        copy(&good, &victim);
        copy(&good, &evil);
        fs::remove_file(evil.join(entry)).unwrap();
        fs::hard_link(victim.join(entry), evil.join(entry)).unwrap();
        (victim, evil)
    };
    for entry in ["clock", &format!("log/{segment}")] {
        let (victim, evil) = link(entry);
        let before = all(&victim);
        let refused = DeviceImage::open(&evil, None, options(64 << 10), &mut |_| RunControl::Continue);
        let refused = refused.err().unwrap_or_else(|| panic!("{entry} is written")).to_string();
        assert!(refused.contains("a hard link") && !refused.contains('\n'), "{refused}");
        assert_eq!(all(&victim), before, "{entry}");
    }
    for entry in ["image", "scenario.toml", "lock", "log/00000001", &format!("checkpoints/{segment}")] {
        let (victim, evil) = link(entry);
        let before = all(&victim);
        let opened = DeviceImage::open(&evil, None, options(64 << 10), &mut |_| RunControl::Continue);
        let (mut image, mut device) = opened.unwrap().unwrap();
        let now = device.now();
        image.record(now, &DeviceInput::Mark("here"));
        image.acknowledge(now, true).unwrap();
        for power in [PowerChange::Off, PowerChange::On { force: false }] {
            image.record(now, &DeviceInput::Power(power));
            device.apply(now, &DeviceInput::Power(power)).unwrap();
        }
        image.shut_down(&mut device, now).unwrap();
        assert_eq!(all(&victim), before, "{entry}");
    }
}

/// The folder itself is named by the user.
#[test]
fn the_path_to_an_image_may_be_a_link() {
    let real = folder("real");
    drop(open(&real, Some(DRIVE)));
    let link = folder("real-by-link");
    let _ = fs::remove_file(&link);
    symlink(&real, &link).unwrap();
    drop(open(&link, None));
}

#[test]
fn a_new_image_is_not_made_over_links() {
    let victim = folder("fresh-victim");
    drop(open(&victim, Some(DRIVE)));
    let before = all(&victim);
    for entry in ["log", "checkpoints", "clock", "lock", "clean", "scenario.toml"] {
        let evil = folder("fresh-evil");
        fs::create_dir_all(&evil).unwrap();
        symlink(victim.join(entry), evil.join(entry)).unwrap();
        let scenario = support::scenario(DRIVE);
        let refused =
            DeviceImage::open(&evil, Some(&scenario), ImageOptions::default(), &mut |_| RunControl::Continue);
        let refused = refused.err().unwrap_or_else(|| panic!("{entry} is followed")).to_string();
        assert!(refused.contains("is a symbolic link"), "{refused}");
        assert_eq!(all(&victim), before, "{entry}");
        assert_eq!(fs::read_dir(&evil).unwrap().count(), 1, "nothing was made for an image that is refused");
    }
}

/// Whatever stops the beginning of an image leaves the folder as it was.
#[test]
fn what_is_refused_has_made_nothing() {
    let parent = folder("refused");
    let image = parent.join("deep/image");
    let own = DRIVE.to_owned() + "\n[policies]\ngc = \"/nowhere/p.py:choose\"\n";
    let refused =
        DeviceImage::open(&image, Some(&support::scenario(&own)), ImageOptions::default(), &mut |_| {
            RunControl::Continue
        });
    assert!(refused.unwrap_err().to_string().contains("policies.gc"));
    assert!(!parent.exists(), "neither the image nor the folders above it");
    fs::create_dir_all(&image).unwrap();
    fs::write(image.join("thesis.tex"), "").unwrap();
    let refused =
        DeviceImage::open(&image, Some(&support::scenario(DRIVE)), ImageOptions::default(), &mut |_| {
            RunControl::Continue
        });
    assert!(refused.unwrap_err().to_string().contains("holds thesis.tex"));
    assert_eq!(fs::read_dir(&image).unwrap().count(), 1);
}

//! Is a folder made an image only where nothing can be lost by it?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_engine::RunControl;
use outlast_serve::{DeviceImage, ImageOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use support::DRIVE;
use support::kept::{copy, turns};
use support::load::{RecordedLoad, folder, open};

/// All files of a folder with their bytes.
fn files(of: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path());
    let each = entries.map(|path| {
        if path.is_dir() { files(&path) } else { [(path.clone(), fs::read(&path).unwrap())].into() }
    });
    each.flatten().collect()
}

/// Reason for which the folder cannot be served, with or without the scenario; nothing in it has changed.
fn refusals(image: &Path) -> [String; 2] {
    let before = files(image);
    let refused = [None, Some(support::scenario(DRIVE))].map(|scenario| {
        let opened = DeviceImage::open(image, scenario.as_ref(), ImageOptions::default(), &mut |_| {
            RunControl::Continue
        });
        opened.expect_err("it is served").to_string()
    });
    assert_eq!(files(image), before, "it is as it was");
    refused.map(|text| text.strip_prefix(&image.display().to_string()).unwrap().to_owned())
}

/// An image with checkpoint and log, whose server was killed.
fn used(name: &str) -> PathBuf {
    let mut load = RecordedLoad::with(folder(name), DRIVE, 8, 2, support::kept::options(true));
    turns(&mut load, 1, |_, _| ());
    load.folder.clone()
}

#[test]
fn an_image_that_has_lost_its_first_file_is_refused_and_not_replaced() {
    let good = used("first-file");
    let image = folder("first-file-lost");
    for kept in
        ["log checkpoints scenario.toml clock lock", "log", "checkpoints", "clock", "log lock scenario.toml"]
    {
        let _ = fs::remove_dir_all(&image);
        copy(&good, &image);
        for entry in ["image", "scenario.toml", "clock", "lock"] {
            if !kept.contains(entry) {
                fs::remove_file(image.join(entry)).unwrap();
            }
        }
        for entry in ["log", "checkpoints"] {
            if !kept.contains(entry) {
                fs::remove_dir_all(image.join(entry)).unwrap();
            }
        }
        let first = ["log", "checkpoints", "clock"].into_iter().find(|entry| kept.contains(entry)).unwrap();
        let expected = format!(
            "/image: is missing, although the folder holds {first}: the image is damaged, and stays as it is; for a new one name an empty folder"
        );
        assert_eq!(refusals(&image), [expected.clone(), expected], "{kept}");
    }
}

#[test]
fn a_folder_with_a_scenario_of_the_user_is_refused() {
    let place = folder("own-scenario");
    fs::create_dir_all(&place).unwrap();
    for name in ["scenario.toml", "lock"] {
        fs::write(place.join(name), "extends = \"demo\"\n").unwrap();
        let [without, with] = refusals(&place);
        assert_eq!(without, ": is not an Outlast image; to create one: outlast serve SCENARIO --image DIR");
        assert_eq!(with, format!(": holds {name} and is not an Outlast image: name an empty folder"));
        fs::remove_file(place.join(name)).unwrap();
    }
}

/// Leftovers of a killed creation: a lock alone, and the files in the order in which they are made.
#[test]
fn a_creation_that_was_killed_is_begun_again_and_the_image_works() {
    let made = folder("killed-creation-whole");
    drop(open(&made, Some(DRIVE)));
    let place = folder("killed-creation");
    for steps in 0..5 {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("lock"), "").unwrap();
        if steps > 0 {
            fs::copy(made.join("image"), place.join("image.new")).unwrap();
        }
        if steps > 1 {
            fs::create_dir(place.join("log")).unwrap();
        }
        if steps > 2 {
            fs::copy(made.join("scenario.toml"), place.join("scenario.toml")).unwrap();
        }
        if steps > 3 {
            fs::write(place.join("clock"), "").unwrap();
        }
        let (image, _) = open(&place, Some(DRIVE));
        assert!(image.opening_report().made, "{steps}");
        drop(image);
        let (image, _) = open(&place, None);
        assert!(!image.opening_report().made && !place.join("image.new").exists(), "{steps}");
    }
}

#[test]
fn a_creation_that_is_refused_leaves_the_folder_as_it_was() {
    let text = DRIVE.to_owned() + "\n[policies]\ngc = \"/nowhere/p.py:choose\"\n";
    let refuse = |place: &Path| {
        let scenario = support::scenario(&text);
        let opened =
            DeviceImage::open(place, Some(&scenario), ImageOptions::default(), &mut |_| RunControl::Continue);
        assert!(opened.unwrap_err().to_string().contains("policies.gc"));
    };
    let place = folder("refused-creation");
    refuse(&place);
    assert!(!place.exists());
    fs::create_dir_all(&place).unwrap();
    refuse(&place);
    assert!(files(&place).is_empty());
    fs::write(place.join("lock"), "").unwrap();
    refuse(&place);
    assert_eq!(files(&place).into_keys().collect::<Vec<_>>(), [place.join("lock")], "it may be the user's");
    fs::write(place.join("image.new"), "outlast").unwrap();
    refuse(&place);
    assert!(files(&place).is_empty(), "the leftovers of a creation are gone");
}

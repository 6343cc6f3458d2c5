#![allow(clippy::disallowed_methods, reason = "a test looks into files")]

use super::*;
use outlast_engine::parse_text;
use std::fs;
use std::path::Path;

fn creation(name: &str) -> ImageCreation {
    let (scenario, _) = parse_text(&format!("extends = \"demo\"\nname = \"{name}\"\n")).unwrap();
    ImageCreation::new(&scenario, false).unwrap()
}

/// An empty folder with a lock, as it is when the first step begins.
fn locked() -> (tempfile::TempDir, ImageFolder) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(LOCK), "").unwrap();
    let folder = ImageFolder::open(place.path()).unwrap();
    (place, folder)
}

/// A folder in which `creation` was killed after so many steps.
fn killed(creation: &ImageCreation, steps: usize) -> (tempfile::TempDir, ImageFolder) {
    let (place, folder) = locked();
    STEPS[..steps].iter().for_each(|(_, step)| step(creation, &folder).unwrap());
    (place, folder)
}

fn names(folder: &ImageFolder) -> Vec<OsString> {
    folder.names().unwrap()
}

/// Checks that the next server of the same scenario takes what is there for a leftover, and that then nothing of it is there.
fn assert_recovers(folder: &ImageFolder, what: &str) {
    // The number of the next image is another.
    let next = creation("first");
    assert!(next.check_leftovers(folder).unwrap_or_else(|error| panic!("{what}: {error}")), "{what}");
    remove_leftovers(folder);
    assert_eq!(names(folder), [LOCK], "{what}");
    assert!(!next.check_leftovers(folder).unwrap(), "{what}");
    next.run(folder).unwrap();
    assert_eq!(names(folder), [CLOCK, IMAGE, LOCK, LOG, SCENARIO], "{what}");
}

fn refusal(creation: &ImageCreation, folder: &ImageFolder) -> String {
    let before = names(folder);
    let text = creation.check_leftovers(folder).unwrap_err().to_string();
    assert_eq!(names(folder), before, "a check removes nothing");
    assert!(!text.contains('\n'), "{text}");
    text.strip_prefix(&folder.path().display().to_string()).unwrap().to_owned()
}

#[test]
fn a_creation_that_is_killed_after_any_step_can_be_begun_again() {
    let first = creation("first");
    for steps in 1..STEPS.len() {
        assert_recovers(&killed(&first, steps).1, &format!("after {steps} steps"));
    }
    let (_place, folder) = killed(&first, STEPS.len());
    assert!(folder.has(IMAGE) && !folder.has(UNFINISHED_IMAGE), "the last step makes it an image");
}

#[test]
fn a_creation_that_is_killed_within_any_file_can_be_begun_again() {
    let first = creation("first");
    for (number, (entry, _)) in
        STEPS.iter().enumerate().filter(|(_, (entry, _))| ![LOG, IMAGE].contains(entry))
    {
        let (place, _) = killed(&first, number + 1);
        let whole = fs::read(place.path().join(entry)).unwrap();
        for length in (0..whole.len()).step_by(1 + whole.len() / 64) {
            let (place, folder) = killed(&first, number + 1);
            fs::write(place.path().join(entry), &whole[..length]).unwrap();
            assert_recovers(&folder, &format!("{entry} of {length} bytes"));
        }
    }
}

#[test]
fn a_removal_of_leftovers_that_is_killed_can_be_begun_again() {
    let first = creation("first");
    let entries = STEPS.iter().rev().map(|(entry, _)| *entry).filter(|entry| *entry != IMAGE);
    for (removed, _) in entries.clone().enumerate().skip(1) {
        let (_place, folder) = killed(&first, STEPS.len() - 1);
        entries.clone().take(removed).for_each(|entry| remove_entry(&folder, entry));
        assert_recovers(&folder, &format!("{removed} entries removed"));
    }
}

#[test]
fn what_no_creation_has_left_is_refused_beside_its_marker() {
    let first = creation("first");
    let last = STEPS.len() - 1;
    let place = |path: &Path, name: &str, bytes: &[u8]| fs::write(path.join(name), bytes).unwrap();
    let missing =
        |own: &str| format!("/image: is missing, although the folder holds {own}: the image is damaged");
    for (name, bytes, expected) in [
        ("log/00000001", "a segment", missing("log")),
        (CLOCK, "twenty-four other bytes.", missing("log")),
        (CLEAN, "", missing("log")),
        (SCENARIO, "name = \"mine\"\n", missing("log")),
        ("thesis.tex", "", ": holds thesis.tex and is not".to_owned()),
        (LOCK, "mine", missing("log")),
        (UNFINISHED_IMAGE, "outlast image 3 0 0\n", missing("log")),
        (UNFINISHED_IMAGE, "notes\n", missing("log")),
    ] {
        let (folder_of, folder) = killed(&first, last);
        place(folder_of.path(), name, bytes.as_bytes());
        let text = refusal(&first, &folder);
        assert!(text.starts_with(&expected), "{name}: {text}");
    }
    // A file that was cut short is known only by the scenario that it was to be.
    let (folder_of, folder) = killed(&first, last);
    place(folder_of.path(), SCENARIO, &first.scenario.as_bytes()[..first.scenario.len() / 2]);
    assert!(refusal(&creation("other"), &folder).starts_with(&missing("log")));
    assert!(first.check_leftovers(&folder).unwrap());
    // A marker that was cut short has nothing beside it.
    let (folder_of, folder) = locked();
    place(folder_of.path(), UNFINISHED_IMAGE, b"outlast im");
    place(folder_of.path(), SCENARIO, first.scenario.as_bytes());
    assert!(refusal(&first, &folder).starts_with(": holds scenario.toml and is not"));
}

#[test]
fn what_is_put_into_the_folder_meanwhile_is_not_replaced_or_removed() {
    for (number, (entry, _)) in STEPS.iter().enumerate() {
        let first = creation("first");
        let (place, folder) = locked();
        fs::write(place.path().join(entry), "mine").unwrap();
        let error = first.run(&folder).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", place.path().join(entry).display())), "{error}");
        assert_eq!(fs::read(place.path().join(entry)).unwrap(), b"mine");
        assert_eq!(names(&folder).len(), 2, "what {number} steps have made is removed");
    }
}

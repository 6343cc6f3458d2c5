//! Is the log of a machine bounded while it is served, and is all that was promised there whenever the server is killed meanwhile?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

mod support;

use outlast_engine::Control;
use outlast_serve::{Image, ImageOptions, fault_of};
use outlast_units::Nanos;
use std::fs;
use std::path::Path;
use support::load::{Load, contents, folder, open};
use support::{ARRAY, DRIVE};

const UNITS: usize = 24;
/// Bytes of log between checkpoints.
const COMPACT: u64 = 300 << 10;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn bytes_of(folder: &Path) -> u64 {
    names(folder).iter().map(|name| fs::metadata(folder.join(name)).unwrap().len()).sum()
}

#[test]
fn a_log_is_bounded_and_its_machine_the_same() {
    for (name, text) in [("bounded-drive", DRIVE.to_owned()), ("bounded-array", format!("{DRIVE}{ARRAY}"))] {
        let options = ImageOptions { compact: Some(COMPACT), ..ImageOptions::default() };
        let mut load = Load::with(folder(name), &text, UNITS, 4, options);
        let to = folder(&format!("{name}-killed"));
        let (log, checkpoints) = (load.folder.join("log"), load.folder.join("checkpoints"));
        let mut written = 0;
        for turn in 0..1200 {
            load.turn();
            written = load.written();
            if turn == 500 && text.contains("[array]") {
                let fault = fault_of(&serde_json::json!({"kind": "die", "die": 2, "device": 1})).unwrap();
                load.give(&outlast_serve::Input::Fault(&fault));
            }
            if turn % 40 == 0 {
                let may = load.killed_now(&to);
                let (image, mut machine) = open(&to, None);
                assert!(!image.found().clean);
                machine.self_check().unwrap();
                contents(&mut machine, &may);
                assert!(names(&to.join("checkpoints")).len() <= 1, "what is older or unfinished goes");
            }
        }
        assert!(written > 4 * COMPACT, "{written} bytes written");
        let folder = load.folder.clone();
        let before = format!("{:?}", load.shut_down());
        assert!(bytes_of(&log) < written / 2, "{} of {written} bytes of log are kept", bytes_of(&log));
        assert_eq!(names(&checkpoints).len(), 1);
        let (image, machine) = open(&folder, None);
        assert!(
            image.found().clean && before == format!("{machine:?}"),
            "a checkpoint and the rest of the log are the machine"
        );
        drop(image);
        let past = Image::as_it_was(&folder, Nanos(1), &mut |_| Control::Continue).unwrap_err().to_string();
        assert!(past.contains("its log goes back to "), "{past}");
        // Damaged, it is refused: the log before it is gone.
        let path = checkpoints.join(&names(&checkpoints)[0]);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
        let refused = Image::open(&folder, None, ImageOptions::default(), &mut |_| Control::Continue);
        let text = refused.unwrap_err().to_string();
        assert!(text.starts_with(&format!("{}: ", path.display())) && text.contains("damaged"), "{text}");
    }
}

//! Images with checkpoints.

use super::load::RecordedLoad;
use super::{ARRAY, DRIVE};
use outlast_engine::RunControl;
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, ServedDevice, parse_fault};
use outlast_units::Bytes;
use std::fs;
use std::path::Path;

pub(crate) const UNITS: usize = 24;
/// Bytes of log between checkpoints.
pub(crate) const EVERY: u64 = 300 << 10;
/// More bytes than a turn writes.
pub(crate) const TURN: u64 = 20 << 10;

pub(crate) fn options(keep_log: bool) -> ImageOptions {
    ImageOptions { keep_log, checkpoint_every: Some(Bytes(EVERY)), ..ImageOptions::default() }
}

/// With it an array starts that a kill has found degraded, of which without it parity would be in doubt, and which md would then refuse.
const RECORDS: &str = "consistency = \"ppl\"\n";

/// A drive, and an array, by name.
pub(crate) fn devices() -> [(&'static str, String); 2] {
    [("drive", DRIVE.to_owned()), ("array", format!("{DRIVE}{ARRAY}{RECORDS}"))]
}

/// The files in a folder, by name.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The bytes of the files in a folder.
pub(crate) fn bytes_of(folder: &Path) -> u64 {
    names(folder).iter().map(|name| fs::metadata(folder.join(name)).unwrap().len()).sum()
}

/// Copies an image.
pub(crate) fn copy(from: &Path, to: &Path) {
    for part in ["", "log", "checkpoints"] {
        fs::create_dir_all(to.join(part)).unwrap();
        for name in names(&from.join(part)) {
            let path = from.join(part).join(&name);
            if path.is_file() {
                fs::copy(path, to.join(part).join(name)).unwrap();
            }
        }
    }
}

/// Why an image cannot be opened.
pub(crate) fn refusal(image: &Path) -> String {
    let opened = DeviceImage::open(image, None, ImageOptions::default(), &mut |_| RunControl::Continue);
    opened.unwrap_err().to_string()
}

/// All of a device's state.
pub(crate) fn state(device: &ServedDevice) -> Vec<u8> {
    let mut bytes = Vec::new();
    device.write(&mut bytes).unwrap();
    bytes
}

/// Turns until `count` checkpoints have been begun; each is waited for, and `then` is told of it by its name.
pub(crate) fn turns(load: &mut RecordedLoad, count: u32, mut then: impl FnMut(&RecordedLoad, &str)) {
    let mut begun = 0;
    for turn in 0.. {
        let before = load.segment();
        load.turn();
        if turn == 100 && load.device.scenario().array.is_some() {
            let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 2, "device": 1})).unwrap();
            load.give(&DeviceInput::Fault(&fault));
        }
        if load.segment() > before {
            let name = format!("{:08}", load.segment());
            load.wait_for_checkpoint();
            then(load, &name);
            begun += 1;
            if begun == count {
                return;
            }
        }
    }
}

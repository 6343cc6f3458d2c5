//! What a server leaves that is killed, and what is found then.

use super::{RecordedLoad, UNIT};
use crate::support::patience::wait_until;
use crate::support::{bytes, command};
use outlast_device::{Op, Outcome, Tag};
use outlast_serve::{DeviceInput, ServedDevice};
use std::fs;
use std::path::{Path, PathBuf};

impl RecordedLoad {
    /// The image as a process leaves it that is killed now; and what its units may hold.
    pub(crate) fn killed_now(&self, to: &Path) -> Vec<Vec<u64>> {
        // A kill stops all threads at once; copying takes time, in which a checkpoint may get its name.
        let mut before = files(&self.folder);
        loop {
            fs::remove_dir_all(to).ok();
            fs::create_dir_all(to.join("log")).unwrap();
            fs::create_dir_all(to.join("checkpoints")).unwrap();
            let copied = before.iter().all(|name| fs::copy(self.folder.join(name), to.join(name)).is_ok());
            let after = files(&self.folder);
            if copied && before == after {
                break;
            }
            before = after;
        }
        self.units.iter().map(|unit| unit.versions[unit.floor..].to_vec()).collect()
    }

    /// Waits until the checkpoint is there that begins with the segment that is written, and what it makes needless is gone.
    pub(crate) fn wait_for_checkpoint(&self) {
        let segment = self.segment();
        let others = |part: &str| {
            let entries = fs::read_dir(self.folder.join(part)).into_iter().flatten();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.filter(|name| *name != format!("{segment:08}")).count()
        };
        let name = self.folder.join(format!("checkpoints/{segment:08}"));
        wait_until("a checkpoint", || {
            assert!(self.troubles.is_empty(), "{:?}", self.troubles);
            name.exists() && others("checkpoints") == 0 && (self.options.keep_log || others("log") == 0)
        });
    }

    /// The image as a process leaves it that is killed when its log had `length` bytes; and what its units may hold.
    pub(crate) fn killed_at(&self, length: u64, to: &Path, pick: u64) -> Vec<Vec<u64>> {
        fs::remove_dir_all(to).ok();
        fs::create_dir_all(to.join("log")).unwrap();
        for name in ["image", "scenario.toml"] {
            fs::copy(self.folder.join(name), to.join(name)).unwrap();
        }
        let log = fs::read(self.folder.join("log/00000001")).unwrap();
        fs::write(to.join("log/00000001"), &log[..length as usize]).unwrap();
        let behind = self.moments.partition_point(|moment| moment.offset <= length);
        let last = self.moments[behind - 1].offset;
        let first = self.moments.partition_point(|moment| moment.offset < last);
        let moment = &self.moments[first + pick as usize % (behind - first)];
        fs::write(to.join("clock"), &moment.clock).unwrap();
        // What was being written may be there.
        let given = &self.moments[behind.min(self.moments.len() - 1)].units;
        moment.units.iter().zip(given).map(|(then, given)| given.versions[then.floor..].to_vec()).collect()
    }
}

/// The files of an image, in order.
fn files(image: &Path) -> Vec<PathBuf> {
    let entries =
        ["", "log", "checkpoints"].into_iter().filter_map(|part| fs::read_dir(image.join(part)).ok());
    let paths = entries.flatten().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut paths: Vec<_> = paths.map(|path| path.strip_prefix(image).unwrap().to_owned()).collect();
    paths.sort();
    paths
}

/// What each of `units` units holds, as a version; panics where one holds nothing that `may` says.
pub(crate) fn contents(device: &mut ServedDevice, may: &[Vec<u64>]) -> Vec<u64> {
    let mut found = Vec::new();
    for (unit, may) in may.iter().enumerate() {
        let read = command(Op::Read, unit as u64 * u64::from(UNIT), UNIT);
        device.apply(device.now(), &DeviceInput::Command { tag: Tag(0), command: read, data: &[] }).unwrap();
        let mut done = Vec::new();
        while done.is_empty() {
            device.advance(device.next_deadline().expect("a read completes"), &mut done);
        }
        assert_eq!((done.len(), done[0].outcome), (1, Outcome::Ok));
        let data = device.take_data(Tag(0)).unwrap();
        let version = may.iter().rev().find(|&&version| data == content(version));
        found.push(*version.unwrap_or_else(|| panic!("unit {unit} holds none of {may:?}")));
    }
    found
}

fn content(version: u64) -> Vec<u8> {
    if version == 0 { vec![0; 4096] } else { bytes(UNIT, version) }
}

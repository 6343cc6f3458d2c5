//! Small devices for tests.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

pub(crate) mod client;
pub(crate) mod kept;
pub(crate) mod load;
pub(crate) mod patience;
pub(crate) mod raw;

use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_engine::{Scenario, ScenarioLayer, load};
use outlast_serve::{DeviceInput, PowerChange, ServedDevice};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::path::PathBuf;

/// A drive of eight dies and 4 MiB, with spare room for a die and a volatile buffer, that has been filled and overwritten.
pub(crate) const DRIVE: &str = r#"
name = "served"
seed = 7
[device.geometry]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 8
page_size = "4KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
over_provisioning = 0.9
[device.controller]
write_cache = "volatile"
[workload.synthetic]
requests = 1
queue_depth = 1
[precondition]
max_drive_writes = 1.0
"#;

/// An array of four such drives as RAID-5.
pub(crate) const ARRAY: &str = "
[array]
level = \"raid5\"
members = 4
chunk = \"16KiB\"
";

/// The scenario that a text describes.
pub(crate) fn scenario(text: &str) -> Scenario {
    let layer =
        ScenarioLayer::Toml { name: "test".to_owned(), text: text.to_owned(), folder: PathBuf::new() };
    load(&[layer], &[], &|_| Err(std::io::Error::other("no files"))).unwrap().0
}

/// A write of `sectors` sectors.
pub(crate) fn command(op: Op, lba: u64, sectors: u32) -> Command {
    Command::new(op, Lba(lba), sectors)
}

/// A host that has one command under way at a time.
pub(crate) struct Host {
    pub(crate) device: ServedDevice,
    pub(crate) now: Nanos,
}

impl Host {
    pub(crate) fn new(text: &str) -> Self {
        Self { device: ServedDevice::new(&scenario(text)).unwrap(), now: Nanos::ZERO }
    }

    /// Carries out a command; what came of it, with the bytes of a read.
    pub(crate) fn run(&mut self, command: Command, data: &[u8]) -> (Outcome, Option<Vec<u8>>) {
        let tag = Tag(0);
        self.device.apply(self.now, &DeviceInput::Command { tag, command, data }).unwrap();
        let done = self.wait();
        assert_eq!(done.tag, tag);
        (done.outcome, self.device.take_data(tag))
    }

    /// Waits for the one completion that there is to come.
    pub(crate) fn wait(&mut self) -> Completion {
        let mut done = Vec::new();
        while done.is_empty() {
            self.now = self.device.next_deadline().expect("something completes");
            self.device.advance(self.now, &mut done);
        }
        assert_eq!(done.len(), 1);
        done[0]
    }

    pub(crate) fn write(&mut self, lba: u64, data: &[u8]) -> Outcome {
        self.run(command(Op::Write, lba, (data.len() as u64 / SECTOR_BYTES) as u32), data).0
    }

    pub(crate) fn read(&mut self, lba: u64, sectors: u32) -> Result<Vec<u8>, Outcome> {
        match self.run(command(Op::Read, lba, sectors), &[]) {
            (Outcome::Ok, Some(data)) => Ok(data),
            (outcome, _) => Err(outcome),
        }
    }

    pub(crate) fn flush(&mut self) -> Outcome {
        self.run(command(Op::Flush, 0, 0), &[]).0
    }

    pub(crate) fn power(&mut self, power: PowerChange) {
        self.device.apply(self.now, &DeviceInput::Power(power)).unwrap();
    }
}

/// Bytes that tell where and what they are.
pub(crate) fn bytes(sectors: u32, seed: u64) -> Vec<u8> {
    let words = u64::from(sectors) * SECTOR_BYTES / 8;
    (0..words).flat_map(|at| outlast_units::rng::mix(seed << 32 | at).to_le_bytes()).collect()
}

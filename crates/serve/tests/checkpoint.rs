//! Is a device that was written and read the device that it was, at any moment of its service?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Op, Tag};
use outlast_serve::{DeviceInput, PowerChange, ServedDevice, parse_fault};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use support::{ARRAY, DRIVE, bytes, command, scenario};

fn written(device: &ServedDevice) -> Vec<u8> {
    let mut bytes = Vec::new();
    device.write(&mut bytes).unwrap();
    bytes
}

/// A random host, power and faults included. Equal ones do the same to any device.
#[derive(Clone)]
pub(crate) struct RandomHost {
    rng: SplitMix,
    pub(crate) now: Nanos,
    turn: u32,
    pub(crate) done: Vec<Completion>,
}

impl RandomHost {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SplitMix::new(seed, "checkpoint"), now: Nanos::ZERO, turn: 0, done: Vec::new() }
    }

    pub(crate) fn go_on(&mut self, device: &mut ServedDevice, turns: u32) {
        for _ in 0..turns {
            self.now += Nanos(self.rng.below(120_000));
            self.turn += 1;
            device.advance(self.now, &mut self.done);
            match self.rng.below(120) {
                0 => self.apply(device, &DeviceInput::Power(PowerChange::Cut { force: true })),
                1 => self.apply(device, &DeviceInput::Power(PowerChange::Off)),
                2..4 => {
                    self.apply(device, &DeviceInput::Replace { member: self.turn as u16 % 4, force: false });
                }
                4 => self.apply(device, &DeviceInput::Repair),
                5 => self.apply(device, &DeviceInput::Mark("here")),
                6..8 => {
                    let text = format!(
                        r#"{{"kind": "die", "die": {}, "device": {}}}"#,
                        self.turn % 8,
                        self.turn % 4
                    );
                    let alone = format!(r#"{{"kind": "die", "die": {}}}"#, self.turn % 8);
                    for text in [text, alone] {
                        if let Ok(fault) = parse_fault(&serde_json::from_str(&text).unwrap()) {
                            self.apply(device, &DeviceInput::Fault(&fault));
                        }
                    }
                }
                _ => {}
            }
            if !device.is_up() {
                self.apply(device, &DeviceInput::Power(PowerChange::On { force: true }));
            }
            let (op, sectors) = match self.rng.below(10) {
                0..6 => (Op::Write, 8 * (1 + self.rng.below(4) as u32)),
                6..8 => (Op::Read, 16),
                8 => (Op::Trim, 8),
                _ => (Op::Flush, 0),
            };
            let lba = if op == Op::Flush { 0 } else { self.rng.below(200) * 8 };
            let data = if op == Op::Write { bytes(sectors, u64::from(self.turn)) } else { Vec::new() };
            let input =
                DeviceInput::Command { tag: Tag(self.turn), command: command(op, lba, sectors), data: &data };
            self.apply(device, &input);
            if self.turn.is_multiple_of(7) {
                let (tag, member) = (Tag(self.turn + 5000), self.turn as u8 % 4);
                self.apply(device, &DeviceInput::ReadMember { tag, member, lba: Lba(lba / 4), sectors: 8 });
            }
        }
    }

    /// What is refused is refused to both.
    fn apply(&mut self, device: &mut ServedDevice, input: &DeviceInput<'_>) {
        let refused = device.apply(self.now, input).err().map(|refused| refused.to_string());
        let note = refused.map_or(0, |text| text.len() as u32);
        self.rng = SplitMix::new(self.rng.next_u64() ^ u64::from(note), "checkpoint");
    }
}

#[test]
fn a_device_read_from_a_snapshot_equals_the_one_written() {
    for text in [DRIVE.to_owned(), format!("{DRIVE}{ARRAY}")] {
        let scenario = scenario(&text);
        for seed in 0..6 {
            let mut device = ServedDevice::new(&scenario).unwrap();
            let mut life = RandomHost::new(seed);
            life.go_on(&mut device, 60 * u32::try_from(seed).unwrap());
            let file = written(&device);
            let mut twin = ServedDevice::read(&scenario, &mut file.as_slice(), None).unwrap();
            twin.self_check().unwrap();
            assert!(written(&twin) == file, "read and written again it is another");
            let mut other = life.clone();
            life.go_on(&mut device, 200);
            other.go_on(&mut twin, 200);
            assert_eq!(life.done, other.done);
            assert_eq!(format!("{:?}", device.state()), format!("{:?}", twin.state()));
            assert!(written(&device) == written(&twin), "they have gone on differently");
        }
    }
}

#[test]
fn a_file_that_is_no_checkpoint_is_refused_in_one_line() {
    let scenario = scenario(DRIVE);
    let file = written(&ServedDevice::new(&scenario).unwrap());
    let refused = |scenario, mut bytes: &[u8], words: &str| {
        let message = ServedDevice::read(scenario, &mut bytes, None).map(|_| ()).unwrap_err().to_string();
        assert!(message.starts_with("the checkpoint ") && message.contains(words), "{message}");
        assert_eq!(message.lines().count(), 1);
    };
    refused(&scenario, b"", "is not a snapshot");
    refused(&scenario, &file[..file.len() - 9], "is damaged: it ends too early");
    let mut other = file.clone();
    other[file.len() / 2] ^= 1;
    refused(&scenario, &other, "is damaged: block");
    let array = support::scenario(&format!("{DRIVE}{ARRAY}"));
    refused(&array, &file, "is of a drive or array with other settings");
}

//! Is a machine that was written and read the machine that it was, at any moment of its service?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Op, Tag};
use outlast_serve::{Input, Machine, Power, fault_of};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use support::{ARRAY, DRIVE, bytes, command, scenario};

fn written(machine: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.write(&mut bytes).unwrap();
    bytes
}

/// A host and fate. Two of them that are alike do the same, whatever machine they have.
#[derive(Clone)]
pub(crate) struct Life {
    rng: SplitMix,
    pub(crate) now: Nanos,
    turn: u32,
    pub(crate) done: Vec<Completion>,
}

impl Life {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SplitMix::new(seed, "checkpoint"), now: Nanos::ZERO, turn: 0, done: Vec::new() }
    }

    pub(crate) fn go_on(&mut self, machine: &mut Machine, turns: u32) {
        for _ in 0..turns {
            self.now += Nanos(self.rng.below(120_000));
            self.turn += 1;
            machine.advance(self.now, &mut self.done);
            match self.rng.below(120) {
                0 => self.apply(machine, &Input::Power(Power::Cut { force: true })),
                1 => self.apply(machine, &Input::Power(Power::Off)),
                2..4 => self.apply(machine, &Input::Replace { member: self.turn as u16 % 4, force: false }),
                4 => self.apply(machine, &Input::Repair),
                5 => self.apply(machine, &Input::Mark("here")),
                6..8 => {
                    let text = format!(
                        r#"{{"kind": "die", "die": {}, "device": {}}}"#,
                        self.turn % 8,
                        self.turn % 4
                    );
                    let alone = format!(r#"{{"kind": "die", "die": {}}}"#, self.turn % 8);
                    for text in [text, alone] {
                        if let Ok(fault) = fault_of(&serde_json::from_str(&text).unwrap()) {
                            self.apply(machine, &Input::Fault(&fault));
                        }
                    }
                }
                _ => {}
            }
            if !machine.is_up() {
                self.apply(machine, &Input::Power(Power::On { force: true }));
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
                Input::Command { tag: Tag(self.turn), command: command(op, lba, sectors), data: &data };
            self.apply(machine, &input);
            if self.turn.is_multiple_of(7) {
                let (tag, member) = (Tag(self.turn + 5000), self.turn as u8 % 4);
                self.apply(machine, &Input::ReadMember { tag, member, lba: Lba(lba / 4), sectors: 8 });
            }
        }
    }

    /// What is refused is refused to both.
    fn apply(&mut self, machine: &mut Machine, input: &Input<'_>) {
        let refused = machine.apply(self.now, input).err().map(|refused| refused.to_string());
        let note = refused.map_or(0, |text| text.len() as u32);
        self.rng = SplitMix::new(self.rng.next_u64() ^ u64::from(note), "checkpoint");
    }
}

#[test]
fn a_machine_that_was_written_and_read_is_the_machine_that_it_was() {
    for text in [DRIVE.to_owned(), format!("{DRIVE}{ARRAY}")] {
        let scenario = scenario(&text);
        for seed in 0..6 {
            let mut machine = Machine::new(&scenario).unwrap();
            let mut life = Life::new(seed);
            life.go_on(&mut machine, 60 * u32::try_from(seed).unwrap());
            let file = written(&machine);
            let mut twin = Machine::read(&scenario, &mut file.as_slice(), None).unwrap();
            twin.self_check().unwrap();
            assert!(written(&twin) == file, "read and written again it is another");
            let mut other = life.clone();
            life.go_on(&mut machine, 200);
            other.go_on(&mut twin, 200);
            assert_eq!(life.done, other.done);
            assert_eq!(format!("{:?}", machine.state()), format!("{:?}", twin.state()));
            assert!(written(&machine) == written(&twin), "they have gone on differently");
        }
    }
}

#[test]
fn a_checkpoint_that_is_none_is_refused_in_one_line() {
    let scenario = scenario(DRIVE);
    let file = written(&Machine::new(&scenario).unwrap());
    let refused = |scenario, mut bytes: &[u8], words: &str| {
        let message = Machine::read(scenario, &mut bytes, None).map(|_| ()).unwrap_err().to_string();
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

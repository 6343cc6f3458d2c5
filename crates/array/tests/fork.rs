//! An array and its forks do not influence each other. An array of drives with bytes is cloned while a member is rebuilt, while a failed die is
//! repaired, or just after a loss of power. Each goes on by itself, against an oracle of its own, and is to the byte what an array that was
//! never forked becomes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::Array;
use outlast_device::Device;
use outlast_media::{DieDamage, DriveFault};
use outlast_persist::{Restore, Writer};
use outlast_settings::array::{Consistency, Level, RepairConfig as ArrayRepair};
use outlast_settings::drive::{Identifier, RepairConfig, RepairScheme};
use outlast_ssd::Ssd;
use outlast_units::Bytes;
use outlast_units::rng::SplitMix;
use support::drives::{self, Trial};

/// Commands between two looks at the other.
const TURN: u32 = 60;
const TURNS: u32 = 6;

/// Work that is under way when the array is forked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Rebuild,
    DieRepair,
    PowerCut,
}

/// A drive of 2 MiB in eight dies that keeps its bytes, and bears the loss of a die.
fn drive(seed: u64) -> Ssd {
    let mut config = drives::drive([4, 2, 1], 24, 16, Bytes::kib(3584), Bytes::kib(128));
    config.ftl.spare_blocks = 2;
    config.controller.flash_cores = 2;
    let (scheme, identifier) = (RepairScheme::Cooperative, Identifier::P2lBlock);
    config.repair = Some(RepairConfig { scheme, identifier, bad_blocks: 4, ..RepairConfig::default() });
    Ssd::new(config, seed).unwrap()
}

/// An array and what befalls it.
#[derive(Clone)]
struct Life {
    trial: Trial,
}

impl Life {
    /// The life of an array up to `moment`.
    fn up_to(moment: Moment, level: Level, seed: u64) -> Self {
        let mut config = drives::small(level, 4, Consistency::Ppl);
        if level == Level::Raid1 {
            config.consistency = Consistency::Bitmap;
        }
        config.repair = ArrayRepair { range: Bytes::kib(256), ..ArrayRepair::default() };
        let drives = (0..4).map(|index| drive(seed * 1000 + index)).collect();
        let mut life = Self { trial: Trial::new(Array::new(config, drives, true).unwrap(), seed) };
        life.work(700);
        let now = life.trial.host.now;
        let host = &mut life.trial.host;
        match moment {
            Moment::Rebuild => drop(host.device.replace(now, 1, drive(seed * 1000 + 99), false).unwrap()),
            Moment::DieRepair => {
                host.members_search = true;
                let dead = DriveFault { die: 3, damage: DieDamage::Die };
                host.device.member_mut(1).unwrap().inject(now, dead);
            }
            Moment::PowerCut => life.trial.cut(),
        }
        while moment != Moment::PowerCut && !life.trial.host.device.is_rebuilding() {
            life.work(1);
        }
        life
    }

    fn work(&mut self, commands: u32) {
        for _ in 0..commands {
            let next = self.trial.next();
            self.trial.work(next);
        }
        self.trial.check_losses();
    }

    /// A turn of work, in which power may fail where that leaves nothing in doubt.
    fn go_on(&mut self) {
        self.work(TURN);
        if self.trial.has_records() && self.trial.rng.below(4) == 0 {
            self.trial.cut();
        }
        self.trial.host.device.self_check().unwrap();
    }

    /// Another future, which follows from `seed`.
    fn turns_to(&mut self, seed: u64) {
        self.trial.rng = SplitMix::new(seed, "fork");
    }
}

/// All of the drives' state, contents and commands under way included.
fn written(array: &Array<Ssd>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    array.devices().for_each(|drive| drive.save(&mut writer));
    writer.end().unwrap();
    bytes
}

fn same(one: &Life, other: &Life, who: &str) {
    let (a, b) = (&one.trial.host, &other.trial.host);
    assert_eq!(a.device.counters(), b.device.counters(), "{who}");
    assert_eq!((a.now, a.completed, a.reads_checked), (b.now, b.completed, b.reads_checked), "{who}");
    let state = |array: &Array<Ssd>| {
        (
            array.next_deadline(),
            format!("{:?} {:?} {:?}", array.status(a.now), array.events(), array.repairs()),
        )
    };
    assert_eq!(state(&a.device), state(&b.device), "{who}");
    assert!(written(&a.device) == written(&b.device), "{who} has gone on differently");
}

fn forked(moment: Moment, level: Level, seed: u64) {
    let up_to = || Life::up_to(moment, level, seed);
    let mut origin = up_to();
    let mut fork = origin.clone();
    fork.turns_to(seed + 500);
    // One that is given up takes nothing with it that others hold.
    let mut given_up = origin.clone();
    given_up.turns_to(seed + 900);
    given_up.go_on();
    for turn in 0..TURNS {
        origin.go_on();
        if turn == 2 {
            drop(given_up.clone());
        }
        fork.go_on();
    }
    drop(given_up);
    assert!(written(&origin.trial.host.device) != written(&fork.trial.host.device), "they do the same");
    let mut twins = [up_to(), up_to()];
    twins[1].turns_to(seed + 500);
    for twin in &mut twins {
        (0..TURNS).for_each(|_| twin.go_on());
    }
    same(&origin, &twins[0], "the original");
    same(&fork, &twins[1], "the fork");
    for life in [&mut origin, &mut fork] {
        life.trial.host.drain();
        life.trial.reckon();
    }
}

fn at_each(moment: Moment) {
    for level in [Level::Raid5, Level::Raid1] {
        forked(moment, level, fuzzed::drawn());
    }
}

#[test]
fn a_fork_during_a_rebuild() {
    at_each(Moment::Rebuild);
}

#[test]
fn a_fork_while_a_die_is_repaired() {
    at_each(Moment::DieRepair);
}

#[test]
fn a_fork_after_a_loss_of_power() {
    at_each(Moment::PowerCut);
}

//! Do a drive and its forks know nothing of each other? A drive is cloned in the middle of its life, commands under way included, and each
//! goes on with commands, losses of power and failures of its own, against a model of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::Op;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;
use support::model::Model;
use support::protection::{Choices, choices, protected};
use support::tiny;

/// A drive with several times as many slots as are cloned together.
fn drive(cache: WriteCache, choices: Choices) -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 64;
    config.geometry.planes_per_die = 1;
    config.geometry.pages_per_block = 16;
    config.ftl.capacity = Some(Bytes(1200 * 4096));
    config.controller.write_cache = cache;
    config.protection = Some(protected(choices, 15));
    config
}

/// A drive beside its model, and what befalls it.
#[derive(Clone)]
struct Life {
    model: Model,
    rng: SplitMix,
}

impl Life {
    fn go_on(&mut self, commands: u64) {
        let units = self.model.units.len() as u64;
        for _ in 0..commands {
            while self.model.pending.len() >= 8 {
                assert!(self.model.step(Nanos::MAX), "commands are pending and nothing happens");
            }
            match self.rng.below(200) {
                0 => {
                    let at = self.model.now + Nanos(self.rng.below(3_000_000));
                    while self.model.now < at && self.model.step(at) {}
                    self.model.now = at;
                    self.model.cut();
                }
                1 => self.fail(),
                _ => {}
            }
            let (op, longest) = match self.rng.below(100) {
                0..70 => (Op::Write, if self.rng.below(8) == 0 { 20 } else { 3 }),
                70..90 => (Op::Read, 4),
                90..96 => (Op::Trim, 6),
                _ => (Op::Flush, 1),
            };
            let count = 1 + self.rng.below(longest);
            let first = self.rng.below(units - count) as usize;
            let end = first + count as usize;
            if op == Op::Read || op == Op::Flush || self.model.is_free(first, end) {
                let known = self.model.units[first].current().len() == 1;
                let partial = op == Op::Write && known && self.rng.below(3) == 0;
                let skip = if partial { self.rng.below(8) as usize } else { 0 };
                self.model.submit(op, first, end, skip, false, self.rng.below(3) as u16);
            }
        }
    }

    fn fail(&mut self) {
        let block = self.rng.below(64) as u32;
        let damage = match self.rng.below(8) {
            0 => DieDamage::Die,
            1..4 => DieDamage::Block { plane: 0, block },
            _ => DieDamage::Page { plane: 0, block, page: self.rng.below(16) as u32 },
        };
        self.model.ssd.inject(self.model.now, DriveFault { die: self.rng.below(4) as u16, damage });
    }

    /// The same drive as it is now, with another future.
    fn fork(&self, seed: u64) -> Self {
        Self { rng: SplitMix::new(seed, "fork"), ..self.clone() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_drive_and_its_forks_do_not_see_each_others_writes(
        cache in prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]),
        choices in choices(),
        seed: u64,
    ) {
        let config = drive(cache, choices);
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut model = Model::new(config, seed);
        model.may_fail = true;
        model.ssd.begin_timed();
        let mut lives = vec![Life { model, rng: SplitMix::new(seed, "origin") }];
        let mut rng = SplitMix::new(seed, "forks");
        for number in 0..24 {
            let one = rng.below(lives.len() as u64) as usize;
            if rng.below(4) == 0 && lives.len() < 4 {
                let fork = lives[one].fork(seed ^ number);
                lives.push(fork);
            }
            if rng.below(8) == 0 && lives.len() > 1 {
                // What is given up takes nothing with it that others hold.
                lives.swap_remove(one);
                continue;
            }
            lives[one].go_on(100);
        }
        for life in &mut lives {
            life.model.settle_down();
            life.model.read_everything();
            prop_assert!(life.model.checked > 0);
        }
    }
}

/// The same commands give the same drive, whether it is a fork or not.
#[test]
fn a_fork_goes_on_as_its_origin_would() {
    let config = drive(
        WriteCache::Volatile,
        (
            3,
            1,
            outlast_settings::ftl::ProtectedStreams::All,
            outlast_settings::ftl::PartialPlace::None,
            None,
            false,
        ),
    );
    let mut origin = Life { model: Model::new(config, 5), rng: SplitMix::new(5, "origin") };
    origin.model.may_fail = true;
    origin.model.ssd.begin_timed();
    origin.go_on(600);
    let mut fork = origin.clone();
    origin.go_on(600);
    fork.go_on(600);
    for life in [&mut origin, &mut fork] {
        life.model.settle_down();
        life.model.read_everything();
    }
    let counted = |life: &Life| {
        (life.model.ssd.counters(), life.model.ssd.written(), life.model.now, life.model.fallen_back)
    };
    assert_eq!(counted(&origin), counted(&fork));
}

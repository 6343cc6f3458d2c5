//! Random drives of many kinds, and lives for them: commands, losses of power, failures.

use super::model::Model;
use super::protection::{Choices, choices, chooses_by_figures, protected};
use super::torture::{coalesces, map_flushes};
use super::{tiny, weak_flash};
use outlast_device::{Device, Op};
use outlast_media::{
    ChannelOrder, DieDamage, DriveFault, HazardConfig, PageTimes, PlaneReads, SuspendConfig,
};
use outlast_settings::drive::{
    DecodeTimes, HostLatency, Identifier, MountConfig, RepairConfig, RepairScheme, ScrubConfig, SsdConfig,
    WriteCache,
};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Nanos};
use proptest::prelude::*;

/// A drive beside its model, and what befalls it.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) model: Model,
    pub(crate) rng: SplitMix,
    pub(crate) config: SsdConfig,
}

impl Life {
    pub(crate) fn go_on(&mut self, commands: u64) {
        let units = self.model.units.len() as u64;
        for _ in 0..commands {
            while self.model.pending.len() >= 8 {
                assert!(self.model.step(Nanos::MAX), "commands are pending and nothing happens");
            }
            match self.rng.below(150) {
                0 => {
                    let at = self.model.now + Nanos(self.rng.below(3_000_000));
                    while self.model.now < at && self.model.step(at) {}
                    self.model.now = at;
                    self.model.cut();
                }
                1 | 2 => self.fail(),
                _ => {}
            }
            let (op, longest) = match self.rng.below(100) {
                0..60 => (Op::Write, if self.rng.below(8) == 0 { 20 } else { 3 }),
                60..86 => (Op::Read, 4),
                86..92 => (Op::Trim, 6),
                92..96 if self.config.repair.is_some() => (Op::LbaStatus, 8),
                _ => (Op::Flush, 1),
            };
            let count = 1 + self.rng.below(longest);
            let first = self.rng.below(units - count) as usize;
            let end = first + count as usize;
            if matches!(op, Op::Read | Op::Flush | Op::LbaStatus) || self.model.is_free(first, end) {
                let known = self.model.units[first].current().len() == 1;
                let partial = op == Op::Write && known && self.rng.below(3) == 0;
                let skip = if partial { self.rng.below(8) as usize } else { 0 };
                let fua = op == Op::Write && self.rng.below(12) == 0;
                self.model.submit(op, first, end, skip, fua, self.rng.below(3) as u16);
            }
        }
    }

    fn fail(&mut self) {
        let geometry = &self.config.geometry;
        let mut below = |n: u32| self.rng.below(u64::from(n)) as u32;
        let (die, plane) =
            (below(geometry.dies().into()) as u16, below(geometry.planes_per_die.into()) as u16);
        let (block, page) = (below(geometry.blocks_per_plane), below(geometry.pages_per_block));
        let damage = match below(24) {
            0 | 1 => DieDamage::Die,
            2 => DieDamage::Plane { plane },
            3..6 => DieDamage::Block { plane, block },
            6..9 => DieDamage::Wordline { plane, block, page },
            9 => DieDamage::ParityCache,
            10..14 => DieDamage::TransientRead { block: None, reads: 1 + below(9) },
            14..17 => DieDamage::Program { plane, block },
            17..20 => DieDamage::Erase { plane, block },
            _ => DieDamage::Page { plane, block, page },
        };
        self.model.ssd.inject(self.model.now, DriveFault { die, damage });
    }

    /// The same host of another drive.
    pub(crate) fn with(&self, ssd: Ssd) -> Self {
        let mut model = self.model.clone();
        model.ssd = ssd;
        Self { model, rng: self.rng.clone(), config: self.config.clone() }
    }

    pub(crate) fn figures(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let ssd = &self.model.ssd;
        let told = (self.model.now, self.model.next_tag, self.model.checked, self.model.medium_errors);
        (told, ssd.counters(), ssd.written(), ssd.smart(), ssd.corrections(), ssd.next_deadline())
    }
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "traits of a drive that do not depend on each other")]
struct Traits {
    cache: WriteCache,
    errs: bool,
    hazards: bool,
    link: bool,
    suspends: bool,
    scrub: u8,
}

fn traits() -> impl Strategy<Value = Traits> {
    let cache = prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]);
    let yes = any::<bool>;
    (cache, yes(), yes(), yes(), yes(), 0u8..7).prop_map(|(cache, errs, hazards, link, suspends, scrub)| {
        Traits { cache, errs, hazards, link, suspends, scrub }
    })
}

fn with(traits: Traits, mut config: SsdConfig) -> SsdConfig {
    config.controller.write_cache = traits.cache;
    config.controller.think_time = if traits.scrub >= 5 { Nanos::micros(400) } else { Nanos::ZERO };
    config.mount = (traits.scrub % 2 == 1)
        .then(|| MountConfig { checkpoint_every: Some(Bytes::kib(512)), ..MountConfig::default() });
    if traits.errs {
        config.reliability = Some(weak_flash(Some(2), Some(1)));
        let is = |which: u8| traits.scrub == which;
        config.scrub = (traits.scrub != 0).then(|| ScrubConfig {
            reprotect: true,
            reads: is(1).then_some(20),
            age: is(2).then_some(Nanos::millis(300)),
            expected_errors: is(3).then_some(60.0),
            rereads_per_unit: is(4).then_some(0.05),
            patrol: is(5).then_some(Nanos::millis(500)),
            ..ScrubConfig::default()
        });
    }
    if traits.hazards {
        let (program_failure, erase_failure, transient_read) = (2e-3, 0.01, 5e-3);
        config.hazards =
            HazardConfig { program_failure, erase_failure, transient_read, ..HazardConfig::default() };
        config.ftl.tolerated_bad_blocks = 1;
        config.ftl.spare_blocks = 3;
    }
    coalesces(&mut config, traits.link == traits.errs, if traits.suspends { 128 } else { 0 });
    if traits.link {
        config.controller.link = ByteRate::new(500_000_000);
        config.controller.queue_depth = 3;
        config.controller.master_cost = Nanos(700);
        config.controller.write_cost = Nanos(1100);
    }
    if traits.suspends != traits.link {
        let (submit, complete) = (Nanos(1500), Nanos::micros(7));
        config.controller.host_latency = HostLatency { submit, complete };
    }
    if traits.suspends {
        let (overhead, limit, reads) = (Nanos::micros(5), 3, 2);
        config.timing.suspend = Some(SuspendConfig::both(overhead, limit, reads));
        config.timing.channel = ChannelOrder::ReadsFirst;
        config.timing.cache_read = traits.errs.then_some(Nanos::micros(3));
        config.controller.decode = DecodeTimes { hard: Nanos(7_000), retry: Nanos(9_000) };
        if config.ftl.multi_plane {
            config.timing.plane_reads = PlaneReads::Independent;
        }
        config.timing.read = PageTimes::ByType(vec![Nanos::micros(40), Nanos::micros(70)]);
    }
    config
}

/// One core over four dies, with parity.
fn protected_drive(choices: Choices) -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 64;
    config.geometry.planes_per_die = 1;
    config.geometry.pages_per_block = 16;
    config.ftl.capacity = Some(Bytes(1000 * 4096));
    config.protection = Some(protected(choices, 15));
    config
}

/// Two cores, whose dies are repaired when they fail.
fn repaired_drive(scheme: RepairScheme, identifier: Identifier) -> SsdConfig {
    let mut config = tiny();
    config.geometry.dies_per_chip = 4;
    config.geometry.blocks_per_plane = 24;
    config.ftl.capacity = Some(Bytes(1000 * 4096));
    config.controller.flash_cores = 2;
    config.repair = Some(RepairConfig { scheme, identifier, bad_blocks: 8, ..RepairConfig::default() });
    config
}

pub(crate) fn drives() -> impl Strategy<Value = SsdConfig> {
    let identifiers =
        [Identifier::L2pOneCore, Identifier::L2pAllCores, Identifier::P2lPage, Identifier::P2lBlock];
    let schemes = [RepairScheme::Isolated, RepairScheme::Cooperative];
    let repairs = (prop::sample::select(schemes.to_vec()), prop::sample::select(identifiers.to_vec()));
    let kinds = prop_oneof![
        choices().prop_map(protected_drive),
        repairs.prop_map(|(scheme, identifier)| repaired_drive(scheme, identifier)),
    ];
    (traits(), kinds, map_flushes(), any::<u64>()).prop_map(|(traits, mut config, map_flush, seed)| {
        config.ftl.map_flush = map_flush;
        let mut config = with(traits, config);
        chooses_by_figures(&mut config, seed);
        config
    })
}

pub(crate) fn begun(config: SsdConfig, seed: u64) -> Life {
    let mut model = Model::new(config.clone(), seed);
    model.may_fail = true;
    model.ssd.begin_timed();
    let mut config = config;
    config.bytes = true;
    Life { model, rng: SplitMix::new(seed, "life"), config }
}

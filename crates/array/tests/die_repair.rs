//! Arrays of real drives survive failing dies. Dies fail, two at once, too, and again while the last failure is being repaired;
//! power fails at any moment; collection is in full swing. Every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::Array;
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::array::{ArrayConfig, Consistency, Level, RepairConfig as ArrayRepair};
use outlast_settings::drive::{Identifier, Migration, RepairConfig, RepairScheme};
use outlast_ssd::Ssd;
use outlast_units::Bytes;
use support::drives::{self, Trial};
use support::settings::ArraySettings;

/// Die failures that a drive lives through here.
const MOST: usize = 2;

/// A drive of 2 MiB in eight dies, which two flash cores share, that keeps its bytes.
fn drive(repair: &RepairConfig, seed: u64) -> Ssd {
    let mut config = drives::drive([4, 2, 1], 24, 16, Bytes::kib(3584), Bytes::kib(128));
    config.ftl.spare_blocks = 2;
    config.controller.flash_cores = 2;
    config.repair = Some(repair.clone());
    Ssd::new(config, seed).unwrap()
}

struct Torture {
    trial: Trial,
    repair: RepairConfig,
    redundancy: usize,
    seed: u64,
    /// Members of which a die has failed since every page was last looked at.
    broken: Vec<usize>,
    /// Dies that have failed, by member.
    dies: Vec<Vec<u16>>,
    failed: u32,
    exchanged: u32,
}

impl Torture {
    fn new(config: &ArrayConfig, repair: &RepairConfig, seed: u64) -> Self {
        let drives =
            (0..u64::from(config.devices())).map(|index| drive(repair, seed * 1000 + index)).collect();
        let array = Array::new(config.clone(), drives, true).unwrap();
        let mut trial = Trial::new(array, seed);
        trial.host.members_search = true;
        Self {
            trial,
            repair: repair.clone(),
            redundancy: usize::from(config.redundancy()),
            seed: seed * 1000 + 100,
            broken: Vec::new(),
            dies: vec![Vec::new(); usize::from(config.members)],
            failed: 0,
            exchanged: 0,
        }
    }

    fn step(&mut self) {
        let next = self.trial.next();
        self.trial.work(next);
        if self.trial.rng.below(15) == 0 {
            self.fault();
            self.trial.host.device.self_check().unwrap();
        }
    }

    fn fault(&mut self) {
        let member = self.trial.rng.below(self.trial.members() as u64) as usize;
        match self.trial.rng.below(12) {
            0 => self.make_whole(),
            1..=3 => self.fail_dies(member),
            4..=6 => self.power_cut(),
            _ => {}
        }
    }

    /// A die fails, or two at once; the member may still be busy with the last one.
    fn fail_dies(&mut self, member: usize) {
        if !self.broken.contains(&member) && self.trial.missing() + self.broken.len() >= self.redundancy {
            return;
        }
        self.trial.settle();
        for _ in 0..=self.trial.rng.below(2) {
            let die = self.trial.rng.below(8) as u16;
            if self.dies[member].len() == MOST || self.dies[member].contains(&die) {
                continue;
            }
            let now = self.trial.host.now;
            let Some(drive) = self.trial.host.device.member_mut(member) else { return };
            drive.inject(now, DriveFault { die, damage: DieDamage::Die });
            self.dies[member].push(die);
            self.failed += 1;
            if !self.broken.contains(&member) {
                self.broken.push(member);
            }
        }
    }

    /// A rest, in which every page is looked at and all that is broken is found and made good. Drives that have little space left are
    /// exchanged.
    fn make_whole(&mut self) {
        self.trial.host.device.start_scrub(self.trial.host.now, true);
        self.trial.host.drain();
        self.broken.clear();
        for column in 0..self.trial.members() {
            let absent = self.trial.host.device.member(column).is_none();
            if absent || self.dies[column].len() == MOST {
                self.replace(column);
            }
        }
        let now = self.trial.host.now;
        while self.trial.host.device.status(now).spares < usize::from(self.trial.host.device.config().spares)
        {
            self.seed += 1;
            self.trial.host.device.add_spare(now, drive(&self.repair, self.seed)).unwrap();
        }
        self.trial.host.drain();
    }

    fn replace(&mut self, column: usize) {
        self.trial.settle();
        self.seed += 1;
        self.exchanged += 1;
        self.trial
            .host
            .device
            .replace(self.trial.host.now, column, drive(&self.repair, self.seed), false)
            .unwrap();
        self.dies[column].clear();
        self.trial.host.drain();
    }

    fn power_cut(&mut self) {
        // Without records nothing may be missing: that is the write hole, and has tests of its own.
        if !self.trial.has_records() && self.trial.missing() + self.broken.len() > 0 {
            self.make_whole();
            for _ in 0..8 {
                let next = self.trial.next();
                self.trial.host.submit(next);
            }
        }
        self.trial.cut();
    }

    /// Everything made whole: no error, no mismatch, nothing lost.
    fn end(&mut self) {
        self.make_whole();
        self.trial.reckon();
    }
}

/// Two thirds of `steps` commands, over two seeds.
fn torture(config: &ArrayConfig, repair: &RepairConfig, steps: u32) {
    let (mut failed, mut repaired, mut cuts) = (0, 0, 0);
    for seed in 1..3 {
        let mut torture = Torture::new(config, repair, seed);
        for _ in 0..steps / 3 {
            torture.step();
            torture.trial.check_losses();
        }
        torture.end();
        failed += torture.failed;
        cuts += torture.trial.cuts;
        repaired +=
            torture.trial.host.device.repairs().iter().filter(|own| own.finished_at.is_some()).count();
    }
    assert!(
        failed >= 4 && repaired >= 2 && cuts >= 4,
        "{failed} dies failed, {repaired} repairs, {cuts} cuts"
    );
}

fn repair(scheme: RepairScheme, identifier: Identifier) -> RepairConfig {
    RepairConfig { scheme, identifier, bad_blocks: 4, ..RepairConfig::default() }
}

fn array(level: Level, members: u16, consistency: Consistency, way: RepairWay) -> ArrayConfig {
    let spares = u16::from(way != RepairWay::Die);
    let repair = ArrayRepair { way, range: Bytes::kib(256), ..ArrayRepair::default() };
    drives::small(level, members, consistency).with_spares(spares).with_repair(repair)
}

#[test]
fn raid5_of_drives_that_share_the_loss() {
    let config = array(Level::Raid5, 4, Consistency::Ppl, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lBlock), 6_000);
}

#[test]
fn raid5_of_drives_that_hand_data_over_themselves() {
    let config = array(Level::Raid5, 4, Consistency::Journal, RepairWay::Die);
    let own = repair(RepairScheme::Cooperative, Identifier::L2pAllCores);
    torture(&config, &RepairConfig { migration: Migration::Device, ..own }, 6_000);
}

#[test]
fn raid5_of_drives_whose_cores_are_on_their_own() {
    let config = array(Level::Raid5, 4, Consistency::Resync, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Isolated, Identifier::L2pOneCore), 6_000);
}

#[test]
fn raid6_with_dies_of_two_members_at_once() {
    let config = array(Level::Raid6, 5, Consistency::Ppl, RepairWay::Die);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lPage), 6_000);
}

#[test]
fn raid5_with_rebuild_assist() {
    let config = array(Level::Raid5, 4, Consistency::Ppl, RepairWay::Assist);
    torture(&config, &repair(RepairScheme::Cooperative, Identifier::P2lBlock), 4_500);
}

//! Does a drive say the same of what is lost whoever asks: by extents, by a query, by the reads that fail?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, SectorRun, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{Identifier, Migration, RepairConfig, RepairScheme};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Lba, Nanos};
use support::model::Model;
use support::{command, tiny};

/// What is to be written again after a die has failed is what a query answers, whoever looks for it.
#[test]
fn what_is_lost_or_misplaced_is_what_a_query_answers() {
    let (mut misplaced, mut lost) = (0, 0);
    for (seed, identifier) in [
        (1, Identifier::L2pOneCore),
        (2, Identifier::L2pAllCores),
        (3, Identifier::P2lPage),
        (4, Identifier::P2lBlock),
    ] {
        let mut config = tiny();
        config.geometry.channels = 4;
        config.geometry.dies_per_chip = 4;
        config.geometry.planes_per_die = 1;
        config.geometry.blocks_per_plane = 40;
        config.geometry.spare_per_page = Bytes(256);
        config.ftl.capacity = Some(Bytes(1600 * 4096));
        config.controller.flash_cores = 4;
        config.controller.write_buffer = Bytes::kib(512);
        config.bytes = true;
        config.repair = Some(RepairConfig {
            scheme: RepairScheme::Cooperative,
            identifier,
            migration: Migration::Host,
            ..RepairConfig::default()
        });
        let mut model = Model::new(config, seed);
        model.ssd.begin_timed();
        for unit in 0..model.units.len() {
            model.submit(Op::Write, unit, unit + 1, 0, false, 0);
            model.settle_down();
        }
        let (mut ssd, now) = (model.ssd, model.now);
        ssd.inject(now, DriveFault { die: 5, damage: DieDamage::Die });
        ssd.detect_untimed(now);
        let told = ssd.extents(Lba(0), u64::MAX);
        let sectors = ssd.units() as u32 * ssd.sectors_per_unit();
        ssd.submit(now, command(Op::LbaStatus, 0, sectors), Tag(0));
        let mut done = Vec::new();
        while done.is_empty() {
            ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
        let answer: Vec<_> = ssd.take_lba_status(Tag(0)).unwrap();
        let answer: Vec<_> =
            answer.iter().map(|run| (run.lba, u64::from(run.sectors), run.readable)).collect();
        let bad = told.iter().filter(|extent| extent.state.lost || extent.state.misplaced);
        let bad: Vec<_> = bad.map(|extent| (extent.lba, extent.sectors, extent.state.misplaced)).collect();
        assert_eq!(bad, answer, "{identifier:?}");
        misplaced += bad.iter().filter(|run| run.2).count();
        lost += bad.iter().filter(|run| !run.2).count();
    }
    assert!(misplaced > 10 && lost > 10, "{misplaced} misplaced, {lost} lost");
}

/// A read over several units says which of them failed, and a read that is fine afterwards says nothing.
#[test]
fn a_read_that_fails_says_where() {
    let mut config = tiny();
    config.bytes = true;
    let mut model = Model::new(config, 5);
    model.ssd.begin_timed();
    model.may_fail = true;
    for unit in 0..64 {
        model.submit(Op::Write, unit, unit + 1, 0, false, 0);
    }
    while let Some(at) = model.ssd.next_deadline() {
        model.step(at);
    }
    let (mut ssd, mut now) = (model.ssd, model.now);
    ssd.inject(now, DriveFault { die: 1, damage: DieDamage::Die });
    let lost = |ssd: &Ssd, from: u64, count: u64| -> Vec<SectorRun> {
        let extents = ssd.extents(Lba(from), count).into_iter().filter(|extent| extent.state.lost);
        extents.map(|extent| SectorRun { lba: extent.lba, sectors: extent.sectors }).collect()
    };
    let (from, count) = (3, 64 * 8 - 5);
    let expected = lost(&ssd, from, count);
    assert!(expected.len() > 3, "{expected:?}");
    let mut read = |ssd: &mut Ssd, tag: Tag, from: u64, count: u64| {
        let mut done = Vec::new();
        ssd.submit(now, command(Op::Read, from, count as u32), tag);
        while done.is_empty() {
            now = ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
        (done[0].outcome, ssd.take_failed(tag))
    };
    assert_eq!(read(&mut ssd, Tag(9), from, count), (Outcome::MediumError, Some(expected)));
    assert_eq!(ssd.take_failed(Tag(9)), None);
    let good = ssd.extents(Lba(0), u64::MAX).into_iter().find(|extent| !extent.state.lost).unwrap();
    assert_eq!(read(&mut ssd, Tag(9), good.lba.0, 1), (Outcome::Ok, None));
}

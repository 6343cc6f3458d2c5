//! On-chip copies: relocation that leaves the channels alone, as often in a row as the setting allows, with the errors of what is not corrected.

use crate::slc_cache::{CACHED, cached, figures, fill, written};
use crate::support::{closed_loop, command, tiny, weak_flash};
use outlast_decisions::SuperblockState;
use outlast_device::{Device, Op};
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_settings::drive::{Identifier, RepairConfig, SlcCacheConfig, SsdConfig};
use outlast_settings::ftl::{GcReads, GcRelocation, ProtectionConfig, WearLeveling};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos, SuperblockId};

fn copying(copies: u8, change: impl FnOnce(&mut SlcCacheConfig)) -> SsdConfig {
    let mut config = cached(change);
    config.ftl.gc.on_chip_copies = copies;
    config
}

/// A cache that is folded in a pause: all but the first program unit of each superblock is copied, and the channels have nothing to do but commands.
#[test]
fn folding_on_the_chip_takes_sensing_and_programming_and_no_channel() {
    let pause = Nanos::millis(2);
    let folded = |copies: u8| {
        let mut ssd = Ssd::new(copying(copies, |own| own.fold_after_idle = Some(pause)), 1).unwrap();
        let (_, end) = fill(&mut ssd, Nanos::ZERO, 12 * CACHED, 12 * CACHED);
        ssd.reset_counters(end);
        let rest = Nanos(end.0 + 1_000_000_000);
        ssd.advance(rest, &mut Vec::new());
        ssd.self_check().unwrap();
        assert_eq!(figures(&ssd).valid, 0, "all is folded");
        let busy: f64 = ssd.channel_utilisation(rest, rest - end).iter().sum();
        (busy, ssd.counters(), written(&ssd))
    };
    let ((by_channel, without, moved), (by_chip, with, moved_too)) = (folded(0), folded(1));
    let units = u64::from(12 * CACHED);
    assert_eq!((without.on_chip_copies, moved[ProgramCause::Fold]), (0, units));
    assert_eq!(moved_too[ProgramCause::Fold], units, "as much is folded");
    assert_eq!(with.reads[ReadCause::Fold], without.reads[ReadCause::Fold], "and read");
    // Two units in a program unit, 96 in a superblock: four of these are begun.
    let copied = 2 * with.on_chip_copies;
    assert!(copied >= units - 4 * 8 * 2 && copied < units, "{copied} of {units} units are copied");
    assert!(by_chip * 5.0 < by_channel, "{by_chip} against {by_channel} of the time");
}

/// Data that the host leaves alone is moved again and again: never more often in a row without correction than is allowed.
#[test]
fn no_data_is_copied_more_often_in_a_row_than_the_setting_says() {
    for most in [1, 3] {
        let mut config = tiny();
        config.geometry.blocks_per_plane = 24;
        config.ftl.gc.on_chip_copies = most;
        // Cold data is moved because its blocks are hardly worn: all of it is valid.
        config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap: Some(2) };
        let mut ssd = Ssd::new(config, 1).unwrap();
        let (mut rng, units) = (SplitMix::new(4, "units"), 600);
        let (mut now, mut highest) = (Nanos::ZERO, 0);
        for round in 0..60u32 {
            (_, now) = closed_loop(&mut ssd, now, 16, 300, |step| {
                // First all of it in order; then a tenth.
                let unit = if round < 2 { (300 * round + step) % units } else { rng.below(60) as u32 };
                command(Op::Write, 8 * u64::from(unit), 8)
            });
            let ftl = ssd.ftls().next().unwrap();
            let copies = (0..ftl.layout().superblocks()).map(|id| ftl.superblock(SuperblockId(id)).copies());
            highest = highest.max(copies.max().unwrap());
            ssd.self_check().unwrap();
        }
        assert!((1..=most).contains(&highest) && ssd.counters().on_chip_copies > 0, "{highest} of {most}");
    }
}

/// Folded on the chip, data has the errors of the cache's cells beside those of its own; through the controller, only the latter.
#[test]
fn copies_have_the_errors_of_their_source() {
    let units = 4 * CACHED;
    let failing = |copies: u8| {
        let mut config = copying(copies, |own| {
            (own.fold_after_idle, own.error_rate) = (Some(Nanos::millis(2)), Some(1.5));
        });
        config.reliability = Some(weak_flash(Some(40), None));
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        let (_, end) = fill(&mut ssd, Nanos::ZERO, units, units);
        let rest = Nanos(end.0 + 2_000_000_000);
        ssd.advance(rest, &mut Vec::new());
        assert_eq!(figures(&ssd).valid, 0, "all is folded");
        let before = ssd.corrections().ecc;
        closed_loop(&mut ssd, rest, 4, units, |unit| command(Op::Read, 8 * u64::from(unit), 8));
        ssd.self_check().unwrap();
        u64::from(units) - (ssd.corrections().ecc - before)
    };
    let (corrected, copied) = (failing(0), failing(1));
    assert!(corrected < u64::from(units) / 8 && copied > u64::from(units) / 2, "{corrected}, {copied}");
}

/// Blocks that end in a list of what they hold: the list follows the last copy as it follows the last program, so that no superblock stays open for ever.
#[test]
fn a_block_filled_by_copies_gets_its_list() {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 24;
    config.ftl.gc.on_chip_copies = 2;
    config.repair =
        Some(RepairConfig { identifier: Identifier::P2lBlock, bad_blocks: 4, ..RepairConfig::default() });
    let mut ssd = Ssd::new(config, 1).unwrap();
    let (mut rng, mut now) = (SplitMix::new(9, "extents"), Nanos::ZERO);
    for round in 0..40u32 {
        // Extents of sixteen units, so that whole program units are valid or stale; first all of them, in order.
        (_, now) = closed_loop(&mut ssd, now, 16, 36, |step| {
            let extent = if round == 0 { u64::from(step) } else { rng.below(36) };
            command(Op::Write, 128 * extent, 128)
        });
        ssd.self_check().unwrap();
        for ftl in ssd.ftls() {
            let ids = (0..ftl.layout().superblocks()).map(SuperblockId);
            let open = ids.filter(|&id| ftl.superblock(id).state() == SuperblockState::Open).count();
            let streams = ftl.streams().all().count();
            // Beside those that streams fill, the last programs of a few may be under way.
            assert!(open <= 2 * streams, "{open} superblocks are open for {streams} streams");
        }
    }
    assert!(ssd.counters().on_chip_copies > 100, "{} copies", ssd.counters().on_chip_copies);
}

#[test]
fn copies_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut SsdConfig)| {
        let mut config = copying(1, |_| {});
        change(&mut config);
        Ssd::new(config, 1).map(|_| ()).unwrap_err().to_string()
    };
    let says = |text: &str, limit: &str| {
        assert!(text.contains("device.ftl.gc.on_chip_copies = ") && text.contains(limit), "{text}");
    };
    says(&refused(&|own| own.ftl.gc.on_chip_copies = 16), "at most 15");
    says(&refused(&|own| own.ftl.gc.reads = GcReads::Page), "multi-plane");
    says(&refused(&|own| (own.slc_cache, own.ftl.gc.relocation) = (None, GcRelocation::Host)), "relocation");
    let parity = ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() };
    says(&refused(&|own| own.protection = Some(parity.clone())), "device.protection");
    assert!(
        Ssd::new(SsdConfig { bytes: true, ..copying(1, |own| own.static_size = Bytes::kib(256)) }, 1).is_ok()
    );
}

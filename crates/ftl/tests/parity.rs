//! Is the parity of every complete stripe that of its pages, whatever the codes, and does it give back what is lost?

use outlast_ftl::{CodeAxis, Ftl, FtlOptions, LineMember};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{ClassConfig, FtlConfig, PartialConfig, PartialPlace, ProtectionConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn, Stream};
use proptest::prelude::*;

const UNITS: u64 = 150;

fn ftl(protection: ProtectionConfig, stride: u32, seed: u64) -> Option<Ftl> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 6,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 60,
        pages_per_block: 5,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig { capacity: Some(Bytes(1)), stride, ..FtlConfig::default() };
    let dies: Vec<DieId> = (0..6).map(DieId).collect();
    let options =
        FtlOptions { keep_bytes: true, protection: Some(protection), seed, ..FtlOptions::default() };
    Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, UNITS, &options).ok()
}

/// Every unit comes back from the rest of its line, along every axis, with as many members missing as the code bears.
fn all_come_back(ftl: &Ftl, rng: &mut SplitMix) -> Result<u32, TestCaseError> {
    let mut rebuilt = 0;
    for lpn in (0..UNITS as u32).map(Lpn) {
        let slot = ftl.lookup(lpn);
        if !slot.is_some() || !ftl.space().pus().is_programmed(slot) {
            continue;
        }
        let (pu, _) = ftl.layout().pu_of(slot);
        for axis in CodeAxis::ALL {
            let Some(needed) = ftl.parity().line_needs(pu, axis) else { continue };
            let (mut available, mut others) = (0, Vec::new());
            for member in ftl.parity().line_of(pu, axis) {
                match member {
                    LineMember::OnFlash(pu) => others.push(pu),
                    LineMember::Empty | LineMember::Buffered(_) => available += 1,
                    LineMember::Gone => {}
                }
            }
            while available + others.len() as u32 > needed && !others.is_empty() {
                others.swap_remove(rng.below(others.len() as u64) as usize);
            }
            let unit = ftl.parity().rebuild(slot, axis, &others).expect("enough members");
            prop_assert_eq!(unit.tag(), lpn.0);
            prop_assert_eq!(Some(&unit), ftl.load(slot));
            rebuilt += 1;
        }
    }
    Ok(rebuilt)
}

proptest! {
    #[test]
    fn parity_is_that_of_its_pages(data in 1u16..6, parity in 0u8..4, block in proptest::option::of(1u16..6), stride in 1u32..7, seed: u64) {
        let Some(mut ftl) = ftl(ProtectionConfig { data, parity, block, ..ProtectionConfig::default() }, stride, seed) else {
            let wide = parity != 0 && u32::from(data) + u32::from(parity) > 6;
            prop_assert!(wide || block.is_some());
            return Ok(());
        };
        let mut rng = SplitMix::new(seed, "test");
        for _ in 0..2000 {
            ftl.write_untimed(Stream(0), Lpn(rng.below(UNITS) as u32)).expect("room");
        }
        prop_assert_eq!(ftl.self_check(), Ok(()));
        let rebuilt = all_come_back(&ftl, &mut rng)?;
        prop_assert!(rebuilt > 0 || (parity == 0 && block.is_none()));
    }

    /// Classes with codes of their own that change while data is live, and covers of stripes that are not full, in any order.
    #[test]
    fn parity_and_covers_follow_classes_and_changes_of_code(
        inline: bool, parity in 0u8..3, steps in proptest::collection::vec((0u8..8, 0u8..3), 200..1200), stride in 1u32..7, seed: u64,
    ) {
        let place = if inline { PartialPlace::Inline } else { PartialPlace::Blocks };
        let class = |parity, hint| ClassConfig { parity: Some(parity), hints: vec![hint], ..ClassConfig::default() };
        let protection = ProtectionConfig {
            data: 3,
            classes: vec![class(0, 0), class(1, 1), class(2, 2)],
            partial: PartialConfig { place, ..PartialConfig::default() },
            ..ProtectionConfig::default()
        };
        let mut ftl = ftl(protection, stride, seed).expect("it fits");
        let mut rng = SplitMix::new(seed, "test");
        for (step, class) in steps {
            let stream = ftl.streams().host(0, class);
            match step {
                0 => {
                    if let Some(pu) = ftl.pad(stream) {
                        ftl.programmed(pu);
                    }
                    while let Some(pu) = ftl.take_parity(stream) {
                        ftl.programmed(pu);
                    }
                    let exposed = ftl.stream(stream).exposed();
                    let covered = ftl.cover(stream);
                    // In superblocks of their own, covers must wait for a free one.
                    prop_assert!(covered == (exposed != 0) || !inline);
                    while let Some(pu) = ftl.take_cover() {
                        ftl.programmed(pu);
                    }
                    while let Some(pu) = ftl.take_parity(stream) {
                        ftl.programmed(pu);
                    }
                    prop_assert!(ftl.stream(stream).exposed() == 0 || !covered);
                }
                1 => {
                    let _ = ftl.set_code(class, outlast_settings::ftl::CodeConfig { data: 3, parity, block: None });
                }
                _ => {
                    for _ in 0..step {
                        ftl.write_untimed(stream, Lpn(rng.below(UNITS) as u32)).expect("room");
                    }
                }
            }
        }
        prop_assert_eq!(ftl.self_check(), Ok(()));
        all_come_back(&ftl, &mut rng)?;
    }
}

#[test]
fn a_code_that_leaves_no_room_is_refused_and_nothing_changes() {
    let class = ClassConfig { parity: Some(0), ..ClassConfig::default() };
    let protection = ProtectionConfig { classes: vec![class], ..ProtectionConfig::default() };
    let mut ftl = ftl(protection, 1, 1).expect("it fits");
    for _ in 0..3 {
        let error = ftl
            .set_code(0, outlast_settings::ftl::CodeConfig { data: 1, parity: 5, block: Some(1) })
            .unwrap_err();
        assert!(error.to_string().contains("superblocks would be needed"), "{error}");
        assert_eq!(ftl.parity().code(0).parity, 0);
    }
    assert_eq!(ftl.stream(ftl.streams().host(0, 0)).data_units(), 30);
    let wide =
        ftl.set_code(0, outlast_settings::ftl::CodeConfig { data: 5, parity: 2, block: None }).unwrap_err();
    assert!(wide.to_string().contains("7 dies wide"), "{wide}");
}

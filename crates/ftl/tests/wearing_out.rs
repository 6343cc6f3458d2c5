//! Does the translation layer wear out in order, whatever the policy: data kept, no panic, an error at the end?

use outlast_ftl::{Ftl, FtlFull, FtlOptions};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{FtlConfig, GcConfig, VictimPolicy, WearLeveling};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn, Stream};
use proptest::prelude::*;

fn options(seed: u64) -> FtlOptions {
    FtlOptions { seed, ..FtlOptions::default() }
}

fn geometry(blocks: u32, pages: u32, dies: u16) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: dies,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    }
}

fn policies() -> impl Strategy<Value = VictimPolicy> {
    prop::sample::select(VictimPolicy::ALL)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Writes at random until the drive is full of bad blocks. Every unit stays mapped to the end.
    #[test]
    fn a_worn_drive_says_full_and_keeps_its_data(
        policy in policies(),
        (blocks, pages, dies) in (8u32..40, 2u32..12, 1u16..3),
        used in 0.3f64..0.9,
        (spare, endurance) in (0u32..4, 1u32..12),
        static_gap in prop::option::of(0u32..6),
        dynamic: bool,
        hot: bool,
        seed: u64,
    ) {
        let geometry = geometry(blocks, pages, dies);
        let config = FtlConfig {
            capacity: Some(Bytes(1)),
            spare_blocks: spare,
            gc: GcConfig { policy, choices: 3, ..GcConfig::default() },
            wear_leveling: WearLeveling { dynamic, static_gap },
            ..FtlConfig::default()
        };
        let units = (f64::from((blocks - spare) * pages * u32::from(dies)) * used) as u64;
        let dies: Vec<DieId> = (0..dies).map(DieId).collect();
        let defects = DefectConfig { factory_bad: 0.0, endurance: Some(endurance) };
        let Ok(mut ftl) = Ftl::new(&geometry, &config, &defects, &dies, units, &options(seed)) else { return Ok(()) };
        let mut rng = SplitMix::new(seed, "test");
        let span = if hot { units.div_ceil(5) } else { units };
        let mut mapped = vec![false; units as usize];
        // No drive survives its endurance times all its slots.
        let most = u64::from(blocks) * u64::from(pages) * dies.len() as u64 * u64::from(endurance) + units;
        let mut written = 0;
        let full = loop {
            let lpn = if written < units { written } else { rng.below(span) };
            match ftl.write_untimed(Stream(0), Lpn(lpn as u32)) {
                Ok(_) => mapped[lpn as usize] = true,
                Err(full) => break full,
            }
            written += 1;
            prop_assert!(written <= most, "{written} units written to blocks that cannot take as many");
        };
        prop_assert_eq!(full, FtlFull);
        prop_assert!(ftl.is_read_only(), "full, and not worn out");
        prop_assert!(ftl.self_check().is_ok(), "{:?}", ftl.self_check());
        for (lpn, &mapped) in mapped.iter().enumerate() {
            prop_assert_eq!(ftl.lookup(Lpn(lpn as u32)).is_some(), mapped, "page {}", lpn);
        }
        prop_assert!(ftl.space().blocks().max_cycles() <= endurance);
    }

    /// Without an endurance limit an accepted drive takes writes for ever, however little spare space it has.
    #[test]
    fn an_accepted_drive_is_never_full(
        policy in policies(),
        (blocks, pages) in (5u32..30, 1u32..12),
        streams in 1u8..4,
        static_gap in prop::option::of(0u32..6),
        dynamic: bool,
        start_free in prop::option::of(0u32..6),
        seed: u64,
    ) {
        let geometry = geometry(blocks, pages, 1);
        let config = FtlConfig {
            capacity: Some(Bytes(1)),
            streams,
            gc: GcConfig { policy, choices: 2, start_free, ..GcConfig::default() },
            wear_leveling: WearLeveling { dynamic, static_gap },
            ..FtlConfig::default()
        };
        // The most that is accepted: the superblocks beside the open and held-back ones, wholly full.
        let relocating = 1 + u32::from(static_gap.is_some());
        let Some(data) = blocks.checked_sub(u32::from(streams) + 2 * relocating + 1).filter(|&data| data > 0) else { return Ok(()) };
        let units = u64::from(data * pages);
        let built = Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], units, &options(seed));
        let Ok(mut ftl) = built else {
            prop_assert!(start_free.is_some(), "refused: {}", built.unwrap_err());
            return Ok(());
        };
        let too_much = Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], units + 1, &options(seed));
        prop_assert!(too_much.is_err(), "one unit more than fits was accepted");
        let mut rng = SplitMix::new(seed, "test");
        for write in 0..units * 6 {
            let lpn = if write < units { write } else { rng.below(units) };
            let stream = Stream(rng.below(u64::from(streams)) as u8);
            prop_assert!(ftl.write_untimed(stream, Lpn(lpn as u32)).is_ok(), "full after {} of {} writes", write, units * 6);
        }
        prop_assert!(ftl.self_check().is_ok(), "{:?}", ftl.self_check());
    }
}

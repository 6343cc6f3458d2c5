//! Is the parity of every complete stripe that of its pages, whatever the code, and does it give back what is lost?

use outlast_ftl::{Ftl, FtlConfig, FtlOptions, ProtectionConfig, Stream};
use outlast_media::{DefectConfig, Geometry};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn};
use proptest::prelude::*;

proptest! {
    #[test]
    fn parity_is_that_of_its_pages(data in 1u16..6, parity in 1u8..4, seed: u64) {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 6,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 40,
            pages_per_block: 5,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig { capacity: Some(Bytes(1)), ..FtlConfig::default() };
        let dies: Vec<DieId> = (0..6).map(DieId).collect();
        let options = FtlOptions {
            keep_bytes: true,
            protection: Some(ProtectionConfig { data, parity, ..ProtectionConfig::default() }),
            seed,
            ..FtlOptions::default()
        };
        let Ok(mut ftl) = Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, 150, options) else {
            prop_assert!(u32::from(data) + u32::from(parity) > 6);
            return Ok(());
        };
        let mut rng = SplitMix::new(seed, "test");
        for _ in 0..2000 {
            let lpn = Lpn(rng.below(150) as u32);
            ftl.write_untimed(Stream(0), lpn).expect("room");
        }
        prop_assert_eq!(ftl.self_check(), Ok(()));
        for lpn in (0..150).map(Lpn) {
            let slot = ftl.lookup(lpn);
            let (pu, _) = ftl.layout().pu_of(slot);
            if !slot.is_some() || !ftl.is_programmed(slot) {
                continue;
            }
            let mut others: Vec<u32> = ftl
                .stripe_of(pu)
                .filter_map(|member| match member {
                    outlast_ftl::Member::OnFlash(pu) => Some(pu),
                    _ => None,
                })
                .collect();
            // So many may be missing beside it.
            for _ in 1..parity {
                if !others.is_empty() {
                    others.swap_remove(rng.below(others.len() as u64) as usize);
                }
            }
            let (owner, bytes) = ftl.rebuild(slot, &others);
            prop_assert_eq!(owner, lpn);
            prop_assert_eq!(Some(&bytes[..]), ftl.load(slot));
        }
    }
}

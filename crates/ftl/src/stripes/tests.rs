//! Tests of stripes by themselves.

use super::*;
use crate::lane_set::LaneSet;
use outlast_media::Geometry;
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, DieId};
use std::collections::BTreeSet;

fn layout(dies: u16, pages: u32) -> SlotLayout {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: pages,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let dies: Vec<DieId> = (0..dies).map(DieId).collect();
    SlotLayout::new(&geometry, &FtlConfig::default(), &dies, 10).unwrap()
}

proptest::proptest! {
    #[test]
    fn stripes_cover_the_superblock_on_different_lanes_with_parity_enough(
        dies in 2u16..20, pages in 1u32..40, data in 1u16..19, parity in 0u8..4, block in proptest::option::of(1u16..12), gone: u32,
    ) {
        let layout = layout(dies, pages);
        let config = CodeConfig { data, parity, block };
        let stripes = match StripeLayout::new(config, &layout, ModeId::FIRST) {
            Ok(Some(stripes)) => stripes,
            Ok(None) => {
                proptest::prop_assert!(parity == 0 && block.is_none());
                return Ok(());
            }
            Err(_) => {
                let (data, parity, dies) = (u32::from(data), u32::from(parity), u32::from(dies));
                let over = |rows: u32| {
                    let length = rows * dies;
                    length != 0 && length / length.div_ceil(data + parity) <= parity
                };
                let left = block.is_some_and(|block| {
                    let block = u32::from(block);
                    over(block) || over((pages % (block + 1)).saturating_sub(1))
                });
                let long = block.is_some_and(|block| u32::from(block) >= pages);
                proptest::prop_assert!(long || (parity != 0 && (data + parity > dies || left)));
                return Ok(());
            }
        };
        let lanes = u32::from(dies);
        let mut gaps = LaneSet::new(lanes as usize);
        (0..lanes).filter(|lane| gone >> (lane % 32) & gone.rotate_left(7) >> (lane % 32) & 1 == 1).for_each(|lane| gaps.insert(LaneIndex(lane)));
        for gaps in [None, Some(&gaps)] {
            let mut covered = vec![false; layout.pus_per_superblock() as usize];
            for stripe in 0..stripes.count() {
                let members = stripes.members(stripe);
                let width = members.end - members.start;
                for pu in PuWithin::each(members.clone()) {
                    proptest::prop_assert!(!std::mem::replace(&mut covered[pu.index()], true));
                    proptest::prop_assert_eq!(stripes.stripe_of(pu), stripe);
                }
                let roles: Vec<PuRole> = PuWithin::each(members.clone()).map(|pu| stripes.role(pu, gaps)).collect();
                let count = |role| roles.iter().filter(|&&r| r == role).count() as u32;
                if parity != 0 {
                    proptest::prop_assert!(width <= u32::from(data) + u32::from(parity));
                    let on: BTreeSet<u32> = PuWithin::each(members.clone()).map(|pu| pu.0 % lanes).collect();
                    proptest::prop_assert_eq!(on.len() as u32, width);
                }
                let live = width - count(PuRole::Gap);
                let expected = u32::from(parity).min(live.saturating_sub(1));
                proptest::prop_assert_eq!(count(PuRole::Parity), expected);
                for pu in PuWithin::each(stripes.block_parity_after(stripe)) {
                    // It comes after all that it protects.
                    proptest::prop_assert!(pu >= members.end && stripes.stripe_of(pu) == stripe);
                    let role = stripes.role(pu, gaps);
                    proptest::prop_assert!(role == PuRole::BlockParity || role == PuRole::Gap);
                    covered[pu.index()] = true;
                }
            }
            let left: Vec<PuWithin> = layout.pus_within(ModeId::FIRST).filter(|pu| !covered[pu.index()]).collect();
            proptest::prop_assert!(left.iter().all(|&pu| stripes.role(pu, gaps) == PuRole::Gap));
            let groups = block.map_or(1, |block| pages.div_ceil(u32::from(block) + 1));
            // A last superpage by itself protects nothing and is not used.
            let alone = if block.is_some_and(|block| pages % (u32::from(block) + 1) == 1) { lanes } else { 0 };
            proptest::prop_assert!(left.len() as u32 <= u32::from(parity) * groups + alone, "{} left out", left.len());
        }
    }
}

#[test]
fn parity_goes_round_all_dies() {
    let layout = layout(8, 64);
    for data in [3, 4, 7] {
        let config = CodeConfig { data, parity: 1, block: None };
        let stripes = StripeLayout::new(config, &layout, ModeId::FIRST).unwrap().unwrap();
        let mut by_lane = [0u32; 8];
        for pu in layout.pus_within(ModeId::FIRST) {
            by_lane[(pu.0 % 8) as usize] += u32::from(stripes.role(pu, None) == PuRole::Parity);
        }
        let (least, most) = (by_lane.iter().min().unwrap(), by_lane.iter().max().unwrap());
        assert!(most - least <= 2, "{by_lane:?}");
    }
}

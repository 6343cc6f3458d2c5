//! Tests of layout by themselves.

use super::*;
use outlast_units::Bytes;
use outlast_units::Ppn;

fn layout(planes: u16, page: u64, unit: u64, one_shot: u8) -> SlotLayout {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: planes,
        blocks_per_plane: 8,
        pages_per_block: 48,
        page_size: Bytes(page),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig { mapping_unit: Bytes(unit), one_shot, ..FtlConfig::default() };
    SlotLayout::new(&geometry, &config, &[0, 1, 2, 3].map(DieId), 10).expect("a layout that divides")
}

#[test]
fn pages_and_units_of_every_relation() {
    // (planes, page, unit, page rows in one shot) and what a program unit then is: units, page rows, pages, program operations.
    let cases = [
        ((2, 4096, 4096, 1), (2, 1, 2, 1)),
        ((2, 16384, 4096, 1), (8, 1, 2, 1)),
        ((4, 4096, 8192, 1), (2, 1, 4, 1)),
        ((2, 4096, 16384, 1), (1, 2, 2 * 2, 2)),
        ((1, 4096, 16384, 1), (1, 4, 4, 4)),
        ((4, 4096, 24576, 1), (2, 3, 4 * 3, 3)),
        ((4, 16384, 4096, 3), (48, 3, 4 * 3, 1)),
        ((4, 16384, 16384, 4), (16, 4, 4 * 4, 1)),
        ((2, 4096, 16384, 3), (3, 6, 2 * 6, 2)),
    ];
    for ((planes, page, unit, one_shot), (units, rows, pages, programs)) in cases {
        let layout = layout(planes, page, unit, one_shot);
        assert_eq!(layout.programs_per_pu(), programs);
        assert_eq!(
            (layout.units_per_pu(), layout.rows_per_pu(), layout.pages_per_pu()),
            (units, rows, pages)
        );
        assert_eq!(layout.program_unit().sensed((1 << units) - 1), (u64::from(pages), (1 << rows) - 1));
        assert_eq!(layout.program_unit().sensed(1).0, unit.div_ceil(page));
    }
}

/// Rows are a 64-bit mask: 64 of them are the most, and one more doubling is refused before anything is built.
#[test]
fn units_of_more_than_64_page_rows_are_refused() {
    let geometry = |pages_per_block| Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = |kib| FtlConfig {
        mapping_unit: Bytes::kib(kib),
        over_provisioning: Some(0.5),
        ..FtlConfig::default()
    };
    let layout = SlotLayout::new(&geometry(256), &config(256), &[DieId(0)], 10).expect("64 rows");
    assert_eq!(layout.program_unit().sensed(1), (64, u64::MAX));
    for kib in [512, 1024] {
        let refused = config(kib).validate(&geometry(256)).expect_err("too many rows");
        assert!(refused.to_string().contains("at most 64 are tracked"), "{refused}");
    }
}

#[test]
fn places_cover_every_page_row_of_every_lane_once() {
    let layout = layout(2, 4096, 4096, 1);
    let mut seen = std::collections::BTreeSet::new();
    for slot in 0..layout.slots() {
        let (pu, _) = layout.pu_of(Ppn(slot));
        let place = layout.place(pu);
        assert_eq!(place.superblock, layout.superblock_of(Ppn(slot)));
        assert_eq!(place.lane, layout.lane_of_pu(pu));
        seen.insert((place.superblock, place.lane.die, place.first_page));
    }
    assert_eq!(seen.len(), 8 * 4 * 48);
}

#[test]
fn the_first_letter_of_the_allocation_order_varies_fastest() {
    let layout = layout(2, 4096, 4096, 1);
    let dies: Vec<u16> = layout.lanes().iter().map(|lane| lane.die.0).collect();
    // Dies are numbered chip by chip within a channel: channel first means 0, 2, then 1, 3.
    assert_eq!(dies, [0, 2, 1, 3]);
}

/// The dies of `count` channels with a die each, in the order in which a superpage is written.
fn order(count: u16, stride: u32) -> Result<Vec<u32>, ConfigError> {
    let geometry = Geometry {
        channels: count,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let dies: Vec<DieId> = (0..count).map(DieId).collect();
    let layout = SlotLayout::new(&geometry, &FtlConfig { stride, ..FtlConfig::default() }, &dies, 10)?;
    Ok(layout.lanes().iter().map(|lane| u32::from(lane.die.0)).collect())
}

#[test]
fn at_a_stride_of_four_eight_pages_are_written_as_section_3_5_of_flexible_says() {
    assert_eq!(order(8, 4), Ok(vec![0, 4, 1, 5, 2, 6, 3, 7]));
    assert_eq!(order(8, 1), Ok((0..8).collect()));
    assert_eq!(order(7, 3), Ok(vec![0, 3, 6, 1, 4, 2, 5]));
}

#[test]
fn at_every_stride_every_lane_is_written_once_a_stride_after_the_one_before() {
    for count in 1..=70u16 {
        let n = u32::from(count);
        for stride in 1..=n {
            let order = order(count, stride).expect("within the superpage");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>(), "{stride} of {count}");
            let is_next = |pair: &[u32]| pair[1] == pair[0] + stride || pair[1] == pair[0] % stride + 1;
            assert!(order.windows(2).all(is_next), "{stride} of {count}: {order:?}");
            // The paper's formula, and the last lane, which it leaves out.
            if n.is_multiple_of(stride) && n > 1 {
                let formula = (0..n - 1).map(|i| i * stride % (n - 1)).chain([n - 1]);
                assert!(order.iter().copied().eq(formula), "{stride} of {count}: {order:?}");
            }
        }
        for stride in [0, n + 1] {
            let refused = order(count, stride).expect_err("no such stride");
            assert_eq!((refused.field.as_str(), refused.value), ("device.ftl.stride", stride.to_string()));
        }
    }
}

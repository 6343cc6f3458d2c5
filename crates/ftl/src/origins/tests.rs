//! Tests of origins and pins.

use super::*;
use outlast_media::Geometry;
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, DieId};

/// Superblocks of eight slots, two to a program unit.
fn layout() -> SlotLayout {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 4,
        pages_per_block: 4,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    SlotLayout::new(&geometry, &FtlConfig::default(), &[DieId(0)], 1).unwrap()
}

#[test]
fn a_superblock_is_pinned_while_a_unit_in_the_buffer_goes_back_to_it() {
    let layout = layout();
    let mut origins = UnitOrigins::new(&layout);
    let (old, new) = (SuperblockId(0), SuperblockId(2));
    origins.open_table(new, 8);
    origins.pin(&layout, Ppn(3));
    assert!(origins.set(&layout, Ppn(17), Ppn(3)) && !origins.set(&layout, Ppn(3), Ppn(1)));
    assert_eq!(
        (origins.of(&layout, Ppn(17)), origins.of_pu(&layout, Pu(8))),
        (Some(Ppn(3)), Some(&[Ppn::NONE, Ppn(3)][..]))
    );
    let check = |origins: &UnitOrigins, on_flash: bool| {
        origins.check(&layout, |superblock| superblock == new, |_| false, |_| on_flash)
    };
    assert_eq!(check(&origins, false), Ok(()));
    assert!(check(&origins, true).unwrap_err().contains("pinned 0 times, its count says 1"));
    assert!(origins.is_pinned(old));
    origins.release(&layout, Pu(8));
    assert!(!origins.is_pinned(old));
    assert_eq!(check(&origins, true), Ok(()));
    origins.free_table(new);
    assert_eq!(origins.of(&layout, Ppn(17)), None);
}

#[test]
fn data_that_was_lost_pins_nothing() {
    let layout = layout();
    let mut origins = UnitOrigins::new(&layout);
    origins.pin(&layout, LOST);
    origins.pin(&layout, Ppn::NONE);
    assert!((0..4).all(|superblock| !origins.is_pinned(SuperblockId(superblock))));
}

#[test]
fn what_is_written_again_takes_its_origin_along() {
    let layout = layout();
    let mut origins = UnitOrigins::new(&layout);
    origins.open_table(SuperblockId(1), 8);
    origins.pin(&layout, Ppn(2));
    origins.pin(&layout, Ppn(4));
    origins.keep(Ppn(20), Ppn(2));
    origins.keep(Ppn(21), Ppn(4));
    origins.move_kept(&layout, Ppn(21), Ppn(9), true);
    assert_eq!((origins.is_new_elsewhere(Ppn(9)), origins.is_new_elsewhere(Ppn(10))), (Some(true), None));
    assert_eq!(origins.of(&layout, Ppn(9)), Some(Ppn(4)));
    origins.drop_kept(&layout);
    let left = origins.check(&layout, |_| true, |_| false, |_| false);
    assert_eq!(left, Ok(()));
}

/// Origins of superblock 2 alone, which is open.
fn opened() -> (SlotLayout, UnitOrigins) {
    let (layout, open) = (layout(), SuperblockId(2));
    let mut origins = UnitOrigins::new(&layout);
    origins.open_table(open, 8);
    (layout, origins)
}

#[test]
fn tables_that_were_read_are_those_of_open_superblocks() {
    let check = |forge: fn(&mut UnitOrigins)| {
        let (layout, mut origins) = opened();
        forge(&mut origins);
        origins.check_tables(&layout, |superblock| superblock == SuperblockId(2))
    };
    assert_eq!(check(|_| ()), Ok(()));
    assert!(check(|origins| origins.table_of[SuperblockId(2)] = 1).is_err(), "a table that is none");
    assert!(check(|origins| origins.table_of[SuperblockId(1)] = 0).is_err(), "a superblock that is not open");
    assert!(check(|origins| origins.spare.push(0)).is_err(), "a table that is taken");
    assert!(check(|origins| origins.tables[0].truncate(7)).is_err(), "a slot without an origin");
}

#[test]
fn a_unit_that_goes_back_to_itself_is_refused() {
    let (layout, mut origins) = opened();
    let set = |origins: &mut UnitOrigins, slot, origin| assert!(origins.set(&layout, Ppn(slot), Ppn(origin)));
    let check = |origins: &UnitOrigins| origins.check_ends(&layout, |slot| slot.0 < 16);
    set(&mut origins, 17, 3);
    set(&mut origins, 18, 17);
    set(&mut origins, 20, 18);
    assert_eq!(check(&origins), Ok(()));
    assert_eq!(origins.needed(&layout, |slot| slot == Ppn(18)).count(), 2);
    set(&mut origins, 17, 20);
    assert!(check(&origins).unwrap_err().contains("that to itself"));
    set(&mut origins, 17, 17);
    assert!(check(&origins).is_err());
}

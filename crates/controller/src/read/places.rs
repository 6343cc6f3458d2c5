//! Blocks and rows of units, and units that faults keep from being read.

use outlast_ftl::{Ftl, PuPlace};
use outlast_media::DieFaults;
use outlast_units::{BlockIndex, Pu, Row};

/// Of the units `wanted` of program unit `pu`, those that faults keep from a sensing, one bit each.
#[inline(never)]
pub(crate) fn faulty_units(ftl: &Ftl, faults: &mut DieFaults, pu: Pu, wanted: u64) -> u64 {
    let layout = ftl.layout();
    let place = layout.place(pu);
    let mut failing = 0;
    for unit in units(wanted) {
        for page in layout.pages_of_unit(unit) {
            let (block, row) = block_and_row(ftl, &place, page);
            if !faults.is_readable(block, row) || faults.sense_fails_transiently(block) {
                failing |= 1 << unit;
            }
        }
    }
    failing
}

/// The units in `mask` of program unit `pu` that lie on flash broken for good.
pub fn broken_units(ftl: &Ftl, faults: Option<&DieFaults>, pu: Pu, mask: u64) -> u64 {
    let Some(faults) = faults else { return 0 };
    let layout = ftl.layout();
    let place = layout.place(pu);
    let is_broken = |&unit: &u32| {
        layout.pages_of_unit(unit).any(|page| {
            let (block, row) = block_and_row(ftl, &place, page);
            !faults.is_readable(block, row)
        })
    };
    units(mask).filter(is_broken).fold(0, |broken, unit| broken | 1 << unit)
}

/// The block and row of page `page` of the program unit at `place`.
#[inline]
pub(super) fn block_and_row(ftl: &Ftl, place: &PuPlace, page: u32) -> (BlockIndex, Row) {
    let (plane, row) = ftl.layout().page_place(*place, page);
    (ftl.space().block_index(place.superblock, place.lane.local_die, plane), row)
}

/// The units in bit mask `mask`.
pub fn units(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let unit = mask.trailing_zeros();
            mask &= mask - 1;
            unit
        })
    })
}

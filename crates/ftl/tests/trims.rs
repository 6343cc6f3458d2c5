//! Trims that a loss of power undoes where the log of the mapping is made safe only now and then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{Ftl, FtlOptions};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, DieId, Lpn, SuperblockId};

const PAGES: u32 = 8;
const UNITS: u32 = 8 * PAGES;

/// A drive of superblocks of eight units, written in order, of which the first unit of the first two superblocks has been trimmed.
fn trimmed() -> Ftl {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 20,
        pages_per_block: PAGES,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig { capacity: Some(Bytes::kib(4 * u64::from(UNITS))), ..FtlConfig::default() };
    let options = FtlOptions { erases_late: true, ..FtlOptions::default() };
    let units = u64::from(UNITS);
    let mut ftl =
        Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], units, &options).unwrap();
    let stream = ftl.streams().host(0, 0);
    for lpn in 0..UNITS {
        ftl.write_untimed(stream, Lpn(lpn)).unwrap();
    }
    ftl.begin_origins();
    assert!(ftl.trim_unsafely(Lpn(0)) && ftl.trim_unsafely(Lpn(PAGES)));
    ftl
}

/// The superblock that unit `lpn` was written to.
fn home(lpn: u32) -> SuperblockId {
    let mut ftl = trimmed();
    ftl.lose_buffer(&[], &[]);
    ftl.layout().superblock_of(ftl.lookup(Lpn(lpn)))
}

/// True, of each of two units, if it is there after a loss of power, before which `superblock` was about to be erased.
fn there_after(superblock: SuperblockId) -> [bool; 2] {
    let mut ftl = trimmed();
    ftl.persist_trims_of(superblock);
    ftl.lose_buffer(&[], &[]);
    assert_eq!(ftl.self_check(), Ok(()));
    [0, PAGES].map(|lpn| ftl.lookup(Lpn(lpn)).is_some())
}

#[test]
fn a_superblock_that_a_trim_leads_back_to_is_erased_only_when_no_loss_of_power_undoes_it() {
    let (first, second, other) = (home(0), home(PAGES), home(2 * PAGES));
    assert!(first != second && second != other, "the units lie in superblocks of their own");
    assert_eq!(there_after(other), [true; 2], "no trim leads there");
    // What makes the log safe for one trim makes it safe for all before.
    assert_eq!((there_after(first), there_after(second)), ([false; 2], [false; 2]));
}

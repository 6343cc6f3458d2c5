//! Superblocks of two modes: those of the host use a third of the rows, those that collection fills all of them.

use crate::support;

use outlast_decisions::SuperblockState;
use outlast_ftl::{Ftl, FtlOptions, StreamModes};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::FtlConfig;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn, ModeId, Stream, SuperblockId};
use std::collections::{BTreeMap, BTreeSet};
use support::modes::host_mode;

const DIES: u16 = 4;
const BLOCKS: u32 = 14;
const ROWS: u32 = 3;
/// Units of a row of a superblock: one on each of two planes of each die.
const ROW: u32 = 2 * DIES as u32;

fn layer(units: u64, modes: StreamModes) -> Result<Ftl, outlast_media::ConfigError> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: DIES,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: BLOCKS,
        pages_per_block: ROWS,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig { capacity: Some(Bytes(1)), ..FtlConfig::default() };
    let dies: Vec<DieId> = (0..DIES).map(DieId).collect();
    let options = FtlOptions { modes, ..FtlOptions::default() };
    Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, units, &options)
}

fn host(ftl: &Ftl) -> Stream {
    ftl.streams().host(0, 0)
}

/// Valid units in sealed superblocks of each mode.
fn sealed_by_mode(ftl: &Ftl) -> BTreeMap<u8, Vec<u32>> {
    let mut sealed: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for superblock in (0..BLOCKS).map(SuperblockId) {
        if ftl.superblock(superblock).state() == SuperblockState::Sealed {
            sealed
                .entry(ftl.superblock(superblock).mode().0)
                .or_default()
                .push(ftl.superblock(superblock).valid());
        }
    }
    sealed
}

#[test]
fn a_superblock_ends_with_the_rows_of_its_mode() {
    let mut ftl = layer(100, host_mode(Some(1))).unwrap();
    let (stream, moved) = (host(&ftl), ftl.streams().gc(0));
    assert_eq!((ftl.stream(stream).data_units(), ftl.stream(moved).data_units()), (ROW, ROWS * ROW));
    let unwritten = u64::from(BLOCKS * ROWS * ROW);
    assert_eq!(ftl.space().unwritten_units(), unwritten);
    for page in 0..2 * ROW {
        let slot = ftl.append(stream, Lpn(page));
        // Addresses have the stride of all rows.
        let (superblock, within) = (page / ROW, page % ROW);
        assert_eq!(slot.ppn.0, superblock * ROWS * ROW + within);
        assert_eq!(ftl.stream(stream).room(), ROW - 1 - within);
        ftl.self_check().unwrap();
        let sealed = slot.completes_pu && ftl.programmed(ftl.layout().pu_of(slot.ppn).0);
        assert_eq!(sealed, within == ROW - 1, "page {page}");
        // What a superblock of the host leaves unused is room no more.
        let taken = u64::from((superblock + 1) * ROWS * ROW - (ROW - 1 - within));
        assert_eq!(ftl.space().unwritten_units(), unwritten - taken);
    }
    assert_eq!(
        [0, 1, 2].map(|id| ftl.superblock(SuperblockId(id)).mode()),
        [ModeId(1), ModeId(1), ModeId::FIRST]
    );
    assert_eq!(sealed_by_mode(&ftl), BTreeMap::from([(1, vec![ROW, ROW])]));
}

/// The data is more than all superblocks hold in the mode of the host, and is written once: every victim is full of valid units.
#[test]
fn collection_folds_data_that_is_all_valid() {
    let units = 8 * ROWS * ROW;
    assert!(units > BLOCKS * ROW);
    let mut ftl = layer(units.into(), host_mode(Some(1))).unwrap();
    let stream = host(&ftl);
    for page in 0..units {
        let slot = ftl.write_untimed(stream, Lpn(page)).expect("folding makes room");
        assert_eq!((ftl.lookup(Lpn(page)), ftl.owner(slot)), (slot, Lpn(page)));
        ftl.self_check().unwrap();
    }
    let sealed = sealed_by_mode(&ftl);
    assert!(sealed[&0].iter().all(|&valid| valid == ROWS * ROW), "{sealed:?}");
    assert!(sealed.get(&1).into_iter().flatten().all(|&valid| valid == ROW), "{sealed:?}");
    let figures = ftl.figures();
    // Each unit is moved once at most, a superblock of the host at a time.
    assert_eq!(figures.victim_units, figures.victims * u64::from(ROW));
    assert!(figures.victim_units <= units.into() && figures.victim_units >= u64::from(units - BLOCKS * ROW));
    assert_eq!(figures.written.total(), u64::from(units) + figures.victim_units);
}

#[test]
fn overwrites_of_two_modes_keep_a_plain_map() {
    for (rows, units) in [(1, 8 * ROWS * ROW), (2, 7 * ROWS * ROW), (3, 8 * ROWS * ROW)] {
        let mut ftl = layer(units.into(), host_mode(Some(rows))).unwrap();
        let (stream, mut rng) = (host(&ftl), SplitMix::new(5, "test"));
        let mut written = BTreeSet::new();
        for turn in 0..20 * u64::from(units) {
            let page = Lpn(rng.below(units.into()) as u32);
            if rng.below(10) == 0 {
                assert_eq!(ftl.trim(page), written.remove(&page));
            } else {
                written.insert(page);
                ftl.write_untimed(stream, page).expect("room");
            }
            if turn % 97 == 0 {
                ftl.self_check().unwrap();
            }
        }
        let mapped = (0..units).map(Lpn).filter(|&page| ftl.lookup(page).is_some());
        assert!(mapped.eq(written), "{rows} rows");
        assert!(ftl.figures().victims > 100, "{rows} rows");
    }
}

/// One mode more that is like the first changes nothing.
#[test]
fn a_second_mode_of_all_rows_is_as_one() {
    let units = 8 * ROWS * ROW;
    let run = |modes| {
        let mut ftl = layer(units.into(), modes).unwrap();
        let (stream, mut rng) = (host(&ftl), SplitMix::new(5, "test"));
        let slots: Vec<_> = (0..4000)
            .map(|_| ftl.write_untimed(stream, Lpn(rng.below(units.into()) as u32)).expect("room"))
            .collect();
        (slots, ftl.figures())
    };
    assert_eq!(run(StreamModes::default()), run(host_mode(Some(ROWS))));
}

#[test]
fn rows_that_no_block_has_are_refused() {
    for rows in [0, ROWS + 1] {
        let refused = layer(100, host_mode(Some(rows))).unwrap_err().to_string();
        assert!(refused.contains(&rows.to_string()) && refused.contains("at most 3"), "{refused}");
    }
}

//! Tests of which code what is written gets.

use super::*;
use outlast_media::Geometry;
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, DieId, LaneIndex};

const FREE: SuperblockId = SuperblockId(1);

fn codes() -> (SlotLayout, StreamTable, CodeTable) {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 3,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig::default();
    let layout = SlotLayout::new(&geometry, &config, &[0, 1, 2, 3].map(DieId), 1).unwrap();
    let streams = StreamTable::new(&config, 2, false, false, None, false, None).unwrap();
    let mut codes = CodeTable::new(ProtectedStreams::Gathered, streams.count().into(), 8);
    let raid = CodeConfig { data: 3, parity: 1, block: None };
    codes.assign(&[NO_PARITY, raid], &layout, &streams, None).unwrap();
    (layout, streams, codes)
}

#[test]
fn gathered_data_gets_the_code_of_its_class() {
    let (_, streams, codes) = codes();
    assert!(!codes.is_protected(streams.host(0, 1)));
    assert!(!codes.is_protected(streams.gc(0)) && codes.is_protected(streams.gc(1)));
    assert_eq!((codes.count(), codes.most_data_units()), (1, 12));
    assert_eq!(codes.data_units(streams.gc(1)), 9);
}

#[test]
fn a_superblock_keeps_the_code_that_it_was_opened_with() {
    let (layout, streams, mut codes) = codes();
    let stream = streams.gc(1);
    codes.assign_to(FREE, stream);
    let other = CodeConfig { data: 2, parity: 2, block: None };
    codes.assign(&[NO_PARITY, other], &layout, &streams, None).unwrap();
    assert!(!codes.is_current(FREE, stream));
    assert_eq!((codes.config_of(FREE).parity, codes.of_class()[1].parity), (1, 2));
    assert!(codes.check(|superblock| superblock == FREE).unwrap_err().contains("erased and has code 0"));
    codes.forget(FREE);
    assert_eq!((codes.has_parity(FREE), codes.check(|_| true)), (false, Ok(())));
}

#[test]
fn a_code_wider_than_the_dies_changes_nothing() {
    let (layout, streams, mut codes) = codes();
    let wide = CodeConfig { data: 4, parity: 1, block: None };
    assert!(codes.assign(&[wide, wide], &layout, &streams, None).is_err());
    assert_eq!(codes.of_class()[1].data, 3);
}

#[test]
fn lanes_that_are_gone_hold_nothing() {
    let (layout, streams, mut codes) = codes();
    let mut dead = LaneSet::new(4);
    dead.insert(LaneIndex(2));
    codes.count_data_units(&layout, &streams, Some(&dead));
    assert_eq!(codes.most_data_units(), 9);
}

/// Answer of [`CodeTable::check_restored`] to codes that `forge` has changed; superblock 1 has been opened with a code.
fn check_forged(forge: impl Fn(&mut CodeTable)) -> Result<(), String> {
    let (layout, streams, mut codes) = codes();
    codes.assign_to(FREE, streams.gc(1));
    forge(&mut codes);
    codes.check_restored(&layout, &streams, None, |_| ModeId::FIRST)
}

#[test]
fn stripes_that_were_read_follow_from_their_code() {
    assert_eq!(check_forged(|_| ()), Ok(()));
    let other = |codes: &mut CodeTable| codes.codes[0].0.data = 2;
    assert!(check_forged(other).unwrap_err().contains("do not follow from it"));
}

#[test]
fn codes_of_classes_superblocks_and_streams_that_were_read_are_there() {
    assert!(check_forged(|codes| codes.of_class.truncate(1)).unwrap_err().contains("classes have a code"));
    assert!(check_forged(|codes| codes.of_class[0].parity = 9).is_err());
    assert!(check_forged(|codes| codes.of[FREE] = 3).unwrap_err().contains("none of its mode"));
    assert!(check_forged(|codes| codes.data_units[Stream(0)] += 1).unwrap_err().contains("data slots"));
}

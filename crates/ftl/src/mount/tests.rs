//! Small histories by hand, each with what must be found.

use super::journal::{MapJournal, PageEvent};
use super::{FactoryMarks, FlashRecords, RetiredBlock, rebuild};
use crate::layout::SlotLayout;
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::FtlConfig;
use outlast_units::{BlockId, BlockIndex, Bytes, DieId, LocalDie, Lpn, Ppn, Pu, Stream, SuperblockId};
use std::collections::BTreeSet;

/// A die of two planes with four blocks each.
const GEOMETRY: Geometry = Geometry {
    channels: 1,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes_per_die: 2,
    blocks_per_plane: 4,
    pages_per_block: 4,
    page_size: Bytes::kib(4),
    spare_per_page: Bytes(0),
};

/// Superblocks of eight slots, two to a program unit.
fn flash(checkpoint_every: Option<Bytes>) -> (SlotLayout, FlashRecords) {
    let layout = SlotLayout::new(&GEOMETRY, &FtlConfig::default(), &[DieId(0)], 1).unwrap();
    let marks = FactoryMarks::new(&GEOMETRY, &layout, &DefectConfig::default(), 1);
    let records = FlashRecords::new(&GEOMETRY, &layout, marks, checkpoint_every);
    (layout, records)
}

const PAGES: usize = 8;
const ONE: Lpn = Lpn(1);

/// Slot of page 1, and true if its data is lost.
fn page_one(layout: &SlotLayout, records: &FlashRecords, dump: bool) -> (u32, bool) {
    let rebuilt = rebuild(records.on_flash(layout), PAGES, dump);
    (rebuilt.slots[ONE.index()].0, rebuilt.lost.contains(&ONE))
}

const NOWHERE: (u32, bool) = (u32::MAX, false);

#[test]
fn the_copy_written_last_counts_not_the_one_programmed_last() {
    let (layout, mut records) = flash(None);
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_opening(SuperblockId(1), Stream(1));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_put(&layout, Ppn(8), ONE);
    assert_eq!(
        (page_one(&layout, &records, false), page_one(&layout, &records, true)),
        (NOWHERE, (8, false))
    );
    records.record_programmed(Pu(4));
    records.record_programmed(Pu(0));
    assert_eq!(page_one(&layout, &records, false), (8, false));
}

#[test]
fn a_program_unit_that_was_torn_tells_nothing() {
    let (layout, mut records) = flash(None);
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_programmed(Pu(0));
    records.record_put(&layout, Ppn(2), ONE);
    records.drop_buffered(&layout);
    assert_eq!(
        (page_one(&layout, &records, false), page_one(&layout, &records, true)),
        ((0, false), (0, false))
    );
}

#[test]
fn trims_and_losses_stand_in_the_journal_until_a_newer_copy_is_on_flash() {
    let (layout, mut records) = flash(None);
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_programmed(Pu(0));
    records.record_loss(ONE);
    assert_eq!(page_one(&layout, &records, false), (u32::MAX, true));
    records.record_trim(ONE);
    assert_eq!(page_one(&layout, &records, false), NOWHERE);
    records.record_put(&layout, Ppn(2), ONE);
    assert_eq!(
        (page_one(&layout, &records, false), page_one(&layout, &records, true)),
        (NOWHERE, (2, false))
    );
    records.record_programmed(Pu(1));
    assert_eq!(page_one(&layout, &records, false), (2, false));
}

#[test]
fn what_is_erased_is_gone() {
    let (layout, mut records) = flash(None);
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_programmed(Pu(0));
    records.record_closing(SuperblockId(0));
    records.drop_superblock(&layout, SuperblockId(0));
    assert_eq!(page_one(&layout, &records, false), NOWHERE);
    assert_eq!(records.on_flash(&layout).header(SuperblockId(0)), None);
}

/// Page 1 is written twice, to two streams; the newer copy is on flash when the checkpoint is made, the older one afterwards.
#[test]
fn an_old_copy_that_a_checkpoint_overtook_is_old() {
    let (layout, mut records) = flash(Some(Bytes::kib(8)));
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_opening(SuperblockId(1), Stream(1));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_put(&layout, Ppn(8), ONE);
    records.record_programmed(Pu(4));
    records.tidy(&layout, PAGES);
    assert_eq!(records.checkpoints(), 1);
    records.record_programmed(Pu(0));
    assert_eq!(page_one(&layout, &records, false), (8, false));
}

/// As before, but a trim overtook the older copy.
#[test]
fn an_old_copy_that_a_trim_overtook_before_the_checkpoint_stays_trimmed() {
    let (layout, mut records) = flash(Some(Bytes::kib(8)));
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_opening(SuperblockId(1), Stream(1));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_trim(ONE);
    records.record_put(&layout, Ppn(8), Lpn(2));
    records.record_programmed(Pu(4));
    records.tidy(&layout, PAGES);
    records.record_programmed(Pu(0));
    assert_eq!((records.checkpoints(), page_one(&layout, &records, false)), (1, NOWHERE));
}

#[test]
fn after_a_checkpoint_only_what_came_later_is_looked_at() {
    let (layout, mut records) = flash(Some(Bytes::kib(8)));
    let read_superblocks =
        |records: &FlashRecords| rebuild(records.on_flash(&layout), PAGES, false).read_superblocks;
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_programmed(Pu(0));
    records.record_closing(SuperblockId(0));
    assert_eq!(read_superblocks(&records), [SuperblockId(0)]);
    records.tidy(&layout, PAGES);
    assert_eq!(read_superblocks(&records), []);
    assert_eq!(page_one(&layout, &records, false), (0, false));
    // Its place is taken by another page: the checkpoint does not count there any more.
    records.record_trim(ONE);
    records.drop_superblock(&layout, SuperblockId(0));
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), Lpn(2));
    records.record_programmed(Pu(0));
    assert_eq!(read_superblocks(&records), [SuperblockId(0)]);
    assert_eq!(page_one(&layout, &records, false), NOWHERE);
}

#[test]
fn neighbours_that_are_trimmed_one_after_the_other_share_an_entry() {
    let mut journal = MapJournal::default();
    for (page, at) in [(3, 1), (4, 2), (5, 3), (7, 4), (8, 6)] {
        journal.append(PageEvent::Trimmed, Lpn(page), at);
    }
    let spans: Vec<_> =
        journal.entries().iter().map(|entry| (entry.first.0, entry.count, entry.at)).collect();
    assert_eq!(spans, [(3, 3, 1), (7, 1, 4), (8, 1, 6)]);
    journal.clear_but(|lpn, _| lpn != Lpn(4));
    let pages: BTreeSet<_> = journal.entries().iter().flat_map(|entry| entry.pages()).collect();
    assert_eq!(pages, [(3, 1), (5, 3), (7, 4), (8, 6)].map(|(page, at)| (Lpn(page), at)).into());
}

/// A journal that has grown is cleared of what newer copies have made superfluous, and says the same afterwards.
#[test]
fn a_journal_that_has_grown_keeps_what_is_needed() {
    let (layout, mut records) = flash(None);
    records.record_opening(SuperblockId(0), Stream(0));
    records.record_put(&layout, Ppn(0), ONE);
    records.record_put(&layout, Ppn(1), Lpn(3));
    records.record_programmed(Pu(0));
    for _ in 0..600 {
        records.record_trim(Lpn(5));
        records.record_trim(ONE);
    }
    records.record_put(&layout, Ppn(2), Lpn(5));
    records.record_programmed(Pu(1));
    records.tidy(&layout, PAGES);
    assert_eq!(records.on_flash(&layout).journal().len(), 1);
    assert_eq!(page_one(&layout, &records, false), NOWHERE);
    let rebuilt = rebuild(records.on_flash(&layout), PAGES, false);
    assert_eq!((rebuilt.slots[3], rebuilt.slots[5]), (Ppn(1), Ppn(2)));
}

/// Three superblocks of two planes with a spare block in each; the block of the second in the second plane is given up, then the spare one.
#[test]
fn blocks_that_were_given_up_are_bad_and_others_are_in_their_place() {
    let config = FtlConfig { spare_blocks: 1, ..FtlConfig::default() };
    let layout = SlotLayout::new(&GEOMETRY, &config, &[DieId(0)], 1).unwrap();
    let marks = FactoryMarks::new(&GEOMETRY, &layout, &DefectConfig::default(), 1);
    let superblock = SuperblockId(1);
    let retired = [
        RetiredBlock { superblock, block: BlockIndex(4 + 1), by: Some(BlockId(3)) },
        RetiredBlock { superblock, block: BlockIndex(4 + 3), by: None },
    ];
    for (count, bad) in [(0, vec![]), (1, vec![5]), (2, vec![5, 7])] {
        let (blocks, table) = marks.rebuild(&retired[..count]);
        let bad_blocks: Vec<usize> = (0..8).filter(|&at| blocks.all_bad().nth(at) == Some(true)).collect();
        assert_eq!(bad_blocks, bad);
        assert_eq!(table.block(superblock, LocalDie(0), 0).block, BlockId(1));
        assert_eq!(table.block(superblock, LocalDie(0), 1).block, BlockId(if count == 0 { 1 } else { 3 }));
        assert_eq!(table.spares_left(), if count == 0 { 2 } else { 1 });
    }
}

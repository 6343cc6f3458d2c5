//! Tests of superblocks by themselves.

use super::*;

const ID: SuperblockId = SuperblockId(1);

fn filled(units: u32) -> SuperblockTable {
    let mut superblocks = SuperblockTable::new(3, 4, true);
    assert_eq!(superblocks.take_free(FreePick::FreedFirst), SuperblockId(0));
    assert_eq!(superblocks.take_free(FreePick::LeastWorn), ID);
    superblocks.open(ID, Stream(2), ModeId::FIRST, 4);
    (0..units).for_each(|_| superblocks.add_valid(ID));
    assert!(!superblocks.mark_programmed(ID, Pu(4), 3, 7));
    assert!(superblocks.settle(ID, 1, 7));
    superblocks
}

#[test]
fn a_superblock_goes_round() {
    let mut superblocks = filled(2);
    assert_eq!((superblocks.state(ID), superblocks.seal_of(ID)), (SuperblockState::Sealed, Some(0)));
    assert_eq!(superblocks.candidates().collect::<Vec<_>>(), [(ID, 2)]);
    assert_eq!([4, 5, 6, 7].map(|pu| superblocks.is_programmed(Pu(pu))), [true, true, true, false]);
    superblocks.begin_collecting(ID, StreamCause::Scrub);
    assert_eq!((superblocks.candidates().count(), superblocks.moved_for(ID)), (0, StreamCause::Scrub));
    superblocks.remove_valid(ID);
    superblocks.remove_valid(ID);
    superblocks.free_erased(ID, 9, true);
    assert_eq!((superblocks.state(ID), superblocks.victims()), (SuperblockState::Free, (1, 2)));
    assert_eq!(superblocks.take_free(FreePick::MostWorn), ID);
}

#[test]
fn one_that_cannot_be_used_is_given_up_until_it_can() {
    let mut superblocks = filled(0);
    superblocks.begin_collecting(ID, StreamCause::Gc);
    superblocks.free_erased(ID, 1, false);
    assert_eq!(
        (superblocks.state(ID), superblocks.retired(), superblocks.free()),
        (SuperblockState::Retired, 1, &[SuperblockId(2)][..])
    );
    superblocks.restore(ID);
    assert_eq!((superblocks.retired(), superblocks.free()), (0, &[SuperblockId(2), ID][..]));
}

#[test]
#[should_panic(expected = "erased with valid units")]
fn valid_units_are_not_erased() {
    let mut superblocks = filled(1);
    superblocks.begin_collecting(ID, StreamCause::Gc);
    superblocks.free_erased(ID, 1, true);
}

#[test]
#[should_panic(expected = "is Open, not Sealed")]
fn an_open_one_is_not_relocated() {
    let mut superblocks = SuperblockTable::new(1, 4, true);
    let superblock = superblocks.take_free(FreePick::FreedFirst);
    superblocks.open(superblock, Stream(0), ModeId::FIRST, 4);
    superblocks.begin_collecting(superblock, StreamCause::Gc);
}

#[test]
#[should_panic(expected = "5 program units end, 4 are to come")]
fn no_more_is_settled_than_is_to_come() {
    let mut superblocks = SuperblockTable::new(1, 4, true);
    let superblock = superblocks.take_free(FreePick::FreedFirst);
    superblocks.open(superblock, Stream(0), ModeId::FIRST, 4);
    superblocks.settle(superblock, 5, 0);
}

#[test]
fn counts_that_are_off_are_found() {
    let mut superblocks = filled(2);
    superblocks.free = vec![SuperblockId(0), SuperblockId(2)];
    let mapped = |superblock| if superblock == ID { 2 } else { 0 };
    assert_eq!(superblocks.check(mapped, 8), Ok(()));
    let off = superblocks.check(|_| 0, 8).unwrap_err();
    assert_eq!(off, "superblock 1 has 0 valid units, its count says 2");
    superblocks.free.push(SuperblockId(2));
    assert!(superblocks.check(mapped, 8).unwrap_err().contains("list of free ones"));
}

#[test]
fn superblocks_that_collection_empties_are_counted() {
    let mut superblocks = filled(0);
    superblocks.begin_collecting(ID, StreamCause::Gc);
    assert_eq!(superblocks.check_coming(), Ok(()));
    superblocks.coming = 0;
    assert!(superblocks.check_coming().unwrap_err().contains("its count says 0"));
}

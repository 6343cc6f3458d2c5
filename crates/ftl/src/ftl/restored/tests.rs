//! Tests of what is refused of state that was read.

use crate::ftl::{Ftl, FtlOptions};
use outlast_decisions::SuperblockState;
use outlast_media::{DefectConfig, Geometry, UnitBytes};
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, DieId, Lpn, Ppn};

const PAGES: u32 = 8;
const UNITS: u32 = 8 * PAGES;

/// Puts a unit of `lpn` at the frontier of the host's stream; its program unit is programmed when it `is_on_flash`.
fn write(ftl: &mut Ftl, lpn: Lpn, is_on_flash: bool) -> Ppn {
    let slot = ftl.append(ftl.streams().host(0, 0), lpn).ppn;
    ftl.store(slot, UnitBytes::new(lpn.0, &[7; 4096]));
    if is_on_flash {
        ftl.programmed(ftl.layout().pu_of(slot).0);
    }
    slot
}

/// A core with superblocks of eight units. Page 0 is on flash in slot 0, and has been written again twice: slots 2 and 3 are in the buffer.
fn rewritten() -> (Ftl, [Ppn; 3]) {
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
    let options = FtlOptions { erases_late: true, keep_bytes: true, ..FtlOptions::default() };
    let units = u64::from(UNITS);
    let mut ftl =
        Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], units, &options).unwrap();
    let first = write(&mut ftl, Lpn(0), true);
    write(&mut ftl, Lpn(1), true);
    let [second, third] = [Lpn(0), Lpn(0)].map(|lpn| write(&mut ftl, lpn, false));
    assert_eq!((ftl.self_check(), ftl.check_restored()), (Ok(()), Ok(())));
    (ftl, [first, second, third])
}

#[test]
fn a_stale_unit_has_bytes_of_its_page() {
    let (mut ftl, [first, ..]) = rewritten();
    ftl.space.contents_mut().unwrap().replace(first.0, UnitBytes::new(5, &[7; 4096]));
    assert_eq!(ftl.check_restored(), Err(format!("slot {first} has bytes of page Some(5), not of page 0")));
}

#[test]
fn a_page_goes_back_to_a_copy_of_its_own() {
    let goes_back_to = |origin: Ppn| {
        let (mut ftl, [.., third]) = rewritten();
        let layout = ftl.space.layout().clone();
        assert!(ftl.pages.origins.as_mut().unwrap().set(&layout, third, origin));
        ftl.check_restored()
    };
    let (_, [first, second, third]) = rewritten();
    assert_eq!([first, second].map(goes_back_to), [Ok(()), Ok(())]);
    assert!(goes_back_to(first + 1).unwrap_err().contains("which has no copy of it"), "another page's");
    assert!(goes_back_to(Ppn(8 * PAGES)).unwrap_err().contains("which has no copy of it"), "erased");
    assert!(goes_back_to(Ppn(20 * PAGES)).unwrap_err().contains("of 160"), "none");
    assert!(goes_back_to(third).unwrap_err().contains("to itself"));
}

/// What a unit in the buffer supersedes counts only while a loss of power would bring it back: the page has been trimmed since.
#[test]
fn nothing_goes_back_to_a_copy_from_before_a_trim() {
    let (mut ftl, [first, second, third]) = rewritten();
    let others: Vec<Ppn> = (3..7).map(|lpn| write(&mut ftl, Lpn(lpn), false)).collect();
    let fourth = write(&mut ftl, Lpn(0), false);
    let sealed = ftl.layout().superblock_of(first);
    assert_ne!(ftl.layout().superblock_of(fourth), sealed);
    assert!(ftl.trim(Lpn(0)));
    write(&mut ftl, Lpn(0), false);
    // The fourth copy supersedes the third, which never comes to flash.
    for slot in [second, third].into_iter().chain(others) {
        ftl.program_failed(ftl.layout().pu_of(slot).0);
        ftl.rewrite(ftl.streams().host(0, 0), slot);
        ftl.drop_failed();
    }
    assert_eq!(ftl.space().state(sealed), SuperblockState::Sealed);
    assert_eq!((ftl.self_check(), ftl.check_restored()), (Ok(()), Ok(())));
    assert!(ftl.space.contents().unwrap().raw(third.0).is_none());

    let (mut ftl, [first, ..]) = rewritten();
    ftl.space.contents_mut().unwrap().erase(first.0, 1);
    assert!(ftl.check_restored().unwrap_err().contains("which has no copy of it"), "it would be needed");
}

#[test]
fn slots_that_were_lost_are_there() {
    let (mut ftl, _) = rewritten();
    ftl.pages.losses.lose_stale(Ppn(20 * PAGES));
    assert_eq!(ftl.check_restored(), Err("slot 160 of 160 is lost".to_owned()));
}

#[test]
fn lanes_of_open_superblocks_are_programmed_as_far_as_their_units_say() {
    let (mut ftl, [first, ..]) = rewritten();
    let superblock = ftl.layout().superblock_of(first);
    ftl.space.pus.physical.program(&ftl.space.pus.layout, superblock, outlast_units::PuWithin(2), 1);
    assert!(
        ftl.check_restored().unwrap_err().contains("is programmed to row 3, with 2 program units on flash")
    );
    let (mut ftl, [first, ..]) = rewritten();
    let superblock = ftl.layout().superblock_of(first);
    assert!(!ftl.space.pus.superblocks.settle(superblock, 1, 0));
    assert!(ftl.check_restored().unwrap_err().contains("2 program units are on flash and 5 to come, of 8"));
}

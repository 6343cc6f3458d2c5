//! Units whose program operation failed where their handle has no room: they are kept beside another handle's data, and the check of isolation knows them alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::placement::drive;
use outlast_decisions::SuperblockState;
use outlast_ftl::{Ftl, HandlesView, MovingUnits, StreamCause};
use outlast_settings::placement::HandleIsolation::PersistentlyIsolated;
use outlast_units::{Lpn, Ppn, PuWithin, Stream, SuperblockId};

/// Units of a superblock: two planes of eight pages, programmed together.
const UNITS: u32 = 16;
/// Units of a program unit.
const WIDTH: u32 = 2;

fn write(ftl: &mut Ftl, stream: Stream, lpn: u32) -> Ppn {
    let written = ftl.append(stream, Lpn(lpn));
    if written.completes_pu {
        ftl.programmed(ftl.layout().pu_of(written.ppn).0);
    }
    written.ppn
}

/// A drive of two handles that are isolated for ever: pages 0 to 15 fill a superblock of the first, pages 16 to 31 one of the second.
fn two_handles() -> (Ftl, [Stream; 2], [SuperblockId; 2]) {
    let mut ftl = drive(20, 8, 64, &[PersistentlyIsolated; 2]).unwrap();
    let hosts = [0, 1].map(|handle| ftl.streams().host(handle, 0));
    let full = [0, 1].map(|handle| {
        let pages = handle * UNITS..(handle + 1) * UNITS;
        let slots: Vec<Ppn> = pages.map(|lpn| write(&mut ftl, hosts[handle as usize], lpn)).collect();
        ftl.layout().superblock_of(slots[0])
    });
    assert_eq!(full.map(|own| ftl.space().state(own)), [SuperblockState::Sealed; 2]);
    ftl.self_check().unwrap();
    (ftl, hosts, full)
}

/// Moves all of `superblock` to `stream`, and erases it.
fn move_all(ftl: &mut Ftl, superblock: SuperblockId, stream: Stream) {
    ftl.begin_relocation(superblock, stream, StreamCause::Gc);
    for within in PuWithin::each(PuWithin(0)..PuWithin(UNITS / WIDTH)) {
        let pu = ftl.layout().pu_at(superblock, within);
        let mut moving = MovingUnits::of(ftl, pu, 0b11);
        while !moving.are_done() {
            if let Some(completed) = ftl.relocate_units(stream, &mut moving).completed {
                ftl.programmed(completed);
            }
        }
    }
    ftl.erased(superblock);
}

/// Pages of the second handle that become strays.
const STRAYS: [u32; WIDTH as usize] = [40, 41];

/// Two units of the second handle whose program operation fails, and which go to the superblock of the first handle that is returned.
fn with_strays(ftl: &mut Ftl, hosts: [Stream; 2]) -> SuperblockId {
    let failed = STRAYS.map(|lpn| ftl.append(hosts[1], Lpn(lpn)).ppn);
    ftl.program_failed(ftl.layout().pu_of(failed[0]).0);
    let [first, _] = failed.map(|slot| ftl.rewrite(hosts[0], slot).unwrap().ppn);
    ftl.programmed(ftl.layout().pu_of(first).0);
    ftl.drop_failed();
    ftl.layout().superblock_of(first)
}

#[test]
fn a_unit_that_would_be_lost_may_lie_beside_another_handles_data_wherever_it_moves() {
    let (mut ftl, hosts, _) = two_handles();
    let open = with_strays(&mut ftl, hosts);
    for lpn in 0..UNITS - WIDTH {
        write(&mut ftl, hosts[0], lpn);
    }
    ftl.self_check().unwrap();
    let mixed = |ftl: &Ftl| HandlesView::of(ftl).contents().iter().map(|own| own.mixed).collect::<Vec<_>>();
    assert_eq!(mixed(&ftl), [u64::from(UNITS - WIDTH), u64::from(WIDTH)]);

    let moved = ftl.streams().gc(ftl.streams().class(hosts[0]));
    move_all(&mut ftl, open, moved);
    ftl.self_check().unwrap();
    assert_eq!(mixed(&ftl), [u64::from(UNITS - WIDTH), u64::from(WIDTH)]);

    // Written again they are back among their own.
    for lpn in STRAYS {
        write(&mut ftl, hosts[1], lpn);
    }
    ftl.self_check().unwrap();
    assert_eq!(mixed(&ftl), [0, 0]);
}

#[test]
fn no_unit_but_one_that_would_be_lost_lies_beside_another_handles_data() {
    let (mut ftl, [first, _], [_, full]) = two_handles();
    let foreign = ftl.streams().gc(ftl.streams().class(first));
    move_all(&mut ftl, full, foreign);
    let refused = ftl.self_check().unwrap_err();
    assert!(refused.contains("holds a unit of handle Some(Stream(1))"), "{refused}");
}

#[test]
fn an_erased_superblock_admits_no_unit_more_than_any_other() {
    let (mut ftl, hosts, [_, full]) = two_handles();
    let open = with_strays(&mut ftl, hosts);
    for lpn in 0..UNITS - WIDTH {
        write(&mut ftl, hosts[0], lpn);
    }
    // All of it becomes stale, and it is erased.
    for lpn in (0..UNITS - WIDTH).chain(STRAYS) {
        write(&mut ftl, hosts[usize::from(STRAYS.contains(&lpn))], lpn);
    }
    let [foreign, own] = hosts.map(|host| ftl.streams().gc(ftl.streams().class(host)));
    move_all(&mut ftl, open, foreign);
    // The second handle's data goes round, where it may lie, until that superblock has it.
    let mut from = full;
    for _ in 0..100 {
        move_all(&mut ftl, from, own);
        ftl.self_check().unwrap();
        from = ftl.layout().superblock_of(ftl.lookup(Lpn(UNITS)));
        if from == open {
            break;
        }
    }
    assert_eq!(from, open);
    move_all(&mut ftl, from, foreign);
    assert!(ftl.self_check().unwrap_err().contains("holds a unit of handle Some(Stream(1))"));
}

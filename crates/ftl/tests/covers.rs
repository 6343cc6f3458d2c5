//! Partial parity in superblocks of its own, where many streams have stripes open for long: superblocks of it are neither filled in vain nor held on to.

use crate::support;

use outlast_decisions::SuperblockState;
use outlast_ftl::{ProgramCause, StreamCause};
use outlast_settings::ftl::PartialPlace;
use outlast_units::{Lpn, Stream, SuperblockId};
use support::kind::{Kind, SOUND};
use support::rig::Rig;

/// Two streams for each of three classes, of which two have parity.
const MANY: Kind = Kind { place: PartialPlace::Blocks, classes: true, hints: 2, ..SOUND };

/// The hints of [`Rig::write`] whose streams have parity.
const PROTECTED: [u8; 4] = [1, 2, 4, 5];

fn stream(rig: &Rig, hint: u8) -> Stream {
    rig.ftl.streams().host(u16::from(hint / 3), hint % 3)
}

/// Fills a program unit of the stream of `hint`, covers it, and lets all that is queued come to flash.
fn write_and_cover(rig: &mut Rig, hint: u8) {
    let open = stream(rig, hint);
    while rig.ftl.stream(open).exposed() == 0 {
        rig.write(hint, Lpn(hint.into()));
    }
    rig.cover(open);
    rig.flush();
}

/// Superblocks of partial parity that hold something.
fn logs(rig: &Rig) -> usize {
    let all = (0..rig.ftl.layout().superblocks()).map(|id| rig.ftl.superblock(SuperblockId(id)));
    all.filter(|open| {
        open.state() == SuperblockState::Open
            && rig.ftl.streams().cause(open.stream()) == StreamCause::Partial
    })
    .count()
}

/// A superblock has room for two covers on each die, and four streams have stripes open whose parity is to lie on the same dies: two stay uncovered, and trying
/// again costs nothing, where superblock after superblock would be filled with what moves from one to the next.
#[test]
fn a_stripe_that_finds_no_room_stays_uncovered_at_no_cost() {
    let mut rig = Rig::new(Kind { pages_per_block: 3, ..MANY }, 1).expect("it fits");
    for hint in PROTECTED {
        write_and_cover(&mut rig, hint);
    }
    let exposed: Vec<u8> =
        PROTECTED.into_iter().filter(|&hint| rig.ftl.stream(stream(&rig, hint)).exposed() != 0).collect();
    assert!(!exposed.is_empty() && exposed.len() < PROTECTED.len(), "{exposed:?}");
    let programmed = rig.ftl.figures().written[ProgramCause::PartialParity];
    for _ in 0..50 {
        for &hint in &exposed {
            rig.cover(stream(&rig, hint));
            rig.flush();
        }
    }
    assert_eq!(rig.ftl.figures().written[ProgramCause::PartialParity], programmed);
    // When other stripes have ended there is room.
    for hint in PROTECTED.into_iter().filter(|hint| !exposed.contains(hint)) {
        for _ in 0..16 {
            rig.write(hint, Lpn(hint.into()));
        }
        rig.flush();
    }
    rig.cover(stream(&rig, exposed[0]));
    rig.flush();
    assert_eq!(rig.ftl.stream(stream(&rig, exposed[0])).exposed(), 0);
    rig.check().expect("the model holds");
}

/// Blocks of eight pages have room for the covers of all streams, however often superblocks of partial parity change.
#[test]
fn all_open_stripes_are_covered_where_a_superblock_has_room_for_them() {
    let mut rig = Rig::new(Kind { pages_per_block: 8, ..MANY }, 1).expect("it fits");
    for round in 0..200 {
        let hint = PROTECTED[round * 7 / 3 % PROTECTED.len()];
        write_and_cover(&mut rig, hint);
        let exposed = PROTECTED.map(|hint| rig.ftl.stream(stream(&rig, hint)).exposed());
        assert_eq!(exposed, [0; 4], "round {round}");
        assert!(logs(&rig) <= 2, "round {round}: {} superblocks of partial parity", logs(&rig));
    }
    rig.check().expect("the model holds");
}

/// Each loss of power closes the superblock of partial parity. Streams that write nothing afterwards do not hold on to one each.
#[test]
fn streams_at_rest_do_not_each_keep_a_superblock_of_partial_parity() {
    let mut rig = Rig::new(Kind { late: true, pages_per_block: 8, ..MANY }, 1).expect("it fits");
    for hint in PROTECTED {
        write_and_cover(&mut rig, hint);
        rig.cut();
        assert!(logs(&rig) <= 1, "after the cut of {hint}: {} superblocks of partial parity", logs(&rig));
    }
    rig.check().expect("the model holds");
}

/// Nothing is needed any more of a superblock of partial parity that is full, while covers are still on their way to it, whose stripes have got their parity.
/// The rest of it never comes, and a snapshot of this state can be read.
#[test]
fn a_superblock_of_partial_parity_is_given_up_with_covers_on_their_way() {
    let mut rig = Rig::new(Kind { pages_per_block: 8, ..MANY }, 1).expect("it fits");
    let mut most = 0;
    for round in 0..200 {
        let hint = PROTECTED[round * 7 / 3 % PROTECTED.len()];
        for _ in 0..rig.ftl.layout().units_per_pu() {
            rig.write(hint, Lpn(hint.into()));
        }
        rig.cover(stream(&rig, hint));
        most = most.max(logs(&rig));
        assert_eq!((rig.ftl.self_check(), rig.ftl.check_restored()), (Ok(()), Ok(())), "round {round}");
        if round % 24 == 23 {
            rig.flush();
        }
    }
    assert!(most > 1, "no superblock of partial parity was full");
    rig.flush();
    rig.check().expect("the model holds");
}

//! Tests of frontiers by themselves.

use super::*;
use outlast_units::Stream;

/// Superblock 3 of 24 slots, the last four for lists; four units to a program unit.
fn frontier() -> WriteFrontier {
    WriteFrontier::at_start(SuperblockId(3), Ppn(72), 20, 4)
}

#[test]
fn a_straight_frontier_is_a_counter() {
    let mut frontier = frontier();
    assert_eq!((frontier.room(), frontier.begun(4), frontier.stretch()), (20, 0, 20));
    assert!(!frontier.take(3, 4));
    assert_eq!((frontier.room(), frontier.begun(4), frontier.left_in_pu()), (17, 3, 1));
    assert!(frontier.take(1, 4));
    assert_eq!((frontier.room(), frontier.begun(4), frontier.next()), (16, 0, Ppn(76)));
    frontier.take_over(16, Ppn(96));
    assert!(frontier.is_full() && frontier.has_filled());
    assert_eq!((frontier.room(), frontier.begun(4)), (0, 0));
    assert!(!WriteFrontier::default().has_filled() && WriteFrontier::default().is_full());
}

#[test]
fn a_broken_one_knows_how_much_follows() {
    let mut frontier = frontier();
    frontier.take(2, 4);
    frontier.break_straight();
    assert_eq!((frontier.room(), frontier.stretch()), (18, 2));
    frontier.lose_later(8);
    assert_eq!(frontier.room(), 10);
    assert!(frontier.take(2, 4));
    frontier.move_to(Ppn(84), 4);
    assert_eq!((frontier.room(), frontier.next()), (8, Ppn(84)));
    frontier.take(4, 4);
    frontier.move_to(Ppn(88), 4);
    frontier.take(4, 4);
    frontier.move_to(Ppn(92), 4);
    assert!(frontier.is_full());
}

#[test]
#[should_panic(expected = "of 16 that come")]
fn no_more_is_lost_than_comes() {
    let mut frontier = frontier();
    frontier.break_straight();
    frontier.lose_later(20);
}

#[test]
fn promises_count_for_the_others() {
    let mut frontiers = StreamFrontiers::new(3);
    frontiers[Stream(1)].promise(true);
    assert_eq!([0, 1, 2].map(|stream| frontiers.promised_beside(Stream(stream))), [1, 0, 1]);
    frontiers.forget_promises();
    assert_eq!(frontiers.promised_beside(Stream(0)), 0);
}

#[test]
fn a_room_that_is_off_is_found() {
    let mut frontiers = StreamFrontiers::new(4);
    frontiers[Stream(2)] = frontier();
    assert_eq!(frontiers.check(24, 4, |_| 20), Ok(()));
    assert!(frontiers.check(24, 4, |_| 16).unwrap_err().contains("stream 2: room for 16 units, kept as 20"));
    assert!(frontiers.check(16, 4, |_| 20).unwrap_err().contains("outside"));
}

//! Tests of lanes by themselves.

use super::*;

const ONE: SuperblockId = SuperblockId(1);

#[test]
fn a_superblock_is_opened_without_what_is_gone() {
    let mut lanes = LaneHealth::new(70, 3);
    assert_eq!((lanes.open(ONE), lanes.is_irregular(ONE)), (0, false));
    lanes.mark_dead(LaneIndex(66));
    lanes.mark_missing(ONE, LaneIndex(2));
    assert_eq!(lanes.open(ONE), 2);
    assert!(
        lanes
            .opened(ONE)
            .is_some_and(|opened| opened.contains(LaneIndex(66)) && opened.contains(LaneIndex(2)))
    );
    assert_eq!(lanes.erasable(ONE).count(), 68);
    assert_eq!(lanes.check(|_| false), Ok(()));
    assert!(lanes.check(|superblock| superblock == ONE).unwrap_err().contains("erased and has gaps"));
    lanes.forget(ONE, Pu(70)..Pu(140));
    assert_eq!(lanes.opened(ONE), None);
}

#[test]
fn a_lane_is_given_up_once() {
    let mut lanes = LaneHealth::new(4, 3);
    lanes.mark_dead(LaneIndex(0));
    lanes.open(ONE);
    assert!(
        !lanes.give_up(ONE, LaneIndex(0))
            && lanes.give_up(ONE, LaneIndex(3))
            && !lanes.give_up(ONE, LaneIndex(3))
    );
    assert!(lanes.is_given_up(ONE, LaneIndex(3)) && !lanes.is_given_up(ONE, LaneIndex(0)));
}

#[test]
fn bad_blocks_of_a_failed_die_are_not_missed() {
    let mut lanes = LaneHealth::new(4, 3);
    lanes.mark_missing(ONE, LaneIndex(2));
    lanes.mark_missing(ONE, LaneIndex(3));
    assert!(lanes.is_usable(ONE, 2) && !lanes.is_usable(ONE, 1));
    lanes.mark_dead(LaneIndex(2));
    assert!(lanes.check(|_| false).unwrap_err().contains("gone anyway"));
    lanes.forget_missing_of_dead();
    assert_eq!((lanes.missing_count(), lanes.check(|_| false)), (1, Ok(())));
    assert!(lanes.is_usable(ONE, 1));
    lanes.mark_dead(LaneIndex(3));
    lanes.forget_missing_of_dead();
    assert!(lanes.is_usable(ONE, 0) && lanes.lacks_any());
}

#[test]
fn one_without_a_lane_is_of_no_use() {
    let mut lanes = LaneHealth::new(2, 3);
    lanes.mark_missing(ONE, LaneIndex(0));
    lanes.mark_missing(ONE, LaneIndex(1));
    assert!(!lanes.is_usable(ONE, 2));
}

#[test]
fn failed_program_units_are_known_until_they_are_erased() {
    let mut lanes = LaneHealth::new(2, 3);
    lanes.mark_failed(Pu(9));
    lanes.forget(SuperblockId(0), Pu(0)..Pu(8));
    assert!(lanes.has_failed(Pu(9)));
    lanes.forget(ONE, Pu(8)..Pu(16));
    assert!(!lanes.has_failed(Pu(9)));
}

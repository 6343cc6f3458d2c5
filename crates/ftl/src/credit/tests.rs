use super::work::work_until_gain;
use super::*;

fn moved(units: u32, work: u32) -> VictimProgress {
    VictimProgress { units, work }
}

fn paced() -> HostCredit {
    HostCredit { paces: true, is_plain: true, ..HostCredit::default() }
}

/// A host that writes as soon as it may has written, when a victim has been moved, what there was room for, less what is kept back:
/// however the victim was cut into reads.
#[test]
fn a_host_that_writes_as_it_may_fills_its_room_while_a_victim_is_moved() {
    for steps in [[1, 1, 1, 97], [25, 25, 25, 25], [40, 30, 20, 10]] {
        let (mut credit, mut room, mut work) = (paced(), 64, 100);
        for units in steps {
            credit.grant_room(room, 4, moved(units, work));
            work -= units;
            while credit.lets_in(|| true) {
                credit.spend();
                room -= 1;
            }
        }
        assert_eq!((room, work), (4, 0), "{steps:?}");
    }
}

#[test]
fn credit_never_exceeds_the_room() {
    let mut credit = paced();
    for _ in 0..4 {
        credit.grant_room(8, 0, moved(50, 100));
    }
    assert_eq!(credit.amount(), 8 * CREDIT_PER_UNIT);
}

#[test]
fn what_is_withheld_is_not_granted() {
    for (part, granted) in [(0.0, 8), (0.25, 6), (1.0, 0)] {
        let mut credit = paced();
        credit.withhold(part);
        assert_eq!(credit.grant_room(16, 0, moved(50, 100)), granted * CREDIT_PER_UNIT, "{part}");
        assert_eq!(credit.amount(), granted * CREDIT_PER_UNIT, "{part}");
    }
}

#[test]
fn of_what_is_gained_the_host_has_its_share() {
    for (share, written) in [(0, 0), (CREDIT_PER_UNIT / 4, 25), (CREDIT_PER_UNIT, 100)] {
        let mut credit = HostCredit { share: Some(share), amount: 7 * CREDIT_PER_UNIT, ..paced() };
        credit.begin_burst();
        let mut entered = 0;
        for _ in 0..10 {
            credit.grant_gain(1000, 10 * CREDIT_PER_UNIT);
            while credit.lets_in(|| true) {
                credit.spend();
                entered += 1;
            }
        }
        assert_eq!(entered, written);
    }
}

/// However a victim is cut into reads, and though the host makes some of its units stale meanwhile, what it gains is granted once.
#[test]
fn the_gain_of_a_victim_is_shared_out_once() {
    for steps in [&[30, 30][..], &[1, 59], &[20], &[]] {
        let mut work = VictimWork::new(60, 10, 100);
        let granted: u64 = steps.iter().map(|&units| work.take_gain(units)).sum();
        assert_eq!(granted + work.take_remaining_gain(), 40 * CREDIT_PER_UNIT, "{steps:?}");
        assert_eq!(work.take_remaining_gain(), 0);
    }
}

/// Victims of `valid` of `units` units each: the stream's open superblock takes `room`, and each further one opened costs what a
/// victim gains; counted one by one.
#[test]
fn the_work_until_a_gain_is_that_of_all_victims_it_takes() {
    for (valid, room, units) in [(10, 10, 100), (10, 0, 100), (90, 0, 100), (90, 85, 100), (50, 49, 100)] {
        let (mut victims, mut free, mut left) = (0, 0i64, room);
        while free < 1 {
            victims += 1;
            if left < valid {
                free -= 1;
                left += units;
            }
            left -= valid;
            free += 1;
        }
        assert_eq!(work_until_gain(valid, room, units), victims * valid, "{valid} of {units}, room {room}");
    }
    assert_eq!(work_until_gain(100, 3, 100), 100, "a victim without stale units ends the estimate");
}

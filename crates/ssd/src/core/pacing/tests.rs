use super::*;

fn smooth() -> Pacer {
    Pacer { paces: true, is_smooth: true, ..Pacer::default() }
}

fn moved(units: u32, work: u32) -> Progress {
    Progress { units, work }
}

/// A host that writes as soon as it may has written, when a victim has been moved, what there was room for, less what is kept back:
/// however the victim was cut into reads.
#[test]
fn a_host_that_writes_as_it_may_fills_its_room_while_a_victim_is_moved() {
    for steps in [[1, 1, 1, 97], [25, 25, 25, 25], [40, 30, 20, 10]] {
        let (mut own, mut room, mut work) = (smooth(), 64, 100);
        for units in steps {
            own.grant(Nanos::ZERO, room, 4, moved(units, work));
            work -= units;
            while own.lets_in(Nanos::ZERO, || true) {
                own.enter(true);
                room -= 1;
            }
        }
        assert_eq!((room, work), (4, 0), "{steps:?}");
    }
}

#[test]
fn credit_never_exceeds_the_room() {
    let mut own = smooth();
    for _ in 0..4 {
        own.grant(Nanos::ZERO, 8, 0, moved(50, 100));
    }
    assert_eq!(own.credit, 8 * ONE);
}

#[test]
fn what_is_withheld_is_not_granted() {
    for (part, granted) in [(0.0, 8), (0.25, 6), (1.0, 0)] {
        let mut own = Pacer { is_smooth: false, is_plain: true, ..smooth() };
        own.withhold(part);
        own.grant(Nanos::ZERO, 16, 0, moved(50, 100));
        assert_eq!(own.credit, granted * ONE, "{part}");
    }
}

#[test]
fn of_what_is_gained_the_host_has_its_share() {
    for (share, written) in [(0, 0), (ONE / 4, 25), (ONE, 100)] {
        let mut own = Pacer { share: Some(share), is_smooth: false, ..smooth() };
        own.credit = 7 * ONE;
        own.burst_begins();
        let mut entered = 0;
        for _ in 0..10 {
            own.grant_gain(Nanos::ZERO, 1000, 10 * ONE);
            while own.lets_in(Nanos::ZERO, || true) {
                own.enter(true);
                entered += 1;
            }
        }
        assert_eq!(entered, written);
    }
}

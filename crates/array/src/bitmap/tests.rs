use super::*;

const DELAY: Nanos = Nanos::secs(5);

/// Members do at once what they are asked.
fn carry_out(bitmap: &mut IntentBitmap, now: Nanos) {
    loop {
        bitmap.sent(1);
        assert!(bitmap.part_done());
        if !bitmap.step_done(now, DELAY, false) {
            return;
        }
    }
}

#[test]
fn operations_wait_for_their_mark_and_share_it() {
    let mut bitmap = IntentBitmap::new(4, 10);
    assert!(!bitmap.mark(GroupIndex(5), GroupOpId(1)) && bitmap.begin_marking());
    bitmap.sent(2);
    assert!(!bitmap.mark(GroupIndex(6), GroupOpId(2)), "the mark is being written");
    assert!(
        !bitmap.mark(GroupIndex(15), GroupOpId(3)) && !bitmap.begin_marking(),
        "the next batch waits for this one"
    );
    assert!(!bitmap.part_done() && bitmap.take_marked().is_none());
    assert!(bitmap.part_done() && !bitmap.step_done(Nanos(1), DELAY, false));
    assert_eq!(
        (bitmap.take_marked(), bitmap.take_marked(), bitmap.take_marked()),
        (Some(GroupOpId(1)), Some(GroupOpId(2)), None)
    );
    assert!(bitmap.mark(GroupIndex(7), GroupOpId(4)), "a marked region needs no other mark");
    assert!(bitmap.is_ready() && bitmap.begin_marking());
    carry_out(&mut bitmap, Nanos(2));
    assert!(bitmap.take_own_mark(GroupOpId(3)) && bitmap.waiting().next().is_none());
    assert_eq!(bitmap.marked(), 2);
}

#[test]
fn marks_go_when_their_region_has_been_quiet() {
    let mut bitmap = IntentBitmap::new(2, 1);
    for (group, op) in [(0, 1), (1, 2)] {
        assert!(!bitmap.mark(GroupIndex(group), GroupOpId(op)) && bitmap.begin_marking());
        carry_out(&mut bitmap, Nanos(1));
    }
    bitmap.unmark(Nanos(10), GroupIndex(0), DELAY);
    assert_eq!(bitmap.wake(), Nanos(10) + DELAY);
    let due = bitmap.wake();
    assert!(bitmap.begin_clearing(due, DELAY));
    carry_out(&mut bitmap, due);
    assert_eq!(bitmap.marked(), 1, "region 1 is still being written");
    assert_eq!(bitmap.wake(), due + DELAY);
    assert!(!bitmap.after_power_cut(false) || bitmap.marked() == 1);
    assert!(!bitmap.is_in_doubt(GroupIndex(0)) && !bitmap.is_in_doubt(GroupIndex(1)), "the array was clean");
}

#[test]
fn after_a_power_cut_what_is_marked_is_in_doubt() {
    let mut bitmap = IntentBitmap::new(3, 1);
    assert!(!bitmap.mark(GroupIndex(0), GroupOpId(1)) && bitmap.begin_marking());
    carry_out(&mut bitmap, Nanos(1));
    assert!(!bitmap.mark(GroupIndex(1), GroupOpId(2)), "wanted, not written");
    assert!(bitmap.after_power_cut(true));
    assert_eq!([0, 1, 2].map(|group| bitmap.is_in_doubt(GroupIndex(group))), [true, true, false]);
    bitmap.resynced(Nanos(9), DELAY);
    assert_eq!(
        ([0, 1, 2].map(|group| bitmap.is_in_doubt(GroupIndex(group))), bitmap.wake()),
        ([false; 3], Nanos(9) + DELAY)
    );
}

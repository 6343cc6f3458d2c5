use super::*;

fn buffer(capacity: u32) -> Buffer {
    Buffer {
        held: 0,
        capacity,
        waiting: VecDeque::new(),
        pacer: Pacer::default(),
        pauses: Pauses::default(),
        blocked_since: None,
        blocked: Nanos::ZERO,
        moved_in: Vec::new(),
    }
}

#[test]
fn a_write_that_waits_for_a_full_buffer_does_not_wait_for_collection() {
    let mut full = buffer(1);
    full.enter(false);
    full.note_blocked(Nanos(5));
    assert!(!full.is_blocked());
    full.leave(1);
    full.note_blocked(Nanos(7));
    full.note_blocked(Nanos(8));
    assert_eq!(full.unblock(Nanos(10)), Nanos(3));
    assert_eq!(full.unblock(Nanos(11)), Nanos::ZERO);
}

#[test]
fn an_epoch_waits_once_for_a_program_unit() {
    let mut own = buffer(1);
    assert!(own.note_moved_in(Pu(3), 0) && own.note_moved_in(Pu(3), 1) && own.note_moved_in(Pu(4), 0));
    assert!(!own.note_moved_in(Pu(3), 1));
    assert_eq!(own.take_moved_in(Pu(3)), [0, 1]);
    assert_eq!(own.take_moved_in(Pu(3)), [0u32; 0]);
    assert!(own.any_moved_in());
}

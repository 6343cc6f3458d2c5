use super::*;
use crate::layout::RowRange;
use outlast_settings::array::RepairConfig;

const LIMITS: RepairLimits = RepairLimits { ranges: 3, queries: 2, identify_first: false, window: 1 };

fn item(range: u32) -> RepairRows {
    let sector = u64::from(range) * 8;
    RepairRows { group: u64::from(range), rows: RowRange::new(0, 8), readable: false, range, sector }
}

/// Two ranges at a time are asked for and one run at a time is recovered, until all are done and the member flushes.
#[test]
fn a_recovery_asks_recovers_and_flushes() {
    let settings = RepairConfig::default();
    let mut repair = ActiveRepair::new(0, 2, RepairWay::Die, None);
    for expected in [0, 1] {
        assert_eq!(repair.next_action(&LIMITS), RepairAction::Ask);
        let range = repair.take_range();
        repair.note_query(Nanos(5), range);
        assert_eq!(range, expected);
    }
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait);
    assert_eq!((repair.take_answer(0), repair.take_answer(0)), (Some(Nanos(5)), None));
    repair.list_rows(item(0), None);
    assert!(!repair.range_listed(0, 1));
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Recover);
    assert_eq!(repair.take_item(Nanos(6), &settings), Some(item(0)));
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait, "one operation at a time");
    repair.recovered(0, None);
    assert_eq!((repair.next_action(&LIMITS), repair.ranges_done()), (RepairAction::Ask, 1));
    let range = repair.take_range();
    repair.note_query(Nanos(7), range);
    for range in [1, 2] {
        assert!(repair.take_answer(range).is_some());
        assert_eq!(repair.range_listed(range, 0), range == 2);
    }
    assert_eq!((repair.next_action(&LIMITS), repair.ranges_done()), (RepairAction::Flush, 3));
    repair.begin_flush();
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait);
}

/// By exposure, nothing is recovered before all is known.
#[test]
fn by_exposure_everything_is_known_first() {
    let limits = RepairLimits { identify_first: true, ranges: 2, ..LIMITS };
    let mut repair = ActiveRepair::new(0, 0, RepairWay::Die, None);
    for range in 0..2 {
        assert_eq!(repair.next_action(&limits), RepairAction::Ask);
        assert_eq!(repair.take_range(), range);
        repair.note_query(Nanos(1), range);
        assert!(repair.take_answer(range).is_some());
        repair.list_rows(item(range), Some(8 * u64::from(range)..8 * u64::from(range) + 8));
        repair.range_listed(range, 1);
    }
    assert_eq!(repair.next_action(&limits), RepairAction::Recover);
    assert!(repair.lacks(&(9..10)) && !repair.lacks(&(16..17)));
}

/// A member that leaves takes its recoveries with it, except the one that it leaves for.
#[test]
fn a_member_that_leaves_takes_its_recoveries_with_it() {
    let mut repairs = MemberRepairs::default();
    repairs.add_waiting(MemberRepair::new(1, 4, RepairWay::Die, Nanos(1)), None);
    repairs.add_waiting(MemberRepair::new(1, 5, RepairWay::Rebuild, Nanos(1)), None);
    repairs.add_waiting(MemberRepair::new(2, 6, RepairWay::Die, Nanos(1)), None);
    assert!(repairs.waits_for_replacement(1) && !repairs.waits_for_replacement(2));
    repairs.record_mut(1).started_at = Some(Nanos(2));
    assert_eq!(repairs.abandon(Nanos(3), 1), [4]);
    assert_eq!((repairs.waiting(), repairs.records()[0].abandoned), (vec![1, 2], true));
}

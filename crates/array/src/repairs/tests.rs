use super::*;
use crate::ids::{GroupIndex, RangeIndex};
use crate::layout::RowRange;
use outlast_settings::array::RepairConfig;

const FIRST: RangeIndex = RangeIndex(0);
const LIMITS: RepairLimits = RepairLimits { ranges: 3, queries: 2, identify_first: false, window: 1 };

fn item(range: RangeIndex) -> RepairRows {
    let sector = u64::from(range.0) * 8;
    RepairRows {
        group: GroupIndex(range.0.into()),
        rows: RowRange::new(0, 8),
        readable: false,
        range,
        sector,
    }
}

/// Two ranges at a time are asked for and one run at a time is recovered, until all are done and the member flushes.
#[test]
fn a_recovery_asks_recovers_and_flushes() {
    let settings = RepairConfig::default();
    let mut repair = ActiveRepair::new(RepairId(0), ColumnIndex(2), RepairWay::Die, None);
    for expected in [0, 1].map(RangeIndex) {
        assert_eq!(repair.next_action(&LIMITS), RepairAction::Ask);
        let range = repair.take_range();
        repair.note_query(Nanos(5), range);
        assert_eq!(range, expected);
    }
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait);
    assert_eq!((repair.take_answer(FIRST), repair.take_answer(FIRST)), (Some(Nanos(5)), None));
    repair.list_rows(item(FIRST), None);
    assert!(!repair.range_listed(FIRST, 1));
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Recover);
    assert_eq!(repair.take_item(Nanos(6), &settings), Some(item(FIRST)));
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait, "one operation at a time");
    repair.recovered(FIRST, None);
    assert_eq!((repair.next_action(&LIMITS), repair.ranges_done()), (RepairAction::Ask, 1));
    let range = repair.take_range();
    repair.note_query(Nanos(7), range);
    for range in [1, 2].map(RangeIndex) {
        assert!(repair.take_answer(range).is_some());
        assert_eq!(repair.range_listed(range, 0), range == RangeIndex(2));
    }
    assert_eq!((repair.next_action(&LIMITS), repair.ranges_done()), (RepairAction::Flush, 3));
    repair.begin_flush();
    assert_eq!(repair.next_action(&LIMITS), RepairAction::Wait);
}

/// By exposure, nothing is recovered before all is known.
#[test]
fn by_exposure_everything_is_known_first() {
    let limits = RepairLimits { identify_first: true, ranges: 2, ..LIMITS };
    let mut repair = ActiveRepair::new(RepairId(0), ColumnIndex(0), RepairWay::Die, None);
    for range in RangeIndex::each(FIRST..RangeIndex(2)) {
        assert_eq!(repair.next_action(&limits), RepairAction::Ask);
        assert_eq!(repair.take_range(), range);
        repair.note_query(Nanos(1), range);
        assert!(repair.take_answer(range).is_some());
        repair.list_rows(item(range), Some(8 * u64::from(range.0)..8 * u64::from(range.0) + 8));
        repair.range_listed(range, 1);
    }
    assert_eq!(repair.next_action(&limits), RepairAction::Recover);
    assert!(repair.lacks(&(9..10)) && !repair.lacks(&(16..17)));
}

/// A member that leaves takes its recoveries with it, except the one that it leaves for.
#[test]
fn a_member_that_leaves_takes_its_recoveries_with_it() {
    let mut repairs = MemberRepairs::default();
    repairs.add_waiting(MemberRepair::new(ColumnIndex(1), 4, RepairWay::Die, Nanos(1)), None);
    repairs.add_waiting(MemberRepair::new(ColumnIndex(1), 5, RepairWay::Rebuild, Nanos(1)), None);
    repairs.add_waiting(MemberRepair::new(ColumnIndex(2), 6, RepairWay::Die, Nanos(1)), None);
    assert!(repairs.waits_for_replacement(ColumnIndex(1)) && !repairs.waits_for_replacement(ColumnIndex(2)));
    repairs.record_mut(RepairId(1)).started_at = Some(Nanos(2));
    assert_eq!(repairs.abandon(Nanos(3), ColumnIndex(1)), [4]);
    assert_eq!((repairs.waiting(), repairs.records()[0].abandoned), (vec![RepairId(1), RepairId(2)], true));
}

//! Recoveries of what members have lost with a die: what waits, what is under way, and what each does next.

use crate::config::{RepairConfig, RepairWay};
use crate::layout::Rows;
use crate::ranges::RangeSet;
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use serde::Serialize;
use std::collections::VecDeque;
use std::ops::Range;

/// One recovery from the failure of a die in a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberRepair {
    /// The member's column.
    pub member: usize,
    /// The die that failed; dies that failed before the end may be recovered with it.
    pub die: u16,
    /// How.
    pub way: RepairWay,
    /// When the member told of it.
    pub noticed_at: Nanos,
    /// When recovery began; absent while it waits.
    pub started_at: Option<Nanos>,
    /// When it ended.
    pub finished_at: Option<Nanos>,
    /// Whether it ended early, because the member left or is replaced instead.
    pub abandoned: bool,
    /// Questions about failed sectors that the member answered.
    pub queries: u64,
    /// Time of these questions, from each one's beginning to its end: Reparo's Identifier. Overlapping ones count each.
    pub identify: Nanos,
    /// The rest of the time from `started_at` to `finished_at`; zero until then.
    pub recover: Nanos,
    /// Sectors that the member told it has lost.
    pub failed_sectors: u64,
    /// Sectors that it can read and wants written again.
    pub fake_sectors: u64,
    /// Read from the other members.
    pub bytes_read_from_peers: Bytes,
    /// Read from the member itself, or from the one that it replaces.
    pub bytes_read_from_member: Bytes,
    /// Written to the member, or to the one in its place.
    pub bytes_written: Bytes,
    /// Sectors of the array's data that nothing could bring back.
    pub lost_sectors: u64,
    /// Times that it was taken up again after a loss of power.
    pub resumed: u32,
}

impl MemberRepair {
    /// Of die `die` of member `member`, told at `at`, and not begun.
    pub(crate) fn new(member: usize, die: u16, way: RepairWay, at: Nanos) -> Self {
        Self {
            member,
            die,
            way,
            noticed_at: at,
            started_at: None,
            finished_at: None,
            abandoned: false,
            queries: 0,
            identify: Nanos::ZERO,
            recover: Nanos::ZERO,
            failed_sectors: 0,
            fake_sectors: 0,
            bytes_read_from_peers: Bytes(0),
            bytes_read_from_member: Bytes(0),
            bytes_written: Bytes(0),
            lost_sectors: 0,
            resumed: 0,
        }
    }
}

/// Rows of one chunk to be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) group: u64,
    pub(crate) rows: Rows,
    pub(crate) readable: bool,
    pub(crate) range: u32,
    /// The first of them on the member.
    pub(crate) sector: u64,
}

/// A range that was asked for and is not yet recovered.
#[derive(Clone, Copy, Debug)]
struct Span {
    range: u32,
    /// Rows of it that are not yet recovered.
    left: u32,
    answered: bool,
}

/// What bounds a recovery in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Ranges of a member.
    pub(crate) ranges: u32,
    /// Ranges under way at once.
    pub(crate) queries: usize,
    /// Whether nothing is recovered before everything that has failed is known.
    pub(crate) by_exposure: bool,
    /// Operations under way at once.
    pub(crate) window: u32,
}

/// What a recovery in place does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits for what is under way, or is not in place.
    Wait,
    /// Asks for the next range.
    Ask,
    /// Recovers the next rows.
    Recover,
    /// Everything is recovered: the member flushes.
    Flush,
}

/// A recovery under way.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    /// Its place among the records.
    pub(crate) id: u32,
    pub(crate) column: usize,
    pub(crate) way: RepairWay,
    /// What it may use of the link.
    pub(crate) rate: Option<ByteRate>,
    /// The next range to ask for.
    next: u32,
    spans: VecDeque<Span>,
    /// Ranges that have no answer yet, and when each was asked for.
    asked: Vec<(u32, Nanos)>,
    /// Rows to be recovered.
    items: VecDeque<Item>,
    /// Operations under way.
    ops: u32,
    /// When the last one began, and its bytes.
    last: Option<(Nanos, Bytes)>,
    /// Until when the host's processor works on the last run begun.
    busy_until: Nanos,
    /// Sectors of the member not yet recovered; kept for order of exposure only.
    missing: RangeSet,
    /// Sectors of the member written while it was asked; kept without redundancy only.
    written: RangeSet,
    ranges_done: u32,
    flushing: bool,
}

impl Repair {
    /// The recovery of record `id`, which begins.
    pub(crate) fn new(id: u32, column: usize, way: RepairWay, rate: Option<ByteRate>) -> Self {
        Self {
            id,
            column,
            way,
            rate,
            next: 0,
            spans: VecDeque::new(),
            asked: Vec::new(),
            items: VecDeque::new(),
            ops: 0,
            last: None,
            busy_until: Nanos::ZERO,
            missing: RangeSet::default(),
            written: RangeSet::default(),
            ranges_done: 0,
            flushing: false,
        }
    }

    /// Operations under way.
    pub(crate) fn operations(&self) -> usize {
        self.ops as usize
    }

    /// What comes next. Asking goes before recovering, so that there is always something to recover.
    pub(crate) fn turn(&self, limits: &Limits) -> Turn {
        if self.way != RepairWay::Die || self.flushing {
            return Turn::Wait;
        }
        let under_way = if limits.by_exposure { self.asked.len() } else { self.spans.len() };
        let all_known = self.next == limits.ranges && self.asked.is_empty();
        if self.next < limits.ranges && under_way < limits.queries {
            Turn::Ask
        } else if all_known && self.items.is_empty() && self.ops == 0 {
            Turn::Flush
        } else if self.ops >= limits.window || limits.by_exposure && !all_known || self.items.is_empty() {
            Turn::Wait
        } else {
            Turn::Recover
        }
    }

    /// The next range is taken up; it is to be asked for.
    pub(crate) fn take_range(&mut self) -> u32 {
        let range = self.next;
        self.next += 1;
        self.spans.push_back(Span { range, left: 0, answered: false });
        range
    }

    /// A range is asked for.
    pub(crate) fn asks(&mut self, now: Nanos, range: u32) {
        debug_assert!(
            self.asked.iter().all(|&(asked, _)| asked != range),
            "a range is asked for once at a time"
        );
        self.asked.push((range, now));
    }

    /// Ranges that have no answer yet.
    pub(crate) fn unanswered(&self) -> usize {
        self.asked.len()
    }

    /// A range has its answer; returns when it was asked for, unless it was not.
    pub(crate) fn takes_answer(&mut self, range: u32) -> Option<Nanos> {
        let place = self.asked.iter().position(|&(asked, _)| asked == range)?;
        Some(self.asked.swap_remove(place).1)
    }

    /// Rows are to be recovered; `sectors`: theirs on the member, where they are kept.
    pub(crate) fn list(&mut self, item: Item, sectors: Option<Range<u64>>) {
        self.items.push_back(item);
        if let Some(sectors) = sectors {
            self.missing.insert(sectors);
        }
    }

    /// `count` rows of a range are listed. Returns whether no question is open.
    pub(crate) fn range_listed(&mut self, range: u32, count: u32) -> bool {
        if let Some(span) = self.spans.iter_mut().find(|span| span.range == range) {
            *span = Span { range, left: count, answered: true };
        }
        self.drop_done_spans();
        let all = self.asked.is_empty();
        if all {
            self.written = RangeSet::default();
        }
        all
    }

    /// Whether every range has been asked for.
    pub(crate) fn has_asked_all(&self, ranges: u32) -> bool {
        self.next == ranges
    }

    /// When and with how many bytes the last rows were begun.
    pub(crate) fn last(&self) -> Option<(Nanos, Bytes)> {
        self.last
    }

    /// Until when the host's processor works on them.
    pub(crate) fn busy_until(&self) -> Nanos {
        self.busy_until
    }

    /// Takes the next rows, whose recovery begins.
    pub(crate) fn take_item(&mut self, now: Nanos, settings: &RepairConfig) -> Option<Item> {
        let item = self.items.pop_front()?;
        let bytes = Bytes(u64::from(item.rows.len()) * SECTOR_BYTES);
        self.busy_until = now + settings.run_time(self.rate, bytes);
        self.ops += 1;
        self.last = Some((now, bytes));
        Some(item)
    }

    /// Rows of a range have been recovered; `sectors`: theirs on the member.
    pub(crate) fn recovered(&mut self, range: u32, sectors: Option<Range<u64>>) {
        assert!(self.ops > 0, "an operation of a repair ends once");
        self.ops -= 1;
        if let Some(span) = self.spans.iter_mut().find(|span| span.range == range) {
            span.left -= 1;
        }
        self.drop_done_spans();
        if let Some(sectors) = sectors.filter(|_| !self.missing.is_empty()) {
            self.missing.remove(sectors);
        }
    }

    /// The member flushes what was written back.
    pub(crate) fn flushes(&mut self) {
        self.flushing = true;
    }

    /// Whether the member is known to lack some of these sectors.
    pub(crate) fn lacks(&self, sectors: &Range<u64>) -> bool {
        self.missing.overlaps(sectors)
    }

    /// The host has written sectors of the member, which is still being asked.
    pub(crate) fn note_written(&mut self, sectors: Range<u64>) {
        if !self.asked.is_empty() {
            self.written.insert(sectors);
        }
    }

    /// Takes away from `sectors` what the host has written meanwhile.
    pub(crate) fn not_written(&self, sectors: Range<u64>) -> RangeSet {
        let mut left = RangeSet::default();
        left.insert(sectors);
        self.written.iter().for_each(|written| left.remove(written));
        left
    }

    /// Takes the rows to be recovered out, to be put back in another order.
    pub(crate) fn take_items(&mut self) -> VecDeque<Item> {
        std::mem::take(&mut self.items)
    }

    /// Puts them back.
    pub(crate) fn put_items(&mut self, items: VecDeque<Item>) {
        debug_assert!(self.items.is_empty(), "items are put back once");
        self.items = items;
    }

    /// Ranges recovered.
    pub(crate) fn ranges_done(&self) -> u32 {
        self.ranges_done
    }

    /// Power was lost: everything is asked for again.
    fn restart(&mut self) {
        *self = Self { busy_until: self.busy_until, ..Self::new(self.id, self.column, self.way, self.rate) };
    }

    fn drop_done_spans(&mut self) {
        let before = self.spans.len();
        self.spans.retain(|span| !span.answered || span.left > 0);
        self.ranges_done += (before - self.spans.len()) as u32;
    }
}

/// A recovery that has not begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) id: u32,
    /// Whether it was told that it waits.
    pub(crate) told: bool,
}

/// All recoveries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    records: Vec<MemberRepair>,
    waiting: Vec<Waiting>,
    active: Vec<Repair>,
}

impl Repairs {
    /// Whether nothing waits and nothing is under way.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty()
    }

    /// Whether none is under way.
    #[inline]
    pub(crate) fn is_none_active(&self) -> bool {
        self.active.is_empty()
    }

    /// Every recovery, finished or not.
    pub(crate) fn records(&self) -> &[MemberRepair] {
        &self.records
    }

    /// What is told about recovery `id`.
    pub(crate) fn record(&mut self, id: u32) -> &mut MemberRepair {
        &mut self.records[id as usize]
    }

    /// One more recovery is wanted.
    pub(crate) fn want(&mut self, record: MemberRepair) {
        let id = self.records.len() as u32;
        self.records.push(record);
        self.waiting.push(Waiting { id, told: false });
    }

    /// Takes out what waits.
    pub(crate) fn take_waiting(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }

    /// Goes on to wait.
    pub(crate) fn keep_waiting(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Whether a column's member waits to be replaced.
    pub(crate) fn waits_for_replacement(&self, column: usize) -> bool {
        let mut waiting = self.waiting.iter().map(|waiting| &self.records[waiting.id as usize]);
        waiting.any(|record| record.member == column && record.way != RepairWay::Die)
    }

    /// Whether a column's member is to be made good without leaving first.
    pub(crate) fn stays(&self, column: usize) -> bool {
        let mut open = self.records.iter().filter(|record| record.finished_at.is_none());
        open.any(|record| record.member == column && record.way != RepairWay::Rebuild)
    }

    /// A recovery begins.
    pub(crate) fn begin(&mut self, repair: Repair) {
        assert!(self.on(repair.column).is_none(), "a member has one recovery at a time");
        self.active.push(repair);
    }

    /// Recoveries under way.
    pub(crate) fn active(&self) -> &[Repair] {
        &self.active
    }

    /// As [`Repairs::active`], to change them.
    pub(crate) fn active_mut(&mut self) -> &mut [Repair] {
        &mut self.active
    }

    /// Recovery `id`, while it is under way.
    pub(crate) fn get(&self, id: u32) -> Option<&Repair> {
        self.active.iter().find(|repair| repair.id == id)
    }

    /// As [`Repairs::get`], to change it.
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Repair> {
        self.active.iter_mut().find(|repair| repair.id == id)
    }

    /// The recovery of a column's member that is under way.
    pub(crate) fn on(&self, column: usize) -> Option<&Repair> {
        self.active.iter().find(|repair| repair.column == column)
    }

    /// Whether rows of members are being written back.
    pub(crate) fn in_place(&self) -> bool {
        self.active.iter().any(|repair| repair.way == RepairWay::Die)
    }

    /// What rebuilding may use of the links, where a failed die is its cause.
    pub(crate) fn rebuild_rate(&self) -> Option<ByteRate> {
        let rebuilds = self.active.iter().filter(|repair| repair.way != RepairWay::Die);
        rebuilds.filter_map(|repair| repair.rate).min()
    }

    /// Recovery `id` has come to its end at `now`. Returns its column and die, and whether another one of that member waits; `None` where it
    /// is not under way.
    pub(crate) fn finish(&mut self, now: Nanos, id: u32) -> Option<(usize, u16, bool)> {
        let at = self.active.iter().position(|repair| repair.id == id)?;
        let column = self.active.remove(at).column;
        let record = self.record(id);
        record.finished_at = Some(now);
        let all = now - record.started_at.unwrap_or(now);
        record.recover = all.saturating_sub(record.identify);
        let die = record.die;
        let more = self.waiting.iter().any(|waiting| self.records[waiting.id as usize].member == column);
        Some((column, die, more))
    }

    /// The member of a column leaves, or is replaced instead: recoveries of it end, but for those that it leaves for. Returns their dies.
    pub(crate) fn abandon(&mut self, now: Nanos, column: usize) -> Vec<u16> {
        let open =
            self.waiting.iter().map(|waiting| waiting.id).chain(self.active.iter().map(|repair| repair.id));
        let ids: Vec<u32> = open.collect();
        let mut dies = Vec::new();
        for id in ids {
            let record = self.record(id);
            if record.member != column || record.way == RepairWay::Rebuild && record.started_at.is_some() {
                continue;
            }
            (record.finished_at, record.abandoned) = (Some(now), true);
            dies.push(record.die);
            self.waiting.retain(|other| other.id != id);
            self.active.retain(|repair| repair.id != id);
        }
        dies
    }

    /// Power was lost: members are asked again from the first range on. What has been recovered they no longer tell.
    pub(crate) fn after_power_cut(&mut self) {
        for repair in &mut self.active {
            self.records[repair.id as usize].resumed += 1;
            repair.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { ranges: 3, queries: 2, by_exposure: false, window: 1 };

    fn item(range: u32) -> Item {
        let sector = u64::from(range) * 8;
        Item { group: u64::from(range), rows: Rows::new(0, 8), readable: false, range, sector }
    }

    /// Two ranges at a time are asked for and one run at a time is recovered, until all are done and the member flushes.
    #[test]
    fn a_recovery_asks_recovers_and_flushes() {
        let settings = RepairConfig::default();
        let mut repair = Repair::new(0, 2, RepairWay::Die, None);
        for expected in [0, 1] {
            assert_eq!(repair.turn(&LIMITS), Turn::Ask);
            let range = repair.take_range();
            repair.asks(Nanos(5), range);
            assert_eq!(range, expected);
        }
        assert_eq!(repair.turn(&LIMITS), Turn::Wait);
        assert_eq!((repair.takes_answer(0), repair.takes_answer(0)), (Some(Nanos(5)), None));
        repair.list(item(0), None);
        assert!(!repair.range_listed(0, 1));
        assert_eq!(repair.turn(&LIMITS), Turn::Recover);
        assert_eq!(repair.take_item(Nanos(6), &settings), Some(item(0)));
        assert_eq!(repair.turn(&LIMITS), Turn::Wait, "one operation at a time");
        repair.recovered(0, None);
        assert_eq!((repair.turn(&LIMITS), repair.ranges_done()), (Turn::Ask, 1));
        let range = repair.take_range();
        repair.asks(Nanos(7), range);
        for range in [1, 2] {
            assert!(repair.takes_answer(range).is_some());
            assert_eq!(repair.range_listed(range, 0), range == 2);
        }
        assert_eq!((repair.turn(&LIMITS), repair.ranges_done()), (Turn::Flush, 3));
        repair.flushes();
        assert_eq!(repair.turn(&LIMITS), Turn::Wait);
    }

    /// By exposure, nothing is recovered before all is known.
    #[test]
    fn by_exposure_everything_is_known_first() {
        let limits = Limits { by_exposure: true, ranges: 2, ..LIMITS };
        let mut repair = Repair::new(0, 0, RepairWay::Die, None);
        for range in 0..2 {
            assert_eq!(repair.turn(&limits), Turn::Ask);
            assert_eq!(repair.take_range(), range);
            repair.asks(Nanos(1), range);
            assert!(repair.takes_answer(range).is_some());
            repair.list(item(range), Some(8 * u64::from(range)..8 * u64::from(range) + 8));
            repair.range_listed(range, 1);
        }
        assert_eq!(repair.turn(&limits), Turn::Recover);
        assert!(repair.lacks(&(9..10)) && !repair.lacks(&(16..17)));
    }

    /// A member that leaves takes its recoveries with it, but for the one that it leaves for.
    #[test]
    fn a_member_that_leaves_takes_its_recoveries_with_it() {
        let mut repairs = Repairs::default();
        repairs.want(MemberRepair::new(1, 4, RepairWay::Die, Nanos(1)));
        repairs.want(MemberRepair::new(1, 5, RepairWay::Rebuild, Nanos(1)));
        repairs.want(MemberRepair::new(2, 6, RepairWay::Die, Nanos(1)));
        assert!(repairs.waits_for_replacement(1) && !repairs.waits_for_replacement(2));
        repairs.record(1).started_at = Some(Nanos(2));
        assert_eq!(repairs.abandon(Nanos(3), 1), [4]);
        let left: Vec<u32> = repairs.take_waiting().iter().map(|waiting| waiting.id).collect();
        assert_eq!((left, repairs.records()[0].abandoned), (vec![1, 2], true));
    }
}

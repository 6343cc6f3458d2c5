//! One recovery under way: its queries, the rows that they list, and its next action.

mod action;
mod check;

pub(crate) use action::{RepairAction, RepairLimits};

use crate::ids::{ColumnIndex, GroupIndex, RangeIndex, RepairId};
use crate::layout::RowRange;
use crate::passes::{NextStart, WorkPacer};
use crate::ranges::RangeSet;
use outlast_decisions::RepairWay;
use outlast_settings::array::{BackgroundConfig, RepairConfig};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES, to_count};
use std::collections::VecDeque;
use std::ops::Range;

/// Lost rows of one chunk, to be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct RepairRows {
    pub(crate) group: GroupIndex,
    pub(crate) rows: RowRange,
    /// The member can still read the rows, and only asks for them to be written again.
    pub(crate) readable: bool,
    /// The range of the query that listed them.
    pub(crate) range: RangeIndex,
    /// First sector of them on the member.
    pub(crate) sector: u64,
}

/// A range that has been queried and is not yet recovered.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct RepairSpan {
    range: RangeIndex,
    /// Items of it that are not yet recovered.
    left: u32,
    answered: bool,
}

/// A recovery under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct ActiveRepair {
    /// Index of its record.
    pub(crate) id: RepairId,
    pub(crate) column: ColumnIndex,
    pub(crate) way: RepairWay,
    /// Limit of its rate, a share of the link.
    pub(crate) rate: Option<ByteRate>,
    /// The next range to query.
    next_range: RangeIndex,
    spans: VecDeque<RepairSpan>,
    /// Open queries: range and time of each.
    queries: Vec<(RangeIndex, Nanos)>,
    /// Rows to be recovered.
    items: VecDeque<RepairRows>,
    /// Operations under way.
    ops: u32,
    pacer: WorkPacer,
    /// The host's processor works on the last run begun until this time.
    busy_until: Nanos,
    /// Sectors of the member not yet recovered; kept only if all are identified first.
    missing: RangeSet,
    /// Sectors of the member written during open queries; kept only without redundancy.
    written: RangeSet,
    ranges_done: u32,
    flushing: bool,
}

impl ActiveRepair {
    /// A recovery with record `id` that begins.
    pub(crate) fn new(id: RepairId, column: ColumnIndex, way: RepairWay, rate: Option<ByteRate>) -> Self {
        Self {
            id,
            column,
            way,
            rate,
            next_range: RangeIndex(0),
            spans: VecDeque::new(),
            queries: Vec::new(),
            items: VecDeque::new(),
            ops: 0,
            pacer: WorkPacer::new(),
            busy_until: Nanos::ZERO,
            missing: RangeSet::default(),
            written: RangeSet::default(),
            ranges_done: 0,
            flushing: false,
        }
    }

    /// Rows to be recovered.
    pub(crate) fn items(&self) -> impl Iterator<Item = &RepairRows> {
        self.items.iter()
    }

    /// Operations under way.
    pub(crate) fn operations(&self) -> usize {
        self.ops as usize
    }

    /// Takes the next range, which is to be queried.
    pub(crate) fn take_range(&mut self) -> RangeIndex {
        let range = self.next_range;
        self.next_range = range + 1;
        self.spans.push_back(RepairSpan { range, left: 0, answered: false });
        range
    }

    /// Notes that a range is queried.
    pub(crate) fn note_query(&mut self, now: Nanos, range: RangeIndex) {
        debug_assert!(
            self.queries.iter().all(|&(queried, _)| queried != range),
            "a range has one open query at a time"
        );
        self.queries.push((range, now));
    }

    /// Number of open queries.
    pub(crate) fn unanswered(&self) -> usize {
        self.queries.len()
    }

    /// Closes the query of a range; returns the time of the query, or `None` if there is none.
    pub(crate) fn take_answer(&mut self, range: RangeIndex) -> Option<Nanos> {
        let place = self.queries.iter().position(|&(queried, _)| queried == range)?;
        Some(self.queries.swap_remove(place).1)
    }

    /// Adds rows to be recovered; `sectors`: their sectors on the member, if these are tracked.
    pub(crate) fn list_rows(&mut self, item: RepairRows, sectors: Option<Range<u64>>) {
        self.items.push_back(item);
        if let Some(sectors) = sectors {
            self.missing.insert(sectors);
        }
    }

    /// Notes that all `count` items of a range are listed. Returns true if no query is open.
    pub(crate) fn range_listed(&mut self, range: RangeIndex, count: u32) -> bool {
        if let Some(span) = self.spans.iter_mut().find(|span| span.range == range) {
            // A range without lost rows is dropped at once.
            *span = RepairSpan { range, left: count, answered: true };
        }
        self.drop_done_spans();
        let all = self.queries.is_empty();
        if all {
            self.written = RangeSet::default();
        }
        all
    }

    /// True if every range has been queried and answered.
    pub(crate) fn knows_all(&self, ranges: u32) -> bool {
        self.next_range.0 == ranges && self.queries.is_empty()
    }

    /// True if recovery of some rows has not begun.
    pub(crate) fn has_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// True if any rows have been begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.pacer.has_begun()
    }

    /// The earliest start of the next rows, see [`WorkPacer::next_start`].
    pub(crate) fn next_start(
        &mut self,
        settings: &BackgroundConfig,
        now: Nanos,
        traffic: &[i64],
        fixed: Option<ByteRate>,
    ) -> NextStart {
        self.pacer.next_start(settings, now, self.ops as usize, traffic, fixed)
    }

    /// The host's processor works on the last run begun until this time.
    pub(crate) fn busy_until(&self) -> Nanos {
        self.busy_until
    }

    /// Takes the next rows, whose recovery begins.
    pub(crate) fn take_item(&mut self, now: Nanos, settings: &RepairConfig) -> Option<RepairRows> {
        let item = self.items.pop_front()?;
        let bytes = Bytes(u64::from(item.rows.len()) * SECTOR_BYTES);
        self.busy_until = now + settings.run_time();
        self.ops += 1;
        self.pacer.note_begun(now, bytes);
        Some(item)
    }

    /// Notes that an item of a range has been recovered; `sectors`: its sectors on the member.
    pub(crate) fn recovered(&mut self, range: RangeIndex, sectors: Option<Range<u64>>) {
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

    /// Notes that the member flushes.
    pub(crate) fn begin_flush(&mut self) {
        self.flushing = true;
    }

    /// True if the member is known to have lost some of these sectors, and has not got them back.
    pub(crate) fn lacks(&self, sectors: &Range<u64>) -> bool {
        self.missing.overlaps(sectors)
    }

    /// Notes sectors that the host has written while queries are open: the answers may list them as failed.
    pub(crate) fn note_written(&mut self, sectors: Range<u64>) {
        if !self.queries.is_empty() {
            self.written.insert(sectors);
        }
    }

    /// The part of `sectors` that the host has not written during open queries.
    pub(crate) fn not_written(&self, sectors: Range<u64>) -> RangeSet {
        let mut left = RangeSet::default();
        left.insert(sectors);
        self.written.iter().for_each(|written| left.remove(written));
        left
    }

    /// Takes all rows to be recovered, to be put back in another order.
    pub(crate) fn take_items(&mut self) -> VecDeque<RepairRows> {
        std::mem::take(&mut self.items)
    }

    /// Puts the rows to be recovered back.
    pub(crate) fn put_items(&mut self, items: VecDeque<RepairRows>) {
        debug_assert!(self.items.is_empty(), "items are put back once");
        self.items = items;
    }

    pub(crate) fn ranges_done(&self) -> u32 {
        self.ranges_done
    }

    /// Begins again with the first query, after a loss of power.
    pub(super) fn restart(&mut self) {
        // The processor of the host is busy, whatever happens to the members.
        *self = Self { busy_until: self.busy_until, ..Self::new(self.id, self.column, self.way, self.rate) };
    }

    fn drop_done_spans(&mut self) {
        let before = self.spans.len();
        self.spans.retain(|span| !span.answered || span.left > 0);
        self.ranges_done += to_count(before - self.spans.len());
    }
}

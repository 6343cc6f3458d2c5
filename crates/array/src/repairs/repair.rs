//! One recovery under way: what it has asked for, what it knows, and what it does next.

mod check;

use crate::layout::RowRange;
use crate::passes::{NextStart, WorkPacer};
use crate::ranges::RangeSet;
use outlast_decisions::RepairWay;
use outlast_settings::array::{BackgroundConfig, RepairConfig};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;
use std::ops::Range;

/// Rows of one chunk to be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct RepairRows {
    pub(crate) group: u64,
    pub(crate) rows: RowRange,
    pub(crate) readable: bool,
    pub(crate) range: u32,
    /// The first of them on the member.
    pub(crate) sector: u64,
}

/// A range that was asked for and is not yet recovered.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct RepairSpan {
    range: u32,
    /// Rows of it that are not yet recovered.
    left: u32,
    answered: bool,
}

/// What bounds a recovery in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepairLimits {
    /// Ranges of a member.
    pub(crate) ranges: u32,
    /// Ranges under way at once.
    pub(crate) queries: usize,
    /// True if nothing is recovered before everything that has failed is known.
    pub(crate) identify_first: bool,
    /// Operations under way at once.
    pub(crate) window: u32,
}

/// What a recovery in place does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepairAction {
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
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct ActiveRepair {
    /// Its place among the records.
    pub(crate) id: u32,
    pub(crate) column: usize,
    pub(crate) way: RepairWay,
    /// What it may use of the link.
    pub(crate) rate: Option<ByteRate>,
    /// The next range to ask for.
    next: u32,
    spans: VecDeque<RepairSpan>,
    /// Ranges that have no answer yet, and when each was asked for.
    asked: Vec<(u32, Nanos)>,
    /// Rows to be recovered.
    items: VecDeque<RepairRows>,
    /// Operations under way.
    ops: u32,
    pacer: WorkPacer,
    /// Until when the host's processor works on the last run begun.
    busy_until: Nanos,
    /// Sectors of the member not yet recovered; kept where all is known first only.
    missing: RangeSet,
    /// Sectors of the member written while it was asked; kept without redundancy only.
    written: RangeSet,
    ranges_done: u32,
    flushing: bool,
}

impl ActiveRepair {
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

    /// What comes next. Asking goes before recovering, so that there is always something to recover.
    pub(crate) fn next_action(&self, limits: &RepairLimits) -> RepairAction {
        if self.way != RepairWay::Die || self.flushing {
            return RepairAction::Wait;
        }
        let under_way = if limits.identify_first { self.asked.len() } else { self.spans.len() };
        let all_known = self.next == limits.ranges && self.asked.is_empty();
        if self.next < limits.ranges && under_way < limits.queries {
            RepairAction::Ask
        } else if all_known && self.items.is_empty() && self.ops == 0 {
            RepairAction::Flush
        } else if self.ops >= limits.window || limits.identify_first && !all_known || self.items.is_empty() {
            RepairAction::Wait
        } else {
            RepairAction::Recover
        }
    }

    /// The next range is taken up; it is to be asked for.
    pub(crate) fn take_range(&mut self) -> u32 {
        let range = self.next;
        self.next += 1;
        self.spans.push_back(RepairSpan { range, left: 0, answered: false });
        range
    }

    /// A range is asked for.
    pub(crate) fn note_query(&mut self, now: Nanos, range: u32) {
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
    pub(crate) fn take_answer(&mut self, range: u32) -> Option<Nanos> {
        let place = self.asked.iter().position(|&(asked, _)| asked == range)?;
        Some(self.asked.swap_remove(place).1)
    }

    /// Rows are to be recovered; `sectors`: theirs on the member, where they are kept.
    pub(crate) fn list_rows(&mut self, item: RepairRows, sectors: Option<Range<u64>>) {
        self.items.push_back(item);
        if let Some(sectors) = sectors {
            self.missing.insert(sectors);
        }
    }

    /// `count` rows of a range are listed. Returns whether no question is open.
    pub(crate) fn range_listed(&mut self, range: u32, count: u32) -> bool {
        if let Some(span) = self.spans.iter_mut().find(|span| span.range == range) {
            *span = RepairSpan { range, left: count, answered: true };
        }
        self.drop_done_spans();
        let all = self.asked.is_empty();
        if all {
            self.written = RangeSet::default();
        }
        all
    }

    /// True if every range has been asked for and has its answer.
    pub(crate) fn knows_all(&self, ranges: u32) -> bool {
        self.next == ranges && self.asked.is_empty()
    }

    /// True if there are rows whose recovery has not begun.
    pub(crate) fn has_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// True if any rows have been begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.pacer.has_begun()
    }

    /// Whether the next rows may be begun, as [`WorkPacer::next_start`] has it.
    pub(crate) fn next_start(
        &mut self,
        settings: &BackgroundConfig,
        now: Nanos,
        traffic: &[i64],
        fixed: Option<ByteRate>,
    ) -> NextStart {
        self.pacer.next_start(settings, now, self.ops as usize, traffic, fixed)
    }

    /// Until when the host's processor works on them.
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
    pub(crate) fn begin_flush(&mut self) {
        self.flushing = true;
    }

    /// True if the member is known to lack some of these sectors.
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
    pub(crate) fn take_items(&mut self) -> VecDeque<RepairRows> {
        std::mem::take(&mut self.items)
    }

    /// Puts them back.
    pub(crate) fn put_items(&mut self, items: VecDeque<RepairRows>) {
        debug_assert!(self.items.is_empty(), "items are put back once");
        self.items = items;
    }

    /// Ranges recovered.
    pub(crate) fn ranges_done(&self) -> u32 {
        self.ranges_done
    }

    /// Power was lost: everything is asked for again.
    pub(super) fn restart(&mut self) {
        *self = Self { busy_until: self.busy_until, ..Self::new(self.id, self.column, self.way, self.rate) };
    }

    fn drop_done_spans(&mut self) {
        let before = self.spans.len();
        self.spans.retain(|span| !span.answered || span.left > 0);
        self.ranges_done += (before - self.spans.len()) as u32;
    }
}

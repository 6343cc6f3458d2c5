//! Doubt after a loss of power: every record of writes under way, kept in one place.
//!
//! An array of mirrors or parity is *active* from the first host write until none has been under way for a while; md(4) calls the
//! time `safe_mode_delay`, keeps the state in the superblock of every member, and so does [`PowerLossDoubt`]. Marks (bitmap)
//! narrow the doubt down; records (partial parity log, journal) remove it.
//!
//! In doubt after a loss of power are the mark in the members' superblocks, bitmap, log and records, and the rows that the simulator knows to be torn. Tests
//! compare with md itself (`tests/md/`; decision 0024).

use crate::bitmap::IntentBitmap;
use crate::ids::{GroupIndex, GroupOpId};
use crate::layout::{RowRange, to_row};
use crate::log::RecordLog;
use crate::op::GroupRecord;
use crate::ranges::RangeSet;
use outlast_settings::array::{ArrayConfig, Consistency};
use outlast_units::{ListMap, Nanos};

/// The state in the members' superblocks, as md's safe mode keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
enum SafeModePhase {
    /// No write has been under way since redundancy was known to fit.
    Clean,
    /// Redundancy may not fit wherever power fails now.
    Active,
    /// No write is under way: members flush, then they are marked clean, unless a write comes before.
    Flushing,
}

/// Answers one question: after a loss of power, where may redundancy not fit?
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct PowerLossDoubt {
    policy: Consistency,
    /// True if there is redundancy that a loss of power can leave wrong, and no record that makes it right.
    #[persist(fixed)]
    tracked: bool,
    /// Time without a write after which an active array is marked clean; zero: never.
    #[persist(fixed)]
    delay: Nanos,
    mark: SafeModePhase,
    /// Host writes and trims accepted and not yet answered.
    writers: u32,
    /// Flushes of members under way.
    flushes: u32,
    /// When the array may be marked clean.
    wake: Nanos,
    /// First group that is in doubt since a loss of power.
    resync: Option<GroupIndex>,
    pub(crate) bitmap: IntentBitmap,
    pub(crate) log: RecordLog,
    /// Records of operations under way, by operation.
    pub(crate) records: ListMap<GroupOpId, GroupRecord>,
    /// Rows whose redundancy a loss of power left wrong, with no record: the simulator knows, the array does not. Row `r` of group `g` is
    /// number `g · chunk + r`.
    torn: RangeSet,
    chunk: u64,
}

impl PowerLossDoubt {
    /// The state of a new array of `groups` groups of `chunk` rows: nothing is in doubt.
    pub(crate) fn new(config: &ArrayConfig, groups: u64, chunk: u64) -> Self {
        let redundant = config.redundancy() > 0;
        let groups_per_region = (config.log.bitmap_chunk.0 / config.chunk.0).max(1);
        let uses_bitmap = config.consistency == Consistency::Bitmap && redundant;
        let regions = if uses_bitmap { groups.div_ceil(groups_per_region) } else { 0 };
        Self {
            policy: config.consistency,
            tracked: redundant && matches!(config.consistency, Consistency::Resync | Consistency::Bitmap),
            delay: config.safe_mode_delay,
            mark: SafeModePhase::Clean,
            writers: 0,
            flushes: 0,
            wake: Nanos::MAX,
            resync: None,
            bitmap: IntentBitmap::new(regions, groups_per_region),
            log: RecordLog::new(config.log.size.0),
            records: ListMap::default(),
            torn: RangeSet::default(),
            chunk,
        }
    }

    /// Checks that restored state belongs to these settings, `groups` groups and `chunk` rows.
    pub(crate) fn check_settings(&self, config: &ArrayConfig, groups: u64, chunk: u64) -> Result<(), String> {
        let expected = Self::new(config, groups, chunk);
        let settings = |doubt: &Self| {
            (doubt.policy, doubt.tracked, doubt.delay, doubt.chunk, doubt.bitmap.sizes(), doubt.log.size())
        };
        let end = self.torn.end();
        if settings(self) != settings(&expected) {
            return Err("state kept for a loss of power does not match the settings".to_owned());
        }
        if self.resync.is_some_and(|first| first.0 > groups) || end > groups * chunk {
            return Err(format!("group {:?} or row {end} of {groups} groups is in doubt", self.resync));
        }
        Ok(())
    }

    /// Checks the counts of writes, flushes and bitmap commands under way against those found.
    pub(crate) fn check_counts(&self, writes: usize, flushes: usize, marks: usize) -> Result<(), String> {
        let writes = if self.tracked { writes } else { 0 };
        let counted = [self.writers as usize, self.flushes as usize, self.bitmap.left()];
        if counted == [writes, flushes, marks] {
            Ok(())
        } else {
            let under_way = [writes, flushes, marks];
            Err(format!("writes, flushes and marks under way: {counted:?} counted, {under_way:?} found"))
        }
    }

    /// Counts a host write that begins; from now on the array is active (md's `md_write_start`).
    pub(crate) fn write_begins(&mut self) {
        if self.tracked {
            self.writers += 1;
            self.mark = SafeModePhase::Active;
        }
    }

    /// Counts a host write that is answered (md's `md_write_end`): unless more come, the array becomes clean after a while. md rounds the time up to a
    /// multiple of the delay before it adds the delay, so that its timer moves rarely.
    pub(crate) fn write_ends(&mut self, now: Nanos) {
        if self.tracked {
            self.writers -= 1;
            if self.delay > Nanos::ZERO {
                let rounded = now.0.div_ceil(self.delay.0).saturating_mul(self.delay.0);
                self.wake = Nanos(rounded.saturating_add(self.delay.0));
            }
        }
    }

    /// The time at which something is due without an input.
    #[inline]
    pub(crate) fn deadline(&self) -> Nanos {
        self.wake.min(self.bitmap.wake())
    }

    /// True if operations wait for room for their record, or for a mark: else [`PowerLossDoubt::is_any_ready`] need not be asked.
    #[inline]
    pub(crate) fn may_be_ready(&self) -> bool {
        self.log.may_be_ready() | self.bitmap.may_be_ready()
    }

    /// True if an operation has got its mark or room for its record, or marks may be written.
    #[inline]
    pub(crate) fn is_any_ready(&self) -> bool {
        self.log.is_ready() || self.bitmap.is_ready()
    }

    /// Operations that have a record, or wait for room for one or for a mark.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = GroupOpId> {
        self.records.keys().chain(self.log.waiting()).chain(self.bitmap.waiting())
    }

    /// First group that is in doubt since a loss of power, while any is.
    #[inline]
    pub(crate) fn resync(&self) -> Option<GroupIndex> {
        self.resync
    }

    /// Moves the start of the doubt to `group`.
    pub(crate) fn resynced_up_to(&mut self, group: GroupIndex) {
        debug_assert!(self.resync.is_some_and(|first| first <= group), "a resynchronisation goes forward");
        self.resync = Some(group);
    }

    /// True if the time for marking the array clean has come, and members are to flush for it.
    pub(crate) fn is_clean_due(&mut self, now: Nanos) -> bool {
        self.wake <= now && self.is_idle(now)
    }

    /// Handles the timer: returns true if members are to flush so that the array can be marked clean. If a write is under way, its end
    /// sets the timer anew.
    fn is_idle(&mut self, now: Nanos) -> bool {
        let idle = self.writers == 0 && self.mark == SafeModePhase::Active;
        // Flushes of an earlier attempt are still under way: try again after the delay.
        let waits = idle && self.flushes > 0;
        self.wake = if waits { Nanos(now.0.saturating_add(self.delay.0)) } else { Nanos::MAX };
        if idle && !waits {
            self.mark = SafeModePhase::Flushing;
        }
        idle && !waits
    }

    /// Counts `count` more flushes under way.
    pub(crate) fn flushing(&mut self, count: u32) {
        self.flushes += count;
    }

    /// Counts a flush that has ended; the last one makes the array clean, unless a write has begun meanwhile, the end of which sets the
    /// timer anew.
    pub(crate) fn flushed(&mut self) {
        self.flushes -= 1;
        if self.flushes == 0 && self.mark == SafeModePhase::Flushing {
            self.mark = SafeModePhase::Clean;
        }
    }

    /// True if redundancy of `group` cannot be trusted: a resynchronisation has yet to come by. As in md the place of the pass decides,
    /// even where a bitmap says that it will find nothing.
    #[inline]
    pub(crate) fn distrusts(&self, group: GroupIndex) -> bool {
        self.resync.is_some_and(|first| group >= first)
    }

    /// True if a resynchronisation has to look at `group`.
    pub(crate) fn must_resync(&self, group: GroupIndex) -> bool {
        !self.bitmap.is_used() || self.bitmap.is_in_doubt(group)
    }

    /// Derives the groups in doubt from a loss of power.
    pub(crate) fn after_power_cut(&mut self) {
        // A mark of `Flushing` is not yet durable, so the array was still active.
        let active = self.mark != SafeModePhase::Clean;
        (self.mark, self.writers, self.flushes, self.wake) = (SafeModePhase::Clean, 0, 0, Nanos::MAX);
        self.log.clear();
        let marked = self.bitmap.after_power_cut(active);
        let in_doubt = match self.policy {
            Consistency::Resync => active,
            Consistency::Bitmap => active && marked,
            // Records are replayed instead.
            Consistency::Ppl | Consistency::Journal => false,
        };
        if in_doubt {
            self.resync = Some(GroupIndex(0));
        }
    }

    /// Ends the doubt, after a resynchronisation of all groups.
    pub(crate) fn resynced(&mut self, now: Nanos, bitmap_delay: Nanos) {
        self.resync = None;
        self.bitmap.resynced(now, bitmap_delay);
    }

    fn range(&self, group: GroupIndex, rows: RowRange) -> std::ops::Range<u64> {
        let first = group.0 * self.chunk;
        first + u64::from(rows.first)..first + u64::from(rows.end)
    }

    /// Marks rows whose writes a loss of power has cut off.
    pub(crate) fn mark_torn(&mut self, group: GroupIndex, rows: RowRange) {
        self.torn.insert(self.range(group, rows));
    }

    /// True if redundancy of any rows is wrong.
    #[inline]
    pub(crate) fn is_any_torn(&self) -> bool {
        !self.torn.is_empty()
    }

    /// Clears the mark of rows whose redundancy matches the data again.
    pub(crate) fn clear_torn(&mut self, group: GroupIndex, rows: RowRange) {
        if !self.torn.is_empty() {
            self.torn.remove(self.range(group, rows));
        }
    }

    /// Number of rows among these whose redundancy does not match the data.
    pub(crate) fn torn_rows(&self, group: GroupIndex, rows: RowRange) -> u32 {
        let range = self.range(group, rows);
        let mut count = 0;
        let mut at = range.start;
        while at < range.end {
            // From edge to edge, between which rows are all torn or all not.
            let next = self.torn.next_edge(at).map_or(range.end, |edge| edge.min(range.end));
            if self.torn.overlaps(&(at..at + 1)) {
                count += next - at;
            }
            at = next;
        }
        to_row(count)
    }

    /// Groups with torn rows, rising.
    pub(crate) fn torn_groups(&self) -> Vec<GroupIndex> {
        let of = |run: std::ops::Range<u64>| run.start / self.chunk..(run.end - 1) / self.chunk + 1;
        let mut groups: Vec<GroupIndex> = self.torn.iter().flat_map(of).map(GroupIndex).collect();
        // Runs are in rising order, so that equal groups are neighbours.
        groups.dedup();
        groups
    }

    /// True if any operation or timer is left.
    pub(crate) fn is_settled(&self) -> bool {
        self.writers == 0 && self.log.in_use() == 0 && self.records.is_empty()
    }
}

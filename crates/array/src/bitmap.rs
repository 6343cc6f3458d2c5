//! The write-intent bitmap: regions are marked before they are written and unmarked long after.

mod check;
mod region;
mod waits;

use crate::ids::{GroupIndex, GroupOpId};
use outlast_units::{Nanos, to_length};
use region::BitmapRegion;
use std::collections::VecDeque;

/// Sectors of one write of the bitmap: a page of 4 KiB.
pub(crate) const PAGE_SECTORS: u32 = 8;

/// Steps of an update of the bitmap on the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum BitmapPhase {
    No,
    Setting,
    /// Members flush before marks are cleared.
    Flushing,
    Clearing,
}

/// Marks by region of groups.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct IntentBitmap {
    regions: Vec<BitmapRegion>,
    #[persist(fixed)]
    groups_per_region: u64,
    phase: BitmapPhase,
    left: u32,
    /// Regions of the write under way, and of the next.
    batch: Vec<usize>,
    next: Vec<usize>,
    /// Operations that wait for the write under way, and for the next.
    waiting: Vec<GroupOpId>,
    waiting_next: Vec<GroupOpId>,
    /// Operations whose mark is durable, and that have yet to continue.
    marked: VecDeque<GroupOpId>,
    durable: u64,
    flush_started: Nanos,
    wake: Nanos,
}

impl IntentBitmap {
    pub(crate) fn new(regions: u64, groups_per_region: u64) -> Self {
        Self {
            regions: vec![BitmapRegion::default(); to_length(regions)],
            groups_per_region,
            phase: BitmapPhase::No,
            left: 0,
            batch: Vec::new(),
            next: Vec::new(),
            waiting: Vec::new(),
            waiting_next: Vec::new(),
            marked: VecDeque::new(),
            durable: 0,
            flush_started: Nanos::ZERO,
            wake: Nanos::MAX,
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        !self.regions.is_empty()
    }

    fn region(&self, group: GroupIndex) -> usize {
        to_length(group.0 / self.groups_per_region)
    }

    /// Regions, and groups of each.
    pub(crate) fn sizes(&self) -> (usize, u64) {
        (self.regions.len(), self.groups_per_region)
    }

    /// Regions.
    pub(crate) fn len(&self) -> usize {
        self.regions.len()
    }

    /// The region of `group`, where there are any.
    pub(crate) fn region_of(&self, group: GroupIndex) -> Option<usize> {
        self.is_used().then(|| self.region(group))
    }

    /// True if the mark of `group` is on the members.
    pub(crate) fn is_durable(&self, group: GroupIndex) -> bool {
        self.region_of(group).and_then(|region| self.regions.get(region)).is_some_and(|region| region.durable)
    }

    /// Commands to members under way.
    pub(crate) fn left(&self) -> usize {
        self.left as usize
    }

    /// Marks the region of `group` for operation `op`, which is about to write there. Returns false if the operation has to wait for the mark.
    pub(crate) fn mark(&mut self, group: GroupIndex, op: GroupOpId) -> bool {
        if !self.is_used() {
            return true;
        }
        let index = self.region(group);
        let region = &mut self.regions[index];
        // Counted from here on, so that the mark is not cleared before the write begins.
        region.writers += 1;
        if region.durable {
            return true;
        }
        if region.is_writing {
            self.waiting.push(op);
            return false;
        }
        if !region.is_pending {
            region.is_pending = true;
            self.next.push(index);
        }
        self.waiting_next.push(op);
        false
    }

    /// The step that the bitmap is at.
    pub(crate) fn phase(&self) -> BitmapPhase {
        self.phase
    }

    /// Begins to write the requested marks; returns false if there are none, or the bitmap is being written.
    pub(crate) fn begin_marking(&mut self) -> bool {
        if self.phase != BitmapPhase::No || self.next.is_empty() {
            return false;
        }
        assert!(
            self.batch.is_empty() && self.waiting.is_empty(),
            "marks are written one batch after the other"
        );
        self.phase = BitmapPhase::Setting;
        // The lists swap, so that their memory is reused; `batch` and `waiting` are empty.
        std::mem::swap(&mut self.batch, &mut self.next);
        std::mem::swap(&mut self.waiting, &mut self.waiting_next);
        for &index in &self.batch {
            let region = &mut self.regions[index];
            (region.is_pending, region.is_writing) = (false, true);
        }
        true
    }

    /// Begins to take marks of quiet regions away, unless the bitmap is being written: then it is tried again after `delay`. Returns whether
    /// members are to flush for that.
    pub(crate) fn begin_clearing(&mut self, now: Nanos, delay: Nanos) -> bool {
        if self.phase != BitmapPhase::No {
            self.wake = now + delay;
            return false;
        }
        self.wake = Nanos::MAX;
        self.phase = BitmapPhase::Flushing;
        self.flush_started = now;
        true
    }

    /// Sets the number of member commands of this step.
    pub(crate) fn sent(&mut self, count: u32) {
        debug_assert!(self.left == 0 && self.phase != BitmapPhase::No, "one step of the bitmap at a time");
        self.left = count;
    }

    /// Counts a member command that has ended; returns true if it was the last.
    pub(crate) fn part_done(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// The members have done what they were asked. Returns whether there is more to ask: marks are taken away once members have flushed.
    /// `resyncs`: whether regions are in doubt, whose marks stay.
    pub(crate) fn step_done(&mut self, now: Nanos, delay: Nanos, resyncs: bool) -> bool {
        match self.phase {
            BitmapPhase::No => unreachable!("the bitmap has commands only while it is busy"),
            BitmapPhase::Setting => {
                for index in self.batch.drain(..) {
                    let region = &mut self.regions[index];
                    (region.durable, region.is_writing) = (true, false);
                    self.durable += 1;
                }
                self.marked.extend(self.waiting.drain(..));
                self.phase = BitmapPhase::No;
                false
            }
            BitmapPhase::Flushing => {
                // The flush covers writes that had ended before it began. Regions that were written since keep their marks.
                for region in &mut self.regions {
                    let quiet = region.writers == 0
                        && region.last_write + delay <= self.flush_started
                        && !region.in_doubt;
                    if region.durable && quiet {
                        region.durable = false;
                        self.durable -= 1;
                    }
                }
                self.phase = BitmapPhase::Clearing;
                true
            }
            BitmapPhase::Clearing => {
                self.phase = BitmapPhase::No;
                // During a resynchronisation marks stay, so that there is nothing to clear until it ends.
                if self.durable > 0 && !resyncs {
                    self.wake = now + delay;
                }
                false
            }
        }
    }

    /// Ends the use of a mark by an operation; the mark may be cleared after `delay`.
    pub(crate) fn unmark(&mut self, now: Nanos, group: GroupIndex, delay: Nanos) {
        let index = self.region(group);
        let region = &mut self.regions[index];
        debug_assert!(region.writers > 0 && region.durable, "a region is marked while it is written");
        region.writers -= 1;
        region.last_write = now;
        // A timer that is set already comes first; it is set again if this mark is not quiet by then.
        if self.wake == Nanos::MAX {
            self.wake = now + delay;
        }
    }

    /// True if a loss of power left `group` in doubt.
    pub(crate) fn is_in_doubt(&self, group: GroupIndex) -> bool {
        self.regions[self.region(group)].in_doubt
    }

    /// Time at which marks may be cleared.
    #[inline]
    pub(crate) fn wake(&self) -> Nanos {
        self.wake
    }

    /// Marked regions.
    pub(crate) fn marked(&self) -> u64 {
        self.durable
    }

    /// After a loss of power: what is marked is in doubt if the array was active, and nothing is under way. Returns whether anything is.
    pub(crate) fn after_power_cut(&mut self, active: bool) -> bool {
        for region in &mut self.regions {
            // A mark whose write was under way may have made it; to count it in is safe.
            region.durable |= region.is_pending || region.is_writing;
            region.in_doubt |= active && region.durable;
            (region.is_pending, region.is_writing, region.writers) = (false, false, 0);
        }
        self.durable = self.regions.iter().filter(|region| region.durable).count() as u64;
        (self.phase, self.left) = (BitmapPhase::No, 0);
        self.batch.clear();
        self.next.clear();
        self.waiting.clear();
        self.waiting_next.clear();
        self.marked.clear();
        self.wake = Nanos::MAX;
        self.durable > 0
    }

    /// Restarts the timer after a loss of power, for marks of regions that are not in doubt.
    pub(crate) fn resume(&mut self, now: Nanos, delay: Nanos) {
        if self.durable > 0 && self.wake == Nanos::MAX {
            self.wake = now + delay;
        }
    }

    /// Ends the doubt of all regions.
    pub(crate) fn resynced(&mut self, now: Nanos, delay: Nanos) {
        for region in &mut self.regions {
            region.in_doubt = false;
        }
        self.resume(now, delay);
    }
}

#[cfg(test)]
mod tests;

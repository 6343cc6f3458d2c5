//! The write-intent bitmap: regions are marked before they are written and unmarked long after.

use crate::array::{Array, command};
use crate::config::LogPlace;
use crate::layout::Rows;
use crate::op::{Sub, SubKind};
use outlast_device::{Command, Device, Op as HostOp};
use outlast_units::Nanos;
use outlast_units::slab::NIL;

/// Sectors of one write of the bitmap: a page of 4 KiB.
const PAGE_SECTORS: u32 = 8;

#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a mark can be any of these at once")]
struct Region {
    /// The mark is on the members.
    durable: bool,
    /// A write of the bitmap with the mark is wanted, or under way.
    wanted: bool,
    writing: bool,
    /// Operations that write in the region.
    writers: u32,
    /// A loss of power left the region in doubt.
    pub(crate) in_doubt: bool,
    last_write: Nanos,
}

/// What the bitmap is doing with the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Busy {
    No,
    Setting,
    /// Members flush before marks go.
    Flushing,
    Clearing,
}

/// Marks by region of groups.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    regions: Vec<Region>,
    groups_per_region: u64,
    busy: Busy,
    left: u32,
    /// Regions of the write under way, and of the next.
    batch: Vec<u64>,
    next: Vec<u64>,
    /// Operations that wait for the write under way, and for the next.
    waiting: Vec<u32>,
    waiting_next: Vec<u32>,
    durable: u64,
    flush_started: Nanos,
    pub(crate) wake: Nanos,
}

impl Bitmap {
    pub(crate) fn new(regions: u64, groups_per_region: u64) -> Self {
        Self {
            regions: vec![Region::default(); regions as usize],
            groups_per_region,
            busy: Busy::No,
            left: 0,
            batch: Vec::new(),
            next: Vec::new(),
            waiting: Vec::new(),
            waiting_next: Vec::new(),
            durable: 0,
            flush_started: Nanos::ZERO,
            wake: Nanos::MAX,
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        !self.regions.is_empty()
    }

    fn region(&self, group: u64) -> u64 {
        group / self.groups_per_region
    }

    /// An operation is about to write `group`. Returns whether it may; else it will be resumed.
    pub(crate) fn mark(&mut self, group: u64, op: u32) -> bool {
        if !self.is_used() {
            return true;
        }
        let index = self.region(group);
        let region = &mut self.regions[index as usize];
        region.writers += 1;
        if region.durable {
            return true;
        }
        if region.writing {
            self.waiting.push(op);
            return false;
        }
        if !region.wanted {
            region.wanted = true;
            self.next.push(index);
        }
        self.waiting_next.push(op);
        false
    }

    pub(crate) fn unmark(&mut self, now: Nanos, group: u64, delay: Nanos) {
        let index = self.region(group) as usize;
        let region = &mut self.regions[index];
        region.writers -= 1;
        region.last_write = now;
        if self.wake == Nanos::MAX {
            self.wake = now + delay;
        }
    }

    /// Whether a loss of power left `group` in doubt.
    pub(crate) fn is_in_doubt(&self, group: u64) -> bool {
        self.regions[self.region(group) as usize].in_doubt
    }

    /// Marked regions.
    pub(crate) fn marked(&self) -> u64 {
        self.durable
    }

    /// After a loss of power: what is marked is in doubt if the array was active, and nothing is under way. Returns whether anything is.
    pub(crate) fn after_power_cut(&mut self, active: bool) -> bool {
        for region in &mut self.regions {
            // A mark whose write was under way may have made it; to count it in is safe.
            region.durable |= region.wanted || region.writing;
            region.in_doubt |= active && region.durable;
            (region.wanted, region.writing, region.writers) = (false, false, 0);
        }
        self.durable = self.regions.iter().filter(|region| region.durable).count() as u64;
        (self.busy, self.left) = (Busy::No, 0);
        self.batch.clear();
        self.next.clear();
        self.waiting.clear();
        self.waiting_next.clear();
        self.wake = Nanos::MAX;
        self.durable > 0
    }

    /// Power is back: marks that nothing is in doubt about go when their time has come.
    pub(crate) fn resume(&mut self, now: Nanos, delay: Nanos) {
        if self.durable > 0 && self.wake == Nanos::MAX {
            self.wake = now + delay;
        }
    }

    /// Everything is in doubt no more.
    pub(crate) fn resynced(&mut self, now: Nanos, delay: Nanos) {
        for region in &mut self.regions {
            region.in_doubt = false;
        }
        self.resume(now, delay);
    }
}

impl<D: Device> Array<D> {
    /// Writes marks that are wanted, unless the bitmap is being written.
    pub(crate) fn bitmap_pump(&mut self, now: Nanos) {
        if self.doubt.bitmap.busy != Busy::No || self.doubt.bitmap.next.is_empty() {
            return;
        }
        let bitmap = &mut self.doubt.bitmap;
        bitmap.busy = Busy::Setting;
        std::mem::swap(&mut bitmap.batch, &mut bitmap.next);
        std::mem::swap(&mut bitmap.waiting, &mut bitmap.waiting_next);
        for &index in &bitmap.batch {
            let region = &mut bitmap.regions[index as usize];
            (region.wanted, region.writing) = (false, true);
        }
        self.bitmap_write(now);
    }

    fn bitmap_write(&mut self, now: Nanos) {
        self.doubt.bitmap.left = 1;
        if self.config.log.place == LogPlace::Members {
            let rows = Rows::new(0, PAGE_SECTORS);
            for column in 0..self.columns.len() {
                if self.columns[column].device.is_none() {
                    continue;
                }
                self.doubt.bitmap.left += 1;
                self.counters.log_writes += 1;
                let (kind, owner) = (SubKind::Bitmap, NIL);
                let sub = Sub { live: true, kind, column: column as u8, role: 0, owner, group: 0, rows };
                let write = Command { fua: true, ..command(HostOp::Write, self.member_sectors, rows) };
                self.send(now, sub, write, &[]);
            }
        }
        self.bitmap_done(now);
    }

    pub(crate) fn bitmap_done(&mut self, now: Nanos) {
        self.doubt.bitmap.left -= 1;
        if self.doubt.bitmap.left > 0 {
            return;
        }
        match self.doubt.bitmap.busy {
            Busy::No => unreachable!("the bitmap has commands only while it is busy"),
            Busy::Setting => {
                let bitmap = &mut self.doubt.bitmap;
                for index in bitmap.batch.drain(..) {
                    let region = &mut bitmap.regions[index as usize];
                    (region.durable, region.writing) = (true, false);
                    bitmap.durable += 1;
                }
                bitmap.busy = Busy::No;
                let mut waiting = std::mem::take(&mut bitmap.waiting);
                for op in waiting.drain(..) {
                    self.gather(now, op);
                }
                self.doubt.bitmap.waiting = waiting;
            }
            Busy::Flushing => {
                let delay = self.config.log.bitmap_delay;
                let bitmap = &mut self.doubt.bitmap;
                for region in &mut bitmap.regions {
                    let quiet = region.writers == 0
                        && region.last_write + delay <= bitmap.flush_started
                        && !region.in_doubt;
                    if region.durable && quiet {
                        region.durable = false;
                        bitmap.durable -= 1;
                    }
                }
                bitmap.busy = Busy::Clearing;
                self.bitmap_write(now);
                return;
            }
            Busy::Clearing => {
                self.doubt.bitmap.busy = Busy::No;
                if self.doubt.bitmap.durable > 0 && self.doubt.resync.is_none() {
                    self.doubt.bitmap.wake = now + self.config.log.bitmap_delay;
                }
            }
        }
        self.bitmap_pump(now);
    }

    /// Takes the marks of quiet regions away, once the members have flushed.
    pub(crate) fn bitmap_daemon(&mut self, now: Nanos) {
        self.doubt.bitmap.wake = Nanos::MAX;
        if self.doubt.bitmap.busy != Busy::No {
            self.doubt.bitmap.wake = now + self.config.log.bitmap_delay;
            return;
        }
        self.doubt.bitmap.busy = Busy::Flushing;
        self.doubt.bitmap.flush_started = now;
        self.doubt.bitmap.left = 1;
        for column in 0..self.deadlines.len() {
            if self.device_mut(column).is_some() {
                self.doubt.bitmap.left += 1;
                self.send_flush(now, column, SubKind::Bitmap, NIL);
            }
        }
        self.bitmap_done(now);
    }
}

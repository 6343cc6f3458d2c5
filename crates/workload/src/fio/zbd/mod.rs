//! Zones as fio sees them with `zonemode=zbd` (`zbd.c` of fio 3.33): the write pointers and open zones of the device, which all jobs share, and where each
//! request goes. A job holds the zone of a request from the moment it is placed until it is reaped, and others wait for it, as in fio.

mod options;
mod place;
mod plan;

pub(super) use options::ZbdOptions;
pub(super) use place::{Asked, PlaceStage, Placed};
pub(super) use plan::{ZbdPlan, in_bytes, shared};

use super::job_options::AccessPlan;
use super::offsets::{ByteRange, TRIM, WRITE};
use outlast_units::{Lba, SECTOR_BYTES};

/// Zones of the device that jobs with `zonemode=zbd` share.
#[derive(Clone, Debug)]
pub(super) struct HostZones {
    /// From the start of one zone to that of the next, and how much of a zone can be written, in bytes.
    size: u64,
    capacity: u64,
    /// True if the device has zones, so that resets are commands; else they are fio's own, over a device that is written anywhere.
    is_zoned: bool,
    /// Most open zones of all jobs; 0: no limit, and none is kept account of.
    max_open: u32,
    /// Bytes of each zone before its write pointer.
    written: Vec<u64>,
    /// Zones that are open, in the order in which they were opened.
    open: Vec<u32>,
    /// Zones to be reset before the next write.
    to_reset: Vec<bool>,
    /// The job that holds each zone, and for how many requests.
    holders: Vec<(u32, u32)>,
    /// Zones that each job has opened and not closed.
    opened_by: Vec<u32>,
    /// Bytes before the write pointers; as in fio, the job that last began a pass counts its own zones.
    with_data: u64,
    /// Writes until the next zone is reset (`zone_reset_frequency`).
    writes_left: u64,
    /// Jobs that wait for a zone that another one holds, and true if any was let go since they were last woken.
    waiting: Vec<u32>,
    has_let_go: bool,
}

impl HostZones {
    /// Zones of `size` bytes, of which `capacity` can be written; the first `filled` are full.
    pub(super) fn new(
        (size, capacity, count): (u64, u64, u32),
        filled: u32,
        max_open: u32,
        is_zoned: bool,
        jobs: usize,
    ) -> Self {
        let count = count as usize;
        Self {
            size,
            capacity,
            is_zoned,
            max_open,
            written: (0..count).map(|zone| if zone < filled as usize { capacity } else { 0 }).collect(),
            open: Vec::new(),
            to_reset: vec![false; count],
            holders: vec![(0, 0); count],
            opened_by: vec![0; jobs],
            with_data: 0,
            writes_left: u64::from(u32::MAX),
            waiting: Vec::new(),
            has_let_go: false,
        }
    }

    /// The first sector of `zone`.
    pub(super) fn start_lba(&self, zone: u32) -> Lba {
        Lba(self.start(zone) / SECTOR_BYTES)
    }

    /// A pass of a job begins: what is written of its zones counts from here on, and the writes to the next reset (fio's `zbd_file_reset`).
    pub(super) fn begin_pass(&mut self, plan: &ZbdPlan) {
        let zones = plan.first_zone as usize..plan.end_zone as usize;
        self.with_data = self.written[zones].iter().sum();
        self.count_writes_anew(plan);
    }

    fn count_writes_anew(&mut self, plan: &ZbdPlan) {
        let every = if plan.reset_frequency > 0.0 { 1.0 / plan.reset_frequency } else { f64::MAX };
        self.writes_left = every.min(f64::from(u32::MAX)) as u64;
    }

    /// True if a job may read: something is written, or it reads beyond write pointers (fio's `zbd_adjust_ddir`).
    pub(super) fn may_read(&self, plan: &ZbdPlan) -> bool {
        self.with_data != 0 || plan.read_beyond_wp
    }

    /// Where a sequential writer goes on that ended its last request at `end`: behind the capacity of a zone the next one begins.
    pub(super) fn skip_gap(&self, end: u64) -> u64 {
        let start = end / self.size * self.size;
        if end - start >= self.capacity { start + self.size } else { end }
    }

    /// `zone` has been reset.
    pub(super) fn was_reset(&mut self, zone: u32) {
        let written = std::mem::take(&mut self.written[zone as usize]);
        self.with_data = self.with_data.saturating_sub(written);
    }

    /// A request at `range` in direction `ddir` is issued: the write pointer moves (fio's `zbd_queue_io`).
    pub(super) fn issued(&mut self, ddir: usize, range: ByteRange) {
        let zone = self.zone_of(range.offset);
        match ddir {
            WRITE => {
                self.written[zone as usize] += range.bytes;
                self.with_data += range.bytes;
            }
            TRIM => self.was_reset(zone),
            _ => {}
        }
    }

    /// The request at `range` of `job` in direction `ddir` is reaped: its zone is closed if it is full now, and held no more (fio's `zbd_put_io`).
    pub(super) fn reaped(&mut self, job: u32, ddir: usize, range: ByteRange) {
        let zone = self.zone_of(range.offset);
        if ddir == WRITE && range.offset + range.bytes >= self.start(zone) + self.capacity {
            self.close(job, zone);
        }
        self.let_go(zone);
    }

    /// Adds to `woken` the jobs that wait for a zone and are to be asked again, after a step of `job`, which knows how zones stand.
    pub(super) fn take_woken(&mut self, job: u32, woken: &mut Vec<u32>) {
        if std::mem::take(&mut self.has_let_go) {
            woken.extend(self.waiting.extract_if(.., |own| *own != job));
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "a device has at most 2^32 zones")]
    fn zone_of(&self, offset: u64) -> u32 {
        ((offset / self.size) as u32).min(self.written.len() as u32 - 1)
    }

    fn start(&self, zone: u32) -> u64 {
        u64::from(zone) * self.size
    }

    /// True if fewer than `bytes` remain in `zone`.
    fn lacks(&self, zone: u32, bytes: u64) -> bool {
        self.written[zone as usize] + bytes > self.capacity
    }

    fn is_open(&self, zone: u32) -> bool {
        self.open.contains(&zone)
    }

    /// True if another job than `job` holds `zone`.
    fn is_held_from(&self, job: u32, zone: u32) -> bool {
        let (holder, count) = self.holders[zone as usize];
        count != 0 && holder != job
    }

    fn hold(&mut self, job: u32, zone: u32) {
        let own = &mut self.holders[zone as usize];
        debug_assert!(own.1 == 0 || own.0 == job, "zone {zone} is another job's");
        *own = (job, own.1 + 1);
    }

    fn let_go(&mut self, zone: u32) {
        let own = &mut self.holders[zone as usize].1;
        *own -= 1;
        self.has_let_go |= *own == 0;
    }

    /// Opens `zone` for `job` (fio's `zbd_open_zone`); false if a limit does not allow it, or writes in flight fill it.
    fn try_open(&mut self, job: u32, zone: u32, plan: &ZbdPlan) -> bool {
        if self.max_open == 0 {
            return true;
        }
        if self.is_open(zone) {
            return self.written[zone as usize] < self.capacity;
        }
        let own = self.opened_by[job as usize];
        if (plan.job_max_open != 0 && own >= plan.job_max_open) || self.open.len() >= self.max_open as usize {
            return false;
        }
        self.open.push(zone);
        self.opened_by[job as usize] += 1;
        true
    }

    fn close(&mut self, job: u32, zone: u32) {
        if let Some(at) = self.open.iter().position(|&own| own == zone) {
            self.open.remove(at);
            let own = &mut self.opened_by[job as usize];
            // As in fio, the job that closes a zone need not be the one that opened it.
            *own = own.wrapping_sub(1);
        }
    }

    /// Number of the open zone that a request at `offset` of a job would take (fio's `pick_random_zone_idx`).
    fn picked(&self, access: &AccessPlan, offset: u64) -> usize {
        let all = u128::from(offset - access.start) * self.open.len() as u128;
        (all / u128::from(access.length)) as usize
    }
}

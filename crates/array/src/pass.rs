//! Passes over all groups: rebuild, resynchronisation, moving parity, scrub. One at a time, a window of groups under way.

use crate::array::Array;
use crate::config::ShiftWay;
use crate::error::EventKind;
use crate::layout::{Map, Rows, Shift};
use crate::op::{Op, OpKind};
use crate::placement::{Placement, ShiftPlan};
use outlast_device::Device;
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use serde::Serialize;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassKind {
    /// Fills new members (md: recovery); parity moves on the way where it has to.
    Rebuild,
    /// Makes parity fit data after a loss of power (md: resync).
    Resync,
    /// Moves parity (md: reshape).
    Shift,
    /// Looks at everything (md: check, repair).
    Scrub,
    /// Gives a member back what it has lost with a die. Not a pass over groups: it goes on beside a rebuild.
    Repair,
}

/// A pass under way.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) kind: PassKind,
    /// Groups below this are done; bits of `done` tell which of the next 64 are.
    pub(crate) base: u64,
    done: u64,
    next: u64,
    in_flight: u32,
    pub(crate) first: u64,
    pub(crate) started: Nanos,
    epoch: u32,
    last_start: Option<Nanos>,
}

/// A scrub that is wanted or under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scrub {
    pub(crate) base: u64,
    pub(crate) repair: bool,
    mismatches_before: u64,
}

/// Everything that the array does for itself.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    pub(crate) pass: Option<Pass>,
    epoch: u32,
    /// When to look again.
    pub(crate) wake: Nanos,
    /// Look as soon as the event at hand is done.
    pub(crate) pump: bool,
    pub(crate) scrub: Option<Scrub>,
    scrub_interval: Option<Nanos>,
    /// When the next scrub is due.
    pub(crate) next_scrub: Nanos,
    /// A shift that waits for reads without locks to end; `true`: the lazy way.
    pub(crate) pending_shift: Option<(ShiftPlan, bool)>,
    /// Another replacement came before parity was where the last one wanted it.
    replan: bool,
    shifting: bool,
}

impl Background {
    pub(crate) fn new(scrub_interval: Option<Nanos>) -> Self {
        Self {
            pass: None,
            epoch: 0,
            wake: Nanos::MAX,
            next_scrub: scrub_interval.unwrap_or(Nanos::MAX),
            pump: false,
            scrub: None,
            scrub_interval,
            pending_shift: None,
            replan: false,
            shifting: false,
        }
    }

    /// Whether reads need no special care on account of what is under way.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        !self.shifting && self.pending_shift.is_none()
    }

    pub(crate) fn after_power_cut(&mut self) {
        self.pass = None;
        self.epoch += 1;
        self.pump = true;
    }
}

impl<D: Device> Array<D> {
    /// Looks at every sector and counts redundancy that does not fit; `repair` makes it fit. Sectors that cannot be read are rewritten
    /// from redundancy in either case.
    pub fn start_scrub(&mut self, now: Nanos, repair: bool) {
        self.catch_up(now);
        self.background.scrub = Some(self.new_scrub(repair));
        if self.background.pass.as_ref().is_some_and(|pass| pass.kind == PassKind::Scrub) {
            self.background.pass = None;
        }
        self.background.pump = true;
        self.settle(now);
    }

    fn new_scrub(&self, repair: bool) -> Scrub {
        Scrub { base: 0, repair, mismatches_before: self.counters.mismatches }
    }

    /// Carries a lazy shift to its end with a pass.
    pub fn finish_shift(&mut self, now: Nanos) {
        self.catch_up(now);
        if let Some(shift) = self.layout.shift_mut() {
            shift.lazy = false;
        }
        if let Some((_, lazy)) = &mut self.background.pending_shift {
            *lazy = false;
        }
        self.background.pump = true;
        self.settle(now);
    }

    /// Parity that is not yet where it shall be, in stripes.
    pub fn stripes_to_move(&self) -> u64 {
        self.layout.shift().map_or(0, |shift| shift.left)
    }

    /// The percentage of all parity chunks on each member, as they now lie over the period (a shift under way counts as done).
    pub fn parity_percent(&self) -> Vec<f64> {
        let Map::Striped(striped) = &self.layout.map else { return Vec::new() };
        let placement = striped.shift.as_ref().map_or(&striped.now, |shift| &shift.target);
        let counts = placement.parity_counts();
        let all: u32 = counts.iter().sum();
        counts.iter().map(|&count| f64::from(count) * 100.0 / f64::from(all.max(1))).collect()
    }

    pub(crate) fn moves_parity(&self) -> bool {
        !self.background.is_quiet()
    }

    /// A member is to be rebuilt: the pass begins (again) where the first such member is incomplete.
    pub(crate) fn start_rebuild(&mut self) {
        self.background.pass = None;
        self.background.pump = true;
    }

    /// Parity shall go to the oldest members: plans how, after members have changed.
    pub(crate) fn plan_shift(&mut self, now: Nanos) {
        if self.shares.is_none() {
            return;
        }
        if let Some(shift) = self.layout.shift_mut() {
            // The unfinished one is carried to its end by the rebuild; then comes the next.
            shift.lazy = false;
            self.background.replan = true;
            return;
        }
        let (Some(shares), Map::Striped(striped)) = (&self.shares, &self.layout.map) else { return };
        let age = |column: usize| {
            let column = &self.columns[column];
            column.device.as_ref().map_or(f64::NEG_INFINITY, self.age_of)
        };
        let mut order: Vec<u8> = (0..self.columns.len() as u8).collect();
        order.sort_by(|&a, &b| age(usize::from(b)).total_cmp(&age(usize::from(a))));
        let way = self.config.replacement.shift;
        let plan = match (way, &self.first_placement) {
            (ShiftWay::Naive, Some(first)) => {
                ShiftPlan::between(&striped.now, by_rank(first, &shares.counts, &order))
            }
            _ => ShiftPlan::minimal(&striped.now, &shares.ranked(&order).counts),
        };
        if plan.chunk_moves > 0 {
            let (parity_moves, period) = (plan.parity_moves, striped.now.period());
            self.background.pending_shift = Some((plan, way == ShiftWay::Lazy));
            self.background.pump = true;
            self.event(now, EventKind::ShiftStarted { parity_moves, period });
        }
    }

    /// Lets a planned shift begin once no read without a lock is under way.
    fn begin_shift(&mut self) {
        if self.direct_reads > 0 {
            return;
        }
        let stripes = self.layout.groups;
        if let Some((plan, lazy)) = self.background.pending_shift.take()
            && let Map::Striped(striped) = &mut self.layout.map
        {
            let shift = Shift::new(&striped.now, plan, stripes, lazy);
            striped.shift = Some(shift);
            self.background.shifting = true;
            self.shift_progress();
        }
    }

    /// A group has moved; the last one ends the shift.
    pub(crate) fn shift_progress(&mut self) {
        let Map::Striped(striped) = &mut self.layout.map else { return };
        if striped.shift.as_ref().is_none_or(|shift| shift.left > 0) {
            return;
        }
        if let Some(shift) = striped.shift.take() {
            striped.now = shift.target;
        }
        self.background.shifting = false;
        self.event(self.clock, EventKind::ShiftDone);
        if std::mem::take(&mut self.background.replan) {
            self.plan_shift(self.clock);
        }
        self.background.pump = true;
    }

    /// The pass that matters most now.
    fn choose_pass(&self, now: Nanos) -> Option<Pass> {
        let rebuilding = |column: &&crate::array::Column<D>| column.device.is_some() && !column.is_in_sync();
        let (kind, base) = if let Some(base) =
            self.columns.iter().filter(rebuilding).map(|column| column.valid_to).min()
            && self.can_rebuild()
        {
            (PassKind::Rebuild, base)
        } else if self.repairs.in_place() {
            return None;
        } else if let Some(base) = self.doubt.resync {
            (PassKind::Resync, base)
        } else if self.layout.shift().is_some_and(|shift| !shift.lazy) && !self.is_missing_too_many(None) {
            (PassKind::Shift, 0)
        } else if let Some(scrub) = &self.background.scrub {
            (PassKind::Scrub, scrub.base)
        } else {
            return None;
        };
        let epoch = self.background.epoch + 1;
        let (first, next) = (base, base);
        Some(Pass { kind, base, done: 0, next, in_flight: 0, first, started: now, epoch, last_start: None })
    }

    /// With more members missing than redundancy makes good, rebuilding would only write zeroes, unless no device is missing any
    /// more: then it saves what it can.
    fn can_rebuild(&self) -> bool {
        !self.is_missing_too_many(None) || self.columns.iter().all(|column| column.device.is_some())
    }

    /// Starts work on as many groups as window and rate allow.
    pub(crate) fn pump(&mut self, now: Nanos) {
        if self.replaying > 0 || !self.powered {
            return;
        }
        self.pump_repairs(now);
        self.begin_shift();
        if self.background.pending_shift.is_some() {
            return;
        }
        loop {
            if self.background.pass.is_none() {
                let Some(pass) = self.choose_pass(now) else {
                    self.retire_worn(now);
                    return;
                };
                self.background.epoch = pass.epoch;
                self.background.pass = Some(pass);
            }
            if !self.pump_pass(now) {
                return;
            }
        }
    }

    /// Goes on with the pass; returns whether it has ended.
    fn pump_pass(&mut self, now: Nanos) -> bool {
        while let Some(pass) = &self.background.pass {
            let (kind, group, base) = (pass.kind, pass.next, pass.base);
            if kind == PassKind::Rebuild && !self.can_rebuild() {
                self.background.pass = None;
                return true;
            }
            if base == self.layout.groups {
                self.end_pass(now, kind);
                return true;
            }
            let full = pass.in_flight >= u32::from(self.config.background.window) || group >= base + 64;
            if full || group == self.layout.groups {
                return false;
            }
            let epoch = pass.epoch;
            if !self.needs(kind, group) {
                self.advance_pass(|pass| pass.next += 1);
                self.mark_done(group);
                continue;
            }
            if kind == PassKind::Rebuild && !self.donors_told(now, group) {
                return false;
            }
            if let Some(wake) = self.throttle(now) {
                self.background.wake = self.background.wake.min(wake);
                return false;
            }
            self.advance_pass(|pass| {
                pass.next += 1;
                pass.in_flight += 1;
                pass.last_start = Some(now);
            });
            let kind = match kind {
                PassKind::Rebuild | PassKind::Shift | PassKind::Repair => OpKind::Transform,
                PassKind::Resync => OpKind::Verify { repair: true, resync: true },
                PassKind::Scrub => {
                    let repair = self.background.scrub.is_some_and(|scrub| scrub.repair);
                    OpKind::Verify { repair, resync: false }
                }
            };
            let mut op = Op::new(kind, group, self.whole_chunk());
            op.epoch = epoch;
            self.start(now, op);
        }
        true
    }

    fn advance_pass(&mut self, act: impl FnOnce(&mut Pass)) {
        if let Some(pass) = &mut self.background.pass {
            act(pass);
        }
    }

    /// Whether a pass has anything to do in `group`.
    fn needs(&self, kind: PassKind, group: u64) -> bool {
        match kind {
            PassKind::Rebuild => {
                let eager = self.layout.shift().is_some_and(|shift| !shift.lazy && !shift.is_moved(group));
                eager
                    || self.columns.iter().enumerate().any(|(index, column)| {
                        column.device.is_some()
                            && group >= column.valid_to
                            && self.layout.role_on(group, index, false).is_some()
                    })
            }
            PassKind::Shift => self.layout.is_to_move(group),
            PassKind::Resync => self.doubt.must_resync(group) && !self.is_beyond_repair(group),
            PassKind::Scrub => !self.is_beyond_repair(group),
            PassKind::Repair => false,
        }
    }

    /// When the next group may be started, if not now.
    fn throttle(&self, now: Nanos) -> Option<Nanos> {
        let pass = self.background.pass.as_ref()?;
        let rate = if pass.kind == PassKind::Rebuild { self.repairs.rebuild_rate() } else { None };
        self.pace(now, pass.last_start?, Bytes(self.layout.chunk * SECTOR_BYTES), rate)
    }

    /// When the next piece of work may begin, if not now: the last one, of `bytes`, began at `last`. `fixed` is a rate that holds whether
    /// the host is active or not.
    pub(crate) fn pace(
        &self,
        now: Nanos,
        last: Nanos,
        bytes: Bytes,
        fixed: Option<ByteRate>,
    ) -> Option<Nanos> {
        let settings = &self.config.background;
        let due = |rate: Option<ByteRate>| last + rate.map_or(Nanos::ZERO, |rate| rate.time_for(bytes));
        if fixed.is_some() {
            return Some(due(fixed)).filter(|&wake| wake > now);
        }
        let idle_from = self.last_host.map_or(Nanos::ZERO, |at| at + settings.idle_after);
        let (slow, fast) = (settings.min_rate.or(settings.max_rate), settings.max_rate);
        let wake = if self.host_in_flight > 0 {
            due(slow)
        } else if now >= idle_from {
            due(fast)
        } else {
            due(slow).min(due(fast).max(idle_from))
        };
        (wake > now).then_some(wake)
    }

    /// An operation of the pass has ended.
    pub(crate) fn group_done(&mut self, _now: Nanos, group: u64, epoch: u32) {
        match &mut self.background.pass {
            Some(pass) if pass.epoch == epoch => pass.in_flight -= 1,
            _ => return,
        }
        self.mark_done(group);
        self.background.pump = true;
    }

    fn mark_done(&mut self, group: u64) {
        let Some(pass) = &mut self.background.pass else { return };
        pass.done |= 1 << (group - pass.base);
        let run = pass.done.trailing_ones();
        pass.done = pass.done.checked_shr(run).unwrap_or(0);
        pass.base += u64::from(run);
        if run == 0 {
            return;
        }
        let (kind, base) = (pass.kind, pass.base);
        match kind {
            PassKind::Rebuild => {
                for column in self.columns.iter_mut().filter(|column| column.device.is_some()) {
                    column.valid_to = column.valid_to.max(base);
                }
            }
            PassKind::Resync => self.doubt.resync = Some(base),
            PassKind::Scrub => {
                if let Some(scrub) = &mut self.background.scrub {
                    scrub.base = base;
                }
            }
            PassKind::Shift | PassKind::Repair => {}
        }
    }

    fn end_pass(&mut self, now: Nanos, kind: PassKind) {
        self.background.pass = None;
        match kind {
            PassKind::Rebuild => {
                for column in 0..self.columns.len() {
                    let member = &mut self.columns[column];
                    if member.device.is_some()
                        && !member.is_in_sync()
                        && member.valid_to >= self.layout.groups
                    {
                        member.valid_to = u64::MAX;
                        let replaced = self.donor(column).is_some();
                        self.event(now, EventKind::Rebuilt { member: column });
                        self.member_complete(now, column);
                        if replaced {
                            self.plan_shift(now);
                        }
                    }
                }
                self.update_degraded();
            }
            PassKind::Resync => {
                self.doubt.resynced(now, self.config.log.bitmap_delay);
                self.event(now, EventKind::Resynced);
            }
            PassKind::Shift | PassKind::Repair => {}
            PassKind::Scrub => {
                if let Some(scrub) = self.background.scrub.take() {
                    let mismatches = self.counters.mismatches - scrub.mismatches_before;
                    self.event(now, EventKind::Scrubbed { mismatches });
                }
                self.background.next_scrub =
                    self.background.scrub_interval.map_or(Nanos::MAX, |span| now + span);
            }
        }
    }

    /// A scrub is due.
    pub(crate) fn timed_scrub(&mut self) {
        self.background.next_scrub = Nanos::MAX;
        if self.background.scrub.is_none() {
            self.background.scrub = Some(self.new_scrub(true));
        }
        self.background.pump = true;
    }

    /// Rows of the chunk that a pass works on, for its progress.
    pub(crate) fn pass_bytes(&self, groups: u64) -> Bytes {
        let rows: Rows = self.whole_chunk();
        Bytes(groups * u64::from(rows.len()) * SECTOR_BYTES)
    }
}

/// The placement `first` with its columns renamed so that the member at `order[0]` takes the place with the largest share, and so on.
pub(crate) fn by_rank(first: &Placement, counts: &[u32], order: &[u8]) -> Placement {
    let mut places: Vec<usize> = (0..counts.len()).collect();
    places.sort_by(|&a, &b| counts[b].cmp(&counts[a]));
    let mut to = vec![0; counts.len()];
    for (&place, &column) in places.iter().zip(order) {
        to[place] = column;
    }
    first.renamed(&to)
}

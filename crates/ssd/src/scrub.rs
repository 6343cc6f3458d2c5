//! Scrubbing: which superblocks should be moved before their data goes bad, and when. The moving itself is relocation.

use crate::op::{Op, OpKind, Task};
use crate::ssd::Ssd;
use outlast_ftl::{Cause, Ftl, State};
use outlast_units::{BlockIndex, Bytes, Nanos, SuperblockId};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Why a superblock was chosen to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Garbage collection: space was short.
    Space,
    /// Static wear levelling.
    Wear,
    /// Scrubbing: read too often.
    Reads,
    /// Scrubbing: too old.
    Age,
    /// Scrubbing: the oracle expects too many errors.
    ExpectedErrors,
    /// Scrubbing: re-reads have cost more than moving would.
    Rereads,
    /// Scrubbing: a patrol read found too many wrong bits.
    Patrol,
    /// Its stripes have lost members: what is left of its protection is too little.
    Exposed,
    /// Its class has another code now.
    Code,
    /// Dies have been added that it does not lie on.
    Dies,
    /// A die that holds some of it is expected to fail.
    Evacuation,
}

impl Reason {
    /// Number of reasons.
    pub(crate) const COUNT: usize = 11;

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Wear => "wear",
            Self::Reads => "reads",
            Self::Age => "age",
            Self::ExpectedErrors => "expected-errors",
            Self::Rereads => "rereads",
            Self::Patrol => "patrol",
            Self::Exposed => "exposed",
            Self::Code => "code",
            Self::Dies => "dies",
            Self::Evacuation => "evacuation",
        }
    }

    /// What the units moved are counted as.
    pub(crate) fn cause(self) -> Cause {
        match self {
            Self::Space => Cause::Gc,
            Self::Wear => Cause::WearLeveling,
            Self::Reads | Self::Age | Self::ExpectedErrors | Self::Rereads | Self::Patrol => Cause::Scrub,
            Self::Exposed | Self::Code | Self::Dies | Self::Evacuation => Cause::Reencode,
        }
    }
}

/// A decision to move a superblock, with what was known: the trace of the policies in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// When.
    pub at: Nanos,
    /// Of which flash core.
    pub core: u16,
    /// Which superblock.
    pub superblock: SuperblockId,
    /// Why.
    pub reason: Reason,
    /// Units that have to be moved.
    pub valid: u32,
    /// Pages re-read since its erasure.
    pub rereads: u32,
    /// The greatest expected number of wrong bits of a codeword in it; not a number where the flash never errs.
    pub expected_errors: f64,
    /// Whether its data has parity.
    pub protected: bool,
    /// Whether what is moved gets parity.
    pub will_be_protected: bool,
}

/// Decisions kept.
const MOST_DECISIONS: usize = 100_000;
/// The oracle looks again at a superblock at the latest when its data is half as old again, but not more often than this.
const ORACLE_AT_MOST_EVERY: Nanos = Nanos::secs(60);

/// The scrubbing of one flash core.
#[derive(Clone, Debug)]
pub(crate) struct Scrub {
    flagged: Vec<(SuperblockId, Reason)>,
    is_flagged: Vec<bool>,
    /// When the oracle looks at which superblock again, if it has not been erased (counted) since.
    looks: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    lives: Vec<u32>,
    next_age_check: Nanos,
    next_patrol: Nanos,
    patrol_pu: u32,
    pub(crate) patrolling: bool,
    /// Until when the bandwidth is used up.
    ready_at: Nanos,
    /// Superblocks that scrubbing itself had written and now moves again.
    pub(crate) again: u64,
    written_by_it: Vec<bool>,
}

impl Scrub {
    pub(crate) fn new(ftl: &Ftl) -> Self {
        let superblocks = ftl.layout().superblocks() as usize;
        Self {
            flagged: Vec::new(),
            is_flagged: vec![false; superblocks],
            looks: BinaryHeap::new(),
            lives: vec![0; superblocks],
            next_age_check: Nanos::MAX,
            next_patrol: Nanos::MAX,
            patrol_pu: 0,
            patrolling: false,
            ready_at: Nanos::ZERO,
            again: 0,
            written_by_it: vec![false; superblocks],
        }
    }

    /// When something is to be done by itself.
    fn next(&self, now: Nanos) -> Nanos {
        let look = self.looks.peek().map_or(Nanos::MAX, |&Reverse((at, ..))| at);
        let budget = if self.ready_at > now && !self.flagged.is_empty() { self.ready_at } else { Nanos::MAX };
        look.min(budget).min(self.next_age_check).min(self.next_patrol)
    }

    fn unflag(&mut self, superblock: SuperblockId) {
        if std::mem::take(&mut self.is_flagged[superblock.index()]) {
            self.flagged.retain(|&(other, _)| other != superblock);
        }
    }
}

impl Ssd {
    /// Time begins: alarms and timers are set for the drive as it is.
    pub(crate) fn begin_scrub(&mut self, now: Nanos) {
        let Some(config) = self.config.scrub else { return };
        for core in 0..self.cores.len() {
            let Some(scrub) = &mut self.cores[core].scrub else { continue };
            scrub.next_age_check = config.age.map_or(Nanos::MAX, |_| now);
            scrub.next_patrol = config.patrol.map_or(Nanos::MAX, |_| now);
            for superblock in 0..self.cores[core].ftl.layout().superblocks() {
                self.arm(now, core, SuperblockId(superblock));
            }
            self.look_at_alarms(now, core);
        }
        self.call_housekeeping(now);
    }

    /// Sets the alarms of a sealed superblock for the reads that its triggers wait for; flags it if the oracle finds it bad already.
    ///
    /// An alarm of the oracle is set beyond the reads that there are: who looks at alarms comes to an end.
    pub(crate) fn arm(&mut self, now: Nanos, core: usize, superblock: SuperblockId) {
        let Some(config) = self.config.scrub else { return };
        let at = now + self.schedule.aged();
        if self.cores[core].ftl.state(superblock) != State::Sealed
            || (config.reads.is_none() && config.expected_errors.is_none())
        {
            return;
        }
        if let Some(threshold) = config.expected_errors
            && self.expected_errors(now, core, superblock) >= threshold * (1.0 - 1e-6)
        {
            self.flag(now, core, superblock, Reason::ExpectedErrors);
            return;
        }
        let state = &mut self.cores[core];
        let (Some(own), Some(scrub), Some(reliability)) =
            (&mut state.cells, &mut state.scrub, &self.reliability)
        else {
            return;
        };
        let group = own.oldest(superblock);
        let limit =
            config.expected_errors.map(|errors| errors / f64::from(reliability.ecc().codeword_bits()));
        let mut crossing = Nanos::MAX;
        if let Some(limit) = limit {
            for block in state.ftl.block_indices(superblock).map(BlockIndex) {
                crossing = crossing.min(own.cells.time_until(block, group, limit, at).unwrap_or(Nanos::MAX));
            }
        }
        let age = Nanos((own.cells.days(group, at) * 86_400e9) as u64);
        let later = Nanos(at.0 + (age.0 / 2).max(ORACLE_AT_MOST_EVERY.0));
        let look = later.min(crossing);
        for block in state.ftl.block_indices(superblock).map(BlockIndex) {
            own.cells.set_alarms(block, |cells, row, reads| {
                // As old as the data will be at the next look; if it would then be bad even unread, as old as it is.
                let by_errors = limit.and_then(|limit| {
                    let soon = cells.reads_until(block, row, group, limit, look)?;
                    let soon =
                        if soon > reads { soon } else { cells.reads_until(block, row, group, limit, at)? };
                    Some(soon.max(reads.saturating_add(1)))
                });
                config.reads.unwrap_or(u32::MAX).min(by_errors.unwrap_or(u32::MAX))
            });
        }
        if limit.is_some() {
            let life = scrub.lives[superblock.index()];
            let look = Nanos(look.0 - self.schedule.aged().0).max(now);
            // What is due now is found by the alarms, which go off at once.
            let look = if look == now { Nanos(now.0 + ORACLE_AT_MOST_EVERY.0) } else { look };
            scrub.looks.push(Reverse((look, superblock.0, life)));
        }
    }

    /// Blocks have been read as often as a trigger waited for: the list of work that a sensing, or setting alarms, leaves behind.
    #[inline]
    pub(crate) fn look_at_alarms(&mut self, now: Nanos, core: usize) {
        while let Some(block) = self.cores[core].cells.as_mut().and_then(|own| own.cells.take_alarm()) {
            self.alarm(now, core, block);
        }
    }

    #[cold]
    fn alarm(&mut self, now: Nanos, core: usize, block: BlockIndex) {
        let Some(config) = self.config.scrub else { return };
        let state = &self.cores[core];
        let (Some(superblock), Some(own)) = (state.ftl.superblock_of_block(block.0), &state.cells) else {
            return;
        };
        if config.reads.is_some_and(|reads| own.cells.reads(block) >= reads) {
            self.flag(now, core, superblock, Reason::Reads);
        } else {
            self.look(now, core, superblock);
        }
    }

    /// The oracle looks at a superblock: it is flagged, or the alarms are set anew.
    fn look(&mut self, now: Nanos, core: usize, superblock: SuperblockId) {
        let wants = self.config.scrub.is_some_and(|scrub| scrub.expected_errors.is_some());
        if wants && self.cores[core].scrub.as_ref().is_some_and(|scrub| !scrub.is_flagged[superblock.index()])
        {
            self.arm(now, core, superblock);
        }
    }

    /// The greatest expected number of wrong bits of a codeword in a superblock; not a number where the flash never errs.
    pub(crate) fn expected_errors(&self, now: Nanos, core: usize, superblock: SuperblockId) -> f64 {
        let state = &self.cores[core];
        let (Some(own), Some(reliability)) = (&state.cells, &self.reliability) else { return f64::NAN };
        let (group, bits) = (own.oldest(superblock), reliability.ecc().codeword_bits());
        let at = now + self.schedule.aged();
        let of = |block| own.cells.worst_expected_errors(block, group, at, bits);
        state.ftl.block_indices(superblock).map(BlockIndex).map(of).fold(0.0, f64::max)
    }

    /// Pages of a superblock have been read again.
    pub(crate) fn count_reread(&mut self, now: Nanos, core: usize, superblock: SuperblockId, units: u64) {
        let (pages, _) = self.cores[core].ftl.layout().program_unit().sensed(units);
        let Some(own) = &mut self.cores[core].cells else { return };
        let sum = f64::from(own.count_rereads(superblock, pages as u32));
        if let Some(ratio) = self.config.scrub.and_then(|scrub| scrub.rereads_per_unit)
            && sum >= ratio * f64::from(self.cores[core].ftl.valid_count(superblock).max(1))
        {
            self.flag(now, core, superblock, Reason::Rereads);
        }
    }

    fn flag(&mut self, now: Nanos, core: usize, superblock: SuperblockId, reason: Reason) {
        let Some(scrub) = &mut self.cores[core].scrub else { return };
        if !scrub.is_flagged[superblock.index()] {
            scrub.is_flagged[superblock.index()] = true;
            scrub.flagged.push((superblock, reason));
            self.call_housekeeping(now);
        }
    }

    /// Starts moving a flagged superblock, if there is one and scrubbing may go on.
    #[inline(never)]
    pub(crate) fn maybe_scrub(&mut self, now: Nanos, core: usize) {
        let state = &mut self.cores[core];
        let Some(scrub) = &mut state.scrub else { return };
        if scrub.flagged.is_empty() || state.tasks.runs(Task::Scrub) || now < scrub.ready_at {
            return;
        }
        let ftl = &state.ftl;
        // What has been erased meanwhile, or soon will be, needs no scrubbing.
        let gone = |superblock: SuperblockId| {
            matches!(ftl.state(superblock), State::Free | State::Collecting | State::Retired)
                || (ftl.state(superblock) == State::Sealed && ftl.valid_count(superblock) == 0)
        };
        let (flagged, is_flagged) = (&mut scrub.flagged, &mut scrub.is_flagged);
        flagged.retain(|&(superblock, _)| {
            let keep = !gone(superblock);
            is_flagged[superblock.index()] = keep;
            keep
        });
        let stream = |superblock: SuperblockId| ftl.scrub_stream(ftl.class_of_superblock(superblock));
        let rereads = |superblock: SuperblockId| {
            state.cells.as_ref().map_or(0.0, |own| f64::from(own.rereads(superblock)))
                / f64::from(ftl.valid_count(superblock).max(1))
        };
        let best = scrub
            .flagged
            .iter()
            .enumerate()
            .filter(|&(_, &(superblock, _))| {
                ftl.state(superblock) == State::Sealed && ftl.can_relocate(superblock, stream(superblock))
            })
            // The most exposed one; of these the one with the most to gain; the first flagged of equal ones.
            .max_by(|a, b| {
                let exposed = ftl.exposure(a.1.0).cmp(&ftl.exposure(b.1.0));
                exposed.then(rereads(a.1.0).total_cmp(&rereads(b.1.0))).then(b.0.cmp(&a.0))
            })
            .map(|(_, &best)| best);
        let Some((superblock, reason)) = best else { return };
        let stream = stream(superblock);
        scrub.unflag(superblock);
        scrub.again += u64::from(scrub.written_by_it[superblock.index()]);
        if let Some(bandwidth) = self.config.scrub.and_then(|scrub| scrub.bandwidth) {
            let units = u64::from(ftl.valid_count(superblock)) * self.config.ftl.mapping_unit.0;
            let cores = u64::from(self.config.controller.flash_cores);
            scrub.ready_at = now + bandwidth.time_for(Bytes(units * cores));
        }
        self.start_relocation(now, core, Task::Scrub, superblock, stream, reason);
        self.call_housekeeping(now);
    }

    pub(crate) fn note_decision(
        &mut self,
        now: Nanos,
        core: usize,
        superblock: SuperblockId,
        reason: Reason,
    ) {
        self.moved[reason as usize] += 1;
        if self.decisions.len() >= MOST_DECISIONS {
            return;
        }
        let ftl = &self.cores[core].ftl;
        let class = ftl.class_of_superblock(superblock);
        let stream = match reason {
            Reason::Space => ftl.gc_stream(class),
            Reason::Wear => ftl.wear_leveling_stream(class),
            _ => ftl.scrub_stream(class),
        };
        self.decisions.push(Decision {
            at: now,
            core: core as u16,
            superblock,
            reason,
            valid: ftl.valid_count(superblock),
            rereads: self.cores[core].cells.as_ref().map_or(0, |own| own.rereads(superblock)),
            expected_errors: self.expected_errors(now, core, superblock),
            protected: ftl.has_parity(superblock),
            will_be_protected: ftl.is_protected(stream),
        });
    }

    /// A superblock has been filled.
    #[cold]
    pub(crate) fn sealed(&mut self, now: Nanos, core: usize, superblock: SuperblockId) {
        let ftl = &self.cores[core].ftl;
        let written_by_it = ftl.is_scrubbed(superblock);
        if let Some(scrub) = &mut self.cores[core].scrub {
            scrub.written_by_it[superblock.index()] = written_by_it;
            self.arm(now, core, superblock);
            self.look_at_alarms(now, core);
            self.reprotect(now, core, superblock);
        }
    }

    /// Has `superblock` moved if its protection is not what that of new data would be.
    fn reprotect(&mut self, now: Nanos, core: usize, superblock: SuperblockId) {
        if self.is_to_leave(core, superblock) {
            self.flag(now, core, superblock, Reason::Evacuation);
            return;
        }
        let ftl = &self.cores[core].ftl;
        if self.config.scrub.is_none_or(|scrub| !scrub.reprotect) {
            let first = superblock.0 * ftl.layout().pus_per_superblock();
            if ftl.lanes_lost(superblock) != 0 && ftl.has_parity(superblock) && self.rebuilds(core, first) {
                self.flag(now, core, superblock, Reason::Exposed);
            }
            return;
        }
        let reason = if ftl.lanes_lost(superblock) != 0 {
            Reason::Exposed
        } else if ftl.is_outdated(superblock) {
            Reason::Code
        } else if ftl.is_narrow(superblock) {
            Reason::Dies
        } else {
            return;
        };
        self.flag(now, core, superblock, reason);
    }

    /// [`Ssd::reprotect`] of all superblocks: dies have come or gone, or codes have changed.
    pub(crate) fn reprotect_all(&mut self, now: Nanos, core: usize) {
        for superblock in 0..self.cores[core].ftl.layout().superblocks() {
            self.reprotect(now, core, SuperblockId(superblock));
        }
    }

    /// A superblock has been erased: its cells are fresh, and what was known about it is past.
    pub(crate) fn cells_erased(&mut self, core: usize, superblock: SuperblockId) {
        let state = &mut self.cores[core];
        if let Some(scrub) = &mut state.scrub {
            scrub.unflag(superblock);
            scrub.lives[superblock.index()] = scrub.lives[superblock.index()].wrapping_add(1);
        }
        let Some(own) = &mut state.cells else { return };
        let cycles = state.ftl.blocks().all_cycles();
        let blocks = state.ftl.block_indices(superblock);
        own.erased(superblock, blocks.map(|block| (BlockIndex(block), cycles[block as usize])));
    }

    /// Everything that scrubbing has to do by now.
    pub(crate) fn keep_scrubbing(&mut self, now: Nanos, core: usize) -> Nanos {
        if self.cores[core].scrub.is_none() {
            return Nanos::MAX;
        }
        let config = self.config.scrub.unwrap_or_default();
        while let Some(scrub) = &mut self.cores[core].scrub
            && let Some(&Reverse((at, superblock, life))) = scrub.looks.peek()
            && at <= now
        {
            scrub.looks.pop();
            if scrub.lives[superblock as usize] == life {
                self.look(now, core, SuperblockId(superblock));
            }
        }
        self.look_at_alarms(now, core);
        if let Some(age) = config.age {
            self.look_for_age(now, core, age);
        }
        if let Some(period) = config.patrol {
            self.patrol(now, core, period);
        }
        self.maybe_scrub(now, core);
        self.cores[core].scrub.as_ref().map_or(Nanos::MAX, |scrub| scrub.next(now))
    }

    fn look_for_age(&mut self, now: Nanos, core: usize, age: Nanos) {
        let at = now + self.schedule.aged();
        let state = &mut self.cores[core];
        let (Some(own), Some(scrub)) = (&state.cells, &mut state.scrub) else { return };
        if scrub.next_age_check > now {
            return;
        }
        scrub.next_age_check = now + Nanos(age.0 / 100);
        let limit = age.as_secs_f64() / 86_400.0;
        let old: Vec<SuperblockId> = (0..state.ftl.layout().superblocks())
            .map(SuperblockId)
            .filter(|&superblock| state.ftl.state(superblock) == State::Sealed)
            .filter(|superblock| own.cells.days(own.oldest(*superblock), at) >= limit)
            .collect();
        for superblock in old {
            self.flag(now, core, superblock, Reason::Age);
        }
    }

    /// Reads the next program unit of a sealed superblock, when it is time and the last one has been read.
    fn patrol(&mut self, now: Nanos, core: usize, period: Nanos) {
        let state = &mut self.cores[core];
        let Some(scrub) = &mut state.scrub else { return };
        if scrub.next_patrol > now {
            return;
        }
        let layout = state.ftl.layout();
        let per_superblock = layout.pus_per_superblock();
        let pus = layout.superblocks() * per_superblock;
        scrub.next_patrol = now + Nanos((period.0 / u64::from(pus)).max(1));
        if scrub.patrolling {
            return;
        }
        for _ in 0..layout.superblocks() {
            if state.ftl.state(SuperblockId(scrub.patrol_pu / per_superblock)) == State::Sealed {
                break;
            }
            scrub.patrol_pu = (scrub.patrol_pu / per_superblock + 1) * per_superblock % pus;
        }
        let pu = scrub.patrol_pu;
        scrub.patrol_pu = (pu + 1) % pus;
        if state.ftl.state(SuperblockId(pu / per_superblock)) != State::Sealed || state.ftl.is_dead_lane(pu) {
            return;
        }
        scrub.patrolling = true;
        let units = layout.units_per_pu();
        let mask = u64::MAX >> (64 - units);
        let op = Op { units: units as u16, mask, ..Op::new(OpKind::PatrolRead, Task::Scrub, core, pu) };
        self.queue_internal(now, &op);
    }

    /// A patrol read has ended; `op.failing` are the units with too many wrong bits.
    #[inline(never)]
    pub(crate) fn patrol_read(&mut self, now: Nanos, op: &Op) {
        self.flash.internal_ended();
        let core = usize::from(op.core);
        let superblock = self.cores[core].ftl.layout().place(op.pu).superblock;
        if let Some(scrub) = &mut self.cores[core].scrub {
            scrub.patrolling = false;
        }
        if op.failing != 0 && self.cores[core].ftl.state(superblock) == State::Sealed {
            self.flag(now, core, superblock, Reason::Patrol);
        }
        self.wake_waiting(now);
    }
}

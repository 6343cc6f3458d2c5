//! The host's side: receiving commands, splitting them into units, completing them; flush, FUA and the write buffer.

use crate::config::{SsdConfig, WriteCache};
use crate::core::{CREDIT_ONE, WaitingWrite};
use crate::op::{Op, OpKind, Task, UnitWork};
use crate::ssd::Ssd;
use outlast_device::{Command, Completion, LbaRun, Op as HostOp, Outcome, Tag};
use outlast_flash::{Queue, Source};
use outlast_ftl::Stream;
use outlast_units::slab::NIL;
use outlast_units::{ByteRate, Bytes, CoreId, Lpn, Nanos, SECTOR_BYTES};
use std::collections::{BTreeMap, VecDeque};

/// A host command being worked on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) command: Command,
    pub(crate) tag: Tag,
    /// Units not done yet, and one more while the command must still reach flash.
    pub(crate) left: u32,
    /// When the last of its data will have left over the link.
    pub(crate) ready: Nanos,
    pub(crate) outcome: Outcome,
    /// What follows when all of its units are done.
    pub(crate) then: Then,
}

/// What follows when all units of a request are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The host's command is complete.
    Complete,
    /// It still has to wait for its data to reach flash.
    AwaitFlash,
    /// It was a move of the drive's own, of which the host knows nothing.
    MoveOn,
}

/// Commands carried out and sectors moved over the drive's life: reads, then writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Life {
    pub(crate) commands: [u64; 2],
    pub(crate) sectors: [u64; 2],
    pub(crate) media_errors: u64,
}

impl Life {
    #[inline]
    pub(crate) fn count(&mut self, command: &Command, outcome: Outcome) {
        self.media_errors += u64::from(outcome == Outcome::MediumError);
        if outcome == Outcome::Ok && matches!(command.op, HostOp::Read | HostOp::Write) {
            self.commands[command.op as usize] += 1;
            self.sectors[command.op as usize] += u64::from(command.sectors);
        }
    }
}

/// What the drive keeps about the host's commands.
#[derive(Clone, Debug)]
pub(crate) struct HostSide {
    link: Option<ByteRate>,
    link_in_free: Nanos,
    link_out_free: Nanos,
    /// Commands whose data is still coming in over the link, with the time of its end.
    arriving: VecDeque<(Nanos, u32)>,
    /// Commands at the door: the drive's queue is full.
    door: VecDeque<(Command, Tag, Vec<u8>)>,
    in_flight: u32,
    queue_depth: u32,
    /// Completions whose data goes out over the link, and the others; each in order of time.
    linked: VecDeque<Completion>,
    direct: VecDeque<Completion>,
    /// When the first of them is due: kept, as it is asked for at every event.
    next_completion: Nanos,
    /// Flush epochs: host programs outstanding in each, the last one open; and who waits for which.
    epochs: VecDeque<u32>,
    first_epoch: u32,
    barriers: VecDeque<(u32, u32)>,
    /// Bytes on their way in, by request, and out, by tag; only where bytes are kept.
    data_in: BTreeMap<u32, Vec<u8>>,
    data_work: BTreeMap<u32, Vec<u8>>,
    pub(crate) data_out: BTreeMap<Tag, Vec<u8>>,
    /// Answers to queries for failed units.
    pub(crate) status_out: BTreeMap<Tag, Vec<LbaRun>>,
    pub(crate) life: Life,
}

impl HostSide {
    pub(crate) fn new(config: &SsdConfig) -> Self {
        Self {
            link: config.controller.link,
            link_in_free: Nanos::ZERO,
            link_out_free: Nanos::ZERO,
            arriving: VecDeque::new(),
            door: VecDeque::new(),
            in_flight: 0,
            queue_depth: config.controller.queue_depth,
            linked: VecDeque::new(),
            direct: VecDeque::new(),
            next_completion: Nanos::MAX,
            epochs: VecDeque::from([0]),
            first_epoch: 0,
            barriers: VecDeque::new(),
            data_in: BTreeMap::new(),
            data_work: BTreeMap::new(),
            data_out: BTreeMap::new(),
            status_out: BTreeMap::new(),
            life: Life::default(),
        }
    }

    #[inline]
    pub(crate) fn next_completion(&self) -> Nanos {
        self.next_completion
    }

    pub(crate) fn open_epoch(&self) -> u32 {
        self.first_epoch.wrapping_add(self.epochs.len() as u32 - 1)
    }

    /// A host program is outstanding again.
    pub(crate) fn count_program(&mut self) {
        if let Some(open) = self.epochs.back_mut() {
            *open += 1;
        }
    }

    /// Power has failed while commands were under way: they end now, and have been aborted. What had been done is still done.
    fn abort(&mut self, now: Nanos, open: impl Iterator<Item = Tag>) {
        let done = std::mem::take(&mut self.direct);
        let crossing = std::mem::take(&mut self.linked);
        let (done_too, crossing): (VecDeque<_>, VecDeque<_>) =
            crossing.into_iter().partition(|c| c.at <= now);
        let open = open.chain(crossing.into_iter().map(|completion| completion.tag));
        let aborted: Vec<Tag> = open.chain(self.door.drain(..).map(|(_, tag, _)| tag)).collect();
        let mut data_out = std::mem::take(&mut self.data_out);
        let mut status_out = std::mem::take(&mut self.status_out);
        for tag in &aborted {
            data_out.remove(tag);
            status_out.remove(tag);
        }
        self.forget(now);
        let end = |tag| Completion { at: now, tag, outcome: Outcome::Aborted };
        self.linked = done_too;
        self.direct = done.into_iter().chain(aborted.into_iter().map(end)).collect();
        self.data_out = data_out;
        self.status_out = status_out;
        self.in_flight = (self.direct.len() + self.linked.len()) as u32;
        let first =
            |queue: &VecDeque<Completion>| queue.front().map_or(Nanos::MAX, |completion| completion.at);
        self.next_completion = first(&self.direct).min(first(&self.linked));
    }

    /// Power has failed: nothing is known of any command.
    pub(crate) fn forget(&mut self, now: Nanos) {
        (self.link_in_free, self.link_out_free) = (now, now);
        self.arriving.clear();
        self.door.clear();
        self.in_flight = 0;
        self.linked.clear();
        self.direct.clear();
        self.next_completion = Nanos::MAX;
        self.first_epoch = self.open_epoch();
        self.epochs = VecDeque::from([0]);
        self.barriers.clear();
        self.data_in.clear();
        self.data_work.clear();
        self.data_out.clear();
        self.status_out.clear();
    }
}

impl Ssd {
    /// Power fails at a time of the drive's own: all commands under way end in [`Outcome::Aborted`].
    pub(crate) fn abort_commands(&mut self, now: Nanos) {
        let own = self.requests.live().filter(|request| request.then != Then::MoveOn);
        self.host.abort(now, own.map(|request| request.tag));
    }

    pub(crate) fn receive(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        if self.host.in_flight >= self.host.queue_depth {
            self.host.door.push_back((command, tag, data.to_vec()));
        } else {
            self.accept(now, command, tag, data);
        }
    }

    fn accept(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.host.in_flight += 1;
        let end = command.lba.0.checked_add(u64::from(command.sectors));
        let in_range = command.op == HostOp::Flush || end.is_some_and(|end| end <= self.capacity_sectors);
        let outcome = if in_range { Outcome::Ok } else { Outcome::OutOfRange };
        let barrier = match command.op {
            HostOp::Flush => self.write_cache() == WriteCache::Volatile,
            HostOp::Write => match self.write_cache() {
                WriteCache::Protected => false,
                WriteCache::Volatile => command.fua,
                WriteCache::Off => true,
            },
            HostOp::Read | HostOp::Trim | HostOp::LbaStatus => false,
        };
        // One part is held until the command has been split, so that it cannot complete halfway.
        let request = self.requests.insert(Request {
            command,
            tag,
            left: 1,
            ready: now,
            outcome,
            then: if barrier && in_range { Then::AwaitFlash } else { Then::Complete },
        });
        if self.config.bytes && command.op == HostOp::Write {
            self.host.data_in.insert(request, data.to_vec());
        }
        let Some(link) = self.host.link.filter(|_| command.op == HostOp::Write && in_range) else {
            self.fetched(now, request);
            return;
        };
        let span = link.time_for(Bytes(u64::from(command.sectors) * SECTOR_BYTES));
        self.host.link_in_free = self.host.link_in_free.max(now) + span;
        self.host.arriving.push_back((self.host.link_in_free, request));
        if self.host.arriving.len() == 1 {
            self.flash.schedule(Source::Link, self.host.link_in_free);
        }
    }

    pub(crate) fn link_event(&mut self, now: Nanos) {
        let (_, request) = self.host.arriving.pop_front().expect("the link's event has a command");
        let next = self.host.arriving.front().map_or(Nanos::MAX, |&(at, _)| at);
        self.flash.schedule(Source::Link, next);
        self.fetched(now, request);
    }

    #[inline]
    fn fetched(&mut self, now: Nanos, request: u32) {
        let cost = self.config.controller.master_cost;
        if cost == Nanos::ZERO {
            self.split(now, request);
        } else {
            self.master.take(now, cost, request);
            self.flash.schedule(Source::Master, self.master.next());
        }
    }

    /// Splits a command into its units and hands them to their flash cores.
    pub(crate) fn split(&mut self, now: Nanos, request: u32) {
        let Request { command, outcome, .. } = self.requests[request];
        if outcome == Outcome::Ok
            && !matches!(command.op, HostOp::Flush | HostOp::LbaStatus)
            && command.sectors != 0
        {
            let cost = match command.op {
                HostOp::Read => self.config.controller.read_cost,
                _ => self.config.controller.write_cost,
            };
            if self.config.bytes && command.op == HostOp::Read {
                let bytes = command.sectors as usize * SECTOR_BYTES as usize;
                self.host.data_work.insert(request, vec![0; bytes]);
            }
            let encodes = self.config.controller.encode_cost != Nanos::ZERO && command.op == HostOp::Write;
            let (first_unit, mut offset) = self.unit_of(command.lba.0);
            let mut rest = command.sectors;
            let mut unit = first_unit;
            let gathers = command.op == HostOp::Read && rest > self.sectors_per_unit - offset;
            if gathers {
                self.flash.begin_gathering();
            }
            while rest != 0 {
                let sectors = rest.min(self.sectors_per_unit - offset);
                // A read goes to where the data is, all else to where it belongs.
                let (mut core, mut lpn) = self.core_of(unit);
                if self.redirection.is_some() && command.op == HostOp::Read {
                    (core, lpn) = self.place_of(unit);
                }
                self.requests[request].left += 1;
                let work = UnitWork { request, lpn, first: offset as u16, sectors: sectors as u16 };
                let cost = if encodes { cost + self.encode_time(core, work) } else { cost };
                self.hand_over(now, core, cost, work);
                rest -= sectors;
                offset = 0;
                unit += 1;
            }
            if gathers {
                self.end_gathering(now);
            }
        }
        if command.op == HostOp::LbaStatus && outcome == Outcome::Ok {
            self.begin_status(now, request);
        }
        self.finish_parts(now, request, 1);
    }

    /// A flash core acts on one unit of a command.
    pub(crate) fn execute(&mut self, now: Nanos, core: usize, work: UnitWork) {
        // A die may have failed, or data have moved, since the master core sent it here.
        let is_unit = self.redirection.is_some() && work.lpn != NIL;
        let moved = if is_unit { self.elsewhere(core, work) } else { None };
        let (core, work) = moved.unwrap_or((core, work));
        let command = self.requests[work.request].command;
        match command.op {
            HostOp::Read => self.read_unit(now, core, work),
            HostOp::Write => self.write_unit(now, core, work),
            HostOp::Trim => {
                // A unit trimmed in part keeps its data: deallocation is advice (NVMe 2.0, Dataset Management).
                if u32::from(work.sectors) == self.sectors_per_unit {
                    self.cores[core].ftl.trim(Lpn(work.lpn));
                    self.maybe_collect(now, core);
                    if self.redirection.is_some() {
                        self.took_over(now, core, work.lpn);
                    }
                }
                self.finish_parts(now, work.request, 1);
            }
            HostOp::LbaStatus => self.status_step(now, core, work),
            HostOp::Flush => unreachable!("such a command has no units"),
        }
    }

    #[inline]
    fn read_unit(&mut self, now: Nanos, core: usize, work: UnitWork) {
        let ftl = &self.cores[core].ftl;
        let slot = ftl.lookup(Lpn(work.lpn));
        if !slot.is_some() {
            if ftl.is_lost(Lpn(work.lpn)) {
                self.end_in_error(now, work);
                return;
            }
            self.counters.unmapped_reads += 1;
            self.data_moved(now, work.request, u64::from(work.sectors) * SECTOR_BYTES);
            self.finish_parts(now, work.request, 1);
            return;
        }
        if self.config.bytes {
            self.copy_out(core, work);
        }
        let ftl = &self.cores[core].ftl;
        if !ftl.is_programmed(slot) {
            self.counters.buffer_hits += 1;
            self.data_moved(now, work.request, u64::from(work.sectors) * SECTOR_BYTES);
            self.finish_parts(now, work.request, 1);
            return;
        }
        let of_pu = ftl.layout().pu_of(slot);
        self.enqueue_read(now, core, OpKind::HostRead, of_pu, work);
    }

    /// What a flash core takes to bring a unit into the parity that covers it: of its stripe, of its block, and of the blocks in
    /// which the stripe's parity lies.
    fn encode_time(&self, core: usize, work: UnitWork) -> Nanos {
        let ftl = &self.cores[core].ftl;
        let stream = self.stream_of_write(core, work);
        if !ftl.is_protected(stream) {
            return Nanos::ZERO;
        }
        let code = ftl.code(ftl.class_of(stream));
        let across = u64::from(code.parity);
        let parities = if code.block.is_some() { 2 * across + 1 } else { across };
        Nanos(self.config.controller.encode_cost.0 * parities)
    }

    /// The stream of a unit that the host writes.
    #[inline]
    pub(crate) fn stream_of_write(&self, core: usize, work: UnitWork) -> Stream {
        let command = &self.requests[work.request].command;
        let class = match &self.classifier {
            None => 0,
            Some(classifier) => {
                let unit = self.unit_at(core, work.lpn);
                classifier.class(command, unit * u64::from(self.sectors_per_unit))
            }
        };
        self.cores[core].ftl.host_stream(command.stream.0, class)
    }

    fn write_unit(&mut self, now: Nanos, core: usize, work: UnitWork) {
        if self.classifier.is_some() {
            let sector = self.unit_at(core, work.lpn) * u64::from(self.sectors_per_unit);
            if let Some(classifier) = &mut self.classifier {
                classifier.note(sector);
            }
        }
        let stream = self.stream_of_write(core, work);
        let ftl = &self.cores[core].ftl;
        if ftl.is_read_only() && !self.awaits_room(core) {
            self.requests[work.request].outcome = Outcome::ReadOnly;
            self.finish_parts(now, work.request, 1);
            return;
        }
        if u32::from(work.sectors) != self.sectors_per_unit {
            self.counters.partial_writes += 1;
            self.counters.partial_bytes +=
                u64::from(self.sectors_per_unit - u32::from(work.sectors)) * SECTOR_BYTES;
            if self.is_rest_lost(core, work) {
                self.end_in_error(now, work);
                return;
            }
            let (core, work) = self.rest_of(core, work);
            let ftl = &self.cores[core].ftl;
            let slot = ftl.lookup(Lpn(work.lpn));
            if slot.is_some() && ftl.is_programmed(slot) {
                // The read's time is spent now; its content is merged when the write enters the buffer, with what is
                // current then, so that two partial writes of one unit cannot lose each other's sectors.
                let of_pu = ftl.layout().pu_of(slot);
                self.enqueue_read(now, core, OpKind::RmwRead, of_pu, work);
                return;
            }
        }
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// Whether a write covers only a part of a unit the rest of which cannot be had: nothing whole could be written.
    #[inline]
    fn is_rest_lost(&self, core: usize, work: UnitWork) -> bool {
        u32::from(work.sectors) != self.sectors_per_unit && {
            let (core, work) = self.rest_of(core, work);
            self.cores[core].ftl.is_lost(Lpn(work.lpn))
        }
    }

    /// A unit that a command needs is known to be lost.
    #[cold]
    fn end_in_error(&mut self, now: Nanos, work: UnitWork) {
        self.counters.medium_errors += 1;
        self.look_at_state(now);
        self.requests[work.request].outcome = Outcome::MediumError;
        self.finish_parts(now, work.request, 1);
    }

    /// A write that needs no (more) old data enters the buffer, or waits its turn.
    #[inline]
    pub(crate) fn queue_write(&mut self, now: Nanos, core: usize, write: WaitingWrite) {
        if self.cores[core].waiting.is_empty() && self.may_admit(core, write) {
            self.admit(now, core, write);
        } else {
            self.cores[core].waiting.push_back(write);
            self.note_blocked(now, core);
        }
    }

    /// A write enters the buffer before all that wait.
    pub(crate) fn queue_first(&mut self, now: Nanos, core: usize, write: WaitingWrite) {
        if self.may_admit(core, write) {
            self.admit(now, core, write);
        } else {
            self.cores[core].waiting.push_front(write);
            self.note_blocked(now, core);
        }
    }

    #[inline]
    fn may_admit(&self, core: usize, write: WaitingWrite) -> bool {
        let core = &self.cores[core];
        core.buffered < core.buffer_units
            && core.ftl.can_append(write.stream)
            && (core.relocations[Task::Gc as usize].is_none()
                || core.credit >= CREDIT_ONE
                || !self.config.ftl.gc.pacing)
    }

    /// Keeps account of when host writes wait for collection, and sees that collection then runs.
    fn note_blocked(&mut self, now: Nanos, core: usize) {
        let Some(&first) = self.cores[core].waiting.front() else { return };
        let state = &mut self.cores[core];
        if state.buffered < state.buffer_units && state.blocked_since.is_none() {
            state.blocked_since = Some(now);
            self.flash.set_urgent(CoreId(core as u16), true);
        }
        if state.pinned {
            self.hurry_pinned(now, core);
        }
        let state = &mut self.cores[core];
        if !state.ftl.can_append(first.stream) {
            self.maybe_collect(now, core);
            let ftl = &self.cores[core].ftl;
            if !ftl.can_append(first.stream) && self.is_hopeless(now, core, first) {
                // Nothing will ever make room: the writes that wait end here.
                self.pump(now, core);
            }
        }
    }

    /// Whether a write that finds no room never will.
    fn is_hopeless(&mut self, now: Nanos, core: usize, write: WaitingWrite) -> bool {
        let awaits = self.awaits_room(core);
        let may_end = awaits || self.redirection.is_some();
        (self.cores[core].ftl.is_read_only() && !awaits)
            || (may_end && self.is_at_an_end(core, write) && {
                self.maybe_collect(now, core);
                self.is_at_an_end(core, write)
            })
    }

    /// Has `programs` hand out program units of a stream, data first and then the parity that it makes due. A die that this wakes may
    /// find that collection has ended and that writes may go on: they wait until all is handed out, or their data would be programmed
    /// before the parity that lies before it in the same blocks.
    #[inline]
    pub(crate) fn hand_out(&mut self, now: Nanos, core: usize, programs: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.cores[core].handing_out, true);
        programs(self);
        self.cores[core].handing_out = outer;
        if !outer && std::mem::take(&mut self.cores[core].pump_owed) {
            self.pump(now, core);
        }
    }

    /// Lets waiting writes in as far as there is room.
    pub(crate) fn pump(&mut self, now: Nanos, core: usize) {
        if self.cores[core].handing_out {
            self.cores[core].pump_owed = true;
            return;
        }
        while let Some(&write) = self.cores[core].waiting.front() {
            let ftl = &self.cores[core].ftl;
            if !ftl.can_append(write.stream) && self.is_hopeless(now, core, write) {
                self.cores[core].waiting.pop_front();
                self.requests[write.work.request].outcome = Outcome::ReadOnly;
                self.finish_parts(now, write.work.request, 1);
                continue;
            }
            if !self.may_admit(core, write) {
                self.note_blocked(now, core);
                return;
            }
            self.cores[core].waiting.pop_front();
            self.admit(now, core, write);
        }
        self.note_unblocked(now, core);
    }

    /// No host write of `core` waits for collection any more.
    #[inline]
    pub(crate) fn note_unblocked(&mut self, now: Nanos, core: usize) {
        if let Some(since) = self.cores[core].blocked_since.take() {
            self.counters.blocked_ns += (now - since).0;
            self.flash.set_urgent(CoreId(core as u16), false);
        }
    }

    #[inline]
    fn admit(&mut self, now: Nanos, core: usize, write: WaitingWrite) {
        self.note_unblocked(now, core);
        let WaitingWrite { work, stream } = write;
        if self.redirection.is_some() && self.is_out_of_date(core, work) {
            self.finish_parts(now, work.request, 1);
            return;
        }
        if self.is_rest_lost(core, work) {
            // Lost while the write waited.
            self.end_in_error(now, work);
            return;
        }
        let bytes = self.config.bytes.then(|| self.merged(core, work));
        let state = &mut self.cores[core];
        if state.relocations[Task::Gc as usize].is_some() {
            state.credit = state.credit.saturating_sub(CREDIT_ONE);
        }
        let slot = state.ftl.append(stream, Lpn(work.lpn));
        state.buffered += 1;
        if let Some(bytes) = bytes {
            state.ftl.store(slot.ppn, bytes);
        }
        self.counters.host_bytes_written += u64::from(work.sectors) * SECTOR_BYTES;
        if self.redirection.is_some() {
            if work.sectors == 0 {
                self.count_move(core);
            }
            self.took_over(now, core, work.lpn);
        }
        if slot.completes_pu {
            let (pu, _) = self.cores[core].ftl.layout().pu_of(slot.ppn);
            let units = self.cores[core].ftl.layout().units_per_pu();
            self.hand_out(now, core, |ssd| {
                ssd.program_host(now, core, pu, units);
                ssd.program_parity(now, core, stream);
            });
            self.maybe_collect(now, core);
        }
        self.finish_parts(now, work.request, 1);
    }

    pub(crate) fn program_host(&mut self, now: Nanos, core: usize, pu: u32, units: u32) {
        let epoch = self.host.open_epoch();
        self.program_host_in(now, core, pu, units, epoch);
    }

    /// [`Ssd::program_host`] as a part of a flush epoch that has not ended.
    #[inline]
    pub(crate) fn program_host_in(&mut self, now: Nanos, core: usize, pu: u32, units: u32, epoch: u32) {
        self.count_in(epoch);
        let op = Op { units: units as u16, epoch, ..Op::new(OpKind::HostProgram, Task::Gc, core, pu) };
        self.submit(now, Queue::Programs, &op);
    }

    /// A host program has ended: its units leave the buffer.
    pub(crate) fn host_programmed(&mut self, now: Nanos, op: &Op) {
        let core = usize::from(op.core);
        self.cores[core].buffered -= u32::from(op.units);
        self.count_out(now, op.epoch);
        if !self.cores[core].moved_in.is_empty() {
            self.end_moved_in(now, core, op.pu);
        }
        self.retry_erasures(now, core);
        if !self.cores[core].waiting.is_empty() {
            self.pump(now, core);
        }
        self.maybe_collect(now, core);
    }

    /// All of a command's data is in the buffer, but it must reach flash: programs what is begun, padded, and waits for
    /// every program issued so far.
    fn begin_barrier(&mut self, now: Nanos, request: u32) {
        for core in 0..self.cores.len() {
            for stream in (0..self.cores[core].ftl.host_streams()).map(Stream) {
                let units = self.cores[core].ftl.begun_units(stream);
                self.hand_out(now, core, |ssd| {
                    if let Some(pu) = ssd.cores[core].ftl.pad(stream) {
                        ssd.program_host(now, core, pu, units);
                        ssd.program_parity(now, core, stream);
                    }
                    ssd.cover(now, core, stream);
                });
            }
        }
        let epoch = self.host.open_epoch();
        self.host.epochs.push_back(0);
        self.host.barriers.push_back((epoch, request));
        self.settle_barriers(now);
    }

    /// Another program operation of flush epoch `epoch`, which has not ended.
    pub(crate) fn count_in(&mut self, epoch: u32) {
        let index = epoch.wrapping_sub(self.host.first_epoch) as usize;
        self.host.epochs[index] += 1;
    }

    /// A program operation of flush epoch `epoch` has ended.
    pub(crate) fn count_out(&mut self, now: Nanos, epoch: u32) {
        let index = epoch.wrapping_sub(self.host.first_epoch) as usize;
        self.host.epochs[index] -= 1;
        self.settle_barriers(now);
    }

    #[inline]
    fn settle_barriers(&mut self, now: Nanos) {
        while self.host.epochs.len() > 1 && self.host.epochs[0] == 0 {
            self.host.epochs.pop_front();
            let ended = self.host.first_epoch;
            self.host.first_epoch = ended.wrapping_add(1);
            while let Some(&(epoch, request)) = self.host.barriers.front() {
                if epoch != ended {
                    break;
                }
                self.host.barriers.pop_front();
                self.finish_parts(now, request, 1);
            }
        }
    }

    /// Data of a read has left the flash side; it now crosses the link.
    #[inline]
    pub(crate) fn data_moved(&mut self, now: Nanos, request: u32, bytes: u64) {
        if let Some(link) = self.host.link {
            self.host.link_out_free = self.host.link_out_free.max(now) + link.time_for(Bytes(bytes));
            self.requests[request].ready = self.host.link_out_free;
        }
    }

    /// `parts` units of a command are done; the last one completes it.
    #[inline]
    pub(crate) fn finish_parts(&mut self, now: Nanos, index: u32, parts: u32) {
        let request = &mut self.requests[index];
        request.left -= parts;
        if request.left != 0 {
            return;
        }
        if request.then != Then::Complete {
            self.go_on(now, index);
            return;
        }
        let Request { command, tag, ready, outcome, .. } = *request;
        self.requests.remove(index);
        self.host.life.count(&command, outcome);
        if command.op == HostOp::LbaStatus && outcome == Outcome::Ok {
            self.answer_status(now, index, &command, tag);
        }
        if self.config.bytes {
            self.host.data_in.remove(&index);
            // Nothing of a read that failed is handed out as if it were good.
            if let Some(data) = self.host.data_work.remove(&index)
                && outcome == Outcome::Ok
            {
                self.host.data_out.insert(tag, data);
            }
        }
        let at = if command.op == HostOp::Read && (self.host.link.is_some() || ready > now) {
            let at = ready.max(now);
            let completion = Completion { at, tag, outcome };
            if self.host.linked.back().is_none_or(|last| last.at <= at) {
                self.host.linked.push_back(completion);
            } else {
                // Some of it could not be had, so that it crosses the link before what was read earlier; or rebuilt data is
                // ready after what was asked for later.
                let index = self.host.linked.partition_point(|other| other.at <= at);
                self.host.linked.insert(index, completion);
            }
            at
        } else {
            self.host.direct.push_back(Completion { at: now, tag, outcome });
            now
        };
        self.host.next_completion = self.host.next_completion.min(at);
    }

    /// The units of request `index` are done, but that is not all.
    fn go_on(&mut self, now: Nanos, index: u32) {
        let request = &mut self.requests[index];
        if request.then == Then::MoveOn {
            let outcome = request.outcome;
            self.requests.remove(index);
            self.move_ended(now, outcome);
            return;
        }
        request.then = Then::Complete;
        request.left = 1;
        self.begin_barrier(now, index);
    }

    /// Hands out the next completion and lets in a command that waits at the door.
    pub(crate) fn emit(&mut self, completions: &mut Vec<Completion>) {
        let linked = self.host.linked.front().map_or(Nanos::MAX, |completion| completion.at);
        let direct = self.host.direct.front().map_or(Nanos::MAX, |completion| completion.at);
        let queue = if direct <= linked { &mut self.host.direct } else { &mut self.host.linked };
        let Some(completion) = queue.pop_front() else { return };
        let next = queue.front().map_or(Nanos::MAX, |completion| completion.at);
        self.host.next_completion = next.min(linked.max(direct));
        completions.push(completion);
        self.host.in_flight -= 1;
        if let Some((command, tag, data)) = self.host.door.pop_front() {
            // The command enters when the slot became free, also where the caller advances late.
            self.accept(completion.at, command, tag, &data);
        }
    }

    /// Commands received and not completed.
    pub fn commands_in_flight(&self) -> u32 {
        self.host.in_flight + self.host.door.len() as u32
    }

    fn copy_out(&mut self, core: usize, work: UnitWork) {
        let slot = self.cores[core].ftl.lookup(Lpn(work.lpn));
        let Some(unit) = self.cores[core].ftl.load(slot) else { return };
        let at = self.offset_in_command(work, core);
        let from = usize::from(work.first) * SECTOR_BYTES as usize;
        let bytes = usize::from(work.sectors) * SECTOR_BYTES as usize;
        if let Some(data) = self.host.data_work.get_mut(&work.request) {
            data[at..at + bytes].copy_from_slice(&unit[from..from + bytes]);
        }
    }

    /// Puts the bytes of a unit, rebuilt from its stripe, where the read that asked for it returns them.
    pub(crate) fn deliver(&mut self, request: u32, core: usize, lpn: Lpn, unit: &[u8]) {
        let command = self.requests[request].command;
        let number = self.unit_at(core, lpn.0);
        let first = number * u64::from(self.sectors_per_unit);
        let (start, end) = (first.max(command.lba.0), command.lba.0 + u64::from(command.sectors));
        let end = end.min(first + u64::from(self.sectors_per_unit));
        let Some(data) = self.host.data_work.get_mut(&request).filter(|_| start < end) else { return };
        let to = (start - command.lba.0) as usize * SECTOR_BYTES as usize;
        let from = (start - first) as usize * SECTOR_BYTES as usize;
        let bytes = (end - start) as usize * SECTOR_BYTES as usize;
        data[to..to + bytes].copy_from_slice(&unit[from..from + bytes]);
    }

    /// The unit's new content: the old one under the sectors written.
    fn merged(&self, core: usize, work: UnitWork) -> Box<[u8]> {
        let unit_bytes = self.sectors_per_unit as usize * SECTOR_BYTES as usize;
        let (holder, old) = self.rest_of(core, work);
        let slot = self.cores[holder].ftl.lookup(Lpn(old.lpn));
        let old = if slot.is_some() { self.cores[holder].ftl.load(slot) } else { None };
        let mut unit = old.map_or_else(|| vec![0; unit_bytes], <[u8]>::to_vec);
        let at = self.offset_in_command(work, core);
        let from = usize::from(work.first) * SECTOR_BYTES as usize;
        let bytes = usize::from(work.sectors) * SECTOR_BYTES as usize;
        if let Some(data) = self.host.data_in.get(&work.request).filter(|data| data.len() >= at + bytes) {
            unit[from..from + bytes].copy_from_slice(&data[at..at + bytes]);
        }
        unit.into_boxed_slice()
    }

    fn offset_in_command(&self, work: UnitWork, core: usize) -> usize {
        let unit = self.unit_at(core, work.lpn);
        let sector = unit * u64::from(self.sectors_per_unit) + u64::from(work.first);
        (sector - self.requests[work.request].command.lba.0) as usize * SECTOR_BYTES as usize
    }

    pub(crate) fn check_buffers(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter().enumerate() {
            let kept = core.ftl.buffered_units();
            let padding = self.padding_in_flight(index);
            let counted = u64::from(core.buffered) + u64::from(core.relocating) + padding
                - self.units_being_relocated(index)
                - u64::from(core.recovering);
            if kept != counted {
                return Err(format!(
                    "core {index}: {kept} units await programming, the buffers count {counted}"
                ));
            }
        }
        Ok(())
    }

    /// Units for which room is kept while they are being read from a victim.
    fn units_being_relocated(&self, core: usize) -> u64 {
        let reads = self.flash.reads_under_way().filter(|(die, _)| self.places[*die].core.index() == core);
        let ops = reads.map(|(_, op)| op).filter(|op| {
            let recovers = || self.reads[op.tag.cookie].recovery != NIL;
            op.tag.kind == OpKind::RelocationRead && !(op.tag.has_record && recovers())
        });
        ops.map(|op| {
            u64::from(if op.tag.has_record { self.reads[op.tag.cookie].units.into() } else { op.units() })
        })
        .sum()
    }

    fn padding_in_flight(&self, core: usize) -> u64 {
        let per_pu = u64::from(self.cores[core].ftl.layout().units_per_pu());
        self.programs_in_flight(core).map(|op| per_pu - u64::from(op.units())).sum()
    }
}

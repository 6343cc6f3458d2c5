//! The array: a machine of host commands, operations on groups, and members.

use crate::config::{ArrayConfig, StripeWrites};
use crate::doubt::Doubt;
use crate::error::Event;
use crate::layout::{Layout, Map, Rows, lay_out_over, usable_sectors};
use crate::locks::Locks;
use crate::op::{Host, Op, OpKind, Sub, SubKind};
use crate::parity::Code;
use crate::pass::{Background, PassKind};
use crate::placement::{Placement, Shares};
use crate::ranges::RangeSet;
use crate::repair::{Donor, Repairs};
use crate::status::Counters;
use outlast_device::{Command, Completion, Device, Identity, Op as HostOp, Outcome, Smart, StreamId, Tag};
use outlast_media::ConfigError;
use outlast_units::slab::Slab;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::collections::{BTreeMap, VecDeque};

/// The place of a member in the array.
#[derive(Clone, Debug)]
pub(crate) struct Column<D> {
    pub(crate) device: Option<D>,
    /// Groups below this are there; `u64::MAX`: all.
    pub(crate) valid_to: u64,
    pub(crate) in_flight: u32,
    pub(crate) read_errors: u32,
    /// The hour of the last read error, by which errors are forgotten.
    pub(crate) error_hour: u64,
    /// Sectors that could not be written.
    pub(crate) bad: RangeSet,
    /// Dies that it told have failed; whether that is not yet made good, so that read errors are no surprise; and whether it cannot be.
    pub(crate) dies: Vec<u16>,
    pub(crate) excused: bool,
    pub(crate) beyond_repair: bool,
}

impl<D> Column<D> {
    pub(crate) fn new(device: D) -> Self {
        Self {
            device: Some(device),
            valid_to: u64::MAX,
            in_flight: 0,
            read_errors: 0,
            error_hour: 0,
            bad: RangeSet::default(),
            dies: Vec::new(),
            excused: false,
            beyond_repair: false,
        }
    }

    pub(crate) fn is_in_sync(&self) -> bool {
        self.valid_to == u64::MAX
    }
}

/// An array of devices; itself a [`Device`].
///
/// **Inputs** beside those of a device: [`Array::fail_member`], [`Array::replace`], [`Array::add_spare`], [`Array::start_scrub`],
/// [`Array::power_failure`], [`Array::power_cut`] and [`Array::power_on`], [`Array::finish_shift`]. **Outputs** beside completions: [`Array::status`],
/// [`Array::counters`], [`Array::events`], [`Array::lost`].
///
/// **Time rule**: see [`Device`]. All inputs take the time, and first do what is due before it, so that members never see time run
/// backwards; the completions of that come out with the next `advance`.
///
/// **Consistency.** What writes a group holds a lock on its rows until the last member has written. Reads of healthy data take no lock;
/// reads that need redundancy, and all reads while parity moves, take a shared one.
///
/// **Time of its own**: none. Computing parity is free, as in the paper, which switches it off.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, not a state in disguise")]
pub struct Array<D> {
    pub(crate) config: ArrayConfig,
    pub(crate) layout: Layout,
    pub(crate) code: Code,
    pub(crate) shares: Option<Shares>,
    /// The table that percentages gave first; the naive shift renames its columns.
    pub(crate) first_placement: Option<Placement>,
    pub(crate) bytes: bool,
    pub(crate) age_of: fn(&D) -> f64,
    pub(crate) columns: Vec<Column<D>>,
    /// When each member next does something; then, where there are any, each donor.
    pub(crate) deadlines: Vec<Nanos>,
    /// Members that are being replaced but still give what they have, by column; empty where there is none.
    pub(crate) donors: Vec<Option<Donor<D>>>,
    pub(crate) repairs: Repairs,
    pub(crate) spares: VecDeque<D>,
    pub(crate) removed: Vec<(usize, D)>,
    pub(crate) subs: Slab<Sub>,
    pub(crate) ops: Slab<Op>,
    pub(crate) hosts: Slab<Host>,
    pub(crate) locks: Locks,
    /// Operations that have just got their lock.
    pub(crate) runnable: VecDeque<u32>,
    /// Members to be thrown out as soon as the event at hand is done.
    pub(crate) to_fail: Vec<usize>,
    pub(crate) ready: VecDeque<Completion>,
    pub(crate) data_out: BTreeMap<Tag, Vec<u8>>,
    buffer: Vec<Completion>,
    pub(crate) clock: Nanos,
    pub(crate) host_in_flight: u32,
    /// When the host last was served.
    pub(crate) last_host: Option<Nanos>,
    /// Reads of host data without a lock.
    pub(crate) direct_reads: u32,
    /// Some chunk somewhere cannot simply be read.
    pub(crate) degraded: bool,
    pub(crate) read_only: bool,
    pub(crate) powered: bool,
    /// What a loss of power leaves in doubt.
    pub(crate) doubt: Doubt,
    pub(crate) background: Background,
    /// Array sectors whose content nothing can bring back; they read as errors until written.
    pub(crate) lost: RangeSet,
    /// Operations that carry out records; the host waits for them.
    pub(crate) replaying: u32,
    pub(crate) door: VecDeque<(Command, Tag, Vec<u8>)>,
    pub(crate) counters: Counters,
    pub(crate) events: Vec<Event>,
    pub(crate) notices: Vec<String>,
    /// Sectors of a member that hold data; records follow.
    pub(crate) member_sectors: u64,
    pub(crate) trim_unit: u64,
    pub(crate) wear_checks: u64,
    pub(crate) capacity: u64,
}

impl<D: Device> Array<D> {
    /// Builds an array of the first `members` of `devices`, with the rest as spares. `bytes`: the members keep bytes, and so does the
    /// array. All devices must be empty, or hold what an array left on them.
    ///
    /// # Errors
    /// The first setting that cannot work, or too few or too small devices.
    ///
    /// # Panics
    /// Never: validation has seen to it that there is a member.
    pub fn new(config: ArrayConfig, devices: Vec<D>, bytes: bool) -> Result<Self, ConfigError> {
        config.validate()?;
        let (members, wanted) = (usize::from(config.members), usize::from(config.members + config.spares));
        if devices.len() != wanted {
            let limit =
                format!("needs {wanted} devices with its {} spares, not {}", config.spares, devices.len());
            return Err(ConfigError::new("array.members", config.members, limit));
        }
        let sizes: Vec<u64> =
            devices.iter().map(|device| device.identify().capacity.0 / SECTOR_BYTES).collect();
        let smallest = *sizes.iter().min().expect("an array has members");
        let member_sectors = usable_sectors(&config, Bytes(smallest * SECTOR_BYTES));
        let shares = config.shares()?;
        let layout = lay_out_over(&config, Bytes(smallest * SECTOR_BYTES))?;
        let first_placement = match &layout.map {
            Map::Striped(striped) if shares.is_some() => Some(striped.now.clone()),
            _ => None,
        };
        if let Some(share) = config.repair.share
            && devices.iter().any(|device| device.identify().link.is_none())
        {
            let limit = "is a share of the bandwidth of a link, of which a member tells nothing";
            return Err(ConfigError::new("array.repair.share", share, limit));
        }
        let mut notices = Vec::new();
        let largest = *sizes.iter().max().expect("an array has members");
        if largest > smallest {
            let (small, large) = (Bytes(smallest * SECTOR_BYTES), Bytes(largest * SECTOR_BYTES));
            notices.push(format!("members differ in size: {small} of each is used, up to {large} there is"));
        }
        let trim_unit =
            devices.iter().map(|device| device.identify().optimal_io.0 / SECTOR_BYTES).max().unwrap_or(1);
        let mut devices = devices.into_iter();
        let columns: Vec<Column<D>> = devices.by_ref().take(members).map(Column::new).collect();
        // Not collected from the rest of the vector: the standard library (1.95) makes an empty one of it whose first element lies beyond
        // its memory.
        let mut spares = VecDeque::new();
        spares.extend(devices);
        Ok(Self {
            code: Code::new(layout.data, layout.roles - layout.data),
            capacity: layout.capacity(),
            shares,
            first_placement,
            bytes,
            age_of: |device| f64::from(device.smart().percentage_used),
            deadlines: vec![Nanos::MAX; members],
            donors: Vec::new(),
            repairs: Repairs::default(),
            columns,
            spares,
            removed: Vec::new(),
            subs: Slab::default(),
            ops: Slab::default(),
            hosts: Slab::default(),
            locks: Locks::new(),
            runnable: VecDeque::new(),
            to_fail: Vec::new(),
            ready: VecDeque::new(),
            data_out: BTreeMap::new(),
            buffer: Vec::new(),
            clock: Nanos::ZERO,
            host_in_flight: 0,
            last_host: None,
            direct_reads: 0,
            degraded: false,
            read_only: false,
            powered: true,
            doubt: Doubt::new(&config, layout.groups, layout.chunk),
            background: Background::new(config.background.scrub_interval),
            lost: RangeSet::default(),
            replaying: 0,
            door: VecDeque::new(),
            counters: Counters::default(),
            events: Vec::new(),
            notices,
            member_sectors,
            trim_unit: trim_unit.max(1),
            wear_checks: 0,
            layout,
            config,
        })
    }

    /// As the array, with another measure of a member's age than the percentage of its rating that its health log tells: any
    /// figure that grows with wear. [`ReplacementConfig::limit_percent`](crate::ReplacementConfig) is compared with it.
    #[must_use]
    pub fn with_age(mut self, age_of: fn(&D) -> f64) -> Self {
        self.age_of = age_of;
        self
    }

    /// The settings.
    pub fn config(&self) -> &ArrayConfig {
        &self.config
    }

    /// What a user should know about how the devices fit, in words.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The device in column `column`, if there is one.
    pub fn member(&self, column: usize) -> Option<&D> {
        self.columns.get(column)?.device.as_ref()
    }

    /// As [`Array::member`], to inject faults.
    pub fn member_mut(&mut self, column: usize) -> Option<&mut D> {
        self.columns.get_mut(column)?.device.as_mut()
    }

    /// Devices that have left, with the column they had, oldest first.
    pub fn removed(&self) -> &[(usize, D)] {
        &self.removed
    }

    /// Every device that is in the array or stands by, or has failed or been replaced by itself: members by column, then spares, then
    /// those that have left, oldest first, then those that are being replaced and still give what they have.
    pub fn devices(&self) -> impl Iterator<Item = &D> {
        let members = self.columns.iter().filter_map(|column| column.device.as_ref());
        let donors = self.donors.iter().flatten().filter_map(|donor| donor.home.device.as_ref());
        members.chain(&self.spares).chain(self.removed.iter().map(|(_, device)| device)).chain(donors)
    }

    /// Changes devices from outside, between commands: prepares them, or has something happen to them later. `change` gets members by
    /// their column and spares by numbers that follow, and those that have left by further ones.
    pub fn with_devices(&mut self, mut change: impl FnMut(usize, &mut D)) {
        let members = self.columns.len();
        for (column, member) in self.columns.iter_mut().enumerate() {
            if let Some(device) = &mut member.device {
                change(column, device);
            }
        }
        let left = self.removed.iter_mut().map(|(_, device)| device);
        let donors = self.donors.iter_mut().flatten().filter_map(|donor| donor.home.device.as_mut());
        for (index, device) in self.spares.iter_mut().chain(left).chain(donors).enumerate() {
            change(members + index, device);
        }
        self.refresh_deadlines();
    }

    /// Asks every member when it next does something.
    pub(crate) fn refresh_deadlines(&mut self) {
        for index in 0..self.deadlines.len() {
            let deadline = self.device_mut(index).and_then(|device| device.next_deadline());
            self.deadlines[index] = deadline.unwrap_or(Nanos::MAX);
        }
    }

    /// Whether some member is being rebuilt or recovers what it has lost, or parity is moved to where it belongs.
    pub fn is_rebuilding(&self) -> bool {
        let pass = self.background.pass.as_ref();
        self.background.pending_shift.is_some()
            || self.repairs.in_place()
            || pass.is_some_and(|pass| matches!(pass.kind, PassKind::Rebuild | PassKind::Shift))
    }

    /// Whether parity is in doubt since a loss of power.
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.resync.is_some()
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.next_deadline().is_none()
    }

    /// Bytes allocated for bookkeeping, members' own not counted.
    pub fn heap_bytes(&self) -> usize {
        self.subs.heap_bytes() + self.ops.heap_bytes() + self.hosts.heap_bytes() + self.locks.heap_bytes()
    }

    /// Data roles of a group, as a set.
    pub(crate) fn data_set(&self) -> u64 {
        crate::op::first_roles(self.layout.data)
    }

    /// All roles of a group, as a set.
    pub(crate) fn role_set(&self) -> u64 {
        crate::op::first_roles(self.layout.roles)
    }

    pub(crate) fn whole_chunk(&self) -> Rows {
        Rows::new(0, self.layout.chunk as u32)
    }

    pub(crate) fn joins_chunks(&self) -> bool {
        self.config.writes != StripeWrites::ChunkByChunk
    }

    /// Sends a command to a member that is there.
    #[inline]
    pub(crate) fn send(&mut self, now: Nanos, sub: Sub, command: Command, data: &[u8]) {
        let column = usize::from(sub.column);
        let index = self.subs.insert(sub);
        let member = self.column_mut(column).expect("commands go to members that are there");
        member.in_flight += 1;
        let device = member.device.as_mut().expect("commands go to members that are there");
        if data.is_empty() {
            device.submit(now, command, Tag(index));
        } else {
            device.submit_data(now, command, Tag(index), data);
        }
        self.deadlines[column] = device.next_deadline().unwrap_or(Nanos::MAX);
        match command.op {
            HostOp::Read => self.counters.member_reads += 1,
            HostOp::Write => self.counters.member_writes += 1,
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
        }
        if !self.degraded {
            return;
        }
        let owner = match sub.kind {
            SubKind::Read | SubKind::Write => self.ops.slots().get(sub.owner as usize),
            _ => None,
        };
        if owner.is_some_and(|op| op.kind == OpKind::Transform) {
            let sectors = u64::from(command.sectors);
            match sub.kind {
                SubKind::Read => self.counters.rebuild_sectors_read += sectors,
                _ => self.counters.rebuild_sectors_written += sectors,
            }
        }
    }

    /// When something is due first, whose it is (`usize::MAX`: the array's own), and when anything else is due.
    #[inline]
    fn next_events(&self) -> (Nanos, usize, Nanos) {
        let mut first = self.background.wake.min(self.background.next_scrub);
        first = first.min(self.doubt.bitmap.wake).min(self.doubt.wake);
        let (mut source, mut second) = (usize::MAX, Nanos::MAX);
        for (column, &at) in self.deadlines.iter().enumerate() {
            // Without branches: which member is next cannot be predicted.
            second = second.min(first.max(at));
            source = if at < first { column } else { source };
            first = first.min(at);
        }
        (first, source, second)
    }

    /// Does what is due first, at `at`; a member may go on by itself, up to `limit`, as long as nothing else is due and nothing
    /// completes.
    #[inline]
    fn step(&mut self, (at, source, others): (Nanos, usize, Nanos), limit: Nanos) {
        if source == usize::MAX {
            self.clock = at;
            self.timer(at);
            self.settle(at);
            return;
        }
        let limit = limit.min(others).max(at);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut reached = at;
        let (mut deadline, mut notice) = (Nanos::MAX, None);
        if let Some(device) = self.device_mut(source) {
            reached = device.advance_to_completion(limit, &mut buffer);
            notice = device.take_notice();
            deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        }
        self.deadlines[source] = deadline;
        if !buffer.is_empty() || notice.is_some() {
            self.clock = reached;
            for completion in buffer.drain(..) {
                self.member_done(reached, completion.tag, completion.outcome);
            }
            if let Some(notice) = notice {
                self.told(reached, source, notice);
            }
            self.settle(reached);
        }
        self.buffer = buffer;
    }

    fn timer(&mut self, now: Nanos) {
        if self.doubt.bitmap.wake <= now {
            self.bitmap_daemon(now);
        }
        if self.doubt.wake <= now && self.doubt.is_idle(now) {
            self.flush_to_be_clean(now);
        }
        if self.background.next_scrub <= now {
            self.timed_scrub();
        }
        if self.background.wake <= now {
            self.background.wake = Nanos::MAX;
            self.background.pump = true;
        }
    }

    /// Does everything that is due before `now`, so that what comes next does not make time run backwards.
    pub(crate) fn catch_up(&mut self, now: Nanos) {
        loop {
            let next = self.next_events();
            if next.0 >= now {
                break;
            }
            self.step(next, Nanos(now.0 - 1));
        }
        self.clock = self.clock.max(now);
    }

    /// After each event: operations that got their lock go on, members that must leave do, the background keeps its pace.
    #[inline]
    pub(crate) fn settle(&mut self, now: Nanos) {
        loop {
            if let Some(op) = self.runnable.pop_front() {
                self.locked(now, op);
            } else if let Some(column) = self.to_fail.pop() {
                self.fail_column(now, column);
            } else if self.background.pump {
                self.background.pump = false;
                self.pump(now);
            } else {
                break;
            }
        }
    }

    fn member_done(&mut self, now: Nanos, tag: Tag, outcome: Outcome) {
        let sub = self.subs[tag.0];
        debug_assert!(sub.live, "a member completed a command twice");
        self.subs[tag.0].live = false;
        self.subs.remove(tag.0);
        if let Some(member) = self.column_mut(usize::from(sub.column)) {
            member.in_flight -= 1;
        }
        match sub.kind {
            SubKind::DirectRead => self.direct_read_done(now, sub, tag, outcome),
            SubKind::DirectWrite => self.direct_write_done(now, sub, outcome),
            SubKind::DirectTrim | SubKind::Flush => self.finish_part(now, sub.owner),
            SubKind::Read => self.gather_done(now, sub, tag, outcome),
            SubKind::Write => self.commit_done(now, sub, outcome),
            SubKind::Log => self.log_done(now, sub.owner),
            SubKind::Bitmap => self.bitmap_done(now),
            SubKind::Clean => self.doubt.flushed(),
            SubKind::Status => self.status_done(now, sub, tag, outcome),
            SubKind::RepairFlush => self.repair_flushed(now, sub.owner),
        }
    }

    /// Ends a command to a member that is no longer there.
    pub(crate) fn member_gone(&mut self, now: Nanos, sub: Sub) {
        match sub.kind {
            SubKind::DirectRead => self.direct_read_done(now, sub, Tag(0), Outcome::ReadOnly),
            SubKind::DirectWrite => self.direct_write_done(now, sub, Outcome::ReadOnly),
            SubKind::DirectTrim | SubKind::Flush => self.finish_part(now, sub.owner),
            SubKind::Read => self.gather_gone(now, sub),
            SubKind::Write => self.commit_part(now, sub.owner),
            SubKind::Log => self.log_done(now, sub.owner),
            SubKind::Bitmap => self.bitmap_done(now),
            SubKind::Clean => self.doubt.flushed(),
            // The repair has ended with its member.
            SubKind::Status | SubKind::RepairFlush => {}
        }
    }
}

/// A command to a member.
pub(crate) fn command(op: HostOp, lba: u64, rows: Rows) -> Command {
    Command { lba: Lba(lba), sectors: rows.len(), op, stream: StreamId(0), fua: false }
}

impl<D: Device> Device for Array<D> {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.submit_data(now, command, tag, &[]);
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.catch_up(now);
        self.receive(now, command, tag, data);
        self.settle(now);
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.data_out.remove(&tag)
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let ready = self.ready.front().map_or(Nanos::MAX, |completion| completion.at);
        Some(self.next_events().0.min(ready)).filter(|&at| at != Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        loop {
            let next = self.next_events();
            if next.0 > now || next.0 == Nanos::MAX {
                break;
            }
            self.step(next, now);
        }
        while self.ready.front().is_some_and(|completion| completion.at <= now) {
            completions.extend(self.ready.pop_front());
        }
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        loop {
            if let Some(first) = self.ready.pop_front() {
                completions.push(first);
                while self.ready.front().is_some_and(|completion| completion.at <= first.at) {
                    completions.extend(self.ready.pop_front());
                }
                return first.at;
            }
            let next = self.next_events();
            if next.0 > limit || next.0 == Nanos::MAX {
                return limit;
            }
            self.step(next, limit);
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        for command in upcoming.iter().filter(|command| command.op != HostOp::Flush) {
            let end = command.lba.0.saturating_add(u64::from(command.sectors));
            let piece = self.layout.pieces(command.lba.0, u64::from(command.sectors), false).next();
            let Some(piece) = piece.filter(|_| end <= self.capacity) else { continue };
            let write = command.op == HostOp::Write;
            let redundancy = if write { self.layout.data..self.layout.roles } else { 0..0 };
            for role in std::iter::once(usize::from(piece.first_role)).chain(redundancy) {
                let (column, base) = self.layout.locate(piece.group, role, false);
                if let Some(device) = &self.columns[column].device {
                    let lba = Lba(base + u64::from(piece.rows.first));
                    device.hint(&[Command { lba, sectors: piece.rows.len(), ..*command }]);
                }
            }
        }
    }

    fn identify(&self) -> Identity {
        let members = self.columns.iter().filter_map(|column| column.device.as_ref());
        let model = members.map(|device| device.identify().model).next().unwrap_or_default();
        let unit = if self.config.has_parity() && self.layout.data > 1 {
            self.layout.data as u64 * self.layout.chunk
        } else {
            self.trim_unit
        };
        Identity {
            model: format!("{} of {} {model}", self.config.level.name(), self.columns.len()),
            capacity: Bytes(self.capacity * SECTOR_BYTES),
            optimal_io: Bytes(unit * SECTOR_BYTES),
            link: None,
        }
    }

    fn smart(&self) -> Smart {
        let mut smart = Smart {
            host_read_commands: self.counters.reads,
            host_write_commands: self.counters.writes,
            data_units_read: self.counters.sectors_read.div_ceil(1000),
            data_units_written: self.counters.sectors_written.div_ceil(1000),
            media_errors: self.counters.medium_errors,
            available_spare: 100,
            percentage_used: 0,
            read_only: self.read_only,
        };
        for member in self.columns.iter().filter_map(|column| column.device.as_ref()) {
            let member = member.smart();
            smart.available_spare = smart.available_spare.min(member.available_spare);
            smart.percentage_used = smart.percentage_used.max(member.percentage_used);
        }
        smart
    }

    fn self_check(&self) -> Result<(), String> {
        for (index, column) in self.columns.iter().enumerate() {
            if let Some(device) = &column.device {
                device.self_check().map_err(|error| format!("member {index}: {error}"))?;
            }
        }
        let live = self.subs.slots().iter().filter(|sub| sub.live).count();
        let donors = self.donors.iter().flatten().map(|donor| &donor.home);
        let in_flight: u32 = self.columns.iter().chain(donors).map(|column| column.in_flight).sum();
        if live != in_flight as usize || live != self.subs.used() {
            return Err(format!(
                "{live} member commands live, {in_flight} counted, {} kept",
                self.subs.used()
            ));
        }
        if self.hosts.used() != self.host_in_flight as usize {
            return Err(format!("{} host commands kept, {} counted", self.hosts.used(), self.host_in_flight));
        }
        if self.locks.len() != self.ops.used() {
            return Err(format!("{} locks for {} operations", self.locks.len(), self.ops.used()));
        }
        let idle = self.host_in_flight == 0 && self.ops.used() == 0 && live == 0;
        if idle && (self.direct_reads != 0 || !self.doubt.is_settled()) {
            let reads = self.direct_reads;
            return Err(format!("idle with {reads} reads, or writes, log bytes or records left"));
        }
        Ok(())
    }
}

//! Zones of a drive: their states, the streams that fill them, and the order of the commands to one zone.
//!
//! The machine of states ([`ZoneTable`]) decides when a command arrives, and moves the write pointer then. What follows on flash comes later: a write
//! goes to the stream of its zone, of which each active zone has one; a finish or a reset begins when the writes before it are in the buffer, and the
//! writes behind it wait for it. So the commands to a zone act in the order in which they came.

mod config;
mod fill;
mod way;

pub use config::{zone_layout, zone_streams};
pub use fill::ZoneFill;

use crate::commands::{HostRequestId, Requests};
use outlast_device::{
    Command, CommandResult, Op, Outcome, PlacementId, Tag, ZoneAction, ZoneError, ZoneId, ZoneState,
    ZoneTable,
};
use outlast_settings::zones::{FinishCost, ZonesConfig};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;
use way::{Held, ZoneWay};

/// Commands to zones that have been carried out, and what they did, since figures were last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneCounts {
    /// Zones opened, closed, finished, reset and given up, in the order of [`ZoneAction::ALL`].
    pub actions: [u64; ZoneAction::ALL.len()],
    /// Zones that writes filled to their end.
    pub filled: u64,
    /// Bytes that finishes have written into the rest of zones.
    pub finish_bytes: u64,
    /// Superblocks erased for resets.
    pub reset_superblocks: u64,
    /// Commands refused, in the order of [`ZoneError::ALL`].
    pub errors: [u64; ZoneError::ALL.len()],
}

/// The zones of a drive.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct Zones {
    #[persist(fixed)]
    config: ZoneTimes,
    table: ZoneTable,
    /// Zones of which something is under way, or that have a stream.
    ways: Vec<ZoneWay>,
    /// Streams that no zone has.
    free: Vec<u16>,
    /// Streams whose zone takes no more: their superblocks are closed before another zone has them.
    closing: VecDeque<u16>,
    /// Commands that waited and go on.
    ready: VecDeque<HostRequestId>,
    /// Finishes that write the rest of a zone.
    fills: Vec<ZoneFill>,
    /// Reads that reach beyond the capacity of a zone, with the sectors that the host asked for.
    long_reads: Vec<(Tag, u32)>,
    /// Finishes and resets whose completion comes later than their work on flash ends, and by how much.
    later: Vec<(HostRequestId, Nanos)>,
    /// Resets that have not been carried out, with the state of their zone before.
    before_reset: VecDeque<(ZoneId, (ZoneState, u64))>,
    /// Zones of which commands waited when power last failed.
    cut_short: Vec<ZoneId>,
    counts: ZoneCounts,
    #[persist(fixed)]
    streams: u16,
}

/// What commands to zones cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
struct ZoneTimes {
    writes_rest: bool,
    finish: Nanos,
    reset: Nanos,
    reset_partial: Nanos,
}

/// The place of a zone in the drive's own sectors, which have no gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneRange {
    /// The first.
    pub first: u64,
    /// The one after the last.
    pub end: u64,
}

impl Zones {
    /// Empty zones, as `table` has them.
    pub fn new(config: &ZonesConfig, table: ZoneTable) -> Self {
        let streams = u16::from(zone_streams(config));
        let config = ZoneTimes {
            writes_rest: config.finish == FinishCost::Written,
            finish: config.finish_time,
            reset: config.reset_time,
            reset_partial: config.reset_time_partial,
        };
        Self {
            config,
            table,
            ways: Vec::new(),
            free: (0..streams).rev().collect(),
            closing: VecDeque::new(),
            ready: VecDeque::new(),
            fills: Vec::new(),
            long_reads: Vec::new(),
            later: Vec::new(),
            before_reset: VecDeque::new(),
            cut_short: Vec::new(),
            counts: ZoneCounts::default(),
            streams,
        }
    }

    /// States and write pointers.
    pub fn table(&self) -> &ZoneTable {
        &self.table
    }

    /// True if commands to `zone` waited when power failed: a reset among them may not have been carried out.
    pub fn was_cut_short(&self, zone: ZoneId) -> bool {
        self.cut_short.contains(&zone)
    }

    /// What was done since figures were last reset.
    pub fn counts(&self) -> &ZoneCounts {
        &self.counts
    }

    /// Counts anew.
    pub fn reset_counts(&mut self) {
        self.counts = ZoneCounts::default();
    }

    /// The sector of the host that is `sector` of the drive's own.
    pub fn to_host(&self, sector: u64) -> Lba {
        let layout = self.table.layout();
        Lba(sector / layout.capacity * layout.size + sector % layout.capacity)
    }

    /// The drive's own sectors of `zone`.
    pub fn range(&self, zone: ZoneId) -> ZoneRange {
        let capacity = self.table.layout().capacity;
        ZoneRange { first: u64::from(zone.0) * capacity, end: (u64::from(zone.0) + 1) * capacity }
    }

    /// The zone in which a sector of the drive's own lies.
    #[allow(clippy::cast_possible_truncation, reason = "a device has at most 2^32 zones")]
    pub fn zone_of(&self, sector: u64) -> ZoneId {
        ZoneId((sector / self.table.layout().capacity) as u32)
    }

    /// A command comes: the machine of states takes it, and it is rewritten to the drive's own sectors. If it is refused, nothing has changed.
    pub fn accept(&mut self, command: &mut Command, tag: Tag) -> Outcome {
        let layout = *self.table.layout();
        let end = command.lba.0.checked_add(u64::from(command.sectors));
        let starts = command.lba.0 < layout.sectors() || command.op == Op::Flush;
        if !starts || end.is_none_or(|end| command.op != Op::Flush && end > layout.sectors()) {
            return Outcome::OutOfRange;
        }
        let place = match command.op {
            Op::Flush => return Outcome::Ok,
            Op::Read => self.table.check_read(command.lba, command.sectors),
            Op::Write | Op::Append => {
                let place = self.table.write(command.op, command.lba, command.sectors);
                if let Ok((zone, _)) = place {
                    self.counts.filled += u64::from(self.table.state(zone) == ZoneState::Full);
                }
                place
            }
            Op::ManageZone => {
                let zone = layout.place(command.lba).0;
                let before = (self.table.state(zone), self.table.written(zone));
                let managed = self.table.manage(command.zone_action, command.lba);
                if managed.is_ok() && command.zone_action == ZoneAction::Reset {
                    self.before_reset.push_back((zone, before));
                }
                managed.map(|zone| (zone, 0))
            }
            // Deallocation is advice, and a zone is deallocated by its reset.
            Op::Trim | Op::LbaStatus => {
                command.sectors = 0;
                command.lba = Lba(0);
                return Outcome::Ok;
            }
        };
        match place {
            Ok((zone, within)) => {
                if command.op == Op::ManageZone {
                    self.counts.actions[command.zone_action as usize] += 1;
                }
                let within = within.min(layout.capacity);
                let room = layout.capacity - within;
                if command.op == Op::Read && u64::from(command.sectors) > room {
                    self.long_reads.push((tag, command.sectors));
                    command.sectors = room as u32;
                }
                command.lba = Lba(self.range(zone).first + within);
                Outcome::Ok
            }
            Err(error) => {
                self.counts.errors[error as usize] += 1;
                Outcome::Zone(error)
            }
        }
    }

    /// State of `zone`, and sectors written, before the first reset of it that has not been carried out.
    pub fn take_before_reset(&mut self, zone: ZoneId) -> (ZoneState, u64) {
        let at = self.before_reset.iter().position(|&(own, _)| own == zone);
        at.and_then(|at| self.before_reset.remove(at)).map_or((ZoneState::Empty, 0), |(_, before)| before)
    }

    /// Sectors that the host asked for with read `tag`, where it gets more than the capacity of the zone holds.
    pub fn take_long_read(&mut self, tag: Tag) -> Option<u32> {
        let at = self.long_reads.iter().position(|&(own, _)| own == tag)?;
        Some(self.long_reads.swap_remove(at).1)
    }

    /// Request `request` of an accepted command has begun: writes, finishes and resets take their place in the order of their zone.
    pub fn begin(&mut self, request: HostRequestId, command: &Command, requests: &mut Requests) {
        let held = match command.op {
            Op::Write | Op::Append => Held::write(request),
            Op::ManageZone if matches!(command.zone_action, ZoneAction::Finish | ZoneAction::Reset) => {
                Held::action(request)
            }
            _ => return,
        };
        let zone = self.zone_of(command.lba.0);
        let at = self.way(zone);
        self.ways[at].held.push_back(held);
        self.pump(at, requests);
    }

    /// True if `request`, which is about to be carried out, has to wait; it goes on later.
    pub fn holds(&mut self, request: HostRequestId, requests: &mut Requests) -> bool {
        let find = |way: &mut ZoneWay| {
            way.held.iter_mut().find(|held| held.request == request).is_some_and(|held| {
                held.arrived = true;
                true
            })
        };
        let Some(at) = self.ways.iter_mut().position(find) else { return false };
        self.pump(at, requests);
        true
    }

    /// The number of the way of `zone`, which gets one if it has none.
    fn way(&mut self, zone: ZoneId) -> usize {
        self.ways.iter().position(|way| way.zone == zone).unwrap_or_else(|| {
            self.ways.push(ZoneWay::new(zone));
            self.ways.len() - 1
        })
    }

    /// Lets go what need not wait any more of way `at`.
    fn pump(&mut self, at: usize, requests: &mut Requests) {
        let way = &mut self.ways[at];
        while let Some(&Held { request, is_write, arrived }) = way.held.front() {
            if way.acts {
                break;
            }
            if is_write {
                if way.stream.is_none() {
                    way.stream = self.free.pop();
                }
                let Some(stream) = way.stream else { break };
                requests.place(request, PlacementId(stream));
                way.under_way += 1;
            } else if way.under_way != 0 || !arrived {
                break;
            } else {
                way.acts = true;
            }
            way.held.pop_front();
            if arrived {
                self.ready.push_back(request);
            }
        }
        if way.is_idle() && !self.table.state(way.zone).is_active() {
            let way = self.ways.swap_remove(at);
            self.closing.extend(way.stream);
        }
    }

    /// Command `command` of `request`, which zones did not refuse, has ended. Returns its result, and how much later its completion comes.
    pub fn ended(
        &mut self,
        request: HostRequestId,
        command: &Command,
        requests: &mut Requests,
    ) -> (CommandResult, Nanos) {
        match command.op {
            Op::Write | Op::Append => {
                let at = self.way(self.zone_of(command.lba.0));
                self.ways[at].under_way -= 1;
                self.pump(at, requests);
                let first = if command.op == Op::Append { self.to_host(command.lba.0).0 } else { 0 };
                (CommandResult(first), Nanos::ZERO)
            }
            Op::ManageZone => {
                let at = self.later.iter().position(|&(own, _)| own == request);
                let later = at.map_or(Nanos::ZERO, |at| self.later.swap_remove(at).1);
                (CommandResult::NONE, later)
            }
            _ => (CommandResult::NONE, Nanos::ZERO),
        }
    }

    /// Finish or reset `request` is carried out on `zone`: its completion comes later by what the settings say. `is_partial`: it was partly written,
    /// and not finished.
    pub fn set_time(&mut self, request: HostRequestId, action: ZoneAction, is_partial: bool) {
        let ZoneTimes { finish, reset, reset_partial, .. } = self.config;
        let partly = |time: Nanos| if is_partial { time } else { Nanos::ZERO };
        let later = match action {
            ZoneAction::Finish => partly(finish),
            ZoneAction::Reset => reset + partly(reset_partial),
            _ => Nanos::ZERO,
        };
        if later != Nanos::ZERO {
            self.later.push((request, later));
        }
    }

    /// The action on `zone` has been carried out: what came after it goes on.
    pub fn acted(&mut self, zone: ZoneId, requests: &mut Requests) {
        let at = self.way(zone);
        self.ways[at].acts = false;
        self.pump(at, requests);
    }

    /// The stream of `zone`; absent where nothing is written of it, or it takes no more.
    pub fn stream(&self, zone: ZoneId) -> Option<u16> {
        self.ways.iter().find(|way| way.zone == zone)?.stream
    }

    /// The zone that stream `stream` fills.
    pub fn zone_of_stream(&self, stream: u16) -> Option<ZoneId> {
        self.ways.iter().find(|way| way.stream == Some(stream)).map(|way| way.zone)
    }

    /// True if a command to `zone` has not been carried out.
    pub fn is_busy(&self, zone: ZoneId) -> bool {
        self.ways.iter().any(|way| way.zone == zone && !way.is_idle())
    }

    /// A stream whose superblocks are to be closed; it is free then.
    pub fn take_closing(&mut self) -> Option<u16> {
        self.closing.pop_front()
    }

    /// The superblocks of `stream` have been closed: a zone that waits for a stream has it.
    pub fn closed(&mut self, stream: u16, requests: &mut Requests) {
        self.free.push(stream);
        let waits = |way: &ZoneWay| way.stream.is_none() && !way.acts && !way.held.is_empty();
        if let Some(at) = self.ways.iter().position(waits) {
            self.pump(at, requests);
        }
    }

    /// The next command that waited and goes on.
    pub fn take_ready(&mut self) -> Option<HostRequestId> {
        self.ready.pop_front()
    }

    /// True if something goes on when nothing else is due.
    pub fn goes_on(&self) -> bool {
        !self.ready.is_empty() || !self.closing.is_empty() || self.fills.iter().any(ZoneFill::has_room)
    }

    /// Requests that wait for others to their zone.
    pub fn held(&self) -> impl Iterator<Item = HostRequestId> {
        self.ways
            .iter()
            .flat_map(|way| way.held.iter().map(|held| held.request))
            .chain(self.ready.iter().copied())
    }

    /// True if a finish writes the rest of a zone.
    pub fn writes_rest(&self) -> bool {
        self.config.writes_rest
    }

    /// Counts superblocks that a reset erases.
    pub fn count_reset(&mut self, superblocks: u64) {
        self.counts.reset_superblocks += superblocks;
    }

    /// Power fails: commands are forgotten.
    pub fn power_failed(&mut self) {
        self.ready.clear();
        self.fills.clear();
        self.long_reads.clear();
        self.later.clear();
        self.before_reset.clear();
        self.cut_short = self.ways.iter().filter(|way| !way.held.is_empty()).map(|way| way.zone).collect();
        for way in &mut self.ways {
            *way = ZoneWay { stream: way.stream, ..ZoneWay::new(way.zone) };
        }
    }

    /// Power is back, and `kept` says how many sectors of each zone from its start on are there. Streams of zones that take no more are to be closed.
    pub fn power_cycle(&mut self, kept: impl FnMut(ZoneId) -> u64) {
        self.table.power_cycle(kept);
        // Of a superblock that was full what was lost may be to come again.
        self.closing.extend(self.free.drain(..));
        let ways = std::mem::take(&mut self.ways);
        for way in ways {
            let Some(stream) = way.stream else { continue };
            if self.table.state(way.zone).is_active() {
                self.ways.push(ZoneWay { stream: Some(stream), ..ZoneWay::new(way.zone) });
            } else {
                self.closing.push_back(stream);
            }
        }
    }

    /// After a loss of power, and once no stream is to be closed: every zone that is partly written has a stream.
    pub fn give_streams(&mut self) {
        for zone in self.table.ids() {
            if self.table.state(zone).is_active() && self.stream(zone).is_none() {
                let stream = self.free.pop();
                self.ways.push(ZoneWay { stream, ..ZoneWay::new(zone) });
            }
        }
    }

    /// Checks that every stream is of one zone, or free, and the states.
    ///
    /// # Errors
    /// The first thing that is wrong, in words.
    pub fn self_check(&self) -> Result<(), String> {
        self.table.self_check()?;
        let of_ways = self.ways.iter().filter_map(|way| way.stream);
        let mut streams: Vec<u16> =
            of_ways.chain(self.free.iter().copied()).chain(self.closing.iter().copied()).collect();
        streams.sort_unstable();
        if !streams.iter().copied().eq(0..self.streams) {
            return Err(format!("zones have the streams {streams:?} of {}", self.streams));
        }
        let mut zones: Vec<ZoneId> = self.ways.iter().map(|way| way.zone).collect();
        zones.sort_unstable();
        if zones.windows(2).any(|two| two[0] == two[1])
            || zones.last().is_some_and(|zone| zone.0 >= self.table.layout().zones)
        {
            return Err("a zone has two ways, or is none".into());
        }
        if self.ways.iter().any(|way| way.is_idle() && !self.table.state(way.zone).is_active()) {
            return Err("a zone that is not active has a stream".into());
        }
        Ok(())
    }

    fn check_restored(&self) -> Result<(), String> {
        self.self_check()
    }

    /// Bytes that the host addresses.
    pub fn capacity(&self) -> Bytes {
        Bytes(self.table.layout().sectors() * SECTOR_BYTES)
    }
}

//! The order of commands to one zone: writes go on while the zone has a stream and nothing before them acts on it; finishes and resets when no write is
//! under way.

use super::way::{Held, ZoneWay};
use super::{ZoneFill, ZoneTimes, Zones};
use crate::commands::{HostRequestId, Requests};
use outlast_device::{Command, CommandResult, Op, Outcome, PlacementId, ZoneAction, ZoneId, ZoneState};
use outlast_units::Nanos;

impl Zones {
    /// Request `request` of an accepted command has begun: writes, finishes and resets take their place in the order of their zone.
    pub fn begin(&mut self, request: HostRequestId, command: &Command, requests: &mut Requests) {
        let commits = self.begin_area_write(request, command);
        let held = match (command.op, command.zone_action) {
            (Op::Write | Op::Append, _) if !commits => Held::write(request),
            (Op::Write, _) => Held::commit(request, true),
            (Op::ManageZone, ZoneAction::Commit) => Held::commit(request, false),
            (Op::ManageZone, ZoneAction::Finish | ZoneAction::Reset) => Held::action(request),
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
        while let Some(&Held { request, is_write, acts, needs_stream, arrived }) = way.held.front() {
            if way.acts || (acts && (way.under_way != 0 || !arrived)) {
                break;
            }
            if needs_stream {
                if way.stream.is_none() {
                    way.stream = self.free.pop();
                }
                let Some(stream) = way.stream else { break };
                if is_write {
                    requests.place(request, PlacementId(stream));
                }
            }
            way.under_way += u32::from(is_write);
            way.acts = acts;
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

    /// Command `command` of `request`, which zones did not refuse, has ended with `outcome`: a zone that there is no room to write on is read-only. Returns
    /// the result, and how much later the completion comes.
    pub fn ended(
        &mut self,
        request: HostRequestId,
        (command, outcome): (&Command, Outcome),
        requests: &mut Requests,
    ) -> (CommandResult, Nanos) {
        if outcome == Outcome::ReadOnly {
            self.give_up(self.zone_of(command.lba.0));
        }
        match command.op {
            Op::Write | Op::Append => {
                let at = self.way(self.zone_of(command.lba.0));
                self.ways[at].under_way -= 1;
                self.area_writes.retain(|own| own.request != request);
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

    fn give_up(&mut self, zone: ZoneId) {
        if self.table.state(zone) != ZoneState::Offline {
            self.table.give_up(zone, ZoneState::ReadOnly);
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

    /// Requests of which a part is with the zones: all of them is in the drive and waits for its turn, or they are finishes that write.
    pub fn named_requests(&self) -> impl Iterator<Item = HostRequestId> {
        let held = self.ways.iter().flat_map(|way| &way.held).filter(|held| held.arrived);
        let fills = self.fills.iter().map(|fill| fill.request);
        held.map(|held| held.request).chain(self.ready.iter().copied()).chain(fills)
    }
}

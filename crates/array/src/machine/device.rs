//! The array as a device.

use super::Array;
use crate::hints::hint_members;
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, Peek, SectorRun, Smart, Tag,
};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};

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
        self.replies.data.remove(tag)
    }

    fn take_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.accounts.as_mut()?.take(tag)
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.replies.failed.remove(tag)
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.peek_at(lba, sectors, to);
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.extents_of(lba, sectors)
    }

    fn next_deadline(&self) -> Option<Nanos> {
        Some(self.next_event().min(self.replies.next())).filter(|&at| at != Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while self.run_next_event(now) {}
        self.replies.take(now, completions, &mut self.accounts);
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        loop {
            let ready = self.replies.next();
            if ready != Nanos::MAX {
                self.replies.take(ready, completions, &mut self.accounts);
                return ready;
            }
            if !self.run_next_event(limit) {
                return limit;
            }
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        hint_members(&self.layout, &self.members, upcoming);
    }

    fn identify(&self) -> Identity {
        let members = self.members.iter().filter_map(|column| column.device.as_ref());
        let model = members.map(|device| device.identify().model).next().unwrap_or_default();
        // A full stripe is the unit that needs no reads.
        let unit = if self.setup.config.has_parity() && self.layout.data > 1 {
            self.layout.data as u64 * self.layout.chunk
        } else {
            self.setup.trim_unit
        };
        Identity {
            model: format!("{} of {} {model}", self.setup.config.level.name(), self.members.len()),
            capacity: Bytes(self.setup.capacity * SECTOR_BYTES),
            optimal_io: Bytes(unit * SECTOR_BYTES),
            link: None,
        }
    }

    fn smart(&self) -> Smart {
        let mut smart = Smart {
            host_read_commands: self.history.counters.reads,
            host_write_commands: self.history.counters.writes,
            data_units_read: self.history.counters.sectors_read.div_ceil(1000),
            data_units_written: self.history.counters.sectors_written.div_ceil(1000),
            media_errors: self.history.counters.medium_errors,
            available_spare: 100,
            percentage_used: 0,
            read_only: self.read_only,
        };
        for member in self.members.iter().filter_map(|column| column.device.as_ref()) {
            let member = member.smart();
            smart.available_spare = smart.available_spare.min(member.available_spare);
            smart.percentage_used = smart.percentage_used.max(member.percentage_used);
        }
        smart
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        let ready = self.replies.ready.iter().map(|completion| completion.tag);
        Some(self.flight.open_tags().into_iter().chain(ready).map(|tag| (tag, None)).collect())
    }

    fn self_check(&self) -> Result<(), String> {
        self.members.self_check()?;
        self.flight.self_check(self.members.in_flight())?;
        // Without power things wait for its return.
        if self.powered && self.is_unsettled() {
            return Err("something is due that no event will bring".to_owned());
        }
        if let Some(accounts) = &self.accounts {
            let hosts = self.flight.hosts.live().map(|host| host.tag);
            let open: Vec<_> = hosts.chain(self.flight.held_back.iter().map(|held| held.tag)).collect();
            accounts.self_check(&open, self.replies.ready.len())?;
        }
        let ops = &self.flight.ops;
        if let Some(op) = self.doubt.waiting().find(|&op| !ops.is_live(op)) {
            return Err(format!("operation {op} is over and still waits, or has a record"));
        }
        for repair in self.repairs.active() {
            let (under_way, counted) = (self.flight.recovering(repair.id), repair.operations());
            if under_way != counted {
                return Err(format!(
                    "{under_way} operations of repair {} are under way, {counted} counted",
                    repair.id
                ));
            }
        }
        let (under_way, counted) = (self.flight.passing(), self.passes.operations());
        // More are fine: operations of a pass that was given up end later.
        if under_way < counted {
            return Err(format!("{under_way} operations of passes are under way, {counted} counted"));
        }
        if self.flight.is_idle() && !self.doubt.is_settled() {
            return Err("idle with writes, log bytes or records left".to_owned());
        }
        Ok(())
    }
}

impl<D: Device> Array<D> {
    /// True if nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.next_deadline().is_none()
    }
}

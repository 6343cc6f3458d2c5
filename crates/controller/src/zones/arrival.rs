//! Arrival of commands: the machine of states takes them, and they are rewritten to the drive's own sectors.

use super::Zones;
use outlast_device::{Command, Op, Outcome, Tag, ZoneAction, ZoneId, ZoneState};
use outlast_units::Lba;

impl Zones {
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
                let zone = layout.place(command.lba).0;
                let (has_area, before) = (self.table.has_area(zone), self.table.written(zone));
                let place = self.table.write(command.op, command.lba, command.sectors);
                if place.is_ok() {
                    self.counts.filled += u64::from(self.table.state(zone) == ZoneState::Full);
                    if has_area {
                        self.arrive_in_area(zone, before, command.sectors);
                    }
                }
                place
            }
            Op::ManageZone => {
                let zone = layout.place(command.lba).0;
                let before = (self.table.state(zone), self.table.written(zone));
                let managed = self.table.manage(command.zone_action, command.lba);
                match command.zone_action {
                    ZoneAction::Reset if managed.is_ok() => self.before_reset.push_back((zone, before)),
                    ZoneAction::Commit if managed.is_ok() => {
                        self.counts.filled += u64::from(self.table.state(zone) == ZoneState::Full);
                        self.arrive_in_area(zone, before.1, 0);
                    }
                    _ => {}
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
}

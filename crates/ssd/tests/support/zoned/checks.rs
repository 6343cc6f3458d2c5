//! Comparison of a drive with zones with what its host knows, and what may be left after a loss of power.

use super::{Host, Pending, SECTORS, UNIT, UNKNOWN};
use outlast_device::{Command, Device, Op, Outcome, PowerCycle, Tag, ZoneAction, ZoneId, ZoneState};
use outlast_units::Lba;

impl Host {
    /// A command has failed that a drive whose flash is good carries out.
    pub(super) fn failed(&mut self, pending: &Pending, outcome: Outcome) {
        let op = pending.command.op;
        match outcome {
            Outcome::MediumError => {
                assert_eq!(op, Op::Read, "only reads find what is lost");
                self.medium_errors += 1;
            }
            Outcome::ReadOnly => {
                assert!(op.writes() || op == Op::ManageZone, "{pending:?} has found no room");
                self.refused += 1;
            }
            _ => panic!("{pending:?}: {outcome:?}"),
        }
        let Some(zone) = pending.zone.filter(|_| op.writes()) else { return };
        if self.resets[zone.index()] == pending.resets {
            let first = pending.units - u64::from(pending.command.sectors / SECTORS);
            self.values[zone.index()][first as usize..pending.units as usize].fill(UNKNOWN);
        }
    }

    pub(crate) fn completed(&mut self, pending: &Pending) {
        let Some(zone) = pending.zone else { return };
        if pending.expected != Outcome::Ok || !pending.command.op.writes() {
            return;
        }
        // Of a zone that was reset meanwhile it says nothing.
        let is_reset = |other: &Pending| {
            other.zone == Some(zone)
                && other.command.op == Op::ManageZone
                && other.command.zone_action == ZoneAction::Reset
        };
        if self.pending.values().any(is_reset) {
            return;
        }
        let at = zone.index();
        let lowest = |other: &Pending| {
            (other.zone == Some(zone) && other.command.op.writes() && other.expected == Outcome::Ok)
                .then(|| other.units - u64::from(other.command.sectors / SECTORS))
        };
        let reached = self.pending.values().filter_map(lowest).min().unwrap_or(pending.units);
        self.acknowledged[at] = self.acknowledged[at].max(reached.min(self.values[at].len() as u64));
        if self.is_protected {
            self.safe[at] = self.acknowledged[at];
        }
    }

    pub(crate) fn read(&mut self, lba: Lba, sectors: u32) -> Vec<u8> {
        assert!(self.pending.is_empty());
        let command = Command::new(Op::Read, lba, sectors);
        let tag = self.next_tag;
        self.submit(
            command,
            Pending { command, expected: Outcome::Ok, result: 0, zone: None, units: 0, resets: 0 },
            &[],
        );
        self.advance(0);
        self.ssd.take_data(Tag(tag)).unwrap_or_else(|| vec![0; sectors as usize * 512])
    }

    /// Everything can be read up to the write pointers, and nothing beyond.
    pub(crate) fn check(&mut self) {
        self.advance(0);
        self.ssd.self_check().unwrap();
        let layout = *self.table.layout();
        for zone in self.table.ids() {
            self.look_again();
            assert_eq!(self.ssd.zones().unwrap().descriptor(zone), self.table.descriptor(zone));
            if self.fails {
                self.check_units(zone);
                continue;
            }
            let units = u32::try_from(layout.size).unwrap() / SECTORS;
            let bytes = self.read(self.start(zone), units * SECTORS);
            for (offset, unit) in bytes.chunks(UNIT as usize).enumerate() {
                let value = self.values[zone.index()].get(offset).copied().unwrap_or(0);
                assert_eq!(
                    u64::from_le_bytes(unit[..8].try_into().unwrap()),
                    value,
                    "unit {offset} of {zone:?}"
                );
            }
        }
    }

    /// Every unit of `zone` below the write pointer can be read, or is a medium error, unless the zone is offline.
    fn check_units(&mut self, zone: ZoneId) {
        if self.table.state(zone) == ZoneState::Offline {
            return;
        }
        for offset in 0..self.values[zone.index()].len() {
            let before = self.medium_errors;
            let lba = Lba(self.start(zone).0 + offset as u64 * u64::from(SECTORS));
            let bytes = self.read(lba, SECTORS);
            let value = self.values[zone.index()][offset];
            if self.medium_errors == before && value != UNKNOWN {
                let found = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(found, value, "unit {offset} of {zone:?}");
            }
        }
    }

    pub(crate) fn cut(&mut self) {
        let before = self.table.clone();
        // Commands under way may have been carried out, or not.
        let unsure: Vec<(ZoneId, ZoneAction)> = self
            .pending
            .values()
            .filter(|own| own.command.op == Op::ManageZone && own.expected == Outcome::Ok)
            .map(|own| (own.zone.unwrap(), own.command.zone_action))
            .collect();
        self.pending.clear();
        self.flushes.clear();
        self.ssd.power_cycle(self.now, self.now);
        let after = self.ssd.zones().unwrap().clone();
        assert_eq!(after.open(), 0, "a zone is open after a loss of power");
        for zone in before.ids() {
            let at = zone.index();
            let own = |action| unsure.contains(&(zone, action));
            let units = after.written(zone) / u64::from(SECTORS);
            if own(ZoneAction::Reset) {
                // What was there before the reset may be there still: nobody knows of it.
                let start = self.start(zone);
                self.values[at].clear();
                self.table = after.clone();
                if units != 0 {
                    let bytes = self.read(start, u32::try_from(units).unwrap() * SECTORS);
                    self.values[at] = bytes
                        .chunks(UNIT as usize)
                        .map(|unit| u64::from_le_bytes(unit[..8].try_into().unwrap()))
                        .collect();
                }
            } else {
                assert!(
                    units >= self.safe[at],
                    "{zone:?}: {units} units are left of {} flushed",
                    self.safe[at]
                );
                assert!(units <= self.values[at].len() as u64, "{zone:?} has more than was written");
                self.values[at].truncate(units as usize);
                if before.state(zone) == ZoneState::Full
                    && before.written(zone) < before.layout().capacity
                    && !own(ZoneAction::Finish)
                {
                    assert_eq!(after.state(zone), ZoneState::Full, "{zone:?} was finished");
                }
            }
            self.safe[at] = self.values[at].len() as u64;
            self.acknowledged[at] = self.safe[at];
        }
        self.table = after;
        self.check();
    }
}

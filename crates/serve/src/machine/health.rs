//! How healthy the drives of a machine are.

use super::Machine;
use outlast_device::health_log::HealthLog;
use outlast_units::Nanos;

impl Machine {
    /// The health log of the drive in column `column`, of a drive by itself in column 0; `None` where there is none.
    pub fn health_log(&self, column: usize) -> Option<HealthLog> {
        let mut log = self.service.drive(column)?.health_log(self.now);
        let off = self.off.map_or(Nanos::ZERO, |since| self.now.saturating_sub(since));
        log.power_on = log.power_on.saturating_sub(self.dark + off);
        Some(log)
    }

    /// How many dies of a drive may fail, whichever they are, before data on it is lost, as far as its own parity goes; of an array, of the
    /// member that bears least, beside what the array itself can bring back.
    pub fn data_survives(&self) -> u32 {
        let columns = self.scenario().array.as_ref().map_or(1, |array| array.members);
        let drives = (0..columns).filter_map(|column| self.service.drive(column.into()));
        drives.map(|drive| drive.redundancy().data_survives).min().unwrap_or(0)
    }

    /// How many dies of a drive may still fail, all in the worst place, before it takes no more writes; of an array, of the member that bears
    /// least. Says nothing of the data on them. Takes a moment: it tries.
    pub fn dies_it_can_lose(&self) -> u32 {
        let columns = self.scenario().array.as_ref().map_or(1, |array| array.members);
        let drives = (0..columns).filter_map(|column| self.service.drive(column.into()));
        drives.map(|drive| drive.dies_it_can_lose(self.now)).min().unwrap_or(0)
    }
}

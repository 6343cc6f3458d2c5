//! Health of the drives of a device.

use super::ServedDevice;
use outlast_device::extended_health::ExtendedHealth;
use outlast_device::health_log::HealthLog;
use outlast_device::{Command, LbaRun, Op};
use outlast_ssd::Ssd;
use outlast_units::{Lba, Nanos};

impl ServedDevice {
    /// Health log of the drive in `column`, which is 0 for a single drive; `None` if no drive is there.
    pub fn health_log(&self, column: usize) -> Option<HealthLog> {
        let mut log = self.service.drive(column)?.health_log(self.now);
        // The drive counts all simulated time as power-on time, so times without power are subtracted.
        let off_now = self.off_since.map_or(Nanos::ZERO, |since| self.now.saturating_sub(since));
        log.power_on = log.power_on.saturating_sub(self.total_off + off_now);
        Some(log)
    }

    /// Health log of the whole device. For an array: its own figures, with the warnings of all members and the longest times and most losses of power
    /// among them.
    pub fn whole_health_log(&self) -> HealthLog {
        let columns = self.scenario().array.as_ref().map_or(1, |array| usize::from(array.members));
        let mut logs = (0..columns).filter_map(|column| self.health_log(column));
        let first = logs.next().unwrap_or_default();
        let whole = logs.fold(first, |whole, log| HealthLog {
            smart: whole.smart,
            critical_warning: whole.critical_warning | log.critical_warning,
            controller_busy: whole.controller_busy.max(log.controller_busy),
            power_cycles: whole.power_cycles.max(log.power_cycles),
            power_on: whole.power_on.max(log.power_on),
            unsafe_shutdowns: whole.unsafe_shutdowns.max(log.unsafe_shutdowns),
            error_log_entries: whole.error_log_entries.saturating_add(log.error_log_entries),
        });
        HealthLog { smart: self.smart(), ..whole }
    }

    /// Extended health log of the drive in `column`; `None` if no drive is there.
    pub(crate) fn extended_health(&self, column: usize) -> Option<ExtendedHealth> {
        self.service.drive(column).map(Ssd::extended_health)
    }

    /// Extended health log of the whole device; for an array, that of its members as of one drive.
    pub(crate) fn whole_extended_health(&self) -> ExtendedHealth {
        let columns = self.scenario().array.as_ref().map_or(1, |array| usize::from(array.members));
        let logs = (0..columns).filter_map(|column| self.extended_health(column));
        logs.reduce(ExtendedHealth::with).unwrap_or_default()
    }

    /// Sectors that the drive in `column` wants written again, among `sectors` from `lba` on; `None` if no drive is there. Takes no simulated time
    /// and changes nothing, unlike the query `Op::LbaStatus` that a host sends.
    pub fn lba_status(&self, column: usize, lba: Lba, sectors: u64) -> Option<Vec<LbaRun>> {
        let drive = self.service.drive(column)?;
        let (mut runs, mut from, mut left) = (Vec::new(), lba, sectors);
        while left > 0 {
            let count = u32::try_from(left).unwrap_or(u32::MAX);
            runs.extend(drive.lba_status(&Command::new(Op::LbaStatus, from, count)));
            from.0 = from.0.saturating_add(count.into());
            left -= u64::from(count);
        }
        Some(runs)
    }

    /// Number of dies that may fail, in any combination, before data on a drive is lost, counting only the drive's own parity. For an array, the
    /// minimum over its members.
    pub fn data_survives(&self) -> u32 {
        let columns = self.scenario().array.as_ref().map_or(1, |array| array.members);
        let drives = (0..columns).filter_map(|column| self.service.drive(column.into()));
        drives.map(|drive| drive.redundancy().data_survives).min().unwrap_or(0)
    }

    /// Number of dies that a drive may still lose, in the worst combination, before it becomes read-only, whatever becomes of the data on them. For
    /// an array, the minimum over its members. Slow: it tries the losses.
    pub fn dies_it_can_lose(&self) -> u32 {
        let columns = self.scenario().array.as_ref().map_or(1, |array| array.members);
        let drives = (0..columns).filter_map(|column| self.service.drive(column.into()));
        drives.map(|drive| drive.dies_it_can_lose(self.now)).min().unwrap_or(0)
    }
}

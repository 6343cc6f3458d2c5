//! The health log of a drive.

use crate::ssd::Ssd;
use outlast_device::Device;
use outlast_device::health_log::{HealthLog, SPARE_THRESHOLD, critical_warning};
use outlast_units::{LocalDie, Nanos};

impl Ssd {
    /// The host announces that it will switch the power off, as `NVMe` hosts do with a shutdown notification: the next loss of power is not an
    /// unsafe one. All else is the host's: it flushes before, and sends no further command.
    pub fn announce_shutdown(&mut self) {
        self.shutdowns.announce();
    }

    /// The health log at `now`, a time not before that of the last input. Time begins at zero and does not stand while power is off:
    /// whoever keeps a drive without power for a while takes that off [`HealthLog::power_on`].
    pub fn health_log(&self, now: Nanos) -> HealthLog {
        let smart = self.smart();
        let cuts = self.power_cuts.cuts;
        HealthLog {
            critical_warning: [
                (smart.available_spare < SPARE_THRESHOLD, critical_warning::SPARE),
                (self.is_unreliable(), critical_warning::UNRELIABLE),
                (smart.read_only, critical_warning::READ_ONLY),
            ]
            .iter()
            .filter(|(is_set, _)| *is_set)
            .fold(0, |bits, (_, bit)| bits | bit),
            smart,
            controller_busy: self.host.busy_time(now),
            power_cycles: cuts + 1,
            power_on: now,
            unsafe_shutdowns: cuts - self.shutdowns.safe(),
            error_log_entries: self.context.commands.life.errors,
        }
    }

    fn is_unreliable(&self) -> bool {
        let mut cores = self.cores.iter();
        cores.any(|core| {
            let failed = |(local, die): (LocalDie, _)| {
                core.ftl().space().pus().is_dead_die(local) && !self.context.absent.contains(die)
            };
            core.ftl().figures().lost_units != 0 || core.dies().iter_indexed().any(failed)
        })
    }
}

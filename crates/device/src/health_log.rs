//! The SMART / Health Information log of `NVMe`: as figures, as the page that a controller returns, and in the shape of `smartctl --json`.

use crate::Smart;
use outlast_units::Nanos;
use serde::Serialize;

/// Percent of the spare blocks below which a device warns: what drives on the market say.
pub const SPARE_THRESHOLD: u8 = 10;

/// Bits of [`HealthLog::critical_warning`]. The other bits of the specification, temperature and the state of what backs up volatile memory,
/// are never set: a simulated device has neither.
pub mod critical_warning {
    /// Available spare has fallen below its threshold.
    pub const SPARE: u8 = 1 << 0;
    /// A die has failed for good, or data is lost that has not been written again.
    pub const UNRELIABLE: u8 = 1 << 2;
    /// The device takes no more writes.
    pub const READ_ONLY: u8 = 1 << 3;
}

/// The health log of a controller over its life, as `NVMe` defines it (Base Specification 2.0, section 5.16.1.3, Figure 207). Preparing a drive
/// is of its life, but takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthLog {
    /// What a device tells anyway.
    pub smart: Smart,
    /// See [`critical_warning`].
    pub critical_warning: u8,
    /// Time during which commands were outstanding.
    pub controller_busy: Nanos,
    /// How often power came: once when the device was new, and after each loss.
    pub power_cycles: u64,
    /// Time with power: simulated, of the machine.
    pub power_on: Nanos,
    /// Losses of power of which the device had not been told.
    pub unsafe_shutdowns: u64,
    /// Commands that ended in an error, for whatever cause; those that a loss of power cut off are not among them.
    pub error_log_entries: u64,
}

/// Length of the log page.
pub const PAGE_BYTES: usize = 512;

impl HealthLog {
    /// The page that Get Log Page 02h returns. Fields of which a simulated device knows nothing, temperature among them, are 0: "not reported".
    pub fn page(&self) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        page[0] = self.critical_warning;
        page[3] = self.smart.available_spare;
        page[4] = SPARE_THRESHOLD;
        page[5] = self.percentage_used();
        let counts = [
            self.smart.data_units_read,
            self.smart.data_units_written,
            self.smart.host_read_commands,
            self.smart.host_write_commands,
            self.busy_minutes(),
            self.power_cycles,
            self.power_on_hours(),
            self.unsafe_shutdowns,
            self.smart.media_errors,
            self.error_log_entries,
        ];
        // Numbers of 16 bytes, the lowest first, from byte 32 on.
        for (place, count) in page[32..192].chunks_exact_mut(16).zip(counts) {
            place[..8].copy_from_slice(&count.to_le_bytes());
        }
        page
    }

    /// What `smartctl --json` prints as `nvme_smart_health_information_log`.
    pub fn smartctl(&self) -> SmartctlLog {
        SmartctlLog {
            critical_warning: self.critical_warning,
            available_spare: self.smart.available_spare,
            available_spare_threshold: SPARE_THRESHOLD,
            percentage_used: self.percentage_used(),
            data_units_read: self.smart.data_units_read,
            data_units_written: self.smart.data_units_written,
            host_reads: self.smart.host_read_commands,
            host_writes: self.smart.host_write_commands,
            controller_busy_time: self.busy_minutes(),
            power_cycles: self.power_cycles,
            power_on_hours: self.power_on_hours(),
            unsafe_shutdowns: self.unsafe_shutdowns,
            media_errors: self.smart.media_errors,
            num_err_log_entries: self.error_log_entries,
            warning_temp_time: 0,
            critical_comp_time: 0,
        }
    }

    /// "Values greater than 254 shall be represented as 255."
    fn percentage_used(&self) -> u8 {
        u8::try_from(self.smart.percentage_used).unwrap_or(u8::MAX)
    }

    fn busy_minutes(&self) -> u64 {
        self.controller_busy.0 / Nanos::secs(60).0
    }

    fn power_on_hours(&self) -> u64 {
        self.power_on.0 / Nanos::secs(3600).0
    }
}

/// See [`HealthLog::smartctl`]: names, units and order are smartctl's. It has no `temperature`, since a simulated device has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SmartctlLog {
    /// Bits: see [`critical_warning`].
    pub critical_warning: u8,
    /// Percent.
    pub available_spare: u8,
    /// Percent.
    pub available_spare_threshold: u8,
    /// Percent; at most 255.
    pub percentage_used: u8,
    /// Thousands of sectors of 512 bytes.
    pub data_units_read: u64,
    /// Thousands of sectors of 512 bytes.
    pub data_units_written: u64,
    /// Commands.
    pub host_reads: u64,
    /// Commands.
    pub host_writes: u64,
    /// Minutes.
    pub controller_busy_time: u64,
    /// Count.
    pub power_cycles: u64,
    /// Hours.
    pub power_on_hours: u64,
    /// Count.
    pub unsafe_shutdowns: u64,
    /// Commands.
    pub media_errors: u64,
    /// Count.
    pub num_err_log_entries: u64,
    /// Minutes.
    pub warning_temp_time: u32,
    /// Minutes.
    pub critical_comp_time: u32,
}

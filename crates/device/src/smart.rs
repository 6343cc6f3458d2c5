//! What a drive tells about its own health.

use serde::Serialize;

/// The health log of a device over its life: the figures of `NVMe`'s SMART / Health Information log (`NVMe` Base Specification 2.0,
/// section 5.16.1.3) that a simulated device can know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct Smart {
    /// Host reads carried out.
    pub host_read_commands: u64,
    /// Host writes carried out; preparing the drive counts as writes of one mapping unit each.
    pub host_write_commands: u64,
    /// Thousands of 512-byte sectors that the host read, rounded up.
    pub data_units_read: u64,
    /// Thousands of 512-byte sectors that the host wrote, rounded up.
    pub data_units_written: u64,
    /// Commands that ended because data could not be read. A device without an error model has none.
    pub media_errors: u64,
    /// Spare blocks left, in percent of those that the drive was made with; 100 where it was made with none.
    pub available_spare: u8,
    /// Life used by wear: mean P/E cycles of the blocks that are not retired, in percent of the rated ones. Zero where no rating is known.
    pub percentage_used: u32,
    /// Whether the drive takes no more writes.
    pub read_only: bool,
}

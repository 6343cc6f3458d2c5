//! The SMART / Health Information Extended log of the Open Compute Project: figures on the flash that the log of `NVMe` lacks.

/// Length of the log page.
pub const EXTENDED_PAGE_BYTES: usize = 512;

/// Globally unique identifier of the log page, as it stands in it: the lowest byte first.
const GUID: u128 = 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5;

/// Version of the log page: that of version 2.0 of the specification.
const VERSION: u16 = 3;

/// The extended health log of a drive over its life (OCP Datacenter `NVMe` SSD Specification 2.0, section 4.8.5, log C0h): what a
/// simulated drive can know of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtendedHealth {
    /// Bytes programmed, parity and what the drive moved included.
    pub media_bytes_written: u64,
    /// Bytes of pages read, for whatever cause.
    pub media_bytes_read: u64,
    /// Blocks that take no more data, those from the factory included.
    pub bad_blocks: u64,
    /// Spare blocks left, in percent of those that the drive was made with.
    pub available_spare: u8,
    /// Mapping units that were to be rebuilt from their stripe or their block.
    pub stripe_recoveries: u64,
    /// Mapping units that could not be read by any means.
    pub uncorrectable_reads: u64,
    /// Mapping units that the error correction could not give at the first read, and that further means were applied to.
    pub soft_errors: u64,
    /// Superblocks that scrubbing moved.
    pub refreshed: u64,
    /// Most P/E cycles of a block in use.
    pub most_cycles: u32,
    /// Fewest P/E cycles of a block in use.
    pub fewest_cycles: u32,
    /// Superblocks that are erased, in percent of those that are not needed for what the host can store.
    pub free_percent: u8,
    /// Percent of the energy that the write buffer needs when power fails; 0 without capacitors.
    pub capacitor_health: u16,
}

impl ExtendedHealth {
    /// The page that Get Log Page C0h returns. Fields of which a simulated drive knows nothing are 0, errors on the way between host and flash and
    /// incomplete shutdowns among them: it has none.
    pub fn page(&self) -> [u8; EXTENDED_PAGE_BYTES] {
        let mut page = [0; EXTENDED_PAGE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.media_bytes_written.to_le_bytes());
        put(16, &self.media_bytes_read.to_le_bytes());
        // Six bytes, then two with the normalized value.
        put(32, &self.bad_blocks.to_le_bytes()[..6]);
        put(38, &u16::from(self.available_spare).to_le_bytes());
        put(48, &self.stripe_recoveries.to_le_bytes());
        put(56, &self.uncorrectable_reads.to_le_bytes());
        put(64, &self.soft_errors.to_le_bytes());
        put(81, &self.refreshed.to_le_bytes()[..7]);
        put(88, &self.most_cycles.to_le_bytes());
        put(92, &self.fewest_cycles.to_le_bytes());
        put(120, &[self.free_percent]);
        put(128, &self.capacitor_health.to_le_bytes());
        put(494, &VERSION.to_le_bytes());
        put(496, &GUID.to_le_bytes());
        page
    }

    /// Figures of several drives as of one: sums, and the worst of what is no count.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            media_bytes_written: self.media_bytes_written + other.media_bytes_written,
            media_bytes_read: self.media_bytes_read + other.media_bytes_read,
            bad_blocks: self.bad_blocks + other.bad_blocks,
            available_spare: self.available_spare.min(other.available_spare),
            stripe_recoveries: self.stripe_recoveries + other.stripe_recoveries,
            uncorrectable_reads: self.uncorrectable_reads + other.uncorrectable_reads,
            soft_errors: self.soft_errors + other.soft_errors,
            refreshed: self.refreshed + other.refreshed,
            most_cycles: self.most_cycles.max(other.most_cycles),
            fewest_cycles: self.fewest_cycles.min(other.fewest_cycles),
            free_percent: self.free_percent.min(other.free_percent),
            capacitor_health: self.capacitor_health.min(other.capacitor_health),
        }
    }
}

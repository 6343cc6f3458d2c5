//! Keys of `zonemode=zbd`.

/// What `zonemode` and its keys say of a job.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(in crate::fio) struct ZbdOptions {
    /// True with `zonemode=zbd`.
    pub(in crate::fio) is_on: bool,
    /// Bytes; on a device with zones at most a check.
    pub(in crate::fio) zone_size: Option<u64>,
    pub(in crate::fio) zone_capacity: Option<u64>,
    /// Zero: no limit.
    pub(in crate::fio) max_open: u32,
    pub(in crate::fio) job_max_open: u32,
    /// Share of the region that is written before zones are reset, and resets per write; 0 to 1.
    pub(in crate::fio) reset_threshold: f64,
    pub(in crate::fio) reset_frequency: f64,
    pub(in crate::fio) read_beyond_wp: bool,
    pub(in crate::fio) ignore_limits: bool,
    /// `size`, `io_size`, `offset` and `offset_increment` in zones, where they are written as `4z`.
    pub(in crate::fio) in_zones: InZones,
}

/// Extents that a job file gives as a number of zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::fio) struct InZones {
    pub(in crate::fio) size: Option<u64>,
    pub(in crate::fio) io_size: Option<u64>,
    pub(in crate::fio) offset: Option<u64>,
    pub(in crate::fio) offset_increment: Option<u64>,
}

impl InZones {
    /// The first of the keys that counts zones.
    pub(in crate::fio) fn key(&self) -> Option<(&'static str, u64)> {
        let keys = ["size", "io_size", "offset", "offset_increment"];
        let values = [self.size, self.io_size, self.offset, self.offset_increment];
        keys.into_iter().zip(values).find_map(|(key, value)| Some((key, value?)))
    }
}

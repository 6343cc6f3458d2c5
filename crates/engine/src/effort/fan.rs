//! Member commands that one host request of an array causes.

use super::sample::WorkloadSample;
use outlast_settings::array::{ArrayConfig, Level};

/// Member operations for one host operation, by size of the write.
#[derive(Clone, Copy, Debug)]
pub(super) struct FanOut {
    /// Members that hold data; 1 without an array.
    pub(super) members: f64,
    /// Member writes for a host write of less than a stripe, and member reads for it.
    pub(super) small_writes: f64,
    small_reads: f64,
    /// Member writes for each unit of a write of whole stripes.
    pub(super) large_writes: f64,
    /// Member reads to compute a chunk that a member has lost.
    pub(super) sources: f64,
    /// Share of the members that are simulated in full, not as stand-ins.
    pub(super) carried: f64,
    /// Bytes of data in a stripe; 0 without an array.
    stripe: f64,
}

impl FanOut {
    pub(super) fn of(array: Option<&ArrayConfig>) -> Self {
        let Some(array) = array else {
            return Self {
                members: 1.0,
                small_writes: 1.0,
                small_reads: 0.0,
                large_writes: 1.0,
                sources: 0.0,
                carried: 1.0,
                stripe: 0.0,
            };
        };
        let members = f64::from(array.members);
        let (parities, copies) = match array.level {
            Level::Raid0 => (0.0, 1.0),
            Level::Raid1 => (0.0, members),
            Level::Raid10 => (0.0, f64::from(array.copies)),
            Level::Raid4 | Level::Raid5 => (1.0, 1.0),
            Level::Raid6 => (2.0, 1.0),
            Level::Code => (f64::from(array.parities.unwrap_or(1)), 1.0),
        };
        let data = (members - parities).max(1.0);
        Self {
            members,
            small_writes: copies + parities,
            // Read-modify-write reads the old data and every old parity.
            small_reads: if parities > 0.0 { 1.0 + parities } else { 0.0 },
            large_writes: copies * members / data,
            sources: if parities > 0.0 { data } else { 1.0 },
            carried: 1.0
                - (0..array.members).filter(|&member| array.is_light(member)).count() as f64 / members,
            stripe: data * array.chunk.0 as f64,
        }
    }

    pub(super) fn is_array(&self) -> bool {
        self.stripe > 0.0
    }

    fn is_large(&self, sample: &WorkloadSample) -> bool {
        self.is_array() && sample.write_bytes >= self.stripe
    }

    /// Units that members write for each unit that the host writes.
    pub(super) fn writes(&self, sample: &WorkloadSample) -> f64 {
        if self.is_large(sample) { self.large_writes } else { self.small_writes }
    }

    /// Units that members read for each unit that the host writes.
    pub(super) fn reads(&self, sample: &WorkloadSample) -> f64 {
        if self.is_large(sample) { 0.0 } else { self.small_reads }
    }

    /// Member commands for each host command; 0 without an array.
    pub(super) fn commands(&self, sample: &WorkloadSample) -> f64 {
        if !self.is_array() {
            return 0.0;
        }
        sample.reads + sample.writes * (self.writes(sample) + self.reads(sample))
    }
}

//! Settings of records, of work in the background, of members that leave, and of those that are not as the others.

use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Where the records that outlive a loss of power are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// On the members, where they take space and time, or in the controller's protected memory, where they take neither.
    pub place: LogPlace,
    /// Room for `ppl` and `journal` on each member. Default: 1 MiB, as md reserves for partial parity.
    pub size: Bytes,
    /// Bytes of a member that one bit of `bitmap` covers. Default: 64 MiB, md's choice for large arrays.
    pub bitmap_chunk: Bytes,
    /// A bit is cleared when its region has not been written for this long. Default: 5 s, md's.
    pub bitmap_delay: Nanos,
}

/// Where the records that outlive a loss of power are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogPlace {
    /// At the end of each member.
    Members,
    /// In protected memory.
    Controller,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            place: LogPlace::Members,
            size: Bytes::mib(1),
            bitmap_chunk: Bytes::mib(64),
            bitmap_delay: Nanos::secs(5),
        }
    }
}

/// Rates of the array's background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BackgroundConfig {
    /// Bytes per second of each member, as the mean over the last 27 to 30 seconds, below which the work does not wait for the host. Above, where the host has been busy, it waits after
    /// every 128 KiB (or chunk, if that is more) until what it has under way is done, as in md. Default: 1000 KiB/s, md's `speed_limit_min`.
    /// A rate that no device reaches: it never waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<ByteRate>,
    /// Bytes per second of each member at most. Default: 200 000 KiB/s, md's `speed_limit_max`; at least `min_rate`. A rate that no device
    /// reaches is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<ByteRate>,
    /// Groups worked on at once, at most 64. Default: 32 (a guess: enough to keep every member busy). One, where `chunks` is not `together`.
    pub window: u16,
    /// How the chunks of a group are read and written. Default: `together`.
    #[serde(skip_serializing_if = "ChunkOrder::is_together")]
    pub chunks: ChunkOrder,
    /// Time from the end of one scrub to the start of the next, which repairs what it finds; not for `raid0`, in which there is nothing to compare. Absent: scrubs
    /// only on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrub_interval: Option<Nanos>,
    /// Interval at which your own policy is asked for the rate of each rebuild or repair; its answer holds until the next one. From 10 us
    /// to 1 h. Default: 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Nanos>,
}

impl BackgroundConfig {
    /// Groups worked on at once.
    #[inline]
    pub fn groups_at_once(&self) -> u32 {
        if self.chunks.is_together() { self.window.into() } else { 1 }
    }
}

/// How work in the background reads and writes the chunks of a group. A controller that does one thing after the other writes the chunks in
/// turn; it then works on one group at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChunkOrder {
    /// All that is read at once, then all that is written.
    #[default]
    Together,
    /// All that is read at once; then chunk by chunk what is written, each when the one before is done.
    WritesInTurn,
    /// Chunk by chunk what is read, then chunk by chunk what is written.
    InTurn,
}

impl ChunkOrder {
    /// Whether all chunks of a group are read or written at once.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    #[inline]
    pub fn is_together(&self) -> bool {
        *self == Self::Together
    }
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self {
            min_rate: ByteRate::new(1000 << 10),
            max_rate: ByteRate::new(200_000 << 10),
            window: 32,
            chunks: ChunkOrder::Together,
            scrub_interval: None,
            own: None,
        }
    }
}

/// When a member that still answers is ejected, if the array can spare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EjectionConfig {
    /// Corrected read errors above which a member is ejected; half are forgotten every hour. Default: 20, the limit of md's mirrors (`max_corr_read_errors`, since Linux
    /// 6.9 for `raid1`, too). md's parity levels have another rule, which is not modelled: a member goes after more errors than there are
    /// stripes in the cache (256), and each read that succeeds forgets them all.
    pub read_errors: u32,
    /// Runs of bad sectors above which a member is ejected. Default: 512, as many as fit into md's log.
    pub bad_blocks: u32,
}

impl Default for EjectionConfig {
    fn default() -> Self {
        Self { read_errors: 20, bad_blocks: 512 }
    }
}

/// What happens to worn members, and to parity when one is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplacementConfig {
    /// Percentage of its rated cycles at which a member is replaced by a spare; may exceed 100. The rating is `device.defects.endurance`, or
    /// that of a published `device.reliability.chip`; without either the setting is refused. Absent: never automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_percent: Option<f64>,
    /// How parity gets to the oldest member, where `parity_percent` is set.
    pub shift: ShiftWay,
}

impl Default for ReplacementConfig {
    fn default() -> Self {
        Self { limit_percent: None, shift: ShiftWay::Minimal }
    }
}

/// The three ways of section 3.4 of the Diff-RAID paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftWay {
    /// The mapping stays, the order of the members shifts: every chunk moves, while the new member is rebuilt.
    Naive,
    /// As few parity chunks as possible move, while the new member is rebuilt.
    Minimal,
    /// The same chunks move, but each only when its stripe is next written.
    Lazy,
}

/// How one member differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberConfig {
    /// Which: counted from 0; spares follow the members.
    pub device: u16,
    /// Mean P/E cycles of its blocks at the beginning, for a used drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<u32>,
    /// Its capacity. The array uses only as much of every member as the smallest one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// When it fails as a whole, from the start of the measurement; not for spares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_at: Option<Nanos>,
}

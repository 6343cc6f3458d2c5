//! Settings of an array: the `[array]` section of a scenario.

mod layouts;
mod level;
mod light;
mod parts;
mod plain;
mod repair;
mod shares;
mod validate;

pub use layouts::ParityLayout;
pub use level::Level;
pub use light::LightConfig;
pub use parts::{
    BackgroundConfig, ChunkOrder, EjectionConfig, LogConfig, LogPlace, MemberConfig, ReplacementConfig,
    ShiftWay,
};
pub use plain::PlainConfig;
pub use repair::{FakeWay, RepairConfig, RepairOrder};
pub use shares::{MEMBERS_MAX, Shares};

use outlast_decisions::ArrayPolicies;
use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// An array of devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayConfig {
    /// RAID level.
    pub level: Level,
    /// Devices that hold data and parity, spares not counted; at most 64.
    pub members: u16,
    /// Spare devices.
    #[serde(default)]
    pub spares: u16,
    /// Parity chunks of each stripe; for level `code` only, which needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parities: Option<u16>,
    /// Copies of each chunk; for level `raid10` only.
    #[serde(default = "default_copies")]
    pub copies: u16,
    /// Stripe unit: bytes of consecutive data on one member; a multiple of 512.
    #[serde(default = "default_chunk")]
    pub chunk: Bytes,
    /// How parity rotates; for levels `raid5`, `raid6` and `code`.
    #[serde(default)]
    pub layout: ParityLayout,
    /// Where chunks lie, written out in place of `layout`: for each stripe of a period the member of each chunk, data in order of address and
    /// then parity. `[[0, 1, 2], [2, 0, 1], [1, 2, 0]]` is left-symmetric RAID-5 over three members. At most 65536 stripes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<Vec<u8>>>,
    /// Placement of the copies; for level `raid10`.
    #[serde(default)]
    pub copy_layout: CopyLayout,
    /// Diff-RAID: the percentage of all parity that each member holds, in place of `layout`. They sum to 100, to a thousandth; with
    /// m parities in each stripe each is at most 100 / m. On replacement the oldest member gets the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_percent: Option<Vec<f64>>,
    /// Allowed ways to write a partial stripe.
    #[serde(default)]
    pub writes: StripeWrites,
    /// Whether chunks for the host are read with limited retry where redundancy can give the data: a member gives up after
    /// `device.reliability.limited_retries` re-reads, and the others are read instead; if that fails, the chunk is read again with all means. Nothing is
    /// rewritten, and no member is ejected for it. Default: false.
    #[serde(default)]
    pub limited_retry: bool,
    /// How parity is made consistent after a loss of power; `resync` for `raid0`, in which nothing can be inconsistent.
    #[serde(default)]
    pub consistency: Consistency,
    /// Time without a host write after which the members are marked clean, so that a loss of power leaves nothing in doubt; for `resync`
    /// and `bitmap`. 0: never. Default: 200 ms, md's `safe_mode_delay`; rounded as md does it, one to two delays pass.
    #[serde(default = "default_safe_mode_delay")]
    pub safe_mode_delay: Nanos,
    /// Where and how large the records of `consistency` are.
    #[serde(default)]
    pub log: LogConfig,
    /// Rebuilding, resynchronising, moving parity and scrubbing.
    #[serde(default)]
    pub background: BackgroundConfig,
    /// When a member is ejected.
    #[serde(default)]
    pub ejection: EjectionConfig,
    /// Replacement of worn members.
    #[serde(default)]
    pub replacement: ReplacementConfig,
    /// Recovery of members with a failed die.
    #[serde(default)]
    pub repair: RepairConfig,
    /// Members that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member: Vec<MemberConfig>,
    /// Members modelled by latency and bandwidth only. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<LightConfig>,
    /// Decisions of code of the user's: what `[policies]` of a scenario names, loaded.
    #[serde(skip)]
    pub own: ArrayPolicies,
}

/// Where RAID-10 puts the copies of a chunk, named as in Linux md (`md(4)`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist,
)]
#[serde(rename_all = "kebab-case")]
pub enum CopyLayout {
    /// Side by side: the copies follow each other over the members, row by row.
    #[default]
    Near,
    /// The first copies as in RAID-0 over the first part of the members; each further set in a part of its own, shifted by
    /// one member.
    Far,
    /// As far, but each row of chunks is followed at once by its copies, shifted by one member.
    Offset,
}

/// Allowed ways to write a partial stripe. If a chunk is missing, any way is used of which every chunk can be read; if there is none, all
/// that is left of the stripe is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StripeWrites {
    /// The one with the fewest reads: a full stripe without any, else old data and old parity, or else the rest of the stripe.
    /// Of two that cost the same the latter, as in md. Where the member of a parity chunk is missing, the latter too, as in md: the rest of
    /// the stripe is read even where no parity is left to be written. Where a resynchronisation is to come, never from old parity, whatever
    /// is set here.
    #[default]
    Cheapest,
    /// Full stripes where a command covers them, else old data and old parity: Diff-RAID, section 3.4, which does not read
    /// missing data.
    NoReconstruct,
    /// Each chunk by itself, from old data and old parity, full stripes too.
    ChunkByChunk,
}

impl StripeWrites {
    /// Whether a part of a stripe is written from the rest of the stripe, which takes `complete` reads, rather than from old data and old
    /// parity, which take `delta`. Of two that cost the same the former, as md has it (`rcw <= rmw` in `handle_stripe_dirtying`).
    #[inline]
    pub fn reconstructs(self, complete: u32, delta: u32) -> bool {
        self == Self::Cheapest && complete <= delta
    }
}

/// How parity is made consistent after a loss of power, named as md's `consistency_policy`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist,
)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Parity of the whole array is recomputed after an unclean stop. Costs nothing before; has the write hole: a member that fails before
    /// this is done may be reconstructed with wrong data where writes were in progress.
    #[default]
    Resync,
    /// As `resync`, but only regions marked before they are written. Has the write hole.
    Bitmap,
    /// The parity of the unchanged part of a stripe is written to the parity members first (md's partial parity log). No write hole.
    Ppl,
    /// All changes of a write are logged on their members first (md's journal, on the members). No write hole; writes in progress are
    /// replayed.
    Journal,
}

impl Consistency {
    /// The policy as it is written in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resync => "resync",
            Self::Bitmap => "bitmap",
            Self::Ppl => "ppl",
            Self::Journal => "journal",
        }
    }

    /// Whether writes leave a record before they begin.
    #[inline]
    pub fn keeps_records(self) -> bool {
        matches!(self, Self::Ppl | Self::Journal)
    }
}

fn default_copies() -> u16 {
    2
}

fn default_safe_mode_delay() -> Nanos {
    Nanos::millis(200)
}

fn default_chunk() -> Bytes {
    Bytes::kib(64)
}

impl ArrayConfig {
    /// An array of `members` devices with every other setting at its default.
    pub fn new(level: Level, members: u16) -> Self {
        Self {
            level,
            members,
            spares: 0,
            parities: None,
            copies: default_copies(),
            chunk: default_chunk(),
            layout: ParityLayout::default(),
            table: None,
            copy_layout: CopyLayout::default(),
            parity_percent: None,
            writes: StripeWrites::default(),
            limited_retry: false,
            consistency: Consistency::default(),
            safe_mode_delay: default_safe_mode_delay(),
            log: LogConfig::default(),
            background: BackgroundConfig::default(),
            ejection: EjectionConfig::default(),
            replacement: ReplacementConfig::default(),
            repair: RepairConfig::default(),
            member: Vec::new(),
            light: None,
            own: ArrayPolicies::default(),
        }
    }

    /// Members and spares.
    pub fn devices(&self) -> u16 {
        self.members.saturating_add(self.spares)
    }

    /// What sets device `device` apart from the others, if anything.
    pub fn member(&self, device: u16) -> Option<&MemberConfig> {
        self.member.iter().find(|member| member.device == device)
    }

    /// Whether device `device` is carried lightly.
    pub fn is_light(&self, device: u16) -> bool {
        self.light.as_ref().is_some_and(|light| light.devices.contains(&device))
    }

    /// Chunks of each group that may be lost without loss of data.
    #[inline]
    pub fn redundancy(&self) -> u16 {
        match self.level {
            Level::Raid0 => 0,
            Level::Raid1 => self.members.saturating_sub(1),
            Level::Raid10 => self.copies.saturating_sub(1),
            Level::Raid4 | Level::Raid5 => 1,
            Level::Raid6 => 2,
            Level::Code => self.parities.unwrap_or(0),
        }
    }

    /// Whether stripes have parity, which writes must keep right.
    #[inline]
    pub fn has_parity(&self) -> bool {
        matches!(self.level, Level::Raid4 | Level::Raid5 | Level::Raid6 | Level::Code)
    }

    /// Parity shares, where percentages are set.
    ///
    /// # Errors
    /// Percentages that no placement has.
    pub fn shares(&self) -> Result<Option<Shares>, ConfigError> {
        let parities = usize::from(self.redundancy());
        let shares = self.parity_percent.as_ref();
        shares.map(|percent| Shares::from_percent("array.parity_percent", percent, parities)).transpose()
    }

    /// Bytes at the end of each member that hold records.
    pub fn reserved(&self) -> Bytes {
        if self.log.place == LogPlace::Controller {
            return Bytes(0);
        }
        match self.consistency {
            Consistency::Resync => Bytes(0),
            Consistency::Bitmap => Bytes::kib(4),
            Consistency::Ppl | Consistency::Journal => self.log.size,
        }
    }
}

#[cfg(test)]
mod tests;

//! Settings of an array: the `[array]` section of a scenario.

mod light;
mod repair;

pub use light::LightConfig;
pub use repair::{FakeWay, RepairConfig, RepairOrder, RepairWay};

use crate::placement::{MEMBERS_MAX, ParityLayout, Shares};
use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An array of devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayConfig {
    /// What redundancy there is.
    pub level: Level,
    /// Devices that hold data and parity, spares not counted; at most 64.
    pub members: u16,
    /// Devices that stand by.
    #[serde(default)]
    pub spares: u16,
    /// Parity chunks of each stripe; for level `code` only, which needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parities: Option<u16>,
    /// Copies of each chunk; for level `raid10` only.
    #[serde(default = "default_copies")]
    pub copies: u16,
    /// Bytes that follow each other on one member; a multiple of 512.
    #[serde(default = "default_chunk")]
    pub chunk: Bytes,
    /// How parity rotates; for levels `raid5`, `raid6` and `code`.
    #[serde(default)]
    pub layout: ParityLayout,
    /// Where copies go; for level `raid10`.
    #[serde(default)]
    pub copy_layout: CopyLayout,
    /// Diff-RAID: the percentage of all parity that each member holds, in place of `layout`. They sum to 100, to a thousandth; with
    /// m parities in each stripe each is at most 100 / m. On replacement the oldest member gets the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_percent: Option<Vec<f64>>,
    /// Which ways of writing a stripe are allowed.
    #[serde(default)]
    pub writes: StripeWrites,
    /// What brings data and parity back together after a loss of power.
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
    /// When a member is thrown out.
    #[serde(default)]
    pub ejection: EjectionConfig,
    /// Worn members.
    #[serde(default)]
    pub replacement: ReplacementConfig,
    /// Members of which a part has failed.
    #[serde(default)]
    pub repair: RepairConfig,
    /// Members that are not as the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member: Vec<MemberConfig>,
    /// Members that are carried lightly. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<LightConfig>,
}

/// How one member differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberConfig {
    /// Which: counted from 0; spares follow the members.
    pub device: u16,
    /// Mean P/E cycles of its blocks when it is put in: it has been in use before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<u32>,
    /// Its capacity. Of every member as much is used as the smallest one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// When it fails as a whole, from the start of the measurement; not for spares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_at: Option<Nanos>,
}

/// RAID levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Striping, no redundancy.
    Raid0,
    /// Every member holds everything.
    Raid1,
    /// Striped copies.
    Raid10,
    /// One parity chunk in each stripe, all on the last member.
    Raid4,
    /// One parity chunk in each stripe, rotating.
    Raid5,
    /// Two parity chunks in each stripe.
    Raid6,
    /// `parities` parity chunks in each stripe, from a maximum-distance-separable code.
    Code,
}

impl Level {
    /// The level as it is written in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid4 => "raid4",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
            Self::Code => "code",
        }
    }
}

/// Where RAID-10 puts the copies of a chunk, named as in Linux md (`md(4)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Which ways of writing a part of a stripe are allowed. Where a chunk is missing, whatever still works is used: a way of which every chunk
/// can be read, and if there is none, all that is left of the stripe.
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
    pub(crate) fn reconstructs(self, complete: u32, delta: u32) -> bool {
        self == Self::Cheapest && complete <= delta
    }
}

/// How parity is made right after a loss of power, named as md's `consistency_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Parity is computed anew over the whole array after an unclean stop. Costs nothing before; has the write hole: a member that is
    /// missing before this is done may come back wrong where writes were under way.
    #[default]
    Resync,
    /// As `resync`, but only regions marked before they are written. Has the write hole.
    Bitmap,
    /// The parity of what a write leaves as it is goes to the parity members first (md's partial parity log). No write hole.
    Ppl,
    /// All that a write changes goes to the log of its member first (md's journal, on the members). No write hole, and writes that were
    /// under way are carried out.
    Journal,
}

impl Consistency {
    /// Whether writes leave a record before they begin.
    pub(crate) fn keeps_records(self) -> bool {
        matches!(self, Self::Ppl | Self::Journal)
    }
}

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

/// See [`LogConfig::place`].
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

/// How fast the array works for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BackgroundConfig {
    /// Bytes per second of each member while the host is active. Default: 1000 KiB/s, md's `speed_limit_min`. A rate that no device
    /// reaches is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<ByteRate>,
    /// Bytes per second of each member while the host is idle. Default: 200 000 KiB/s, md's `speed_limit_max`; at least `min_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<ByteRate>,
    /// The host counts as idle when it has had no command under way for this long. Default: 500 ms, the pause after which md looks again.
    pub idle_after: Nanos,
    /// Groups worked on at once, at most 64. Default: 32 (a guess: enough to keep every member busy).
    pub window: u16,
    /// Time from the end of one scrub to the start of the next, which repairs what it finds. Absent: scrubs only on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrub_interval: Option<Nanos>,
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self {
            min_rate: ByteRate::new(1000 << 10),
            max_rate: ByteRate::new(200_000 << 10),
            idle_after: Nanos::millis(500),
            window: 32,
            scrub_interval: None,
        }
    }
}

/// When a member that still answers is thrown out, where the array can do without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EjectionConfig {
    /// Read errors that redundancy made good; half are forgotten every hour. Default: 20, as md's copies have it (`max_corr_read_errors`, since
    /// Linux 6.9 for `raid1`, too). md's parity levels have another rule, which is not modelled: a member goes after more errors than there are
    /// stripes in the cache (256), and each read that succeeds forgets them all.
    pub read_errors: u32,
    /// Runs of bad sectors kept per member. Default: 512, as fit into md's log.
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
    /// Percentage of its rated cycles at which a member is replaced by a spare; may exceed 100. Absent: never by itself.
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
            copy_layout: CopyLayout::default(),
            parity_percent: None,
            writes: StripeWrites::default(),
            consistency: Consistency::default(),
            safe_mode_delay: default_safe_mode_delay(),
            log: LogConfig::default(),
            background: BackgroundConfig::default(),
            ejection: EjectionConfig::default(),
            replacement: ReplacementConfig::default(),
            repair: RepairConfig::default(),
            member: Vec::new(),
            light: None,
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
    pub(crate) fn has_parity(&self) -> bool {
        matches!(self.level, Level::Raid4 | Level::Raid5 | Level::Raid6 | Level::Code)
    }

    /// Parity shares, where percentages are set.
    pub(crate) fn shares(&self) -> Result<Option<Shares>, ConfigError> {
        let parities = usize::from(self.redundancy());
        let shares = self.parity_percent.as_ref();
        shares.map(|percent| Shares::from_percent("array.parity_percent", percent, parities)).transpose()
    }

    /// Bytes at the end of each member that hold records.
    pub(crate) fn reserved(&self) -> Bytes {
        if self.log.place == LogPlace::Controller {
            return Bytes(0);
        }
        match self.consistency {
            Consistency::Resync => Bytes(0),
            Consistency::Bitmap => Bytes::kib(4),
            Consistency::Ppl | Consistency::Journal => self.log.size,
        }
    }

    /// Checks every setting and how they go together.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_shape()?;
        self.validate_placement()?;
        if self.consistency.keeps_records() && !self.has_parity() {
            let limit =
                format!("must be resync or bitmap for level {}, which has no parity", self.level.name());
            let value = if self.consistency == Consistency::Ppl { "ppl" } else { "journal" };
            return Err(ConfigError::new("array.consistency", value, limit));
        }
        let least = Bytes(2 * (self.chunk.0 + 4096));
        let logged = self.consistency.keeps_records();
        if logged && (self.log.size < least || !self.log.size.0.is_multiple_of(SECTOR_BYTES)) {
            let limit =
                format!("must be a multiple of 512 bytes and at least {least}, two records of a chunk");
            return Err(ConfigError::new("array.log.size", self.log.size, limit));
        }
        if self.log.bitmap_chunk.0 == 0 {
            return Err(ConfigError::new("array.log.bitmap_chunk", self.log.bitmap_chunk, "must be above 0"));
        }
        self.background.validate()?;
        self.repair.validate()?;
        if let Some(limit) = self.replacement.limit_percent
            && !(limit > 0.0 && limit <= 1e6)
        {
            let message = "must be above 0 and at most 1000000";
            return Err(ConfigError::new("array.replacement.limit_percent", limit, message));
        }
        self.validate_members()?;
        let Some(light) = &self.light else { return Ok(()) };
        let differs =
            |device| self.member(device).is_some_and(|own| own.pe_cycles.is_some() || own.capacity.is_some());
        light.validate(self.members, self.spares, differs)
    }

    fn validate_members(&self) -> Result<(), ConfigError> {
        for (index, member) in self.member.iter().enumerate() {
            let refuse = |name: &str, value: &dyn std::fmt::Display, limit: String| {
                Err(ConfigError::new(&format!("array.member[{index}].{name}"), value, limit))
            };
            if member.device >= self.devices() {
                let limit = format!("must be less than {}, members and spares", self.devices());
                return refuse("device", &member.device, limit);
            }
            if self.member[..index].iter().any(|before| before.device == member.device) {
                return refuse("device", &member.device, "is given twice".to_owned());
            }
            if let (Some(at), true) = (member.fail_at, member.device >= self.members) {
                return refuse("fail_at", &at, "is for members; this is a spare".to_owned());
            }
        }
        Ok(())
    }

    fn validate_shape(&self) -> Result<(), ConfigError> {
        match (self.level, self.parities) {
            (Level::Code, None | Some(0)) => {
                let limit = "must be at least 1 for level code";
                return Err(ConfigError::new("array.parities", self.parities.unwrap_or(0), limit));
            }
            (Level::Code, Some(parities)) if usize::from(parities) >= MEMBERS_MAX => {
                let limit = format!("must be below {MEMBERS_MAX}, the most members");
                return Err(ConfigError::new("array.parities", parities, limit));
            }
            (level, Some(parities)) if level != Level::Code => {
                let limit = format!("is for level code; {} has {}", level.name(), self.redundancy());
                return Err(ConfigError::new("array.parities", parities, limit));
            }
            _ => {}
        }
        let least = match self.level {
            Level::Raid0 => 1,
            Level::Raid1 => 2,
            Level::Raid10 if self.copies < 2 => {
                return Err(ConfigError::new("array.copies", self.copies, "must be at least 2"));
            }
            Level::Raid10 => self.copies,
            _ => self.redundancy() + 1,
        };
        if self.members < least || usize::from(self.members) > MEMBERS_MAX {
            let limit = format!("must be between {least} and {MEMBERS_MAX} for level {}", self.level.name());
            return Err(ConfigError::new("array.members", self.members, limit));
        }
        if usize::from(self.spares) > MEMBERS_MAX {
            let limit = format!("must be at most {MEMBERS_MAX}");
            return Err(ConfigError::new("array.spares", self.spares, limit));
        }
        if self.chunk.0 == 0 || !self.chunk.0.is_multiple_of(SECTOR_BYTES) || self.chunk > Bytes::gib(1) {
            let limit = "must be a multiple of 512 bytes, above 0 and at most 1GiB";
            return Err(ConfigError::new("array.chunk", self.chunk, limit));
        }
        Ok(())
    }

    fn validate_placement(&self) -> Result<(), ConfigError> {
        let Some(percent) = &self.parity_percent else { return Ok(()) };
        let value = format!("{percent:?}");
        if !self.has_parity() || self.level == Level::Raid4 {
            let limit = format!("is for levels raid5, raid6 and code, not {}", self.level.name());
            return Err(ConfigError::new("array.parity_percent", value, limit));
        }
        if percent.len() != usize::from(self.members) {
            let limit = format!("must have one percentage for each of the {} members", self.members);
            return Err(ConfigError::new("array.parity_percent", value, limit));
        }
        self.shares().map(|_| ())
    }
}

impl BackgroundConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.window == 0 || self.window > 64 {
            return Err(ConfigError::new("array.background.window", self.window, "must be between 1 and 64"));
        }
        if let (Some(min), Some(max)) = (self.min_rate, self.max_rate)
            && min.bytes_per_s() > max.bytes_per_s()
        {
            let limit = format!("must be at most array.background.max_rate, {max}");
            return Err(ConfigError::new("array.background.min_rate", min, limit));
        }
        at_most_a_second("array.background.idle_after", self.idle_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(text: &str) -> String {
        let config: ArrayConfig = toml::from_str(text).unwrap();
        config.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_short_section_is_enough() {
        let config: ArrayConfig = toml::from_str("level = \"raid5\"\nmembers = 5").unwrap();
        assert_eq!(config, ArrayConfig::new(Level::Raid5, 5));
        config.validate().unwrap();
        let text = "level = \"raid6\"\nmembers = 6\nparity_percent = [50, 10, 10, 10, 10, 10]\nwrites = \"no-reconstruct\"";
        toml::from_str::<ArrayConfig>(text).unwrap().validate().unwrap();
    }

    #[test]
    fn bad_settings_are_refused_by_name_value_and_limit() {
        assert_eq!(
            refuse("level = \"raid6\"\nmembers = 2"),
            "array.members = 2: must be between 3 and 64 for level raid6"
        );
        assert_eq!(
            refuse("level = \"code\"\nmembers = 4\nparities = 4"),
            "array.members = 4: must be between 5 and 64 for level code"
        );
        assert_eq!(
            refuse("level = \"code\"\nmembers = 4"),
            "array.parities = 0: must be at least 1 for level code"
        );
        assert_eq!(
            refuse("level = \"raid5\"\nmembers = 4\nparities = 1"),
            "array.parities = 1: is for level code; raid5 has 1"
        );
        assert_eq!(
            refuse("level = \"raid5\"\nmembers = 3\nparity_percent = [50, 20, 20]"),
            "array.parity_percent = [50.0, 20.0, 20.0]: must sum to 100, not 90"
        );
        assert!(
            refuse("level = \"raid5\"\nmembers = 3\nparity_percent = [50, 50]")
                .contains("each of the 3 members")
        );
        assert!(refuse("level = \"raid4\"\nmembers = 2\nparity_percent = [100, 0]").contains("not raid4"));
        assert!(
            refuse("level = \"raid5\"\nmembers = 3\nchunk = 1000")
                .starts_with("array.chunk = 1000B: must be a multiple")
        );
        assert!(refuse("level = \"raid1\"\nmembers = 2\nconsistency = \"ppl\"").contains("level raid1"));
        assert!(refuse("level = \"raid10\"\nmembers = 2\ncopies = 1").starts_with("array.copies = 1"));
        assert!(
            refuse("level = \"raid5\"\nmembers = 3\nconsistency = \"ppl\"\nlog.size = \"64KiB\"")
                .starts_with("array.log.size = 64KiB")
        );
        let rates = "background = { min_rate = \"2MB/s\", max_rate = \"1MB/s\" }";
        assert!(
            refuse(&format!("level = \"raid5\"\nmembers = 3\n{rates}"))
                .contains("at most array.background.max_rate, 1MB/s")
        );
        assert!(toml::from_str::<ArrayConfig>("level = \"raid5\"\nmembers = 3\ncolour = 1").is_err());
    }
}

//! Settings of garbage collection.

use super::VictimPolicy;
use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most on-chip copies in a row.
const MOST_COPIES: u8 = 15;

/// When garbage collection runs and what it collects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GcConfig {
    /// Which superblock is collected next.
    pub policy: VictimPolicy,
    /// How many superblocks `d-choices` samples.
    pub choices: u32,
    /// Collection starts when this many superblocks or fewer are free (the low mark), and stops above. Absent: as few as the streams
    /// allow, which leaves the most spare space to the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_free: Option<u32>,
    /// Collection, once started, goes on until this many superblocks are free (the high mark). With pacing "burst", which needs it, or
    /// "token". Absent: until more than `start_free` are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_free: Option<u32>,
    /// Share of the space that collection frees on its way to `stop_free` that host writes may use meanwhile; 0 to 1. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_share: Option<f64>,
    /// How host writes are paced by collection: `true` or "smooth", `false` or "none", "burst", "token".
    pub pacing: Pacing,
    /// Rate at which host writes enter while collection runs, with pacing "token".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenConfig>,
    /// How much one read of a victim senses. Wear levelling and scrubbing read as collection does. Default: "multi-plane".
    #[serde(skip_serializing_if = "GcReads::is_multi_plane")]
    pub reads: GcReads,
    /// Whether the next victim is read while the last one is erased, an eighth of its dies at a time; with a protected buffer. Takes one
    /// more free superblock for each relocating stream. Default: false, a victim is read when the one before it has been erased, on all
    /// dies at once.
    #[serde(skip_serializing_if = "is_false")]
    pub overlap: bool,
    /// Where collection writes moved data. Default: "own".
    #[serde(skip_serializing_if = "GcRelocation::is_own")]
    pub relocation: GcRelocation,
    /// How often in a row data may be moved within its die (on-chip copy, copyback): it is sensed and programmed without crossing the channel, and thus
    /// without error correction, so that each copy adds the errors of its source. 1: data that a host wrote, as that of an SLC cache, is copied once, and
    /// then goes through the controller. Default: 0, the chip does not do it. At most 15.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_chip_copies: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(copies: &u8) -> bool {
    *copies == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            policy: VictimPolicy::Greedy,
            choices: 8,
            start_free: None,
            stop_free: None,
            host_share: None,
            pacing: Pacing::Smooth,
            token: None,
            reads: GcReads::MultiPlane,
            overlap: false,
            relocation: GcRelocation::Own,
            on_chip_copies: 0,
        }
    }
}

/// Where collection writes moved data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcRelocation {
    /// To a stream of its own, with its own open superblock.
    #[default]
    Own,
    /// Into the open superblock of the host's data of the same class, of its first stream.
    Host,
}

impl GcRelocation {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// How much one read of a victim senses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcReads {
    /// All valid units of a program unit: of each page row that holds some, all planes at once, in one tR.
    #[default]
    MultiPlane,
    /// The valid units of one page, in a tR of its own; of a mapping unit that spans pages, all of them.
    Page,
}

impl GcReads {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_multi_plane(&self) -> bool {
        *self == Self::MultiPlane
    }
}

/// How host writes are paced by collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Each unit that collection moves lets in its share of the host's writes: smooth latency. In scenarios `true` or "smooth".
    Smooth,
    /// Host writes run ahead until no superblock is free and then wait for a whole victim. In scenarios `false` or "none".
    None,
    /// Collection runs from the low mark to the high one, and not in between.
    Burst,
    /// As smooth, and host writes enter at a rate that follows their recent one.
    Token,
}

impl Pacing {
    /// All.
    pub const ALL: [Self; 4] = [Self::Smooth, Self::None, Self::Burst, Self::Token];

    /// Their names, in this order.
    pub const NAMES: [&'static str; 4] = ["smooth", "none", "burst", "token"];
}

impl From<bool> for Pacing {
    fn from(paces: bool) -> Self {
        if paces { Self::Smooth } else { Self::None }
    }
}

impl Serialize for Pacing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Smooth => serializer.serialize_bool(true),
            Self::None => serializer.serialize_bool(false),
            Self::Burst => serializer.serialize_str("burst"),
            Self::Token => serializer.serialize_str("token"),
        }
    }
}

impl<'de> Deserialize<'de> for Pacing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given;
        impl Visitor<'_> for Given {
            type Value = Pacing;

            fn expecting(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                text.write_str("true, false, \"smooth\", \"none\", \"burst\" or \"token\"")
            }

            fn visit_bool<E: Error>(self, paces: bool) -> Result<Pacing, E> {
                Ok(paces.into())
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Pacing, E> {
                let place = Pacing::NAMES.iter().position(|&own| own == name);
                place
                    .map(|place| Pacing::ALL[place])
                    .ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
            }
        }
        deserializer.deserialize_any(Given)
    }
}

outlast_units::schema_of!(Pacing, { "anyOf": [
    { "type": "boolean" },
    {
        "const": "smooth",
        "description": "Each unit that collection moves lets in its share of the host's writes: smooth latency. The same as true.",
    },
    {
        "const": "none",
        "description": "Host writes run ahead until no superblock is free and then wait for a whole victim. The same as false.",
    },
    { "const": "burst", "description": "Collection runs from the low mark to the high one, and not in between." },
    { "const": "token", "description": "As smooth, and host writes enter at a rate that follows their recent one." },
] });

/// The rate of host writes while collection runs: each takes a token, and tokens come at `factor` times the rate at which the host has
/// written over the last `window`, but no slower than collection has let in over that time, and no slower than `depth` a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokenConfig {
    /// Over what time the host's rate is averaged; 10 us to 10 s.
    pub window: Nanos,
    /// Rate of tokens over the host's recent one; 0.01 to 4.
    pub factor: f64,
    /// How much data the saved tokens may cover, over all flash cores; collection may be ahead of the host by as much. At least a mapping
    /// unit for each core.
    pub depth: Bytes,
    /// When the rate is set anew. Default: "window".
    #[serde(skip_serializing_if = "TokenRate::is_by_window")]
    pub rate: TokenRate,
}

/// When the rate of tokens is set anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenRate {
    /// With each window. Collection is ahead of the host by `depth` at most.
    #[default]
    Window,
    /// When a burst of collection begins, for as long as it lasts: `factor` times the host's rate over the window before and the one under way. Collection
    /// goes on at its own speed, to the high mark. Needs `stop_free` of at least two more than `start_free`.
    Burst,
}

impl TokenRate {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_by_window(&self) -> bool {
        *self == Self::Window
    }
}

impl Default for TokenConfig {
    fn default() -> Self {
        Self { window: Nanos::millis(50), factor: 0.95, depth: Bytes::mib(1), rate: TokenRate::Window }
    }
}

impl GcConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first one that is out of range, or that another does not allow.
    pub(super) fn validate(&self, mapping_unit: Bytes) -> Result<(), ConfigError> {
        let refused = |field: &str, given: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(&format!("device.ftl.gc.{field}"), given, limit))
        };
        if self.choices == 0 {
            return refused("choices", &0, "must be at least 1");
        }
        if self.on_chip_copies > MOST_COPIES {
            let limit = format!("must be at most {MOST_COPIES}");
            return refused("on_chip_copies", &self.on_chip_copies, &limit);
        }
        if self.on_chip_copies != 0 && self.relocation == GcRelocation::Host {
            let limit = "needs device.ftl.gc.relocation other than \"host\": what the host writes comes over the channel";
            return refused("on_chip_copies", &self.on_chip_copies, limit);
        }
        if self.on_chip_copies != 0 && self.reads == GcReads::Page {
            let limit = "needs device.ftl.gc.reads = \"multi-plane\": whole program units are copied";
            return refused("on_chip_copies", &self.on_chip_copies, limit);
        }
        match (self.pacing, self.stop_free) {
            (Pacing::Burst, None) => {
                let limit =
                    "pacing = \"burst\" needs the number of free superblocks at which collection stops";
                return refused("stop_free", &"absent", limit);
            }
            (Pacing::Smooth | Pacing::None, Some(stop)) => {
                return refused("stop_free", &stop, "is for pacing = \"burst\" or \"token\"");
            }
            _ => {}
        }
        if let Some(share) = self.host_share {
            if self.stop_free.is_none() {
                return refused(
                    "host_share",
                    &share,
                    "is for collection with a high mark: give stop_free, too",
                );
            }
            if !(0.0..=1.0).contains(&share) {
                return refused("host_share", &share, "must be between 0 and 1");
            }
        }
        match &self.token {
            Some(token) if self.pacing != Pacing::Token => {
                refused("token.window", &token.window, "is for pacing = \"token\"")
            }
            Some(TokenConfig { rate: TokenRate::Burst, .. }) if self.stop_free.is_none() => {
                refused("token.rate", &"burst", "needs stop_free, at which a burst of collection ends")
            }
            Some(token) => token.validate(mapping_unit),
            None => Ok(()),
        }
    }
}

impl TokenConfig {
    fn validate(&self, mapping_unit: Bytes) -> Result<(), ConfigError> {
        if !(10_000..=10_000_000_000).contains(&self.window.0) {
            let limit = "must be between 10us and 10s";
            return Err(ConfigError::new("device.ftl.gc.token.window", self.window, limit));
        }
        if !(0.01..=4.0).contains(&self.factor) {
            let limit = "must be between 0.01 and 4";
            return Err(ConfigError::new("device.ftl.gc.token.factor", self.factor, limit));
        }
        if self.depth < mapping_unit || self.depth > Bytes::gib(1) {
            let limit = format!("must be between the mapping unit, {mapping_unit}, and 1GiB");
            return Err(ConfigError::new("device.ftl.gc.token.depth", self.depth, limit));
        }
        Ok(())
    }
}

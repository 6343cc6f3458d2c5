//! Settings of parity: which data is protected by which code, and what protects a stripe that is not yet full.

mod checks;

use super::CodeRule;
use outlast_media::ConfigError;
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Parity in the drive. Across dies: every stripe of `data` program units in write order is followed by `parity` more that protect
/// it; a stripe at the end of a superblock may be shorter. Within blocks: every `block` program units of a block are followed by one.
/// Both may be combined: a product code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProtectionConfig {
    /// Program units of data in a stripe (s in HRM, k of a (k, m) code); at least 1. Default: 15.
    pub data: u16,
    /// Parity program units in a stripe: how many may fail together. 0: no parity across dies. Default: 1.
    pub parity: u8,
    /// Program units of a block that one more protects: q of the (q, 1) code within each block (Flexible, section 3.2).
    /// Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u16>,
    /// Stronger codes for worn or failing superblocks, chosen whenever one is opened: the last one whose figures have been reached,
    /// otherwise the code above (Flexible, section 3.4). From the weakest to the strongest, by which room is counted. Absent: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeRule>,
    /// Which data is protected. Default: all.
    pub streams: ProtectedStreams,
    /// Protection of incomplete stripes. Default: nothing.
    pub partial: PartialConfig,
    /// Classes of data with codes of their own, numbered from 0 in this order; each has write streams of its own. Absent: one
    /// class, with the code above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassConfig>,
    /// The class of writes that match no class. Default: 0.
    pub default_class: u8,
    /// Whether the drive, when a die or a plane has failed, moves what has lost redundancy into superblocks of full protection, in the
    /// background and by itself, as drives with parity over their dies do. Where `device.repair` is given, its `rebuild` says so instead.
    /// Default: true.
    #[serde(skip_serializing_if = "is_true")]
    pub rebuild: bool,
    /// Most bytes that this moves in a second, over all cores; above 0. Absent: that of `device.scrub.bandwidth`, else what idle dies allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild_bandwidth: Option<ByteRate>,
    /// On a die that is never idle, one in this many operations is one of a background task while redundancy is lacking; 1 to 255. 1 gives
    /// it every other turn. Absent: 32, as of all background tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild_every: Option<u8>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(setting: &bool) -> bool {
    *setting
}

impl Default for ProtectionConfig {
    fn default() -> Self {
        Self {
            data: 15,
            parity: 1,
            block: None,
            codes: Vec::new(),
            streams: ProtectedStreams::All,
            partial: PartialConfig::default(),
            classes: Vec::new(),
            default_class: 0,
            rebuild: true,
            rebuild_bandwidth: None,
            rebuild_every: None,
        }
    }
}

/// Which data is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case")]
pub enum ProtectedStreams {
    /// Everything.
    All,
    /// What garbage collection and static wear levelling gathered: cold data (HRM, section 5).
    Gathered,
}

/// Protection of incomplete stripes, after a flush or a pause of the host's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PartialConfig {
    /// Where the parity of an incomplete stripe goes. Default: nowhere.
    pub place: PartialPlace,
    /// The open stripe of a stream is protected after this time without a write. Default: 50 ms (mSAPL, section 4.4).
    pub timeout: Nanos,
    /// Bytes of the parity cache, over all cores, where `place` is `cache`. Default: 16 MiB.
    pub cache: Bytes,
}

impl Default for PartialConfig {
    fn default() -> Self {
        Self { place: PartialPlace::None, timeout: Nanos::millis(50), cache: Bytes::mib(16) }
    }
}

/// Where the parity of an incomplete stripe goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case")]
pub enum PartialPlace {
    /// Nowhere: its data is unprotected until the stripe is full.
    None,
    /// Into the stripe itself, which then holds that much less data (eSAP). Where no room would be left for data, the stripe ends
    /// there: a short stripe. Data that was relocated is not covered.
    Inline,
    /// Into separate superblocks, whose contents become stale at about the same time (mSAPL, section 4.4). If more stripes are open than
    /// such a superblock has room for, some stay unprotected until others are full.
    Blocks,
    /// Into a non-volatile cache, where all open stripes have their parity at all times (Flexible, section 3.5).
    Cache,
}

/// A class of data: what belongs to it, and its code. A write belongs to the first class that asks for it, by stream hint, then by
/// address, then by its size and by how often its neighbourhood is written; what is written again gets the class of the new write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassConfig {
    /// As `device.protection.data`, which is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<u16>,
    /// As `device.protection.parity`, which is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<u8>,
    /// As `device.protection.codes`, which is the default; an empty list: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codes: Option<Vec<CodeRule>>,
    /// Stream hints of write commands that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<u16>,
    /// Ranges of addresses that belong to it: a namespace is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<RangeConfig>,
    /// Write commands of at least so many bytes belong to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Bytes>,
    /// Write commands of at most so many bytes belong to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Bytes>,
    /// Writes into megabytes of the address space that have lately been written at least so many times as often as the mean one
    /// belong to it; with `at_least` or `at_most`, only those of them that fit. Above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<f64>,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeConfig {
    /// First byte; a multiple of 512.
    pub from: Bytes,
    /// First byte beyond; a multiple of 512.
    pub to: Bytes,
}

/// A code over dies and within blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct CodeConfig {
    /// Program units of data in a stripe.
    pub data: u16,
    /// Parity program units in a stripe; 0: none.
    pub parity: u8,
    /// Program units of a block that one more protects.
    pub block: Option<u16>,
}

/// Parities of a stripe at most.
const MOST_PARITY: u8 = 16;

impl CodeConfig {
    /// Checks the code by itself.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(self, at: &str) -> Result<(), ConfigError> {
        let error = |field: &str, value: &dyn std::fmt::Display, limit: String| {
            Err(ConfigError::new(&format!("{at}.{field}"), value, limit))
        };
        if self.data == 0 {
            return error("data", &0, "must be at least 1 program unit".to_owned());
        }
        if self.parity > MOST_PARITY {
            return error("parity", &self.parity, format!("must be between 0 and {MOST_PARITY}"));
        }
        if u32::from(self.data) + u32::from(self.parity) > 255 {
            let limit = format!("with {} parity a code has at most 255 members", self.parity);
            return error("data", &self.data, limit);
        }
        if self.block.is_some_and(|block| block == 0 || block > 254) {
            let limit = "must be between 1 and 254 program units".to_owned();
            return error("block", &self.block.unwrap_or(0), limit);
        }
        Ok(())
    }
}

impl ProtectionConfig {
    /// The number of classes.
    pub fn class_count(&self) -> u8 {
        self.classes.len().max(1) as u8
    }

    /// The code of class `class`: the strongest that its superblocks may have.
    pub fn code(&self, class: u8) -> CodeConfig {
        let plain = self.plain_code(class);
        self.rules(class).last().map_or(plain, |rule| rule.code(plain.block))
    }

    /// Whether the code of superblocks of class `class` depends on what they have gone through.
    pub fn has_rules(&self, class: u8) -> bool {
        !self.rules(class).is_empty()
    }

    /// Codes of class `class` for superblocks that have gone through more, from the weakest to the strongest.
    pub fn rules(&self, class: u8) -> &[CodeRule] {
        let own = self.classes.get(usize::from(class)).and_then(|own| own.codes.as_deref());
        own.unwrap_or(&self.codes)
    }

    /// The code of class `class` where no rule holds.
    pub fn plain_code(&self, class: u8) -> CodeConfig {
        let own = self.classes.get(usize::from(class));
        CodeConfig {
            data: own.and_then(|own| own.data).unwrap_or(self.data),
            parity: own.and_then(|own| own.parity).unwrap_or(self.parity),
            block: self.block,
        }
    }
}

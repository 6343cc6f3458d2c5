//! Settings of parity: which data is protected by which code, and what protects a stripe that is not yet full.

use super::CodeRule;
use outlast_media::{ConfigError, Geometry};
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos, SECTOR_BYTES};
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
    /// it every other turn. Absent: `device.controller.background_every`.
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
    pub hints: Vec<u8>,
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

    fn check_rebuild(&self) -> Result<(), ConfigError> {
        if self.rebuild_every == Some(0) {
            return Err(ConfigError::new("device.protection.rebuild_every", 0, "must be between 1 and 255"));
        }
        let needs = "needs device.protection.rebuild = true";
        match (self.rebuild, self.rebuild_bandwidth, self.rebuild_every) {
            (false, Some(rate), _) => {
                Err(ConfigError::new("device.protection.rebuild_bandwidth", rate, needs))
            }
            (false, _, Some(every)) => Err(ConfigError::new("device.protection.rebuild_every", every, needs)),
            _ => Ok(()),
        }
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range; classes that ask for the same data; a class that nothing ever belongs to.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let plain = CodeConfig { data: self.data, parity: self.parity, block: self.block };
        plain.validate("device.protection")?;
        self.check_rebuild()?;
        self.check_rules()?;
        if self.classes.is_empty() && self.code(0).parity == 0 && self.block.is_none() {
            let limit = "must be at least 1, unless there is a code within blocks or classes have parity";
            return Err(ConfigError::new("device.protection.parity", 0, limit));
        }
        if self.classes.len() > 16 {
            let limit = "at most 16 classes have streams of their own";
            return Err(ConfigError::new("device.protection.classes", self.classes.len(), limit));
        }
        if self.default_class >= self.class_count() {
            let limit = format!("must be below the number of classes, {}", self.class_count());
            return Err(ConfigError::new("device.protection.default_class", self.default_class, limit));
        }
        for (number, class) in (0u8..).zip(&self.classes) {
            let at = format!("device.protection.classes[{number}]");
            self.plain_code(number).validate(&at)?;
            class.validate(&at)?;
            let asks = !class.hints.is_empty()
                || !class.ranges.is_empty()
                || class.at_least.is_some()
                || class.at_most.is_some()
                || class.hot.is_some();
            if !asks && number != self.default_class {
                let limit =
                    "has no stream: give hints, ranges, at_least, at_most or hot, or make it default_class";
                return Err(ConfigError::new(&at, "a class that nothing ever belongs to", limit));
            }
        }
        self.check_overlaps()
    }

    /// What `device.protection` calls the rules of class `class`.
    pub fn rules_at(&self, class: u8) -> String {
        match self.classes.get(usize::from(class)) {
            Some(ClassConfig { codes: Some(_), .. }) => format!("device.protection.classes[{class}].codes"),
            _ => "device.protection.codes".to_owned(),
        }
    }

    fn check_rules(&self) -> Result<(), ConfigError> {
        for class in 0..self.class_count() {
            let (mut before, at) = (self.plain_code(class), self.rules_at(class));
            for (index, rule) in self.rules(class).iter().enumerate() {
                rule.validate(&format!("{at}[{index}]"), before)?;
                before = rule.code(before.block);
            }
        }
        Ok(())
    }

    /// Checks that rules look only at what the drive tells; `errs`: its flash errs.
    ///
    /// # Errors
    /// The first rule that looks at errors of flash without any.
    pub fn check_figures(&self, errs: bool) -> Result<(), ConfigError> {
        for class in 0..self.class_count() {
            let needs = |rule: &&CodeRule| rule.needs_errors() && !errs;
            if let Some(index) = self.rules(class).iter().position(|rule| needs(&rule)) {
                let at = format!("{}[{index}]", self.rules_at(class));
                let limit = "looks at errors of flash, and there are none: needs device.reliability";
                return Err(ConfigError::new(&at, "expected_errors or rereads", limit));
            }
        }
        Ok(())
    }

    fn check_overlaps(&self) -> Result<(), ConfigError> {
        let mut ranges: Vec<(RangeConfig, String)> = Vec::new();
        let mut hints: Vec<u8> = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            for (index, &range) in class.ranges.iter().enumerate() {
                ranges.push((range, format!("device.protection.classes[{number}].ranges[{index}]")));
            }
            for &hint in &class.hints {
                if hints.contains(&hint) {
                    let at = format!("device.protection.classes[{number}].hints");
                    return Err(ConfigError::new(&at, hint, "is asked for twice"));
                }
                hints.push(hint);
            }
        }
        ranges.sort_by_key(|(range, _)| range.from.0);
        for pair in ranges.windows(2) {
            let [(before, name), (after, at)] = pair else { continue };
            if after.from.0 < before.to.0 {
                let limit = format!("overlaps {name}, which ends at {}", before.to);
                return Err(ConfigError::new(at, after.from, limit));
            }
        }
        Ok(())
    }

    /// Checks what depends on the drive: ranges within its capacity.
    ///
    /// # Errors
    /// The first range that does not lie in it.
    pub fn check_capacity(&self, capacity: Bytes) -> Result<(), ConfigError> {
        for (number, class) in self.classes.iter().enumerate() {
            for (index, range) in class.ranges.iter().enumerate() {
                if range.to > capacity {
                    let at = format!("device.protection.classes[{number}].ranges[{index}].to");
                    let limit = format!("must be at most the capacity of the drive, {capacity}");
                    return Err(ConfigError::new(&at, range.to, limit));
                }
            }
        }
        Ok(())
    }

    /// Checks that the parity cache holds the parity of every stripe that may be open at once.
    ///
    /// # Errors
    /// A cache that is smaller, with what it takes.
    pub fn check_cache(
        &self,
        geometry: &Geometry,
        open_parities: u64,
        pu_bytes: u64,
    ) -> Result<(), ConfigError> {
        let needed = Bytes(open_parities * pu_bytes);
        if self.partial.place == PartialPlace::Cache && self.partial.cache < needed {
            let limit = format!(
                "must hold the parity of every open stripe, {needed}: {open_parities} program units of {} on {} dies",
                Bytes(pu_bytes),
                geometry.dies()
            );
            return Err(ConfigError::new("device.protection.partial.cache", self.partial.cache, limit));
        }
        Ok(())
    }
}

impl ClassConfig {
    fn validate(&self, at: &str) -> Result<(), ConfigError> {
        for (index, range) in self.ranges.iter().enumerate() {
            let at = format!("{at}.ranges[{index}]");
            for (field, edge) in [("from", range.from), ("to", range.to)] {
                if !edge.0.is_multiple_of(SECTOR_BYTES) {
                    return Err(ConfigError::new(
                        &format!("{at}.{field}"),
                        edge,
                        "must be a multiple of 512",
                    ));
                }
            }
            if range.to <= range.from {
                let limit = format!("must be above from, {}", range.from);
                return Err(ConfigError::new(&format!("{at}.to"), range.to, limit));
            }
        }
        if let Some(hot) = self.hot.filter(|hot| !(hot.is_finite() && *hot > 0.0)) {
            return Err(ConfigError::new(&format!("{at}.hot"), hot, "must be a number above 0"));
        }
        if let (Some(least), Some(most)) = (self.at_least, self.at_most)
            && least > most
        {
            let limit = format!("must be at most at_most, {most}");
            return Err(ConfigError::new(&format!("{at}.at_least"), least, limit));
        }
        Ok(())
    }
}

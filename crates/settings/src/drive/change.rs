//! Changes that a drive makes to its protection while data is live.

use super::SsdConfig;
use crate::ftl::CodeConfig;
use outlast_media::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// A change, and when it is made: at a time, or when a figure of the drive's health has been reached. Either a class gets another code
/// (Flexible, section 3.4), or dies that were absent are added (section 3.6), or reclaim unit handles get empty reclaim units.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist,
)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeConfig {
    /// When, from the start of the run. Give this, `pe_cycles` or `medium_errors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Nanos>,
    /// When the most-worn block has been erased this many times, initial wear included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<u32>,
    /// When this many units have been unreadable since the drive was made, for the host or for the drive itself. (`smart.media_errors` counts
    /// commands of the host.)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium_errors: Option<u64>,
    /// The class that gets another code. Default: 0.
    pub class: u8,
    /// Its new `data`. Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<u16>,
    /// Its new `parity`. Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<u8>,
    /// Its new `block`; 0: none. Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u16>,
    /// Dies to add; see `device.absent_dies`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dies: Vec<u16>,
    /// Placement identifiers whose handles refer to an empty reclaim unit from then on, as after `NVMe`'s Reclaim Unit Handle Update; see
    /// `device.placement`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub update_handles: Vec<u16>,
}

impl ChangeConfig {
    /// Checks the change against the drive; `field` is its dotted name, such as `changes[1]`.
    ///
    /// # Errors
    /// No trigger or several, nothing to change, no such class or handle, or dies that are not absent.
    pub fn validate(&self, field: &str, device: &SsdConfig) -> Result<(), ConfigError> {
        let triggers = [self.at.is_some(), self.pe_cycles.is_some(), self.medium_errors.is_some()];
        if triggers.iter().filter(|&&given| given).count() != 1 {
            let limit = "give exactly one of at, pe_cycles and medium_errors";
            return Err(ConfigError::new(field, "no single trigger", limit));
        }
        let recodes = self.data.is_some() || self.parity.is_some() || self.block.is_some();
        let asked = [recodes, !self.dies.is_empty(), !self.update_handles.is_empty()];
        if asked.iter().filter(|&&given| given).count() != 1 {
            let limit = "give data, parity or block for another code, or dies to be added, or update_handles";
            return Err(ConfigError::new(field, "nothing, or two things, to change", limit));
        }
        self.check_handles(field, device)?;
        for (index, &die) in self.dies.iter().enumerate() {
            if !device.absent_dies.contains(&die) {
                let limit = "must be one of device.absent_dies";
                return Err(ConfigError::new(&format!("{field}.dies[{index}]"), die, limit));
            }
        }
        if recodes {
            let Some(protection) = &device.protection else {
                let limit = "needs device.protection";
                return Err(ConfigError::new(field, "another code", limit));
            };
            if device.placement.is_some() {
                let limit = "does not go with device.placement, whose handles have one code";
                return Err(ConfigError::new(field, "another code", limit));
            }
            if self.class >= protection.class_count() {
                let limit = format!("must be below the number of classes, {}", protection.class_count());
                return Err(ConfigError::new(&format!("{field}.class"), self.class, limit));
            }
            if protection.has_rules(self.class) {
                let limit = "has codes by what superblocks have gone through, in device.protection.codes";
                return Err(ConfigError::new(&format!("{field}.class"), self.class, limit));
            }
            self.code(protection.code(self.class)).validate(field)?;
        }
        Ok(())
    }

    /// The setting that says when, and its value.
    pub fn trigger(&self) -> (&'static str, String) {
        match (self.at, self.pe_cycles, self.medium_errors) {
            (Some(at), ..) => ("at", at.to_string()),
            (_, Some(cycles), _) => ("pe_cycles", cycles.to_string()),
            (.., errors) => ("medium_errors", errors.unwrap_or_default().to_string()),
        }
    }

    /// What kind of change it is, in words.
    pub fn kind(&self) -> &'static str {
        if self.update_handles.is_empty() { "change of protection" } else { "update of placement handles" }
    }

    fn check_handles(&self, field: &str, device: &SsdConfig) -> Result<(), ConfigError> {
        let known = device.placement.as_ref().map_or(0, |own| own.identifiers().len());
        for (index, &identifier) in self.update_handles.iter().enumerate() {
            let at = format!("{field}.update_handles[{index}]");
            if device.placement.is_none() {
                return Err(ConfigError::new(&at, identifier, "needs device.placement"));
            }
            if usize::from(identifier) >= known {
                let limit = format!("must be below the number of placement handles, {known}");
                return Err(ConfigError::new(&at, identifier, limit));
            }
        }
        Ok(())
    }

    /// The code after the change of one that was `now`.
    pub fn code(&self, now: CodeConfig) -> CodeConfig {
        CodeConfig {
            data: self.data.unwrap_or(now.data),
            parity: self.parity.unwrap_or(now.parity),
            block: self.block.map_or(now.block, |block| Some(block).filter(|&block| block != 0)),
        }
    }
}

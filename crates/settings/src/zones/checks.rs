//! Checks of the settings of zones, and how they go with others.

use super::ZonesConfig;
use crate::drive::{SsdConfig, WriteCache};
use crate::ftl::GcRelocation;
use outlast_media::ConfigError;
use outlast_units::Nanos;

/// Most zones.
const MOST_ZONES: u32 = 1 << 24;
/// Most superblocks of a zone.
const MOST_SUPERBLOCKS: u32 = 4096;
/// Most active zones, each with a stream.
const MOST_ACTIVE: u32 = 128;
/// Longest time of a command.
const LONGEST: Nanos = Nanos(1_000_000_000);

impl ZonesConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let counts = [
            ("count", self.count, MOST_ZONES),
            ("superblocks", self.superblocks, MOST_SUPERBLOCKS),
            ("max_active", self.max_active, MOST_ACTIVE),
            ("max_open", self.max_open.unwrap_or(1), self.max_active),
        ];
        for (name, value, most) in counts {
            if value == 0 || value > most {
                let limit = format!("must be between 1 and {most}");
                return Err(ConfigError::new(&format!("device.zones.{name}"), value, limit));
            }
        }
        if let Some(zones) = self.random_write.and_then(|own| own.zones)
            && (zones == 0 || zones > self.max_active)
        {
            let limit = format!("must be between 1 and device.zones.max_active, {}", self.max_active);
            return Err(ConfigError::new("device.zones.random_write.zones", zones, limit));
        }
        let times = [
            ("finish_time", Some(self.finish_time)),
            ("reset_time", Some(self.reset_time)),
            ("reset_time_partial", Some(self.reset_time_partial)),
            ("erase_time", self.erase_time),
        ];
        for (name, time) in times {
            if let Some(time) = time.filter(|&time| time > LONGEST) {
                let limit = "must be at most 1 s";
                return Err(ConfigError::new(&format!("device.zones.{name}"), time, limit));
            }
        }
        Ok(())
    }

    /// Checks that nothing else of `drive` chooses streams or capacity, or moves data between flash cores.
    ///
    /// # Errors
    /// The first setting that does not go with zones.
    pub fn check_drive(&self, drive: &SsdConfig) -> Result<(), ConfigError> {
        let refused = |field: &str, value: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(field, value, limit))
        };
        if self.random_write.is_some() && drive.controller.write_cache != WriteCache::Protected {
            let limit = "needs device.controller.write_cache = \"protected\": what lies in an area survives a loss of power";
            return refused("device.zones.random_write", &"given", limit);
        }
        if drive.placement.is_some() {
            let limit = "does not go with device.zones: each zone is written through a stream of its own";
            return refused("device.placement", &"given", limit);
        }
        if drive.ftl.streams != 1 {
            let limit = "must be 1 with device.zones: each zone is written through a stream of its own";
            return refused("device.ftl.streams", &drive.ftl.streams, limit);
        }
        if let Some(capacity) = drive.ftl.capacity {
            let limit = "does not go with device.zones, which say the capacity by their number";
            return refused("device.ftl.capacity", &capacity, limit);
        }
        if let Some(spare) = drive.ftl.over_provisioning {
            let limit = "does not go with device.zones, which say the capacity by their number";
            return refused("device.ftl.over_provisioning", &spare, limit);
        }
        if drive.ftl.gc.relocation == GcRelocation::Host {
            let limit = "does not go with device.zones: what is moved has streams of its own";
            return refused("device.ftl.gc.relocation", &"host", limit);
        }
        if drive.slc_cache.is_some() {
            let limit = "does not go with device.zones: a zone is written to its superblock directly";
            return refused("device.slc_cache", &"given", limit);
        }
        if drive.ftl.map_flush.is_some() {
            let limit = "does not go with device.zones: the table of zones is small, and there is none of pages to flush";
            return refused("device.ftl.map_flush", &"given", limit);
        }
        if drive.controller.coalesce {
            let limit = "does not go with device.zones: no unit of a zone is written twice";
            return refused("device.controller.coalesce", &true, limit);
        }
        if drive.controller.in_order {
            let limit =
                "does not go with device.zones: commands to one zone are in order, others need not be";
            return refused("device.controller.in_order", &true, limit);
        }
        if drive.protection.as_ref().is_some_and(|own| !own.classes.is_empty()) {
            let limit = "does not go with device.zones: zones, not classes, choose streams";
            return refused("device.protection.classes", &"given", limit);
        }
        if drive.repair.is_some() {
            let limit =
                "does not go with device.zones: data that moves between flash cores would lose its zone";
            return refused("device.repair", &"given", limit);
        }
        Ok(())
    }
}

//! Checks of the settings of flexible data placement, and how they go with others.

use super::PlacementConfig;
use crate::drive::{SsdConfig, Trims, WriteCache};
use crate::ftl::GcRelocation;
use outlast_media::ConfigError;
use outlast_units::Nanos;

/// Most handles of a configuration, and most of them that a namespace may use (`NVMe`: the length of a placement handle list).
const MOST_HANDLES: usize = 128;

/// Most reclaim groups.
const MOST_GROUPS: u16 = 64;

/// Shortest and longest time limit of a reclaim unit.
const SHORTEST: Nanos = Nanos(1_000_000);
const LONGEST: Nanos = Nanos(100 * 24 * 3_600 * 1_000_000_000);

impl PlacementConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.configurations.is_empty() {
            let limit = "must be at least 1: each lists the handles of the drive";
            return Err(ConfigError::new("device.placement.configurations", 0, limit));
        }
        for (number, own) in self.configurations.iter().enumerate() {
            if own.handles.is_empty() || own.handles.len() > MOST_HANDLES {
                let at = format!("device.placement.configurations[{number}].handles");
                let limit = format!("must be between 1 and {MOST_HANDLES} handles");
                return Err(ConfigError::new(&at, own.handles.len(), limit));
            }
            if own.reclaim_groups == 0 || own.reclaim_groups > MOST_GROUPS {
                let at = format!("device.placement.configurations[{number}].reclaim_groups");
                let limit = format!("must be between 1 and {MOST_GROUPS}");
                return Err(ConfigError::new(&at, own.reclaim_groups, limit));
            }
            if own.superblocks == 0 {
                let at = format!("device.placement.configurations[{number}].superblocks");
                return Err(ConfigError::new(&at, 0, "must be at least 1"));
            }
            if let Some(limit) = own.time_limit.filter(|limit| !(SHORTEST..=LONGEST).contains(limit)) {
                let at = format!("device.placement.configurations[{number}].time_limit");
                return Err(ConfigError::new(&at, limit, "must be between 1 ms and 100 days"));
            }
        }
        if usize::from(self.configuration) >= self.configurations.len() {
            let limit = format!("must be below the number of configurations, {}", self.configurations.len());
            return Err(ConfigError::new("device.placement.configuration", self.configuration, limit));
        }
        let handles = self.handles().len();
        for (index, &handle) in self.placement_handles.iter().enumerate() {
            let at = format!("device.placement.placement_handles[{index}]");
            if usize::from(handle) >= handles {
                let limit = format!("must be below the number of handles of the configuration, {handles}");
                return Err(ConfigError::new(&at, handle, limit));
            }
            if self.placement_handles[..index].contains(&handle) {
                return Err(ConfigError::new(&at, handle, "is listed twice"));
            }
        }
        Ok(())
    }

    /// Checks that nothing else of `drive` chooses streams, or moves data without its handle.
    ///
    /// # Errors
    /// The first setting that does not go with handles.
    pub fn check_drive(&self, drive: &SsdConfig) -> Result<(), ConfigError> {
        let refused = |field: &str, value: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(field, value, limit))
        };
        let blocks = drive.geometry.blocks_per_plane;
        let mut all = self.configurations.iter().enumerate();
        if let Some((number, own)) = all.find(|(_, own)| own.superblocks > blocks) {
            let at = format!("device.placement.configurations[{number}].superblocks");
            let limit = format!(
                "must be at most the blocks of a plane, {blocks}: a flash core has no more superblocks"
            );
            return refused(&at, &own.superblocks, &limit);
        }
        self.check_groups(drive)?;
        if drive.ftl.streams != 1 {
            let limit = "must be 1 with device.placement, whose handles are the streams";
            return refused("device.ftl.streams", &drive.ftl.streams, limit);
        }
        if drive.ftl.gc.relocation == GcRelocation::Host {
            let limit = "does not go with device.placement: what is moved has streams of its own";
            return refused("device.ftl.gc.relocation", &"host", limit);
        }
        if drive.controller.coalesce {
            let limit = "does not go with device.placement: a unit in the buffer may have come through another handle";
            return refused("device.controller.coalesce", &true, limit);
        }
        if drive.protection.as_ref().is_some_and(|own| !own.classes.is_empty()) {
            let limit = "does not go with device.placement: handles, not classes, choose streams";
            return refused("device.protection.classes", &"given", limit);
        }
        if drive.repair.is_some() {
            let limit = "does not go with device.placement: data that moves between flash cores would lose its handle";
            return refused("device.repair", &"given", limit);
        }
        Ok(())
    }

    /// Checks that reclaim groups divide the flash cores of `drive`, and that it knows where a unit is that changes its group.
    fn check_groups(&self, drive: &SsdConfig) -> Result<(), ConfigError> {
        let cores = drive.controller.flash_cores;
        let mut all = self.configurations.iter().enumerate();
        if let Some((number, own)) = all.find(|(_, own)| !cores.is_multiple_of(own.reclaim_groups)) {
            let at = format!("device.placement.configurations[{number}].reclaim_groups");
            let limit =
                format!("must divide device.controller.flash_cores, {cores}: a group is some of them");
            return Err(ConfigError::new(&at, own.reclaim_groups, limit));
        }
        if self.reclaim_groups() == 1 {
            return Ok(());
        }
        let refused = |field: &str, value: &str, limit: &str| {
            let limit = format!("{limit} with several reclaim groups, between which a write moves data");
            Err(ConfigError::new(field, value, limit))
        };
        let must_be_protected = "must be protected";
        match drive.controller.write_cache {
            WriteCache::Protected => {}
            WriteCache::Volatile => {
                return refused("device.controller.write_cache", "volatile", must_be_protected);
            }
            WriteCache::Off => return refused("device.controller.write_cache", "off", must_be_protected),
        }
        if drive.controller.trims == Trims::Volatile {
            return refused("device.controller.trims", "volatile", "must be kept");
        }
        if drive.ftl.map_flush.is_some() {
            return refused("device.ftl.map_flush", "given", "must be absent");
        }
        if drive.ftl.map_cache.is_some() {
            return refused("device.ftl.map_cache", "given", "must be absent");
        }
        if drive.slc_cache.is_some() {
            return refused("device.slc_cache", "given", "must be absent");
        }
        Ok(())
    }
}

//! Settings of a drive: its flash, its translation layer, its controller.

mod change;
mod chip;
mod controller;
mod data_sheet;
mod decode;
mod energy;
mod heat;
mod host;
mod memory;
mod mount;
mod pauses;
mod promise;
mod queues;
mod reliability;
mod repair;
mod scrub;
mod slc_cache;
mod two_pass;

pub use change::ChangeConfig;
pub use chip::{ChipChoice, is_chip_file};
pub use controller::{ControllerConfig, WriteCache};
pub use data_sheet::DataSheet;
pub use decode::DecodeTimes;
pub use energy::{EnergyConfig, IdleState};
pub use heat::{HeatConfig, ThermalShutdown, ThrottleStep};
pub use host::{CommandCosts, HostLatency};
pub use mount::MountConfig;
pub use pauses::PausesConfig;
pub use promise::{FlushPolicy, Trims};
pub use queues::{Arbitration, Class, QueuesConfig};
pub use reliability::{CodewordsChecked, ReliabilityConfig};
pub use repair::{Identifier, Migration, PredictConfig, Rebuild, RepairConfig, RepairScheme};
pub use scrub::{ScrubConfig, ScrubUnit};
pub use slc_cache::{SlcCacheConfig, WhenFull};

use crate::ftl::{FtlConfig, ProtectionConfig};
use crate::placement::PlacementConfig;
use crate::zones::ZonesConfig;
use outlast_media::{CellMode, ConfigError, DefectConfig, Geometry, HazardConfig, PlaneReads, Timing};
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdConfig {
    /// Name shown in results.
    #[serde(default = "default_model")]
    pub model: String,
    /// How the flash is laid out.
    pub geometry: Geometry,
    /// How long flash operations take.
    pub timing: Timing,
    /// Bad and worn-out blocks.
    #[serde(default)]
    pub defects: DefectConfig,
    /// The flash translation layer.
    pub ftl: FtlConfig,
    /// Processors, scheduling, write buffer and host link.
    #[serde(default)]
    pub controller: ControllerConfig,
    /// Error rates of the flash, and how reads correct errors. Absent: it never errs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<ReliabilityConfig>,
    /// Parity across the dies of the drive. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<ProtectionConfig>,
    /// Flexible data placement: reclaim unit handles, through which the host keeps kinds of data apart. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementConfig>,
    /// Zones: parts of the drive that are written from their start on and reset as a whole. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZonesConfig>,
    /// A cache of superblocks with few bits a cell, into which the host writes first. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheConfig>,
    /// Dies, numbered channel by channel, that are not there at first and can be added while the drive runs: the card slots that
    /// are still empty. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_dies: Vec<u16>,
    /// Moving data before it becomes unreadable. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubConfig>,
    /// Repair of failed dies in place, with the help of a host that has redundancy. Absent: a failed die is detected at once, its data is
    /// lost, and the host is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairConfig>,
    /// A mount from flash after a loss of power, in simulated time. Absent: the drive goes on at once, with what it would have found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<MountConfig>,
    /// Energy that the drive draws. Absent: not counted, and the drive never sleeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyConfig>,
    /// Heat and throttling. Absent: the drive is never too warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatConfig>,
    /// Random failures. Default: none.
    #[serde(default)]
    pub hazards: HazardConfig,
    /// Promises of the drive's maker, which results show beside the measured figures. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sheet: Option<DataSheet>,
    /// Keep the real bytes of live data. Slow and memory-hungry: for tests.
    #[serde(default)]
    pub bytes: bool,
}

impl SsdConfig {
    /// Modes of superblocks beside that of these settings: that of the SLC cache.
    pub fn modes(&self) -> Vec<CellMode> {
        self.slc_cache.iter().map(|cache| cache.cell_mode(self)).collect()
    }

    /// Whether scrubbing moves blocks one by one.
    #[inline]
    pub fn scrubs_blocks(&self) -> bool {
        self.scrub.is_some_and(|scrub| scrub.unit == ScrubUnit::Block)
    }

    /// P/E cycles that a block is rated for: as set, or those of a published chip. Absent: nothing says it; a file of measurements and a model
    /// of one's own do not.
    pub fn rated_cycles(&self) -> Option<u32> {
        let published = || {
            let name = self.reliability.as_ref()?.chip.as_ref()?.name();
            outlast_media::reliability::chip(name).map(|chip| chip.end_of_life_cycles)
        };
        self.defects.endurance.or_else(published)
    }

    /// Checks every setting and the relations between them that need no tables.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if let Some(zones) = &self.zones {
            zones.validate()?;
            zones.check_drive(self)?;
            self.check_zoned_passes()?;
            // Their number says the capacity once it is known what a superblock holds; all else is checked beside one that leaves room.
            let mut rest = Self { zones: None, ..self.clone() };
            rest.ftl.over_provisioning = Some(1.0);
            return rest.validate();
        }
        self.geometry.validate()?;
        self.timing.validate()?;
        self.defects.validate()?;
        self.ftl.validate(&self.geometry)?;
        self.controller.validate(&self.geometry)?;
        self.controller.check_overlap(self.ftl.gc.overlap)?;
        self.controller.check_mixed(&self.ftl.gc, self.protection.as_ref())?;
        self.ftl.gc.check_copies(self.protection.is_some())?;
        if let Some(reliability) = &self.reliability {
            reliability.validate()?;
            reliability.check_codeword(&self.geometry, self.ftl.mapping_unit)?;
        }
        if let Some(protection) = &self.protection {
            protection.validate()?;
            protection.check_figures(self.reliability.is_some())?;
            protection.check_capacity(self.ftl.user_capacity(&self.geometry))?;
        }
        if let Some(placement) = &self.placement {
            placement.validate()?;
            placement.check_drive(self)?;
        }
        if let Some(cache) = &self.slc_cache {
            cache.validate(self)?;
        }
        self.check_planes()?;
        self.check_passes()?;
        self.check_absent()?;
        if let Some(scrub) = &self.scrub {
            scrub.validate(self.reliability.as_ref())?;
            scrub.check_pace(&self.geometry, &self.timing, self.ftl.one_shot)?;
        }
        if let Some(repair) = &self.repair {
            repair.validate(self)?;
        }
        if let Some(mount) = &self.mount {
            mount.validate(self)?;
        }
        self.check_power()?;
        self.hazards.validate("device.hazards")?;
        if let Some(sheet) = &self.data_sheet {
            sheet.validate()?;
        }
        self.check_read_cache()?;
        if let Some(cache) = &self.ftl.map_cache {
            cache.validate(&self.ftl, self.controller.flash_cores)?;
        }
        let (user, raw) = (self.ftl.user_capacity(&self.geometry), self.geometry.raw_capacity());
        if user.0 / self.ftl.mapping_unit.0 < u64::from(self.controller.flash_cores) {
            let limit = "must hold at least one mapping unit for each flash core";
            return Err(ConfigError::new("device.ftl.capacity", user, limit));
        }
        if user >= raw {
            let limit = format!("must be below the raw capacity, {raw}: flash needs spare space to collect");
            return Err(ConfigError::new("device.ftl.capacity", user, limit));
        }
        Ok(())
    }

    /// Whether superblocks are moved in the background for what they have been through: by settings of scrubbing, or to get data off
    /// dies that have failed or will.
    pub fn scrubs(&self) -> bool {
        let moves = |own: &RepairConfig| {
            own.predict.is_some() || (self.protection.is_some() && own.rebuild != Rebuild::Host)
        };
        self.scrub.is_some() || self.repair.as_ref().is_some_and(moves)
    }

    /// Whether the drive moves what has lost redundancy with a die by itself, without `device.repair`.
    #[inline]
    pub fn rebuilds(&self) -> bool {
        self.repair.is_none() && self.protection.as_ref().is_some_and(|own| own.rebuild)
    }

    /// Whether anything moves what has lost redundancy with a die.
    #[inline]
    pub fn moves_degraded(&self) -> bool {
        let by_repair = self.repair.as_ref().is_some_and(|own| own.rebuild != Rebuild::Host);
        let by_scrub = self.scrub.is_some_and(|own| own.reprotect);
        self.rebuilds() || (self.protection.is_some() && (by_repair || by_scrub))
    }

    fn check_power(&self) -> Result<(), ConfigError> {
        if let Some(energy) = &self.energy {
            energy.validate(self.controller.link.is_some())?;
        }
        let Some(heat) = &self.heat else { return Ok(()) };
        if self.energy.is_none() {
            let limit = "needs device.energy, which says what heats the drive";
            return Err(ConfigError::new("device.heat.every", heat.every, limit));
        }
        heat.validate()?;
        // Commands wait meanwhile, so that no state of rest is entered.
        heat.check_cooling(self.energy.as_ref().map_or(0.0, |energy| energy.idle_watts))
    }

    fn check_planes(&self) -> Result<(), ConfigError> {
        let by_themselves = self.timing.plane_reads == PlaneReads::Independent;
        if by_themselves && !self.ftl.multi_plane && self.geometry.planes_per_die > 1 {
            let limit = "needs device.ftl.multi_plane = true: planes that are programmed together";
            return Err(ConfigError::new("device.timing.plane_reads", "independent", limit));
        }
        Ok(())
    }

    fn check_absent(&self) -> Result<(), ConfigError> {
        let dies = self.geometry.dies();
        for (index, &die) in self.absent_dies.iter().enumerate() {
            if die >= dies || self.absent_dies[..index].contains(&die) {
                let limit = format!("must be different dies below {dies}");
                return Err(ConfigError::new(&format!("device.absent_dies[{index}]"), die, limit));
            }
        }
        Ok(())
    }
}

fn default_model() -> String {
    "ssd".to_owned()
}

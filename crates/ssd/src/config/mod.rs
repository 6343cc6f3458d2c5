//! Settings of a drive: its flash, its translation layer, its controller.

mod change;
mod mount;
mod promise;
mod reliability;
mod repair;

pub use change::ChangeConfig;
pub use mount::MountConfig;
pub use promise::{FlushPolicy, Trims};
pub use reliability::{ReliabilityConfig, ScrubConfig};
pub use repair::{Identifier, Migration, PredictConfig, Rebuild, RepairConfig, RepairScheme};

use outlast_ftl::{FtlConfig, ProtectionConfig};
use outlast_media::{ConfigError, DefectConfig, Geometry, HazardConfig, Timing, at_most_a_second};
use outlast_units::{ByteRate, Bytes, Nanos};
use schemars::JsonSchema;
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
    /// How the flash errs, and what reading does about it. Absent: it never errs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<ReliabilityConfig>,
    /// Parity across the dies of the drive. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<ProtectionConfig>,
    /// Dies, numbered channel by channel, that are not there at first and can be added while the drive runs: the card slots that
    /// are still empty. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_dies: Vec<u16>,
    /// Moving data before it goes bad. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubConfig>,
    /// Repair of failed dies in place, with the help of a host that has redundancy. Absent: a failed die is known at once, its data
    /// is lost, and nobody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairConfig>,
    /// A mount from flash after a loss of power, in simulated time. Absent: the drive goes on at once, with what it would have found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<MountConfig>,
    /// Sudden failures that come by chance. Default: none.
    #[serde(default)]
    pub hazards: HazardConfig,
    /// Keep the real bytes of live data. Slow and memory-hungry: for tests.
    #[serde(default)]
    pub bytes: bool,
}

impl SsdConfig {
    /// Checks every setting and the relations between them that need no tables.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.geometry.validate()?;
        self.timing.validate()?;
        self.defects.validate()?;
        self.ftl.validate(&self.geometry)?;
        self.controller.validate(&self.geometry)?;
        if let Some(reliability) = &self.reliability {
            reliability.validate()?;
            reliability.check_codeword(&self.geometry, self.ftl.mapping_unit)?;
        }
        if let Some(protection) = &self.protection {
            protection.validate()?;
            protection.check_capacity(self.ftl.user_capacity(&self.geometry))?;
        }
        self.check_absent()?;
        if let Some(scrub) = &self.scrub {
            scrub.validate(self.reliability.as_ref())?;
            scrub.check_pace(&self.geometry, &self.timing)?;
        }
        if let Some(repair) = &self.repair {
            repair.validate(self)?;
        }
        if let Some(mount) = &self.mount {
            mount.validate(self)?;
        }
        self.hazards.validate("device.hazards")?;
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
    pub(crate) fn scrubs(&self) -> bool {
        let moves = |own: &RepairConfig| {
            own.predict.is_some() || (self.protection.is_some() && own.rebuild != Rebuild::Host)
        };
        self.scrub.is_some() || self.repair.as_ref().is_some_and(moves)
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

/// The controller between host link and flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerConfig {
    /// Flash cores. Mapping unit `u` belongs to core `u mod flash_cores`; each core owns an equal share of the dies.
    pub flash_cores: u16,
    /// Time of the master core for each host command.
    pub master_cost: Nanos,
    /// Time of a flash core for each mapping unit that the host reads.
    pub read_cost: Nanos,
    /// Time of a flash core for each mapping unit that the host writes or trims.
    pub write_cost: Nanos,
    /// Time of a flash core for each mapping unit that it relocates.
    pub relocation_cost: Nanos,
    /// Time of a flash core for each mapping unit that the host writes and each parity unit that it changes.
    pub encode_cost: Nanos,
    /// Time of a flash core, when a unit is rebuilt from its stripe or block, for each member that goes into it; the host waits
    /// for it.
    pub decode_cost: Nanos,
    /// Buffer for host data on its way to flash, over all cores.
    pub write_buffer: Bytes,
    /// When a write is acknowledged and what survives a loss of power.
    pub write_cache: WriteCache,
    /// What becomes of a flush, and of a write with FUA, where the buffer is volatile. Default: "honour".
    #[serde(skip_serializing_if = "FlushPolicy::is_default")]
    pub flush: FlushPolicy,
    /// What a loss of power leaves of trims, where the buffer is not protected. Default: "kept".
    #[serde(skip_serializing_if = "Trims::is_default")]
    pub trims: Trims,
    /// Bound on flash operations of internal tasks (collection, wear levelling) in flight at once, over all cores.
    /// Absent: one for each die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_operations: Option<u32>,
    /// On a die that is never without host reads, at most so many of them go before a host program that waits; 1 to 255. Default: 64, an
    /// assumption of this simulator: reads come first, but no stream of them starves a write or a flush.
    pub program_every: u8,
    /// On a die that is never idle, one operation in so many is one of a background task (wear levelling, scrubbing, moving data to
    /// another code or away from dies that have failed), if there is one; 1 to 255. The lower, the sooner data is safe again, and
    /// the longer the host waits. Default: 32.
    pub background_every: u8,
    /// Host link bandwidth in each direction; absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<ByteRate>,
    /// Commands that the drive works on at once; more wait at its door.
    pub queue_depth: u32,
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// In the buffer, which capacitors protect: flush and FUA cost nothing, relocated data may wait in the buffer.
    Protected,
    /// In the buffer, which a loss of power empties: flush and FUA program what is buffered, padding the last pages.
    Volatile,
    /// On flash: every write behaves as FUA.
    Off,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            flash_cores: 1,
            master_cost: Nanos::ZERO,
            read_cost: Nanos::ZERO,
            write_cost: Nanos::ZERO,
            relocation_cost: Nanos::ZERO,
            encode_cost: Nanos::ZERO,
            decode_cost: Nanos::ZERO,
            write_buffer: Bytes::mib(16),
            write_cache: WriteCache::Protected,
            flush: FlushPolicy::Honour,
            trims: Trims::Kept,
            internal_operations: None,
            program_every: 64,
            background_every: 32,
            link: None,
            queue_depth: 4096,
        }
    }
}

impl ControllerConfig {
    /// Checks the settings by themselves and the division of dies over cores.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        if self.flash_cores == 0 || !geometry.dies().is_multiple_of(self.flash_cores) {
            let limit = format!("must divide the {} dies of the drive evenly", geometry.dies());
            return Err(ConfigError::new("device.controller.flash_cores", self.flash_cores, limit));
        }
        if self.queue_depth == 0 || self.queue_depth > 1 << 20 {
            let limit = "must be between 1 and 1048576";
            return Err(ConfigError::new("device.controller.queue_depth", self.queue_depth, limit));
        }
        self.check_promises()?;
        let costs = [
            ("master_cost", self.master_cost),
            ("read_cost", self.read_cost),
            ("write_cost", self.write_cost),
            ("relocation_cost", self.relocation_cost),
            ("encode_cost", self.encode_cost),
            ("decode_cost", self.decode_cost),
        ];
        for (name, cost) in costs {
            at_most_a_second(&format!("device.controller.{name}"), cost)?;
        }
        for (name, every) in
            [("program_every", self.program_every), ("background_every", self.background_every)]
        {
            if every == 0 {
                let limit = "must be between 1 and 255";
                return Err(ConfigError::new(&format!("device.controller.{name}"), 0, limit));
            }
        }
        if self.internal_operations == Some(0) {
            let limit = "must be at least 1, or garbage collection could never run";
            return Err(ConfigError::new("device.controller.internal_operations", 0, limit));
        }
        Ok(())
    }
}

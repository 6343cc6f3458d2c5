//! Settings of the flash translation layer.

mod codes;
mod gc;
mod map_cache;
mod map_flush;
mod on_chip;
mod protection;
mod pu_shape;
mod victims;

pub use codes::CodeRule;
pub use gc::{GcConfig, GcReads, GcRelocation, Pacing, TokenConfig, TokenRate};
pub use map_cache::MapCacheConfig;
pub use map_flush::MapFlushConfig;
pub use protection::{
    ClassConfig, CodeConfig, PartialConfig, PartialPlace, ProtectedStreams, ProtectionConfig, RangeConfig,
};

pub use pu_shape::PuShape;
pub use victims::VictimPolicy;

use outlast_decisions::DrivePolicies;
use outlast_media::{ConfigError, Geometry, TwoPassConfig};
use outlast_units::{Bytes, JsonSchema, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Spare over user space beyond which a number was meant as a percentage: no drive keeps five sixths of its flash spare.
const MOST_OVER_PROVISIONING: f64 = 5.0;

/// Mapping, streams, garbage collection and wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlConfig {
    /// Bytes that one entry of the mapping table covers; a multiple of 512. Smaller than a page (several units to a
    /// page) or larger (a unit over several pages of one die).
    pub mapping_unit: Bytes,
    /// User capacity. Give this or `over_provisioning`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Spare space over user space, such as 0.28: (raw − user) / user; at most 5. Give this or `capacity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_provisioning: Option<f64>,
    /// Blocks of each plane held back to replace bad ones.
    pub spare_blocks: u32,
    /// Bad blocks without a spare in their place that a superblock may have before it is given up. Their place counts as zero data in its
    /// stripes (Flexible, section 3.6).
    pub tolerated_bad_blocks: u16,
    /// Order in which consecutive program operations go over channels, chips ("ways"), dies and planes.
    pub allocation: Allocation,
    /// Stride over the places of a superpage in the order of `allocation`: writes go to places 0, s, 2 s and so on, then to 1, 1 + s and so on, each
    /// place once (Flexible, sections 3.3 and 3.5). At most the places of a superpage: dies of a flash core, or their planes without `multi_plane`.
    /// Default: 1, in that order.
    #[serde(skip_serializing_if = "is_one")]
    pub stride: u32,
    /// Whether the planes of a die program, read and erase together.
    pub multi_plane: bool,
    /// Page rows that one program operation writes: one-shot programming of a word line (3 with TLC, 4 with QLC). Above 1, `timing.program` is
    /// the time of the whole operation. 1 to 8. Default: 1, a program operation for each page row.
    #[serde(skip_serializing_if = "is_one")]
    pub one_shot: u8,
    /// Programming in two passes, outside an SLC cache. Absent: each program operation is one pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_pass: Option<TwoPassConfig>,
    /// Write streams for host data, each with its own open superblock. Stream hints are taken modulo this number.
    pub streams: u8,
    /// Garbage collection.
    pub gc: GcConfig,
    /// Wear levelling.
    pub wear_leveling: WearLeveling,
    /// Flushes of the mapping table to flash. Absent: it is in the controller's memory only, and costs nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_flush: Option<MapFlushConfig>,
    /// A mapping table that does not fit in memory: how much of it does. Absent: all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_cache: Option<MapCacheConfig>,
    /// Decisions of code of the user's: what `[policies]` of a scenario names, loaded.
    #[serde(skip)]
    pub own: DrivePolicies,
}

impl Default for FtlConfig {
    fn default() -> Self {
        Self {
            mapping_unit: Bytes::kib(4),
            capacity: None,
            over_provisioning: None,
            spare_blocks: 0,
            tolerated_bad_blocks: 0,
            allocation: Allocation::default(),
            stride: 1,
            multi_plane: true,
            one_shot: 1,
            two_pass: None,
            streams: 1,
            gc: GcConfig::default(),
            wear_leveling: WearLeveling::default(),
            map_flush: None,
            map_cache: None,
            own: DrivePolicies::default(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one<N: PartialEq + From<u8>>(number: &N) -> bool {
    *number == N::from(1)
}

/// A permutation of the letters C (channel), W (way: chip), D (die) and P (plane): the first varies fastest. With
/// `multi_plane`, planes always go together and P has no effect. The notation is that of Tavakkol et al., "`MQSim`", FAST 2018.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Allocation(pub [AllocationLevel; 4]);

/// One level of the flash hierarchy in an [`Allocation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationLevel {
    /// C.
    Channel,
    /// W.
    Chip,
    /// D.
    Die,
    /// P.
    Plane,
}

impl Default for Allocation {
    fn default() -> Self {
        use AllocationLevel::{Channel, Chip, Die, Plane};
        Self([Channel, Chip, Die, Plane])
    }
}

impl TryFrom<String> for Allocation {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        use AllocationLevel::{Channel, Chip, Die, Plane};
        let bad =
            || format!("allocation \"{text}\" is not a permutation of the letters CWDP, such as \"CWDP\"");
        let mut levels = [Channel; 4];
        if text.len() != 4 {
            return Err(bad());
        }
        for (level, letter) in levels.iter_mut().zip(text.chars()) {
            *level = match letter {
                'C' => Channel,
                'W' => Chip,
                'D' => Die,
                'P' => Plane,
                _ => return Err(bad()),
            };
        }
        if [Channel, Chip, Die, Plane].iter().all(|level| levels.contains(level)) {
            Ok(Self(levels))
        } else {
            Err(bad())
        }
    }
}

impl From<Allocation> for String {
    fn from(allocation: Allocation) -> Self {
        allocation
            .0
            .iter()
            .map(|level| match level {
                AllocationLevel::Channel => 'C',
                AllocationLevel::Chip => 'W',
                AllocationLevel::Die => 'D',
                AllocationLevel::Plane => 'P',
            })
            .collect()
    }
}

outlast_units::schema_of!(Allocation, {
    "type": "string",
    "pattern": "^[CWDP]{4}$",
    "description": "A permutation of C (channel), W (chip), D (die) and P (plane); the first varies fastest."
});

/// How wear is kept even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WearLeveling {
    /// Dynamic: a stream opens the least-worn free superblock. Otherwise the one freed longest ago.
    pub dynamic: bool,
    /// Static: when the erase counts of two superblocks differ by more than this, the least-worn one's cold data is moved
    /// into a well-worn free superblock. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_gap: Option<u32>,
}

impl Default for WearLeveling {
    fn default() -> Self {
        Self { dynamic: true, static_gap: None }
    }
}

impl FtlConfig {
    /// Whether data that has lain too long is moved.
    pub fn levels_wear(&self) -> bool {
        self.wear_leveling.static_gap.is_some() || self.own.wear_leveling.is_some()
    }

    /// Checks the settings that need no geometry, and the capacity against the raw one.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        let unit = self.mapping_unit.0;
        if unit == 0 || !unit.is_multiple_of(SECTOR_BYTES) || unit > 1 << 20 {
            let limit = "must be a multiple of 512 bytes, at most 1MiB";
            return Err(ConfigError::new("device.ftl.mapping_unit", self.mapping_unit, limit));
        }
        let page = geometry.page_size.0;
        if !page.is_multiple_of(unit) && !unit.is_multiple_of(page) {
            let limit = format!("must divide the page size, {}, or be a multiple of it", geometry.page_size);
            return Err(ConfigError::new("device.ftl.mapping_unit", self.mapping_unit, limit));
        }
        if self.one_shot == 0 || self.one_shot > 8 {
            let limit = "must be between 1 and 8 page rows: those of a word line";
            return Err(ConfigError::new("device.ftl.one_shot", self.one_shot, limit));
        }
        let shape = PuShape::of(geometry, self)?;
        if let Some(passes) = &self.two_pass {
            passes.validate(geometry.pages_per_block / shape.rows_per_pu)?;
        }
        match (self.capacity, self.over_provisioning) {
            (Some(_), Some(over)) => {
                let limit = "give either capacity or over_provisioning, not both";
                return Err(ConfigError::new("device.ftl.over_provisioning", over, limit));
            }
            (None, None) => {
                return Err(ConfigError::new(
                    "device.ftl.capacity",
                    "absent",
                    "give capacity or over_provisioning",
                ));
            }
            (None, Some(over)) if !(over > 0.0 && over <= MOST_OVER_PROVISIONING) => {
                let limit = format!(
                    "must be above 0 and at most {MOST_OVER_PROVISIONING}: spare over user space, 0.07 for 7 %"
                );
                return Err(ConfigError::new("device.ftl.over_provisioning", over, limit));
            }
            _ => {}
        }
        if self.streams == 0 || self.streams > 16 {
            return Err(ConfigError::new("device.ftl.streams", self.streams, "must be between 1 and 16"));
        }
        self.gc.validate(self.mapping_unit)?;
        if let Some(map_flush) = &self.map_flush {
            map_flush.validate(self.mapping_unit)?;
        }
        if self.spare_blocks >= geometry.blocks_per_plane {
            let limit = format!("must be fewer than the {} blocks of a plane", geometry.blocks_per_plane);
            return Err(ConfigError::new("device.ftl.spare_blocks", self.spare_blocks, limit));
        }
        Ok(())
    }

    /// Units that a flash core with `units` of the host's is to hold: these, and pages of the mapping table where they are written to flash.
    pub fn held_units(&self, units: u64) -> u64 {
        units + self.map_flush.map_or(0, |own| own.pages(units, self.mapping_unit))
    }

    /// The user capacity that the settings ask for, rounded down to a whole mapping unit.
    pub fn user_capacity(&self, geometry: &Geometry) -> Bytes {
        let wanted = match (self.capacity, self.over_provisioning) {
            (Some(capacity), _) => capacity.0,
            (None, Some(over)) => (geometry.raw_capacity().0 as f64 / (1.0 + over)) as u64,
            (None, None) => 0,
        };
        Bytes(wanted / self.mapping_unit.0 * self.mapping_unit.0)
    }
}

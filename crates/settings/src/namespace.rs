//! Settings of namespaces: ranges of a drive's addresses that its hosts see as drives of their own.

use crate::drive::SsdConfig;
use crate::placement::PlacementConfig;
use crate::zones::ZonesConfig;
use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

/// Most namespaces of a drive.
const MOST_NAMESPACES: usize = 32;
/// Most placement handles of a namespace (`NVMe`: the length of a placement handle list).
const MOST_HANDLES: usize = 128;

/// A namespace of a drive: the next range of its addresses, in the order of the entries. Hosts of `NVMe` see each as a drive of its own, numbered from 1;
/// NBD and workloads see the whole drive, except for fio jobs whose `filename` is a namespace, such as `/dev/nvme0n2`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceConfig {
    /// Capacity, which is also its quota: whole mapping units, together at most the drive's capacity. Of a drive with zones whole zones, by their size.
    pub capacity: Bytes,
    /// Bytes of a logical block: 512 or 4096. Default: 512.
    #[serde(default = "sector")]
    pub block_size: Bytes,
    /// True for a namespace that takes no writes from hosts of `NVMe`. Default: false.
    #[serde(default)]
    pub read_only: bool,
    /// Reclaim unit handles that it may use, by their numbers in the enabled configuration: a write with placement identifier i goes through the i-th of
    /// them, one with an identifier beyond them, or with none, through the first. Absent: those of `device.placement`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placement_handles: Vec<u16>,
}

/// Bytes from one zone to the next, for `namespaces` namespaces; 1 without namespaces.
fn zone_of(zones: &ZonesConfig, namespaces: usize) -> Result<u64, ConfigError> {
    if namespaces == 0 {
        return Ok(1);
    }
    let (least, field) = zones.max_open.map_or((zones.max_active, "max_active"), |open| (open, "max_open"));
    if namespaces > least as usize {
        let limit = format!("must be at most device.zones.{field}, {least}: each needs a zone to write");
        return Err(ConfigError::new("namespace", namespaces, limit));
    }
    if let Some(areas) = zones.random_write.map(|own| own.zones.unwrap_or(zones.max_active))
        && namespaces > areas as usize
    {
        let limit = format!(
            "must be at most device.zones.random_write.zones, {areas}: each is told that a zone of it may have one"
        );
        return Err(ConfigError::new("namespace", namespaces, limit));
    }
    let Some(size) = zones.size else {
        let limit = "must be given with namespaces, which are whole zones";
        return Err(ConfigError::new("device.zones.size", "absent", limit));
    };
    Ok(size.0)
}

fn sector() -> Bytes {
    Bytes(512)
}

impl NamespaceConfig {
    /// Checks the namespaces of a drive.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate_all(all: &[Self], drive: &SsdConfig) -> Result<(), ConfigError> {
        if all.len() > MOST_NAMESPACES {
            let limit = format!("must be at most {MOST_NAMESPACES} namespaces");
            return Err(ConfigError::new("namespace", all.len(), limit));
        }
        let zone = drive.zones.as_ref().map(|zones| zone_of(zones, all.len())).transpose()?;
        let capacity = match (&drive.zones, zone) {
            (Some(zones), Some(size)) => size.saturating_mul(zones.count.into()),
            _ => drive.ftl.user_capacity(&drive.geometry).0,
        };
        let mut left = capacity;
        for (index, own) in all.iter().enumerate() {
            let at = |field: &str| format!("namespace[{index}].{field}");
            if !matches!(own.block_size.0, 512 | 4096) {
                let limit = "must be 512 or 4096 bytes";
                return Err(ConfigError::new(&at("block_size"), own.block_size, limit));
            }
            if zone.is_some() && own.block_size != drive.ftl.mapping_unit {
                let limit = format!(
                    "must be {} with device.zones, the mapping unit: zones are written in whole ones",
                    drive.ftl.mapping_unit
                );
                return Err(ConfigError::new(&at("block_size"), own.block_size, limit));
            }
            let unit = zone.unwrap_or(drive.ftl.mapping_unit.0.max(own.block_size.0));
            if own.capacity.0 == 0 || !own.capacity.0.is_multiple_of(unit) {
                let limit = format!("must be a multiple of {}, one at least", Bytes(unit));
                return Err(ConfigError::new(&at("capacity"), own.capacity, limit));
            }
            left = left.checked_sub(own.capacity.0).ok_or_else(|| {
                let limit = format!(
                    "must be at most {}, what is left of the drive's {}",
                    Bytes(left),
                    Bytes(capacity)
                );
                ConfigError::new(&at("capacity"), own.capacity, limit)
            })?;
            own.check_handles(&at("placement_handles"), drive.placement.as_ref())?;
        }
        Ok(())
    }

    fn check_handles(&self, at: &str, placement: Option<&PlacementConfig>) -> Result<(), ConfigError> {
        let list = placement.map(PlacementConfig::handle_list);
        if self.placement_handles.len() > MOST_HANDLES {
            let limit = format!("must be at most {MOST_HANDLES} handles");
            return Err(ConfigError::new(at, self.placement_handles.len(), limit));
        }
        for (index, &handle) in self.placement_handles.iter().enumerate() {
            let at = format!("{at}[{index}]");
            let Some(list) = &list else {
                return Err(ConfigError::new(&at, handle, "needs device.placement"));
            };
            if !list.contains(&handle) {
                return Err(ConfigError::new(
                    &at,
                    handle,
                    "must be a handle that device.placement lets the host use",
                ));
            }
            if self.placement_handles[..index].contains(&handle) {
                return Err(ConfigError::new(&at, handle, "is listed twice"));
            }
        }
        Ok(())
    }

    /// The placement identifier of the drive that stands for each of the namespace's own handles in each reclaim group; empty without flexible data placement.
    pub fn identifiers(&self, placement: Option<&PlacementConfig>) -> Vec<u16> {
        let list = placement.map_or_else(Vec::new, PlacementConfig::handle_list);
        let place = |handle: &u16| (0u16..).zip(&list).find(|&(_, listed)| listed == handle);
        let own: &[u16] = if self.placement_handles.is_empty() { &list } else { &self.placement_handles };
        let groups = placement.map_or(1, PlacementConfig::reclaim_groups);
        let places = own.iter().filter_map(place).map(|(place, _)| place);
        places.flat_map(|place| (0..groups).map(move |group| place * groups + group)).collect()
    }
}

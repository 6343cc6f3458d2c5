//! Exports of devices: their names, sizes and abilities, and their namespaces.

use std::sync::Arc;

use outlast_engine::check_name;
use outlast_media::ConfigError;
use outlast_settings::namespace::NamespaceConfig;
use outlast_settings::placement::PlacementConfig;
use outlast_units::{Bytes, SECTOR_BYTES};

use crate::exported::ExportedDevice;
use crate::protocol::{
    ExportAbilities, ExportFacts, ExportNamespace, ExportOffer, ExportSizes, ExportZones, OfferError,
};
use crate::session::ExportTarget;

/// Devices, then the members of the main device. The first is the default: a client that names no export gets it.
pub(crate) fn targets(devices: &[ExportedDevice]) -> impl Iterator<Item = ExportTarget> + use<> {
    let members =
        (0..devices[0].device.members()).map(|member| ExportTarget { device: 0, member: Some(member) });
    (0..devices.len() as u32).map(ExportTarget::device).chain(members)
}

/// Checks that a name of an export, or the text of a mark, is one line without control characters. Unlike the name of a scenario it has no tab.
pub(crate) fn check_plain(field: &str, text: &str) -> Result<(), ConfigError> {
    check_name(field, text)?;
    if text.contains('\t') {
        let limit = "must be one line without control characters; it has U+0009, a tab";
        return Err(ConfigError::new(field, text.escape_debug(), limit));
    }
    Ok(())
}

pub(crate) fn export_name(devices: &[ExportedDevice], target: ExportTarget) -> String {
    match target.member {
        None => devices[target.device as usize].name.clone(),
        Some(member) => format!("member-{member}"),
    }
}

/// The exports of devices that have power.
pub(crate) fn offer_of(devices: &[ExportedDevice]) -> Result<Arc<ExportOffer>, OfferError> {
    let up = targets(devices).filter(|target| devices[target.device as usize].device.is_up());
    let exports = up.map(|target| export(devices, target)).collect();
    ExportOffer::new(exports).map(Arc::new)
}

fn export(devices: &[ExportedDevice], target: ExportTarget) -> ExportFacts {
    let device = &devices[target.device as usize].device;
    let identity = device.identify();
    let reading = ExportAbilities::PREFETCH | ExportAbilities::STATUS | ExportAbilities::HEALTH;
    let writing = ExportAbilities::WRITE | ExportAbilities::TRIM | ExportAbilities::ZEROES;
    let scenario = device.scenario();
    let placement = scenario.device.placement.clone().filter(|_| scenario.array.is_none());
    let placing = if placement.is_some() { ExportAbilities::PLACEMENT } else { ExportAbilities::NONE };
    let zones = device.zone_list().map(|table| {
        let layout = table.layout();
        ExportZones {
            size: Bytes(layout.size * SECTOR_BYTES),
            capacity: Bytes(layout.capacity * SECTOR_BYTES),
            block: Bytes(u64::from(layout.block) * SECTOR_BYTES),
            limits: table.limits(),
            random: table.random_write(),
        }
    });
    let zoning = if zones.is_some() { ExportAbilities::ZONES } else { ExportAbilities::NONE };
    let (description, size, abilities) = match target.member {
        None => (identity.model, identity.capacity, reading | writing | placing | zoning),
        Some(member) => (format!("member {member}, as it is"), device.member_capacity(), reading),
    };
    ExportFacts {
        name: export_name(devices, target),
        description,
        size,
        sizes: ExportSizes {
            preferred: Bytes(identity.optimal_io.0.next_power_of_two()),
            ..ExportSizes::default()
        },
        abilities,
        namespaces: namespaces(&scenario.namespace, placement.as_ref()),
        placement,
        reclaim_unit: device.reclaim_unit(),
        zones,
    }
}

/// Namespaces of a drive, which follow one another from byte 0 on.
fn namespaces(configs: &[NamespaceConfig], placement: Option<&PlacementConfig>) -> Vec<ExportNamespace> {
    let mut offset = 0;
    let one = |config: &NamespaceConfig| {
        let own = ExportNamespace {
            offset,
            size: config.capacity,
            block: config.block_size,
            is_read_only: config.read_only,
            identifiers: config.identifiers(placement),
        };
        offset += config.capacity.0;
        own
    };
    configs.iter().map(one).collect()
}

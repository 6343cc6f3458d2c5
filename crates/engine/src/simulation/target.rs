//! Facts that a workload has to know of the device that it runs on.

use crate::volume::ArrayVolume;
use outlast_device::Device;
use outlast_media::ConfigError;
use outlast_scenario::{FillPattern, OverwritePattern, Scenario, TimingMode};
use outlast_settings::namespace::NamespaceConfig;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, SECTOR_BYTES};
use outlast_workload::{NamespaceTarget, WorkloadTarget, ZonedTarget};

/// Address space of the workload of `scenario`: whole mapping units.
///
/// # Errors
/// The first setting of the array that cannot work.
pub(crate) fn target_of(scenario: &Scenario) -> Result<WorkloadTarget, ConfigError> {
    let unit = scenario.device.ftl.mapping_unit;
    if let Some(zones) = zones_of(scenario)? {
        let capacity = Bytes(zones.layout.sectors() * SECTOR_BYTES);
        return Ok(WorkloadTarget {
            capacity,
            seed: scenario.seed,
            unit,
            handles: 0,
            zones: Some(zones),
            namespaces: namespaces_of(scenario),
        });
    }
    let capacity = match &scenario.array {
        None => scenario.device.ftl.user_capacity(&scenario.device.geometry),
        Some(array) => ArrayVolume::capacity(scenario, array)?,
    };
    let capacity = Bytes(capacity.0 / unit.0 * unit.0);
    let handles = scenario.device.placement.as_ref().map_or(0, |own| own.identifiers().len() as u16);
    Ok(WorkloadTarget {
        capacity,
        seed: scenario.seed,
        unit,
        handles,
        zones: None,
        namespaces: namespaces_of(scenario),
    })
}

/// The drive of `scenario`, which has no array, with its namespaces.
///
/// # Errors
/// The first setting of the drive that cannot work.
pub(crate) fn drive_of(scenario: &Scenario) -> Result<Ssd, ConfigError> {
    let mut ssd = Ssd::new(scenario.device.clone(), scenario.seed)?;
    ssd.share_zones(&scenario.namespace);
    Ok(ssd)
}

/// Namespaces of the drive of `scenario`, in the order of their addresses.
fn namespaces_of(scenario: &Scenario) -> Vec<NamespaceTarget> {
    let mut start = 0;
    let one = |own: &NamespaceConfig| {
        let first = start;
        start += own.capacity.0;
        NamespaceTarget {
            start: first,
            capacity: own.capacity,
            block: own.block_size,
            read_only: own.read_only,
            identifiers: own.identifiers(scenario.device.placement.as_ref()),
        }
    };
    scenario.namespace.iter().map(one).collect()
}

/// Zones of the drive of `scenario`; `None` where it has none.
///
/// # Errors
/// An array of drives with zones, a preparation that overwrites, or a run without time; or zones that the drive cannot have.
fn zones_of(scenario: &Scenario) -> Result<Option<ZonedTarget>, ConfigError> {
    let Some(config) = &scenario.device.zones else { return Ok(None) };
    if scenario.array.is_some() {
        let limit =
            "does not go with [array]: members are written anywhere, and zones at their write pointers only";
        return Err(ConfigError::new("device.zones", "given", limit));
    }
    if scenario.precondition.overwrite != OverwritePattern::None {
        let limit = "must be none with device.zones: zones are filled, and nothing in them is overwritten";
        let value =
            if scenario.precondition.overwrite == OverwritePattern::Random { "random" } else { "workload" };
        return Err(ConfigError::new("precondition.overwrite", value, limit));
    }
    if scenario.run.timing == TimingMode::None {
        let limit = "must be full with device.zones: their commands take time";
        return Err(ConfigError::new("run.timing", "none", limit));
    }
    let ssd = Ssd::without_tables(scenario.device.clone(), scenario.seed)?;
    let table = ssd.zones().expect("a drive with settings of zones has zones");
    let (layout, random_write) = (*table.layout(), table.random_write());
    let share = match scenario.precondition.fill {
        FillPattern::None => 0.0,
        FillPattern::Sequential => scenario.precondition.fill_fraction,
    };
    let filled = (f64::from(layout.zones) * share) as u32;
    let open = config.max_open.unwrap_or(config.max_active);
    Ok(Some(ZonedTarget { layout, active: config.max_active, open, filled, random_write }))
}

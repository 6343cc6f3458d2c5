//! Sections `device` and `memory` of the result.

use crate::drives::{DriveSet, effective_spare_factor};
use outlast_device::Device;
use serde::Serialize;

/// Size and spare space of the device.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DeviceFacts {
    pub model: String,
    pub capacity_bytes: u64,
    pub raw_bytes: u64,
    pub mapping_unit: u64,
    pub units: u64,
    /// Over all flash cores.
    pub superblocks: u64,
    pub units_per_superblock: u64,
    /// (raw − user) / user.
    pub spare_factor: f64,
    /// `spare_factor` without spare blocks, bad blocks, and superblocks that are open or reserved. Absent if failed dies or blocks leave less
    /// flash than the capacity.
    pub effective_spare_factor: Option<f64>,
}

/// Memory of the simulation.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryFigures {
    /// Resident bytes of all tables for each mapping unit.
    pub mapping_bytes_per_unit: f64,
    /// Peak resident memory of the process; filled in by the front end.
    pub peak_rss_mib: Option<f64>,
}

pub(crate) fn device_facts(ssd: &DriveSet<'_>) -> DeviceFacts {
    let identity = ssd.identify();
    let config = ssd.config();
    let drive = ssd.first();
    // Spare space is that of one drive, also in an array.
    let raw = config.geometry.raw_capacity().0 as f64;
    let user = drive.identify().capacity.0 as f64;
    DeviceFacts {
        model: identity.model,
        capacity_bytes: identity.capacity.0,
        raw_bytes: ssd.raw_bytes(),
        mapping_unit: config.ftl.mapping_unit.0,
        units: ssd.units(),
        superblocks: ssd.ftls().map(|ftl| u64::from(ftl.layout().superblocks())).sum(),
        units_per_superblock: ssd
            .ftls()
            .next()
            .map_or(0, |ftl| u64::from(ftl.layout().units_per_superblock())),
        spare_factor: (raw - user) / user,
        effective_spare_factor: Some(effective_spare_factor(drive)).filter(|&factor| factor >= 0.0),
    }
}

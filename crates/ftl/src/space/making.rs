//! Parts of a space as it is made, and checks of the settings that they need.

use crate::block_table::BlockTable;
use crate::ftl::FtlOptions;
use crate::layout::SlotLayout;
use crate::modes::StreamModes;
use crate::physical::CoreBlocks;
use outlast_media::{ConfigError, DefectConfig, Geometry, PhysicalBlocks};
use outlast_settings::ftl::FtlConfig;
use outlast_units::DieId;

/// The layout of a core of `units` units with `options`.
pub(super) fn layout_of(
    geometry: &Geometry,
    config: &FtlConfig,
    dies: &[DieId],
    units: u64,
    options: &FtlOptions,
) -> Result<SlotLayout, ConfigError> {
    let mut layout = SlotLayout::new(geometry, config, dies, units)?;
    layout.add_modes(geometry, options.modes.modes())?;
    if options.lists {
        layout.keep_lists(geometry)?;
    }
    Ok(layout)
}

/// Physical blocks of a core with `layout`, or none where tables are not built.
pub(super) fn physical_of(
    geometry: &Geometry,
    layout: &SlotLayout,
    (defects, modes): (&DefectConfig, &StreamModes),
    seed: u64,
    whole: bool,
) -> Result<CoreBlocks, ConfigError> {
    if whole {
        let mut blocks = CoreBlocks::new(geometry, layout, defects, seed)?;
        blocks.add_modes(modes.modes());
        Ok(blocks)
    } else {
        Ok(CoreBlocks::none(geometry, layout))
    }
}

/// Refuses more blocks that are bad when new than there are spare ones.
pub(super) fn check_bad(
    geometry: &Geometry,
    layout: &SlotLayout,
    defects: &DefectConfig,
    seed: u64,
) -> Result<(), ConfigError> {
    if defects.factory_bad > 0.0 {
        let bad = PhysicalBlocks::bad_when_new(geometry, layout.dies(), defects, seed);
        BlockTable::check(geometry, layout.superblocks(), bad)?;
    }
    Ok(())
}

/// Refuses blocks with too few pages for late erasures, or for superblocks of partial parity.
pub(super) fn check_pages(
    geometry: &Geometry,
    layout: &SlotLayout,
    erases_late: bool,
    covers: bool,
) -> Result<(), ConfigError> {
    let limit = if erases_late && layout.least_used_pus() < 2 {
        "without a protected buffer a superblock must take at least two program operations"
    } else if covers && layout.superpages() < 2 {
        "a superblock of partial parity takes at least two superpages"
    } else {
        return Ok(());
    };
    Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit))
}

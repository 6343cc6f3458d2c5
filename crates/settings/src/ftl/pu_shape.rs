//! How mapping units, pages and planes make up a program unit.

use super::FtlConfig;
use outlast_media::{ConfigError, Geometry};

/// What a program unit consists of.
#[derive(Clone, Copy, Debug)]
pub struct PuShape {
    /// Pages that a unit takes; this or `units_per_page` is 1.
    pub pages_per_unit: u32,
    /// Units that a page takes.
    pub units_per_page: u32,
    /// Page rows of a program unit.
    pub rows_per_pu: u32,
    /// Units of a program unit.
    pub units_per_pu: u32,
}

impl PuShape {
    /// The shape that the settings give.
    ///
    /// # Errors
    /// More units or page rows to a program unit than are tracked, or rows that do not divide a block. Units and pages must divide each
    /// other.
    pub fn of(geometry: &Geometry, config: &FtlConfig) -> Result<Self, ConfigError> {
        let (unit, one_shot) = (config.mapping_unit, u32::from(config.one_shot));
        let planes_per_lane = if config.multi_plane { u32::from(geometry.planes_per_die) } else { 1 };
        let (page, bytes) = (geometry.page_size.0, unit.0);
        let pages_per_unit = (bytes / page).max(1) as u32;
        let units_per_page = (page / bytes).max(1) as u32;
        let rows_of_units = pages_per_unit / gcd(pages_per_unit, planes_per_lane);
        let rows_per_pu = rows_of_units / gcd(rows_of_units, one_shot) * one_shot;
        let units_per_pu = planes_per_lane * rows_per_pu / pages_per_unit * units_per_page;
        let refuse = |limit: String| match one_shot {
            1 => Err(ConfigError::new("device.ftl.mapping_unit", unit, limit)),
            _ => Err(ConfigError::new(
                "device.ftl.one_shot",
                one_shot,
                format!("{limit} (mapping unit {unit})"),
            )),
        };
        if units_per_pu > 64 {
            return refuse(format!(
                "gives {units_per_pu} units to one program operation of a die; at most 64 are tracked"
            ));
        }
        if rows_per_pu > 64 {
            return refuse(format!(
                "takes {rows_per_pu} page rows of a die in one program operation; at most 64 are tracked"
            ));
        }
        if !geometry.pages_per_block.is_multiple_of(rows_per_pu) {
            let limit = match one_shot {
                1 => format!(
                    "a mapping unit of {unit} takes {rows_per_pu} page rows of a die, which must divide the block"
                ),
                _ => format!("{rows_per_pu} page rows are programmed together, which must divide the block"),
            };
            return Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit));
        }
        Ok(Self { pages_per_unit, units_per_page, rows_per_pu, units_per_pu })
    }
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

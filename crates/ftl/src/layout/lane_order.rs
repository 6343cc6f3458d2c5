//! Order of the lanes of a superpage: the allocation order, at a stride.

use super::DieLane;
use outlast_media::{ConfigError, Geometry};
use outlast_settings::ftl::{AllocationLevel, FtlConfig};
use outlast_units::Idx;
use outlast_units::{DieId, IndexVec, LaneIndex, LocalDie};

pub(super) fn lanes_in_order(geometry: &Geometry, config: &FtlConfig, dies: &[DieId]) -> Vec<DieLane> {
    let planes = if config.multi_plane { geometry.planes_per_die } else { 1 };
    let mut lanes: Vec<DieLane> = dies
        .iter()
        .enumerate()
        .flat_map(|(local, &die)| {
            (0..geometry.planes_per_die).step_by(usize::from(planes)).map(move |first_plane| DieLane {
                die,
                local_die: LocalDie::from_index(local),
                first_plane,
                planes,
            })
        })
        .collect();
    lanes.sort_by_key(|lane| {
        let address = geometry.locate(lane.die);
        let mut key = config.allocation.0.map(|level| match level {
            AllocationLevel::Channel => address.channel.0,
            AllocationLevel::Chip => address.chip,
            AllocationLevel::Die => address.die,
            AllocationLevel::Plane => lane.first_plane,
        });
        // The first letter varies fastest, so it counts least.
        key.reverse();
        key
    });
    lanes
}

/// Puts `lanes` into the order in which a superpage is written at stride `stride`.
///
/// If the stride divides the number n of lanes, write i goes to lane i · stride mod (n − 1), and the last write to the last lane: the formula of
/// Flexible (section 3.3), which leaves out the last lane and strides that do not divide n.
pub(super) fn at_stride(
    lanes: Vec<DieLane>,
    stride: u32,
) -> Result<IndexVec<LaneIndex, DieLane>, ConfigError> {
    let (step, most) = (stride as usize, lanes.len());
    if step == 0 || step > most {
        let limit = format!("must be between 1 and {most}, the places of a superpage of each flash core");
        return Err(ConfigError::new("device.ftl.stride", stride, limit));
    }
    if step == 1 {
        return Ok(lanes.into());
    }
    let order = (0..step).flat_map(|first| (first..most).step_by(step));
    Ok(order.map(|place| lanes[place]).collect())
}

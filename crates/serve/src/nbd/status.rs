//! State of sectors in the terms of NBD's metadata contexts.

use outlast_device::{Extent, ExtentState};
use outlast_nbd::{MetaContext, MetaContexts, StatusExtent, allocation, health};
use outlast_units::{Bytes, SECTOR_BYTES};

/// Extents in each of `contexts`, from the first sector on.
pub(super) fn status_extents(
    contexts: MetaContexts,
    runs: &[Extent],
) -> Vec<(MetaContext, Vec<StatusExtent>)> {
    contexts.iter().map(|context| (context, extents_of(context, runs))).collect()
}

/// Extents in one context. Neighbours with equal flags are merged.
fn extents_of(context: MetaContext, extents: &[Extent]) -> Vec<StatusExtent> {
    let runs = extents.chunk_by(|a, b| flags(context, a.state) == flags(context, b.state));
    let merged = |run: &[Extent]| {
        let sectors: u64 = run.iter().map(|extent| extent.sectors).sum();
        StatusExtent { length: Bytes(sectors * SECTOR_BYTES), flags: flags(context, run[0].state) }
    };
    runs.map(merged).collect()
}

fn flags(context: MetaContext, state: ExtentState) -> u32 {
    let flag_if = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    match context {
        MetaContext::Allocation => flag_if(!state.allocated, allocation::HOLE | allocation::ZERO),
        MetaContext::Health => {
            flag_if(state.lost, health::LOST)
                | flag_if(state.misplaced, health::MISPLACED)
                | flag_if(state.volatile, health::VOLATILE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Lba;

    #[test]
    fn neighbours_with_equal_flags_in_a_context_are_merged() {
        let lost = ExtentState { lost: true, ..ExtentState::GOOD };
        let unsafe_hole = ExtentState { volatile: true, ..ExtentState::HOLE };
        let states = [ExtentState::GOOD, lost, ExtentState::HOLE, unsafe_hole];
        let device_extents: Vec<Extent> = (0..)
            .zip(states)
            .map(|(index, state)| Extent { lba: Lba(index * 8), sectors: 8, state })
            .collect();
        let converted = |context| {
            extents_of(context, &device_extents)
                .iter()
                .map(|one| (one.length.0, one.flags))
                .collect::<Vec<_>>()
        };
        assert_eq!(converted(MetaContext::Allocation), [(8192, 0), (8192, 3)]);
        assert_eq!(converted(MetaContext::Health), [(4096, 0), (4096, 1), (4096, 0), (4096, 4)]);
    }
}

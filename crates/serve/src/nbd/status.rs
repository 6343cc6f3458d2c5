//! The state of sectors, as contexts of NBD describe it.

use outlast_device::{Extent as Known, ExtentState};
use outlast_nbd::{Context, Contexts, Extent, allocation, health};
use outlast_units::{Bytes, SECTOR_BYTES};

/// What each of `contexts` says of what is `known`: runs from the first sector on.
pub(super) fn of_all(contexts: Contexts, known: &[Known]) -> Vec<(Context, Vec<Extent>)> {
    contexts.iter().map(|context| (context, extents(context, known))).collect()
}

/// What `context` says of what is `known`: runs from the first sector on.
fn extents(context: Context, known: &[Known]) -> Vec<Extent> {
    let runs = known.chunk_by(|a, b| flags(context, a.state) == flags(context, b.state));
    let extent = |run: &[Known]| {
        let sectors: u64 = run.iter().map(|known| known.sectors).sum();
        Extent { length: Bytes(sectors * SECTOR_BYTES), flags: flags(context, run[0].state) }
    };
    runs.map(extent).collect()
}

fn flags(context: Context, state: ExtentState) -> u32 {
    let set = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    match context {
        Context::Allocation => set(!state.allocated, allocation::HOLE | allocation::ZERO),
        Context::Health => {
            set(state.lost, health::LOST)
                | set(state.misplaced, health::MISPLACED)
                | set(state.volatile, health::VOLATILE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Lba;

    #[test]
    fn neighbours_of_which_a_context_says_the_same_are_one_extent() {
        let lost = ExtentState { lost: true, ..ExtentState::GOOD };
        let unsafe_hole = ExtentState { volatile: true, ..ExtentState::HOLE };
        let states = [ExtentState::GOOD, lost, ExtentState::HOLE, unsafe_hole];
        let known: Vec<Known> = (0..)
            .zip(states)
            .map(|(index, state)| Known { lba: Lba(index * 8), sectors: 8, state })
            .collect();
        let found = |context| {
            extents(context, &known).iter().map(|one| (one.length.0, one.flags)).collect::<Vec<_>>()
        };
        assert_eq!(found(Context::Allocation), [(8192, 0), (8192, 3)]);
        assert_eq!(found(Context::Health), [(4096, 0), (4096, 1), (4096, 0), (4096, 4)]);
    }
}

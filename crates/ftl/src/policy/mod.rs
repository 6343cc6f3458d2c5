//! Which superblock garbage collection takes next. A policy is a pure decision over a view of the superblocks; the caller
//! acts. One file for each policy; a new one is a new file and a line in [`choose`].

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;

use crate::config::{GcConfig, VictimPolicy};
use outlast_units::SuperblockId;
use outlast_units::rng::SplitMix;

/// In [`View::valid`]: the superblock is no candidate (free, open, being collected, retired).
pub(crate) const NO_CANDIDATE: u32 = 1 << 31;

/// What a policy sees. Arrays are indexed by superblock.
pub(crate) struct View<'a> {
    /// Valid units; [`NO_CANDIDATE`] is set where the superblock must not be taken.
    pub(crate) valid: &'a [u32],
    /// The write clock when the superblock was sealed.
    pub(crate) sealed_at: &'a [u64],
    /// The order in which superblocks were sealed. Not the clock, which stands still while the host waits.
    pub(crate) sealed_order: &'a [u64],
    /// The write clock now: host units written since the beginning.
    pub(crate) clock: u64,
    /// Slots of a superblock.
    pub(crate) units: u32,
}

/// The next victim; `None` when there is no candidate from which space could be gained.
pub(crate) fn choose(config: &GcConfig, view: &View<'_>, rng: &mut SplitMix) -> Option<SuperblockId> {
    match config.policy {
        VictimPolicy::Greedy => greedy::choose(view),
        VictimPolicy::CostBenefit => cost_benefit::choose(view),
        VictimPolicy::Fifo => fifo::choose(view),
        VictimPolicy::DChoices => d_choices::choose(view, config.choices, rng),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(policy: VictimPolicy) -> GcConfig {
        GcConfig { policy, choices: 3, ..GcConfig::default() }
    }

    const ALL: [VictimPolicy; 4] =
        [VictimPolicy::Greedy, VictimPolicy::CostBenefit, VictimPolicy::Fifo, VictimPolicy::DChoices];

    proptest::proptest! {
        #[test]
        fn every_policy_takes_a_candidate_and_finds_space_where_there_is_some(
            superblocks in proptest::collection::vec((0u32..=8, proptest::bool::ANY, 0u64..100), 1..40),
            seed: u64,
        ) {
            let valid: Vec<u32> =
                superblocks.iter().map(|&(valid, candidate, _)| if candidate { valid } else { valid | NO_CANDIDATE }).collect();
            let sealed_at: Vec<u64> = superblocks.iter().map(|&(_, _, at)| at).collect();
            let view = View { valid: &valid, sealed_at: &sealed_at, sealed_order: &sealed_at, clock: 100, units: 8 };
            let space = valid.iter().any(|&v| v < 8);
            for policy in ALL {
                let victim = choose(&config(policy), &view, &mut SplitMix::new(seed, "test"));
                proptest::prop_assert_eq!(victim.is_some(), space, "{:?}", policy);
                if let Some(victim) = victim {
                    proptest::prop_assert!(valid[victim.index()] & NO_CANDIDATE == 0);
                }
            }
        }
    }

    #[test]
    fn each_policy_prefers_what_its_name_says() {
        let view = View {
            valid: &[5, 3, 7, 3],
            sealed_at: &[10, 40, 5, 20],
            sealed_order: &[1, 3, 0, 2],
            clock: 50,
            units: 8,
        };
        let mut rng = SplitMix::new(1, "test");
        assert_eq!(choose(&config(VictimPolicy::Greedy), &view, &mut rng), Some(SuperblockId(1)));
        assert_eq!(choose(&config(VictimPolicy::Fifo), &view, &mut rng), Some(SuperblockId(2)));
        // (1 - u) / 2u x age: 3/10 x 40 = 12; 5/6 x 10 = 8.3; 1/14 x 45 = 3.2; 5/6 x 30 = 25.
        assert_eq!(choose(&config(VictimPolicy::CostBenefit), &view, &mut rng), Some(SuperblockId(3)));
    }
}

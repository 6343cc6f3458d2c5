//! Policies that choose the next victim of garbage collection. A policy is a pure decision over a view of the superblocks; the caller acts. One file
//! for each policy, and one line in the list of [`outlast_settings::victim_policies`]; a policy of somebody else's comes in as
//! [`OwnChoice`](outlast_decisions::SuperblockPolicy).

mod by_figures;
mod user;

pub(crate) use by_figures::ByFigures;
pub(crate) use user::{CodePolicies, FtlPolicies, SuperblockUserPolicy, check_gain, choose};

use outlast_decisions::{RandomDraws, SuperblockChoice, SuperblockColumns};
use outlast_settings::ftl::VictimPolicy;
use outlast_units::SuperblockId;

/// Calls each policy by its module's `choose`.
macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident = $module:ident;)*) => {
        $(mod $module;)*

        /// The choice of `policy`.
        pub(crate) fn choose_by(policy: VictimPolicy, view: &SuperblockColumns<'_>, draws: &mut RandomDraws<'_>) -> Option<SuperblockId> {
            match policy {
                $(VictimPolicy::$name => $module::choose(view, draws),)*
            }
        }
    };
}

outlast_settings::victim_policies!(policies);

/// A built-in policy behind the interface of the user's.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn(pub VictimPolicy);

impl SuperblockChoice for BuiltIn {
    fn choose(
        &mut self,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String> {
        Ok(choose_by(self.0, view, draws))
    }

    fn fork(&self) -> Box<dyn SuperblockChoice> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_decisions::NO_CANDIDATE;
    use outlast_units::rng::SplitMix;

    fn choose(
        policy: VictimPolicy,
        view: &SuperblockColumns<'_>,
        rng: &mut SplitMix,
    ) -> Option<SuperblockId> {
        choose_by(policy, view, &mut RandomDraws { choices: 3, rng })
    }

    /// Words that a choice of `policy` among superblocks with `valid` of eight units takes from the generator.
    fn draws_of(policy: VictimPolicy, choices: u32, valid: &[u32], seed: u64) -> u32 {
        let order: Vec<u64> = (0..valid.len() as u64).collect();
        let view = SuperblockColumns {
            valid,
            sealed_at: &order,
            sealed_order: &order,
            cycles: &vec![0; valid.len()],
            streams: &[],
            states: &[],
            clock: valid.len() as u64,
            units: 8,
            cells: None,
        };
        let mut rng = SplitMix::new(seed, "test");
        let mut begun = rng.clone();
        choose_by(policy, &view, &mut RandomDraws { choices, rng: &mut rng });
        let next = rng.next_u64();
        (0..u32::MAX).find(|_| begun.next_u64() == next).expect("the generator has gone on from where it was")
    }

    /// A core whose writes wait for space asks at every event: with 23 superblocks and 15 choices it drew 61,440 times each time.
    #[test]
    fn where_no_space_can_be_gained_no_lot_is_drawn() {
        for &policy in VictimPolicy::ALL {
            assert_eq!(draws_of(policy, 15, &[8; 23], 1), 0, "{policy:?} of full superblocks");
            assert_eq!(draws_of(policy, 15, &[8 | NO_CANDIDATE; 23], 1), 0, "{policy:?} without candidates");
        }
    }

    /// One superblock of a thousand has space, or is the only candidate.
    #[test]
    fn a_choice_draws_no_more_than_a_few_lots_for_each_superblock() {
        for others in [8, NO_CANDIDATE, 8 | NO_CANDIDATE] {
            for choices in [1, 2, 15, 1000, 1 << 20] {
                let mut valid = vec![others; 1000];
                valid[617] = 7;
                for &policy in VictimPolicy::ALL {
                    let drawn = draws_of(policy, choices, &valid, 3);
                    let most = d_choices::most_draws(choices, 1000);
                    assert!(
                        drawn <= most,
                        "{policy:?}: {drawn} draws, at most {most} with {choices} choices"
                    );
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn every_policy_takes_a_candidate_and_finds_space_where_there_is_some(
            superblocks in proptest::collection::vec((0u32..=8, proptest::bool::ANY, 0u64..100), 1..40),
            seed: u64,
        ) {
            let valid: Vec<u32> =
                superblocks.iter().map(|&(valid, candidate, _)| if candidate { valid } else { valid | NO_CANDIDATE }).collect();
            let sealed_at: Vec<u64> = superblocks.iter().map(|&(_, _, at)| at).collect();
            let cycles = vec![0; superblocks.len()];
            let space = valid.iter().any(|&v| v < 8);
            for &policy in VictimPolicy::ALL {
                let view = SuperblockColumns {
                    valid: &valid, sealed_at: &sealed_at, sealed_order: &sealed_at, cycles: &cycles, streams: &[], states: &[], clock: 100, units: 8, cells: None,
                };
                let victim = choose(policy, &view, &mut SplitMix::new(seed, "test"));
                proptest::prop_assert_eq!(victim.is_some(), space, "{:?}", policy);
                if let Some(victim) = victim {
                    proptest::prop_assert!(view.is_candidate(victim));
                }
            }
        }
    }

    #[test]
    fn each_policy_prefers_what_its_name_says() {
        let view = SuperblockColumns {
            valid: &[5, 3, 7, 3],
            sealed_at: &[10, 40, 5, 20],
            sealed_order: &[1, 3, 0, 2],
            cycles: &[9, 9, 0, 29],
            streams: &[],
            states: &[],
            clock: 50,
            units: 8,
            cells: None,
        };
        let mut rng = SplitMix::new(1, "test");
        assert_eq!(choose(VictimPolicy::Greedy, &view, &mut rng), Some(SuperblockId(1)));
        assert_eq!(choose(VictimPolicy::Fifo, &view, &mut rng), Some(SuperblockId(2)));
        // (1 - u) / 2u x age: 3/10 x 40 = 12; 5/6 x 10 = 8.3; 1/14 x 45 = 3.2; 5/6 x 30 = 25.
        assert_eq!(choose(VictimPolicy::CostBenefit, &view, &mut rng), Some(SuperblockId(3)));
        // Twice those over 10, 10, 1, 30: 5/3 x 11 / 10 = 1.8 and 1/7 x 46 = 6.6 are the largest.
        assert_eq!(choose(VictimPolicy::CostAgeTimes, &view, &mut rng), Some(SuperblockId(2)));
    }
}

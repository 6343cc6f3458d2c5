//! Which superblock garbage collection takes next. A policy is a pure decision over a view of the superblocks; the caller acts. One
//! file for each policy, and one line in the list below; a policy of somebody else's comes in as [`OwnChoice`].

mod by_figures;
mod own;
mod questions;
mod view;

pub(crate) use by_figures::ByFigures;
pub(crate) use own::{Deciders, Own, choose};
pub use own::{OwnChoice, OwnPolicies, SuperblockChoice};
pub use questions::{ChosenCode, Collecting, Opening};
pub(crate) use view::NO_CANDIDATE;
pub use view::{CellColumns, Draws, View};

use outlast_units::{JsonSchema, SuperblockId};
use serde::{Deserialize, Serialize};

/// Makes the enumeration of the policies, their names in scenario files and their documentation from one list, and calls each by its
/// module's `choose`.
macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident = $module:ident;)*) => {
        $(mod $module;)*

        /// Which superblock garbage collection takes next.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum VictimPolicy {
            $($(#[$doc])* $name,)*
        }

        impl VictimPolicy {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

        }

        impl SuperblockChoice for VictimPolicy {
            fn choose(&mut self, view: &View<'_>, draws: &mut Draws<'_>) -> Result<Option<SuperblockId>, String> {
                Ok(match self {
                    $(Self::$name => $module::choose(view, draws),)*
                })
            }

            fn fork(&self) -> Box<dyn SuperblockChoice> {
                Box::new(*self)
            }
        }
    };
}

policies! {
    /// The one with the fewest valid units.
    Greedy = greedy;
    /// The one with the largest (1 − u) / 2u · age (Kawaguchi, Nishioka, Motoda, USENIX 1995).
    CostBenefit = cost_benefit;
    /// The one with the largest (1 − u) / u · age / erasures (Chiang, Chang, Journal of Systems and Software 48, 1999).
    CostAgeTimes = cost_age_times;
    /// The one filled longest ago.
    Fifo = fifo;
    /// The one with the fewest valid units among `choices` random ones (Van Houdt, SIGMETRICS 2013).
    DChoices = d_choices;
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    fn choose(mut policy: VictimPolicy, view: &View<'_>, rng: &mut SplitMix) -> Option<SuperblockId> {
        policy.choose(view, &mut Draws { choices: 3, rng }).expect("no policy of ours goes wrong")
    }

    /// How many words a choice of `policy` among superblocks with `valid` of eight units takes from the generator.
    fn draws_of(mut policy: VictimPolicy, choices: u32, valid: &[u32], seed: u64) -> u32 {
        let order: Vec<u64> = (0..valid.len() as u64).collect();
        let view = View {
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
        policy.choose(&view, &mut Draws { choices, rng: &mut rng }).expect("no policy of ours goes wrong");
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
        for rest in [8, NO_CANDIDATE, 8 | NO_CANDIDATE] {
            for choices in [1, 2, 15, 1000, 1 << 20] {
                let mut valid = vec![rest; 1000];
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
                let view = View {
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
        let view = View {
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

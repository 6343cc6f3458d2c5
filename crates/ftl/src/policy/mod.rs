//! Which superblock garbage collection takes next. A policy is a pure decision over a view of the superblocks; the caller acts. One
//! file for each policy, and one line in the list below.

use outlast_units::rng::SplitMix;
use outlast_units::{IndexVec, SuperblockId};
use schemars::JsonSchema;
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

            fn choose<C: Counts>(self, view: &View<'_, C>, draws: &mut Draws<'_>) -> Option<SuperblockId> {
                match self {
                    $(Self::$name => $module::choose(view, draws),)*
                }
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

/// In a count of valid units: the superblock is no candidate (free, open, being collected, retired).
pub(crate) const NO_CANDIDATE: u32 = 1 << 31;

/// The valid units of every superblock; [`NO_CANDIDATE`] is set where one must not be taken.
pub(crate) trait Counts {
    /// Of one superblock.
    fn of(&self, superblock: SuperblockId) -> u32;

    /// Of all, in order.
    fn all(&self) -> impl Iterator<Item = u32>;
}

/// Counts that are kept.
impl Counts for &IndexVec<SuperblockId, u32> {
    #[inline]
    fn of(&self, superblock: SuperblockId) -> u32 {
        self[superblock]
    }

    #[inline]
    fn all(&self) -> impl Iterator<Item = u32> {
        self.iter().copied()
    }
}

/// Counts of so many superblocks that are worked out as they are asked for.
pub(crate) struct WorkedOut<F>(pub(crate) u32, pub(crate) F);

impl<F: Fn(SuperblockId) -> u32> Counts for WorkedOut<F> {
    fn of(&self, superblock: SuperblockId) -> u32 {
        (self.1)(superblock)
    }

    fn all(&self) -> impl Iterator<Item = u32> {
        (0..self.0).map(|superblock| (self.1)(SuperblockId(superblock)))
    }
}

/// What a policy sees.
pub(crate) struct View<'a, C> {
    pub(crate) counts: C,
    pub(crate) sealed_at: &'a IndexVec<SuperblockId, u64>,
    pub(crate) sealed_order: &'a IndexVec<SuperblockId, u64>,
    pub(crate) cycles: &'a IndexVec<SuperblockId, u32>,
    pub(crate) clock: u64,
    /// Slots of a superblock.
    pub(crate) units: u32,
}

impl<C: Counts> View<'_, C> {
    /// Superblocks, be they candidates or not.
    fn superblocks(&self) -> u32 {
        self.sealed_at.len() as u32
    }

    /// Those that may be taken, in order, with their valid units.
    fn candidates(&self) -> impl Iterator<Item = (SuperblockId, u32)> {
        let all = (0u32..).map(SuperblockId).zip(self.counts.all());
        all.filter(|&(_, valid)| valid & NO_CANDIDATE == 0)
    }

    /// Units that the host has written since a superblock was sealed.
    fn age(&self, superblock: SuperblockId) -> u64 {
        self.clock - self.sealed_at[superblock]
    }

    /// The order in which superblocks were sealed. Not the clock of [`View::age`], which stands still while the host waits.
    fn order(&self, superblock: SuperblockId) -> u64 {
        self.sealed_order[superblock]
    }

    /// P/E cycles of a superblock, the mean of its blocks.
    fn cycles(&self, superblock: SuperblockId) -> u32 {
        self.cycles[superblock]
    }
}

/// What a policy that draws lots has at hand.
pub(crate) struct Draws<'a> {
    /// How many candidates to draw.
    choices: u32,
    rng: &'a mut SplitMix,
}

/// The next victim by `policy`, which draws `choices` candidates if it draws lots; `None` when there is no candidate from which
/// space could be gained.
pub(crate) fn choose<C: Counts>(
    policy: VictimPolicy,
    choices: u32,
    view: &View<'_, C>,
    rng: &mut SplitMix,
) -> Option<SuperblockId> {
    let victim = policy.choose(view, &mut Draws { choices, rng });
    debug_assert!(
        victim.is_none_or(|victim| view.counts.of(victim) & NO_CANDIDATE == 0),
        "a policy took no candidate"
    );
    victim
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_policy_takes_a_candidate_and_finds_space_where_there_is_some(
            superblocks in proptest::collection::vec((0u32..=8, proptest::bool::ANY, 0u64..100), 1..40),
            seed: u64,
        ) {
            let valid: IndexVec<SuperblockId, u32> =
                superblocks.iter().map(|&(valid, candidate, _)| if candidate { valid } else { valid | NO_CANDIDATE }).collect();
            let sealed_at: IndexVec<SuperblockId, u64> = superblocks.iter().map(|&(_, _, at)| at).collect();
            let cycles = IndexVec::filled(0, superblocks.len());
            let space = valid.iter().any(|&v| v < 8);
            for &policy in VictimPolicy::ALL {
                let view = View {
                    counts: &valid, sealed_at: &sealed_at, sealed_order: &sealed_at, cycles: &cycles, clock: 100, units: 8,
                };
                let victim = choose(policy, 3, &view, &mut SplitMix::new(seed, "test"));
                proptest::prop_assert_eq!(victim.is_some(), space, "{:?}", policy);
                if let Some(victim) = victim {
                    proptest::prop_assert!(valid[victim] & NO_CANDIDATE == 0);
                }
                let counts = WorkedOut(superblocks.len() as u32, |superblock| valid[superblock]);
                let view = View {
                    counts, sealed_at: &sealed_at, sealed_order: &sealed_at, cycles: &cycles, clock: 100, units: 8,
                };
                let same = choose(policy, 3, &view, &mut SplitMix::new(seed, "test"));
                proptest::prop_assert_eq!(victim, same, "{:?} over counts that are worked out", policy);
            }
        }
    }

    #[test]
    fn each_policy_prefers_what_its_name_says() {
        let view = View {
            counts: &vec![5, 3, 7, 3].into(),
            sealed_at: &vec![10, 40, 5, 20].into(),
            sealed_order: &vec![1, 3, 0, 2].into(),
            cycles: &vec![9, 9, 0, 29].into(),
            clock: 50,
            units: 8,
        };
        let mut rng = SplitMix::new(1, "test");
        assert_eq!(choose(VictimPolicy::Greedy, 3, &view, &mut rng), Some(SuperblockId(1)));
        assert_eq!(choose(VictimPolicy::Fifo, 3, &view, &mut rng), Some(SuperblockId(2)));
        // (1 - u) / 2u x age: 3/10 x 40 = 12; 5/6 x 10 = 8.3; 1/14 x 45 = 3.2; 5/6 x 30 = 25.
        assert_eq!(choose(VictimPolicy::CostBenefit, 3, &view, &mut rng), Some(SuperblockId(3)));
        // Twice those over 10, 10, 1, 30: 5/3 x 11 / 10 = 1.8 and 1/7 x 46 = 6.6 are the largest.
        assert_eq!(choose(VictimPolicy::CostAgeTimes, 3, &view, &mut rng), Some(SuperblockId(2)));
    }
}

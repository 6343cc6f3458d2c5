//! Dies that are expected to fail: their data is moved away while it can be read, which needs no host.

use outlast_decisions::{DieHealthQuestion, DrivePolicies, QuestionPolicy, UserPolicy};
use outlast_media::ConfigError;
use outlast_settings::drive::{PredictConfig, RepairConfig};
use outlast_units::{DieId, IndexVec, Nanos};
use std::collections::VecDeque;

/// Signs of failure that a die has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
struct Signs {
    /// Bad blocks found while it was in use.
    bad_blocks: u32,
    /// Units that its own ECC and re-reads did not give, within the window.
    uncorrectable: u32,
}

/// Latest uncorrectable units of a die that a user's policy can count.
const COUNTED: usize = 4096;

/// Collects the signs of all dies, and says which dies are expected to fail.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Predictor {
    /// Limits of the settings.
    #[persist(skip)]
    limits: PredictConfig,
    /// Policy of the user's; where it leaves the decision, the limits decide.
    #[persist(skip)]
    policy: Option<UserPolicy<dyn QuestionPolicy<DieHealthQuestion>>>,
    /// Bad blocks above which a die counts as failed.
    #[persist(skip)]
    bad_blocks_limit: u32,
    dies: IndexVec<DieId, DieSigns>,
}

/// Signs of one die, and the decisions about it.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct DieSigns {
    /// Times of its latest uncorrectable units, as many as can matter.
    uncorrectable: VecDeque<Nanos>,
    /// Signs that were judged last: a decision is due only when they change.
    judged: Signs,
    /// Time from which the die is expected to fail.
    expected_at: Option<Nanos>,
    /// True if its data is being moved away.
    is_leaving: bool,
}

impl Predictor {
    /// Predictor for `dies` dies that have shown nothing; `None` if `repair` does not ask for one.
    ///
    /// # Panics
    /// If the limits need no sign at all.
    pub fn new(repair: &RepairConfig, policies: &DrivePolicies, dies: usize) -> Option<Self> {
        let limits = repair.predict?;
        assert!(limits.bad_blocks != 0, "limits that no sign has to meet are refused");
        Some(Self {
            limits,
            policy: policies.predict.as_ref().map(|policy| UserPolicy::new("policies.predict", policy)),
            bad_blocks_limit: repair.bad_blocks,
            dies: IndexVec::filled(DieSigns::default(), dies),
        })
    }

    /// `units` units of die `die` could not be corrected.
    pub(crate) fn note_uncorrectable(&mut self, now: Nanos, die: DieId, units: u32) {
        let kept = if self.policy.is_some() { COUNTED } else { self.limits.uncorrectable as usize };
        let times = &mut self.dies[die].uncorrectable;
        times.extend(std::iter::repeat_n(now, (units as usize).min(kept)));
        let surplus = times.len().saturating_sub(kept);
        times.drain(..surplus);
        debug_assert!(times.iter().is_sorted(), "reads end in order of time");
    }

    /// A die that is expected to fail by now, and of which this has not been said before. `bad_blocks` gives the bad blocks of a die;
    /// `None` where it has failed already.
    pub fn next(&mut self, now: Nanos, bad_blocks: impl Fn(DieId) -> Option<u32>) -> Option<DieId> {
        for die in self.dies.indices() {
            let signs = &mut self.dies[die];
            let Some(bad_blocks_of_die) = bad_blocks(die).filter(|_| signs.expected_at.is_none()) else {
                continue;
            };
            while signs.uncorrectable.front().is_some_and(|&at| at + PredictConfig::WINDOW < now) {
                signs.uncorrectable.pop_front();
            }
            let shown =
                Signs { bad_blocks: bad_blocks_of_die, uncorrectable: signs.uncorrectable.len() as u32 };
            if shown == signs.judged {
                continue;
            }
            signs.judged = shown;
            if self.expects_failure(now, die, shown, &bad_blocks) {
                self.dies[die].expected_at = Some(now);
                return Some(die);
            }
        }
        None
    }

    /// Decision of the user's policy, or else of the limits.
    fn expects_failure(
        &mut self,
        now: Nanos,
        die: DieId,
        signs: Signs,
        bad_blocks: impl Fn(DieId) -> Option<u32>,
    ) -> bool {
        let Signs { bad_blocks: bad, uncorrectable } = signs;
        let limits = self.limits;
        let by_limits =
            bad >= limits.bad_blocks || (limits.uncorrectable != 0 && uncorrectable >= limits.uncorrectable);
        let Some(policy) = &mut self.policy else { return by_limits };
        let is_other = |&(other, signs): &(DieId, &DieSigns)| {
            other != die && (signs.expected_at.is_some() || bad_blocks(other).is_none())
        };
        let question = DieHealthQuestion {
            die: die.0,
            bad_blocks: bad,
            limit: self.bad_blocks_limit,
            uncorrectable,
            others: self.dies.iter_indexed().filter(is_other).count() as u16,
            now_ns: now,
        };
        policy.decide(&question, |_| Ok(())).unwrap_or(by_limits)
    }

    /// The data of die `die` is moved away from now on.
    ///
    /// # Panics
    /// If the die is not expected to fail.
    pub fn leave(&mut self, die: DieId) {
        assert!(self.dies[die].expected_at.is_some(), "die {die} is not expected to fail");
        self.dies[die].is_leaving = true;
    }

    /// True if the data of die `die` is moved away, or was until the die failed.
    pub fn is_leaving(&self, die: DieId) -> bool {
        self.dies[die].is_leaving
    }

    /// Dies that were expected to fail, each with the time from which it was.
    pub fn expected(&self) -> impl Iterator<Item = (DieId, Nanos)> {
        self.dies.iter_indexed().filter_map(|(die, signs)| Some((die, signs.expected_at?)))
    }

    /// Error of the user's policy, if it failed.
    pub fn policy_failure(&self) -> Option<ConfigError> {
        self.policy.as_ref()?.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The oracle keeps all signs for ever and counts those within the window anew at each look.
        #[test]
        fn a_die_is_expected_to_fail_once_and_as_soon_as_its_signs_say(
            uncorrectable in 0u32..6,
            events in prop::collection::vec((0u64..10, 0u16..3, 0u32..4, 0u32..3), 0..40),
        ) {
            let limits = PredictConfig { bad_blocks: 4, uncorrectable };
            let repair = RepairConfig { predict: Some(limits), ..RepairConfig::default() };
            let mut predictor = Predictor::new(&repair, &DrivePolicies::default(), 3).expect("limits are set");
            let (mut all, mut bad, mut said, mut now) = (Vec::new(), [0u32; 3], [false; 3], 0);
            for (pause, die, units, blocks) in events {
                now += pause * PredictConfig::WINDOW.0 / 20;
                predictor.note_uncorrectable(Nanos(now), DieId(die), units);
                all.extend(std::iter::repeat_n((die, now), units as usize));
                bad[usize::from(die)] += blocks;
                // The last die is known to have failed once it has a bad block.
                let known = |die: DieId| (die.0 != 2 || bad[2] == 0).then(|| bad[die.index()]);
                let mut expected = Vec::new();
                for die in 0..3u16 {
                    let Some(bad) = known(DieId(die)) else { continue };
                    let recent = all.iter().filter(|&&(own, at)| own == die && at + PredictConfig::WINDOW.0 >= now).count() as u32;
                    let expects = bad >= 4 || (uncorrectable != 0 && recent >= uncorrectable);
                    if expects && !std::mem::replace(&mut said[usize::from(die)], true) {
                        expected.push(die);
                    }
                }
                let found: Vec<u16> = std::iter::from_fn(|| predictor.next(Nanos(now), known)).map(|die| die.0).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

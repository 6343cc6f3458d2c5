//! Dies that are expected to fail: their data is moved away while it can be read, which needs no host.

use outlast_settings::drive::PredictConfig;
use outlast_units::{DieId, IndexVec, Nanos};
use std::collections::VecDeque;

/// What a die has shown of its health.
#[derive(Clone, Copy, Debug)]
struct Signs {
    /// Bad blocks found while it was in use.
    bad_blocks: u32,
    /// Units that its own ECC and re-reads did not give, within the window.
    uncorrectable: u32,
}

/// Says from its signs whether a die will fail. Another rule is another file that implements this.
trait Rule {
    /// True if it will.
    fn expects_failure(&self, signs: Signs) -> bool;
}

impl Rule for PredictConfig {
    fn expects_failure(&self, signs: Signs) -> bool {
        signs.bad_blocks >= self.bad_blocks
            || (self.uncorrectable != 0 && signs.uncorrectable >= self.uncorrectable)
    }
}

/// Collects the signs of all dies.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct Predictor {
    #[persist(skip)]
    rule: PredictConfig,
    dies: IndexVec<DieId, Seen>,
}

/// What is known about a die.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct Seen {
    /// When its latest uncorrectable units were read, as many as the rule asks for.
    uncorrectable: VecDeque<Nanos>,
    /// True if it has been said that the die will fail.
    is_expected: bool,
    /// True if its data is being moved away.
    is_leaving: bool,
}

impl Predictor {
    /// Of `dies` dies that have shown nothing.
    pub(crate) fn new(rule: PredictConfig, dies: usize) -> Self {
        assert!(rule.bad_blocks != 0, "a rule that no sign has to meet is refused");
        Self { rule, dies: IndexVec::filled(Seen::default(), dies) }
    }

    /// `units` units of die `die` could not be corrected.
    pub(crate) fn note_uncorrectable(&mut self, now: Nanos, die: DieId, units: u32) {
        let kept = self.rule.uncorrectable as usize;
        let seen = &mut self.dies[die].uncorrectable;
        seen.extend(std::iter::repeat_n(now, (units as usize).min(kept)));
        let surplus = seen.len().saturating_sub(kept);
        seen.drain(..surplus);
        debug_assert!(seen.iter().is_sorted(), "reads end in order of time");
    }

    /// A die that is expected to fail by now, and of which this has not been said before. `bad_blocks` gives the bad blocks of a die;
    /// `None` where it has failed already.
    pub(crate) fn next(&mut self, now: Nanos, bad_blocks: impl Fn(DieId) -> Option<u32>) -> Option<DieId> {
        for (die, seen) in self.dies.indices().zip(self.dies.iter_mut()) {
            let Some(bad_blocks) = bad_blocks(die).filter(|_| !seen.is_expected) else { continue };
            while seen.uncorrectable.front().is_some_and(|&at| at + PredictConfig::WINDOW < now) {
                seen.uncorrectable.pop_front();
            }
            let signs = Signs { bad_blocks, uncorrectable: seen.uncorrectable.len() as u32 };
            if self.rule.expects_failure(signs) {
                seen.is_expected = true;
                return Some(die);
            }
        }
        None
    }

    /// The data of die `die` is moved away from now on.
    pub(crate) fn leave(&mut self, die: DieId) {
        assert!(self.dies[die].is_expected, "die {die} is not expected to fail");
        self.dies[die].is_leaving = true;
    }

    /// True if the data of die `die` is moved away, or was until the die failed.
    pub(crate) fn is_leaving(&self, die: DieId) -> bool {
        self.dies[die].is_leaving
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
            let rule = PredictConfig { bad_blocks: 4, uncorrectable };
            let mut predictor = Predictor::new(rule, 3);
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

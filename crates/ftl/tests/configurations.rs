//! Configurations of handles, drawn at random: more handles than superblocks could serve are refused, with value and limit; all others write for ever.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::placement::drive;
use outlast_ftl::Ftl;
use outlast_settings::placement::HandleIsolation::{self, InitiallyIsolated, PersistentlyIsolated};
use outlast_units::Lpn;
use outlast_units::rng::SplitMix;
use proptest::prelude::*;

/// Mapping units of a superblock.
const SLOTS: u64 = 16;

/// What became of a configuration.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    Ran,
}

/// Writes eight drives' worth of units through the handles, if the configuration is not refused; the error says what is wrong with either.
fn life(
    handles: &[HandleIsolation],
    superblocks: u32,
    spare_percent: u64,
    seed: u64,
) -> Result<Outcome, String> {
    let slots = u64::from(superblocks) * SLOTS;
    let units = (slots * (100 - spare_percent) / 100).max(1);
    let mut ftl: Ftl = match drive(superblocks, SLOTS as u32 / 2, units, handles) {
        Ok(ftl) => ftl,
        Err(error) => {
            let text = error.to_string();
            let has_limit = text.contains("must") || text.contains("needed");
            return if has_limit && text.contains(char::is_numeric) {
                Ok(Outcome::Refused)
            } else {
                Err(text)
            };
        }
    };
    let mut rng = SplitMix::new(seed, "writes");
    for written in 0..8 * slots {
        // Now and then a handle takes no writes for long, and now and then one beyond the list is named.
        let identifier = if rng.below(4) == 0 { rng.below(150) } else { rng.below(3) };
        let stream = ftl.streams().host(identifier as u16, 0);
        if ftl.write_untimed(stream, Lpn(rng.below(units) as u32)).is_err() {
            return Err(format!("after {written} of {} units the drive takes no more", 8 * slots));
        }
    }
    ftl.self_check().map(|()| Outcome::Ran)
}

fn isolations(kinds: &[bool]) -> Vec<HandleIsolation> {
    kinds.iter().map(|&own| if own { InitiallyIsolated } else { PersistentlyIsolated }).collect()
}

proptest! {
    #[test]
    fn no_configuration_comes_to_a_stop(
        kinds in prop::collection::vec(any::<bool>(), 1..40),
        superblocks in 4u32..80,
        spare in 1u64..75,
        seed in any::<u64>(),
    ) {
        life(&isolations(&kinds), superblocks, spare, seed).map_err(TestCaseError::fail)?;
    }
}

/// Ten thousand configurations with up to 128 handles, most of them on drives that have too few superblocks for so many.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_configurations_are_refused_or_run() {
    let mut rng = SplitMix::new(1, "configurations");
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..10_000 {
        let kinds: Vec<bool> = (0..=rng.below(128)).map(|_| rng.below(2) == 0).collect();
        let (superblocks, spare) = (4 + rng.below(300) as u32, 1 + rng.below(74));
        match life(&isolations(&kinds), superblocks, spare, rng.below(u64::MAX)) {
            Ok(Outcome::Refused) => refused += 1,
            Ok(Outcome::Ran) => ran += 1,
            Err(error) => panic!("{kinds:?} on {superblocks} superblocks, {spare} % spare: {error}"),
        }
    }
    assert!(refused > 1000 && ran > 1000, "{refused} refused, {ran} ran");
}

//! Are values that follow from settings compared with those that the settings gave, and are checks that stumble contained?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_persist::{Damage, Persist, Reader, Restore, Writer, restore_foreign};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Persist)]
struct Pace {
    #[persist(fixed)]
    limit: u32,
    level: u32,
}

/// As values lie within each other: directly, boxed, and optional.
#[derive(Clone, Debug, PartialEq, Persist)]
struct Scheduler {
    pace: Pace,
    boxed: Box<Pace>,
    optional: Option<Pace>,
}

fn scheduler(limits: [u32; 3], level: u32) -> Scheduler {
    let pace = |limit| Pace { limit, level };
    Scheduler { pace: pace(limits[0]), boxed: Box::new(pace(limits[1])), optional: Some(pace(limits[2])) }
}

fn written(part: &impl Restore) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    part.save(&mut writer);
    writer.end().unwrap();
    bytes
}

fn restored(part: &mut impl Restore, bytes: &[u8]) -> Result<(), Damage> {
    restore_foreign(part, &mut Reader::new(&mut &bytes[..]))
}

proptest! {
    #[test]
    fn a_value_is_taken_over_if_and_only_if_its_settings_are_the_same(
        limits in prop::array::uniform3(0u32..3), others in prop::array::uniform3(0u32..3), level: u32,
    ) {
        let read = scheduler(others, level);
        let mut own = scheduler(limits, 0);
        let outcome = restored(&mut own, &written(&read));
        if limits == others {
            prop_assert!(outcome.is_ok());
            prop_assert_eq!(own, read);
        } else {
            prop_assert!(matches!(outcome, Err(Damage::Setting("Pace.limit"))), "{:?}", outcome);
            prop_assert_eq!(own, scheduler(limits, 0), "what was refused has been taken over");
        }
    }
}

/// Divides by a number that it has not checked.
#[derive(Debug, Persist)]
#[persist(check)]
struct Stumbles(u32);

impl Stumbles {
    fn check_restored(&self) -> Result<(), String> {
        if 12 / self.0 > 4 { Err("too small".to_owned()) } else { Ok(()) }
    }
}

#[test]
fn a_check_that_stumbles_is_damage() {
    assert!(restored(&mut Stumbles(3), &written(&4u32)).is_ok());
    for forged in [0u32, 2] {
        let outcome = restored(&mut Stumbles(3), &written(&forged));
        assert!(matches!(outcome, Err(Damage::State(_))), "{forged}: {outcome:?}");
    }
}

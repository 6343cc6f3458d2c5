//! What a machine leaves when its power fails: is it what a copy of that machine really holds, at every instant, and what its promises allow?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/machines.rs"]
mod machines;
#[path = "support/recorded.rs"]
mod recorded;

use machines::{all, check_spans, compare, drive, is_allowed, live, told};
use outlast_engine::Scenario;
use outlast_torture::CrashState;
use outlast_torture::drive::What;
use proptest::prelude::*;
use recorded::{DRIVE, cut, scenario};

fn configurations() -> impl Strategy<Value = Scenario> {
    let cache = prop::sample::select(vec!["volatile", "off", "protected"]);
    let more =
        prop::sample::select(vec!["", "[device.mount]\nlists = true\n", "[device.protection]\ndata = 3\n"]);
    (cache, more, any::<bool>()).prop_map(|(cache, more, forgets)| {
        // What is mounted from flash keeps its trims, as does a protected buffer.
        let trims =
            if forgets && cache != "protected" && !more.contains("mount") { "volatile" } else { "kept" };
        let controller = format!("[device.controller]\ntrims = \"{trims}\"");
        scenario(&format!(
            "{}\n{more}",
            DRIVE.replace("CACHE", cache).replace("[device.controller]", &controller)
        ))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_honest_drive_leaves_what_it_promised(scenario in configurations(), seed: u64, commands in 5u64..80) {
        let recorded = live(&scenario, seed, commands);
        let found = all(&recorded, What::Drive);
        check_spans(&found);
        let history = recorded.recording.history();
        for class in &found.0.classes {
            prop_assert!(is_allowed(history, class), "{} is not allowed: {}", class.id, told(history, class));
        }
        compare(&recorded, &recorded.scenario, &found, seed, cut);
    }
}

#[test]
fn a_drive_with_a_volatile_buffer_loses_something_and_one_with_a_protected_buffer_nothing() {
    for (cache, loses) in [("volatile", true), ("off", false), ("protected", false)] {
        let recorded = live(&drive(cache, ""), 3, 60);
        let (found, _) = all(&recorded, What::Drive);
        let history = recorded.recording.history();
        let is_acknowledged = |state: &CrashState| {
            let done = |piece: &outlast_torture::Piece| {
                history.writes[piece.write.0 as usize].completed.is_some_and(|event| event < state.cut)
            };
            state.lost.iter().any(done)
        };
        assert_eq!(found.classes.iter().any(is_acknowledged), loses, "{cache}");
        assert!(
            found.classes.len() > 15 && found.instants > 40,
            "{}, {}",
            found.classes.len(),
            found.instants
        );
    }
}

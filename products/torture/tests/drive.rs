//! States of simulated devices: each is the content of a copy that loses its power, at every instant, and one that the contract allows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::classes;
use crate::recorded;

use classes::{check_promises, class_of, drive, live, search_all, sectors};
use outlast_engine::{RunControl, Scenario};
use outlast_torture::drive::{CrashClasses, CrashModel, CrashSearch, find_classes};
use outlast_torture::{CrashState, PlanSpec};
use outlast_units::Nanos;
use proptest::prelude::*;
use recorded::{DRIVE, scenario};

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
    #![proptest_config(ProptestConfig { cases: 18, ..ProptestConfig::default() })]

    #[test]
    fn an_honest_drive_check_promises(scenario in configurations(), seed: u64, commands in 5u64..80) {
        let recorded = live(&scenario, seed, commands);
        check_promises(&recorded, seed);
    }
}

#[test]
fn a_drive_with_a_volatile_buffer_loses_something_and_one_with_a_protected_buffer_nothing() {
    for (cache, loses) in [("volatile", true), ("off", false), ("protected", false)] {
        let recorded = live(&drive(cache, ""), 3, 60);
        let (found, _) = search_all(&recorded, CrashModel::Drive);
        let history = recorded.recording.history();
        let is_acknowledged = |state: &CrashState| {
            let done = |piece: &outlast_torture::WritePiece| {
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

#[test]
fn instants_beyond_the_limit_are_drawn_uniformly_in_time() {
    let recorded = live(&drive("volatile", ""), 4, 60);
    let (whole, request) = search_all(&recorded, CrashModel::Drive);
    let history = recorded.recording.history();
    let draw = |limit, seed| {
        let request = CrashSearch { limit: Some(limit), seed, ..request.clone() };
        find_classes(recorded.recording.path(), history, &request, &mut |_| RunControl::Continue)
            .unwrap()
            .unwrap()
    };
    let some = draw(12, 1);
    assert_eq!((some.draws.len(), some.instants), (12, whole.instants));
    assert!(some.examined <= 12 && some.examined > 1);
    assert!(some.draws.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    for &(time, class) in &some.draws {
        let (own, same) = (&some.classes[class.unwrap()], class_of(&whole, time).unwrap());
        assert_eq!(class_of(&some, time).unwrap().id, own.id);
        assert!(sectors(history, own) == sectors(history, same), "{time}");
    }
    let times = |found: &CrashClasses| found.draws.iter().map(|&(time, _)| time).collect::<Vec<_>>();
    assert_eq!(times(&some), times(&draw(12, 1)));
    assert_ne!(times(&some), times(&draw(12, 2)));
    // Where there are no more than may be looked at, all are.
    let most = draw(whole.instants, 1);
    assert!(most.draws.is_empty());
    assert_eq!(most.classes, whole.classes);
    // The mean of many uniform times is the middle, within a few standard errors (of 1,000 times: 0.9 % of the window).
    let (start, end) = (request.window.start.0 as f64, request.window.end.0 as f64);
    let narrow = CrashSearch { limit: Some(40), ..request.clone() };
    let all_times: Vec<Nanos> = (0..25)
        .flat_map(|seed| {
            let request = CrashSearch { seed, ..narrow.clone() };
            let found =
                find_classes(recorded.recording.path(), history, &request, &mut |_| RunControl::Continue);
            times(&found.unwrap().unwrap())
        })
        .collect();
    let mean = all_times.iter().map(|time| time.0 as f64).sum::<f64>() / all_times.len() as f64;
    assert_eq!(all_times.len(), 1000);
    assert!(((mean - start) / (end - start) - 0.5).abs() < 0.04, "{mean}");
}

#[test]
fn a_recording_gives_the_states_of_its_device() {
    let recorded = live(&drive("volatile", ""), 8, 40);
    let plan = |models: &str, more: &str| {
        let spec: PlanSpec = serde_json::from_str(&format!("{{\"models\": [{models}]{more}}}")).unwrap();
        let planned = recorded.recording.plan(&spec, &mut |_| RunControl::Continue);
        planned.map(Option::unwrap).map_err(|error| error.to_string())
    };
    let history = recorded.recording.history();
    let (whole, request) = search_all(&recorded, CrashModel::Drive);
    let plan_of_drive = plan("\"drive\"", "").unwrap();
    assert_eq!(plan_of_drive.len(), whole.classes.len());
    let facts = &plan_of_drive.facts["drive"];
    assert_eq!((facts.cuts, facts.all_cuts), (whole.instants, whole.instants));
    assert_eq!(facts.window_ns, request.window.end.0 - request.window.start.0);
    for index in 0..plan_of_drive.len() {
        let state = plan_of_drive.state(history, index).unwrap();
        // Named by its text it is the same, with the one stretch that has its time.
        let again = recorded.recording.state(&state.id.to_string().parse().unwrap()).unwrap();
        assert_eq!((again.id.to_string(), &again.lost), (state.id.to_string(), &state.lost));
    }
    let both = plan(
        "\"late:2ms\", \"fault\"",
        ", \"faults\": [{\"kind\": \"block\", \"die\": 0, \"plane\": 0, \"block\": 0}]",
    )
    .unwrap();
    assert!(both.facts["fault"].distinct > 1 && both.facts["late:2ms"].distinct > 1);
    let spec: PlanSpec = serde_json::from_str("{\"models\": [\"drive\"]}").unwrap();
    assert!(
        recorded.recording.plan(&spec, &mut |_| RunControl::Stop).unwrap().is_none(),
        "it can be stopped"
    );
    let refused = plan("\"floods\"", "").unwrap_err();
    assert!(refused.starts_with("model = floods: must be contract, drive"), "{refused}");
}

//! What a machine leaves when its power fails: is it what a copy of that machine really holds, at every instant, and what its promises allow?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/recorded.rs"]
mod recorded;

use outlast_engine::Scenario;
use outlast_torture::drive::{Found, Request, What, classes, state};
use outlast_torture::{CrashState, History};
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SECTOR_BYTES};
use proptest::prelude::*;
use recorded::{DRIVE, Host, Recorded, cut, read_all, scenario};

fn drive(cache: &str, more: &str) -> Scenario {
    scenario(&format!("{}\n{more}", DRIVE.replace("CACHE", cache)))
}

fn live(scenario: &Scenario, seed: u64, commands: u64) -> Recorded {
    let mut host = Host::new(scenario);
    host.random(&mut SplitMix::new(seed, "host"), commands, true);
    host.finish()
}

fn all(recorded: &Recorded, what: What) -> (Found, Request) {
    let history = recorded.recording.history();
    let request = Request::new(history, what);
    let found =
        classes(recorded.recording.path(), history, &request, &mut |_| outlast_engine::Control::Continue);
    (found.unwrap().unwrap(), request)
}

fn at(recorded: &Recorded, what: &What, at: Nanos) -> Option<CrashState> {
    let (path, history) = (recorded.recording.path(), recorded.recording.history());
    state(path, history, what, at, &mut |_| outlast_engine::Control::Continue).unwrap()
}

/// Whether the contract allows what is lost of `state`, and there is nothing else wrong with it.
fn is_allowed(history: &History, state: &CrashState) -> bool {
    let same = CrashState::of(history, state.cut, state.lost.clone());
    same.id.model() == "contract" && state.odd.is_empty() && state.bad.is_empty() && state.refused.is_none()
}

/// What each sector of a state holds; none where it cannot be read.
fn sectors(history: &History, state: &CrashState) -> Vec<Option<Vec<u8>>> {
    let mut bytes = vec![0; (history.capacity * SECTOR_BYTES) as usize];
    state.read(history, 0, &mut bytes).unwrap();
    let is_bad = |lba| state.bad.iter().any(|run| (run.lba.0..run.lba.0 + run.sectors).contains(&lba));
    let whole = bytes.chunks_exact(SECTOR_BYTES as usize).map(<[u8]>::to_vec);
    (0..).zip(whole).map(|(lba, sector)| (!is_bad(lba)).then_some(sector)).collect()
}

/// The class of a time; there is exactly one.
fn class_of(found: &Found, at: Nanos) -> &CrashState {
    let has = |state: &&CrashState| state.spans.iter().any(|&(from, until)| (from..until).contains(&at));
    let mut those = found.classes.iter().filter(has);
    let class = those.next().unwrap_or_else(|| panic!("no class has {at}"));
    assert!(those.next().is_none(), "two classes have {at}");
    class
}

/// That the spans of all classes cover the window and do not overlap.
fn check_spans(found: &Found, request: &Request) {
    let mut spans: Vec<_> = found.classes.iter().flat_map(|state| state.spans.clone()).collect();
    spans.sort_unstable();
    assert_eq!((spans[0].0, spans.last().unwrap().1), (request.window.start, request.window.end));
    assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0), "{spans:?}");
    for state in &found.classes {
        assert!(
            state.spans.windows(2).all(|pair| pair[0].1 < pair[1].0),
            "spans of a class that touch are one"
        );
        assert_eq!(state.spans[0].0, state.at);
    }
}

/// Compares classes with what copies of the machine hold whose power fails at random times.
fn compare(
    recorded: &Recorded,
    what: &What,
    machine: &Scenario,
    found: &Found,
    request: &Request,
    seed: u64,
) {
    let history = recorded.recording.history();
    let mut rng = SplitMix::new(seed, "times");
    for number in 0..12 {
        // Some just when something happens, or just before.
        let span = class_of(
            found,
            request.window.start + Nanos(rng.below((request.window.end - request.window.start).0)),
        );
        let time = match number % 3 {
            0 => span.spans[0].0,
            1 => Nanos(span.spans[0].1.0 - 1),
            _ => span.spans[0].0 + Nanos(rng.below((span.spans[0].1 - span.spans[0].0).0)),
        };
        let mut copy = recorded.machine_at(machine, time);
        cut(&mut copy);
        let truth = read_all(&mut copy);
        let class = class_of(found, time);
        assert!(sectors(history, class) == truth, "{} is not what is there at {time}", class.id);
        let single = at(recorded, what, time).unwrap();
        assert!(sectors(history, &single) == truth, "{} is not what is there", single.id);
        assert_eq!(single.cut, history.cut_at(time));
        let marks = |state: &CrashState| history.mark_at(state.cut).map(|mark| mark.event);
        assert_eq!(marks(&single), marks(class));
        if *what == What::Drive {
            assert!(is_allowed(history, &single), "{} is not allowed: {:?}", single.id, single.lost);
        }
    }
}

/// The writes of what is lost, in words, and those that overlap them.
fn told(history: &History, state: &CrashState) -> String {
    let told = |piece: &outlast_torture::Piece| {
        let overlaps =
            history.writes.iter().enumerate().filter(|(_, write)| write.range().contains(&piece.lba));
        let lines = overlaps.map(|(number, write)| {
            format!(
                "{number} {:?} trim {} fua {} {}..{:?} covered {:?}\n",
                write.range(),
                write.is_trim,
                write.fua,
                write.submitted,
                write.completed,
                write.covered
            )
        });
        format!("{piece:?}:\n{}", lines.collect::<String>())
    };
    format!("cut {}\n{}", state.cut, state.lost.iter().map(told).collect::<String>())
}

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
        let (found, request) = all(&recorded, What::Drive);
        check_spans(&found, &request);
        for class in &found.classes {
            prop_assert!(is_allowed(recorded.recording.history(), class), "{} lacks {:?}, odd {:?}\n{}", class.id, class.lost, class.odd.iter().map(|odd| odd.lba).collect::<Vec<_>>(), told(recorded.recording.history(), class));
        }
        compare(&recorded, &What::Drive, &recorded.scenario, &found, &request, seed);
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

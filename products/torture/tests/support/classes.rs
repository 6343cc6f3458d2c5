//! Comparison of classes of crash states with copies of the recorded device that lose their power.
#![allow(dead_code, reason = "each test binary uses its own part")]

use crate::recorded::{DRIVE, Host, Recorded, cut, read_all, scenario};
use outlast_engine::Scenario;
use outlast_serve::ServedDevice;
use outlast_torture::drive::{CrashClasses, CrashModel, CrashSearch, find_classes, find_state};
use outlast_torture::{CommandHistory, CrashState};
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::ops::Range;

pub(crate) fn drive(cache: &str, more: &str) -> Scenario {
    scenario(&format!("{}\n{more}", DRIVE.replace("CACHE", cache)))
}

pub(crate) fn live(scenario: &Scenario, seed: u64, commands: u64) -> Recorded {
    let mut host = Host::new(scenario);
    host.random(&mut SplitMix::new(seed, "host"), commands, true);
    host.finish()
}

pub(crate) fn search_all(recorded: &Recorded, what: CrashModel) -> (CrashClasses, CrashSearch) {
    let history = recorded.recording.history();
    let request = CrashSearch::new(history, what);
    let found = find_classes(recorded.recording.path(), history, &request, &mut |_| {
        outlast_engine::RunControl::Continue
    });
    (found.unwrap().unwrap(), request)
}

pub(crate) fn state_at(recorded: &Recorded, what: &CrashModel, at: Nanos) -> Option<CrashState> {
    let (path, history) = (recorded.recording.path(), recorded.recording.history());
    find_state(path, history, what, at, &mut |_| outlast_engine::RunControl::Continue).unwrap()
}

/// True if `state` only lacks writes that the contract allows to be lost, and has no odd or unreadable sectors.
pub(crate) fn is_allowed(history: &CommandHistory, state: &CrashState) -> bool {
    let same = CrashState::of(history, state.cut, state.lost.clone());
    same.id.model() == "contract" && state.odd.is_empty() && state.bad.is_empty() && state.refused.is_none()
}

/// Bytes of each sector of a state; `None` if it is unreadable.
pub(crate) fn sectors(history: &CommandHistory, state: &CrashState) -> Vec<Option<Vec<u8>>> {
    let mut bytes = vec![0; (history.capacity * SECTOR_BYTES) as usize];
    state.read(history, 0, &mut bytes).unwrap();
    let is_bad = |lba| state.bad.iter().any(|run| (run.lba.0..run.lba.0 + run.sectors).contains(&lba));
    let whole = bytes.chunks_exact(SECTOR_BYTES as usize).map(<[u8]>::to_vec);
    (0..).zip(whole).map(|(lba, sector)| (!is_bad(lba)).then_some(sector)).collect()
}

/// The class with a span that contains `at`, if there is one.
pub(crate) fn class_of(found: &CrashClasses, at: Nanos) -> Option<&CrashState> {
    let has = |state: &&CrashState| state.spans.iter().any(|&(from, until)| (from..until).contains(&at));
    let mut matching = found.classes.iter().filter(has);
    let class = matching.next();
    assert!(matching.next().is_none(), "two classes have {at}");
    class
}

/// Asserts that the contract allows every state of the device, and that each is the content of a copy that loses its power.
pub(crate) fn check_promises(recorded: &Recorded, seed: u64) {
    let found = search_all(recorded, CrashModel::Drive);
    check_spans(&found);
    let history = recorded.recording.history();
    for class in &found.0.classes {
        assert!(
            is_allowed(history, class),
            "{} is not allowed: {}",
            class.id,
            describe_losses(history, class)
        );
    }
    compare(recorded, &recorded.scenario, &found, seed, cut);
}

/// Asserts that the spans of all classes cover the window and do not overlap.
pub(crate) fn check_spans((found, request): &(CrashClasses, CrashSearch)) {
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

/// Compares classes with the content of copies of the device, made from `machine`, to which `fail` happens at random times; `fail` returns false if
/// the copy does not start.
pub(crate) fn compare(
    recorded: &Recorded,
    machine: &Scenario,
    (found, request): &(CrashClasses, CrashSearch),
    seed: u64,
    fail: impl Fn(&mut ServedDevice) -> bool,
) {
    let history = recorded.recording.history();
    let mut rng = SplitMix::new(seed, "times");
    let mut spans: Vec<_> = found.classes.iter().flat_map(|state| state.spans.clone()).collect();
    spans.sort_unstable();
    for number in 0..12 {
        // Some just when something happens, or just before, and the others uniformly.
        let (from, until) = spans[rng.below(spans.len() as u64) as usize];
        let Range { start, end } = request.window;
        let time = match number % 3 {
            0 => from,
            1 => Nanos(until.0 - 1),
            _ => start + Nanos(rng.below((end - start).0)),
        };
        let (class, single) = (class_of(found, time), state_at(recorded, &request.model, time));
        let (Some(class), Some(single)) = (class, &single) else {
            assert!(class.is_none() && single.is_none(), "there is a state at {time}, or there is none");
            continue;
        };
        assert_eq!(single.cut, history.cut_at(time));
        let mark = |state: &CrashState| history.mark_at(state.cut).map(|mark| mark.event);
        assert_eq!(mark(single), mark(class));
        let mut copy = recorded.machine_at(machine, time);
        let starts = fail(&mut copy);
        assert_eq!((class.refused.is_none(), single.refused.is_none()), (starts, starts), "{}", single.id);
        if starts {
            let truth = read_all(&mut copy);
            assert!(sectors(history, class) == truth, "{} is not what is there at {time}", class.id);
            assert!(sectors(history, single) == truth, "{} is not what is there", single.id);
            if request.model == CrashModel::Drive {
                assert!(
                    is_allowed(history, single),
                    "{} is not allowed: {}",
                    single.id,
                    describe_losses(history, single)
                );
            }
        }
    }
}

/// Describes the lost writes of a state, and those that overlap them.
pub(crate) fn describe_losses(history: &CommandHistory, state: &CrashState) -> String {
    let describe = |piece: &outlast_torture::WritePiece| {
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
    format!("cut {}\n{}", state.cut, state.lost.iter().map(describe).collect::<String>())
}

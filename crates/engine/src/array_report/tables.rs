//! Tables of an array in the result: events, states over time, lost sectors.

use super::{end_of, spans};
use crate::facts::RunFacts;
use crate::table::{ResultColumn, ResultTable};
use crate::volume::ArrayVolume;
use outlast_array::{ArrayEventKind, ArrayHealth};

/// Tables of the array. `array_events`: what happened to members; `array_states`: the array's state over time;
/// `array_lost`: sectors whose data is lost.
pub(crate) fn array_tables(facts: &RunFacts<'_>, volume: &ArrayVolume) -> Vec<(String, ResultTable)> {
    let events = volume.array.events();
    let mut table = ResultTable::default();
    table.measures("at_s", events.iter().map(|event| event.at.as_secs_f64()));
    let (mut names, mut members, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for event in events {
        let (name, member, detail) = describe(&event.kind);
        names.push(name.to_owned());
        members.push(member.map_or(f64::NAN, |member| member as f64));
        words.push(detail);
    }
    table.push("event", ResultColumn::Text(names));
    table.push("member", ResultColumn::F64(members));
    table.push("detail", ResultColumn::Text(words));
    let spans = spans(volume, end_of(facts, volume));
    let mut states = ResultTable::default();
    states.measures("start_s", spans.iter().map(|span| span.from.as_secs_f64()));
    states.measures("end_s", spans.iter().map(|span| span.until.as_secs_f64()));
    let name = |state: ArrayHealth| match state {
        ArrayHealth::Clean => "clean",
        ArrayHealth::Degraded => "degraded",
        ArrayHealth::Failed => "failed",
    };
    states.push("state", ResultColumn::Text(spans.iter().map(|span| name(span.state).to_owned()).collect()));
    let lost: Vec<std::ops::Range<u64>> = volume.array.lost().iter().collect();
    let mut places = ResultTable::default();
    places.counts("first_sector", lost.iter().map(|range| range.start));
    places.counts("sectors", lost.iter().map(|range| range.end - range.start));
    vec![
        ("array_events".to_owned(), table),
        ("array_states".to_owned(), states),
        ("array_lost".to_owned(), places),
    ]
}

fn describe(kind: &ArrayEventKind) -> (&'static str, Option<usize>, String) {
    match kind {
        ArrayEventKind::MemberFailed { member, failed: false } => {
            ("member failed", Some(member.index()), String::new())
        }
        ArrayEventKind::MemberFailed { member, .. } => {
            ("member failed", Some(member.index()), "more is missing than redundancy makes good".to_owned())
        }
        ArrayEventKind::Replaced { member, ages } => {
            let ages: Vec<String> =
                ages.iter().map(|age| age.map_or("-".to_owned(), |age| format!("{age:.2}"))).collect();
            ("replaced", Some(member.index()), format!("ages before: {}", ages.join(", ")))
        }
        ArrayEventKind::RebuildStarted { member } => ("rebuild started", Some(member.index()), String::new()),
        ArrayEventKind::Rebuilt { member } => ("rebuilt", Some(member.index()), String::new()),
        ArrayEventKind::ShiftStarted { parity_moves, period } => {
            ("parity moves", None, format!("{parity_moves} parity chunks in every {period} stripes"))
        }
        ArrayEventKind::ShiftDone => ("parity moved", None, String::new()),
        ArrayEventKind::Resynced => ("resynchronised", None, String::new()),
        ArrayEventKind::Repair { member, die, step } => {
            (step.name(), Some(member.index()), format!("die {die}"))
        }
        ArrayEventKind::Scrubbed { mismatches } => ("scrubbed", None, format!("{mismatches} mismatches")),
        ArrayEventKind::PowerFailed { aborted } => {
            ("power failed", None, format!("{aborted} commands aborted"))
        }
        ArrayEventKind::NotStarted { groups } => {
            ("not started", None, format!("{groups} stripes may be inconsistent and a member is missing"))
        }
        ArrayEventKind::ReadOnly { member } => ("read-only", Some(member.index()), String::new()),
    }
}

//! Does what is done between two steps of a run happen: faults, requests and losses of power by hand?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Op, Outcome};
use outlast_engine::{RunResult, Simulation};
use outlast_units::Lba;
use support::steps::{ARRAY, CLOSED, FinishAtEnd, LANES, OPEN, drive, go, made, made_on, once, step};
use support::stripped;

/// A fault by hand strikes as one of the scenario that is due when the same request completes.
#[test]
fn an_injected_fault_has_the_effect_of_a_scheduled_one() {
    let mut by_hand =
        Simulation::new(made(&["[device.protection]\ndata = 7\nparity = 1\n", CLOSED])).unwrap();
    let at = step(&mut by_hand, Some(3000), None).now;
    let fault = r#"{"kind": "die", "die": 3, "at": "0ns"}"#;
    by_hand.inject(&serde_json::from_str(fault).unwrap(), &mut go).unwrap();
    let injected = by_hand.finish_at_end();
    let scheduled = format!("[[faults]]\nkind = \"die\"\ndie = 3\nat = \"{}ns\"\n", at.0 + 1);
    let parts = ["[device.protection]\ndata = 7\nparity = 1\n", CLOSED, &scheduled];
    let planned = once(made(&parts));
    let [mut one, mut other] = [&injected, &planned].map(|result| stripped(&result.summary));
    for json in [&mut one, &mut other] {
        json["scenario"].as_object_mut().unwrap().remove("faults");
        json.as_object_mut().unwrap().remove("notes");
        // Reads are looked at for errors from when a fault is expected on.
        json["reliability"]["corrected_by"].as_object_mut().unwrap().remove("ecc");
    }
    // The one that is scheduled strikes a nanosecond later, for every page that is then without parity.
    let exposed = [&mut one, &mut other].map(|json| {
        let class = json["protection"]["by_class"][0].as_object_mut().unwrap();
        let seconds = class.remove("unprotected_page_seconds").unwrap().as_f64().unwrap();
        let pages = class["pages"].as_f64().unwrap();
        let loss = json["protection"]["redundancy"]["losses"][0].as_object_mut().unwrap();
        (seconds, pages, loss.remove("at_s").unwrap().as_f64().unwrap())
    });
    assert!((exposed[0].0 - exposed[1].0).abs() <= exposed[0].1 * 1e-9, "{exposed:?}");
    assert!((exposed[1].2 - exposed[0].2 - 1e-9).abs() < 1e-12, "{exposed:?}");
    for (group, figures) in one.as_object().unwrap() {
        assert_eq!(figures, &other[group], "{group}");
    }
    assert!(
        injected.summary.notes.iter().any(|note| note.contains("injected")),
        "{:?}",
        injected.summary.notes
    );
}

#[test]
fn a_request_beside_the_workload_completes_and_does_not_count_for_the_host() {
    let closed = CLOSED.replace("warm_up = \"2ms\"\n", "");
    for parts in [&[&closed[..]][..], &[OPEN], &[LANES], &[ARRAY, &closed]] {
        let mut simulation = Simulation::new(made(parts)).unwrap();
        for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
            let sectors = if op == Op::Flush { 0 } else { 16 };
            let command = Command::new(op, Lba(64), sectors);
            let extra = simulation.submit(command, &mut go, None).unwrap().unwrap();
            let (at, outcome) = extra.completed.unwrap();
            assert_eq!(outcome, Outcome::Ok);
            assert!(at >= extra.submitted && (op != Op::Read || at > extra.submitted), "{extra:?}");
            step(&mut simulation, Some(100), None);
        }
        let (stepped, whole) = (simulation.finish_at_end(), once(made(parts)));
        let requests = |result: &RunResult| {
            let host = &result.summary.host;
            host.reads + host.writes + host.trims + host.flushes
        };
        assert_eq!(requests(&stepped), requests(&whole));
        simulation.self_check().unwrap();
    }
}

#[test]
fn power_can_fail_and_return_between_two_steps() {
    let volatile = drive().controller("write_cache = \"volatile\"");
    let array = [ARRAY, CLOSED];
    for (drive, parts) in
        [(&volatile, &[CLOSED][..]), (&volatile, &[OPEN]), (&volatile, &[LANES]), (&drive(), &array)]
    {
        let mut simulation = Simulation::new(made_on(drive, parts)).unwrap();
        step(&mut simulation, Some(2000), None);
        let force = if parts.contains(&ARRAY) { r#", "force": true"# } else { "" };
        let cut = format!(r#"{{"kind": "power", "at": "0ns"{force}}}"#);
        simulation.inject(&serde_json::from_str(&cut).unwrap(), &mut go).unwrap();
        step(&mut simulation, Some(1000), None);
        simulation.self_check().unwrap();
        simulation.finish_at_end();
    }
}

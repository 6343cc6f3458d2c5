//! Liars, and drives of which something breaks at the cut: what they leave is what copies of them hold, and it is as bad as it should be.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::classes;
use crate::recorded;

use classes::{check_spans, compare, drive, is_allowed, live, search_all};
use outlast_media::{FaultKind, FaultSpec};
use outlast_serve::DeviceInput;
use outlast_settings::drive::FlushPolicy;
use outlast_torture::CrashState;
use outlast_torture::drive::CrashModel;
use outlast_units::{Bytes, Nanos};
use recorded::{Host, cut};

#[test]
fn a_device_that_lies_about_flushes_loses_covered_writes() {
    for policy in
        [FlushPolicy::Ignore, FlushPolicy::Late(Nanos::micros(300)), FlushPolicy::Late(Nanos::millis(100))]
    {
        let mut liar = drive("volatile", "");
        let honest = live(&liar, 5, 120);
        liar.device.controller.flush = policy;
        let found = search_all(&honest, CrashModel::Liar(policy));
        check_spans(&found);
        compare(&honest, &liar, &found, 5, cut);
        let history = honest.recording.history();
        let bad = found.0.classes.iter().filter(|state| !is_allowed(history, state)).count();
        // One that is late by little loses little.
        let least = if policy == FlushPolicy::Late(Nanos::micros(300)) { 0 } else { 2 };
        assert!(bad > least, "{policy:?}: {bad} of {} classes", found.0.classes.len());
        assert!(found.0.classes.iter().all(|state| state.odd.is_empty() && state.bad.is_empty()));
        let witnesses = found.0.classes.iter().flat_map(|state| state.witnesses(history));
        assert!(witnesses.into_iter().any(|witness| witness.flush.is_some()));
    }
}

/// Parity of stripes that are not full lies in a buffer that is lost, so something is lost with a die also where there is parity; much less.
#[test]
fn a_broken_die_loses_what_parity_cannot_rebuild() {
    let lost = ["", "[device.protection]\ndata = 3\n"].map(|more| {
        let recorded = live(&drive("off", more), 6, 60);
        let mut die = FaultSpec::new(Nanos::ZERO, FaultKind::Die);
        die.die = Some(1);
        let found = search_all(&recorded, CrashModel::Fault(Box::new(die.clone())));
        check_spans(&found);
        compare(&recorded, &recorded.scenario, &found, 6, |machine| {
            machine.apply(machine.now(), &DeviceInput::Fault(&die)).unwrap();
            cut(machine)
        });
        found.0.classes.iter().flat_map(|state| &state.bad).map(|run| run.sectors).sum::<u64>()
    });
    assert!(lost[0] > 500 && lost[1] < lost[0] / 3, "{lost:?}");
}

#[test]
fn a_tear_hits_units_being_programmed_and_no_covered_write() {
    for (torn, shorn) in [(Some(Bytes(512)), None), (None, Some("3/8"))] {
        let mut host = Host::new(&drive("volatile", ""));
        // Written again and again, so that there is something old to be seen.
        for _ in 0..6 {
            for unit in 0..6 {
                host.submit(outlast_device::Op::Write, unit * 8, 8, false);
            }
            host.submit(outlast_device::Op::Flush, 0, 0, false);
            host.wait(0);
        }
        let recorded = host.finish();
        let mut power = FaultSpec::new(Nanos::ZERO, FaultKind::Power);
        power.torn = torn;
        power.shorn = shorn.map(|share| share.parse().unwrap());
        let found = search_all(&recorded, CrashModel::Fault(Box::new(power.clone())));
        check_spans(&found);
        compare(&recorded, &recorded.scenario, &found, 7, |machine| {
            let tear = machine.scenario().tear("power", &power).unwrap();
            machine.apply(machine.now(), &DeviceInput::Tear(tear)).unwrap();
            cut(machine)
        });
        let history = recorded.recording.history();
        let is_covered = |state: &CrashState| {
            let same = CrashState::of(history, state.cut, state.lost.clone());
            same.id.model() != "contract"
        };
        assert!(!found.0.classes.iter().any(is_covered));
        // A share of a unit that ends within a sector mixes old and new; sectors are whole otherwise, and parts of a unit are lost.
        let partly = |state: &CrashState| state.lost.iter().any(|piece| piece.sectors < 8);
        assert!(found.0.classes.iter().any(partly), "nothing was torn");
    }
}

#[test]
fn a_name_gives_the_fault_again() {
    for name in [
        "drive",
        "ignore",
        "late",
        "late:2ms",
        "die3",
        "die3-of1",
        "chip1.0",
        "plane3.1",
        "block3.0.17",
        "page3.0.17.5",
        "wordline3.0.17.5",
        "shorn3.8",
        "torn512",
        "array1",
        "array1-forced",
        "array1-synced",
    ] {
        let what: CrashModel = name.parse().unwrap();
        assert_eq!(what.to_string(), name);
    }
    for name in [
        "contract",
        "die",
        "die3.1",
        "die70000",
        "late:x",
        "array",
        "array1-x",
        "page1.2.3",
        "shorn9.8",
        "flood1",
    ] {
        let error = name.parse::<CrashModel>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("model = {name}: must be contract, drive")), "{error}");
    }
}

#[test]
fn a_model_that_does_not_fit_the_device_is_refused() {
    let scenario = drive("protected", "");
    let refused = |model: &str, faults: &str| {
        let faults: Vec<serde_json::Value> = serde_json::from_str(faults).unwrap();
        CrashModel::of_model(model, &scenario, &faults).unwrap_err().to_string()
    };
    assert!(refused("ignore", "[]").contains("write_cache"), "{}", refused("ignore", "[]"));
    assert_eq!(refused("array", "[]"), "model = array: needs an array: there is no [array]");
    assert_eq!(refused("array1", "[]"), "model = array1: needs an array: there is no [array]");
    assert!(refused("die4", "[]").contains("must be less than 4"), "{}", refused("die4", "[]"));
    assert!(refused("fault", r#"[{"kind": "die", "die": 9}]"#).contains("must be less than 4"));
    assert!(
        refused("fault", r#"[{"kind": "erase", "die": 1, "plane": 0, "block": 3}]"#)
            .contains("must be a page")
    );
    assert!(refused("fault", r#"[{"kind": "die", "die": 1, "at": "1s"}]"#).contains("must be absent"));
    assert_eq!(CrashModel::of_model("fault", &scenario, &[]).unwrap().len(), 1);
}

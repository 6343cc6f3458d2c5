//! Does the battery reach what it is there for?

use super::battery;
use super::digest;
use std::collections::BTreeSet;

#[test]
fn every_case_can_be_read_and_has_a_name_of_its_own() {
    let cases = battery::all();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "two cases have one name");
    for case in &cases {
        assert!(case.work.is_ok(), "{}: {:?}", case.name, case.work.as_ref().err());
    }
    for group in [
        "bench/",
        "presets/",
        "hrm/",
        "msapl/",
        "reparo/",
        "flexible/",
        "diffraid/",
        "demo/",
        "drive/",
        "array/",
    ] {
        assert!(names.iter().any(|name| name.starts_with(group)), "nothing of {group}");
    }
    assert!(names.iter().filter(|name| name.starts_with("random/")).count() >= 60);
}

/// The same case gives the same hash, and another seed another one.
#[test]
fn a_hash_is_of_the_result_and_of_nothing_else() {
    let mut cases = battery::all();
    let plain = cases.iter_mut().find(|case| case.name == "drive/plain").unwrap();
    let first = digest::hash(&plain.text().unwrap());
    assert_eq!(digest::hash(&plain.text().unwrap()), first);
    let Ok(battery::CaseWork::Scenario(scenario)) = &mut plain.work else { panic!("it is a scenario") };
    scenario.seed += 1;
    assert_ne!(digest::hash(&plain.text().unwrap()), first);
}

/// Each repair of a published scenario finds what a die took with it, and makes it good.
#[test]
fn repairs_find_and_recover() {
    let cases = battery::all();
    for name in
        ["demo/assist", "demo/cdr", "demo/cdr-star", "demo/idr", "presets/pm1643-raid5", "reparo/table1"]
    {
        let text = cases.iter().find(|case| case.name == name).unwrap().text().unwrap();
        let figure = |name: &str| {
            let (_, rest) = text.split_once(&format!("\"{name}\": ")).unwrap();
            rest.split([',', '\n']).next().unwrap().parse::<f64>().unwrap_or(0.0)
        };
        for part in ["failed_units", "identify_s", "recover_s", "finished_s", "bytes_written"] {
            assert!(figure(part) > 0.0, "{name}: {part}");
        }
    }
}

//! Scenarios in a few lines, and what the tests look at in a result.
#![allow(dead_code, reason = "each test binary uses its own part")]

mod drive;
pub(crate) mod steps;

pub(crate) use drive::DriveText;
use outlast_engine::{ResultTable, RunControl, RunResult, RunSummary, Scenario, Simulation, parse_text};

/// A scenario from its text.
pub(crate) fn scenario(text: &str) -> Scenario {
    parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}")).0
}

/// A run to its end, with the drive as it was left.
pub(crate) struct Run {
    pub(crate) simulation: Simulation,
    pub(crate) result: RunResult,
}

impl Run {
    pub(crate) fn summary(&self) -> &RunSummary {
        &self.result.summary
    }

    pub(crate) fn table(&self, name: &str) -> &ResultTable {
        let table = self.result.tables.iter().find(|(table, _)| table == name);
        &table.unwrap_or_else(|| panic!("no table {name}")).1
    }

    pub(crate) fn write_amplification(&self) -> f64 {
        self.summary().write_amplification.as_ref().expect("something was written").total
    }
}

/// Runs `scenario` and checks every invariant of the drive afterwards.
pub(crate) fn run(scenario: Scenario) -> Run {
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap_or_else(|error| panic!("{error}"));
    simulation.self_check().unwrap();
    Run { simulation, result }
}

/// `result.json` without what depends on the machine and the moment.
pub(crate) fn stripped(summary: &RunSummary) -> serde_json::Value {
    let mut json = serde_json::to_value(summary).unwrap();
    for (group, keys) in [
        ("time", &["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"][..]),
        ("throughput", &["requests_per_cpu_s"]),
        ("memory", &["peak_rss_mib"]),
    ] {
        for key in keys {
            assert!(json[group].as_object_mut().unwrap().remove(*key).is_some(), "no {group}.{key}");
        }
    }
    json
}

/// Asserts that `measured` is within the share `tolerance` of `expected`.
#[track_caller]
pub(crate) fn assert_close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(error.abs() <= tolerance, "{what}: {measured} against {expected}, {:+.3} %", error * 100.0);
}

//! Cases whose instructions are counted, and the functions of each.

use crate::hashes::digest;
use crate::{array, case, data, errors, protection, traces};
use outlast_engine::{RunControl, RunResult, Simulation, parse_text};
use outlast_units::rng::mix;
use outlast_workload::TraceFormat;

/// One run of the program under callgrind.
pub(crate) struct CountedCase {
    pub(super) name: String,
    kind: CountedWork,
    /// Functions that are counted, each a row of the table.
    pub(super) parts: Vec<CountedFunction>,
}

/// A function whose cost is a row of the table.
pub(super) struct CountedFunction {
    pub(super) row: String,
    /// The end of the function's path.
    pub(super) marker: &'static str,
}

enum CountedWork {
    /// A scenario's text.
    Scenario(String),
    /// An array, and the commands that its members got by themselves; so many of a hundred requests read.
    Array(u64),
    /// The replay of a trace.
    Trace(TraceFormat),
    /// Writes that carry data.
    Data(Box<data::DataCase>),
}

/// Result of a run.
pub(super) struct RunCounts {
    pub(super) hash: u64,
    /// For each counted function, the number of operations that its cost is divided by.
    pub(super) counts: Vec<u64>,
}

/// The run loop, with time and without.
const RUN: &str = "run::LegRunner::run";
const UNTIMED: &str = "run::loops::run_untimed";
const PREPARE: &str = "precondition::prepare";

pub(super) fn all() -> Vec<CountedCase> {
    let mut cases = Vec::new();
    let named =
        |wanted: &'static [&str]| move |case: &case::ScenarioCase| wanted.contains(&case.name.as_str());
    let peers = case::all(true).into_iter();
    let errors = errors::all(true).into_iter().filter(named(&[
        "mixed-errors-off",
        "mixed-errors-corrected",
        "mixed-errors-75-bit",
        "mixed-errors-stripes",
        "read-errors-off",
        "read-errors-corrected",
        "read-errors-stripes",
    ]));
    let bytes = protection::all(true).into_iter().filter(named(&["bytes-off", "bytes-15-1"]));
    for case in peers.chain(errors).chain(bytes) {
        let run = if case.name == "untimed-write" { UNTIMED } else { RUN };
        let mut parts = vec![CountedFunction { row: case.name.clone(), marker: run }];
        match case.name.as_str() {
            "random-write-gc" => {
                parts.push(CountedFunction { row: "prepare-overwrite".to_owned(), marker: PREPARE });
            }
            "mixed-70-30" => parts.push(CountedFunction { row: "prepare-fill".to_owned(), marker: PREPARE }),
            _ => {}
        }
        // So short a run would be divided into windows of a few hundred requests, each with its histograms: one does.
        let scenario = format!("run.window = \"1h\"\n{}", case.scenario);
        cases.push(CountedCase { name: case.name, kind: CountedWork::Scenario(scenario), parts });
    }
    let with_data = ["data-off", "data-15-1", "data-raid5"];
    for case in data::all(true).into_iter().filter(|case| with_data.contains(&case.name.as_str())) {
        let parts = vec![CountedFunction { row: case.name.clone(), marker: "data::write" }];
        cases.push(CountedCase { name: case.name.clone(), kind: CountedWork::Data(Box::new(case)), parts });
    }
    for (name, read_percent) in [("array-mixed", 70), ("array-write", 0)] {
        let parts = vec![
            CountedFunction { row: name.to_owned(), marker: "array::as_array" },
            CountedFunction { row: format!("{name}-members"), marker: "array::as_members" },
        ];
        cases.push(CountedCase { name: name.to_owned(), kind: CountedWork::Array(read_percent), parts });
    }
    for format in traces::FORMATS {
        let name = format!("trace-{format}");
        let parts = vec![CountedFunction { row: name.clone(), marker: "traces::replay" }];
        cases.push(CountedCase { name, kind: CountedWork::Trace(format), parts });
    }
    cases
}

impl CountedCase {
    /// Runs the case.
    pub(super) fn run(&self) -> Result<RunCounts, String> {
        match &self.kind {
            CountedWork::Scenario(text) => scenario(text),
            CountedWork::Array(read_percent) => {
                let (requests, commands) = array::instructions(*read_percent)?;
                // Both are per request of the array's host, so that their ratio is what the array costs beside its members.
                Ok(RunCounts { hash: mix(commands), counts: vec![requests, requests] })
            }
            CountedWork::Data(case) => {
                let hash = digest::hash(&case.run()?.text);
                Ok(RunCounts { hash, counts: vec![case.requests] })
            }
            CountedWork::Trace(format) => {
                let (records, hash) = traces::run(*format)?;
                Ok(RunCounts { hash, counts: vec![records] })
            }
        }
    }
}

fn scenario(text: &str) -> Result<RunCounts, String> {
    let (scenario, _) = parse_text(text).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let result = simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
    let host = &result.summary.host;
    let counts = vec![host.reads + host.writes, prepared(&result)];
    Ok(RunCounts { hash: digest::hash(&digest::text(&result)?), counts })
}

/// Mapping units that were written to prepare the drive.
fn prepared(result: &RunResult) -> u64 {
    let summary = &result.summary;
    let units = summary.device.capacity_bytes / summary.device.mapping_unit;
    let drive_writes = summary.steady_state.precondition.drive_writes;
    ((1.0 + drive_writes) * units as f64) as u64
}

//! All cases, and how they are run.

use super::{digest, layers, published, random};
use crate::case::ScenarioCase;
use crate::{case, data, errors, protection, scale};
use outlast_engine::{RunControl, Scenario, Simulation, parse_text};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// A named run, or the reason why it cannot be made.
pub(crate) struct NamedCase {
    pub(super) name: String,
    pub(super) work: Result<CaseWork, String>,
}

/// Work of a case.
#[derive(Clone)]
pub(super) enum CaseWork {
    /// A scenario.
    Scenario(Box<Scenario>),
    /// Writes that carry data.
    Data(Box<data::DataCase>),
}

impl NamedCase {
    pub(super) fn new(name: String, scenario: Result<Scenario, String>) -> Self {
        Self { name, work: scenario.map(|scenario| CaseWork::Scenario(Box::new(scenario))) }
    }

    /// Runs the case, holds every invariant of what it leaves, and returns the text of its result.
    pub(super) fn text(&self) -> Result<String, String> {
        let work = self.work.clone()?;
        let run = || match work {
            CaseWork::Data(case) => Ok(case.run()?.text),
            CaseWork::Scenario(scenario) => {
                let mut simulation = Simulation::new(*scenario).map_err(|error| error.to_string())?;
                let result =
                    simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
                simulation.self_check()?;
                digest::text(&result)
            }
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("panicked, as said above".to_owned()))
    }
}

/// The quick cases of the benchmarks, the published scenarios made small, drives and arrays of every kind, and random drives.
pub(super) fn all() -> Vec<NamedCase> {
    let benches = [case::all(true), errors::all(true), protection::all(true), scale::all(true)];
    let mut cases: Vec<NamedCase> = benches.into_iter().flatten().map(|case| bench(&case)).collect();
    cases.extend(data::all(true).into_iter().map(|case| {
        let name = format!("bench/{}", case.name);
        NamedCase { name, work: Ok(CaseWork::Data(Box::new(case))) }
    }));
    cases.extend(published::all());
    cases.extend(layers::all("drive", include_str!("drives.toml")));
    cases.extend(layers::all("array", include_str!("arrays.toml")));
    cases.extend(random::all());
    cases
}

fn bench(case: &ScenarioCase) -> NamedCase {
    let scenario = parse_text(&case.scenario).map(|(scenario, _)| scenario);
    NamedCase::new(format!("bench/{}", case.name), scenario.map_err(|error| error.to_string()))
}

/// The texts of the results of `cases`, in their order, made on all cores.
#[allow(clippy::disallowed_methods, reason = "cases have nothing to do with each other")]
pub(super) fn run(cases: &[NamedCase]) -> Vec<Result<String, String>> {
    let next = Mutex::new(0);
    let results = Mutex::new(vec![Err("was not run".to_owned()); cases.len()]);
    let work = || {
        loop {
            let index = {
                let mut next = next.lock().expect("a case does not panic here");
                *next += 1;
                *next - 1
            };
            let Some(case) = cases.get(index) else { return };
            let text = case.text();
            results.lock().expect("a case does not panic here")[index] = text;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    results.into_inner().expect("all threads have ended")
}

//! Running a scenario.

use crate::errors::{InternalError, ScenarioError, of_engine};
use crate::guard::unlocked;
use crate::policies::{self, Given, load_form, load_whole};
use crate::scenario::{Override, RawLayer};
use crate::tables::{self, HeldTables};
use outlast_engine::{Provenance, ResultTable, RunControl, RunProgress, Scenario, Simulation, scenario_of};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two looks at signals and two calls of Python's progress function.
const PERIOD: Duration = Duration::from_millis(100);

/// Runs a scenario and returns its summary as JSON, its tables, and whether it was asked to stop.
///
/// `progress(phase, fraction, requests, simulated_s)` is called about ten times a second; `False` stops the run. The first
/// Ctrl-C stops it too, and what was measured is kept; the second one raises `KeyboardInterrupt`. `rows(columns)` is given the log of requests,
/// piece by piece, where the scenario has one; what it raises ends the run.
#[pyfunction]
#[pyo3(signature = (layers, overrides, progress = None, rows = None, policies = None))]
fn run(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    progress: Option<Py<PyAny>>,
    rows: Option<Py<PyAny>>,
    policies: Option<Given>,
) -> PyResult<(String, HeldTables, bool)> {
    if rows.is_some() {
        tables::prepare(py)?;
    }
    unlocked(py, || {
        let (scenario, provenance) = load_whole(layers, &overrides, policies)?;
        let mut simulation = Simulation::new(scenario).map_err(|error| of_engine(error, &provenance))?;
        let watch = RefCell::new(RunWatch::new(progress));
        let outcome = match &rows {
            None => simulation.run(&mut |now| watch.borrow_mut().look(now)),
            Some(rows) => simulation.run_logged(
                &mut |now| watch.borrow_mut().look(now),
                Some(&mut |part| watch.borrow_mut().pass_on(part, rows)),
            ),
        };
        let watch = watch.into_inner();
        if let Some(error) = watch.failure {
            return Err(error);
        }
        let result = outcome.map_err(|error| of_engine(error, &provenance))?;
        let summary = serde_json::to_string(&result.summary)
            .map_err(|error| InternalError::new_err(error.to_string()))?;
        Ok((summary, HeldTables::new(result.tables), watch.stopping))
    })
}

/// Prepares what a scenario describes and writes it as it then is to the file `path`; false where it was asked to stop: then the file is empty.
#[pyfunction]
#[pyo3(signature = (layers, overrides, path, progress = None, policies = None))]
fn snapshot(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
    policies: Option<Given>,
) -> PyResult<bool> {
    unlocked(py, || {
        let (scenario, provenance) = load_whole(layers, &overrides, policies)?;
        let mut simulation = Simulation::new(scenario).map_err(|error| of_engine(error, &provenance))?;
        let mut watch = RunWatch::new(progress);
        #[allow(clippy::disallowed_methods, reason = "the file that the Python front has staged")]
        let mut file = File::create(path)?;
        let outcome = simulation.snapshot(&mut file, &mut |now| watch.look(now));
        if let Some(error) = watch.failure {
            return Err(error);
        }
        outcome.map_err(|error| of_engine(error, &provenance))
    })
}

/// The scenario, as JSON, whose drive or array is in a snapshot.
#[pyfunction]
fn snapshot_scenario(py: Python<'_>, path: &str) -> PyResult<String> {
    unlocked(py, || scenario_of(path).map_err(|error| ScenarioError::new_err(error.to_string())))
}

/// Checks a scenario as far as can be told without running it; returns the bytes of memory that a run will take beside what the
/// process has. Files of code that it names are looked at from outside, unless `runs_code` says that the user trusts them.
#[pyfunction]
#[pyo3(signature = (layers, overrides, policies = None, *, runs_code = false))]
fn validate(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    policies: Option<Given>,
    runs_code: bool,
) -> PyResult<u64> {
    unlocked(py, || {
        let (scenario, provenance) = looked_at(layers, &overrides, policies, runs_code)?;
        let memory = Simulation::check(&scenario).map_err(|error| of_engine(error, &provenance))?;
        Ok(memory.total())
    })
}

/// As `validate`; returns the bytes of memory, and as JSON what the run will probably cost of processor time.
#[pyfunction]
#[pyo3(signature = (layers, overrides, policies = None, *, runs_code = false))]
fn estimate(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    policies: Option<Given>,
    runs_code: bool,
) -> PyResult<(u64, String)> {
    unlocked(py, || {
        let (scenario, provenance) = looked_at(layers, &overrides, policies, runs_code)?;
        let found = Simulation::estimate(&scenario).map_err(|error| of_engine(error, &provenance))?;
        let effort = serde_json::to_string(&found.effort)
            .map_err(|error| InternalError::new_err(error.to_string()))?;
        Ok((found.memory.total(), effort))
    })
}

fn looked_at(
    layers: Vec<RawLayer>,
    overrides: &[Override],
    policies: Option<Given>,
    runs_code: bool,
) -> PyResult<(Scenario, Provenance)> {
    if runs_code { load_whole(layers, overrides, policies) } else { load_form(layers, overrides) }
}

/// Between the engine and the person who waits: progress out, Ctrl-C in.
pub(crate) struct RunWatch {
    progress: Option<Py<PyAny>>,
    last: Instant,
    pub(crate) stopping: bool,
    /// What Python raised, to be raised again when the engine has returned.
    pub(crate) failure: Option<PyErr>,
}

impl RunWatch {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, last: wall_clock(), stopping: false, failure: None }
    }

    pub(crate) fn look(&mut self, now: &RunProgress) -> RunControl {
        self.stopping |= policies::was_interrupted();
        let time = wall_clock();
        if time.duration_since(self.last) >= PERIOD {
            self.last = time;
            Python::attach(|py| self.ask(py, now));
        }
        if self.stopping { RunControl::Stop } else { RunControl::Continue }
    }

    /// Hands rows of the log to Python's `rows`.
    pub(crate) fn pass_on(&mut self, part: ResultTable, rows: &Py<PyAny>) {
        if self.failure.is_some() {
            return;
        }
        let passed = Python::attach(|py| rows.call1(py, (tables::columns_of(py, part)?,)));
        if let Err(error) = passed {
            self.stopping = true;
            self.failure = Some(error);
        }
    }

    fn ask(&mut self, py: Python<'_>, now: &RunProgress) {
        let answer = py.check_signals().and_then(|()| match &self.progress {
            None => Ok(None),
            Some(progress) => {
                let arguments =
                    (now.phase.to_string(), now.fraction, now.requests, now.simulated.as_secs_f64());
                answer_of(&progress.call1(py, arguments)?.into_bound(py))
            }
        });
        match answer {
            Ok(Some(false)) => self.stopping = true,
            Ok(_) => {}
            Err(error) => {
                // A Ctrl-C may also strike in the middle of Python's progress function.
                let first_interrupt = !self.stopping && error.is_instance_of::<PyKeyboardInterrupt>(py);
                self.stopping = true;
                if !first_interrupt {
                    self.failure = Some(error);
                }
            }
        }
    }
}

/// Answer of a progress function of the caller's; a `ScenarioError` for what is neither yes, no nor `None`.
pub(crate) fn answer_of(answer: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    answer.extract().map_err(|_| {
        let kind = answer.get_type().name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        let told = "must be True, False or None; False stops";
        ScenarioError::new_err(format!("progress: the function gave a value of type {kind}: {told}"))
    })
}

#[allow(clippy::disallowed_methods, reason = "how long a person has waited; no simulated time comes from it")]
fn wall_clock() -> Instant {
    Instant::now()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(snapshot_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)
}

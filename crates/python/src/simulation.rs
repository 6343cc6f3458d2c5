//! A scenario's machine with its workload, run in steps.

use crate::errors::{DeviceError, InternalError, of_engine};
use crate::guard::{guarded, unlocked};
use crate::policies::{Given, load_whole};
use crate::run::RunWatch;
use crate::scenario::{Override, RawLayer};
use crate::tables;
use crate::thread_lock::ThreadLock;
use outlast_device::{Command, Op};
use outlast_engine::{LegGoal, Provenance, RunResult, RunStatus, Simulation as Core};
use outlast_serve::parse_fault;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::fs::File;
use std::path::PathBuf;

/// Where the run stands: simulated nanoseconds, requests done, whether it has ended.
type Stood = (u64, u64, bool);

/// A run that is open. One thread at a time uses it; others wait.
#[pyclass(module = "outlast._core", frozen)]
struct Simulation {
    open: ThreadLock<Open>,
    /// Takes the log of requests, where the scenario has one.
    rows: Option<Py<PyAny>>,
}

struct Open {
    core: Core,
    provenance: Provenance,
}

#[pymethods]
impl Simulation {
    /// Builds what a scenario describes, and prepares it. `rows` takes the log of requests.
    #[new]
    #[pyo3(signature = (layers, overrides, progress = None, rows = None, policies = None))]
    fn new(
        py: Python<'_>,
        layers: Vec<RawLayer>,
        overrides: Vec<Override>,
        progress: Option<Py<PyAny>>,
        rows: Option<Py<PyAny>>,
        policies: Option<Given>,
    ) -> PyResult<Self> {
        tables::prepare(py)?;
        let open = unlocked(py, || {
            let (scenario, provenance) = load_whole(layers, &overrides, policies)?;
            let core = Core::new(scenario).map_err(|error| of_engine(error, &provenance))?;
            Ok(Open { core, provenance })
        })?;
        let made = Self { open: ThreadLock::new(open), rows };
        let log = made.rows.is_some();
        made.watched(py, progress, |core, watch| {
            core.open_logged(&mut |now| watch.borrow_mut().look(now), log)
        })?;
        Ok(made)
    }

    /// Where the run stands.
    fn stand(&self, py: Python<'_>) -> PyResult<Stood> {
        self.with(py, |open| open.stand())
    }

    /// Goes on by so many requests, or by that time; without either to the end.
    #[pyo3(signature = (requests = None, by = None, progress = None))]
    fn advance(
        &self,
        py: Python<'_>,
        requests: Option<u64>,
        by: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Stood> {
        let by = by.map(str::parse::<Nanos>).transpose();
        let by = by.map_err(|error| DeviceError::new_err(format!("seconds: {error}")))?;
        let (now, done, _) = self.stand(py)?;
        let goal = LegGoal {
            requests: requests.map_or(u64::MAX, |more| done.saturating_add(more)),
            time: by.map_or(Nanos::MAX, |by| Nanos(now.saturating_add(by.0))),
        };
        self.step(py, progress, |core, watch| {
            let look = &mut |now: &_| watch.borrow_mut().look(now);
            match &self.rows {
                None => core.advance(&goal, look, None),
                Some(to) => core.advance(&goal, look, Some(&mut |part| watch.borrow_mut().pass_on(part, to))),
            }
        })?;
        self.stand(py)
    }

    /// Something breaks: an entry of `[[faults]]` as JSON, without its time.
    fn inject(&self, py: Python<'_>, entry: &str) -> PyResult<()> {
        let entry = serde_json::from_str(entry).map_err(|error| DeviceError::new_err(error.to_string()))?;
        let fault = parse_fault(&entry).map_err(DeviceError::new_err)?;
        self.step(py, None, |core, watch| core.inject(&fault, &mut |now| watch.borrow_mut().look(now)))
    }

    /// Hands over a request of its own and goes on until it has completed: how it ended, and when it was handed over and completed, in
    /// nanoseconds; nothing where the run has ended.
    fn submit(&self, py: Python<'_>, op: u8, offset: u64, length: u64) -> PyResult<Option<(u8, u64, u64)>> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let op = *ops.get(usize::from(op)).ok_or_else(|| DeviceError::new_err("op: no such operation"))?;
        let sectors =
            u32::try_from(length / SECTOR_BYTES).map_err(|_| DeviceError::new_err("length: too long"))?;
        let command = Command::new(op, Lba(offset / SECTOR_BYTES), sectors);
        let own = self.step(py, None, |core, watch| {
            let look = &mut |now: &_| watch.borrow_mut().look(now);
            match &self.rows {
                None => core.submit(command, look, None),
                Some(to) => {
                    core.submit(command, look, Some(&mut |part| watch.borrow_mut().pass_on(part, to)))
                }
            }
        })?;
        let ended = own.and_then(|own| Some((own.submitted, own.completed?)));
        Ok(ended.map(|(submitted, (at, outcome))| (outcome.kind(), submitted.0, at.0)))
    }

    /// Bytes that the host addresses.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |open| Ok(open.core.capacity().0))
    }

    /// Sums up: the summary as JSON, its tables, and whether it was asked to stop. The run is over then, and is not summed up again.
    #[pyo3(signature = (progress = None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Bound<'py, PyDict>, bool)> {
        let mut stopped = false;
        let result: RunResult = self.step(py, progress, |core, watch| {
            let look = &mut |now: &_| watch.borrow_mut().look(now);
            let result = match &self.rows {
                None => core.finish(look, None),
                Some(to) => core.finish(look, Some(&mut |part| watch.borrow_mut().pass_on(part, to))),
            };
            stopped = watch.borrow().stopping;
            result
        })?;
        let summary = serde_json::to_string(&result.summary)
            .map_err(|error| InternalError::new_err(error.to_string()))?;
        let tables = guarded(|| tables::to_python(py, result.tables))?;
        Ok((summary, tables, stopped))
    }

    /// What is seen of the drive or array, as columns by table.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let seen = self.with(py, |open| Ok(open.core.state()))?;
        guarded(|| tables::to_python(py, seen))
    }

    /// Writes the drive or array as it is to the file `path`; false where it was asked to stop.
    #[pyo3(signature = (path, progress = None))]
    fn snapshot(&self, py: Python<'_>, path: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<bool> {
        #[allow(clippy::disallowed_methods, reason = "the file that the Python front has staged")]
        let mut file = File::create(path)?;
        self.step(py, progress, |core, watch| {
            core.snapshot(&mut file, &mut |now| watch.borrow_mut().look(now))
        })
    }

    /// Checks every invariant; the first broken one is an `InternalError`.
    fn self_check(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |open| open.core.self_check().map_err(InternalError::new_err))
    }
}

impl Open {
    fn stand(&self) -> PyResult<Stood> {
        let stand = self.core.status().ok_or_else(|| DeviceError::new_err("the simulation is over"))?;
        let RunStatus { now, requests, ended } = stand;
        Ok((now.0, requests, ended))
    }
}

impl Simulation {
    /// Calls `work` with the run, without the interpreter lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Open) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        unlocked(py, || self.open.with(work))
    }

    /// As [`Simulation::with`], unless the run is over; progress goes out, and Ctrl-C comes in.
    fn step<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&mut Core, &RefCell<RunWatch>) -> Result<T, outlast_engine::EngineError> + Send,
    ) -> PyResult<T> {
        self.stand(py)?;
        self.watched(py, progress, work)
    }

    /// As [`Simulation::step`], also before the run is open.
    fn watched<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&mut Core, &RefCell<RunWatch>) -> Result<T, outlast_engine::EngineError> + Send,
    ) -> PyResult<T> {
        self.with(py, |open| {
            let watch = RefCell::new(RunWatch::new(progress));
            let outcome = work(&mut open.core, &watch);
            if let Some(error) = watch.into_inner().failure {
                return Err(error);
            }
            outcome.map_err(|error| of_engine(error, &open.provenance))
        })
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()
}

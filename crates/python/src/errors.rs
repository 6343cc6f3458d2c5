//! The core's errors as Python exceptions.

use outlast_engine::{
    EngineError, Provenance, ScenarioError as CoreScenarioError, ServiceError, Simulation, is_loadable,
};
use outlast_workload::WorkloadError as CoreWorkloadError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    outlast,
    OutlastError,
    PyException,
    "Whatever Outlast refuses; the message has a line for each thing that is wrong."
);
create_exception!(
    outlast,
    ScenarioError,
    OutlastError,
    "A scenario is wrong: file, line, setting, value and limit."
);
create_exception!(
    outlast,
    WorkloadError,
    OutlastError,
    "A trace or job file is wrong: file, line, field and value."
);
create_exception!(
    outlast,
    DeviceError,
    OutlastError,
    "The device cannot be built, or cannot go on, as configured."
);
create_exception!(outlast, InternalError, OutlastError, "A defect of Outlast itself; please report it.");

/// A scenario's error; what is wrong in a workload's files keeps its own kind.
pub(crate) fn of_scenario(error: CoreScenarioError) -> PyErr {
    match error {
        CoreScenarioError::Workload(error) => of_workload(error),
        other => ScenarioError::new_err(other.to_string()),
    }
}

/// A workload's error.
pub(crate) fn of_workload(error: CoreWorkloadError) -> PyErr {
    WorkloadError::new_err(error.to_string())
}

/// The engine's error; a setting's comes with the place where it was written.
pub(crate) fn of_engine(error: EngineError, provenance: &Provenance) -> PyErr {
    match error {
        EngineError::Config(error) => {
            of_scenario(placed(CoreScenarioError::invalid(provenance, &error), provenance))
        }
        EngineError::Workload(error) => {
            of_scenario(placed(CoreScenarioError::invalid_workload(provenance, error), provenance))
        }
        endless @ (EngineError::BeyondHorizon { .. } | EngineError::Unanswered { .. }) => {
            WorkloadError::new_err(endless.to_string())
        }
        unread @ EngineError::Checkpoint(_) => DeviceError::new_err(unread.to_string()),
        EngineError::Refused(ServiceError::Config(error)) => ScenarioError::new_err(error.to_string()),
        refused @ EngineError::Refused(_) => DeviceError::new_err(refused.to_string()),
        EngineError::Snapshot(error) => error.into(),
        worn @ EngineError::WornOut { .. } => DeviceError::new_err(worn.to_string()),
    }
}

/// An error of the engine, placed where the user wrote what is at fault.
fn placed(error: CoreScenarioError, provenance: &Provenance) -> CoreScenarioError {
    error.placed(provenance, &|scenario, tried| {
        is_loadable(scenario, tried) && Simulation::check(scenario).is_ok()
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("OutlastError", py.get_type::<OutlastError>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("WorkloadError", py.get_type::<WorkloadError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

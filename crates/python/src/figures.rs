//! The lists that results are made of: causes of programs, reads and latency, columns of the time series, names in the log of requests.

use outlast_engine::{LatencyCause, ProgramCause, REQUEST_KINDS, REQUEST_OUTCOMES, ReadCause, time_columns};
use pyo3::prelude::*;

/// Name, group, label in charts and meaning of every cause of programs.
#[pyfunction]
fn program_causes() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let row = |cause: ProgramCause| (cause.name(), cause.group(), cause.label(), cause.meaning());
    ProgramCause::ALL.map(row).to_vec()
}

/// Name and meaning of every cause of reads.
#[pyfunction]
fn read_causes() -> Vec<(&'static str, &'static str)> {
    ReadCause::ALL.map(|cause| (cause.name(), cause.meaning())).to_vec()
}

/// Name, label in charts and meaning of every cause of latency.
#[pyfunction]
fn latency_causes() -> Vec<(&'static str, &'static str, &'static str)> {
    LatencyCause::ALL.map(|cause| (cause.name(), cause.label(), cause.meaning())).to_vec()
}

/// Names of the kinds of request and of how requests end, by their numbers in the log.
#[pyfunction]
fn request_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (REQUEST_KINDS.to_vec(), REQUEST_OUTCOMES.to_vec())
}

/// Name of every column of the time series, how it is joined, and the columns that joining it needs.
#[pyfunction]
fn time_series_columns() -> Vec<(String, &'static str, Vec<&'static str>)> {
    let row = |column: outlast_engine::TimeColumn| {
        let (rule, needs) = column.join.describe();
        (column.name, rule, needs)
    };
    time_columns().into_iter().map(row).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(program_causes, module)?)?;
    module.add_function(wrap_pyfunction!(read_causes, module)?)?;
    module.add_function(wrap_pyfunction!(latency_causes, module)?)?;
    module.add_function(wrap_pyfunction!(request_names, module)?)?;
    module.add_function(wrap_pyfunction!(time_series_columns, module)?)
}

//! `outlast._core`: what the Python package needs from the simulator, and nothing more.
//!
//! Architecture Invariant: no simulation logic lives here. Each function turns Python's arguments into the core's, releases
//! the interpreter lock, calls the core, and turns the outcome back. Whatever goes wrong becomes one of the exceptions of
//! [`errors`]; a panic never crosses into Python.

mod drive;
mod errors;
mod figures;
mod fio;
mod fleet;
mod guard;
mod models;
mod parquet;
mod points;
mod policies;
mod run;
mod scenario;
mod serve;
mod simulation;
mod tables;
mod thread_lock;
mod torture;
mod trace;

use pyo3::prelude::*;

/// Outlast's simulator. Private: use the package `outlast`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::install();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    figures::register(module)?;
    scenario::register(module)?;
    points::register(module)?;
    run::register(module)?;
    policies::register(module)?;
    drive::register(module)?;
    simulation::register(module)?;
    tables::register(module)?;
    trace::register(module)?;
    fio::register(module)?;
    fleet::register(module)?;
    serve::register(module)?;
    torture::register(module)?;
    parquet::register(module)?;
    models::register(module)
}

//! Ages of the devices of an array with uneven parity.

use super::pages::domain;
use super::{Column, Out, copied, free};
use numpy::IntoPyArray;
use outlast_models::ages::{AgingArray, aging_rates, converges, steady_ages};
use pyo3::prelude::*;

#[pyfunction]
fn model_aging_rates<'py>(
    py: Python<'py>,
    parity_percent: Column<'py>,
    parities: u32,
    full_stripes: f64,
) -> PyResult<Out<'py>> {
    Ok(domain(py, aging_rates(&copied(&parity_percent)?, parities, full_stripes))?.into_pyarray(py))
}

#[pyfunction]
fn model_steady_ages<'py>(py: Python<'py>, rates: Column<'py>, limit: f64) -> PyResult<Out<'py>> {
    Ok(domain(py, steady_ages(&copied(&rates)?, limit))?.into_pyarray(py))
}

#[pyfunction]
fn model_converges(py: Python<'_>, rates: Column<'_>) -> PyResult<bool> {
    domain(py, converges(&copied(&rates)?))
}

/// Time since the one before, position of the worn device, and the ages after it of all devices, for each replacement.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "three columns")]
fn model_replacements<'py>(
    py: Python<'py>,
    rates: Column<'py>,
    ages: Column<'py>,
    limit: f64,
    count: usize,
) -> PyResult<(Out<'py>, Vec<usize>, Out<'py>)> {
    let (rates, ages) = (copied(&rates)?, copied(&ages)?);
    let (elapsed, positions, after) = free(py, || {
        let mut aging = AgingArray::new(&rates, &ages, limit).map_err(|error| error.to_string())?;
        let (mut elapsed, mut positions, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let replacement = aging.replace();
            elapsed.push(replacement.elapsed);
            positions.push(replacement.position);
            after.extend(replacement.ages);
        }
        Ok((elapsed, positions, after))
    })?;
    Ok((elapsed.into_pyarray(py), positions, after.into_pyarray(py)))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_aging_rates, module)?)?;
    module.add_function(wrap_pyfunction!(model_steady_ages, module)?)?;
    module.add_function(wrap_pyfunction!(model_converges, module)?)?;
    module.add_function(wrap_pyfunction!(model_replacements, module)?)
}

//! Data loss of arrays, and the spare space of drives that lose dies.

use super::pages::domain;
use super::{Column, Out, copied, each, each_run, refused};
use numpy::IntoPyArray;
use outlast_models::DomainError;
use outlast_models::array_loss::{
    FailedDevice, expected_second_failures, ln_any_failure, ln_data_loss, ln_data_loss_of_array,
    ln_data_loss_with_parity, ln_double_failure,
};
use outlast_models::dies::{
    balanced_spaces, extra_space, isolated_increase, shared_increase, survivable_failures,
};
use outlast_models::mirrors::MirroredArray;
use outlast_models::mttdl::ParityArray;
use pyo3::prelude::*;

/// ln of the data loss probability of each run of `devices` survivors; `pairs` holds ln UBER of all, then bits read of all.
#[pyfunction]
fn model_ln_data_loss<'py>(py: Python<'py>, pairs: Column<'py>, devices: usize) -> PyResult<Out<'py>> {
    each_run(py, &pairs, 2 * devices, |run| ln_data_loss(&run[..devices], &run[devices..]))
}

/// ln of the data loss probability of each array of `devices` devices of which one fails.
#[pyfunction]
fn model_ln_array_loss<'py>(
    py: Python<'py>,
    ln_uber: Column<'py>,
    devices: usize,
    bits: f64,
    failed: &str,
) -> PyResult<Out<'py>> {
    let failed = match failed {
        "oldest" => FailedDevice::Oldest,
        "any" => FailedDevice::Any,
        other => return Err(refused(py, format!("failed = {other}: must be oldest or any"))),
    };
    each_run(py, &ln_uber, devices, |run| ln_data_loss_of_array(run, bits, failed))
}

#[pyfunction]
fn model_ln_data_loss_with_parity<'py>(
    py: Python<'py>,
    ln_uber: Column<'py>,
    devices: usize,
    chunk_bits: f64,
    stripes: f64,
    spare_parities: u32,
) -> PyResult<Out<'py>> {
    each_run(py, &ln_uber, devices, |run| ln_data_loss_with_parity(run, chunk_bits, stripes, spare_parities))
}

#[pyfunction]
fn model_ln_any_failure<'py>(py: Python<'py>, count: Column<'py>, p: Column<'py>) -> PyResult<Out<'py>> {
    each(py, [&count, &p], |[count, p]| ln_any_failure(count, p))
}

#[pyfunction]
fn model_second_failures<'py>(
    py: Python<'py>,
    repair: Column<'py>,
    failure: Column<'py>,
    devices: Column<'py>,
    exact: bool,
) -> PyResult<Out<'py>> {
    each(py, [&repair, &failure, &devices], |[repair, failure, devices]| {
        if exact {
            ln_double_failure(repair, failure, devices)
        } else {
            expected_second_failures(repair, failure, devices)
        }
    })
}

/// A count that is a whole number below 2^32.
pub(super) fn count(argument: &'static str, value: f64) -> Result<u32, DomainError> {
    if (0.0..4_294_967_296.0).contains(&value) && value.fract() == 0.0 {
        #[allow(clippy::cast_sign_loss, reason = "within 0..2^32")]
        return Ok(value as u32);
    }
    Err(DomainError { argument, value, domain: "a whole number of at least 0" })
}

/// Columns: devices, parities, failure rate, repair rate, latent error rate, scrub rate, read failure.
#[pyfunction]
fn model_mttdl<'py>(py: Python<'py>, columns: Vec<Column<'py>>, parallel_repair: bool) -> PyResult<Out<'py>> {
    let [devices, parities, failure, repair, latent, scrub, read] = columns.as_slice() else {
        return Err(refused(py, format!("columns = {}: must be seven", columns.len())));
    };
    each(py, [devices, parities, failure, repair, latent, scrub, read], |row| {
        ParityArray {
            devices: count("devices", row[0])?,
            parities: count("parities", row[1])?,
            failure_rate: row[2],
            repair_rate: row[3],
            parallel_repair,
            latent_rate: row[4],
            scrub_rate: row[5],
            read_failure: row[6],
        }
        .mean_time_to_data_loss()
    })
}

/// Columns: devices, copies, failure rate, repair rate, read failure; sets of copies as in md's near layout.
#[pyfunction]
fn model_mttdl_mirrors<'py>(py: Python<'py>, columns: Vec<Column<'py>>) -> PyResult<Out<'py>> {
    let [devices, copies, failure, repair, read] = columns.as_slice() else {
        return Err(refused(py, format!("columns = {}: must be five", columns.len())));
    };
    each(py, [devices, copies, failure, repair, read], |row| {
        let (devices, copies) = (count("devices", row[0])?, count("copies", row[1])?);
        let step = MirroredArray::near_step(devices, copies);
        let (failure_rate, repair_rate, read_failure) = (row[2], row[3], row[4]);
        MirroredArray { devices, copies, step, failure_rate, repair_rate, read_failure }
            .mean_time_to_data_loss()
    })
}

#[pyfunction]
fn model_isolated_increase<'py>(py: Python<'py>, dies_per_core: Column<'py>) -> PyResult<Out<'py>> {
    each(py, [&dies_per_core], |[dies]| isolated_increase(dies))
}

#[pyfunction]
fn model_shared_increase<'py>(
    py: Python<'py>,
    cores: Column<'py>,
    dies_per_core: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&cores, &dies_per_core], |[cores, dies]| shared_increase(cores, dies))
}

#[pyfunction]
fn model_extra_space<'py>(
    py: Python<'py>,
    helper_space: Column<'py>,
    dies: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&helper_space, &dies], |[space, dies]| extra_space(space, dies))
}

#[pyfunction]
fn model_survivable_failures<'py>(
    py: Python<'py>,
    utilisation: Column<'py>,
    dies: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&utilisation, &dies], |[utilisation, dies]| survivable_failures(utilisation, dies))
}

#[pyfunction]
fn model_balanced_spaces<'py>(
    py: Python<'py>,
    logical_space: f64,
    dies_left: Column<'py>,
) -> PyResult<Out<'py>> {
    Ok(domain(py, balanced_spaces(logical_space, &copied(&dies_left)?))?.into_pyarray(py))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_ln_data_loss, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_array_loss, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_data_loss_with_parity, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_any_failure, module)?)?;
    module.add_function(wrap_pyfunction!(model_second_failures, module)?)?;
    module.add_function(wrap_pyfunction!(model_mttdl, module)?)?;
    module.add_function(wrap_pyfunction!(model_mttdl_mirrors, module)?)?;
    module.add_function(wrap_pyfunction!(model_isolated_increase, module)?)?;
    module.add_function(wrap_pyfunction!(model_shared_increase, module)?)?;
    module.add_function(wrap_pyfunction!(model_extra_space, module)?)?;
    module.add_function(wrap_pyfunction!(model_survivable_failures, module)?)?;
    module.add_function(wrap_pyfunction!(model_balanced_spaces, module)?)
}

//! Data loss by a time, of chains and of groups, and of sets of nodes that are down at once.

use super::arrays::count;
use super::{Column, Out, at, copied, each, free, refused};
use numpy::IntoPyArray;
use outlast_models::chain::LossChain;
use outlast_models::mirrors::MirroredArray;
use outlast_models::mttdl::ParityArray;
use outlast_models::sets::NodesDown;
use pyo3::prelude::*;

/// Columns: devices, parities, failure rate, repair rate, latent error rate, scrub rate, read failure, time.
#[pyfunction]
fn model_loss_by<'py>(
    py: Python<'py>,
    columns: Vec<Column<'py>>,
    parallel_repair: bool,
) -> PyResult<Out<'py>> {
    let [devices, parities, failure, repair, latent, scrub, read, time] = columns.as_slice() else {
        return Err(refused(py, format!("columns = {}: must be eight", columns.len())));
    };
    each(py, [devices, parities, failure, repair, latent, scrub, read, time], |row| {
        let array = ParityArray {
            devices: count("devices", row[0])?,
            parities: count("parities", row[1])?,
            failure_rate: row[2],
            repair_rate: row[3],
            parallel_repair,
            latent_rate: row[4],
            scrub_rate: row[5],
            read_failure: row[6],
        };
        Ok(array.chain()?.loss_by(row[7], 1)?[0])
    })
}

/// Columns: devices, copies, failure rate, repair rate, read failure, time; sets of copies as in md's near layout.
#[pyfunction]
fn model_loss_by_mirrors<'py>(py: Python<'py>, columns: Vec<Column<'py>>) -> PyResult<Out<'py>> {
    let [devices, copies, failure, repair, read, time] = columns.as_slice() else {
        return Err(refused(py, format!("columns = {}: must be six", columns.len())));
    };
    each(py, [devices, copies, failure, repair, read, time], |row| {
        let (devices, copies) = (count("devices", row[0])?, count("copies", row[1])?);
        let step = MirroredArray::near_step(devices, copies);
        let (failure_rate, repair_rate, read_failure) = (row[2], row[3], row[4]);
        let array = MirroredArray { devices, copies, step, failure_rate, repair_rate, read_failure };
        Ok(array.chain()?.loss_by(row[5], 1)?[0])
    })
}

fn chain_of(rates: &[f64], loss: Vec<f64>) -> Result<LossChain, outlast_models::DomainError> {
    let states = loss.len().max(1);
    LossChain::new(rates.chunks(states).map(<[f64]>::to_vec).collect(), loss)
}

/// Loss by `step`, 2·`step`, … of a chain whose rates come row by row.
#[pyfunction]
fn model_chain_loss_by<'py>(
    py: Python<'py>,
    rates: Column<'py>,
    loss: Column<'py>,
    step: f64,
    count: usize,
) -> PyResult<Out<'py>> {
    let (rates, loss) = (copied(&rates)?, copied(&loss)?);
    let by_step = free(py, move || {
        chain_of(&rates, loss).and_then(|chain| chain.loss_by(step, count)).map_err(at(0, 1))
    })?;
    Ok(by_step.into_pyarray(py))
}

/// Mean time to loss of a chain whose rates come row by row.
#[pyfunction]
fn model_chain_mean<'py>(py: Python<'py>, rates: Column<'py>, loss: Column<'py>) -> PyResult<f64> {
    let (rates, loss) = (copied(&rates)?, copied(&loss)?);
    free(py, move || chain_of(&rates, loss).and_then(|chain| chain.mean_time_to_loss()).map_err(at(0, 1)))
}

/// Columns: nodes, down, size, survives, sets. ln of the probability that any set is lost, independent or disjoint.
#[pyfunction]
fn model_ln_sets_lost<'py>(py: Python<'py>, columns: Vec<Column<'py>>, disjoint: bool) -> PyResult<Out<'py>> {
    let [nodes, down, size, survives, sets] = columns.as_slice() else {
        return Err(refused(py, format!("columns = {}: must be five", columns.len())));
    };
    each(py, [nodes, down, size, survives, sets], |row| {
        let nodes = NodesDown {
            nodes: count("nodes", row[0])?,
            down: count("down", row[1])?,
            size: count("size", row[2])?,
            survives: count("survives", row[3])?,
        };
        if disjoint {
            Ok(nodes.any_disjoint_is_lost(count("sets", row[4])?)?.ln())
        } else {
            nodes.ln_any_is_lost(row[4])
        }
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_loss_by, module)?)?;
    module.add_function(wrap_pyfunction!(model_loss_by_mirrors, module)?)?;
    module.add_function(wrap_pyfunction!(model_chain_loss_by, module)?)?;
    module.add_function(wrap_pyfunction!(model_chain_mean, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_sets_lost, module)?)
}

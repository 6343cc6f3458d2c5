//! The life of an array: ages, replacements and the probability of data loss, by the array's own coarse engine.

use super::pages::{domain, rber_model};
use super::{Column, Out, copied, free, refused};
use numpy::IntoPyArray;
use outlast_array::coarse::{CoarseArray, CoarseConfig, WriteMap};
use outlast_models::SectorCode;
use outlast_settings::array::ShiftWay;
use outlast_units::Bytes;
use pyo3::prelude::*;

type Life<'py> = (Vec<Out<'py>>, Vec<u64>, Vec<Out<'py>>);

/// Runs an array over so many replacements with so many samples before each. Gives the samples as columns (host capacities, replacements,
/// age differential, loss when the oldest fail, when any fail), the member of each replacement, and as columns host capacities, parity
/// moved in percent, and the ages before each, row by row.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the Python package gives them names and defaults")]
fn model_array_life<'py>(
    py: Python<'py>,
    model: &str,
    ecc: (u32, u32, u32),
    percent: Column<'py>,
    parities: usize,
    capacity: u64,
    limits: (f64, f64, f64),
    shift: &str,
    count_moves: bool,
    ages: Column<'py>,
    replacements: u32,
    samples: u32,
) -> PyResult<Life<'py>> {
    let model = rber_model(py, model)?;
    let sector = domain(py, SectorCode::new(ecc.0, ecc.1, ecc.2))?;
    let shift = match shift {
        "naive" => ShiftWay::Naive,
        "minimal" => ShiftWay::Minimal,
        "lazy" => ShiftWay::Lazy,
        other => return Err(refused(py, format!("shift = {other}: must be naive, minimal or lazy"))),
    };
    let (limit, amplification, full_share) = limits;
    let config = CoarseConfig {
        percent: copied(&percent)?,
        parities,
        capacity: Bytes(capacity),
        limit,
        amplification,
        writes: WriteMap::uniform(full_share),
        shift,
        count_moves,
    };
    let start = copied(&ages)?;
    let (samples, members, done) = free(py, move || {
        let mut array = CoarseArray::new(config).map_err(|error| error.to_string())?.pre_worn(&start);
        let ln_uber = |cycles: f64| {
            let rber = model.saturated(cycles, 0.0, 0.0).rber;
            sector.ln_uber(rber).unwrap_or(f64::NEG_INFINITY)
        };
        let mut columns: [Vec<f64>; 5] = Default::default();
        let events = array.run(replacements, samples, &ln_uber, |sample| {
            let row = [
                sample.host_capacities,
                sample.replacements as f64,
                sample.age_differential,
                sample.loss_oldest,
                sample.loss_any,
            ];
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        });
        let members: Vec<u64> = events.iter().map(|event| event.member as u64).collect();
        let done = vec![
            events.iter().map(|event| event.host_capacities).collect::<Vec<f64>>(),
            events.iter().map(|event| event.parity_moved_percent).collect(),
            events.iter().flat_map(|event| event.ages.iter().copied()).collect(),
        ];
        Ok((columns, members, done))
    })?;
    let out = |columns: Vec<Vec<f64>>| columns.into_iter().map(|column| column.into_pyarray(py)).collect();
    Ok((out(samples.into()), members, out(done)))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_array_life, module)?)
}

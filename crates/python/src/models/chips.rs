//! The published chips, and chips of one's own.

use super::refused;
use crate::guard::unlocked;
use outlast_models::measured::{FitSettings, FittedChip, fit};
use outlast_models::{PublishedChip, acceleration, chips};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every published chip, as a JSON list.
#[pyfunction]
fn model_chips() -> String {
    chips().iter().map(told).collect::<Value>().to_string()
}

fn told(chip: &PublishedChip) -> Value {
    json!({
        "name": chip.name,
        "title": chip.title,
        "bits_per_cell": chip.bits_per_cell,
        "model": chip.model,
        "end_of_life_cycles": chip.end_of_life_cycles,
        "range": chip.range,
        "reference_temperature": chip.reference_temperature,
        "source": chip.source,
        "trust": format!("{:?}", chip.trust).to_lowercase(),
    })
}

/// What the text of a chip's file gives, as JSON.
#[pyfunction]
#[pyo3(signature = (name, text, form, energy, reference))]
fn model_measured(
    py: Python<'_>,
    name: &str,
    text: &str,
    form: &str,
    energy: f64,
    reference: Option<f64>,
) -> PyResult<String> {
    let form = serde_json::from_value(Value::from(form))
        .map_err(|error| refused(py, format!("fit = {form}: {error}")))?;
    let reading = FitSettings { fit: form, activation_energy: energy, reference };
    let fitted = unlocked(py, || Ok(fit(name, text, &reading)))?;
    let fitted = fitted.map_err(|wrong| {
        let line = wrong.line.map_or_else(String::new, |line| format!(":{line}"));
        refused(py, format!("{name}{line}: {}", wrong.error))
    })?;
    Ok(as_json(&fitted).to_string())
}

fn as_json(fitted: &FittedChip) -> Value {
    let rows = fitted.rows.iter().zip(&fitted.fitted).map(|(row, &rate)| {
        json!({
            "line": row.line,
            "pe_cycles": row.cycles,
            "days": row.days,
            "reads": row.reads,
            "page_type": fitted.types.get(row.page_type),
            "temperature": row.temperature,
            "measured": row.rber,
            "fitted": rate,
        })
    });
    let estimates = fitted.estimates.iter().map(|own| {
        json!({ "name": own.name, "value": own.value, "error": own.error, "is_relative": own.is_relative })
    });
    json!({
        "measured": fitted.measured,
        "types": fitted.types,
        "spread_log10": fitted.spread_log10,
        "rows": rows.collect::<Vec<_>>(),
        "estimates": estimates.collect::<Vec<_>>(),
    })
}

/// How many times as fast charge is lost at one temperature as at another.
#[pyfunction]
fn model_acceleration(energy: f64, reference: f64, temperature: f64) -> f64 {
    acceleration(energy, reference, temperature)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_chips, module)?)?;
    module.add_function(wrap_pyfunction!(model_measured, module)?)?;
    module.add_function(wrap_pyfunction!(model_acceleration, module)?)
}

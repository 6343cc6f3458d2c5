//! Scenarios: reading, checking, writing out in full, schema, presets.

use crate::errors::{ScenarioError, of_scenario};
use crate::guard::unlocked;
use outlast_engine::{Provenance, Scenario, ScenarioLayer, load_scenario, migrate as migrate_text, presets};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A layer as Python writes it: its kind (`preset`, `file`, `json`, or `text of NAME`) and the name, path or text.
pub(crate) type RawLayer = (String, String);
/// An override: dotted name and value.
pub(crate) type Override = (String, String);

/// Loads a scenario from layers and overrides.
pub(crate) fn load(layers: Vec<RawLayer>, overrides: &[Override]) -> PyResult<(Scenario, Provenance)> {
    load_scenario(&layers_of(layers)?, overrides).map_err(of_scenario)
}

/// Layers as the core takes them.
pub(crate) fn layers_of(layers: Vec<RawLayer>) -> PyResult<Vec<ScenarioLayer>> {
    layers.into_iter().map(layer).collect()
}

fn layer((kind, text): RawLayer) -> PyResult<ScenarioLayer> {
    if let Some(name) = kind.strip_prefix("text of ") {
        return Ok(ScenarioLayer::Toml { name: name.to_owned(), text, folder: PathBuf::new() });
    }
    match kind.as_str() {
        "preset" => Ok(ScenarioLayer::Preset(text)),
        "file" => Ok(ScenarioLayer::File(PathBuf::from(text))),
        "json" => Ok(ScenarioLayer::Json { name: "settings".to_owned(), text }),
        other => Err(ScenarioError::new_err(format!("layer kind \"{other}\": must be preset, file or json"))),
    }
}

/// The scenario in full, as "json" or "toml".
#[pyfunction]
fn resolve(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    format: &str,
) -> PyResult<String> {
    unlocked(py, || {
        let (scenario, _) = load(layers, &overrides)?;
        if format == "toml" {
            return scenario.to_toml().map_err(of_scenario);
        }
        scenario.to_json().map_err(|error| ScenarioError::new_err(error.to_string()))
    })
}

/// Every file that a scenario reads: the setting that names it, and its path.
#[pyfunction]
fn input_files(py: Python<'_>, layers: Vec<RawLayer>) -> PyResult<Vec<(String, String)>> {
    unlocked(py, || {
        let (scenario, _) = load(layers, &[])?;
        Ok(scenario.input_files().into_iter().map(|file| (file.setting.to_owned(), file.path)).collect())
    })
}

/// A sentence for each setting that asks of the chip what its source does not cover.
#[pyfunction]
fn beyond_range(py: Python<'_>, layers: Vec<RawLayer>, overrides: Vec<Override>) -> PyResult<Vec<String>> {
    unlocked(py, || Ok(load(layers, &overrides)?.0.beyond_range()))
}

/// A sentence for each setting that some layer gives and that does not count, because of another.
#[pyfunction]
fn void_settings(py: Python<'_>, layers: Vec<RawLayer>, overrides: Vec<Override>) -> PyResult<Vec<String>> {
    unlocked(py, || Ok(load(layers, &overrides)?.0.void))
}

/// The text of a scenario file of an earlier version with the settings of this one, and what cannot be kept.
#[pyfunction]
fn migrate(py: Python<'_>, name: &str, text: &str) -> PyResult<(String, Vec<String>)> {
    unlocked(py, || {
        let migrated = migrate_text(name, text).map_err(of_scenario)?;
        Ok((migrated.text, migrated.notes))
    })
}

/// Name, title and text of every preset.
#[pyfunction]
#[pyo3(name = "presets")]
fn all_presets() -> Vec<(&'static str, &'static str, &'static str)> {
    presets().iter().map(|preset| (preset.name, preset.title, preset.text)).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(input_files, module)?)?;
    module.add_function(wrap_pyfunction!(beyond_range, module)?)?;
    module.add_function(wrap_pyfunction!(void_settings, module)?)?;
    module.add_function(wrap_pyfunction!(migrate, module)?)?;
    module.add_function(wrap_pyfunction!(all_presets, module)?)
}

//! Does a scenario load, merge, complain and print as it should?

mod chip;
mod examples;
mod layers;
mod messages;
mod messages_of_layers;
mod overrides;
mod presets;
mod retired;
mod robustness;
mod words;

use super::{Provenance, Scenario, ScenarioError, ScenarioLayer, load};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A complete scenario without anything that has a default.
const SMALL: &str = r#"
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 16
page_size = "4KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
over_provisioning = 0.28
[workload.synthetic]
queue_depth = 8
"#;

/// Loads `text` as the file `s.toml`.
fn file(text: &str) -> Result<(Scenario, Provenance), ScenarioError> {
    files(&[("s.toml", text)], &["s.toml"], &[])
}

/// Loads `layers` out of the files `known`, then overrides.
fn files(
    known: &[(&str, &str)],
    layers: &[&str],
    overrides: &[(&str, &str)],
) -> Result<(Scenario, Provenance), ScenarioError> {
    let known: BTreeMap<PathBuf, String> =
        known.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    let layers: Vec<ScenarioLayer> =
        layers.iter().map(|path| ScenarioLayer::File(PathBuf::from(path))).collect();
    load(&layers, &pairs(overrides), &|path: &Path| {
        known.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    })
}

fn pairs(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The scenario [`SMALL`] with overrides.
fn small_with(overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    files(&[("s.toml", SMALL)], &["s.toml"], overrides).map(|(scenario, _)| scenario)
}

/// The message of loading `text` as `s.toml`.
fn message(text: &str) -> String {
    file(text).unwrap_err().to_string()
}

/// [`SMALL`] with `from`, which it must contain, replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replacen(from, to, 1)
}

/// Opens the scenario's workload on its drive: what the loader itself leaves to the run.
fn opens(scenario: &Scenario) {
    if scenario.device.zones.is_some() {
        // How its zones lie is known to a drive that has been built, and not before.
        return;
    }
    let target = outlast_workload::WorkloadTarget {
        capacity: scenario.device.ftl.user_capacity(&scenario.device.geometry),
        seed: scenario.seed,
        unit: scenario.device.ftl.mapping_unit,
        handles: scenario.device.placement.as_ref().map_or(0, |own| own.identifiers().len() as u16),
        zones: None,
        namespaces: Vec::new(),
    };
    let workload =
        scenario.workload.open(&target).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    let ends = !workload.endless || workload.duration.is_some() || workload.jobs.is_some();
    assert!(ends, "{}: nothing ends it", scenario.name);
}

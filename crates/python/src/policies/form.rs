//! Scenarios whose code is looked at from outside: a check runs nothing that a file names.

use crate::errors::ScenarioError;
use crate::scenario::{Override, RawLayer, load};
use outlast_engine::{PoliciesSpec, PolicyDecision, PolicySpec, Provenance, Scenario};
use outlast_workload::{PlacerFactory, UserPlacement, WriteBatch, WritePlacer};
use pyo3::prelude::*;
use std::path::Path;

/// Loads a scenario and checks the form of what its `[policies]` name.
pub(crate) fn load_form(layers: Vec<RawLayer>, overrides: &[Override]) -> PyResult<(Scenario, Provenance)> {
    let (scenario, provenance) = load(layers, overrides)?;
    Ok((form_of(scenario)?, provenance))
}

/// Checks the form of what a scenario's `[policies]` name: the file is there, and the name could be one. What it decides, the built-in
/// policies decide in its place, so that costs can be estimated.
pub(crate) fn form_of(mut scenario: Scenario) -> PyResult<Scenario> {
    for own in scenario.policies.user_policies().collect::<Vec<_>>() {
        check(&own).map_err(|error| {
            ScenarioError::new_err(format!("{} = {own}: {error}", own.decision.setting()))
        })?;
        if own.decision == PolicyDecision::Placement {
            scenario.workload.placement = Some(UserPlacement::new(AsTheyAre(own.to_string())));
        }
    }
    scenario.policies = PoliciesSpec::default();
    Ok(scenario)
}

/// Whether a shared library may take this decision.
fn is_about_superblocks(decision: PolicyDecision) -> bool {
    matches!(decision, PolicyDecision::Gc | PolicyDecision::WearLeveling | PolicyDecision::Scrub)
}

/// The refusal of any other.
pub(super) const NOT_A_LIBRARYS: &str =
    "a shared library decides about superblocks (gc, wear_leveling, scrub); this is decided by Python";

fn check(own: &PolicySpec) -> Result<(), String> {
    let PolicySpec { decision, file, name } = own;
    let is_library = outlast_plugin::is_library(file);
    if is_library && !is_about_superblocks(*decision) {
        return Err(NOT_A_LIBRARYS.to_owned());
    }
    if !Path::new(file).is_file() {
        return Err(format!("{file} is not a file"));
    }
    let kind = Path::new(file).extension().and_then(|kind| kind.to_str());
    match kind {
        // Of pickled code there is one thing in the file, whatever it is called.
        Some("pkl") => return Ok(()),
        Some("py") => {}
        _ if is_library => {}
        _ => return Err(format!("{file} is not a Python file, whose name ends in .py")),
    }
    let is_word = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if name.split('.').all(is_word) {
        return Ok(());
    }
    Err(format!("\"{}\" is no name of a function or class", name.escape_debug()))
}

/// Leaves writes the hints that they have.
struct AsTheyAre(String);

impl PlacerFactory for AsTheyAre {
    fn name(&self) -> &str {
        &self.0
    }

    fn make(&self) -> Result<Box<dyn WritePlacer>, String> {
        Ok(Box::new(Self(self.0.clone())))
    }
}

impl WritePlacer for AsTheyAre {
    fn place(&mut self, writes: &WriteBatch) -> Result<Vec<u16>, String> {
        Ok(writes.hint.clone())
    }
}

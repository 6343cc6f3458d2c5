//! Decisions that code of the user's takes: a Python object in the place of a built-in policy.

mod answers;
mod decider;
mod form;
mod orders;
mod placer;

pub(crate) use form::{form_of, load_form};

use crate::errors::ScenarioError;
use crate::scenario::{Override, RawLayer, load};
use outlast_decisions::{ArrayPolicies, LoadedPolicy, SuperblockPolicy};
use outlast_engine::{PolicyDecision, PolicySpec, Provenance, Scenario};
use outlast_workload::UserPlacement;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// What Python gives for decisions, by their names in `[policies]`: objects with a method `begin`.
pub(crate) type Given = BTreeMap<String, Py<PyAny>>;

/// Ctrl-C struck while Python was deciding.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C struck while Python was deciding, since this was last asked.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) && INTERRUPTED.swap(false, Ordering::Relaxed)
}

/// Loads a scenario and what its `[policies]` name; `given` goes before the files.
pub(crate) fn load_whole(
    layers: Vec<RawLayer>,
    overrides: &[Override],
    given: Option<Given>,
) -> PyResult<(Scenario, Provenance)> {
    let (mut scenario, provenance) = load(layers, overrides)?;
    let mut given = given.unwrap_or_default();
    let mut wanted = Vec::new();
    for own in scenario.policies.user_policies().collect::<Vec<_>>() {
        if let Some(maker) = given.remove(own.decision.name()) {
            decide_by(&mut scenario, &own, maker);
        } else if outlast_plugin::is_library(&own.file) {
            let told = |error: String| {
                ScenarioError::new_err(format!("{} = {own}: {error}", own.decision.setting()))
            };
            let Some(place) = about_superblocks(&mut scenario, own.decision) else {
                return Err(told(form::NOT_A_LIBRARYS.to_owned()));
            };
            *place = Some(outlast_plugin::load(&own.file, &own.name).map_err(told)?);
        } else {
            wanted.push(own);
        }
    }
    if !wanted.is_empty() {
        let names: Vec<_> = wanted.iter().map(|own| (own.decision.name(), &own.file, &own.name)).collect();
        let makers = Python::attach(|py| {
            let load = py.import("outlast.policies")?.getattr("load")?;
            load.call1((names,))?.extract::<Vec<Py<PyAny>>>()
        })?;
        for (own, maker) in wanted.iter().zip(makers) {
            decide_by(&mut scenario, own, maker);
        }
    }
    match given.keys().next() {
        None => Ok((scenario, provenance)),
        Some(decision) => {
            Err(ScenarioError::new_err(format!("policies.{decision}: is given and not asked for")))
        }
    }
}

fn decide_by(scenario: &mut Scenario, own: &PolicySpec, maker: Py<PyAny>) {
    let maker = Maker { name: own.to_string(), maker };
    if let Some(place) = about_superblocks(scenario, own.decision) {
        *place = Some(SuperblockPolicy::new(maker));
        return;
    }
    let drive = &mut scenario.device.ftl.own;
    match own.decision {
        PolicyDecision::Gc | PolicyDecision::WearLeveling | PolicyDecision::Scrub => {}
        PolicyDecision::Placement => scenario.workload.placement = Some(UserPlacement::new(maker)),
        PolicyDecision::Code => drive.code = Some(LoadedPolicy::new(maker)),
        PolicyDecision::Pacing => drive.pacing = Some(LoadedPolicy::new(maker)),
        PolicyDecision::Predict => drive.predict = Some(LoadedPolicy::new(maker)),
        PolicyDecision::Repair | PolicyDecision::Rebuild | PolicyDecision::RepairOrder => {
            // Settings without an array have been refused.
            if let Some(array) = &mut scenario.array {
                decide_for_array(&mut array.own, own.decision, maker);
            }
        }
    }
}

fn decide_for_array(own: &mut ArrayPolicies, decision: PolicyDecision, maker: Maker) {
    match decision {
        PolicyDecision::Repair => own.repair = Some(LoadedPolicy::new(maker)),
        PolicyDecision::Rebuild => own.rebuild = Some(LoadedPolicy::new(maker)),
        _ => own.repair_order = Some(LoadedPolicy::new(maker)),
    }
}

/// Where a scenario keeps the code that takes a decision about superblocks; `None` for one about something else.
fn about_superblocks(
    scenario: &mut Scenario,
    decision: PolicyDecision,
) -> Option<&mut Option<SuperblockPolicy>> {
    let own = &mut scenario.device.ftl.own;
    match decision {
        PolicyDecision::Gc => Some(&mut own.gc),
        PolicyDecision::WearLeveling => Some(&mut own.wear_leveling),
        PolicyDecision::Scrub => Some(&mut own.scrub),
        _ => None,
    }
}

/// Makes deciders of a Python object.
struct Maker {
    name: String,
    maker: Py<PyAny>,
}

/// What Python answers. Ctrl-C is the run's, which stops when it looks for it; the question is asked again.
fn asked<T>(mut ask: impl FnMut(Python<'_>) -> PyResult<T>) -> Result<T, String> {
    Python::attach(|py| {
        let answer = ask(py);
        if answer.as_ref().is_err_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            INTERRUPTED.store(true, Ordering::Relaxed);
            return ask(py);
        }
        answer
    })
    .map_err(in_a_line)
}

/// What Python raised, in a line.
fn in_a_line(error: PyErr) -> String {
    Python::attach(|py| {
        let told = py
            .import("outlast.policies")
            .and_then(|own| own.call_method1("describe_error", (error.value(py), error.traceback(py))));
        match told.and_then(|told| told.extract::<String>()) {
            Ok(text) => text,
            Err(_) => error.to_string().replace('\n', " "),
        }
    })
}

/// The decisions that code of the user's may take.
#[pyfunction]
fn decisions() -> Vec<&'static str> {
    PolicyDecision::ALL.iter().map(|decision| decision.name()).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decisions, module)?)
}

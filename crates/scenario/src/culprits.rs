//! The user's own settings that made a setting of a preset wrong: those without which the scenario is valid.
//!
//! A check across settings names one of them, whoever wrote it. Which of the user's settings is at fault no check says; it is found by
//! trying: what a layer of the user gave is taken back, one after the other, to what the preset had.

use super::decode::decode;
use super::error::ScenarioError;
use super::provenance::Provenance;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use crate::Scenario;

/// Sources of layers that no user wrote begin so.
const PRESET: &str = "preset ";
/// Settings that are tried at most: more than anybody writes beside a preset.
const MOST_TRIED: usize = 200;

/// A value that a higher layer replaced.
#[derive(Clone, Debug)]
pub(super) struct ReplacedSetting {
    pub(super) steps: Vec<PathStep>,
    pub(super) old: SettingNode,
}

/// True if a scenario of these settings can be run.
type IsValid<'a> = &'a dyn Fn(&mut Scenario, &Provenance) -> bool;

impl ScenarioError {
    /// This error, placed where the user wrote what does not go with a setting of a preset; as it is, if the user wrote the setting itself or
    /// nothing of the user's is at fault.
    #[must_use]
    pub fn placed(self, provenance: &Provenance, is_valid: IsValid<'_>) -> Self {
        let Self::Setting { at, field, value, limit } = self else { return self };
        let is_users = at.as_ref().is_some_and(|at| !at.file.starts_with(PRESET));
        let culprits = if is_users { Vec::new() } else { culprits(provenance, is_valid) };
        let Some((first, others)) = culprits.split_first() else {
            return Self::Setting { at, field, value, limit };
        };
        let place = at.map_or_else(|| "by default".to_owned(), |at| at.to_string());
        let with = others.iter().map(|(steps, node)| {
            format!("with {} = {} ({}), ", dotted(steps), node.shown(), node.origin.position())
        });
        Self::Setting {
            at: Some(first.1.origin.position()),
            field: dotted(&first.0),
            value: first.1.shown(),
            limit: format!(
                "{}does not go with {field} = {value} ({place}): {limit}",
                with.collect::<String>()
            ),
        }
    }
}

/// A setting by its path.
type Leaf<'a> = (Vec<PathStep>, &'a SettingNode);

/// The user's settings that must all be taken back until the scenario is valid; none if even all of them are not enough.
fn culprits<'a>(provenance: &'a Provenance, is_valid: IsValid<'_>) -> Vec<Leaf<'a>> {
    let mut own = Vec::new();
    collect(provenance.root(), &mut Vec::new(), &mut own);
    if own.is_empty() || own.len() > MOST_TRIED || !is_valid_without(provenance, &own, is_valid) {
        return Vec::new();
    }
    let mut index = 0;
    while index < own.len() {
        let leaf = own.remove(index);
        if !is_valid_without(provenance, &own, is_valid) {
            own.insert(index, leaf);
            index += 1;
        }
    }
    own
}

/// Adds the settings below `node` that a layer of the user gave.
fn collect<'a>(node: &'a SettingNode, path: &mut Vec<PathStep>, own: &mut Vec<Leaf<'a>>) {
    let mut below = |step: PathStep, node: &'a SettingNode, own: &mut Vec<Leaf<'a>>| {
        path.push(step);
        collect(node, path, own);
        path.pop();
    };
    let is_preset = node.origin.source.starts_with(PRESET);
    match &node.value {
        SettingValue::Table(table) => {
            for (key, node) in table {
                below(PathStep::Key(key.clone()), node, own);
            }
        }
        // A patch changes elements of a preset's list.
        SettingValue::Array(items) if is_preset => {
            for (index, node) in items.iter().enumerate() {
                below(PathStep::Index(index), node, own);
            }
        }
        _ if is_preset => {}
        _ => own.push((path.clone(), node)),
    }
}

fn is_valid_without(provenance: &Provenance, leaves: &[Leaf<'_>], is_valid: IsValid<'_>) -> bool {
    let tried = provenance.without(leaves.iter().map(|(steps, _)| steps.as_slice()));
    decode::<Scenario>(&tried).is_ok_and(|mut scenario| is_valid(&mut scenario, &tried))
}

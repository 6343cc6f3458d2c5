//! Position of each setting of a merged scenario.

use super::culprits::ReplacedSetting;
use super::decode::amounts::percentage_hint;
use super::error::ScenarioError;
use super::override_path::parse_path;
use super::position::{SourcePosition, one_line};
use super::tree::{PathStep, SettingNode, SettingValue};
use outlast_media::ConfigError;
use outlast_workload::WorkloadError;

/// Settings that are derived from another one if they are not given, with that other one.
const DERIVED: &[(&str, &str)] = &[("device.ftl.capacity", "device.ftl.over_provisioning")];

/// The setting that names a trace.
const TRACE_FILE: &str = "workload.trace.file";

/// File and line of every setting of a scenario.
#[derive(Clone, Debug)]
pub struct Provenance {
    root: SettingNode,
    /// Values that higher layers replaced, in the order of the layers.
    replaced: Vec<ReplacedSetting>,
}

impl Provenance {
    pub(super) fn new(root: SettingNode, replaced: Vec<ReplacedSetting>) -> Self {
        Self { root, replaced }
    }

    /// The tree with the settings at `leaves` taken back to what they replaced, or away.
    pub(super) fn without<'a>(&self, leaves: impl Iterator<Item = &'a [PathStep]>) -> Self {
        let mut root = self.root.clone();
        for steps in leaves {
            let old = self.replaced.iter().rev().find(|replaced| replaced.steps == steps);
            match (old, root.at_mut(steps)) {
                (Some(replaced), Some(node)) => *node = replaced.old.clone(),
                _ => {
                    root.remove(steps);
                }
            }
        }
        Self { root, replaced: self.replaced.clone() }
    }

    pub(super) fn root(&self) -> &SettingNode {
        &self.root
    }

    /// The file and line of the setting `field`, such as `device.geometry.channels`; for a setting left to its default,
    /// those of the nearest table around it that was written. `None` without any.
    pub fn locate(&self, field: &str) -> Option<(String, u32)> {
        self.position(field).map(|position| (position.file, position.line.unwrap_or(0)))
    }

    /// The position of the setting `field`, as [`Provenance::locate`], to be shown.
    pub fn position(&self, field: &str) -> Option<SourcePosition> {
        let steps = parse_path(field).ok()?;
        self.position_of(&steps)
    }

    pub(super) fn position_of(&self, steps: &[PathStep]) -> Option<SourcePosition> {
        let node = self.root.deepest(steps);
        // `deepest` stops at the root if nothing on the path was written.
        (!std::ptr::eq(node, &raw const self.root)).then(|| node.origin.position())
    }

    /// True if a layer gives the setting; false if it has its default.
    pub fn is_given(&self, field: &str) -> bool {
        self.node(field).is_some()
    }

    /// The value of the setting as written; empty if it has its default.
    pub(super) fn shown(&self, field: &str) -> String {
        self.node(field).map_or_else(String::new, SettingNode::shown)
    }

    fn node(&self, field: &str) -> Option<&SettingNode> {
        let steps = parse_path(field).ok()?;
        steps.iter().try_fold(&self.root, |node, step| match (&node.value, step) {
            (SettingValue::Table(table), PathStep::Key(key)) => table.get(key),
            (SettingValue::Array(items), PathStep::Index(index)) => items.get(*index),
            _ => None,
        })
    }
}

/// The limit of a share, with how to write the percentage that was given for it.
fn with_hint(field: &str, value: &str, limit: String) -> String {
    match percentage_hint(field, value) {
        Some(hint) if !limit.contains('%') => limit + &hint,
        _ => limit,
    }
}

impl ScenarioError {
    /// The error about a setting that a room below refuses, with its position.
    pub fn invalid(provenance: &Provenance, error: &ConfigError) -> Self {
        // The user knows only the setting that was written, so the error names that one.
        let derived = DERIVED.iter().find(|(field, from)| {
            error.field == *field && !provenance.is_given(field) && provenance.is_given(from)
        });
        if let Some((_, from)) = derived {
            return Self::Setting {
                at: provenance.position(from),
                field: (*from).to_owned(),
                value: provenance.shown(from),
                limit: one_line(&format!("makes {} = {}: {}", error.field, error.value, error.limit)),
            };
        }
        Self::Setting {
            at: provenance.position(&error.field),
            field: error.field.clone(),
            value: one_line(&error.value),
            limit: with_hint(&error.field, &error.value, one_line(&error.limit)),
        }
    }

    /// The error of a workload: those about settings get their position, those about files have one already.
    pub fn invalid_workload(provenance: &Provenance, error: WorkloadError) -> Self {
        match error {
            WorkloadError::Setting { field, value, limit } => {
                let limit = with_hint(&field, &value, limit);
                Self::Setting { at: provenance.position(&field), field, value, limit }
            }
            WorkloadError::Missing { field, needed } => {
                Self::Missing { at: provenance.position(&field), field, hint: format!(": {needed}") }
            }
            WorkloadError::Conflict { first, second, why } => Self::Setting {
                at: provenance.position(&second),
                value: "given".to_owned(),
                limit: format!("excludes {first}: {why}"),
                field: second,
            },
            // A trace that is not there is the fault of the line that names it.
            WorkloadError::Open { file, source } => {
                let at = provenance.position(TRACE_FILE).map_or(String::new(), |at| format!("{at}: "));
                Self::Workload(WorkloadError::Open { file: at + &file, source })
            }
            other => Self::Workload(other),
        }
    }
}

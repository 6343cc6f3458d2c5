//! Where each setting of a merged scenario was written.

use super::error::ScenarioError;
use super::override_path::parse_path;
use super::place::{Place, one_line};
use super::tree::{Kind, Node, Step};
use outlast_media::ConfigError;
use outlast_workload::WorkloadError;

/// Settings that are worked out of another where they are not given, with that other.
const DERIVED: &[(&str, &str)] = &[("device.ftl.capacity", "device.ftl.over_provisioning")];

/// Remembers of every setting of a scenario which file and line gave it.
#[derive(Clone, Debug)]
pub struct Provenance {
    root: Node,
}

impl Provenance {
    pub(super) fn new(root: Node) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// The file and line that gave the setting `field`, such as `device.geometry.channels`; where the setting itself was
    /// left to its default, those of the nearest table around it. `None` if nothing of it was written.
    pub fn locate(&self, field: &str) -> Option<(String, u32)> {
        self.place(field).map(|place| (place.file, place.line.unwrap_or(0)))
    }

    /// As [`Provenance::locate`], ready to be shown.
    pub fn place(&self, field: &str) -> Option<Place> {
        let steps = parse_path(field).ok()?;
        self.place_of(&steps)
    }

    pub(super) fn place_of(&self, steps: &[Step]) -> Option<Place> {
        let node = self.root.deepest(steps);
        (!std::ptr::eq(node, &raw const self.root)).then(|| node.origin.place())
    }

    /// Whether some layer gave the setting, that is, it was not left to its default.
    pub fn is_given(&self, field: &str) -> bool {
        self.node(field).is_some()
    }

    /// The setting's value as a layer gave it; empty if none did.
    pub(super) fn shown(&self, field: &str) -> String {
        self.node(field).map_or_else(String::new, Node::shown)
    }

    fn node(&self, field: &str) -> Option<&Node> {
        let steps = parse_path(field).ok()?;
        steps.iter().try_fold(&self.root, |node, step| match (&node.kind, step) {
            (Kind::Table(table), Step::Key(key)) => table.get(key),
            (Kind::Array(items), Step::Index(index)) => items.get(*index),
            _ => None,
        })
    }
}

impl ScenarioError {
    /// The error of a setting that a room below refuses, with the place where the setting was written.
    pub fn invalid(provenance: &Provenance, error: &ConfigError) -> Self {
        let derived = DERIVED.iter().find(|(field, from)| {
            error.field == *field && !provenance.is_given(field) && provenance.is_given(from)
        });
        if let Some((_, from)) = derived {
            return Self::Setting {
                at: provenance.place(from),
                field: (*from).to_owned(),
                value: provenance.shown(from),
                limit: one_line(&format!("makes {} = {}: {}", error.field, error.value, error.limit)),
            };
        }
        Self::Setting {
            at: provenance.place(&error.field),
            field: error.field.clone(),
            value: one_line(&error.value),
            limit: one_line(&error.limit),
        }
    }

    /// The same for the workload: its complaints about settings get their place, those about files have it already.
    pub fn invalid_workload(provenance: &Provenance, error: WorkloadError) -> Self {
        match error {
            WorkloadError::Setting { field, value, limit } => {
                Self::Setting { at: provenance.place(&field), field, value, limit }
            }
            WorkloadError::Missing { field, needed } => {
                Self::Missing { at: provenance.place(&field), field, hint: format!(": {needed}") }
            }
            WorkloadError::Conflict { first, second, why } => Self::Setting {
                at: provenance.place(&second),
                value: "given".to_owned(),
                limit: format!("excludes {first}: {why}"),
                field: second,
            },
            other => Self::Workload(other),
        }
    }
}

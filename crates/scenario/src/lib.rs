//! Scenario files: what a run is, read from layers of TOML or JSON, merged, and checked.
//!
//! A scenario is merged from **layers**: presets and files that a file `extends`, the file itself, further files, and
//! last single settings (`--set a.b=c`). Every layer is first read into a tree that keeps the file and line of each
//! setting, so that any later error about a setting, also one of the rooms below, names them.
//!
//! Architecture Invariant: everything here works on text that is handed in. Files are opened only by
//! [`load_scenario`], through the `read` argument that all else takes.

mod chip_file;
mod chip_range;
mod culprits;
mod decode;
mod error;
mod faults;
mod layer_loader;
mod load;
mod merge;
mod migrate;
mod names;
mod override_path;
mod parse;
mod paths;
mod policies;
mod position;
mod presets;
mod provenance;
mod retired;
#[cfg(feature = "schema")]
mod schema;
mod shaping;
mod spec;
mod synonyms;
mod tree;
mod void_settings;

pub use error::ScenarioError;
pub use faults::{FaultTarget, PlannedEvent};
pub use load::{MergedLayers, ReadFile, ScenarioLayer, is_loadable, load, load_scenario, parse_text};
pub use migrate::{MigratedText, migrate};
pub use names::check_name;
pub use override_path::split_override;
pub use policies::{PoliciesSpec, PolicyDecision, PolicySpec};
pub use position::SourcePosition;
pub use presets::{Preset, presets};
pub use provenance::Provenance;
#[cfg(feature = "schema")]
pub use schema::{json_schema, setting_names};
pub use shaping::{ChangedSetting, first_changed_setting, shape_of_drive, shape_of_machine};
pub use spec::{FillPattern, OverwritePattern, PreconditionSpec, RunSpec, Scenario, TimingMode};

#[cfg(test)]
mod tests;

//! Scenario files: what a run is, read from layers of TOML or JSON, merged, and checked.
//!
//! A scenario is put together from **layers**: presets and files that a file `extends`, the file itself, further files, and
//! last single settings (`--set a.b=c`). Every layer is first read into a tree that remembers where each setting was
//! written, so that any later complaint about a setting, also one from the rooms below, names the file and line.
//!
//! Architecture Invariant: everything here works on text that is handed in. Files are opened only by
//! [`load_scenario`], through the `read` argument that all else takes.

mod beyond;
mod chip;
mod decode;
mod error;
mod load;
mod merge;
mod names;
mod override_path;
mod parse;
mod place;
mod policies;
mod presets;
mod provenance;
#[cfg(feature = "schema")]
mod schema;
mod shaping;
mod spec;
mod strikes;
mod tree;
mod voids;

pub use error::ScenarioError;
pub use load::{Layer, ReadFile, load, load_scenario, parse_text};
pub use names::check_name;
pub use override_path::split_override;
pub use place::Place;
pub use policies::{Decision, OwnPolicy, PoliciesSpec};
pub use presets::{Preset, presets};
pub use provenance::Provenance;
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use shaping::{OtherSetting, other_setting, shape_of_drive, shape_of_machine};
pub use spec::{Fill, Overwrite, PreconditionSpec, RunSpec, Scenario, TimingMode};
pub use strikes::{Happening, Strike};

#[cfg(test)]
mod tests;

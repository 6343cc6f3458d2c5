//! Errors of scenarios. Each message is one line: position, setting, value, limit.

use super::position::{SourcePosition, one_line};
use super::presets;
use outlast_workload::WorkloadError;
use std::io;
use thiserror::Error;

/// An error in reading, merging or checking a scenario.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("{file}: cannot be read: {source}{hint}")]
    Read {
        /// Path of the file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
        /// Empty, or `; did you mean the preset "demo"?`.
        hint: String,
    },
    /// A text is not TOML, or not JSON.
    #[error("{at}: not valid {format}: {why}")]
    Syntax {
        /// Position of the error.
        at: SourcePosition,
        /// "TOML" or "JSON".
        format: &'static str,
        /// Message of the parser.
        why: String,
    },
    /// A text is larger or nested deeper than any scenario.
    #[error("{at}: {measure} is limited to {limit}")]
    Limit {
        /// Position of the text or setting.
        at: SourcePosition,
        /// The measure that is too large.
        measure: &'static str,
        /// The largest value.
        limit: usize,
    },
    /// A setting has the wrong type or a value outside its limits.
    #[error("{}{field} = {value}: {limit}", prefix(at.as_ref()))]
    Setting {
        /// Position of the setting, if a layer gives it.
        at: Option<SourcePosition>,
        /// Dotted name.
        field: String,
        /// The value as written.
        value: String,
        /// The allowed values.
        limit: String,
    },
    /// There is no setting of this name.
    #[error("{}{field}: unknown setting{hint}", prefix(at.as_ref()))]
    Unknown {
        /// Position of the setting.
        at: Option<SourcePosition>,
        /// Dotted name.
        field: String,
        /// Empty, or "; did you mean `channels`?", or the names that there are.
        hint: String,
    },
    /// A setting of an earlier version.
    #[error("{at}: {field}: is no setting any more: {advice} (`outlast scenario migrate` rewrites a file)")]
    Retired {
        /// Position of the setting.
        at: SourcePosition,
        /// Dotted name.
        field: String,
        /// Replacement, or the reason why it went.
        advice: String,
    },
    /// A setting without a default is absent.
    #[error("{}{field} is missing{hint}", prefix(at.as_ref()))]
    Missing {
        /// Position of its table, if that was written.
        at: Option<SourcePosition>,
        /// Dotted name.
        field: String,
        /// The text to write, or why there is no default.
        hint: String,
    },
    /// There is no preset of this name.
    #[error("{}no preset or file \"{name}\"{hint}", prefix(at.as_ref()))]
    NoPreset {
        /// Position of the `extends`, if in a file.
        at: Option<SourcePosition>,
        /// The name.
        name: String,
        /// A suggestion, or all names, beginning with a semicolon.
        hint: String,
    },
    /// Scenarios extend each other in a circle.
    #[error("{at}: extends itself: {chain}")]
    Cycle {
        /// Position of the `extends` that closes the circle.
        at: SourcePosition,
        /// Names of the files from the first to itself again.
        chain: String,
    },
    /// An override is not of the form `a.b=c`.
    #[error("overrides: \"{text}\": {why}")]
    Override {
        /// Text of the override.
        text: String,
        /// The reason, or the form to write.
        why: String,
    },
    /// A scenario cannot be written as TOML.
    #[error("the scenario cannot be written as TOML: {why}")]
    NotToml {
        /// Message of the serialiser.
        why: String,
    },
    /// Errors of several settings, each in a line of its own.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
    /// An error in a trace or job file of the workload, and not in the scenario.
    #[error(transparent)]
    Workload(WorkloadError),
}

fn lines(errors: &[ScenarioError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn prefix(at: Option<&SourcePosition>) -> String {
    at.map_or_else(String::new, |position| format!("{position}: "))
}

impl ScenarioError {
    /// The error about an unknown preset `name` in an `extends` at `at`.
    pub(super) fn no_preset(at: Option<SourcePosition>, name: &str) -> Self {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        Self::NoPreset { at, name: one_line(name), hint: hint(name, &names) }
    }
}

/// "; did you mean `x`?" if one of `names` is near `name`, otherwise "; known are …".
pub(super) fn hint(name: &str, names: &[&str]) -> String {
    if let Some(near) = nearest(name, names) {
        return format!("; did you mean `{near}`?");
    }
    if names.is_empty() {
        return String::new();
    }
    format!("; known are {}", names.join(", "))
}

/// The name in `names` that `name` is probably a misspelling of.
pub(super) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let folded = name.to_lowercase().replace('-', "_");
    names
        .iter()
        .map(|&candidate| {
            let target = candidate.to_lowercase().replace('-', "_");
            (strsim::damerau_levenshtein(&folded, &target), candidate)
        })
        // One typing error, and one more for every four letters; but not so many that no letter is left.
        .filter(|&(distance, candidate)| {
            distance <= 1 + candidate.chars().count() / 4 && distance < candidate.len()
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

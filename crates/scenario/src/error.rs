//! Everything that can be wrong with a scenario. Each message is one line: place, setting, value, limit.

use super::place::{Place, one_line};
use super::presets;
use outlast_workload::WorkloadError;
use std::io;
use thiserror::Error;

/// Why a scenario cannot be used.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("{file}: cannot be read: {source}{hint}")]
    Read {
        /// The file.
        file: String,
        /// The system's word.
        source: io::Error,
        /// Empty, or `; did you mean the preset "demo"?`.
        hint: String,
    },
    /// A text is not TOML, or not JSON.
    #[error("{at}: not valid {format}: {why}")]
    Syntax {
        /// Where.
        at: Place,
        /// "TOML" or "JSON".
        format: &'static str,
        /// The parser's word.
        why: String,
    },
    /// A text is larger or nested deeper than any scenario.
    #[error("{at}: {what} is limited to {limit}")]
    Limit {
        /// Where.
        at: Place,
        /// What is too large.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// A setting has the wrong type or a value outside its limits.
    #[error("{}{field} = {value}: {limit}", prefix(at.as_ref()))]
    Setting {
        /// Where it was written, if it was.
        at: Option<Place>,
        /// Dotted name.
        field: String,
        /// The value as given.
        value: String,
        /// What is allowed.
        limit: String,
    },
    /// There is no setting of this name.
    #[error("{}{field}: unknown setting{hint}", prefix(at.as_ref()))]
    Unknown {
        /// Where it was written.
        at: Option<Place>,
        /// Dotted name.
        field: String,
        /// Empty, or "; did you mean `channels`?", or the names that there are.
        hint: String,
    },
    /// A setting without a default is absent.
    #[error("{}{field} is missing{hint}", prefix(at.as_ref()))]
    Missing {
        /// Where its table was written, if it was.
        at: Option<Place>,
        /// Dotted name.
        field: String,
        /// What to write.
        hint: String,
    },
    /// There is no preset of this name.
    #[error("{}no preset or file \"{name}\"{hint}", prefix(at.as_ref()))]
    NoPreset {
        /// Where it was asked for, if in a file.
        at: Option<Place>,
        /// The name.
        name: String,
        /// A suggestion, or all names.
        hint: String,
    },
    /// Scenarios extend each other in a circle.
    #[error("{at}: extends itself: {chain}")]
    Cycle {
        /// Where the circle closes.
        at: Place,
        /// The files, from the first to itself again.
        chain: String,
    },
    /// An override is not of the form `a.b=c`.
    #[error("override \"{text}\": {why}")]
    Override {
        /// The override.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// A scenario cannot be written as TOML.
    #[error("the scenario cannot be written as TOML: {why}")]
    NotToml {
        /// The serialiser's word.
        why: String,
    },
    /// Several settings are wrong, each in a line of its own.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
    /// A trace or job file of the workload is at fault, not the scenario.
    #[error(transparent)]
    Workload(WorkloadError),
}

fn lines(errors: &[ScenarioError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn prefix(at: Option<&Place>) -> String {
    at.map_or_else(String::new, |place| format!("{place}: "))
}

impl ScenarioError {
    /// No preset `name`, asked for at `at`.
    pub(super) fn no_preset(at: Option<Place>, name: &str) -> Self {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        Self::NoPreset { at, name: one_line(name), hint: hint(name, &names) }
    }
}

/// "; did you mean `x`?" where one of `known` is near `name`; otherwise "; known are …".
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(name, known) {
        return format!("; did you mean `{near}`?");
    }
    if known.is_empty() {
        return String::new();
    }
    format!("; known are {}", known.join(", "))
}

/// The one of `known` that `name` was probably meant to be.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = name.to_lowercase().replace('-', "_");
    known
        .iter()
        .map(|&candidate| {
            let target = candidate.to_lowercase().replace('-', "_");
            (strsim::damerau_levenshtein(&folded, &target), candidate)
        })
        .filter(|&(distance, candidate)| {
            distance <= 1 + candidate.chars().count() / 4 && distance < candidate.len()
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

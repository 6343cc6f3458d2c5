//! A serde deserializer from the tree of settings, which adds the path of the setting to each error.

pub(super) mod amounts;
mod tree_decoder;

use super::error::ScenarioError;
use super::position::one_line;
use super::synonyms;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use super::{Provenance, SourcePosition};
use serde::de::{self, DeserializeOwned, Expected, Unexpected};
use std::fmt;
use tree_decoder::TreeDecoder;

/// Errors that are listed at once.
const MOST_LISTED: usize = 10;

/// Reads a `T` from the merged tree in `provenance`.
///
/// # Errors
/// Every setting that is unknown or invalid by itself, in the order of the lines. Serde stops at the first error, so each such setting is
/// removed and the rest decoded again.
pub(super) fn decode<T: DeserializeOwned>(provenance: &Provenance) -> Result<T, ScenarioError> {
    let mut errors = Vec::new();
    let first = match T::deserialize(TreeDecoder { node: provenance.root(), key: "" }) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let (mut remaining, mut error) = (provenance.root().clone(), first);
    loop {
        let path: Vec<PathStep> = error.path.iter().rev().cloned().collect();
        let position = provenance.position_of(&path);
        let missing = matches!(error.fault, DecodeFault::Missing(_));
        if missing && !errors.is_empty() {
            break; // perhaps only because it was taken away, or because its name is what was misspelt
        }
        errors.push((position, error.located(provenance)));
        if missing || !remaining.remove(&path) || errors.len() == MOST_LISTED {
            break;
        }
        match T::deserialize(TreeDecoder { node: &remaining, key: "" }) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    errors
        .sort_by_cached_key(|(position, _)| position.clone().map(|position| (position.file, position.line)));
    let mut errors: Vec<ScenarioError> = errors.into_iter().map(|(_, error)| error).collect();
    match errors.pop() {
        Some(only) if errors.is_empty() => Err(only),
        last => {
            errors.extend(last);
            Err(ScenarioError::Several(errors))
        }
    }
}

/// An error about a setting. `path` is filled from the inside out while the error travels up.
#[derive(Debug)]
struct DecodeError {
    path: Vec<PathStep>,
    fault: DecodeFault,
}

#[derive(Debug)]
enum DecodeFault {
    /// A value of the wrong type or outside its limits, with the limit.
    Invalid(String),
    UnknownKey(&'static [&'static str]),
    UnknownChoice(&'static [&'static str]),
    Missing(&'static str),
}

impl DecodeError {
    fn new(fault: DecodeFault) -> Self {
        Self { path: Vec::new(), fault }
    }

    /// The error with the step that leads to the setting from the table or list around it.
    fn within(mut self, step: PathStep) -> Self {
        self.path.push(step);
        self
    }

    /// The error for the user, with the position of the setting.
    fn located(mut self, provenance: &Provenance) -> ScenarioError {
        self.path.reverse();
        let node = provenance.root().deepest(&self.path);
        let at: Option<SourcePosition> = provenance.position_of(&self.path);
        let field = dotted(&self.path);
        let name_of = |node: &SettingNode| match &node.value {
            SettingValue::Text(text) => text.clone(),
            _ => node.shown(),
        };
        match self.fault {
            DecodeFault::Invalid(limit) => {
                let limit = without_value(&limit, &name_of(node));
                ScenarioError::Setting { at, field, value: node.shown(), limit }
            }
            DecodeFault::UnknownChoice(names) => {
                let limit = format!("unknown choice{}", synonyms::hint_of_choice(&name_of(node), names));
                ScenarioError::Setting { at, field, value: node.shown(), limit }
            }
            DecodeFault::UnknownKey(names) => {
                let mut tables: Vec<&str> = self.path.iter().filter_map(PathStep::as_key).collect();
                let key = tables.pop().unwrap_or_default();
                ScenarioError::Unknown { at, field, hint: synonyms::hint(&tables, key, names) }
            }
            DecodeFault::Missing(name) => {
                self.path.push(PathStep::Key(name.to_owned()));
                let hint = match name {
                    "device" | "workload" => {
                        format!(": write a [{name}] table, or extend a preset, such as extends = \"demo\"")
                    }
                    _ => ": it has no default".to_owned(),
                };
                ScenarioError::Missing { at, field: dotted(&self.path), hint }
            }
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            DecodeFault::Invalid(limit) => f.write_str(limit),
            DecodeFault::UnknownKey(names) => write!(f, "unknown setting; known are {}", names.join(", ")),
            DecodeFault::UnknownChoice(names) => write!(f, "unknown choice; known are {}", names.join(", ")),
            DecodeFault::Missing(name) => write!(f, "{name} is missing"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// A message about a value without the value in front, which the setting's own message has already.
fn without_value(limit: &str, value: &str) -> String {
    let Some(rest) = limit.strip_prefix(&format!("\"{value}\"")) else { return limit.to_owned() };
    if let Some(meant) = rest.strip_prefix(": ") {
        return meant.to_owned();
    }
    match rest.strip_prefix(" is not ") {
        Some(expected) => format!("must be {expected}"),
        None => limit.to_owned(),
    }
}

/// The text for a type in a message of serde, such as `u8`.
fn in_words(expected: &str) -> String {
    let range = |most: u64| format!("must be a whole number from 0 to {most}");
    match expected {
        "u8" => range(u64::from(u8::MAX)),
        "u16" => range(u64::from(u16::MAX)),
        "u32" => range(u64::from(u32::MAX)),
        "u64" => range(u64::MAX),
        "f64" | "f32" => "must be a number".to_owned(),
        "a boolean" => "must be true or false".to_owned(),
        "a string" => "must be text in quotes".to_owned(),
        "a sequence" => "must be a list, such as [1, 2]".to_owned(),
        _ if expected.starts_with("struct ") => "must be a table of settings".to_owned(),
        other => format!("must be {}", other.strip_prefix("any ").unwrap_or(other)),
    }
}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(DecodeFault::Invalid(one_line(&message.to_string())))
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(unexpected, expected)
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mut limit = in_words(&expected.to_string());
        if matches!(unexpected, Unexpected::Signed(value) if value < 0) {
            limit.push_str("; the least is 0");
        }
        Self::new(DecodeFault::Invalid(limit))
    }
    fn unknown_field(_: &str, names: &'static [&'static str]) -> Self {
        Self::new(DecodeFault::UnknownKey(names))
    }
    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Self::new(DecodeFault::UnknownChoice(names))
    }
    fn missing_field(name: &'static str) -> Self {
        Self::new(DecodeFault::Missing(name))
    }
}

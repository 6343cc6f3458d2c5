//! Parses layers into trees of settings: TOML with line numbers, JSON without.

use super::error::ScenarioError;
use super::position::{SourcePosition, one_line};
use super::tree::{MAX_DEPTH, NodeOrigin, SettingNode, SettingValue};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes of a layer at most: more than any scenario has, and parsed within milliseconds.
const MAX_TEXT: usize = 1 << 20;

/// Finds the line of a byte offset.
struct LineIndex {
    source: Arc<str>,
    /// Byte offsets at which lines start; empty for sources without lines.
    starts: Vec<usize>,
}

impl LineIndex {
    fn new(source: &str, text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { source: source.into(), starts }
    }

    /// The origin of the text at a byte offset.
    fn at(&self, offset: usize) -> NodeOrigin {
        // Lines count from 1, so the number of a line is that of the lines that start at or before the offset.
        let line = self.starts.partition_point(|&start| start <= offset);
        NodeOrigin { source: Arc::clone(&self.source), line: line as u32 }
    }
}

fn check_length(source: &str, text: &str) -> Result<(), ScenarioError> {
    let at = SourcePosition { file: source.to_owned(), line: None };
    if text.len() > MAX_TEXT {
        return Err(ScenarioError::Limit {
            at,
            measure: "the length of a scenario in bytes",
            limit: MAX_TEXT,
        });
    }
    Ok(())
}

fn too_deep(origin: &NodeOrigin) -> ScenarioError {
    ScenarioError::Limit { at: origin.position(), measure: "the nesting of settings", limit: MAX_DEPTH }
}

/// The tree of a TOML text that is called `source` in messages.
pub(super) fn toml_tree(source: &str, text: &str) -> Result<SettingNode, ScenarioError> {
    check_length(source, text)?;
    let lines = LineIndex::new(source, text);
    let table = DeTable::parse(text).map_err(|error| ScenarioError::Syntax {
        at: error.span().map_or_else(|| lines.at(0), |span| lines.at(span.start)).position(),
        format: "TOML",
        why: one_line(error.message().trim()),
    })?;
    let origin = lines.at(0);
    Ok(SettingNode { value: toml_table(table.get_ref(), &lines, 0, &origin)?, origin })
}

fn toml_table(
    table: &DeTable<'_>,
    lines: &LineIndex,
    depth: usize,
    origin: &NodeOrigin,
) -> Result<SettingValue, ScenarioError> {
    if depth >= MAX_DEPTH {
        return Err(too_deep(origin));
    }
    let mut nodes = BTreeMap::new();
    for (key, value) in table {
        let origin = lines.at(key.span().start);
        let value = toml_value(value, lines, depth + 1, &origin)?;
        nodes.insert(key.get_ref().to_string(), SettingNode { origin, value });
    }
    Ok(SettingValue::Table(nodes))
}

fn toml_value(
    value: &Spanned<DeValue<'_>>,
    lines: &LineIndex,
    depth: usize,
    origin: &NodeOrigin,
) -> Result<SettingValue, ScenarioError> {
    Ok(match value.get_ref() {
        DeValue::Table(table) => toml_table(table, lines, depth, origin)?,
        DeValue::Array(items) => {
            if depth >= MAX_DEPTH {
                return Err(too_deep(origin));
            }
            let mut nodes = Vec::with_capacity(items.len());
            for item in items {
                let origin = lines.at(item.span().start);
                let value = toml_value(item, lines, depth + 1, &origin)?;
                nodes.push(SettingNode { origin, value });
            }
            SettingValue::Array(nodes)
        }
        DeValue::String(text) => SettingValue::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            // A number too large for any setting becomes text, whose error then shows it as written.
            i128::from_str_radix(&digits, number.radix())
                .map_or(SettingValue::Text(digits), SettingValue::Integer)
        }
        DeValue::Float(number) => {
            let digits = number.as_str().replace('_', "");
            digits.parse().map_or(SettingValue::Text(digits), SettingValue::Float)
        }
        DeValue::Boolean(value) => SettingValue::Boolean(*value),
        DeValue::Datetime(date) => SettingValue::Date(date.to_string()),
    })
}

/// The tree of a JSON text that is called `source` in messages. `null` removes an inherited setting.
pub(super) fn json_tree(source: &str, text: &str) -> Result<SettingNode, ScenarioError> {
    check_length(source, text)?;
    let origin = NodeOrigin { source: source.into(), line: 0 };
    let value: Json = serde_json::from_str(text).map_err(|error| ScenarioError::Syntax {
        at: SourcePosition { file: source.to_owned(), line: u32::try_from(error.line()).ok() },
        format: "JSON",
        why: one_line(&error.to_string()),
    })?;
    if !value.is_object() {
        let why = "the outermost value must be an object".to_owned();
        return Err(ScenarioError::Syntax { at: origin.position(), format: "JSON", why });
    }
    json_value(value, &origin, 0)
}

fn json_value(value: Json, origin: &NodeOrigin, depth: usize) -> Result<SettingNode, ScenarioError> {
    if depth >= MAX_DEPTH {
        return Err(too_deep(origin));
    }
    let value = match value {
        Json::Null => SettingValue::Null,
        Json::Bool(value) => SettingValue::Boolean(value),
        Json::String(text) => SettingValue::Text(text),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(integer), _) => SettingValue::Integer(integer),
            (None, Some(float)) => SettingValue::Float(float),
            (None, None) => SettingValue::Text(number.to_string()),
        },
        Json::Array(items) => SettingValue::Array(
            items.into_iter().map(|item| json_value(item, origin, depth + 1)).collect::<Result<_, _>>()?,
        ),
        Json::Object(entries) => {
            let mut nodes = BTreeMap::new();
            for (key, value) in entries {
                nodes.insert(key, json_value(value, origin, depth + 1)?);
            }
            SettingValue::Table(nodes)
        }
    };
    Ok(SettingNode { origin: origin.clone(), value })
}

/// The value of an override: a TOML value if it is one, and otherwise the text itself.
pub(super) fn override_value(text: &str, origin: &NodeOrigin) -> Result<SettingValue, ScenarioError> {
    check_length("overrides", text)?;
    let trimmed = text.trim();
    if trimmed == "null" {
        return Ok(SettingValue::Null);
    }
    // Most texts, such as `50us` or a path, are no TOML values.
    let Ok(value) = DeValue::parse(trimmed) else { return Ok(SettingValue::Text(text.to_owned())) };
    let lines = LineIndex { source: Arc::clone(&origin.source), starts: Vec::new() };
    Ok(match toml_value(&value, &lines, 0, origin)? {
        SettingValue::Date(_) => SettingValue::Text(text.to_owned()),
        value @ (SettingValue::Integer(_) | SettingValue::Float(_) | SettingValue::Boolean(_)) => {
            SettingValue::Bare { text: text.to_owned(), value: Box::new(value) }
        }
        value => value,
    })
}

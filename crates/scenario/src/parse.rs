//! Text to tree: TOML with lines, JSON without.

use super::error::ScenarioError;
use super::place::{Place, one_line};
use super::tree::{Kind, MAX_DEPTH, Node, Origin};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longer than any scenario, short enough that parsing it costs nothing.
const MAX_TEXT: usize = 1 << 20;

/// Line numbers of byte offsets.
struct Lines {
    source: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn new(source: &str, text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { source: source.into(), starts }
    }

    fn at(&self, offset: usize) -> Origin {
        let line = self.starts.partition_point(|&start| start <= offset);
        Origin { source: Arc::clone(&self.source), line: line as u32 }
    }
}

fn limits(source: &str, text: &str) -> Result<(), ScenarioError> {
    let at = Place { file: source.to_owned(), line: None };
    if text.len() > MAX_TEXT {
        return Err(ScenarioError::Limit { at, what: "the length of a scenario in bytes", limit: MAX_TEXT });
    }
    Ok(())
}

fn too_deep(origin: &Origin) -> ScenarioError {
    ScenarioError::Limit { at: origin.place(), what: "the nesting of settings", limit: MAX_DEPTH }
}

/// The tree of a TOML text that is called `source` in messages.
pub(super) fn toml_tree(source: &str, text: &str) -> Result<Node, ScenarioError> {
    limits(source, text)?;
    let lines = Lines::new(source, text);
    let table = DeTable::parse(text).map_err(|error| ScenarioError::Syntax {
        at: error.span().map_or_else(|| lines.at(0), |span| lines.at(span.start)).place(),
        format: "TOML",
        why: one_line(error.message().trim()),
    })?;
    let origin = lines.at(0);
    Ok(Node { kind: toml_table(table.get_ref(), &lines, 0, &origin)?, origin })
}

fn toml_table(
    table: &DeTable<'_>,
    lines: &Lines,
    depth: usize,
    origin: &Origin,
) -> Result<Kind, ScenarioError> {
    if depth >= MAX_DEPTH {
        return Err(too_deep(origin));
    }
    let mut nodes = BTreeMap::new();
    for (key, value) in table {
        let origin = lines.at(key.span().start);
        let kind = toml_value(value, lines, depth + 1, &origin)?;
        nodes.insert(key.get_ref().to_string(), Node { origin, kind });
    }
    Ok(Kind::Table(nodes))
}

fn toml_value(
    value: &Spanned<DeValue<'_>>,
    lines: &Lines,
    depth: usize,
    origin: &Origin,
) -> Result<Kind, ScenarioError> {
    Ok(match value.get_ref() {
        DeValue::Table(table) => toml_table(table, lines, depth, origin)?,
        DeValue::Array(items) => {
            if depth >= MAX_DEPTH {
                return Err(too_deep(origin));
            }
            let mut nodes = Vec::with_capacity(items.len());
            for item in items {
                let origin = lines.at(item.span().start);
                let kind = toml_value(item, lines, depth + 1, &origin)?;
                nodes.push(Node { origin, kind });
            }
            Kind::Array(nodes)
        }
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i128::from_str_radix(&digits, number.radix()).map_or(Kind::Text(digits), Kind::Integer)
        }
        DeValue::Float(number) => {
            let digits = number.as_str().replace('_', "");
            digits.parse().map_or(Kind::Text(digits), Kind::Float)
        }
        DeValue::Boolean(value) => Kind::Boolean(*value),
        DeValue::Datetime(date) => Kind::Date(date.to_string()),
    })
}

/// The tree of a JSON text that is called `source` in messages. `null` takes an inherited setting away.
pub(super) fn json_tree(source: &str, text: &str) -> Result<Node, ScenarioError> {
    limits(source, text)?;
    let origin = Origin { source: source.into(), line: 0 };
    let value: Json = serde_json::from_str(text).map_err(|error| ScenarioError::Syntax {
        at: Place { file: source.to_owned(), line: u32::try_from(error.line()).ok() },
        format: "JSON",
        why: one_line(&error.to_string()),
    })?;
    if !value.is_object() {
        let why = "the outermost value must be an object".to_owned();
        return Err(ScenarioError::Syntax { at: origin.place(), format: "JSON", why });
    }
    json_value(value, &origin, 0)
}

fn json_value(value: Json, origin: &Origin, depth: usize) -> Result<Node, ScenarioError> {
    if depth >= MAX_DEPTH {
        return Err(too_deep(origin));
    }
    let kind = match value {
        Json::Null => Kind::Null,
        Json::Bool(value) => Kind::Boolean(value),
        Json::String(text) => Kind::Text(text),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(integer), _) => Kind::Integer(integer),
            (None, Some(float)) => Kind::Float(float),
            (None, None) => Kind::Text(number.to_string()),
        },
        Json::Array(items) => Kind::Array(
            items.into_iter().map(|item| json_value(item, origin, depth + 1)).collect::<Result<_, _>>()?,
        ),
        Json::Object(entries) => {
            let mut nodes = BTreeMap::new();
            for (key, value) in entries {
                nodes.insert(key, json_value(value, origin, depth + 1)?);
            }
            Kind::Table(nodes)
        }
    };
    Ok(Node { origin: origin.clone(), kind })
}

/// The value of an override: what it is as a TOML value, or else the text itself.
pub(super) fn override_value(text: &str, origin: &Origin) -> Result<Kind, ScenarioError> {
    limits("override", text)?;
    let trimmed = text.trim();
    if trimmed == "null" {
        return Ok(Kind::Null);
    }
    let Ok(value) = DeValue::parse(trimmed) else { return Ok(Kind::Text(text.to_owned())) };
    let lines = Lines { source: Arc::clone(&origin.source), starts: Vec::new() };
    Ok(match toml_value(&value, &lines, 0, origin)? {
        Kind::Date(_) => Kind::Text(text.to_owned()),
        value @ (Kind::Integer(_) | Kind::Float(_) | Kind::Boolean(_)) => {
            Kind::Bare { text: text.to_owned(), value: Box::new(value) }
        }
        value => value,
    })
}

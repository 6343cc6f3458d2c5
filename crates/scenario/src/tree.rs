//! A layer as a tree of settings, each with its position.

use super::position::{SourcePosition, one_line};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Depth of a tree at most: deeper than any scenario, and a bound of every recursion over it.
pub(super) const MAX_DEPTH: usize = 32;

/// Source of a node and its line, counted from 1; 0 for sources without lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeOrigin {
    pub(super) source: Arc<str>,
    pub(super) line: u32,
}

impl NodeOrigin {
    pub(super) fn position(&self) -> SourcePosition {
        SourcePosition { file: self.source.to_string(), line: (self.line > 0).then_some(self.line) }
    }
}

/// One setting, or a table of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SettingNode {
    pub(super) origin: NodeOrigin,
    pub(super) value: SettingValue,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SettingValue {
    Table(BTreeMap<String, SettingNode>),
    Array(Vec<SettingNode>),
    /// New values for some elements of an array of a lower layer, by index, as in `a.list[2].b=c`.
    Patch(BTreeMap<usize, SettingNode>),
    /// Removes an inherited setting, so that its default holds again.
    Null,
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// A date or time of day, which no setting takes.
    Date(String),
    /// An override without quotes, both as text and as a value: the type of the setting decides.
    Bare {
        text: String,
        value: Box<SettingValue>,
    },
}

impl SettingNode {
    /// The value as it would be written in a scenario, shortened.
    pub(super) fn shown(&self) -> String {
        self.value.shown()
    }

    /// Removes the setting at `steps` below this node; false if it is an element of a list, or not there.
    pub(super) fn remove(&mut self, steps: &[PathStep]) -> bool {
        // Elements of a list stay: removing one would change the indices of those behind it.
        let Some((PathStep::Key(last), parents)) = steps.split_last() else { return false };
        match self.at_mut(parents).map(|node| &mut node.value) {
            Some(SettingValue::Table(table)) => table.remove(last).is_some(),
            _ => false,
        }
    }

    /// The node at `steps` below this one.
    pub(super) fn at_mut(&mut self, steps: &[PathStep]) -> Option<&mut Self> {
        steps.iter().try_fold(self, |node, step| match (&mut node.value, step) {
            (SettingValue::Table(table), PathStep::Key(key)) => table.get_mut(key),
            (SettingValue::Array(items), PathStep::Index(index)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// The node at `steps` below this one, or the deepest one on that path.
    pub(super) fn deepest<'a>(&'a self, steps: &[PathStep]) -> &'a Self {
        let mut node = self;
        for step in steps {
            let next = match (&node.value, step) {
                (SettingValue::Table(table), PathStep::Key(key)) => table.get(key),
                (SettingValue::Array(items), PathStep::Index(index)) => items.get(*index),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}

impl SettingValue {
    fn shown(&self) -> String {
        match self {
            Self::Table(_) => "{ … }".to_owned(),
            Self::Array(_) | Self::Patch(_) => "[ … ]".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Text(text) if text.chars().count() > 60 => {
                format!("\"{}…\"", one_line(&text.chars().take(60).collect::<String>()))
            }
            Self::Text(text) => format!("\"{}\"", one_line(text)),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Date(text) => text.clone(),
            Self::Bare { value, .. } => value.shown(),
        }
    }

    /// The value, of an override as a value and not as text.
    pub(super) fn plain(&self) -> &Self {
        match self {
            Self::Bare { value, .. } => value,
            other => other,
        }
    }

    /// The type of the value in words.
    pub(super) fn described(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Array(_) | Self::Patch(_) => "a list",
            Self::Null => "null",
            Self::Text(_) => "text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Date(_) => "a date",
            Self::Bare { value, .. } => value.described(),
        }
    }
}

/// One step of a dotted path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

impl PathStep {
    /// The key, unless it is an index.
    pub(super) fn as_key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Index(_) => None,
        }
    }
}

/// The dotted form of a path: `workload.synthetic.phases[0].rate_iops`.
pub(super) fn dotted(steps: &[PathStep]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            PathStep::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&one_line(key));
            }
            PathStep::Index(index) => {
                text.push('[');
                text.push_str(&index.to_string());
                text.push(']');
            }
        }
    }
    text
}

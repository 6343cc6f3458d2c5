//! A layer as a tree of settings, each with the place where it was written.

use super::place::{Place, one_line};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Deeper than any scenario; bounds every recursion over a tree.
pub(super) const MAX_DEPTH: usize = 32;

/// Where a node was written: its source and its line there, 0 for sources without lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    pub(super) source: Arc<str>,
    pub(super) line: u32,
}

impl Origin {
    pub(super) fn place(&self) -> Place {
        Place { file: self.source.to_string(), line: (self.line > 0).then_some(self.line) }
    }
}

/// One setting, or a table of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) kind: Kind,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Table(BTreeMap<String, Node>),
    Array(Vec<Node>),
    /// New values for some elements of an array that a lower layer holds, by index: what `a.list[2].b=c` gives.
    Patch(BTreeMap<usize, Node>),
    /// Takes an inherited setting away, so that its default holds again.
    Null,
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// A date or time of day, which no setting takes.
    Date(String),
    /// What an override gave without quotes: both readings are kept until the setting's type is known.
    Bare {
        text: String,
        value: Box<Kind>,
    },
}

impl Node {
    /// The value as it would be written in a scenario, shortened.
    pub(super) fn shown(&self) -> String {
        self.kind.shown()
    }

    /// Takes the setting at `steps` below this one away; false if it is an element of a list, or not there.
    pub(super) fn remove(&mut self, steps: &[Step]) -> bool {
        let Some((Step::Key(last), way)) = steps.split_last() else { return false };
        let mut node = self;
        for step in way {
            let next = match (&mut node.kind, step) {
                (Kind::Table(table), Step::Key(key)) => table.get_mut(key),
                (Kind::Array(items), Step::Index(index)) => items.get_mut(*index),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return false,
            }
        }
        match &mut node.kind {
            Kind::Table(table) => table.remove(last).is_some(),
            _ => false,
        }
    }

    /// The node at `steps` below this one, or the deepest one on the way.
    pub(super) fn deepest<'a>(&'a self, steps: &[Step]) -> &'a Self {
        let mut node = self;
        for step in steps {
            let next = match (&node.kind, step) {
                (Kind::Table(table), Step::Key(key)) => table.get(key),
                (Kind::Array(items), Step::Index(index)) => items.get(*index),
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

impl Kind {
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

    /// The value itself, also of an override.
    pub(super) fn plain(&self) -> &Self {
        match self {
            Self::Bare { value, .. } => value,
            other => other,
        }
    }

    /// What kind of value this is, in words.
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
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Steps as people write them: `workload.synthetic.phases[0].rate_iops`.
pub(super) fn dotted(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&one_line(key));
            }
            Step::Index(index) => {
                text.push('[');
                text.push_str(&index.to_string());
                text.push(']');
            }
        }
    }
    text
}

//! Position of a setting in the layers of a scenario, for messages.

use std::fmt;

/// File and line in which a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Path of the file, or a name in its place: `preset demo`, `override`.
    pub file: String,
    /// Line, counted from 1; `None` for sources without lines.
    pub line: Option<u32>,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// `text` with control characters, line breaks among them, as escapes, so that a message stays in one line.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

//! Cuts a job file into sections of keys and values: comments, variables and includes as in fio.

use crate::WorkloadError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values of `${NAME}` in a job, by name.
pub(super) type JobVariables = BTreeMap<String, String>;

/// Depth of includes at most. fio has no limit and recurses for ever if a file includes itself.
const MOST_NESTED: usize = 8;

/// File and line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinePosition {
    pub(super) file: Arc<str>,
    pub(super) line: u64,
}

/// One `key=value`, or a bare `key`.
#[derive(Clone, Debug)]
pub(super) struct JobFileEntry {
    pub(super) key: String,
    /// `None` for a bare key, which fio takes as true.
    pub(super) value: Option<String>,
    pub(super) position: LinePosition,
}

/// One `[name]` with its entries.
#[derive(Clone, Debug)]
pub(super) struct JobSection {
    pub(super) name: String,
    pub(super) position: LinePosition,
    pub(super) entries: Vec<JobFileEntry>,
}

/// Reads an included file: returns its path and its text.
pub(super) type IncludeReader<'a> =
    &'a dyn Fn(&str, &LinePosition) -> Result<(String, String), WorkloadError>;

/// Cuts `text` into sections. A `#` or `;` begins a comment wherever it stands, as in fio.
pub(super) fn sections(
    file: &str,
    text: &str,
    variables: &JobVariables,
    include: IncludeReader<'_>,
) -> Result<Vec<JobSection>, WorkloadError> {
    let mut reader = SectionReader { sections: Vec::new(), variables, include };
    reader.read_file(file, text, 0)?;
    Ok(reader.sections)
}

struct SectionReader<'a> {
    sections: Vec<JobSection>,
    variables: &'a JobVariables,
    include: IncludeReader<'a>,
}

impl SectionReader<'_> {
    fn read_file(&mut self, file: &str, text: &str, nested: usize) -> Result<(), WorkloadError> {
        let name: Arc<str> = file.into();
        for (index, full_line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let position = LinePosition { file: name.clone(), line: index as u64 + 1 };
            let line = full_line.split([';', '#']).next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let malformed = || WorkloadError::JobLine {
                file: file.to_owned(),
                line: position.line,
                text: line.chars().take(60).collect(),
            };
            if let Some(header) = line.strip_prefix('[') {
                let name = header
                    .strip_suffix(']')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .ok_or_else(malformed)?;
                if nested > 0 {
                    return Err(refused(
                        &position,
                        "[",
                        name,
                        "an included file has options and no sections",
                    ));
                }
                let name = name.to_owned();
                self.sections.push(JobSection { name, position, entries: Vec::new() });
                continue;
            }
            if self.sections.is_empty() {
                return Err(malformed());
            }
            // fio skips one character after the word, whichever it is: `include=FILE` is the same as `include FILE`.
            if let Some(included) =
                line.strip_prefix("include").and_then(|text| text.strip_prefix([' ', '\t', '=']))
            {
                if nested == MOST_NESTED {
                    return Err(refused(
                        &position,
                        "include",
                        included.trim(),
                        "files include each other too deeply",
                    ));
                }
                let (file, text) = (self.include)(included.trim(), &position)?;
                self.read_file(&file, &text, nested + 1)?;
                continue;
            }
            let entry = self.parse_entry(line, position.clone())?;
            if entry.key.is_empty() || entry.key.contains(char::is_whitespace) {
                return Err(malformed());
            }
            if let Some(section) = self.sections.last_mut() {
                section.entries.push(entry);
            }
        }
        Ok(())
    }

    fn parse_entry(&self, line: &str, position: LinePosition) -> Result<JobFileEntry, WorkloadError> {
        let line = self.substitute(line, &position)?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim().to_owned(), Some(value.trim().to_owned())),
            None => (line.trim().to_owned(), None),
        };
        // fio replaces these by properties of the computer it runs on.
        let machine = ["$pagesize", "$mb_memory", "$ncpus"];
        if let Some(word) =
            value.as_deref().and_then(|value| machine.iter().find(|word| value.contains(**word)))
        {
            let why = "would depend on the machine that simulates; write the number";
            return Err(refused(&position, &key, word, why));
        }
        Ok(JobFileEntry { key, value, position })
    }

    /// Replaces `${NAME}` by the value that the scenario gives it.
    fn substitute(&self, line: &str, position: &LinePosition) -> Result<String, WorkloadError> {
        let mut out = String::new();
        let mut remaining = line;
        while let Some((before, after)) = remaining.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            let Some(value) = self.variables.get(name) else {
                let why = "has no value: give it under workload.fio.vars, or in the environment of the command line";
                return Err(refused(
                    position,
                    line.split('=').next().unwrap_or(line).trim(),
                    &format!("${{{name}}}"),
                    why,
                ));
            };
            out.push_str(before);
            out.push_str(value);
            remaining = after;
        }
        out.push_str(remaining);
        Ok(out)
    }
}

/// An error about `key` and its `value` in a line.
pub(super) fn refused(position: &LinePosition, key: &str, value: &str, expected: &str) -> WorkloadError {
    WorkloadError::JobValue {
        file: position.file.to_string(),
        line: position.line,
        key: key.chars().take(60).collect(),
        value: value.chars().take(60).collect(),
        expected: expected.to_owned(),
    }
}

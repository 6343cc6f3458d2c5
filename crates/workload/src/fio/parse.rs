//! The lines of a job file: sections of keys and values, with what fio does to a line before it looks at it.

use crate::WorkloadError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What `${NAME}` stands for in a job.
pub(super) type Vars = BTreeMap<String, String>;

/// Files that one includes within another at most: fio's own includes itself for ever.
const MOST_NESTED: usize = 8;

/// Where a line stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: Arc<str>,
    pub(super) line: u64,
}

/// One `key=value`, or a bare `key`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// `None` for a bare key, which fio takes as true.
    pub(super) value: Option<String>,
    pub(super) place: Place,
}

/// One `[name]` with its entries.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) entries: Vec<Entry>,
}

/// Reads the text of a file that another includes: its full name and its text.
pub(super) type Include<'a> = &'a dyn Fn(&str, &Place) -> Result<(String, String), WorkloadError>;

/// Cuts `text` into sections. What follows a # or ; is a comment, wherever it stands, as in fio.
pub(super) fn sections(
    file: &str,
    text: &str,
    vars: &Vars,
    include: Include<'_>,
) -> Result<Vec<Section>, WorkloadError> {
    let mut reader = Reader { sections: Vec::new(), vars, include };
    reader.file(file, text, 0)?;
    Ok(reader.sections)
}

struct Reader<'a> {
    sections: Vec<Section>,
    vars: &'a Vars,
    include: Include<'a>,
}

impl Reader<'_> {
    fn file(&mut self, file: &str, text: &str, nested: usize) -> Result<(), WorkloadError> {
        let name: Arc<str> = file.into();
        for (index, whole) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let place = Place { file: name.clone(), line: index as u64 + 1 };
            let line = whole.split([';', '#']).next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let wrong = || WorkloadError::JobLine {
                file: file.to_owned(),
                line: place.line,
                text: line.chars().take(60).collect(),
            };
            if let Some(rest) = line.strip_prefix('[') {
                let name = rest
                    .strip_suffix(']')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .ok_or_else(wrong)?;
                if nested > 0 {
                    return Err(refused(&place, "[", name, "an included file has options and no sections"));
                }
                let name = name.to_owned();
                self.sections.push(Section { name, place, entries: Vec::new() });
                continue;
            }
            if self.sections.is_empty() {
                return Err(wrong());
            }
            // fio takes what follows the character behind the word, whichever that is: `include=FILE` is the same as `include FILE`.
            if let Some(rest) =
                line.strip_prefix("include").and_then(|rest| rest.strip_prefix([' ', '\t', '=']))
            {
                if nested == MOST_NESTED {
                    return Err(refused(
                        &place,
                        "include",
                        rest.trim(),
                        "files include each other too deeply",
                    ));
                }
                let (file, text) = (self.include)(rest.trim(), &place)?;
                self.file(&file, &text, nested + 1)?;
                continue;
            }
            let entry = self.entry(line, place.clone())?;
            if entry.key.is_empty() || entry.key.contains(char::is_whitespace) {
                return Err(wrong());
            }
            if let Some(section) = self.sections.last_mut() {
                section.entries.push(entry);
            }
        }
        Ok(())
    }

    fn entry(&self, line: &str, place: Place) -> Result<Entry, WorkloadError> {
        let line = self.substituted(line, &place)?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim().to_owned(), Some(value.trim().to_owned())),
            None => (line.trim().to_owned(), None),
        };
        let machine = ["$pagesize", "$mb_memory", "$ncpus"];
        if let Some(word) =
            value.as_deref().and_then(|value| machine.iter().find(|word| value.contains(**word)))
        {
            let why = "would depend on the machine that simulates; write the number";
            return Err(refused(&place, &key, word, why));
        }
        Ok(Entry { key, value, place })
    }

    /// `${NAME}` becomes what the scenario says of it.
    fn substituted(&self, line: &str, place: &Place) -> Result<String, WorkloadError> {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            let Some(value) = self.vars.get(name) else {
                let why = "has no value: give it under workload.fio.vars, or in the environment of the command line";
                return Err(refused(
                    place,
                    line.split('=').next().unwrap_or(line).trim(),
                    &format!("${{{name}}}"),
                    why,
                ));
            };
            out.push_str(before);
            out.push_str(value);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// The error for something at a place.
pub(super) fn refused(place: &Place, key: &str, value: &str, expected: &str) -> WorkloadError {
    WorkloadError::JobValue {
        file: place.file.to_string(),
        line: place.line,
        key: key.chars().take(60).collect(),
        value: value.chars().take(60).collect(),
        expected: expected.to_owned(),
    }
}

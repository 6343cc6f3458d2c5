//! The lines of a job file: sections of keys and values.

use crate::WorkloadError;

/// One `key=value`, or a bare `key`.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    /// `None` for a bare key, which fio takes as true.
    pub(super) value: Option<&'a str>,
    pub(super) line: u64,
}

/// One `[name]` with its entries.
#[derive(Clone, Debug)]
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) line: u64,
    pub(super) entries: Vec<Entry<'a>>,
}

/// Cuts `text` into sections. Lines that start with # or ; are comments.
pub(super) fn sections<'a>(file: &str, text: &'a str) -> Result<Vec<Section<'a>>, WorkloadError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index as u64 + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let wrong =
            || WorkloadError::JobLine { file: file.to_owned(), line: number, text: crate_shown(line) };
        if let Some(rest) = line.strip_prefix('[') {
            let name =
                rest.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()).ok_or_else(wrong)?;
            sections.push(Section { name, line: number, entries: Vec::new() });
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(wrong());
        }
        let section = sections.last_mut().ok_or_else(wrong)?;
        section.entries.push(Entry { key, value, line: number });
    }
    Ok(sections)
}

/// The line for a message, shortened.
fn crate_shown(line: &str) -> String {
    line.chars().take(60).collect()
}

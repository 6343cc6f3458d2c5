//! A result as text, without what differs from run to run, and its hash.

use outlast_engine::RunResult;
use outlast_units::rng::mix;
use serde_json::Value;
use std::fmt::Write as _;

/// What the run itself cost, and what is no finding of it: sections and figures of the summary.
const APART: [(&str, &[&str]); 7] = [
    ("time", &["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"]),
    ("throughput", &["requests_per_cpu_s"]),
    // How much memory the program takes is its form.
    ("memory", &[]),
    // What was asked for: a new setting with a default changes no result.
    ("scenario", &[]),
    ("beyond_range", &[]),
    ("schema", &[]),
    ("version", &[]),
];

/// The summary and all tables, a figure to a line.
pub(crate) fn text(result: &RunResult) -> Result<String, String> {
    let mut summary = serde_json::to_value(&result.summary).map_err(|error| error.to_string())?;
    for (section, figures) in APART {
        let whole = summary.as_object_mut().ok_or("the summary is no object")?;
        if figures.is_empty() {
            whole.remove(section);
        } else if let Some(section) = whole.get_mut(section).and_then(Value::as_object_mut) {
            section.retain(|figure, _| !figures.contains(&figure.as_str()));
        }
    }
    let mut text = serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?;
    for (name, table) in &result.tables {
        for (column, values) in &table.columns {
            let _ = write!(text, "\n{name}.{column} {values:?}");
        }
    }
    Ok(text)
}

/// A hash of a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

//! A result as text, without what differs from run to run, and its hash.

use outlast_engine::{ResultColumn, RunResult};
use outlast_ftl::{ProgramCause, ReadCause, UnitsWritten};
use outlast_units::rng::mix;
use serde_json::Value;
use std::fmt::Write as _;

/// Sections and figures of the summary that are no result of the simulation: cost of the run itself, settings, versions.
const EXCLUDED: [(&str, &[&str]); 8] = [
    ("time", &["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"]),
    ("throughput", &["requests_per_cpu_s"]),
    // Younger than the table of hashes, in which its mean, least and most are.
    ("queue", &["utilisation_by_die"]),
    // Memory of the program, which a refactoring may change.
    ("memory", &[]),
    // Settings: a new setting with a default changes no result.
    ("scenario", &[]),
    ("beyond_range", &[]),
    ("schema", &[]),
    ("version", &[]),
];

/// Causes of programs that are younger than the table. Where one has not come, its figures are left out, so that hashes go on saying of everything
/// else that it is as it was.
const YOUNG: [ProgramCause; 3] = [ProgramCause::Map, ProgramCause::MapParity, ProgramCause::Fold];
/// The same of causes of reads.
const YOUNG_READS: [ReadCause; 2] = [ReadCause::Fold, ReadCause::Map];

/// Tables that are younger than the table of hashes.
const YOUNG_TABLES: [&str; 1] = ["superblocks_over_time"];

/// True if `name` is a figure or a column of a [young](YOUNG) cause.
fn is_young(name: &str) -> bool {
    let of = |cause: ProgramCause| {
        name.strip_prefix(cause.name())
            .is_some_and(|rest| matches!(rest, "" | "_programs" | "_units" | "_reads"))
    };
    YOUNG.into_iter().any(of) || YOUNG_READS.into_iter().any(|cause| cause.name() == name)
}

/// `text` of counters without those that are younger than the table and have counted nothing, and by the names that types had then.
pub(crate) fn without_young_counters(text: &str) -> String {
    let mut text = text.replace("read_cache_hits: 0, ", "").replace("coalesced_writes: 0, ", "");
    text = text.replace("on_chip_copies: 0, ", "");
    text = text.replace("map_hits: 0, map_misses: 0, ", "");
    text = text.replace("ByReadCause", "Reads").replace("ByProgramCause", "Programs");
    // The youngest causes are the last ones.
    let Some((reads, _)) = text.split_once("Reads([").and_then(|(_, rest)| rest.split_once("])")) else {
        return text;
    };
    let mut old = reads;
    for _ in YOUNG_READS {
        old = old.strip_suffix(", 0").unwrap_or(old);
    }
    text.replacen(reads, old, 1)
}

/// Leaves out the figures of young causes that have not come.
fn prune(value: &mut Value) {
    match value {
        Value::Object(figures) => {
            figures.retain(|name, figure| !(is_young(name) && figure.as_f64() == Some(0.0)));
            figures.values_mut().for_each(prune);
        }
        Value::Array(values) => values.iter_mut().for_each(prune),
        _ => {}
    }
}

/// The summary and all tables, a figure to a line.
pub(crate) fn text(result: &RunResult) -> Result<String, String> {
    let mut summary = serde_json::to_value(&result.summary).map_err(|error| error.to_string())?;
    for (section, figures) in EXCLUDED {
        let whole = summary.as_object_mut().ok_or("the summary is no object")?;
        if figures.is_empty() {
            whole.remove(section);
        } else if let Some(section) = whole.get_mut(section).and_then(Value::as_object_mut) {
            section.retain(|figure, _| !figures.contains(&figure.as_str()));
        }
    }
    prune(&mut summary);
    let mut text = serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?;
    for (name, table) in result.tables.iter().filter(|(name, _)| !YOUNG_TABLES.contains(&name.as_str())) {
        let has_come = |column: &ResultColumn| !matches!(column, ResultColumn::U64(all) if all.iter().all(|&value| value == 0));
        for (column, values) in
            table.columns.iter().filter(|(name, values)| !is_young(name) || has_come(values))
        {
            let _ = write!(text, "\n{name}.{column} {values:?}");
        }
    }
    Ok(text)
}

/// Units written, by cause, without young causes that have not come.
pub(crate) fn units(written: &UnitsWritten) -> String {
    let counted = written.iter().filter(|&(cause, units)| units != 0 || !YOUNG.contains(&cause));
    format!("Programs({:?})", counted.map(|(_, units)| units).collect::<Vec<u64>>())
}

/// A hash of a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

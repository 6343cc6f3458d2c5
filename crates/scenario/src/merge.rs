//! How a layer changes what it extends.

use super::ScenarioError;
use super::tree::{Kind, Node, Step, dotted};
use std::collections::BTreeMap;

/// In the table `table`, a layer that gives `given` a new value drops what it inherited of `drops`: choices that exclude
/// each other, or that made sense only with the choice before. What the layer itself gives stays.
struct Rule {
    table: &'static str,
    given: &'static str,
    drops: &'static [&'static str],
}

const fn rule(table: &'static str, given: &'static str, drops: &'static [&'static str]) -> Rule {
    Rule { table, given, drops }
}

const SYNTHETIC: &str = "workload.synthetic";
const TRACE: &str = "workload.trace";

/// Element numbers are left out of `table`, and a phase counts as the stream that it is part of.
const RULES: &[Rule] = &[
    // What a preset says of itself is not true of another drive or workload.
    rule("", "device", &["description"]),
    rule("", "array", &["description"]),
    rule("", "workload", &["description"]),
    rule("", "faults", &["description"]),
    rule("", "changes", &["description"]),
    rule("workload", "synthetic", &["trace", "fio"]),
    rule("workload", "trace", &["synthetic", "fio"]),
    rule("workload", "fio", &["synthetic", "trace"]),
    rule("workload.fio", "file", &["job"]),
    rule("workload.fio", "job", &["file"]),
    rule("device.ftl", "capacity", &["over_provisioning"]),
    rule("device.ftl", "over_provisioning", &["capacity"]),
    rule(SYNTHETIC, "queue_depth", &["rate_iops", "arrival"]),
    rule(SYNTHETIC, "rate_iops", &["queue_depth"]),
    rule(SYNTHETIC, "size", &["sizes", "align"]),
    rule(SYNTHETIC, "sizes", &["size", "align"]),
    // A new limit is meant to be the limit, not one more beside the inherited one.
    rule(SYNTHETIC, "requests", &["duration", "bytes"]),
    rule(SYNTHETIC, "duration", &["requests", "bytes"]),
    rule(SYNTHETIC, "bytes", &["requests", "duration"]),
    rule(
        SYNTHETIC,
        "pattern",
        &["zipf_theta", "hot_fraction", "hot_access", "hot_stream", "cold_stream", "scramble"],
    ),
    // How the inherited file was to be read says nothing about another one.
    rule(TRACE, "file", &["format", "time_unit", "address_unit", "event", "device"]),
];

/// Lays `over` over `base`: tables merge, all else replaces.
///
/// # Errors
/// An override of an element that the list below does not have.
pub(super) fn merge(base: &mut Node, over: Node) -> Result<(), ScenarioError> {
    merge_at(base, over, &mut Vec::new())
}

fn merge_at(base: &mut Node, over: Node, path: &mut Vec<Step>) -> Result<(), ScenarioError> {
    match over.kind {
        Kind::Table(over_table) => {
            if !matches!(base.kind, Kind::Table(_)) {
                *base = Node { origin: over.origin.clone(), kind: Kind::Table(BTreeMap::new()) };
            }
            if !over_table.is_empty() {
                // What is wrong with a table as a whole is told to whoever wrote into it last.
                base.origin = over.origin;
            }
            let Kind::Table(table) = &mut base.kind else { return Ok(()) };
            drop_excluded(table, &over_table, path);
            for (key, node) in over_table {
                path.push(Step::Key(key.clone()));
                merge_entry(table, key, node, path)?;
                path.pop();
            }
        }
        Kind::Patch(elements) => {
            let length = match &base.kind {
                Kind::Array(items) => items.len(),
                _ => 0,
            };
            for (index, node) in elements {
                path.push(Step::Index(index));
                match &mut base.kind {
                    Kind::Array(items) if index < items.len() => merge_at(&mut items[index], node, path)?,
                    _ => {
                        return Err(ScenarioError::Setting {
                            at: Some(node.origin.place()),
                            field: dotted(path),
                            value: node.shown(),
                            limit: format!("there is no such element; the list has {length}"),
                        });
                    }
                }
                path.pop();
            }
        }
        kind => *base = Node { origin: over.origin, kind },
    }
    Ok(())
}

fn merge_entry(
    table: &mut BTreeMap<String, Node>,
    key: String,
    node: Node,
    path: &mut Vec<Step>,
) -> Result<(), ScenarioError> {
    if node.kind == Kind::Null {
        table.remove(&key);
        return Ok(());
    }
    // Merging into an empty table also takes the nulls out of a new one.
    let empty = Node { origin: node.origin.clone(), kind: Kind::Null };
    merge_at(table.entry(key).or_insert(empty), node, path)
}

fn drop_excluded(table: &mut BTreeMap<String, Node>, over: &BTreeMap<String, Node>, path: &[Step]) {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) if key != "phases" => Some(key.as_str()),
            _ => None,
        })
        .collect();
    let here = keys.join(".");
    for rule in RULES.iter().filter(|rule| rule.table == here) {
        let changed = over.get(rule.given).is_some_and(|new| {
            new.kind != Kind::Null
                && table.get(rule.given).is_none_or(|old| old.kind.plain() != new.kind.plain())
        });
        if changed {
            table.retain(|key, _| !rule.drops.contains(&key.as_str()));
        }
    }
}

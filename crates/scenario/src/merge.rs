//! How a layer changes what it extends.

use super::ScenarioError;
use super::tree::{Kind, Node, Step, dotted};
use super::voids::{Void, drop_void, table_of};
use std::collections::BTreeMap;

/// In the table `table`, a layer that gives `given` a new value drops what it inherited of `drops`. What the layer itself gives stays.
struct Rule {
    table: &'static str,
    given: &'static str,
    drops: &'static [&'static str],
    /// Whether that is said: not where one of two ways to say the same thing takes the place of the other.
    said: bool,
}

/// Choices that exclude each other: the new one replaces the inherited ones.
const fn replaces(table: &'static str, given: &'static str, drops: &'static [&'static str]) -> Rule {
    Rule { table, given, drops, said: false }
}

/// Settings that made sense only with the choice before, whatever the new one is. Those that some choices leave be are in `voids.rs`.
const fn voids(table: &'static str, given: &'static str, drops: &'static [&'static str]) -> Rule {
    Rule { table, given, drops, said: true }
}

const SYNTHETIC: &str = "workload.synthetic";
const TRACE: &str = "workload.trace";

/// Element numbers are left out of `table`, and a phase counts as the stream that it is part of.
const RULES: &[Rule] = &[
    // What a preset says of itself is not true of another drive or workload.
    replaces("", "device", &["description"]),
    replaces("", "array", &["description"]),
    replaces("", "workload", &["description"]),
    replaces("", "faults", &["description"]),
    replaces("", "changes", &["description"]),
    replaces("workload", "synthetic", &["trace", "fio"]),
    replaces("workload", "trace", &["synthetic", "fio"]),
    replaces("workload", "fio", &["synthetic", "trace"]),
    replaces("workload.fio", "file", &["job"]),
    replaces("workload.fio", "job", &["file"]),
    replaces("device.ftl", "capacity", &["over_provisioning"]),
    replaces("device.ftl", "over_provisioning", &["capacity"]),
    replaces(SYNTHETIC, "queue_depth", &["rate_iops", "arrival"]),
    replaces(SYNTHETIC, "rate_iops", &["queue_depth"]),
    replaces(SYNTHETIC, "size", &["sizes"]),
    replaces(SYNTHETIC, "sizes", &["size"]),
    voids(SYNTHETIC, "size", &["align"]),
    voids(SYNTHETIC, "sizes", &["align"]),
    // A new limit is meant to be the limit, not one more beside the inherited one.
    replaces(SYNTHETIC, "requests", &["duration", "bytes"]),
    replaces(SYNTHETIC, "duration", &["requests", "bytes"]),
    replaces(SYNTHETIC, "bytes", &["requests", "duration"]),
    // How the inherited file was to be read says nothing about another one.
    voids(TRACE, "file", &["format", "time_unit", "address_unit", "event", "device"]),
];

/// Lays `over` over `base`: tables merge, all else replaces. What that makes void is added to `dropped`.
///
/// # Errors
/// An override of an element that the list below does not have.
pub(super) fn merge(base: &mut Node, over: Node, dropped: &mut Vec<Void>) -> Result<(), ScenarioError> {
    merge_at(base, over, &mut Vec::new(), dropped)
}

fn merge_at(
    base: &mut Node,
    over: Node,
    path: &mut Vec<Step>,
    dropped: &mut Vec<Void>,
) -> Result<(), ScenarioError> {
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
            drop_excluded(table, &over_table, path, dropped);
            drop_void(table, &over_table, path, dropped);
            for (key, node) in over_table {
                path.push(Step::Key(key.clone()));
                merge_entry(table, key, node, path, dropped)?;
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
                    Kind::Array(items) if index < items.len() => {
                        merge_at(&mut items[index], node, path, dropped)?;
                    }
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
    dropped: &mut Vec<Void>,
) -> Result<(), ScenarioError> {
    if node.kind == Kind::Null {
        table.remove(&key);
        return Ok(());
    }
    // Merging into an empty table also takes the nulls out of a new one.
    let empty = Node { origin: node.origin.clone(), kind: Kind::Null };
    merge_at(table.entry(key).or_insert(empty), node, path, dropped)
}

fn drop_excluded(
    table: &mut BTreeMap<String, Node>,
    over: &BTreeMap<String, Node>,
    path: &[Step],
    dropped: &mut Vec<Void>,
) {
    let here = table_of(path);
    for rule in RULES.iter().filter(|rule| rule.table == here) {
        let Some(new) = over.get(rule.given).filter(|new| new.kind != Kind::Null) else { continue };
        if table.get(rule.given).is_some_and(|old| old.kind.plain() == new.kind.plain()) {
            continue;
        }
        for &key in rule.drops {
            let Some(node) = table.remove(key) else { continue };
            // What the layer gives anew is no loss.
            if rule.said && !over.contains_key(key) {
                let mut steps = path.to_vec();
                steps.push(Step::Key(key.to_owned()));
                dropped.push(Void::new(steps, &node, format!("{} = {}", rule.given, new.shown()), Some(new)));
            }
        }
    }
}

//! Merges a layer into those that it extends.

use super::ScenarioError;
use super::culprits::ReplacedSetting;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use super::void_settings::{VoidSetting, drop_void, table_of};
use std::collections::BTreeMap;

/// A rule of the table `table`: a layer that gives `setting` a new value removes the inherited values of `drops`, but not its own.
struct ReplacementRule {
    table: &'static str,
    setting: &'static str,
    drops: &'static [&'static str],
    /// True if the user is told; false if the new setting only replaces another form of the same choice.
    is_reported: bool,
}

/// Choices that exclude each other: the new one replaces the inherited ones.
const fn replaces(
    table: &'static str,
    setting: &'static str,
    drops: &'static [&'static str],
) -> ReplacementRule {
    ReplacementRule { table, setting, drops, is_reported: false }
}

/// Settings that belong to the previous value, whatever the new one is. Those that belong to certain values are in `void_settings.rs`.
const fn voids(
    table: &'static str,
    setting: &'static str,
    drops: &'static [&'static str],
) -> ReplacementRule {
    ReplacementRule { table, setting, drops, is_reported: true }
}

const SYNTHETIC: &str = "workload.synthetic";
const TRACE: &str = "workload.trace";

/// Element numbers are left out of `table`, and a phase counts as the stream that it is part of.
const RULES: &[ReplacementRule] = &[
    // The description of a preset is not true of another drive or workload.
    replaces("", "device", &["description"]),
    replaces("", "array", &["description"]),
    replaces("", "workload", &["description"]),
    replaces("", "faults", &["description"]),
    replaces("", "changes", &["description"]),
    replaces("workload", "synthetic", &["trace", "fio", "zoned"]),
    replaces("workload", "trace", &["synthetic", "fio", "zoned"]),
    replaces("workload", "fio", &["synthetic", "trace", "zoned"]),
    replaces("workload", "zoned", &["synthetic", "trace", "fio"]),
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
    // A new limit replaces the inherited one: two limits together would end the run at the lower.
    replaces(SYNTHETIC, "requests", &["duration", "bytes"]),
    replaces(SYNTHETIC, "duration", &["requests", "bytes"]),
    replaces(SYNTHETIC, "bytes", &["requests", "duration"]),
    // Settings of format and units belong to the inherited file.
    voids(TRACE, "file", &["format", "time_unit", "address_unit", "event", "device"]),
];

/// What merging has taken away.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeNotes {
    /// Settings that became void.
    pub(super) dropped: Vec<VoidSetting>,
    /// Values that higher layers replaced.
    pub(super) replaced: Vec<ReplacedSetting>,
}

/// Merges `over` into `base`: tables merge, other values replace. Settings that become void are removed, and noted.
///
/// # Errors
/// An override of an element that the list below does not have.
pub(super) fn merge(
    base: &mut SettingNode,
    over: SettingNode,
    notes: &mut MergeNotes,
) -> Result<(), ScenarioError> {
    merge_at(base, over, &mut Vec::new(), notes)
}

fn merge_at(
    base: &mut SettingNode,
    over: SettingNode,
    path: &mut Vec<PathStep>,
    notes: &mut MergeNotes,
) -> Result<(), ScenarioError> {
    match over.value {
        // A fitted chip is one value: no part of the inherited chip is left in it.
        SettingValue::Table(_) if table_of(path) == "device.reliability.chip" => *base = over,
        SettingValue::Table(over_table) => {
            if !matches!(base.value, SettingValue::Table(_)) {
                *base =
                    SettingNode { origin: over.origin.clone(), value: SettingValue::Table(BTreeMap::new()) };
            }
            if !over_table.is_empty() {
                // Errors about a table as a whole name the last layer that wrote into it.
                base.origin = over.origin;
            }
            let SettingValue::Table(table) = &mut base.value else { return Ok(()) };
            drop_excluded(table, &over_table, path, notes);
            drop_void(table, &over_table, path, &mut notes.dropped);
            for (key, node) in over_table {
                path.push(PathStep::Key(key.clone()));
                merge_entry(table, key, node, path, notes)?;
                path.pop();
            }
        }
        SettingValue::Patch(elements) => {
            let length = match &base.value {
                SettingValue::Array(items) => items.len(),
                _ => 0,
            };
            for (index, node) in elements {
                path.push(PathStep::Index(index));
                // A patch changes elements of an inherited list and cannot add any.
                match &mut base.value {
                    SettingValue::Array(items) if index < items.len() => {
                        merge_at(&mut items[index], node, path, notes)?;
                    }
                    _ => {
                        return Err(ScenarioError::Setting {
                            at: Some(node.origin.position()),
                            field: dotted(path),
                            value: node.shown(),
                            limit: format!("there is no such element; the list has {length}"),
                        });
                    }
                }
                path.pop();
            }
        }
        value => {
            let old = std::mem::replace(base, SettingNode { origin: over.origin, value });
            if old.value != SettingValue::Null {
                notes.replaced.push(ReplacedSetting { steps: path.clone(), old });
            }
        }
    }
    Ok(())
}

/// Merges one entry of a table; null removes it.
fn merge_entry(
    table: &mut BTreeMap<String, SettingNode>,
    key: String,
    node: SettingNode,
    path: &mut Vec<PathStep>,
    notes: &mut MergeNotes,
) -> Result<(), ScenarioError> {
    if node.value == SettingValue::Null {
        table.remove(&key);
        return Ok(());
    }
    // Merging into an empty table also takes the nulls out of a new one.
    let empty = SettingNode { origin: node.origin.clone(), value: SettingValue::Null };
    merge_at(table.entry(key).or_insert(empty), node, path, notes)
}

/// Removes the settings of `table` that [`RULES`] drop because of new values in `over`.
fn drop_excluded(
    table: &mut BTreeMap<String, SettingNode>,
    over: &BTreeMap<String, SettingNode>,
    path: &[PathStep],
    notes: &mut MergeNotes,
) {
    let here = table_of(path);
    for rule in RULES.iter().filter(|rule| rule.table == here) {
        let Some(new) = over.get(rule.setting).filter(|new| new.value != SettingValue::Null) else {
            continue;
        };
        if table.get(rule.setting).is_some_and(|old| old.value.plain() == new.value.plain()) {
            continue;
        }
        for &key in rule.drops {
            let Some(node) = table.remove(key) else { continue };
            // A setting that the layer gives anew is not lost.
            if rule.is_reported && !over.contains_key(key) {
                let mut steps = path.to_vec();
                steps.push(PathStep::Key(key.to_owned()));
                notes.dropped.push(VoidSetting::new(
                    steps,
                    &node,
                    format!("{} = {}", rule.setting, new.shown()),
                    Some(new),
                ));
            }
        }
    }
}

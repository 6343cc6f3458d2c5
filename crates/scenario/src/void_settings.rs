//! Settings that count only under some values of another one. Those that a layer makes void are dropped, and the user is told.

use super::position::SourcePosition;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use std::collections::BTreeMap;

/// A setting of the table `table` that counts only if the setting `on` has one of the values `under`.
struct DependentSetting {
    table: &'static str,
    setting: &'static str,
    on: &'static str,
    /// True if `on` is a setting of the table above.
    is_above: bool,
    /// The value of `on` if no layer gives it.
    default: &'static str,
    under: &'static [&'static str],
    /// The default of `setting` as text: a scenario written out whole has it, and the user need not be told that it is void.
    unset: &'static str,
}

const fn under(
    (table, setting): (&'static str, &'static str),
    (on, default): (&'static str, &'static str),
    under: &'static [&'static str],
    unset: &'static str,
) -> DependentSetting {
    DependentSetting { table, setting, on, is_above: false, default, under, unset }
}

/// A setting of `array.log`, which depends on how parity is made consistent.
const fn of_log(
    setting: &'static str,
    consistency: &'static [&'static str],
    unset: &'static str,
) -> DependentSetting {
    DependentSetting { is_above: true, ..under(("array.log", setting), CONSISTENCY, consistency, unset) }
}

const SYNTHETIC: &str = "workload.synthetic";
const PATTERN: (&str, &str) = ("pattern", "uniform");
const MODEL: &str = "device.reliability.model";
/// A model has no form unless one is given.
const FORM: (&str, &str) = ("form", "");
const LEVEL: (&str, &str) = ("level", "");
const CONSISTENCY: (&str, &str) = ("consistency", "resync");

/// All such settings. One that is refused under another value, with its name and position, need not be here: the user is told
/// anyway. It is here if it has no meaning under another value, so that whoever changes that value need not remove it by hand.
const DEPENDENTS: &[DependentSetting] = &[
    under((SYNTHETIC, "zipf_theta"), PATTERN, &["zipf"], ""),
    under((SYNTHETIC, "hot_fraction"), PATTERN, &["hotcold"], ""),
    under((SYNTHETIC, "hot_access"), PATTERN, &["hotcold"], ""),
    under((SYNTHETIC, "hot_stream"), PATTERN, &["hotcold", "jesd219"], ""),
    under((SYNTHETIC, "cold_stream"), PATTERN, &["hotcold", "jesd219"], ""),
    under((SYNTHETIC, "random_percent"), PATTERN, &["sequential"], ""),
    under((SYNTHETIC, "scramble"), PATTERN, &["uniform", "zipf", "hotcold", "jesd219"], "false"),
    under(("device.ftl.gc", "choices"), ("policy", "greedy"), &["d-choices"], "8"),
    under(("device.protection.partial", "cache"), ("place", "none"), &["cache"], "16MiB"),
    under(("device.repair", "migration"), ("scheme", "cooperative"), &["cooperative"], "host"),
    under(("array", "copies"), LEVEL, &["raid10"], "2"),
    under(("array", "copy_layout"), LEVEL, &["raid10"], "near"),
    under(("array", "layout"), LEVEL, &["raid5", "raid6", "code"], "left-symmetric"),
    under(("array", "writes"), LEVEL, &["raid4", "raid5", "raid6", "code"], "cheapest"),
    under(("array", "parities"), LEVEL, &["code"], ""),
    under(("array", "parity_percent"), LEVEL, &["raid5", "raid6", "code"], ""),
    under(("array", "table"), LEVEL, &["raid5", "raid6", "code"], ""),
    under(("array", "safe_mode_delay"), CONSISTENCY, &["resync", "bitmap"], "200ms"),
    of_log("place", &["bitmap", "ppl", "journal"], "members"),
    of_log("size", &["ppl", "journal"], "1MiB"),
    of_log("bitmap_chunk", &["bitmap"], "64MiB"),
    of_log("bitmap_delay", &["bitmap"], "5s"),
    under(("array.background", "window"), ("chunks", "together"), &["together"], "32"),
    under(("array.repair", "order"), ("way", "die"), &["die"], "address"),
    under((MODEL, "epsilon"), FORM, &["power-law"], ""),
    under((MODEL, "alpha"), FORM, &["power-law"], ""),
    under((MODEL, "beta"), FORM, &["power-law"], ""),
    under((MODEL, "gamma"), FORM, &["power-law"], ""),
    under((MODEL, "k"), FORM, &["power-law"], ""),
    under((MODEL, "m"), FORM, &["power-law"], ""),
    under((MODEL, "n"), FORM, &["power-law"], ""),
    under((MODEL, "p"), FORM, &["power-law"], ""),
    under((MODEL, "q"), FORM, &["power-law"], ""),
    under((MODEL, "a"), FORM, &["exponential"], ""),
    under((MODEL, "b"), FORM, &["exponential"], ""),
];

/// A setting that a layer gives and that does not count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VoidSetting {
    steps: Vec<PathStep>,
    value: String,
    position: SourcePosition,
    /// The setting and value under which it does not count, and the position of that; `None` if it is a default.
    on: String,
    by: Option<SourcePosition>,
}

impl VoidSetting {
    /// The setting `node` at `steps`, which does not count because of `by`, a node described by `on`.
    pub(super) fn new(
        steps: Vec<PathStep>,
        node: &SettingNode,
        on: String,
        by: Option<&SettingNode>,
    ) -> Self {
        let by = by.map(|node| node.origin.position());
        Self { steps, value: node.shown(), position: node.origin.position(), on, by }
    }

    /// The sentence for the user.
    fn sentence(&self) -> String {
        let by =
            self.by.as_ref().map_or_else(|| " by default".to_owned(), |position| format!(" ({position})"));
        let Self { steps, value, position, on, .. } = self;
        format!("{} = {value} ({position}) does not count: {on}{by}.", dotted(steps))
    }
}

/// The name of the table at `path`: element numbers are left out, and a phase counts as the stream that it is part of.
pub(super) fn table_of(path: &[PathStep]) -> String {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            PathStep::Key(key) if key != "phases" => Some(key.as_str()),
            _ => None,
        })
        .collect();
    keys.join(".")
}

/// The value of a choice as text; `None` for other types.
fn choice(node: &SettingNode) -> Option<String> {
    match node.value.plain() {
        SettingValue::Text(text) => Some(text.clone()),
        SettingValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The value as in a scenario, without quotes.
fn bare(node: &SettingNode) -> String {
    node.shown().trim_matches('"').to_owned()
}

/// Removes the settings of `table` at `path` that the layer `over` makes void, and adds them to `voids`.
pub(super) fn drop_void(
    table: &mut BTreeMap<String, SettingNode>,
    over: &BTreeMap<String, SettingNode>,
    path: &[PathStep],
    voids: &mut Vec<VoidSetting>,
) {
    let here = table_of(path);
    for dependent in DEPENDENTS.iter().filter(|dependent| dependent.table == here) {
        let Some(new) = over.get(dependent.on) else { continue };
        let value =
            if new.value == SettingValue::Null { Some(dependent.default.to_owned()) } else { choice(new) };
        let Some(value) = value.filter(|value| !dependent.under.contains(&value.as_str())) else { continue };
        // A setting that the layer itself gives is left to the checks, which refuse it or not.
        if over.contains_key(dependent.setting) {
            continue;
        }
        if let Some(node) = table.remove(dependent.setting)
            && bare(&node) != dependent.unset
        {
            let mut steps = path.to_vec();
            steps.push(PathStep::Key(dependent.setting.to_owned()));
            voids.push(VoidSetting::new(steps, &node, format!("{} = \"{value}\"", dependent.on), Some(new)));
        }
    }
}

/// The settings of the merged tree that do not count.
fn void_in_tree(root: &SettingNode) -> Vec<VoidSetting> {
    let mut voids = Vec::new();
    for dependent in DEPENDENTS {
        let mut path: Vec<PathStep> =
            dependent.table.split('.').map(|key| PathStep::Key(key.to_owned())).collect();
        let Some(table) = table_at(root, &path) else { continue };
        let above = path.split_last().filter(|_| dependent.is_above);
        let chosen = above.and_then(|(_, above)| table_at(root, above)?.get(dependent.on));
        voids.extend(void_in_table(dependent, table, chosen, &path));
        let Some(SettingValue::Array(phases)) = table.get("phases").map(|node| &node.value) else { continue };
        path.push(PathStep::Key("phases".to_owned()));
        for (index, phase) in phases.iter().enumerate() {
            let SettingValue::Table(phase) = &phase.value else { continue };
            path.push(PathStep::Index(index));
            // A phase has the choice of the stream unless it makes its own.
            voids.extend(void_in_table(dependent, phase, table.get(dependent.on), &path));
            path.pop();
        }
    }
    voids
}

fn table_at<'a>(root: &'a SettingNode, path: &[PathStep]) -> Option<&'a BTreeMap<String, SettingNode>> {
    let node = path.iter().try_fold(root, |node, step| match (&node.value, step) {
        (SettingValue::Table(table), PathStep::Key(key)) => table.get(key),
        _ => None,
    })?;
    if let SettingValue::Table(table) = &node.value { Some(table) } else { None }
}

/// The dependent setting of `table`, if the choice there, or else `inherited`, makes it void. In a stream with phases it may count in one of them.
fn void_in_table(
    dependent: &DependentSetting,
    table: &BTreeMap<String, SettingNode>,
    inherited: Option<&SettingNode>,
    path: &[PathStep],
) -> Option<VoidSetting> {
    let node = table.get(dependent.setting).filter(|node| bare(node) != dependent.unset)?;
    let chosen = table.get(dependent.on).or(inherited);
    let value = chosen.map_or_else(|| Some(dependent.default.to_owned()), choice)?;
    let counts_in_a_phase = || match table.get("phases").map(|node| &node.value) {
        Some(SettingValue::Array(phases)) => phases.iter().any(|phase| match &phase.value {
            SettingValue::Table(phase) => {
                let value = phase.get(dependent.on).and_then(choice);
                !phase.contains_key(dependent.setting)
                    && value.is_some_and(|value| dependent.under.contains(&value.as_str()))
            }
            _ => false,
        }),
        _ => false,
    };
    if dependent.under.contains(&value.as_str()) || counts_in_a_phase() {
        return None;
    }
    let mut steps = path.to_vec();
    steps.push(PathStep::Key(dependent.setting.to_owned()));
    Some(VoidSetting::new(steps, node, format!("{} = \"{value}\"", dependent.on), chosen))
}

/// One sentence for each setting that was dropped and not given again, and for each in the merged tree that does not count.
pub(super) fn sentences(dropped: &[VoidSetting], root: &SettingNode) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let is_absent = |void: &&VoidSetting| {
        let last = root.deepest(&void.steps);
        let parent = root.deepest(&void.steps[..void.steps.len() - 1]);
        // `deepest` stops at the parent if the setting is not there.
        std::ptr::eq(last, parent)
    };
    for void in dropped.iter().filter(is_absent).chain(&void_in_tree(root)) {
        let sentence = void.sentence();
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

//! Settings that count only under some values of another one: what a layer makes void is dropped, and said.

use super::place::Place;
use super::tree::{Kind, Node, Step, dotted};
use std::collections::BTreeMap;

/// In the table `table`, `setting` counts only where `on` has one of the values `under`.
struct Dependent {
    table: &'static str,
    setting: &'static str,
    on: &'static str,
    /// The value of `on` where nobody gives it.
    default: &'static str,
    under: &'static [&'static str],
    /// What `setting` is where nobody gives it, as a scenario that is written out whole has it: the default, void, is no news.
    unset: &'static str,
}

const fn under(
    (table, setting): (&'static str, &'static str),
    (on, default): (&'static str, &'static str),
    under: &'static [&'static str],
    unset: &'static str,
) -> Dependent {
    Dependent { table, setting, on, default, under, unset }
}

const SYNTHETIC: &str = "workload.synthetic";
const PATTERN: (&str, &str) = ("pattern", "uniform");
const MODEL: &str = "device.reliability.model";
/// A model has no form unless one is given.
const FORM: (&str, &str) = ("form", "");
const LEVEL: (&str, &str) = ("level", "");

/// Every setting that depends so. Those that a machine refuses under another value, by name and place, need not be here: they are said
/// anyway. They are where what depends has no meaning of its own, so that who chooses anew need not take it away by hand.
const DEPENDENTS: &[Dependent] = &[
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
    under((MODEL, "low_cycles"), FORM, &["two-point"], ""),
    under((MODEL, "low_rber"), FORM, &["two-point"], ""),
    under((MODEL, "high_cycles"), FORM, &["two-point"], ""),
    under((MODEL, "high_rber"), FORM, &["two-point"], ""),
    under((MODEL, "cycles"), FORM, &["grid"], ""),
    under((MODEL, "days"), FORM, &["grid"], ""),
    under((MODEL, "reads"), FORM, &["grid"], ""),
    under((MODEL, "rber"), FORM, &["grid"], ""),
];

/// A setting that was given and does not count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Void {
    steps: Vec<Step>,
    value: String,
    place: Place,
    /// What it does not go with, and where that was given; nowhere if it is a default.
    on: String,
    by: Option<Place>,
}

impl Void {
    /// `node` at `steps`, which does not go with `by`, called `on`.
    pub(super) fn new(steps: Vec<Step>, node: &Node, on: String, by: Option<&Node>) -> Self {
        let by = by.map(|node| node.origin.place());
        Self { steps, value: node.shown(), place: node.origin.place(), on, by }
    }

    /// One sentence.
    pub(super) fn told(&self) -> String {
        let by = self.by.as_ref().map_or_else(|| " by default".to_owned(), |place| format!(" ({place})"));
        let Self { steps, value, place, on, .. } = self;
        format!("{} = {value} ({place}) does not count: {on}{by}.", dotted(steps))
    }
}

/// The name of the table at `path`: element numbers are left out, and a phase counts as the stream that it is part of.
pub(super) fn table_of(path: &[Step]) -> String {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) if key != "phases" => Some(key.as_str()),
            _ => None,
        })
        .collect();
    keys.join(".")
}

/// A choice as text.
fn choice(node: &Node) -> Option<String> {
    match node.kind.plain() {
        Kind::Text(text) => Some(text.clone()),
        Kind::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}

/// As a scenario has it, without quotes.
fn bare(node: &Node) -> String {
    node.shown().trim_matches('"').to_owned()
}

/// What the layer `over` makes void in `table` at `path` is dropped, and added to `voids`.
pub(super) fn drop_void(
    table: &mut BTreeMap<String, Node>,
    over: &BTreeMap<String, Node>,
    path: &[Step],
    voids: &mut Vec<Void>,
) {
    let here = table_of(path);
    for own in DEPENDENTS.iter().filter(|own| own.table == here) {
        let Some(new) = over.get(own.on) else { continue };
        let value = if new.kind == Kind::Null { Some(own.default.to_owned()) } else { choice(new) };
        let Some(value) = value.filter(|value| !own.under.contains(&value.as_str())) else { continue };
        // What the layer itself gives is for the checks to judge.
        if over.contains_key(own.setting) {
            continue;
        }
        if let Some(node) = table.remove(own.setting)
            && bare(&node) != own.unset
        {
            let mut steps = path.to_vec();
            steps.push(Step::Key(own.setting.to_owned()));
            voids.push(Void::new(steps, &node, format!("{} = \"{value}\"", own.on), Some(new)));
        }
    }
}

/// What stands in the merged tree and does not count.
pub(super) fn idle(root: &Node) -> Vec<Void> {
    let mut found = Vec::new();
    for own in DEPENDENTS {
        let mut path: Vec<Step> = own.table.split('.').map(|key| Step::Key(key.to_owned())).collect();
        let Some(table) = at(root, &path) else { continue };
        found.extend(idle_in(own, table, None, &path));
        let Some(Kind::Array(phases)) = table.get("phases").map(|node| &node.kind) else { continue };
        path.push(Step::Key("phases".to_owned()));
        for (index, phase) in phases.iter().enumerate() {
            let Kind::Table(phase) = &phase.kind else { continue };
            path.push(Step::Index(index));
            found.extend(idle_in(own, phase, table.get(own.on), &path));
            path.pop();
        }
    }
    found
}

fn at<'a>(root: &'a Node, path: &[Step]) -> Option<&'a BTreeMap<String, Node>> {
    let node = path.iter().try_fold(root, |node, step| match (&node.kind, step) {
        (Kind::Table(table), Step::Key(key)) => table.get(key),
        _ => None,
    })?;
    if let Kind::Table(table) = &node.kind { Some(table) } else { None }
}

/// `own`, if `table` gives it and its choice, or else `inherited`, leaves it void. In a stream with phases it may count in some of them.
fn idle_in(
    own: &Dependent,
    table: &BTreeMap<String, Node>,
    inherited: Option<&Node>,
    path: &[Step],
) -> Option<Void> {
    let node = table.get(own.setting).filter(|node| bare(node) != own.unset)?;
    let chosen = table.get(own.on).or(inherited);
    let value = chosen.map_or_else(|| Some(own.default.to_owned()), choice)?;
    let counts_in_a_phase = || match table.get("phases").map(|node| &node.kind) {
        Some(Kind::Array(phases)) => phases.iter().any(|phase| match &phase.kind {
            Kind::Table(phase) => {
                let value = phase.get(own.on).and_then(choice);
                !phase.contains_key(own.setting)
                    && value.is_some_and(|value| own.under.contains(&value.as_str()))
            }
            _ => false,
        }),
        _ => false,
    };
    if own.under.contains(&value.as_str()) || counts_in_a_phase() {
        return None;
    }
    let mut steps = path.to_vec();
    steps.push(Step::Key(own.setting.to_owned()));
    Some(Void::new(steps, node, format!("{} = \"{value}\"", own.on), chosen))
}

/// One sentence for each of the settings that were dropped and have not been given again, and for each that stands and does not count.
pub(super) fn told(dropped: &[Void], root: &Node) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let given = |void: &&Void| {
        let last = root.deepest(&void.steps);
        let parent = root.deepest(&void.steps[..void.steps.len() - 1]);
        std::ptr::eq(last, parent)
    };
    for void in dropped.iter().filter(given).chain(&idle(root)) {
        let sentence = void.told();
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    told
}

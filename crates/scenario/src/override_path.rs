//! `--set a.b[0].c=value`: the path, the value, and the tree that they make.

use super::ScenarioError;
use super::parse::override_value;
use super::place::one_line;
use super::tree::{Kind, MAX_DEPTH, Node, Origin, Step, dotted};
use std::collections::BTreeMap;

/// An index beyond any list in a scenario.
const MAX_INDEX: usize = 1 << 16;

/// Splits `a.b=c` at its first `=` into name and value.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn split_override(text: &str) -> Result<(String, String), ScenarioError> {
    let bad = || ScenarioError::Override {
        text: text.to_owned(),
        why: "write name=value, such as seed=7".to_owned(),
    };
    let (name, value) = text.split_once('=').ok_or_else(bad)?;
    if name.trim().is_empty() {
        return Err(bad());
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// The steps of a dotted path; an index is written `list[0]` or `list.0`.
pub(super) fn parse_path(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        let key = key.trim();
        if key.is_empty() {
            return Err(format!("\"{path}\" has an empty name in it"));
        }
        // A leading number cannot be an index: the root is a table.
        match key.parse() {
            Ok(index) if !steps.is_empty() => steps.push(Step::Index(index)),
            _ => steps.push(Step::Key(key.to_owned())),
        }
        while !rest.is_empty() {
            let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let Some((Ok(index), after)) = inner.map(|(index, after)| (index.trim().parse(), after)) else {
                return Err(format!("\"{part}\" is not a name with an index such as phases[0]"));
            };
            steps.push(Step::Index(index));
            rest = after;
        }
        if steps.len() >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} names deep"));
        }
    }
    match steps.iter().find(|step| matches!(step, Step::Index(index) if *index > MAX_INDEX)) {
        Some(step) => Err(format!("index {} is beyond {MAX_INDEX}", dotted(std::slice::from_ref(step)))),
        None => Ok(steps),
    }
}

/// All overrides as one layer; of two that set the same, the later wins.
pub(super) fn override_tree(overrides: &[(String, String)]) -> Result<Node, ScenarioError> {
    let origin = Origin { source: "override".into(), line: 0 };
    let mut root = Node { origin: origin.clone(), kind: Kind::Table(BTreeMap::new()) };
    for (name, value) in overrides {
        let bad = |why: String| ScenarioError::Override {
            text: one_line(&format!("{name}={value}")),
            why: one_line(&why),
        };
        let steps = parse_path(name).map_err(bad)?;
        let kind = override_value(value, &origin)?;
        insert(&mut root, &steps, Node { origin: origin.clone(), kind });
    }
    Ok(root)
}

fn insert(node: &mut Node, steps: &[Step], leaf: Node) {
    let Some((step, rest)) = steps.split_first() else {
        *node = leaf;
        return;
    };
    let empty = || Node { origin: leaf.origin.clone(), kind: Kind::Null };
    let child = match step {
        Step::Key(key) => {
            if !matches!(node.kind, Kind::Table(_)) {
                node.kind = Kind::Table(BTreeMap::new());
            }
            let Kind::Table(table) = &mut node.kind else { return };
            table.entry(key.clone()).or_insert_with(empty)
        }
        Step::Index(index) => {
            let in_list = matches!(&node.kind, Kind::Array(items) if *index < items.len());
            if !in_list && !matches!(node.kind, Kind::Patch(_)) {
                node.kind = Kind::Patch(BTreeMap::new());
            }
            match &mut node.kind {
                Kind::Array(items) => &mut items[*index],
                Kind::Patch(items) => items.entry(*index).or_insert_with(empty),
                _ => return,
            }
        }
    };
    insert(child, rest, leaf);
}

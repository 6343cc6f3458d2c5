//! Parses overrides such as `--set a.b[0].c=value` into a tree.

use super::ScenarioError;
use super::parse::override_value;
use super::position::one_line;
use super::tree::{MAX_DEPTH, NodeOrigin, PathStep, SettingNode, SettingValue, dotted};
use std::collections::BTreeMap;

/// The largest index: beyond any list in a scenario.
const MAX_INDEX: usize = 1 << 16;

/// Splits `a.b=c` at its first `=` into name and value.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn split_override(text: &str) -> Result<(String, String), ScenarioError> {
    let malformed = || ScenarioError::Override {
        text: text.to_owned(),
        why: "write name=value, such as seed=7".to_owned(),
    };
    let (name, value) = text.split_once('=').ok_or_else(malformed)?;
    if name.trim().is_empty() {
        return Err(malformed());
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// The table whose keys are names of figures, which have dots themselves.
const FIGURES: &str = "expect";

/// The steps of a dotted path; an index is written `list[0]` or `list.0`. Below `expect` all that follows is one name, in quotes or not.
pub(super) fn parse_path(path: &str) -> Result<Vec<PathStep>, String> {
    let mut steps = Vec::new();
    if let Some((FIGURES, figure)) = path.split_once('.')
        && !figure.trim().is_empty()
    {
        let name = figure.trim().trim_matches('"');
        return Ok(vec![PathStep::Key(FIGURES.to_owned()), PathStep::Key(name.to_owned())]);
    }
    for part in path.split('.') {
        let (key, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        let key = key.trim();
        if key.is_empty() {
            return Err(format!("\"{path}\" has an empty name in it"));
        }
        // A leading number cannot be an index: the root is a table.
        match key.parse() {
            Ok(index) if !steps.is_empty() => steps.push(PathStep::Index(index)),
            _ => steps.push(PathStep::Key(key.to_owned())),
        }
        while !indices.is_empty() {
            let inner = indices.strip_prefix('[').and_then(|text| text.split_once(']'));
            let Some((Ok(index), after)) = inner.map(|(index, after)| (index.trim().parse(), after)) else {
                return Err(format!("\"{part}\" is not a name with an index such as phases[0]"));
            };
            steps.push(PathStep::Index(index));
            indices = after;
        }
        if steps.len() >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} names deep"));
        }
    }
    match steps.iter().find(|step| matches!(step, PathStep::Index(index) if *index > MAX_INDEX)) {
        Some(step) => Err(format!("index {} is beyond {MAX_INDEX}", dotted(std::slice::from_ref(step)))),
        None => Ok(steps),
    }
}

/// All overrides as one layer. Of two for the same setting the later one wins.
pub(super) fn override_tree(overrides: &[(String, String)]) -> Result<SettingNode, ScenarioError> {
    let origin = NodeOrigin { source: "overrides".into(), line: 0 };
    let mut root = SettingNode { origin: origin.clone(), value: SettingValue::Table(BTreeMap::new()) };
    for (name, value) in overrides {
        let error = |why: String| ScenarioError::Override {
            text: one_line(&format!("{name}={value}")),
            why: one_line(&why),
        };
        let steps = parse_path(name).map_err(error)?;
        let value = override_value(value, &origin)?;
        insert(&mut root, &steps, SettingNode { origin: origin.clone(), value });
    }
    Ok(root)
}

/// Puts `leaf` at `steps` below `node`. An index makes a patch: the list itself is in a layer below.
fn insert(node: &mut SettingNode, steps: &[PathStep], leaf: SettingNode) {
    let Some((step, remaining)) = steps.split_first() else {
        *node = leaf;
        return;
    };
    let empty = || SettingNode { origin: leaf.origin.clone(), value: SettingValue::Null };
    let child = match step {
        PathStep::Key(key) => {
            if !matches!(node.value, SettingValue::Table(_)) {
                node.value = SettingValue::Table(BTreeMap::new());
            }
            let SettingValue::Table(table) = &mut node.value else { return };
            table.entry(key.clone()).or_insert_with(empty)
        }
        PathStep::Index(index) => {
            let in_list = matches!(&node.value, SettingValue::Array(items) if *index < items.len());
            if !in_list && !matches!(node.value, SettingValue::Patch(_)) {
                node.value = SettingValue::Patch(BTreeMap::new());
            }
            match &mut node.value {
                SettingValue::Array(items) => &mut items[*index],
                SettingValue::Patch(items) => items.entry(*index).or_insert_with(empty),
                _ => return,
            }
        }
    };
    insert(child, remaining, leaf);
}

//! Layers of a scenario with all that they extend, read and merged.

use super::error::nearest;
use super::load::{ReadFile, ScenarioLayer};
use super::merge::{MergeNotes, merge};
use super::parse::{json_tree, toml_tree};
use super::paths::{is_path, normalised, resolve_paths};
use super::tree::{SettingNode, SettingValue};
use super::{Preset, ScenarioError, SourcePosition, presets};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Depth of `extends` at most.
const MAX_EXTENDS: usize = 16;

/// Reads layers with all that they extend.
pub(super) struct LayerLoader<'a> {
    read: ReadFile<'a>,
    /// Sources that are being loaded, from the outermost to the one that it extends, to find circles.
    chain: Vec<String>,
    /// Settings of lower layers that higher ones have made void.
    pub(super) notes: MergeNotes,
}

impl<'a> LayerLoader<'a> {
    pub(super) fn new(read: ReadFile<'a>, notes: MergeNotes) -> Self {
        Self { read, chain: Vec::new(), notes }
    }

    pub(super) fn load_layer(&mut self, layer: &ScenarioLayer) -> Result<SettingNode, ScenarioError> {
        match layer {
            ScenarioLayer::Preset(name) => match find_preset(name) {
                Some(preset) => self.load_preset(preset, None),
                None => Err(ScenarioError::no_preset(None, name)),
            },
            ScenarioLayer::File(path) => self.load_file(path, None),
            ScenarioLayer::Toml { name, text, folder } => {
                let tree = toml_tree(name, text)?;
                self.with_parents(tree, folder)
            }
            ScenarioLayer::Json { name, text } => {
                let tree = json_tree(name, text)?;
                self.with_parents(tree, Path::new(""))
            }
        }
    }

    fn load_preset(
        &mut self,
        preset: &Preset,
        at: Option<&SourcePosition>,
    ) -> Result<SettingNode, ScenarioError> {
        let source = format!("preset {}", preset.name);
        self.enter(source.clone(), at)?;
        let tree = toml_tree(&source, preset.text)?;
        let tree = self.with_parents(tree, Path::new(""))?;
        self.chain.pop();
        Ok(tree)
    }

    fn load_file(&mut self, path: &Path, at: Option<&SourcePosition>) -> Result<SettingNode, ScenarioError> {
        let source = path.display().to_string();
        self.enter(normalised(path).display().to_string(), at)?;
        let text = (self.read)(path).map_err(|error| read_error(path, error, at))?;
        let tree = toml_tree(&source, &text)?;
        let tree = self.with_parents(tree, path.parent().unwrap_or(Path::new("")))?;
        self.chain.pop();
        Ok(tree)
    }

    /// Adds a source to the chain unless that closes a circle or is too deep.
    fn enter(&mut self, source: String, at: Option<&SourcePosition>) -> Result<(), ScenarioError> {
        let here = || at.cloned().unwrap_or(SourcePosition { file: source.clone(), line: None });
        if let Some(first) = self.chain.iter().position(|outer| *outer == source) {
            let chain: Vec<&str> = self.chain[first..].iter().chain([&source]).map(String::as_str).collect();
            return Err(ScenarioError::Cycle { at: here(), chain: chain.join(" -> ") });
        }
        if self.chain.len() >= MAX_EXTENDS {
            return Err(ScenarioError::Limit {
                at: here(),
                measure: "the depth of extends",
                limit: MAX_EXTENDS,
            });
        }
        self.chain.push(source);
        Ok(())
    }

    /// Loads the preset or file that `name` in an `extends` refers to; a path counts from `folder`.
    pub(super) fn load_parent(
        &mut self,
        name: &str,
        at: &SourcePosition,
        folder: &Path,
    ) -> Result<SettingNode, ScenarioError> {
        if let Some(preset) = find_preset(name) {
            return self.load_preset(preset, Some(at));
        }
        if !is_path(name) {
            return Err(ScenarioError::no_preset(Some(at.clone()), name));
        }
        self.load_file(&folder.join(name), Some(at))
    }

    /// The layer `tree` merged over all that it extends, with its paths counted from `folder`.
    fn with_parents(&mut self, mut tree: SettingNode, folder: &Path) -> Result<SettingNode, ScenarioError> {
        resolve_paths(&mut tree, folder);
        let parents = take_extends(&mut tree)?;
        let mut root =
            SettingNode { origin: tree.origin.clone(), value: SettingValue::Table(BTreeMap::new()) };
        for (name, at) in parents {
            let parent = self.load_parent(&name, &at, folder)?;
            merge(&mut root, parent, &mut self.notes)?;
        }
        if root.value == SettingValue::Table(BTreeMap::new()) {
            // Without merging, nulls stay: they may remove settings of a layer below.
            return Ok(tree);
        }
        merge(&mut root, tree, &mut self.notes)?;
        Ok(root)
    }
}

fn find_preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

/// The error about a file that cannot be read, with a hint at a preset of a similar name.
fn read_error(path: &Path, source: io::Error, at: Option<&SourcePosition>) -> ScenarioError {
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    let name = path.display().to_string();
    let mut hint = match nearest(path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(""), &names) {
        Some(near) => format!("; did you mean the preset \"{near}\"?"),
        None => String::new(),
    };
    if let Some(at) = at {
        hint = format!("{hint} (extended by {at})");
    }
    ScenarioError::Read { file: name, source, hint }
}

/// Removes `extends` from the root table and returns its names with their positions.
pub(super) fn take_extends(tree: &mut SettingNode) -> Result<Vec<(String, SourcePosition)>, ScenarioError> {
    let SettingValue::Table(table) = &mut tree.value else { return Ok(Vec::new()) };
    let Some(node) = table.remove("extends") else { return Ok(Vec::new()) };
    let invalid = |node: &SettingNode, field: &str| ScenarioError::Setting {
        at: Some(node.origin.position()),
        field: field.to_owned(),
        value: node.shown(),
        limit: "must be the name of a preset or the path of a scenario file, or a list of them".to_owned(),
    };
    let name = |node: &SettingNode, field: &str| match &node.value {
        SettingValue::Text(text) => Ok((text.clone(), node.origin.position())),
        _ => Err(invalid(node, field)),
    };
    match &node.value {
        SettingValue::Array(items) => {
            items.iter().enumerate().map(|(i, item)| name(item, &format!("extends[{i}]"))).collect()
        }
        SettingValue::Null => Ok(Vec::new()),
        _ => Ok(vec![name(&node, "extends")?]),
    }
}

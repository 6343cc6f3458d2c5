//! From layers to a scenario.

use super::chip::measure_chip;
use super::decode::decode;
use super::error::nearest;
use super::merge::merge;
use super::override_path::override_tree;
use super::parse::{json_tree, toml_tree};
use super::policies::{Decision, take_policies};
use super::tree::{Kind, Node, Origin};
use super::voids::{self, Void};
use super::{Place, Preset, Provenance, Scenario, ScenarioError, presets};
use outlast_settings::drive::is_chip_file;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// One of the texts that a scenario is put together from; later ones win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A built-in preset, by name.
    Preset(String),
    /// A scenario file.
    File(PathBuf),
    /// A scenario file's text that came from elsewhere.
    Toml {
        /// What messages call it.
        name: String,
        /// The text.
        text: String,
        /// The folder that relative paths in it start from; empty: the current one.
        folder: PathBuf,
    },
    /// Settings as a JSON object; `null` takes an inherited setting away. Relative paths start from the current folder.
    Json {
        /// What messages call it.
        name: String,
        /// The text.
        text: String,
    },
}

/// How a scenario file is read: the only effect that loading has.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// Files that extend files that extend …
const MAX_EXTENDS: usize = 16;

/// Puts a scenario together from `layers`, then sets single settings by dotted name, and checks it.
///
/// An override's value is read as TOML if it can be (`7`, `true`, `[1, 2]`, `"text"`) and is text otherwise (`50us`);
/// `null` takes an inherited setting away. Paths of trace, job and chip files count from the folder of the scenario file that
/// gives them. A chip's file is read here, and what it gave is part of the scenario from then on.
///
/// # Errors
/// The first thing that is wrong, with its file and line.
pub fn load(
    layers: &[Layer],
    overrides: &[(String, String)],
    read: ReadFile<'_>,
) -> Result<(Scenario, Provenance), ScenarioError> {
    let mut loader = Loader { read, chain: Vec::new(), dropped: Vec::new() };
    let mut root = Node { origin: Origin { source: "".into(), line: 0 }, kind: Kind::Table(BTreeMap::new()) };
    for layer in layers {
        let layer = loader.layer(layer)?;
        merge(&mut root, layer, &mut loader.dropped)?;
    }
    let mut last = override_tree(overrides)?;
    let parents = take_extends(&mut last)?;
    for (name, at) in parents {
        let parent = loader.parent(&name, &at, Path::new(""))?;
        merge(&mut root, parent, &mut loader.dropped)?;
    }
    merge(&mut root, last, &mut loader.dropped)?;
    let void = voids::told(&loader.dropped, &root);
    let provenance = Provenance::new(root);
    let mut scenario: Scenario = decode(&provenance)?;
    scenario.void = void;
    measure_chip(&mut scenario, &provenance, read)?;
    take_policies(&mut scenario).map_err(|error| ScenarioError::invalid(&provenance, &error))?;
    scenario.validate().map_err(|error| ScenarioError::invalid(&provenance, &error))?;
    Ok((scenario, provenance))
}

/// [`load`] from the file system.
///
/// # Errors
/// As [`load`].
pub fn load_scenario(
    layers: &[Layer],
    overrides: &[(String, String)],
) -> Result<(Scenario, Provenance), ScenarioError> {
    load(layers, overrides, &read_file)
}

/// The text of a file. Opening a pipe that nobody writes to would wait for ever.
fn read_file(path: &Path) -> io::Result<String> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    #[allow(clippy::disallowed_methods, reason = "the one place at the edge where scenario files are opened")]
    std::fs::read_to_string(path)
}

/// Reads one scenario file's text, which may extend presets but no files. Never fails but by its result: the entry for
/// fuzzing.
///
/// # Errors
/// As [`load`].
pub fn parse_text(text: &str) -> Result<(Scenario, Provenance), ScenarioError> {
    let layer = Layer::Toml { name: "text".to_owned(), text: text.to_owned(), folder: PathBuf::new() };
    load(&[layer], &[], &|_| {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a text on its own extends only presets"))
    })
}

struct Loader<'a> {
    read: ReadFile<'a>,
    /// What is being loaded, from the outermost to what it extends.
    chain: Vec<String>,
    /// Settings of lower layers that higher ones made void.
    dropped: Vec<Void>,
}

impl Loader<'_> {
    fn layer(&mut self, layer: &Layer) -> Result<Node, ScenarioError> {
        match layer {
            Layer::Preset(name) => match find_preset(name) {
                Some(preset) => self.preset(preset, None),
                None => Err(ScenarioError::no_preset(None, name)),
            },
            Layer::File(path) => self.file(path, None),
            Layer::Toml { name, text, folder } => {
                let tree = toml_tree(name, text)?;
                self.with_parents(tree, folder)
            }
            Layer::Json { name, text } => {
                let tree = json_tree(name, text)?;
                self.with_parents(tree, Path::new(""))
            }
        }
    }

    fn preset(&mut self, preset: &Preset, at: Option<&Place>) -> Result<Node, ScenarioError> {
        let source = format!("preset {}", preset.name);
        self.enter(source.clone(), at)?;
        let tree = toml_tree(&source, preset.text)?;
        let tree = self.with_parents(tree, Path::new(""))?;
        self.chain.pop();
        Ok(tree)
    }

    fn file(&mut self, path: &Path, at: Option<&Place>) -> Result<Node, ScenarioError> {
        let source = path.display().to_string();
        self.enter(tidied(path).display().to_string(), at)?;
        let text = (self.read)(path).map_err(|error| read_error(path, error, at))?;
        let tree = toml_tree(&source, &text)?;
        let tree = self.with_parents(tree, path.parent().unwrap_or(Path::new("")))?;
        self.chain.pop();
        Ok(tree)
    }

    fn enter(&mut self, source: String, at: Option<&Place>) -> Result<(), ScenarioError> {
        let here = || at.cloned().unwrap_or(Place { file: source.clone(), line: None });
        if let Some(first) = self.chain.iter().position(|outer| *outer == source) {
            let chain: Vec<&str> = self.chain[first..].iter().chain([&source]).map(String::as_str).collect();
            return Err(ScenarioError::Cycle { at: here(), chain: chain.join(" -> ") });
        }
        if self.chain.len() >= MAX_EXTENDS {
            return Err(ScenarioError::Limit {
                at: here(),
                what: "the depth of extends",
                limit: MAX_EXTENDS,
            });
        }
        self.chain.push(source);
        Ok(())
    }

    /// What `name` in an `extends` stands for: a preset, or a path from `folder`.
    fn parent(&mut self, name: &str, at: &Place, folder: &Path) -> Result<Node, ScenarioError> {
        if let Some(preset) = find_preset(name) {
            return self.preset(preset, Some(at));
        }
        if !looks_like_path(name) {
            return Err(ScenarioError::no_preset(Some(at.clone()), name));
        }
        self.file(&folder.join(name), Some(at))
    }

    /// The layer `tree` over all that it extends, its paths counted from `folder`.
    fn with_parents(&mut self, mut tree: Node, folder: &Path) -> Result<Node, ScenarioError> {
        resolve_paths(&mut tree, folder);
        let parents = take_extends(&mut tree)?;
        let mut root = Node { origin: tree.origin.clone(), kind: Kind::Table(BTreeMap::new()) };
        for (name, at) in parents {
            let parent = self.parent(&name, &at, folder)?;
            merge(&mut root, parent, &mut self.dropped)?;
        }
        if root.kind == Kind::Table(BTreeMap::new()) {
            // Nulls stay: they may take away what a layer below gives.
            return Ok(tree);
        }
        merge(&mut root, tree, &mut self.dropped)?;
        Ok(root)
    }
}

fn find_preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

fn read_error(path: &Path, source: io::Error, at: Option<&Place>) -> ScenarioError {
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

/// Removes `extends` from the root table and returns its names with their places.
fn take_extends(tree: &mut Node) -> Result<Vec<(String, Place)>, ScenarioError> {
    let Kind::Table(table) = &mut tree.kind else { return Ok(Vec::new()) };
    let Some(node) = table.remove("extends") else { return Ok(Vec::new()) };
    let bad = |node: &Node, field: &str| ScenarioError::Setting {
        at: Some(node.origin.place()),
        field: field.to_owned(),
        value: node.shown(),
        limit: "must be the name of a preset or the path of a scenario file, or a list of them".to_owned(),
    };
    let name = |node: &Node, field: &str| match &node.kind {
        Kind::Text(text) => Ok((text.clone(), node.origin.place())),
        _ => Err(bad(node, field)),
    };
    match &node.kind {
        Kind::Array(items) => {
            items.iter().enumerate().map(|(i, item)| name(item, &format!("extends[{i}]"))).collect()
        }
        Kind::Null => Ok(Vec::new()),
        _ => Ok(vec![name(&node, "extends")?]),
    }
}

/// Makes the relative paths of trace and job files, of snapshots, of chips' files and of policies count from `folder`.
fn resolve_paths(tree: &mut Node, folder: &Path) {
    if folder.as_os_str().is_empty() {
        return;
    }
    let files: [&[&str]; 4] = [
        &["workload", "trace", "file"],
        &["workload", "fio", "file"],
        &["precondition", "from"],
        &["device", "reliability", "chip"],
    ];
    let policies = Decision::ALL.iter().map(|decision| vec!["policies", decision.name()]);
    let settings: Vec<Vec<&str>> = files.iter().map(|setting| setting.to_vec()).chain(policies).collect();
    for setting in &settings {
        let file = setting.iter().try_fold(&mut *tree, |node, key| match &mut node.kind {
            Kind::Table(table) => table.get_mut(*key),
            _ => None,
        });
        if let Some(Node { kind: Kind::Text(text), .. }) = file
            && (setting[0] != "device" || is_chip_file(text))
            && (setting[0] != "policies" || text.contains(':'))
        {
            *text = folder.join(&*text).display().to_string();
        }
    }
}

/// The path without `.` and, where a name stands before it, without `..`: to recognise a file, not to open it, since a
/// `..` after a symbolic link leads elsewhere.
fn tidied(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}

//! Loads a scenario: reads its layers, merges them and checks the result.

use super::chip_file::measure_chip;
use super::decode::decode;
use super::layer_loader::{LayerLoader, take_extends};
use super::merge::{MergeNotes, merge};
use super::override_path::override_tree;
use super::policies::apply_policies;
use super::retired::refuse_retired;
use super::tree::{NodeOrigin, SettingNode, SettingValue};
use super::void_settings;
use super::{Provenance, Scenario, ScenarioError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// One of the texts that a scenario is merged from; later ones win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioLayer {
    /// A built-in preset, by name.
    Preset(String),
    /// A scenario file.
    File(PathBuf),
    /// The text of a scenario file that does not come from the file system.
    Toml {
        /// Name for messages.
        name: String,
        /// The text.
        text: String,
        /// The folder that relative paths in it start from; empty: the current one.
        folder: PathBuf,
    },
    /// Settings as a JSON object; `null` takes an inherited setting away. Relative paths start from the current folder.
    Json {
        /// Name for messages.
        name: String,
        /// The text.
        text: String,
    },
}

/// Reads the text of a file: the only input of loading.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// Layers merged once, of which many scenarios are made that differ in single settings: the points of a sweep.
#[derive(Clone, Debug)]
pub struct MergedLayers {
    root: SettingNode,
    notes: MergeNotes,
}

impl MergedLayers {
    /// Reads and merges `layers`. Paths of trace, job and chip files count from the folder of the scenario file that gives them.
    ///
    /// # Errors
    /// The first error with its file and line.
    pub fn read(layers: &[ScenarioLayer], read: ReadFile<'_>) -> Result<Self, ScenarioError> {
        let mut loader = LayerLoader::new(read, MergeNotes::default());
        let mut root = SettingNode {
            origin: NodeOrigin { source: "".into(), line: 0 },
            value: SettingValue::Table(BTreeMap::new()),
        };
        for layer in layers {
            let layer = loader.load_layer(layer)?;
            merge(&mut root, layer, &mut loader.notes)?;
        }
        Ok(Self { root, notes: loader.notes })
    }

    /// [`MergedLayers::read`] from the file system.
    ///
    /// # Errors
    /// Errors of [`MergedLayers::read`].
    pub fn of_files(layers: &[ScenarioLayer]) -> Result<Self, ScenarioError> {
        Self::read(layers, &read_file)
    }

    /// Sets single settings by dotted name, as the last layer, and checks the scenario.
    ///
    /// # Errors
    /// The first error with its file and line, or all settings that cannot be decoded.
    pub fn with(
        self,
        overrides: &[(String, String)],
        read: ReadFile<'_>,
    ) -> Result<(Scenario, Provenance), ScenarioError> {
        let Self { mut root, notes } = self;
        let mut loader = LayerLoader::new(read, notes);
        // `--set extends=…` adds what it names above all layers, but below the other overrides.
        let mut last = override_tree(overrides)?;
        let parents = take_extends(&mut last)?;
        for (name, at) in parents {
            let parent = loader.load_parent(&name, &at, Path::new(""))?;
            merge(&mut root, parent, &mut loader.notes)?;
        }
        merge(&mut root, last, &mut loader.notes)?;
        let void = void_settings::sentences(&loader.notes.dropped, &root);
        refuse_retired(&root)?;
        let provenance = Provenance::new(root, loader.notes.replaced);
        let mut scenario: Scenario = decode(&provenance)?;
        scenario.void = void;
        check(&mut scenario, &provenance, read).map_err(|error| {
            error.placed(&provenance, &|scenario, tried| check(scenario, tried, read).is_ok())
        })?;
        Ok((scenario, provenance))
    }

    /// [`MergedLayers::with`] from the file system, leaving these layers for the next.
    ///
    /// # Errors
    /// Errors of [`MergedLayers::with`].
    pub fn scenario(&self, overrides: &[(String, String)]) -> Result<(Scenario, Provenance), ScenarioError> {
        self.clone().with(overrides, &read_file)
    }
}

/// Completes the decoded scenario of `provenance` by its files and policies, and checks it.
fn check(scenario: &mut Scenario, provenance: &Provenance, read: ReadFile<'_>) -> Result<(), ScenarioError> {
    measure_chip(scenario, provenance, read)?;
    apply_policies(scenario).map_err(|error| ScenarioError::invalid(provenance, &error))?;
    scenario.validate().map_err(|error| ScenarioError::invalid(provenance, &error))
}

/// True if `scenario`, decoded from `provenance`, passes the checks of loading, for [`ScenarioError::placed`].
pub fn is_loadable(scenario: &mut Scenario, provenance: &Provenance) -> bool {
    check(scenario, provenance, &read_file).is_ok()
}

/// Merges `layers`, then sets single settings by dotted name, and checks the scenario.
///
/// An override's value is read as TOML if it can be (`7`, `true`, `[1, 2]`, `"text"`) and is text otherwise (`50us`);
/// `null` takes an inherited setting away. Paths of trace, job and chip files count from the folder of the scenario file that
/// gives them. A chip's file is read here, and what it gave is part of the scenario from then on.
///
/// # Errors
/// The first error with its file and line, or all settings that cannot be decoded.
pub fn load(
    layers: &[ScenarioLayer],
    overrides: &[(String, String)],
    read: ReadFile<'_>,
) -> Result<(Scenario, Provenance), ScenarioError> {
    MergedLayers::read(layers, read)?.with(overrides, read)
}

/// [`load`] from the file system.
///
/// # Errors
/// Errors of [`load`].
pub fn load_scenario(
    layers: &[ScenarioLayer],
    overrides: &[(String, String)],
) -> Result<(Scenario, Provenance), ScenarioError> {
    load(layers, overrides, &read_file)
}

/// Reads a regular file. Opening a pipe without a writer would wait for ever.
fn read_file(path: &Path) -> io::Result<String> {
    let file_type = std::fs::metadata(path)?.file_type();
    if !file_type.is_file() && !file_type.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    #[allow(clippy::disallowed_methods, reason = "the one place at the edge where scenario files are opened")]
    std::fs::read_to_string(path)
}

/// Loads the text of one scenario file, which may extend presets but no files. It never panics: the entry for
/// fuzzing.
///
/// # Errors
/// Errors of [`load`].
pub fn parse_text(text: &str) -> Result<(Scenario, Provenance), ScenarioError> {
    let layer =
        ScenarioLayer::Toml { name: "text".to_owned(), text: text.to_owned(), folder: PathBuf::new() };
    load(&[layer], &[], &|_| {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a text on its own extends only presets"))
    })
}

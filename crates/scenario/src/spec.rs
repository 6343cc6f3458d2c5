//! The settings of a run.

mod precondition;
mod run;

use super::{PoliciesSpec, ScenarioError, check_name};
use outlast_media::{ConfigError, FaultSpec, HazardConfig};
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::{ChangeConfig, SsdConfig};
use outlast_settings::namespace::NamespaceConfig;
use outlast_units::JsonSchema;
use outlast_workload::{InputFile, WorkloadSpec};
pub use precondition::{FillPattern, OverwritePattern, PreconditionSpec};
pub use run::{RunSpec, TimingMode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run: the drive, the workload of the host, the preparation of the drive, and the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name shown in results. Default: "unnamed".
    #[serde(default = "unnamed")]
    pub name: String,
    /// Description in a sentence or two. Default: empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The one seed, from which every random stream is derived; 0 to 2^63 - 1. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// The drive; of an array, each of its members.
    pub device: SsdConfig,
    /// An array of such drives. Absent: the host has one drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayConfig>,
    /// Namespaces of the drive. Absent: one, the whole drive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<NamespaceConfig>,
    /// The workload of the host.
    pub workload: WorkloadSpec,
    /// Sudden failures at given times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// Changes of protection during the run, and updates of placement handles; they need `run.timing = "full"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeConfig>,
    /// Preparation of the drive before the measurement.
    #[serde(default)]
    pub precondition: PreconditionSpec,
    /// Decisions that code of your own takes.
    #[serde(default, skip_serializing_if = "PoliciesSpec::is_default")]
    pub policies: PoliciesSpec,
    /// Extent and method of the measurement.
    #[serde(default)]
    pub run: RunSpec,
    /// What the result must show, by the dotted name of a figure: `"latency_us.read.p99" = "< 1ms"`. A limit is `<`, `<=`, `>` or `>=` and a
    /// number, with a unit where the figure has one, or two limits joined by `and`. `outlast run` ends with exit code 1 if one is not met. Default: nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, String>,
    /// A sentence for each setting that a layer gives and that does not count because of another; filled by loading only.
    #[serde(skip)]
    pub void: Vec<String>,
}

fn unnamed() -> String {
    "unnamed".to_owned()
}

fn one() -> u64 {
    1
}

impl Scenario {
    /// All files on whose contents the result depends, apart from the scenario files themselves.
    pub fn input_files(&self) -> Vec<InputFile> {
        let from = self.precondition.from.iter();
        let snapshot = from.map(|path| InputFile { setting: "precondition.from", path: path.clone() });
        self.workload.input_files().into_iter().chain(snapshot).chain(self.policies.input_files()).collect()
    }

    /// Checks every setting that can be checked without building the drive or opening files.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if i64::try_from(self.seed).is_err() {
            let limit = "must be at most 9223372036854775807, the largest integer of TOML";
            return Err(ConfigError::new("seed", self.seed, limit));
        }
        check_name("name", &self.name)?;
        check_name("device.model", &self.device.model)?;
        self.device.validate()?;
        if let Some(array) = &self.array {
            array.validate()?;
            if array.light.is_some() && self.device.bytes {
                let limit = "must be false with light members (array.light), which keep no bytes";
                return Err(ConfigError::new("device.bytes", true, limit));
            }
            if !self.namespace.is_empty() {
                let limit = "must be absent with array: namespaces are those of one drive";
                return Err(ConfigError::new("namespace", self.namespace.len(), limit));
            }
        }
        NamespaceConfig::validate_all(&self.namespace, &self.device)?;
        self.precondition.validate()?;
        if let Some(path) = self.precondition.from.as_ref().filter(|_| self.run.twin) {
            let limit = "must be absent with run.twin: the twin is another drive, which no snapshot is of";
            return Err(ConfigError::new("precondition.from", path, limit));
        }
        self.run.validate()?;
        self.flash_faults()?;
        self.planned_events()?;
        self.validate_changes()?;
        let workload = &self.workload;
        let sources = [
            ("synthetic", workload.synthetic.is_some()),
            ("trace", workload.trace.is_some()),
            ("fio", workload.fio.is_some()),
            ("zoned", workload.zoned.is_some()),
        ];
        let names: Vec<&str> = sources.iter().filter(|(_, is_set)| *is_set).map(|&(name, _)| name).collect();
        if names.len() != 1 {
            let value = if names.is_empty() { "empty".to_owned() } else { names.join(" and ") };
            let limit = "must have exactly one of synthetic, trace, fio and zoned";
            return Err(ConfigError::new("workload", value, limit));
        }
        Ok(())
    }

    fn validate_changes(&self) -> Result<(), ConfigError> {
        for (index, change) in self.changes.iter().enumerate() {
            let field = format!("changes[{index}]");
            change.validate(&field, &self.device)?;
            if self.run.timing == TimingMode::None {
                let (name, value) = change.trigger();
                let limit = format!(
                    "needs run.timing = \"full\": a run without time carries out no {}",
                    change.kind()
                );
                return Err(ConfigError::new(&format!("{field}.{name}"), value, limit));
            }
        }
        Ok(())
    }

    /// The error-free twin: the scenario without errors, parity, scrubbing and faults, to compare the cost of reliability.
    #[must_use]
    pub fn twin(&self) -> Self {
        let mut twin = self.clone();
        if let Some(reliability) = &mut twin.device.reliability {
            reliability.ecc.strength = None;
        }
        twin.device.protection = None;
        twin.device.scrub = None;
        twin.device.hazards = HazardConfig::default();
        twin.faults.clear();
        twin.changes.clear();
        for member in twin.array.iter_mut().flat_map(|array| &mut array.member) {
            member.fail_at = None;
        }
        // Only the figures of the twin are compared: it needs no twin, tables or log of its own.
        twin.run.twin = false;
        twin.run.causes = false;
        twin.run.utilisation = false;
        twin.run.log = None;
        twin
    }

    /// The scenario as a file that extends no other; [`super::parse_text`] reads it back as an equal scenario.
    ///
    /// # Errors
    /// A whole number beyond 2^63 - 1, which only a JSON layer can hold.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|error| ScenarioError::NotToml { why: error.to_string() })
    }

    /// The scenario as JSON.
    ///
    /// # Errors
    /// Errors of serde.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

//! `[policies]`: decisions by name, be it that of a built-in policy or of code of the user's.

use super::Scenario;
use super::error::nearest;
use outlast_ftl::{Pacing, VictimPolicy};
use outlast_media::ConfigError;
use outlast_ssd::ScrubConfig;
use outlast_units::Nanos;
use outlast_workload::InputFile;
use schemars::JsonSchema;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Makes the decisions, their names and their settings from one list.
macro_rules! decisions {
    ($($(#[$doc:meta])* $name:ident = $Decision:ident;)*) => {
        /// Decisions of the firmware, each by the name of a built-in policy or as code of your own: `FILE:NAME`, where FILE is a Python file and NAME a
        /// function or class in it, or FILE a shared library and NAME a function of the interface `outlast_policy.h`. `outlast policies` lists them. Built-in
        /// ones have settings of their own, too; these here go before.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct PoliciesSpec {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<String>,)*
        }

        /// A decision that code of the user's may take.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Decision {
            $($(#[$doc])* $Decision,)*
        }

        impl Decision {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$Decision,)*];

            /// Its name in `[policies]`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Decision => stringify!($name),)*
                }
            }

            /// Its setting.
            pub const fn setting(self) -> &'static str {
                match self {
                    $(Self::$Decision => concat!("policies.", stringify!($name)),)*
                }
            }
        }

        impl PoliciesSpec {
            fn of(&self, decision: Decision) -> Option<&str> {
                match decision {
                    $(Decision::$Decision => self.$name.as_deref(),)*
                }
            }
        }
    };
}

decisions! {
    /// Which superblock garbage collection takes next: a policy of `device.ftl.gc.policy`, or code of your own. Default: what that setting says.
    gc = Gc;
    /// Which superblock static wear levelling moves next, asked after every erasure: code of your own. Default: as
    /// `device.ftl.wear_leveling.static_gap` says.
    wear_leveling = WearLeveling;
    /// Which superblocks scrubbing moves, beside what `device.scrub` says, asked every `device.scrub.own` until it names none: code of your own. Default:
    /// no others.
    scrub = Scrub;
    /// Which stream hint each write of the workload gets, and so which of the drive's streams (`device.ftl.streams`) or classes
    /// (`device.protection.classes`) has it, asked for thousands of writes at once: code of your own. Default: the workload's own hints.
    placement = Placement;
    /// Which code (data and parity units of a stripe) a superblock gets when it is opened, in the place of that of its class, which must need no less
    /// room: code of your own. Default: that of its class, `device.protection`.
    code = Code;
    /// How host writes are held to what collection gains: a policy of `device.ftl.gc.pacing`, or code of your own, which says for each victim what share of
    /// that setting's pace the host has. Default: what that setting says.
    pacing = Pacing;
}

/// Code of the user's that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPolicy {
    /// What it decides.
    pub decision: Decision,
    /// The file that has it.
    pub file: String,
    /// What it is called there.
    pub name: String,
}

impl fmt::Display for OwnPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.name)
    }
}

impl PoliciesSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Every decision with what it is said to be.
    fn all(&self) -> impl Iterator<Item = (Decision, &str)> {
        Decision::ALL.iter().filter_map(|&decision| Some((decision, self.of(decision)?)))
    }

    /// Code of the user's.
    pub fn own(&self) -> impl Iterator<Item = OwnPolicy> {
        self.all().filter_map(|(decision, text)| {
            let (file, name) = text.rsplit_once(':')?;
            Some(OwnPolicy { decision, file: file.to_owned(), name: name.to_owned() })
        })
    }

    /// Its files.
    pub(super) fn input_files(&self) -> impl Iterator<Item = InputFile> {
        self.own().map(|own| InputFile { setting: own.decision.setting(), path: own.file })
    }
}

/// How often code of the user's is asked what to scrub, where `device.scrub.own` does not say.
const ASKED_EVERY: Nanos = Nanos::millis(10);

/// Built-in policies that `[policies]` names are those of the settings that name them, too.
///
/// # Errors
/// A name that no policy has.
pub(super) fn take_policies(scenario: &mut Scenario) -> Result<(), ConfigError> {
    let policies = &scenario.policies;
    for (decision, name) in policies.all().filter(|(_, name)| !name.contains(':')) {
        match decision {
            Decision::Gc => {
                let known = VictimPolicy::deserialize(StrDeserializer::<Error>::new(name));
                scenario.device.ftl.gc.policy =
                    known.map_err(|_| unknown(decision, name, &names(VictimPolicy::ALL)))?;
            }
            Decision::Pacing => {
                let known = Pacing::deserialize(StrDeserializer::<Error>::new(name));
                scenario.device.ftl.gc.pacing =
                    known.map_err(|_| unknown(decision, name, &names(&Pacing::NAMES)))?;
            }
            Decision::WearLeveling | Decision::Scrub | Decision::Placement | Decision::Code => {
                return Err(unknown(decision, name, &[]));
            }
        }
    }
    match (&policies.scrub, &scenario.device.scrub) {
        (Some(_), scrub) => {
            let own = scrub.and_then(|scrub| scrub.own).unwrap_or(ASKED_EVERY);
            scenario.device.scrub = Some(ScrubConfig { own: Some(own), ..scrub.unwrap_or_default() });
        }
        (None, Some(ScrubConfig { own: Some(own), .. })) => {
            let limit = "is how often policies.scrub is asked, which is absent";
            return Err(ConfigError::new("device.scrub.own", own, limit));
        }
        _ => {}
    }
    if policies.code.is_some() && scenario.device.protection.is_none() {
        let limit = "chooses among codes; give the drive parity, with device.protection";
        return Err(ConfigError::new("policies.code", policies.code.as_deref().unwrap_or_default(), limit));
    }
    match policies.own().find(|own| own.file.is_empty() || own.name.is_empty()) {
        Some(own) => {
            let limit = "must be FILE:NAME, such as mine.py:choose";
            Err(ConfigError::new(own.decision.setting(), own, limit))
        }
        None => Ok(()),
    }
}

fn names<T: Serialize>(all: &[T]) -> Vec<String> {
    all.iter().filter_map(|policy| serde_json::to_value(policy).ok()?.as_str().map(str::to_owned)).collect()
}

fn unknown(decision: Decision, name: &str, known: &[String]) -> ConfigError {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = match nearest(name, &known) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "must be FILE:NAME, code of your own".to_owned(),
        None => format!("there are {}; code of your own is FILE:NAME", known.join(", ")),
    };
    ConfigError::new(decision.setting(), name, format!("is no built-in policy; {hint}"))
}

impl Scenario {
    /// That nothing of `[policies]` is still to be loaded.
    ///
    /// # Errors
    /// Code of the user's that nobody has loaded.
    pub(crate) fn check_policies(&self) -> Result<(), ConfigError> {
        let is_loaded = |own: &OwnPolicy| match own.decision {
            Decision::Gc => self.device.ftl.own.gc.is_some(),
            Decision::WearLeveling => self.device.ftl.own.wear_leveling.is_some(),
            Decision::Scrub => self.device.ftl.own.scrub.is_some(),
            Decision::Placement => self.workload.placement.is_some(),
            Decision::Code => self.device.ftl.own.code.is_some(),
            Decision::Pacing => self.device.ftl.own.pacing.is_some(),
        };
        match self.policies.own().find(|own| !is_loaded(own)) {
            Some(own) => {
                let limit =
                    "is code of your own, which `outlast run`, sweeps and Python load; nothing does here";
                Err(ConfigError::new(own.decision.setting(), own, limit))
            }
            None => Ok(()),
        }
    }
}

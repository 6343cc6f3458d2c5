//! `[policies]`: decisions by name, be it that of a built-in policy or of code of the user's.

use super::Scenario;
use super::error::nearest;
use outlast_decisions::RepairWay;
use outlast_media::ConfigError;
use outlast_settings::array::RepairOrder;
use outlast_settings::drive::ScrubConfig;
use outlast_settings::ftl::{Pacing, VictimPolicy};
use outlast_units::{JsonSchema, Nanos};
use outlast_workload::InputFile;
use serde::de::DeserializeOwned;
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
    /// How host writes are paced by collection: a policy of `device.ftl.gc.pacing`, or code of your own, which says for each victim what
    /// share of that setting's pace the host has. Default: what that setting says.
    pacing = Pacing;
    /// When and how an array repairs the failure of a die in a member: a way of `array.repair.way`, or code of your own, asked when the member tells of it.
    /// Default: at once, as that setting says.
    repair = Repair;
    /// How fast an array rebuilds members, and repairs them, asked every `array.background.own`: code of your own. Default: as `array.background` and
    /// `array.repair.share` say.
    rebuild = Rebuild;
    /// Which of the rows that a member has lost with a die are recovered first: an order of `array.repair.order`, or code of your own, which sees all of them
    /// at once. Default: what that setting says.
    repair_order = RepairOrder;
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

impl Decision {
    /// Whether an array decides, not a drive.
    const fn is_of_arrays(self) -> bool {
        matches!(self, Self::Repair | Self::Rebuild | Self::RepairOrder)
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
    let policies = scenario.policies.clone();
    for (decision, name) in policies.all() {
        if decision.is_of_arrays() && scenario.array.is_none() {
            let limit = "decides for an array, and there is none: give the scenario one, with [array]";
            return Err(ConfigError::new(decision.setting(), name, limit));
        }
        if !name.contains(':') {
            take_built_in(scenario, decision, name)?;
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
    let protection = scenario.device.protection.as_ref();
    let rules = protection.filter(|own| (0..own.class_count()).any(|class| own.has_rules(class)));
    if let (Some(name), Some(_)) = (&policies.code, rules) {
        let limit = "chooses codes, and so does device.protection.codes: give one of the two";
        return Err(ConfigError::new("policies.code", name, limit));
    }
    let own = scenario.array.as_ref().and_then(|array| array.background.own);
    if let (Some(own), None) = (own, &policies.rebuild) {
        let limit = "is how often policies.rebuild is asked, which is absent";
        return Err(ConfigError::new("array.background.own", own, limit));
    }
    match policies.own().find(|own| own.file.is_empty() || own.name.is_empty()) {
        Some(own) => {
            let limit = "must be FILE:NAME, such as mine.py:choose";
            Err(ConfigError::new(own.decision.setting(), own, limit))
        }
        None => Ok(()),
    }
}

/// The setting that names the policies of a decision becomes `name`.
fn take_built_in(scenario: &mut Scenario, decision: Decision, name: &str) -> Result<(), ConfigError> {
    let gc = &mut scenario.device.ftl.gc;
    let repair = scenario.array.as_mut().map(|array| &mut array.repair);
    match (decision, repair) {
        (Decision::Gc, _) => gc.policy = named(decision, name, &names(VictimPolicy::ALL))?,
        (Decision::Pacing, _) => gc.pacing = named(decision, name, &names(&Pacing::NAMES))?,
        (Decision::Repair, Some(repair)) => repair.way = named(decision, name, &names(&RepairWay::ALL))?,
        (Decision::RepairOrder, Some(repair)) => {
            repair.order = named(decision, name, &names(&RepairOrder::ALL))?;
        }
        _ => return Err(unknown(decision, name, &[])),
    }
    Ok(())
}

fn named<T: DeserializeOwned>(decision: Decision, name: &str, known: &[String]) -> Result<T, ConfigError> {
    T::deserialize(StrDeserializer::<Error>::new(name)).map_err(|_| unknown(decision, name, known))
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
    pub fn check_policies(&self) -> Result<(), ConfigError> {
        let of_array = self.array.as_ref().map(|array| &array.own);
        let is_loaded = |own: &OwnPolicy| match own.decision {
            Decision::Gc => self.device.ftl.own.gc.is_some(),
            Decision::WearLeveling => self.device.ftl.own.wear_leveling.is_some(),
            Decision::Scrub => self.device.ftl.own.scrub.is_some(),
            Decision::Placement => self.workload.placement.is_some(),
            Decision::Code => self.device.ftl.own.code.is_some(),
            Decision::Pacing => self.device.ftl.own.pacing.is_some(),
            Decision::Repair => of_array.is_some_and(|own| own.repair.is_some()),
            Decision::Rebuild => of_array.is_some_and(|own| own.rebuild.is_some()),
            Decision::RepairOrder => of_array.is_some_and(|own| own.repair_order.is_some()),
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

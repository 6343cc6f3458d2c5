//! `[policies]`: decisions by the name of a built-in policy or of a user's code.

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

        /// A decision that a user's code may take.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PolicyDecision {
            $($(#[$doc])* $Decision,)*
        }

        impl PolicyDecision {
            /// All decisions, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$Decision,)*];

            /// Its name in `[policies]`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Decision => stringify!($name),)*
                }
            }

            /// Its setting, such as `policies.gc`.
            pub const fn setting(self) -> &'static str {
                match self {
                    $(Self::$Decision => concat!("policies.", stringify!($name)),)*
                }
            }
        }

        impl PoliciesSpec {
            fn value_of(&self, decision: PolicyDecision) -> Option<&str> {
                match decision {
                    $(PolicyDecision::$Decision => self.$name.as_deref(),)*
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
    /// Whether a die that has shown a sign of failure is expected to fail, so that its data is moved away while it can be read: code of your own, with
    /// `device.repair.predict`. Default: as the limits of that table say.
    predict = Predict;
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

/// A user's code that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySpec {
    /// The decision that it takes.
    pub decision: PolicyDecision,
    /// Path of its file.
    pub file: String,
    /// Name of the function or class in the file.
    pub name: String,
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.name)
    }
}

impl PolicyDecision {
    /// True if the decision is that of an array, not of a drive.
    const fn is_of_arrays(self) -> bool {
        matches!(self, Self::Repair | Self::Rebuild | Self::RepairOrder)
    }
}

impl PoliciesSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The decisions that are set, each with its value.
    fn entries(&self) -> impl Iterator<Item = (PolicyDecision, &str)> {
        PolicyDecision::ALL.iter().filter_map(|&decision| Some((decision, self.value_of(decision)?)))
    }

    /// The values that name a user's code.
    pub fn user_policies(&self) -> impl Iterator<Item = PolicySpec> {
        self.entries().filter_map(|(decision, text)| {
            let (file, name) = text.rsplit_once(':')?;
            Some(PolicySpec { decision, file: file.to_owned(), name: name.to_owned() })
        })
    }

    /// Files of the users' code.
    pub(super) fn input_files(&self) -> impl Iterator<Item = InputFile> {
        self.user_policies().map(|policy| InputFile { setting: policy.decision.setting(), path: policy.file })
    }
}

/// Interval at which a user's code chooses superblocks to scrub, unless `device.scrub.own` sets it.
const SCRUB_INTERVAL: Nanos = Nanos::millis(10);

/// Puts the built-in policies that `[policies]` names into the settings of their parts, and checks the others.
///
/// # Errors
/// A name is unknown, or a decision needs a part that the scenario does not have.
pub(super) fn apply_policies(scenario: &mut Scenario) -> Result<(), ConfigError> {
    let policies = scenario.policies.clone();
    for (decision, name) in policies.entries() {
        if decision.is_of_arrays() && scenario.array.is_none() {
            let limit = "decides for an array, and there is none: give the scenario one, with [array]";
            return Err(ConfigError::new(decision.setting(), name, limit));
        }
        if !name.contains(':') {
            apply_built_in(scenario, decision, name)?;
        }
    }
    match (&policies.scrub, &scenario.device.scrub) {
        (Some(_), scrub) => {
            let interval = scrub.and_then(|scrub| scrub.own).unwrap_or(SCRUB_INTERVAL);
            scenario.device.scrub = Some(ScrubConfig { own: Some(interval), ..scrub.unwrap_or_default() });
        }
        (None, Some(ScrubConfig { own: Some(interval), .. })) => {
            let limit = "is how often policies.scrub is asked, which is absent";
            return Err(ConfigError::new("device.scrub.own", interval, limit));
        }
        _ => {}
    }
    let predicts = scenario.device.repair.as_ref().is_some_and(|repair| repair.predict.is_some());
    if let Some(name) = policies.predict.as_deref().filter(|_| !predicts) {
        let limit = "decides for the dies that device.repair.predict watches; add that table";
        return Err(ConfigError::new("policies.predict", name, limit));
    }
    if policies.code.is_some() && scenario.device.protection.is_none() {
        let limit = "chooses among codes; give the drive parity, with device.protection";
        return Err(ConfigError::new("policies.code", policies.code.as_deref().unwrap_or_default(), limit));
    }
    let protection = scenario.device.protection.as_ref();
    let with_rules = protection
        .filter(|protection| (0..protection.class_count()).any(|class| protection.has_rules(class)));
    if let (Some(name), Some(_)) = (&policies.code, with_rules) {
        let limit = "excludes device.protection.codes: both choose the codes of superblocks";
        return Err(ConfigError::new("policies.code", name, limit));
    }
    let interval = scenario.array.as_ref().and_then(|array| array.background.own);
    if let (Some(interval), None) = (interval, &policies.rebuild) {
        let limit = "is how often policies.rebuild is asked, which is absent";
        return Err(ConfigError::new("array.background.own", interval, limit));
    }
    match policies.user_policies().find(|policy| policy.file.is_empty() || policy.name.is_empty()) {
        Some(policy) => {
            let limit = "must be FILE:NAME, such as mine.py:choose";
            Err(ConfigError::new(policy.decision.setting(), policy, limit))
        }
        None => Ok(()),
    }
}

/// Sets the setting of a decision, such as `device.ftl.gc.policy`, to the built-in policy `name`.
fn apply_built_in(scenario: &mut Scenario, decision: PolicyDecision, name: &str) -> Result<(), ConfigError> {
    let gc = &mut scenario.device.ftl.gc;
    let repair = scenario.array.as_mut().map(|array| &mut array.repair);
    match (decision, repair) {
        (PolicyDecision::Gc, _) => gc.policy = named(decision, name, &names(VictimPolicy::ALL))?,
        (PolicyDecision::Pacing, _) => gc.pacing = named(decision, name, &names(&Pacing::NAMES))?,
        (PolicyDecision::Repair, Some(repair)) => {
            repair.way = named(decision, name, &names(&RepairWay::ALL))?;
        }
        (PolicyDecision::RepairOrder, Some(repair)) => {
            repair.order = named(decision, name, &names(&RepairOrder::ALL))?;
        }
        _ => return Err(unknown(decision, name, &[])),
    }
    Ok(())
}

/// The policy with this name, by its spelling in a scenario.
fn named<T: DeserializeOwned>(
    decision: PolicyDecision,
    name: &str,
    policies: &[String],
) -> Result<T, ConfigError> {
    T::deserialize(StrDeserializer::<Error>::new(name)).map_err(|_| unknown(decision, name, policies))
}

/// Names of policies, by their spelling in a scenario.
fn names<T: Serialize>(all: &[T]) -> Vec<String> {
    all.iter().filter_map(|policy| serde_json::to_value(policy).ok()?.as_str().map(str::to_owned)).collect()
}

/// The error about an unknown name of a policy, with a hint at those that the decision has.
fn unknown(decision: PolicyDecision, name: &str, policies: &[String]) -> ConfigError {
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    let hint = match nearest(name, &policies) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if policies.is_empty() => "must be FILE:NAME, code of your own".to_owned(),
        None => format!("there are {}; code of your own is FILE:NAME", policies.join(", ")),
    };
    ConfigError::new(decision.setting(), name, format!("is no built-in policy; {hint}"))
}

impl Scenario {
    /// Checks that all users' code is loaded.
    ///
    /// # Errors
    /// A user's code is not loaded.
    pub fn check_policies(&self) -> Result<(), ConfigError> {
        let array_policies = self.array.as_ref().map(|array| &array.own);
        let is_loaded = |policy: &PolicySpec| match policy.decision {
            PolicyDecision::Gc => self.device.ftl.own.gc.is_some(),
            PolicyDecision::WearLeveling => self.device.ftl.own.wear_leveling.is_some(),
            PolicyDecision::Scrub => self.device.ftl.own.scrub.is_some(),
            PolicyDecision::Placement => self.workload.placement.is_some(),
            PolicyDecision::Code => self.device.ftl.own.code.is_some(),
            PolicyDecision::Pacing => self.device.ftl.own.pacing.is_some(),
            PolicyDecision::Predict => self.device.ftl.own.predict.is_some(),
            PolicyDecision::Repair => array_policies.is_some_and(|policies| policies.repair.is_some()),
            PolicyDecision::Rebuild => array_policies.is_some_and(|policies| policies.rebuild.is_some()),
            PolicyDecision::RepairOrder => {
                array_policies.is_some_and(|policies| policies.repair_order.is_some())
            }
        };
        match self.policies.user_policies().find(|policy| !is_loaded(policy)) {
            Some(policy) => {
                let limit = "is code of your own, which only `outlast run`, sweeps and Python can load";
                Err(ConfigError::new(policy.decision.setting(), policy, limit))
            }
            None => Ok(()),
        }
    }
}

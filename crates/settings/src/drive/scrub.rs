//! Settings of scrubbing: the list of its policies, and what goes with them.

use super::ReliabilityConfig;
use outlast_media::{ConfigError, Geometry, Timing};
use outlast_units::{ByteRate, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Hands the list to a macro: of each policy the setting that turns it on, its type and what may be set, the policy, and the reason by which results
/// name it.
#[macro_export]
macro_rules! scrub_policies {
    ($with:ident) => {
        $with! {
            /// Read reclaim: a superblock is moved when one of its blocks has been read this often since its erase.
            reads: u32, at_least_one => reads::Reads, Reads = "reads";
            /// Read refresh: a superblock is moved when its oldest data has this age. Checked a hundred times in that period.
            age: Nanos, at_least_a_second => age::Age, Age = "age";
            /// Oracle: a superblock is moved when the expected wrong bits of a codeword anywhere in it exceed this (HRM, section 4.3).
            /// No real drive can know.
            expected_errors: f64, above_zero => expected_errors::Oracle, ExpectedErrors = "expected-errors";
            /// Cost and benefit (HRM, section 5): a superblock is moved when its re-reads since its erasure, for each unit that would have
            /// to be moved, reach this; the one with the most first.
            rereads_per_unit: f64, above_zero => rereads::Rereads, Rereads = "rereads";
            /// Patrol read: every program unit of full superblocks is read once in this time, and a superblock is moved when a codeword has more
            /// wrong bits than `patrol_errors`.
            patrol: Nanos, at_least_a_second => patrol::Patrol, Patrol = "patrol";
            /// Interval at which your own policy (`policies.scrub`) is asked which superblocks to move. Default: 10 ms, if there is one.
            own: Nanos, at_least_a_microsecond => own::Asked, Own = "own";
        }
    };
}

fn at_least_one(count: u32) -> Result<(), &'static str> {
    if count == 0 { Err("must be at least 1") } else { Ok(()) }
}

fn at_least_a_second(time: Nanos) -> Result<(), &'static str> {
    if time < Nanos::secs(1) { Err("must be at least 1s") } else { Ok(()) }
}

fn at_least_a_microsecond(time: Nanos) -> Result<(), &'static str> {
    if time < Nanos::micros(1) { Err("must be at least 1us") } else { Ok(()) }
}

fn above_zero(number: f64) -> Result<(), &'static str> {
    if number.is_finite() && number > 0.0 { Ok(()) } else { Err("must be a number above 0") }
}

macro_rules! scrub_config {
    ($($(#[$meta:meta])* $setting:ident: $Setting:ty, $check:ident => $file:ident::$Policy:ident, $Reason:ident = $name:literal;)+) => {
        /// Scrubbing: when data is moved before it becomes unreadable. Triggers work independently; any number may be given.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct ScrubConfig {
            $(
                $(#[$meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $setting: Option<$Setting>,
            )+
            /// See `patrol`; absent: half of what the ECC corrects.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub patrol_errors: Option<u32>,
            /// Move data whose protection is no longer what new data gets: its stripes have lost a die, its class has another code now, or
            /// dies have been added. The most exposed first.
            pub reprotect: bool,
            /// What is moved at once: a whole superblock, or the one block of it that `reads`, `expected_errors` or
            /// `rereads_per_unit` finds bad; the superblock's other data stays, and it is erased when nothing is left in it. Default:
            /// `superblock`.
            #[serde(skip_serializing_if = "ScrubUnit::is_superblock")]
            pub unit: ScrubUnit,
            /// Most bytes that scrubbing moves in a second, over all cores; absent: what idle dies allow.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub bandwidth: Option<ByteRate>,
        }

        impl ScrubConfig {
            /// The settings of policies, and whether each is given.
            pub fn policies(&self) -> Vec<(&'static str, bool)> {
                vec![$((stringify!($setting), self.$setting.is_some()),)+]
            }

            /// Checks the setting of each policy by itself.
            fn check_policies(&self) -> Result<(), ConfigError> {
                $(if let Some(setting) = self.$setting {
                    $check(setting).map_err(|limit| {
                        ConfigError::new(concat!("device.scrub.", stringify!($setting)), setting, limit)
                    })?;
                })+
                Ok(())
            }
        }
    };
}

scrub_policies!(scrub_config);

/// What scrubbing moves at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScrubUnit {
    /// A superblock.
    #[default]
    Superblock,
    /// A block of one plane of one die.
    Block,
}

impl ScrubUnit {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_superblock(&self) -> bool {
        *self == Self::Superblock
    }
}

impl ScrubConfig {
    /// Refuses thresholds that data just moved would pass again in the course of ordinary use, so that scrubbing would never end.
    pub(super) fn check_pace(
        &self,
        geometry: &Geometry,
        timing: &Timing,
        one_shot: u8,
    ) -> Result<(), ConfigError> {
        if let Some(reads) = self.reads.filter(|&reads| reads <= geometry.pages_per_block) {
            let limit = format!(
                "must be above the {} pages of a block: reading it once would have it moved, for ever",
                geometry.pages_per_block
            );
            return Err(ConfigError::new("device.scrub.reads", reads, limit));
        }
        // All dies at work, nothing else to do.
        let rows = f64::from(geometry.blocks_per_plane) * f64::from(geometry.pages_per_block);
        let rewrite = Nanos((rows / f64::from(one_shot) * timing.program.mean_ns()) as u64);
        if let Some(age) = self.age.filter(|&age| age < rewrite) {
            let limit =
                format!("must be at least the {rewrite} that it takes to write all pages of the drive once");
            return Err(ConfigError::new("device.scrub.age", age, limit));
        }
        Ok(())
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// No trigger, or one out of range.
    pub fn validate(&self, reliability: Option<&ReliabilityConfig>) -> Result<(), ConfigError> {
        let error = |name: &str, value: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(&format!("device.scrub.{name}"), value, limit))
        };
        let policies = self.policies();
        if !policies.iter().any(|&(_, given)| given) && !self.reprotect {
            let names: Vec<&str> = policies.iter().map(|&(name, _)| name).collect();
            let limit = format!("needs a trigger: {} or reprotect", names.join(", "));
            return Err(ConfigError::new("device.scrub", "empty", limit));
        }
        self.check_policies()?;
        let by_block =
            self.reads.is_some() || self.expected_errors.is_some() || self.rereads_per_unit.is_some();
        if self.unit == ScrubUnit::Block && !by_block {
            let limit = "needs a trigger that tells blocks apart: reads, expected_errors or rereads_per_unit";
            return error("unit", &"block", limit);
        }
        if let (Some(errors), Some(reliability)) = (self.expected_errors, reliability) {
            let half = f64::from(reliability.ecc.codeword_bits()) / 2.0;
            if errors > half {
                let limit =
                    format!("must be at most {half}, half of a codeword: more wrong bits are never expected");
                return error("expected_errors", &errors, &limit);
            }
            let (_, fresh) = reliability.fresh_errors(0);
            if errors <= fresh {
                let limit = format!(
                    "must be above the {fresh:.3} that are expected in data just written to new flash: it would be moved for ever"
                );
                return error("expected_errors", &errors, &limit);
            }
        }
        if self.patrol_errors.is_some() && self.patrol.is_none() {
            return error("patrol_errors", &self.patrol_errors.unwrap_or(0), "needs patrol");
        }
        if reliability.is_none() {
            let needs = "needs device.reliability, which says how the flash errs";
            if let Some((name, _)) = policies.iter().find(|(_, given)| *given) {
                return error(name, &"given", needs);
            }
        }
        if let Some(reliability) = reliability
            && self.patrol.is_some()
            && self.patrol_errors.is_none()
            && reliability.ecc.strength.is_none()
        {
            return error(
                "patrol_errors",
                &"absent",
                "must be given where the ECC corrects any number of errors",
            );
        }
        Ok(())
    }
}

//! Settings of energy: what the parts of a drive draw while they work and while they rest.

use outlast_media::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Most watts of a part: more than any drive draws in all.
const MOST_WATTS: f64 = 1000.0;
/// Most joules of one operation.
const MOST_JOULES: f64 = 1.0;

/// Energy of a drive. Each part draws a power while it is busy, and an operation may add energy of its own; what none of these counts is the power of
/// the controller, by whether the host has commands in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnergyConfig {
    /// Power of the controller and its memory while commands of the host are in progress, W.
    pub active_watts: f64,
    /// Power of the controller and its memory while none is, before any state of `states` is entered, W.
    pub idle_watts: f64,
    /// Power of each die while it works or holds data, W; data sheets of flash give a current that hardly differs between reads, programs and erasures.
    #[serde(default)]
    pub die_watts: f64,
    /// Power of each channel while it moves data, at both of its ends, W.
    #[serde(default)]
    pub channel_watts: f64,
    /// Power of the host link for each direction in which data moves, W. Needs `controller.link`.
    #[serde(default)]
    pub link_watts: f64,
    /// Energy of a page that is read, beside the power of its die, J.
    #[serde(default)]
    pub read_joules: f64,
    /// Energy of a page that is programmed, beside the power of its die, J.
    #[serde(default)]
    pub program_joules: f64,
    /// Energy of a block that is erased, beside the power of its die, J.
    #[serde(default)]
    pub erase_joules: f64,
    /// States of rest, each deeper than the one before. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<IdleState>,
}

/// A state of rest, which a drive enters by itself when the host has had no command in progress for a while.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// Pause of the host after which the state is entered, the time to enter it included.
    pub after: Nanos,
    /// Power of the controller and its memory in this state, W.
    pub watts: f64,
    /// Time for which the next command waits.
    pub exit: Nanos,
}

impl EnergyConfig {
    /// Checks powers, energies and the order of the states.
    ///
    /// # Errors
    /// A number out of range, or a state that is not deeper than the one before.
    pub fn validate(&self, has_link: bool) -> Result<(), ConfigError> {
        let watts = [
            ("active_watts", self.active_watts),
            ("idle_watts", self.idle_watts),
            ("die_watts", self.die_watts),
            ("channel_watts", self.channel_watts),
            ("link_watts", self.link_watts),
        ];
        for (name, value) in watts {
            check(&format!("device.energy.{name}"), value, MOST_WATTS)?;
        }
        let joules = [
            ("read_joules", self.read_joules),
            ("program_joules", self.program_joules),
            ("erase_joules", self.erase_joules),
        ];
        for (name, value) in joules {
            check(&format!("device.energy.{name}"), value, MOST_JOULES)?;
        }
        if self.active_watts < self.idle_watts {
            let limit = format!("must be at least device.energy.idle_watts, {}", self.idle_watts);
            return Err(ConfigError::new("device.energy.active_watts", self.active_watts, limit));
        }
        if self.link_watts > 0.0 && !has_link {
            let limit = "needs device.controller.link: a link without a limit is never busy";
            return Err(ConfigError::new("device.energy.link_watts", self.link_watts, limit));
        }
        self.check_states()
    }

    fn check_states(&self) -> Result<(), ConfigError> {
        let mut before = (Nanos::ZERO, self.idle_watts);
        for (index, state) in self.states.iter().enumerate() {
            let name = |field: &str| format!("device.energy.states[{index}].{field}");
            check(&name("watts"), state.watts, MOST_WATTS)?;
            if state.after <= before.0 || state.after > Nanos(3_600_000_000_000) {
                let limit =
                    format!("must be longer than that of the state before, {}, and at most 1h", before.0);
                return Err(ConfigError::new(&name("after"), state.after, limit));
            }
            if state.watts > before.1 {
                let limit = format!("must be at most that of the state before, {}", before.1);
                return Err(ConfigError::new(&name("watts"), state.watts, limit));
            }
            if state.exit > Nanos(10_000_000_000) {
                return Err(ConfigError::new(&name("exit"), state.exit, "must be at most 10s"));
            }
            before = (state.after, state.watts);
        }
        Ok(())
    }
}

/// Refuses what is no number from 0 to `most`.
fn check(field: &str, value: f64, most: f64) -> Result<(), ConfigError> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(field, value, format!("must be between 0 and {most}")))
}

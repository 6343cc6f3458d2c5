//! Programs in two passes.

use crate::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Most program operations of a block between the two passes of one.
const MOST_DISTANCE: u32 = 64;
/// Parts of a program time by which the coarse pass is counted.
const PARTS: u64 = 1 << 16;

/// Programming in two passes, as QLC flash needs it: a coarse (foggy) one that places the cells roughly, and a fine one that ends it. Both take all
/// data of the program operation over the channel (16-16). Between them nothing of it can be read from flash, and a loss of power destroys it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoPassConfig {
    /// Share of tPROG that the coarse pass takes, above 0 and below 1; the fine pass takes the rest.
    pub coarse: f64,
    /// The fine pass of a program operation follows the coarse pass of the one that comes so many later in its block: a word line further, with as many
    /// strings. 1 to 64. Default: 1.
    #[serde(default = "one")]
    pub distance: u32,
}

fn one() -> u32 {
    1
}

impl TwoPassConfig {
    /// Checks both numbers against blocks of `programs` program operations.
    ///
    /// # Errors
    /// No share of a time, or blocks so short that what is padded to end programs would fill them.
    pub fn validate(&self, programs: u32) -> Result<(), ConfigError> {
        if !(self.coarse > 0.0 && self.coarse < 1.0) {
            let limit = "must be above 0 and below 1: a share of tPROG";
            return Err(ConfigError::new("device.ftl.two_pass.coarse", self.coarse, limit));
        }
        let most = (programs / 2).saturating_sub(1).min(MOST_DISTANCE);
        if self.distance == 0 || self.distance > most {
            let limit = format!(
                "must be between 1 and {most}: at most {MOST_DISTANCE}, and less than half of the {programs} program operations of a block"
            );
            return Err(ConfigError::new("device.ftl.two_pass.distance", self.distance, limit));
        }
        Ok(())
    }

    /// Time of the coarse pass of a program that takes `whole`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 65 536 parts")]
    pub fn coarse_time(&self, whole: Nanos) -> Nanos {
        Nanos(whole.0 * ((self.coarse * PARTS as f64) as u64) / PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_pass_is_a_share_of_the_program() {
        let passes = TwoPassConfig { coarse: 0.25, distance: 1 };
        assert_eq!(passes.coarse_time(Nanos::micros(2000)), Nanos::micros(500));
    }

    #[test]
    fn passes_that_cannot_be_are_refused() {
        let refused = |coarse, distance, programs| {
            TwoPassConfig { coarse, distance }.validate(programs).unwrap_err().to_string()
        };
        assert!(refused(0.0, 1, 64).contains("device.ftl.two_pass.coarse = 0"));
        assert!(refused(1.0, 1, 64).contains("below 1"));
        assert!(refused(0.4, 0, 64).contains("between 1 and 31"));
        assert!(refused(0.4, 65, 640).contains("at most 64"));
        assert!(refused(0.4, 1, 3).contains("between 1 and 0"));
        assert!(TwoPassConfig { coarse: 0.4, distance: 1 }.validate(4).is_ok());
    }
}

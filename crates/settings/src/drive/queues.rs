//! Submission queues of the host, and which of them the drive takes its next command from.

use outlast_media::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Submission queues, as `NVMe` has them: the drive works on `queue_depth` commands at once, further ones wait in the queue through which they
/// came, and arbitration says which queue gives the next (`NVMe` base specification 2.0, section 3.4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueuesConfig {
    /// How the next queue is selected. Default: "round-robin".
    #[serde(default)]
    pub arbitration: Arbitration,
    /// Commands of one queue that the drive works on at once: a queue at this limit waits even if places are free. 1 to `queue_depth`.
    /// Default: as many as there are places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// With "weighted": the class of queue 0, of queue 1, and so on, from the beginning again where there are more queues; 1 to 256 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
}

/// How the next queue is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// One queue after the other; all are equal.
    #[default]
    RoundRobin,
    /// Urgent queues before all others; the others share, 8 commands of high, 4 of medium and 2 of low priority in a round; queues of a class one after the other.
    Weighted,
}

/// The priority class of a queue.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    outlast_persist::Persist,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Before all others: they starve while it has commands.
    Urgent,
    /// Weighted.
    High,
    /// Weighted.
    Medium,
    /// Weighted.
    Low,
}

impl QueuesConfig {
    /// Commands taken in a round of the classes high, medium and low. Assumed: `NVMe` leaves them to the host's `Set Features`, and drivers
    /// that use the arbitration at all halve from class to class.
    pub const WEIGHTS: [u32; 3] = [8, 4, 2];

    /// The class of queue `queue`; none where all are equal.
    #[inline]
    pub fn class_of(&self, queue: u8) -> Option<Class> {
        self.classes.get(usize::from(queue) % self.classes.len().max(1)).copied()
    }

    /// Checks the settings, of a drive that works on `places` commands at once.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub(super) fn validate(&self, places: u32) -> Result<(), ConfigError> {
        let field = |name: &str| format!("device.controller.queues.{name}");
        if let Some(depth) = self.depth.filter(|&depth| depth == 0 || depth > places) {
            let limit = format!("must be between 1 and {places}, as queue_depth is");
            return Err(ConfigError::new(&field("depth"), depth, limit));
        }
        if self.arbitration == Arbitration::RoundRobin {
            let limit = "counts only with arbitration = \"weighted\"";
            if !self.classes.is_empty() {
                return Err(ConfigError::new(&field("classes"), "a list", limit));
            }
        } else if self.classes.is_empty() || self.classes.len() > 256 {
            let limit = "must name the classes of 1 to 256 queues";
            return Err(ConfigError::new(
                &field("classes"),
                format!("{} entries", self.classes.len()),
                limit,
            ));
        }
        Ok(())
    }
}

//! What a drive makes of its promises: flushes that are kept or not, trims that last or not.

use super::{ControllerConfig, WriteCache};
use crate::ftl::{GcConfig, GcRelocation, PartialPlace, ProtectedStreams, ProtectionConfig};
use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{JsonSchema, Nanos};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What becomes of a flush, and of a write that must be on flash (FUA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushPolicy {
    /// It ends when all that was acknowledged before is on flash.
    #[default]
    Honour,
    /// It ends at once, and nothing else happens: some drives on the market do that.
    Ignore,
    /// It ends at once, and so much later it is carried out.
    Late(Nanos),
}

/// What a loss of power leaves of trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trims {
    /// All of them, flushed or not: the log of the mapping is taken to be safe at once.
    #[default]
    Kept,
    /// Those before the last flush that was carried out. Of others, what was deallocated may be there again, unless it has been written since.
    Volatile,
}

impl FlushPolicy {
    const FORMS: &str = "\"honour\", \"ignore\" or \"late:\" with a time, such as \"late:2ms\"";

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::Honour
    }

    /// Whether whoever waits for a flush waits until it has been carried out.
    #[inline]
    pub fn is_honoured(self) -> bool {
        self == Self::Honour
    }
}

impl Trims {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::Kept
    }
}

impl Serialize for FlushPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Honour => serializer.serialize_str("honour"),
            Self::Ignore => serializer.serialize_str("ignore"),
            Self::Late(by) => serializer.collect_str(&format_args!("late:{by}")),
        }
    }
}

impl<'de> Deserialize<'de> for FlushPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let late = || text.strip_prefix("late:")?.parse().ok().map(Self::Late);
        match text.as_str() {
            "honour" => Ok(Self::Honour),
            "ignore" => Ok(Self::Ignore),
            _ => late().ok_or_else(|| Error::custom(format!("{text:?} is none of {}", Self::FORMS))),
        }
    }
}

outlast_units::schema_of!(FlushPolicy, {
    "type": "string",
    "pattern": r"^(honour|ignore|late:\s*[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|ms|s)\s*)$",
    "description": "\"honour\": it ends when what was acknowledged is on flash. \"ignore\": it ends at once, and nothing else happens. \"late:2ms\": it ends at once, and is carried out so much later."
});

impl ControllerConfig {
    /// Checks that there is something to flush, or to lose.
    pub(super) fn check_promises(&self) -> Result<(), ConfigError> {
        if let FlushPolicy::Late(by) = self.flush {
            at_most_a_second("device.controller.flush", by)?;
            if by == Nanos::ZERO {
                return Err(ConfigError::new(
                    "device.controller.flush",
                    "late:0",
                    "must be later than at once",
                ));
            }
        }
        if !self.flush.is_honoured() && self.write_cache != WriteCache::Volatile {
            let text = if self.flush == FlushPolicy::Ignore { "ignore" } else { "late" };
            let limit = "needs write_cache = \"volatile\": only there a flush has something to do";
            return Err(ConfigError::new("device.controller.flush", text, limit));
        }
        if self.trims == Trims::Volatile && self.write_cache == WriteCache::Protected {
            let limit =
                "needs write_cache = \"volatile\" or \"off\": a protected buffer keeps the log of trims, too";
            return Err(ConfigError::new("device.controller.trims", "volatile", limit));
        }
        Ok(())
    }

    /// Checks that what collection moves may go among the host's data, where `gc` says that it does.
    pub(super) fn check_mixed(
        &self,
        gc: &GcConfig,
        protection: Option<&ProtectionConfig>,
    ) -> Result<(), ConfigError> {
        if gc.relocation == GcRelocation::Own {
            return Ok(());
        }
        let refused = |limit: &str| Err(ConfigError::new("device.ftl.gc.relocation", "host", limit));
        if self.write_cache != WriteCache::Protected {
            return refused(
                "needs write_cache = \"protected\": else flushes pad what victims are to be moved to",
            );
        }
        if gc.overlap {
            return refused(
                "does not go with overlap = true, where the next victim has a superblock to itself",
            );
        }
        match protection {
            Some(own) if own.streams == ProtectedStreams::Gathered => {
                refused("does not go with device.protection.streams = \"gathered\", which needs it apart")
            }
            Some(own) if own.partial.place == PartialPlace::Inline => refused(
                "does not go with partial parity \"inline\", which takes what victims are to be moved to",
            ),
            _ => Ok(()),
        }
    }

    /// Checks that victims may overlap, where `overlap` says that they do.
    pub(super) fn check_overlap(&self, overlap: bool) -> Result<(), ConfigError> {
        if overlap && self.write_cache != WriteCache::Protected {
            let limit = "needs write_cache = \"protected\": without, a victim waits for its data anyway while the next one is read";
            return Err(ConfigError::new("device.ftl.gc.overlap", true, limit));
        }
        Ok(())
    }
}

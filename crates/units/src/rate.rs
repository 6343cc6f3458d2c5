//! Bandwidth, written `"667MB/s"`, `"1.2GiB/s"`.

use crate::{Bytes, Nanos, ParseUnitError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A bandwidth in bytes per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
#[persist(check)]
pub struct ByteRate(u64);

impl ByteRate {
    /// Whether any transfer at a rate that was read would end.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as the derived reading calls it")]
    fn check_restored(&self) -> Result<(), String> {
        if self.0 == 0 { Err("a rate is 0 bytes a second".to_owned()) } else { Ok(()) }
    }

    /// `bytes_per_s` bytes per second; `None` for zero, which no transfer could finish.
    pub const fn new(bytes_per_s: u64) -> Option<Self> {
        if bytes_per_s == 0 { None } else { Some(Self(bytes_per_s)) }
    }
    /// Bytes per second.
    pub const fn bytes_per_s(self) -> u64 {
        self.0
    }
    /// The bandwidth so that parsing gives it back: decimal units where exact, as buses are rated, else those of [`Bytes::written`].
    pub fn written(self) -> impl fmt::Display {
        WrittenRate(self)
    }
    fn is_decimal(self) -> bool {
        self.0.is_multiple_of(1_000_000)
    }
    /// The time that `bytes` take, rounded up to a whole nanosecond.
    pub fn time_for(self, bytes: Bytes) -> Nanos {
        Nanos::of_transfer(bytes.0, self.0)
    }
}

impl std::str::FromStr for ByteRate {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || ParseUnitError::Malformed {
            text: text.to_owned(),
            expected: "a bandwidth such as \"667MB/s\"",
        };
        let size = text.trim().strip_suffix("/s").ok_or_else(malformed)?;
        let bytes: Bytes = size.parse().map_err(|error| match error {
            ParseUnitError::Malformed { .. } => malformed(),
            other => other,
        })?;
        Self::new(bytes.0).ok_or_else(|| ParseUnitError::Zero { text: text.to_owned() })
    }
}

impl fmt::Display for ByteRate {
    /// As [`ByteRate::written`], and where nobody could read that at a glance in a larger unit, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.written())?;
        match Bytes(self.0).at_a_glance() {
            Some((amount, unit)) if !self.is_decimal() => write!(f, " ({amount:.2} {unit}/s)"),
            _ => Ok(()),
        }
    }
}

/// A bandwidth as it is written in files.
struct WrittenRate(ByteRate);

impl fmt::Display for WrittenRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_decimal() {
            write!(f, "{}MB/s", self.0.0 / 1_000_000)
        } else {
            write!(f, "{}/s", Bytes(self.0.0).written())
        }
    }
}

impl Serialize for ByteRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.written())
    }
}

impl<'de> Deserialize<'de> for ByteRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

crate::schema_of!(ByteRate, {
    "type": "string",
    "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(B|KiB|MiB|GiB|TiB|KB|kB|MB|GB|TB)/s\s*$",
    "description": "A bandwidth such as \"667MB/s\"; more than zero."
});

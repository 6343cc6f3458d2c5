//! Spans of time in control requests.

use outlast_units::{Nanos, ParseUnitError};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use crate::service::DeviceService;

/// A span as it was written. One that is longer than can be counted is the longest there is: what refuses it names the limit that counts.
#[derive(Debug)]
pub(super) struct RequestedSpan {
    written: String,
    span: Nanos,
}

impl RequestedSpan {
    /// Time at which the span ends that `field` names, if it begins now.
    ///
    /// # Errors
    /// The machine is not simulated for so long.
    pub(super) fn end(&self, field: &str, service: &DeviceService) -> Result<Nanos, String> {
        service.time_after(self.span).map_err(|refused| format!("{field} = {}: {refused}", self.written))
    }
}

impl<'de> Deserialize<'de> for RequestedSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let text = value.as_str().unwrap_or_default();
        let span = match text.parse::<Nanos>() {
            Err(ParseUnitError::TooLarge { .. }) => Nanos::MAX,
            // Text that is no time, and values that are no text, are refused in the usual words.
            _ => Nanos::deserialize(&value).map_err(D::Error::custom)?,
        };
        Ok(Self { written: value.to_string(), span })
    }
}

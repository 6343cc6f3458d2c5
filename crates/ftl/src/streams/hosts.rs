//! Streams of the host's data: one for each class and stream hint, or one for each reclaim unit handle.

use outlast_media::ConfigError;
use outlast_settings::placement::{HandleIsolation, PlacementConfig};
use outlast_units::Stream;

/// Most host streams, where they are neither handles nor of zones, of which each has one.
const MOST_HOST_STREAMS: u32 = 16;
/// Number of stream hints of a class where handles choose the stream.
pub(super) const BY_HANDLE: u8 = 0;

/// The streams of the host's data.
pub(super) struct HostStreams {
    pub(super) hints: u8,
    pub(super) classes: u8,
    /// Class of each.
    pub(super) of_hosts: Vec<u8>,
    /// Stream of each placement identifier.
    pub(super) handles: Vec<Stream>,
}

impl HostStreams {
    /// `hints` streams for each of `classes` classes.
    pub(super) fn of_hints(hints: u8, classes: u8) -> Result<Self, ConfigError> {
        // Of one class the settings say how many there may be.
        if classes > 1 && u32::from(hints) * u32::from(classes) > MOST_HOST_STREAMS {
            let limit = format!(
                "with {classes} classes, at most {} streams for each",
                MOST_HOST_STREAMS / u32::from(classes)
            );
            return Err(ConfigError::new("device.ftl.streams", hints, limit));
        }
        let of_hosts = (0..classes).flat_map(|class| (0..hints).map(move |_| class)).collect();
        Ok(Self { hints, classes, of_hosts, handles: Vec::new() })
    }

    /// A stream for each handle. Data of initially isolated ones is moved together, and with pages of the mapping table (`map`): they are of class 0, if
    /// there are any. Each persistently isolated one has a class to itself.
    #[allow(clippy::cast_possible_truncation, reason = "a configuration has at most 128 handles")]
    pub(super) fn of_handles(placement: &PlacementConfig, map: bool) -> Self {
        let shares = |isolation: &&HandleIsolation| **isolation == HandleIsolation::InitiallyIsolated;
        let mut classes = u8::from(map || placement.handles().iter().any(|own| shares(&own)));
        let class_of = |isolation: &HandleIsolation| {
            if shares(&isolation) {
                return 0;
            }
            classes += 1;
            classes - 1
        };
        let of_hosts: Vec<u8> = placement.handles().iter().map(class_of).collect();
        let handles = placement.identifiers().into_iter().map(|handle| Stream(handle as u8)).collect();
        Self { hints: BY_HANDLE, classes, of_hosts, handles }
    }
}

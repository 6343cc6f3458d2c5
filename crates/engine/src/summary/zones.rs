//! Section `zones` of the result: their states at the end, what was done with them, and how long that took.

use crate::facts::RunFacts;
use crate::latency::LatencyFigures;
use outlast_device::{ZoneAction, ZoneError, ZoneState};
use outlast_units::{Bytes, SECTOR_BYTES};
use serde::Serialize;
use std::collections::BTreeMap;

/// Zones of a drive.
#[derive(Clone, Debug, Serialize)]
pub struct ZonesFigures {
    /// Number of zones.
    pub count: u32,
    /// Bytes from the start of one zone to that of the next.
    pub size: Bytes,
    /// Bytes of a zone that can be written.
    pub capacity: Bytes,
    /// Zones by state at the end: `empty`, `implicitly-open`, `explicitly-open`, `closed`, `full`, `read-only`, `offline`.
    pub states: BTreeMap<&'static str, u32>,
    /// Zones opened by a command, over the measured time, as all that follows.
    pub opened: u64,
    /// Zones closed by a command.
    pub closed: u64,
    /// Zones finished.
    pub finished: u64,
    /// Zones reset.
    pub reset: u64,
    /// Zones that became full by a write.
    pub filled: u64,
    /// Bytes that finishes have written into the rest of zones: part of the bytes programmed, and none of the host's.
    pub finish_bytes: u64,
    /// Random write areas; absent where zones have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_write: Option<RandomWriteFigures>,
    /// Superblocks that resets have had erased.
    pub reset_superblocks: u64,
    /// Commands refused, by the specification's name of the error; empty where none was.
    pub refused: BTreeMap<&'static str, u64>,
    /// Latencies of the commands that change states.
    pub latency_us: ZoneLatencies,
}

/// Random write areas of the zones of a drive.
#[derive(Clone, Debug, Serialize)]
pub struct RandomWriteFigures {
    /// Zones that have an area at the end.
    pub zones: u32,
    /// Zones opened with an area, over the measured time, as all that follows.
    pub opened: u64,
    /// Commits by command.
    pub commits: u64,
    /// Commits by writes beyond an area.
    pub implicit_commits: u64,
    /// Bytes that the host wrote to areas, with what it wrote again.
    pub host_bytes: u64,
    /// Bytes committed to flash, with zeroes where nothing was written.
    pub committed_bytes: u64,
}

/// Latencies by action; absent where none completed.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ZoneLatencies {
    pub open: Option<LatencyFigures>,
    pub close: Option<LatencyFigures>,
    pub finish: Option<LatencyFigures>,
    pub reset: Option<LatencyFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<LatencyFigures>,
}

/// Zones of the drive; `None` where it has none.
pub(crate) fn zones(facts: &RunFacts<'_>) -> Option<ZonesFigures> {
    let zones = facts.ssd.first().zones_view()?;
    let (table, counts) = (zones.table(), zones.counts());
    let named = |state: ZoneState, count: u32| (state.name(), count);
    let of = |action: ZoneAction| counts.actions[action as usize];
    let latency = |action: ZoneAction| {
        facts.recorder.zone_latency.as_ref().and_then(|all| LatencyFigures::of(&all[action as usize]))
    };
    let refused = ZoneError::ALL.into_iter().map(|error| (error.name(), counts.errors[error as usize]));
    Some(ZonesFigures {
        count: table.layout().zones,
        size: Bytes(table.layout().size * SECTOR_BYTES),
        capacity: Bytes(table.layout().capacity * SECTOR_BYTES),
        states: ZoneState::ALL
            .into_iter()
            .zip(table.by_state())
            .map(|(state, count)| named(state, count))
            .collect(),
        opened: of(ZoneAction::Open),
        closed: of(ZoneAction::Close),
        finished: of(ZoneAction::Finish),
        reset: of(ZoneAction::Reset),
        filled: counts.filled,
        finish_bytes: counts.finish_bytes,
        random_write: table.random_write().map(|_| RandomWriteFigures {
            zones: table.areas(),
            opened: of(ZoneAction::OpenRandom),
            commits: of(ZoneAction::Commit),
            implicit_commits: counts.implicit_commits,
            host_bytes: counts.area_bytes,
            committed_bytes: counts.committed_bytes,
        }),
        reset_superblocks: counts.reset_superblocks,
        refused: refused.filter(|&(_, count)| count != 0).collect(),
        latency_us: ZoneLatencies {
            open: latency(ZoneAction::Open),
            close: latency(ZoneAction::Close),
            finish: latency(ZoneAction::Finish),
            reset: latency(ZoneAction::Reset),
            commit: latency(ZoneAction::Commit),
        },
    })
}

//! Zones of a drive: their states, the streams that fill them, and the order of the commands to one zone.
//!
//! The machine of states ([`ZoneTable`]) decides when a command arrives, and moves the write pointer then. What follows on flash comes later: a write
//! goes to the stream of its zone, of which each active zone has one; a finish or a reset begins when the writes before it are in the buffer, and the
//! writes behind it wait for it. So the commands to a zone act in the order in which they came.

mod arrival;
mod config;
mod fill;
mod order;
mod power;
mod random_write;
mod way;

pub use config::{random_write_areas, zone_layout, zone_streams};
pub use fill::ZoneFill;
pub use random_write::AreaCommit;

use crate::commands::HostRequestId;
use outlast_device::{Tag, ZoneAction, ZoneError, ZoneId, ZoneState, ZoneTable};
use outlast_settings::zones::{FinishCost, ZonesConfig};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use random_write::{AreaWrite, RandomArea};
use std::collections::VecDeque;
use way::ZoneWay;

/// Commands to zones that have been carried out, and what they did, since figures were last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneCounts {
    /// Zones opened, closed, finished, reset and given up, in the order of [`ZoneAction::ALL`].
    pub actions: [u64; ZoneAction::ALL.len()],
    /// Zones that writes filled to their end.
    pub filled: u64,
    /// Bytes that finishes have written into the rest of zones.
    pub finish_bytes: u64,
    /// Superblocks erased for resets.
    pub reset_superblocks: u64,
    /// Bytes that the host has written to random write areas, those that it has written again included.
    pub area_bytes: u64,
    /// Bytes committed from random write areas to flash, with zeroes where nothing was written.
    pub committed_bytes: u64,
    /// Commits by writes beyond an area.
    pub implicit_commits: u64,
    /// Commands refused, in the order of [`ZoneError::ALL`].
    pub errors: [u64; ZoneError::ALL.len()],
}

/// The zones of a drive.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct Zones {
    #[persist(fixed)]
    config: ZoneTimes,
    table: ZoneTable,
    /// Zones of which something is under way, or that have a stream.
    ways: Vec<ZoneWay>,
    /// Streams that no zone has.
    free: Vec<u16>,
    /// Streams whose zone takes no more: their superblocks are closed before another zone has them.
    closing: VecDeque<u16>,
    /// Commands that waited and go on.
    ready: VecDeque<HostRequestId>,
    /// Finishes that write the rest of a zone.
    fills: Vec<ZoneFill>,
    /// Reads that reach beyond the capacity of a zone, with the sectors that the host asked for.
    long_reads: Vec<(Tag, u32)>,
    /// Finishes and resets whose completion comes later than their work on flash ends, and by how much.
    later: Vec<(HostRequestId, Nanos)>,
    /// Resets that have not been carried out, with the state of their zone before.
    before_reset: VecDeque<(ZoneId, (ZoneState, u64))>,
    /// Content of the zones' random write areas.
    areas: Vec<RandomArea>,
    /// Writes to random write areas under way, and commits.
    area_writes: Vec<AreaWrite>,
    /// Zones of which commands waited when power last failed.
    cut_short: Vec<ZoneId>,
    counts: ZoneCounts,
    #[persist(fixed)]
    streams: u16,
}

/// Costs of commands to zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
struct ZoneTimes {
    writes_rest: bool,
    finish: Nanos,
    reset: Nanos,
    reset_partial: Nanos,
}

/// The place of a zone in the drive's own sectors, which have no gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneRange {
    /// The first.
    pub first: u64,
    /// The one after the last.
    pub end: u64,
}

impl Zones {
    /// Empty zones, as `table` has them.
    pub fn new(config: &ZonesConfig, table: ZoneTable) -> Self {
        let streams = u16::from(zone_streams(config));
        let config = ZoneTimes {
            writes_rest: config.finish == FinishCost::Written,
            finish: config.finish_time,
            reset: config.reset_time,
            reset_partial: config.reset_time_partial,
        };
        Self {
            config,
            table,
            ways: Vec::new(),
            free: (0..streams).rev().collect(),
            closing: VecDeque::new(),
            ready: VecDeque::new(),
            fills: Vec::new(),
            long_reads: Vec::new(),
            later: Vec::new(),
            before_reset: VecDeque::new(),
            areas: Vec::new(),
            area_writes: Vec::new(),
            cut_short: Vec::new(),
            counts: ZoneCounts::default(),
            streams,
        }
    }

    /// The zones, which are all empty, belong to namespaces of `zones` zones each, which share what limits them.
    pub fn share_among(&mut self, zones: &[u32]) {
        self.table.share_among(zones);
    }

    /// States and write pointers.
    pub fn table(&self) -> &ZoneTable {
        &self.table
    }

    /// Counts since figures were last reset.
    pub fn counts(&self) -> &ZoneCounts {
        &self.counts
    }

    /// Counts anew.
    pub fn reset_counts(&mut self) {
        self.counts = ZoneCounts::default();
    }

    /// The sector of the host that is `sector` of the drive's own.
    pub fn to_host(&self, sector: u64) -> Lba {
        let layout = self.table.layout();
        Lba(sector / layout.capacity * layout.size + sector % layout.capacity)
    }

    /// The drive's own sectors of `zone`.
    pub fn range(&self, zone: ZoneId) -> ZoneRange {
        let capacity = self.table.layout().capacity;
        ZoneRange { first: u64::from(zone.0) * capacity, end: (u64::from(zone.0) + 1) * capacity }
    }

    /// The zone in which a sector of the drive's own lies.
    #[allow(clippy::cast_possible_truncation, reason = "a device has at most 2^32 zones")]
    pub fn zone_of(&self, sector: u64) -> ZoneId {
        ZoneId((sector / self.table.layout().capacity) as u32)
    }

    /// The stream of `zone`; absent where nothing is written of it, or it takes no more.
    pub fn stream(&self, zone: ZoneId) -> Option<u16> {
        self.ways.iter().find(|way| way.zone == zone)?.stream
    }

    /// The zone that stream `stream` fills.
    pub fn zone_of_stream(&self, stream: u16) -> Option<ZoneId> {
        self.ways.iter().find(|way| way.stream == Some(stream)).map(|way| way.zone)
    }

    /// True if a command to `zone` has not been carried out.
    pub fn is_busy(&self, zone: ZoneId) -> bool {
        self.ways.iter().any(|way| way.zone == zone && !way.is_idle())
    }

    /// True if a finish writes the rest of a zone.
    pub fn writes_rest(&self) -> bool {
        self.config.writes_rest
    }

    /// Counts superblocks that a reset erases.
    pub fn count_reset(&mut self, superblocks: u64) {
        self.counts.reset_superblocks += superblocks;
    }

    /// Bytes that the host addresses.
    pub fn capacity(&self) -> Bytes {
        Bytes(self.table.layout().sectors() * SECTOR_BYTES)
    }
}

//! The constant part of an array: settings, and values derived from them.

use crate::layout::{GroupLayout, GroupMap, usable_sectors};
use crate::parity::ParityCode;
use crate::placement::ParityPlacement;
use outlast_media::ConfigError;
use outlast_settings::array::{ArrayConfig, Shares, StripeWrites};
use outlast_units::{Bytes, SECTOR_BYTES};

/// Settings of an array and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct ArraySetup {
    pub(super) config: ArrayConfig,
    pub(super) code: ParityCode,
    /// Parity shares, where percentages are set.
    pub(super) shares: Option<Shares>,
    /// The table that percentages gave first; the naive shift renames its columns.
    pub(super) first_placement: Option<ParityPlacement>,
    /// Members keep the bytes that are written.
    pub(super) bytes: bool,
    /// Sectors of a member that hold data; records follow.
    pub(super) member_sectors: u64,
    /// The unit, in sectors, in which every member deallocates.
    pub(super) trim_unit: u64,
    /// Sectors of the array.
    pub(super) capacity: u64,
    /// Chunks of one stripe are written together.
    pub(super) joins_chunks: bool,
    /// Writes leave a record before they begin.
    pub(super) keeps_records: bool,
}

impl ArraySetup {
    /// The set-up of an array of `layout` over members of which the smallest has `smallest` bytes, and the coarsest deallocates in units of
    /// `trim_unit` sectors.
    pub(super) fn new(
        config: ArrayConfig,
        layout: &GroupLayout,
        smallest: Bytes,
        trim_unit: u64,
        bytes: bool,
    ) -> Result<Self, ConfigError> {
        let shares = config.shares()?;
        let first_placement = match &layout.map {
            GroupMap::Striped(striped) if shares.is_some() => Some(striped.now.clone()),
            _ => None,
        };
        let setup = Self {
            code: ParityCode::new(layout.data, layout.roles - layout.data),
            shares,
            first_placement,
            bytes,
            member_sectors: usable_sectors(&config, smallest),
            trim_unit: trim_unit.max(1),
            capacity: layout.capacity(),
            joins_chunks: config.writes != StripeWrites::ChunkByChunk,
            keeps_records: config.consistency.keeps_records(),
            config,
        };
        let needed = layout.member_sectors();
        assert!(needed <= setup.member_sectors, "data of a member ends where its records begin");
        Ok(setup)
    }

    /// Bytes that a device must have to be a member.
    pub(super) fn member_bytes(&self) -> Bytes {
        Bytes(self.member_sectors * SECTOR_BYTES + self.config.reserved().0)
    }
}

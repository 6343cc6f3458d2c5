//! The constant part of an array: settings, and values derived from them.

use crate::error::ArrayError;
use crate::layout::{GroupLayout, GroupMap, usable_sectors};
use crate::op::GroupOp;
use crate::parity::ParityCode;
use crate::placement::ParityPlacement;
use outlast_device::{Command, Device, NamespaceId, Op, Outcome};
use outlast_media::ConfigError;
use outlast_settings::array::{ArrayConfig, ChunkOrder, Consistency, Shares, StripeWrites};
use outlast_units::{Bytes, SECTOR_BYTES, to_count};

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
    /// A write of one chunk reads its old content and the old parity, rather than the rest of the stripe.
    pub(super) updates_one_chunk: bool,
    /// Writes leave a record before they begin.
    pub(super) keeps_records: bool,
}

impl ArraySetup {
    /// The outcome of a command of which nothing is done; [`Outcome::Ok`] for all others.
    #[inline]
    pub(super) fn check_command(&self, command: &Command) -> Outcome {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if command.namespace != NamespaceId::FIRST {
            Outcome::InvalidNamespace
        } else if command.op != Op::Flush && end > self.capacity {
            Outcome::OutOfRange
        } else if matches!(command.op, Op::Append | Op::ManageZone) {
            Outcome::InvalidOpcode
        } else {
            Outcome::Ok
        }
    }

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
            updates_one_chunk: !config
                .writes
                .reconstructs(to_count(layout.data - 1), to_count(1 + layout.roles - layout.data)),
            keeps_records: config.consistency.keeps_records(),
            config,
        };
        let needed = layout.member_sectors();
        assert!(needed <= setup.member_sectors, "data of a member ends where its records begin");
        Ok(setup)
    }

    /// True if chunks of one stripe are written together.
    #[inline]
    pub(super) fn joins_chunks(&self) -> bool {
        self.config.writes != StripeWrites::ChunkByChunk
    }

    /// Bytes that a device must have to be a member.
    pub(super) fn member_bytes(&self) -> Bytes {
        Bytes(self.member_sectors * SECTOR_BYTES + self.config.reserved().0)
    }

    /// True if records hold partial parity, as md's PPL does.
    pub(super) fn uses_partial_log(&self) -> bool {
        self.config.consistency == Consistency::Ppl
    }

    /// The order in which an operation reads and writes its chunks; only passes may go one by one.
    pub(super) fn order_of(&self, op: &GroupOp) -> ChunkOrder {
        if op.epoch.is_none() { ChunkOrder::Together } else { self.config.background.chunks }
    }

    /// Checks that `device` can be a member.
    pub(super) fn check_size(&self, device: &impl Device) -> Result<(), ArrayError> {
        let capacity = device.identify().capacity;
        let needed = self.member_bytes();
        if capacity < needed {
            return Err(ArrayError::TooSmall { capacity, needed });
        }
        let needs_link = self.config.repair.share.is_some();
        if needs_link && device.identify().link.is_none() { Err(ArrayError::NoLink) } else { Ok(()) }
    }
}

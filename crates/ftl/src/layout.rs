//! Layout of slots, pages, dies and superblocks of one flash core: arithmetic only, fixed for the drive's life.
//!
//! Slots are numbered in write order: superblock, superpage, lane (a die, or one plane of it), unit. A write frontier is therefore a counter, and the layout
//! turns a slot into die, plane and page (decision 0003).

mod lane_order;
mod numbers;
mod pages;
mod used_rows;

use crate::divider::FastDivider;
use lane_order::{at_stride, lanes_in_order};
use outlast_media::{ConfigError, Geometry, ProgramUnit};
use outlast_settings::ftl::{FtlConfig, PuShape};
use outlast_units::{DieId, IndexVec, LaneIndex, LocalDie, ModeId, Row, SuperblockId, to_count};

/// Target of a program operation: a die, or one plane of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieLane {
    /// The die, numbered over the drive.
    pub die: DieId,
    /// The die, numbered within the core.
    pub local_die: LocalDie,
    /// First plane of the lane.
    pub first_plane: u16,
    /// Planes that work together.
    pub planes: u16,
}

/// The arithmetic of slots.
///
/// A *program unit* (PU) is what is programmed together: one page row (or a few, when a mapping unit spans several or a word line is
/// programmed in one shot) on all planes of a lane. A *superpage* is one PU on every lane in allocation order; a *superblock* is one block of
/// every plane of the core, superpage after superpage. Slots ([`Ppn`](outlast_units::Ppn)) count units in exactly that order, so that a
/// stream's write frontier is a counter:
///
/// `ppn = ((superblock · superpages + superpage) · lanes + lane) · units_per_pu + unit`
#[derive(Clone, Debug)]
pub struct SlotLayout {
    lanes: IndexVec<LaneIndex, DieLane>,
    lanes_of_die: IndexVec<LocalDie, Vec<LaneIndex>>,
    units_per_pu: u32,
    rows_per_pu: u32,
    programs_per_pu: u32,
    pages_per_unit: u32,
    units_per_page: u32,
    /// Superpages of a superblock in the first mode, which has the most: the stride of addresses.
    superpages: u32,
    /// Superpages that are used in each mode.
    modes: IndexVec<ModeId, UsedRows>,
    superblocks: u32,
    planes_per_die: u16,
    logical_units: u32,
    by_superblock: FastDivider,
    by_pu: FastDivider,
    by_lane: FastDivider,
    by_page: FastDivider,
    by_superpage: FastDivider,
    pus_per_superblock: FastDivider,
}

/// Superpages of a superblock that are used in one mode: the first ones.
#[derive(Clone, Copy, Debug)]
struct UsedRows {
    superpages: u32,
    /// The last of these, which are kept for lists.
    lists: u32,
}

/// Place of a program unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuPlace {
    /// Its superblock.
    pub superblock: SuperblockId,
    /// Its lane.
    pub lane: DieLane,
    /// Its first page row in the block.
    pub first_page: Row,
}

/// Bytes of a unit in a list: the number of its owner.
pub(crate) const LISTED_BYTES: u64 = 4;

impl SlotLayout {
    /// The layout of a core that owns `dies` and maps `logical_units` units.
    ///
    /// # Errors
    /// A setting that does not divide, or a drive beyond what 32-bit slots can count.
    ///
    /// # Panics
    /// If there are no dies.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "slots, and all that are fewer, are below 2^32, as checked"
    )]
    pub(crate) fn new(
        geometry: &Geometry,
        config: &FtlConfig,
        dies: &[DieId],
        logical_units: u64,
    ) -> Result<Self, ConfigError> {
        let lanes = at_stride(lanes_in_order(geometry, config, dies), config.stride)?;
        let PuShape { pages_per_unit, units_per_page, rows_per_pu, units_per_pu } =
            PuShape::of(geometry, config)?;
        let superpages = geometry.pages_per_block / rows_per_pu;
        let superblocks = geometry.blocks_per_plane - config.spare_blocks;
        let pus_per_superblock = u64::from(superpages) * lanes.len() as u64;
        let units_per_superblock = pus_per_superblock * u64::from(units_per_pu);
        let slots = units_per_superblock * u64::from(superblocks);
        // The top bit of a valid count is a flag, and the last number means "none".
        if slots >= u64::from(u32::MAX)
            || units_per_superblock >= 1 << 31
            || logical_units >= u64::from(u32::MAX)
        {
            let limit = format!(
                "gives {slots} slots of {} per flash core; at most {} can be mapped: fewer or smaller blocks, a larger device.ftl.mapping_unit, \
                 or more device.controller.flash_cores",
                config.mapping_unit,
                u32::MAX - 1
            );
            return Err(ConfigError::new(
                "device.geometry.blocks_per_plane",
                geometry.blocks_per_plane,
                limit,
            ));
        }
        let mut lanes_of_die: IndexVec<LocalDie, Vec<LaneIndex>> = IndexVec::filled(Vec::new(), dies.len());
        for (position, lane) in lanes.iter_indexed() {
            lanes_of_die[lane.local_die].push(position);
        }
        assert!(!lanes.is_empty(), "a flash core has at least one die");
        assert!(
            lanes_of_die.iter().all(|lanes| lanes.len() == lanes_of_die[LocalDie(0)].len()),
            "dies have different numbers of lanes"
        );
        Ok(Self {
            by_superblock: FastDivider::new(units_per_superblock as u32),
            by_pu: FastDivider::new(units_per_pu),
            by_lane: FastDivider::new(to_count(lanes.len())),
            by_page: FastDivider::new(units_per_page),
            by_superpage: FastDivider::new(superpages),
            pus_per_superblock: FastDivider::new(pus_per_superblock as u32),
            lanes,
            lanes_of_die,
            units_per_pu,
            rows_per_pu,
            programs_per_pu: rows_per_pu / u32::from(config.one_shot),
            pages_per_unit,
            units_per_page,
            superpages,
            modes: vec![UsedRows { superpages, lists: 0 }].into(),
            superblocks,
            planes_per_die: geometry.planes_per_die,
            logical_units: logical_units as u32,
        })
    }

    /// Mapping units that the host addresses in this core, as long as no die has failed.
    pub fn logical_units(&self) -> u32 {
        self.logical_units
    }

    /// Superblocks, spare blocks not counted.
    pub fn superblocks(&self) -> u32 {
        self.superblocks
    }

    /// Superpages of a superblock, as addresses count them: those of the first mode.
    pub fn superpages(&self) -> u32 {
        self.superpages
    }

    /// Slots of a program unit.
    #[inline]
    pub fn units_per_pu(&self) -> u32 {
        self.units_per_pu
    }

    /// Pages of a program unit.
    pub fn pages_per_pu(&self) -> u32 {
        u32::from(self.lanes[LaneIndex(0)].planes) * self.rows_per_pu
    }

    /// Planes of a lane, which program together.
    pub(crate) fn planes_per_lane(&self) -> u16 {
        self.lanes[LaneIndex(0)].planes
    }

    /// Page rows of a program unit.
    pub fn rows_per_pu(&self) -> u32 {
        self.rows_per_pu
    }

    /// Program operations of a program unit: one for each of its page rows, or for each word line that is programmed in one shot.
    pub fn programs_per_pu(&self) -> u32 {
        self.programs_per_pu
    }

    /// Slots of a superblock, as addresses count them: those of the first mode.
    #[inline]
    pub fn units_per_superblock(&self) -> u32 {
        self.pus_per_superblock() * self.units_per_pu
    }

    /// Program units of a superblock, as addresses count them: those of the first mode.
    #[inline]
    pub fn pus_per_superblock(&self) -> u32 {
        self.superpages * self.lane_count()
    }

    /// All slots.
    pub fn slots(&self) -> u32 {
        self.superblocks * self.units_per_superblock()
    }

    /// Planes of a die.
    pub fn planes_per_die(&self) -> u16 {
        self.planes_per_die
    }

    /// Dies of the core.
    #[allow(clippy::cast_possible_truncation, reason = "dies are numbered by 16 bits")]
    pub fn dies(&self) -> u16 {
        self.lanes_of_die.len() as u16
    }

    /// The dies of the core.
    pub fn local_dies(&self) -> impl ExactSizeIterator<Item = LocalDie> + use<> {
        self.lanes_of_die.indices()
    }

    /// Number of lanes.
    #[inline]
    pub(crate) fn lane_count(&self) -> u32 {
        to_count(self.lanes.len())
    }

    /// The lanes in allocation order.
    pub fn lanes(&self) -> &IndexVec<LaneIndex, DieLane> {
        &self.lanes
    }

    /// The positions of a die's lanes in allocation order.
    pub fn lanes_of_die(&self, local_die: LocalDie) -> &[LaneIndex] {
        &self.lanes_of_die[local_die]
    }

    /// The shape of a program unit.
    pub fn program_unit(&self) -> ProgramUnit {
        ProgramUnit {
            planes: u32::from(self.lanes[LaneIndex(0)].planes),
            rows: self.rows_per_pu,
            pages_per_unit: self.pages_per_unit,
            units_per_page: self.units_per_page,
        }
    }
}

#[cfg(test)]
mod tests;

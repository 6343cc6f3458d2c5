//! Superblocks of one flash core: where units go, which superblocks are free, and what protects them. Knows no logical page.

mod check;
mod code_choice;
mod contents;
mod cover_log;
mod covers;
mod damage;
mod due_parity;
mod figures;
mod filling;
mod life;
mod making;
mod open_stripes;
mod parity_view;
mod power_loss;
mod pus;
mod restored;
mod room;
mod room_view;
mod slc_cache;

pub use figures::BlockWear;
pub use parity_view::ParityView;
pub use power_loss::PowerAftermath;
pub use pus::{CodeAxis, LineMember, ListRead, PuStates};
pub(crate) use restored::check_space;
pub use slc_cache::SlcCacheFigures;

use crate::codes::CodeTable;
use crate::counts::FtlCounts;
use crate::frontiers::StreamFrontiers;
use crate::ftl::{FtlOptions, FtlTables};
use crate::lanes::LaneHealth;
use crate::layout::SlotLayout;
use crate::partials::CoverTable;
use crate::physical::CoreBlocks;
use crate::policy::CodePolicies;
use crate::room::CoreRoom;
use crate::slc_cache::SlcCache;
use crate::streams::StreamTable;
use crate::superblocks::SuperblockTable;
use crate::uses::SuperblockUses;
use contents::SlotContents;
use making::{check_bad, check_pages, layout_of, physical_of};
use outlast_media::{ConfigError, DefectConfig, Geometry, SlotBytes};
use outlast_settings::ftl::{FtlConfig, PartialPlace, ProtectedStreams, ProtectionConfig};
use outlast_units::{DieId, Ppn, Stream, SuperblockId, to_length};

/// Translation layer that stands on a [`FlashSpace`]: the space tells it of superblocks and slots as they change hands. It is passed to
/// each call that may change them, so that the space holds no reference to it and nothing is entered again.
///
/// Implementors: the page mapping of [`Ftl`](crate::Ftl), with its records and origins; zones and a demand-paged map, in the tests of
/// this crate.
pub trait Translation {
    /// `superblock`, erased until now, has been opened for `stream`.
    fn opened(&mut self, layout: &SlotLayout, superblock: SuperblockId, stream: Stream);

    /// All program units of `superblock` are on flash, or will never be: it is full.
    fn sealed(&mut self, superblock: SuperblockId);

    /// The `count` slots from `first` on are taken by padding, parity or lists: none of them holds a logical page.
    fn disown(&mut self, first: Ppn, count: u32);

    /// True if writes of its own (pages of a mapping table) have priority over the host's for the next superblock. `clock`: units that
    /// the host has written.
    fn awaits_superblock(&self, clock: u64) -> bool;
}

/// Superblocks of one flash core, with the streams that fill them, their parity, lanes, blocks and bytes.
///
/// A [`Translation`] takes slots ([`take_slot`](FlashSpace::take_slot)), reports program units that are on flash
/// ([`programmed`](FlashSpace::programmed)), counts units as they become valid and stale, and erases superblocks that hold no valid units
/// ([`erase`](FlashSpace::erase)). Which logical page lies in which slot is its own.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct FlashSpace {
    #[persist(skip)]
    config: FtlConfig,
    pub(crate) pus: PuStates,
    frontiers: StreamFrontiers,
    contents: SlotContents,
    /// Room for data, and the marks of collection.
    marks: CoreRoom,
    counts: FtlCounts,
    /// Rules of the SLC cache; absent without one.
    #[persist(each)]
    slc_cache: Option<Box<SlcCache>>,
    /// Figures of each superblock's uses; absent where no code depends on them.
    #[persist(each)]
    uses: Option<Box<SuperblockUses>>,
    /// Units that the translation layer needs beside those of the host: pages of its mapping table.
    #[persist(skip)]
    own_units: u32,
    /// Policies that choose the code of a superblock.
    #[persist(skip)]
    code_policies: Box<CodePolicies>,
}

impl FlashSpace {
    /// Erased superblocks on `dies` (numbers over the drive), with room for `logical_units` units.
    ///
    /// # Errors
    /// A layout that does not divide, too few spare blocks for the factory's bad ones, or too little spare space: the
    /// streams' open superblocks and the ones held back for relocation must fit beside the user data.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the table has fewer pages than the host has units, which are below 2^32"
    )]
    pub fn new(
        geometry: &Geometry,
        config: &FtlConfig,
        defects: &DefectConfig,
        dies: &[DieId],
        logical_units: u64,
        options: &FtlOptions,
    ) -> Result<Self, ConfigError> {
        let layout = layout_of(geometry, config, dies, config.held_units(logical_units), options)?;
        let whole = options.tables == FtlTables::Built;
        let parity = options.protection.as_ref();
        let place = parity.map(|protection| protection.partial.place);
        let in_blocks = place == Some(PartialPlace::Blocks);
        check_pages(geometry, &layout, options.erases_late, in_blocks)?;
        let seed = options.core_seed(dies);
        check_bad(geometry, &layout, defects, seed)?;
        let physical = physical_of(geometry, &layout, (defects, &options.modes), seed, whole)?;
        let classes = parity.map_or(1, ProtectionConfig::class_count);
        let map_class =
            config.map_flush.is_some().then(|| parity.map_or(0, |protection| protection.default_class));
        let mut streams = StreamTable::new(
            config,
            classes,
            options.scrub,
            options.rebuild,
            map_class,
            in_blocks,
            options.placement.as_ref(),
        )?;
        streams.set_modes(|cause| options.modes.of(cause));
        let (lanes, units) = (layout.lane_count(), u64::from(layout.logical_units()));
        let units = options.room_for.map_or(units, |room_for| units - logical_units + room_for);
        let rows = if options.tables == FtlTables::LeftOut { 0 } else { layout.superblocks() as usize };
        let pus = if whole { rows * layout.pus_per_superblock() as usize } else { 0 };
        let protected = parity.map_or(ProtectedStreams::All, |protection| protection.streams);
        let keeps_stale = parity.is_some() || options.erases_late;
        let mut space = Self {
            frontiers: StreamFrontiers::new(streams.count().into()),
            contents: SlotContents::new(to_length(config.mapping_unit.0), options.keep_bytes, keeps_stale),
            marks: CoreRoom::new(units, streams.tasks(), options.erases_late, config.gc.overlap),
            counts: FtlCounts::default(),
            slc_cache: None,
            uses: None,
            own_units: (config.held_units(logical_units) - logical_units) as u32,
            code_policies: Box::new(CodePolicies::new(&config.own, parity, streams.classes())),
            config: config.clone(),
            pus: PuStates {
                superblocks: SuperblockTable::new(rows, layout.pus_per_superblock(), whole),
                codes: CodeTable::new(protected, streams.count().into(), rows),
                partials: CoverTable::new(place, pus, lanes as usize, streams.count().into()),
                lanes: LaneHealth::new(lanes, rows),
                physical,
                streams,
                layout,
            },
        };
        space.mark_absent_dies(&options.absent);
        space.begin_codes(parity)?;
        space.begin_slc_cache(options.slc_cache)?;
        space.check_room(geometry)?;
        space.review_room();
        Ok(space)
    }

    /// Program units: the role and state of each.
    #[inline]
    pub fn pus(&self) -> &PuStates {
        &self.pus
    }

    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &SlotLayout {
        &self.pus.layout
    }

    /// The streams, and what each is for.
    #[inline]
    pub fn streams(&self) -> &StreamTable {
        &self.pus.streams
    }

    #[inline]
    pub(crate) fn config(&self) -> &FtlConfig {
        &self.config
    }

    #[inline]
    pub(crate) fn superblocks(&self) -> &SuperblockTable {
        &self.pus.superblocks
    }

    /// Data of superblock `from` has been copied on the chip to superblock `to`.
    pub(crate) fn count_copy(&mut self, from: SuperblockId, to: SuperblockId) {
        self.pus.superblocks.count_copy(from, to);
    }

    #[inline]
    pub(crate) fn frontiers(&self) -> &StreamFrontiers {
        &self.frontiers
    }

    #[inline]
    pub(crate) fn codes(&self) -> &CodeTable {
        &self.pus.codes
    }

    #[inline]
    pub(crate) fn partials(&self) -> &CoverTable {
        &self.pus.partials
    }

    #[inline]
    pub(crate) fn lanes(&self) -> &LaneHealth {
        &self.pus.lanes
    }

    #[inline]
    pub(crate) fn physical(&self) -> &CoreBlocks {
        &self.pus.physical
    }

    #[inline]
    pub(crate) fn contents(&self) -> Option<&SlotBytes> {
        self.contents.bytes.as_ref()
    }

    #[inline]
    pub(crate) fn contents_mut(&mut self) -> Option<&mut SlotBytes> {
        self.contents.bytes.as_mut()
    }

    #[inline]
    pub(crate) fn marks(&self) -> &CoreRoom {
        &self.marks
    }

    #[inline]
    pub(crate) fn marks_mut(&mut self) -> &mut CoreRoom {
        &mut self.marks
    }

    #[inline]
    pub(crate) fn counts(&self) -> &FtlCounts {
        &self.counts
    }

    #[inline]
    pub(crate) fn counts_mut(&mut self) -> &mut FtlCounts {
        &mut self.counts
    }
}

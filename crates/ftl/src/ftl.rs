//! The translation layer of one flash core: construction, host writes, trims, programs.

mod check;
mod choices;
mod coalescing;
mod damage;
mod encoding;
mod figures;
mod levelling;
mod lists;
mod map_flush;
mod mount;
mod parity;
mod parity_view;
mod partial;
mod places;
mod power;
mod protection;
mod relocation;
mod room;
mod shards;
mod space_view;
mod stream_view;
mod superblock;
mod superblock_view;
mod survival;
mod tear;
mod trims;
mod turns;
mod untimed;
mod volatile;

pub use figures::{BlockWear, FtlFigures};
pub use lists::ListRead;
pub use mount::{MountOptions, MountReads};
pub use parity::CodeAxis;
pub use parity_view::ParityView;
pub use power::PowerAftermath;
pub use protection::LineMember;
pub use relocation::RelocatedUnits;
pub use space_view::SpaceView;
pub use stream_view::StreamView;
pub use superblock_view::SuperblockView;
pub use untimed::FtlFull;

use crate::block_table::BlockTable;
use crate::causes::ProgramCause;
use crate::codes::CodeTable;
use crate::counts::FtlCounts;
use crate::frontiers::StreamFrontiers;
use crate::held::HeldPus;
use crate::lanes::LaneHealth;
use crate::layout::SlotLayout;
use crate::losses::LostData;
use crate::map_pages::MapPages;
use crate::mount::{FactoryMarks, FlashRecords};
use crate::origins::UnitOrigins;
use crate::partials::CoverTable;
use crate::physical::CoreBlocks;
use crate::policy::FtlPolicies;
use crate::room::CoreRoom;
use crate::streams::{StreamCause, StreamTable};
use crate::superblocks::SuperblockTable;
use crate::table::{FlatMap, PageMapping};
use crate::turns::UntimedTurns;
use crate::uses::SuperblockUses;
use outlast_media::{
    BlankUnit, ByteStore, ConfigError, DefectConfig, Geometry, PhysicalBlocks, SlotBytes, UnitBytes,
};
use outlast_settings::ftl::{FtlConfig, PartialPlace, ProtectedStreams, ProtectionConfig};
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{DieId, LocalDie, Lpn, Ppn, Pu, Stream};
use std::sync::Arc;

/// Slot that a unit was put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenSlot {
    /// The slot.
    pub ppn: Ppn,
    /// True if it was the last of its program unit, which can now be programmed.
    pub completes_pu: bool,
}

/// Decisions of the controller around a translation layer.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent choices, each named where it is made")]
pub struct FtlOptions {
    /// Keep the bytes that are on flash.
    pub keep_bytes: bool,
    /// Settings of parity; absent without.
    pub protection: Option<ProtectionConfig>,
    /// True if there is a stream for data moved by scrubbing.
    pub scrub: bool,
    /// True if, without such a stream, one is planned for data that a failed die held ([`Ftl::begin_rebuild`]).
    pub rebuild: bool,
    /// True if the last page of every block is kept for the owners of another block's units ([`Ftl::list_reads`]).
    pub lists: bool,
    /// True if a victim is erased only when its data is on flash, not already when it is in the buffer. Each relocating stream
    /// then needs a superblock more: the next victim is begun before the last one is erased.
    pub erases_late: bool,
    /// Dies, numbered within the core, that are not there yet ([`Ftl::add_die`]).
    pub absent: Vec<LocalDie>,
    /// Most units in full program units that are held back for coalescing, in which a unit that the host writes again before it is programmed is
    /// replaced in its slot; absent: no coalescing.
    pub coalesce: Option<u32>,
    /// Records what flash says of the mapping after a loss of power, to be compared with the mapping; absent: no records.
    pub mount: Option<MountOptions>,
    /// Operations of a die between two of wear levelling while the host has writes waiting; writes without time keep to it, too. 0: none, wear
    /// levelling goes at once.
    pub background_every: u8,
    /// Seed of factory bad blocks and of random victims.
    pub seed: u64,
    /// Tables that are built.
    pub tables: FtlTables,
}

/// Tables of a translation layer that are built. Without all of them it only answers whether its settings work and how much memory it would take
/// (decision 0028).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FtlTables {
    /// All.
    #[default]
    Built,
    /// Only those with an entry for each superblock: dies can be given up.
    Superblocks,
    /// None.
    LeftOut,
}

/// The mapping in use.
pub(crate) type MappingInUse = FlatMap;

/// Mapping, streams and superblocks of one flash core. It decides where units go and knows no time: the caller programs
/// what a [`WrittenSlot`] completes and reports it with [`Ftl::programmed`].
///
/// Each part owns its state and knows none of the others; methods of this type apply the consequences of a change in one part to the others.
///
/// **Inputs:** [`append`](Ftl::append) (host data), [`relocate_units`](Ftl::relocate_units), [`pad`](Ftl::pad),
/// [`trim`](Ftl::trim), [`programmed`](Ftl::programmed), [`erased`](Ftl::erased), and what fails
/// ([`program_failed`](Ftl::program_failed), [`lose`](Ftl::lose), [`give_up_die`](Ftl::give_up_die), [`lose_buffer`](Ftl::lose_buffer)).
/// **Decisions:** [`choose_victim`](Ftl::choose_victim), [`choose_cold`](Ftl::choose_cold), [`choose_broken`](Ftl::choose_broken).
/// **Look-ups** change nothing: [`lookup`](Ftl::lookup) and [`owner`](Ftl::owner), the arithmetic of the [`SlotLayout`], and views of a
/// [superblock](Ftl::superblock), a [stream](Ftl::stream), [space](Ftl::space), [parity](Ftl::parity) and [figures](Ftl::figures).
///
/// **Relocation** of superblock `s`: `begin_relocation(s)`, then `relocate_units` of every program unit, then erase, then `erased(s)`.
///
/// **Never stuck.** One free superblock is held back for each relocating stream, and the configuration is refused unless
/// enough superblocks remain that some sealed one always has stale units ([`Ftl::new`]).
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Ftl {
    #[persist(skip)]
    layout: SlotLayout,
    #[persist(skip)]
    config: FtlConfig,
    /// Mapping of the host's units, then of the pages of the mapping table that are written to flash, then of units that other cores have handed over
    /// ([`Ftl::set_logical`]).
    map: MappingInUse,
    superblocks: SuperblockTable,
    #[persist(skip)]
    streams: StreamTable,
    frontiers: StreamFrontiers,
    codes: CodeTable,
    partials: CoverTable,
    lanes: LaneHealth,
    losses: LostData,
    /// Copies that units in the buffer superseded; absent where the buffer survives a loss of power, and in untimed writes.
    origins: Option<Box<UnitOrigins>>,
    /// Program units that are held back so that units in them can be replaced; absent without coalescing.
    #[persist(each)]
    held: Option<Box<HeldPus>>,
    /// Collection without time, in turns with the host's writes.
    turns: UntimedTurns,
    /// Slots of a victim that it handles at a time: whole pages.
    #[persist(skip)]
    stretch: u32,
    /// See [`FtlOptions::background_every`].
    #[persist(skip)]
    background_every: u8,
    /// True if there are origins, coalescing, or flushes of the mapping table, which a write without time has to heed.
    checks_before_write: bool,
    /// Records of what is on flash; absent where nothing is recorded.
    #[persist(each)]
    records: Option<Box<FlashRecords>>,
    /// Pages of the mapping table that are written to flash; absent where none are.
    #[persist(each)]
    maps: Option<Box<MapPages>>,
    /// Settings of the mount; absent where nothing is recorded for it.
    #[persist(skip)]
    mount: Option<MountOptions>,
    /// True if there are origins, records or pages of the mapping table, which follow each unit that is written.
    tracks_writes: bool,
    physical: CoreBlocks,
    #[persist(each)]
    contents: Option<SlotBytes>,
    room: CoreRoom,
    counts: FtlCounts,
    /// Figures of each superblock's uses; absent where no code depends on them.
    #[persist(each)]
    uses: Option<Box<SuperblockUses>>,
    /// Draws random victims.
    rng: SplitMix,
    /// The user's policies, instead of built-in ones.
    #[persist(skip)]
    policies: Box<FtlPolicies>,
}

impl Ftl {
    /// The translation layer over `dies` (numbers over the drive), mapping `logical_units` units.
    ///
    /// # Errors
    /// A layout that does not divide, too few spare blocks for the factory's bad ones, or too little spare space: the
    /// streams' open superblocks and the ones held back for relocation must fit beside the user data, or collection could
    /// come to a stop.
    pub fn new(
        geometry: &Geometry,
        config: &FtlConfig,
        defects: &DefectConfig,
        dies: &[DieId],
        logical_units: u64,
        options: FtlOptions,
    ) -> Result<Self, ConfigError> {
        let mut layout = SlotLayout::new(geometry, config, dies, config.held_units(logical_units))?;
        let FtlOptions { keep_bytes, protection, scrub, rebuild, lists, erases_late, absent, mount, .. } =
            options;
        let whole = options.tables == FtlTables::Built;
        if lists {
            layout.keep_lists(geometry)?;
        }
        let (parity, flushes_map) = (protection.as_ref(), config.map_flush.is_some());
        let place = parity.map(|protection| protection.partial.place);
        let in_blocks = place == Some(PartialPlace::Blocks);
        check_pages(geometry, &layout, erases_late, in_blocks)?;
        let seed = mix(options.seed ^ dies.first().map_or(0, |die| u64::from(die.0)));
        check_bad(geometry, &layout, defects, seed)?;
        let physical = physical_of(geometry, &layout, defects, seed, whole)?;
        let classes = parity.map_or(1, ProtectionConfig::class_count);
        let map_class = flushes_map.then(|| parity.map_or(0, |protection| protection.default_class));
        let streams = StreamTable::new(config, classes, scrub, rebuild, map_class, in_blocks)?;
        let (lanes, units) = (layout.lanes().len() as u32, u64::from(layout.logical_units()));
        let rows = if options.tables == FtlTables::LeftOut { 0 } else { layout.superblocks() as usize };
        let (mapped, slots) = if whole { (units, layout.slots()) } else { (0, 0) };
        let pus = if whole { rows * layout.pus_per_superblock() as usize } else { 0 };
        let protected = parity.map_or(ProtectedStreams::All, |protection| protection.streams);
        let mut ftl = Self {
            map: MappingInUse::new(mapped, slots),
            superblocks: SuperblockTable::new(rows, layout.pus_per_superblock(), whole),
            frontiers: StreamFrontiers::new(streams.count().into()),
            codes: CodeTable::new(protected, streams.count().into(), rows),
            partials: CoverTable::new(place, pus, lanes as usize, streams.count().into()),
            lanes: LaneHealth::new(lanes, rows),
            losses: LostData::default(),
            held: HeldPus::of(options.coalesce, layout.units_per_pu(), pus),
            turns: UntimedTurns::default(),
            stretch: 1,
            background_every: options.background_every,
            checks_before_write: options.coalesce.is_some() || flushes_map || (erases_late && whole),
            maps: MapPages::of(config, logical_units, whole).map(Box::new),
            origins: (erases_late && whole).then(|| Box::new(UnitOrigins::new(&layout))),
            records: mount
                .filter(|_| whole)
                .map(|mount| blank_records(geometry, &layout, defects, seed, mount)),
            mount,
            tracks_writes: whole && (erases_late || mount.is_some() || flushes_map),
            physical,
            contents: keep_bytes
                .then(|| SlotBytes::new(config.mapping_unit.0 as usize, parity.is_some() || erases_late)),
            room: CoreRoom::new(units, streams.tasks(), erases_late, config.gc.overlap),
            counts: FtlCounts::default(),
            rng: SplitMix::new(seed, "ftl.gc"),
            policies: Box::new(FtlPolicies::new(&config.own, parity)),
            uses: None,
            config: config.clone(),
            streams,
            layout,
        };
        ftl.mark_absent_dies(&absent);
        ftl.begin_codes(parity)?;
        ftl.check_room(geometry)?;
        ftl.begin_turns();
        ftl.review_room();
        Ok(ftl)
    }

    /// True if `stream` can take another unit now.
    #[inline]
    pub fn can_append(&self, stream: Stream) -> bool {
        !self.frontiers[stream].is_full() || self.may_open(stream)
    }

    /// Puts host data of `lpn` at the frontier of `stream`; the old copy becomes stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit ([`Ftl::can_append`]).
    #[inline]
    pub fn append(&mut self, stream: Stream, lpn: Lpn) -> WrittenSlot {
        self.append_inline(stream, lpn)
    }

    #[allow(clippy::inline_always, reason = "in a loop that fills a drive it is not to be a call")]
    #[inline(always)]
    fn append_inline(&mut self, stream: Stream, lpn: Lpn) -> WrittenSlot {
        debug_assert!(
            self.streams.cause(stream) == StreamCause::Host,
            "data of the host goes to stream {}",
            stream.0
        );
        let slot = self.advance(stream);
        let old = self.map.put(lpn, slot.ppn);
        debug_assert!(old != slot.ppn, "page {lpn} supersedes itself");
        let (origin, was_lost) = if old.is_some() {
            debug_assert!(!self.losses.is_lost(lpn), "page {lpn} counted as lost and had data");
            self.invalidate(old);
            (old, false)
        } else {
            (self.take_trimmed(lpn), self.losses.forget(lpn))
        };
        if self.tracks_writes {
            self.record_put(slot.ppn, lpn, origin, was_lost);
        }
        self.superblocks.add_valid(self.frontiers[stream].superblock());
        self.counts.count_host_unit();
        slot
    }

    /// Takes the next slot of `stream`.
    #[inline]
    fn advance(&mut self, stream: Stream) -> WrittenSlot {
        if self.frontiers[stream].is_full() {
            self.open_superblock(stream);
        }
        let frontier = &mut self.frontiers[stream];
        let ppn = frontier.next();
        let completes_pu = frontier.take(1, self.layout.units_per_pu());
        if completes_pu && frontier.is_broken() {
            self.skip_to_data(stream);
        }
        WrittenSlot { ppn, completes_pu }
    }

    /// Marks the unit in `slot` as stale.
    #[inline]
    fn invalidate(&mut self, slot: Ppn) {
        self.superblocks.remove_valid(self.layout.superblock_of(slot));
        if let Some(contents) = &mut self.contents {
            contents.discard(slot.0);
        }
    }

    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream) -> Option<Pu> {
        let units = self.layout.units_per_pu();
        if self.frontiers[stream].begun(units) == 0 { None } else { Some(self.fill_up(stream)) }
    }

    /// Fills the slots left in the program unit at the frontier of `stream` with padding; returns it.
    fn fill_up(&mut self, stream: Stream) -> Pu {
        let units = self.layout.units_per_pu();
        let frontier = &mut self.frontiers[stream];
        let (first, missing) = (frontier.next(), frontier.left_in_pu());
        frontier.take(missing, units);
        self.map.disown(first, missing);
        self.counts.count_units(ProgramCause::Padding, missing);
        if self.frontiers[stream].is_broken() {
            self.skip_to_data(stream);
        }
        self.layout.pu_of(first).0
    }

    /// Deallocates a logical page; true when there was data.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = self.map.unmap(lpn);
        if old.is_some() {
            self.invalidate(old);
        }
        if old.is_some() || self.losses.forget(lpn) {
            self.mark_entry_dirty(lpn);
            self.record_trim(lpn);
        }
        old.is_some()
    }

    /// Reports that program unit `pu` is on flash; true if it was the last of its superblock.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[inline]
    pub fn programmed(&mut self, pu: Pu) -> bool {
        if self.tracks_writes {
            self.record_programmed(pu);
        }
        if self.partials.are_on_flash() {
            self.settle_cover(pu);
        }
        self.programmed_run(pu, 1)
    }

    /// [`Ftl::programmed`] of `count` program units of one superblock, at most 64, from `first` on. Only for program units that are of no cover and
    /// release no origin.
    #[inline]
    fn programmed_run(&mut self, first: Pu, count: u32) -> bool {
        let (superblock, within) = self.layout.within_superblock(first);
        self.physical.program(&self.layout, superblock, within, count);
        self.counts.count_programmed(count);
        let sealed = self.superblocks.mark_programmed(superblock, first, count, self.counts.clock());
        if sealed {
            self.close_in_parts(superblock);
        }
        sealed
    }

    /// A unit of logical page `lpn` with these bytes, when bytes are kept.
    #[inline]
    pub fn make_unit(&mut self, lpn: Lpn, bytes: &[u8]) -> Option<UnitBytes> {
        self.contents.as_mut().map(|contents| contents.make(lpn.0, bytes))
    }

    /// Keeps the bytes in `store`, when bytes are kept.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        if let Some(contents) = &mut self.contents {
            contents.keep_in(store.clone());
        }
    }

    /// Memory for a unit, when bytes are kept; it holds anything.
    pub fn blank(&mut self) -> Option<BlankUnit> {
        self.contents.as_mut().map(SlotBytes::blank)
    }

    /// Stores a unit just appended, when bytes are kept.
    #[inline]
    pub fn store(&mut self, slot: Ppn, unit: UnitBytes) {
        debug_assert!(unit.tag() == self.map.owner(slot).0, "slot {slot} was appended for another page");
        if let Some(contents) = &mut self.contents {
            contents.write(slot.0, unit);
        }
    }
}

/// Physical blocks of a core with `layout`, or none where tables are not built.
fn physical_of(
    geometry: &Geometry,
    layout: &SlotLayout,
    defects: &DefectConfig,
    seed: u64,
    whole: bool,
) -> Result<CoreBlocks, ConfigError> {
    if whole {
        CoreBlocks::new(geometry, layout, defects, seed)
    } else {
        Ok(CoreBlocks::none(geometry, layout))
    }
}

/// Records of the erased flash of a core with `layout`, for mounts by `mount`.
fn blank_records(
    geometry: &Geometry,
    layout: &SlotLayout,
    defects: &DefectConfig,
    seed: u64,
    mount: MountOptions,
) -> Box<FlashRecords> {
    let marks = FactoryMarks::new(geometry, layout, defects, seed);
    Box::new(FlashRecords::new(geometry, layout, marks, mount.checkpoint_every))
}

/// Refuses more blocks that are bad when new than there are spare ones.
fn check_bad(
    geometry: &Geometry,
    layout: &SlotLayout,
    defects: &DefectConfig,
    seed: u64,
) -> Result<(), ConfigError> {
    if defects.factory_bad > 0.0 {
        let bad = PhysicalBlocks::bad_when_new(geometry, layout.dies(), defects, seed);
        BlockTable::check(geometry, layout.superblocks(), bad)?;
    }
    Ok(())
}

/// Refuses blocks with too few pages for late erasures, or for superblocks of partial parity.
fn check_pages(
    geometry: &Geometry,
    layout: &SlotLayout,
    erases_late: bool,
    covers: bool,
) -> Result<(), ConfigError> {
    let limit = if erases_late && layout.pus_per_superblock() < 2 {
        "without a protected buffer a superblock must take at least two program operations"
    } else if covers && layout.superpages() < 2 {
        "a superblock of partial parity takes at least two superpages"
    } else {
        return Ok(());
    };
    Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit))
}

//! The translation layer of one flash core: what wires its parts.

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

pub use figures::{Figures, Wear};
pub use lists::ListRead;
pub use mount::{MountOptions, MountReads};
pub use parity::Axis;
pub use parity_view::ParityView;
pub use power::Aftermath;
pub use protection::Member;
pub use relocation::Relocated;
pub use space_view::SpaceView;
pub use stream_view::StreamView;
pub use superblock_view::SuperblockView;
pub use untimed::Full;

use crate::block_table::BlockTable;
use crate::causes::ProgramCause;
use crate::codes::Codes;
use crate::counts::Counts;
use crate::frontiers::Frontiers;
use crate::held::Held;
use crate::lanes::Lanes;
use crate::layout::Layout;
use crate::losses::Losses;
use crate::map_pages::MapPages;
use crate::mount::{Marks, Records};
use crate::origins::Origins;
use crate::partials::Partials;
use crate::physical::Physical;
use crate::policy::Deciders;
use crate::room::Room;
use crate::streams::{Cause, Streams};
use crate::superblocks::Superblocks;
use crate::table::{FlatMap, Mapping};
use crate::turns::Turns;
use crate::uses::Uses;
use outlast_media::{
    BlankUnit, ByteStore, ConfigError, DefectConfig, Geometry, PhysicalBlocks, SlotBytes, UnitBytes,
};
use outlast_settings::ftl::{FtlConfig, PartialPlace, ProtectedStreams, ProtectionConfig};
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{DieId, LocalDie, Lpn, Ppn, Pu, Stream};
use std::sync::Arc;

/// Where a unit was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot.
    pub ppn: Ppn,
    /// Whether it was the last of its program unit, which can now be programmed.
    pub completes_pu: bool,
}

/// What the controller around a translation layer decides for it.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent choices, each named where it is made")]
pub struct FtlOptions {
    /// Keep the bytes that are on flash.
    pub keep_bytes: bool,
    /// Parity.
    pub protection: Option<ProtectionConfig>,
    /// Whether there is a stream for data moved by scrubbing.
    pub scrub: bool,
    /// Whether, where there is none, one is kept in mind for what a failed die held ([`Ftl::begin_rebuild`]).
    pub rebuild: bool,
    /// Whether the last page of every block is kept for the owners of another block's units ([`Ftl::list_reads`]).
    pub lists: bool,
    /// Whether a victim is erased only when its data is on flash, not already when it is in the buffer. Each relocating stream
    /// then needs a superblock more: the next victim is begun before the last one is erased.
    pub erases_late: bool,
    /// Dies, numbered within the core, that are not there yet ([`Ftl::add_die`]).
    pub absent: Vec<LocalDie>,
    /// Whether a unit that the host writes again before it is programmed takes the place that it has; then how many units in full program
    /// units are held back for that at most.
    pub coalesce: Option<u32>,
    /// Whether what flash would tell after a loss of power is recorded, and compared with the mapping.
    pub mount: Option<MountOptions>,
    /// While the host has writes waiting, so many operations of a die come between two of wear levelling's, which writes without time heed; 0: none do, it goes at
    /// once.
    pub background_every: u8,
    /// Seed of factory bad blocks and of random victims.
    pub seed: u64,
    /// Which tables are made.
    pub tables: Tables,
}

/// Tables of a translation layer. One without all of them can be asked whether it would work and what it would take, nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// All.
    #[default]
    Built,
    /// Only those with an entry for each superblock: dies can be given up.
    Superblocks,
    /// None.
    LeftOut,
}

/// The mapping in use.
pub(crate) type Map = FlatMap;

/// Mapping, streams and superblocks of one flash core. It decides where units go and knows no time: the caller programs
/// what a [`Slot`] completes and reports it with [`Ftl::programmed`].
///
/// Each part owns its state and knows none of the others; the methods here say what follows for the others from a change in one.
///
/// **Inputs:** [`append`](Ftl::append) (host data), [`relocate_units`](Ftl::relocate_units), [`pad`](Ftl::pad),
/// [`trim`](Ftl::trim), [`programmed`](Ftl::programmed), [`erased`](Ftl::erased), and what fails
/// ([`program_failed`](Ftl::program_failed), [`lose`](Ftl::lose), [`give_up_die`](Ftl::give_up_die), [`lose_buffer`](Ftl::lose_buffer)).
/// **Decisions:** [`choose_victim`](Ftl::choose_victim), [`choose_cold`](Ftl::choose_cold), [`choose_broken`](Ftl::choose_broken).
/// **Look-ups** change nothing: [`lookup`](Ftl::lookup) and [`owner`](Ftl::owner), the arithmetic of the [`Layout`], and views of a
/// [superblock](Ftl::superblock), a [stream](Ftl::stream), [space](Ftl::space), [parity](Ftl::parity) and [figures](Ftl::figures).
///
/// **Relocation** of superblock `s`: `begin_relocation(s)`, then `relocate_units` of every program unit, then erase, then `erased(s)`.
///
/// **Never stuck.** One free superblock is held back for each relocating stream, and the configuration is refused unless
/// enough superblocks remain that some sealed one always has stale units ([`Ftl::new`]).
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Ftl {
    #[persist(skip)]
    layout: Layout,
    #[persist(skip)]
    config: FtlConfig,
    /// Where the host's units are, then the pages of the mapping table that are written to flash, then units that other cores have handed over
    /// ([`Ftl::set_logical`]).
    map: Map,
    superblocks: Superblocks,
    #[persist(skip)]
    streams: Streams,
    frontiers: Frontiers,
    codes: Codes,
    partials: Partials,
    lanes: Lanes,
    losses: Losses,
    /// What each unit in the buffer superseded; absent where the buffer survives a loss of power, and in untimed writes.
    origins: Option<Box<Origins>>,
    /// What is held back so that it can be replaced; absent where nothing ever is.
    #[persist(each)]
    held: Option<Box<Held>>,
    /// Collection without time, which takes turns with the host's writes.
    turns: Turns,
    /// Slots of a victim that it deals with at a time: whole pages.
    #[persist(skip)]
    stretch: u32,
    /// See [`FtlOptions::background_every`].
    #[persist(skip)]
    background_every: u8,
    /// Whether there are origins, something may be held back, or the mapping table is flushed: a write without time looks at them first.
    looks_first: bool,
    /// What flash tells of itself; absent where nobody asks.
    #[persist(each)]
    records: Option<Box<Records>>,
    /// Pages of the mapping table that are written to flash; absent where none are.
    #[persist(each)]
    maps: Option<Box<MapPages>>,
    /// How a mount finds the mapping; absent where nothing is recorded for it.
    #[persist(skip)]
    mount: Option<MountOptions>,
    /// Whether there are origins, records or pages of the mapping table: each unit that is written is noted.
    follows: bool,
    physical: Physical,
    #[persist(each)]
    contents: Option<SlotBytes>,
    room: Room,
    counts: Counts,
    /// What superblocks have gone through; absent where no code depends on it.
    #[persist(each)]
    uses: Option<Box<Uses>>,
    /// Draws random victims.
    rng: SplitMix,
    /// The user's policies, in the place of built-in ones.
    #[persist(skip)]
    own: Box<Deciders>,
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
        let mut layout = Layout::new(geometry, config, dies, config.held_units(logical_units))?;
        let FtlOptions { keep_bytes, protection, scrub, rebuild, lists, erases_late, absent, mount, .. } =
            options;
        let whole = options.tables == Tables::Built;
        if lists {
            layout.keep_lists(geometry)?;
        }
        let place = protection.as_ref().map(|protection| protection.partial.place);
        let in_blocks = place == Some(PartialPlace::Blocks);
        check_pages(geometry, &layout, erases_late, in_blocks)?;
        let seed = mix(options.seed ^ dies.first().map_or(0, |die| u64::from(die.0)));
        check_bad(geometry, &layout, defects, seed)?;
        let physical = physical_of(geometry, &layout, defects, seed, whole)?;
        let classes = protection.as_ref().map_or(1, ProtectionConfig::class_count);
        let map_class = config.map_flush.and(Some(protection.as_ref().map_or(0, |own| own.default_class)));
        let streams = Streams::new(config, classes, scrub, rebuild, map_class, in_blocks)?;
        let lanes = layout.lanes().len() as u32;
        let rows = if options.tables == Tables::LeftOut { 0 } else { layout.superblocks() as usize };
        let (mapped, slots) =
            if whole { (u64::from(layout.logical_units()), layout.slots()) } else { (0, 0) };
        let pus = if whole { rows * layout.pus_per_superblock() as usize } else { 0 };
        let protected = protection.as_ref().map_or(ProtectedStreams::All, |own| own.streams);
        let mut ftl = Self {
            map: Map::new(mapped, slots),
            superblocks: Superblocks::new(rows, layout.pus_per_superblock(), whole),
            frontiers: Frontiers::new(streams.count().into()),
            codes: Codes::new(protected, streams.count().into(), rows),
            partials: Partials::new(place, pus, lanes as usize, streams.count().into()),
            lanes: Lanes::new(lanes, rows),
            losses: Losses::default(),
            held: Held::of(options.coalesce, layout.units_per_pu(), pus),
            turns: Turns::default(),
            stretch: 1,
            background_every: options.background_every,
            looks_first: options.coalesce.is_some() || config.map_flush.is_some() || (erases_late && whole),
            maps: MapPages::of(config, logical_units, whole).map(Box::new),
            origins: (erases_late && whole).then(|| Box::new(Origins::new(&layout))),
            records: mount.filter(|_| whole).map(|mount| {
                let marks = Marks::new(geometry, &layout, defects, seed);
                Box::new(Records::new(geometry, &layout, marks, mount.checkpoint_every))
            }),
            mount,
            follows: whole && (erases_late || mount.is_some() || config.map_flush.is_some()),
            physical,
            contents: keep_bytes
                .then(|| SlotBytes::new(config.mapping_unit.0 as usize, protection.is_some() || erases_late)),
            room: Room::new(layout.logical_units().into(), streams.tasks(), erases_late, config.gc.overlap),
            counts: Counts::default(),
            rng: SplitMix::new(seed, "ftl.gc"),
            own: Box::new(Deciders::new(&config.own, protection.as_ref())),
            uses: None,
            config: config.clone(),
            streams,
            layout,
        };
        ftl.leave_out_dies(&absent);
        ftl.begin_codes(protection.as_ref())?;
        ftl.check_room(geometry)?;
        ftl.begin_turns();
        ftl.review_room();
        Ok(ftl)
    }

    /// Whether `stream` can take another unit now.
    #[inline]
    pub fn can_append(&self, stream: Stream) -> bool {
        !self.frontiers[stream].is_full() || self.may_open(stream)
    }

    /// Puts host data of `lpn` at the frontier of `stream`; the old copy becomes stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit ([`Ftl::can_append`]).
    #[inline]
    pub fn append(&mut self, stream: Stream, lpn: Lpn) -> Slot {
        self.append_inline(stream, lpn)
    }

    #[allow(clippy::inline_always, reason = "in a loop that fills a drive it is not to be a call")]
    #[inline(always)]
    fn append_inline(&mut self, stream: Stream, lpn: Lpn) -> Slot {
        debug_assert!(
            self.streams.cause(stream) == Cause::Host,
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
        if self.follows {
            self.note_put(slot.ppn, lpn, origin, was_lost);
        }
        self.superblocks.unit_valid(self.frontiers[stream].superblock());
        self.counts.host_unit();
        slot
    }

    /// Takes the next slot of `stream`.
    #[inline]
    fn advance(&mut self, stream: Stream) -> Slot {
        if self.frontiers[stream].is_full() {
            self.open(stream);
        }
        let frontier = &mut self.frontiers[stream];
        let ppn = frontier.next();
        let completes_pu = frontier.take(1, self.layout.units_per_pu());
        if completes_pu && frontier.is_broken() {
            self.skip(stream);
        }
        Slot { ppn, completes_pu }
    }

    /// What `slot` holds has become stale.
    #[inline]
    fn invalidate(&mut self, slot: Ppn) {
        self.superblocks.unit_stale(self.layout.superblock_of(slot));
        if let Some(contents) = &mut self.contents {
            contents.discard(slot.0);
        }
    }

    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream) -> Option<Pu> {
        let units = self.layout.units_per_pu();
        if self.frontiers[stream].begun(units) == 0 { None } else { Some(self.fill_up(stream)) }
    }

    /// Fills what is left of the program unit at the frontier of `stream`, all of it or a part, with empty slots; returns it.
    fn fill_up(&mut self, stream: Stream) -> Pu {
        let units = self.layout.units_per_pu();
        let frontier = &mut self.frontiers[stream];
        let (first, missing) = (frontier.next(), frontier.left_in_pu());
        frontier.take(missing, units);
        self.map.disown(first, missing);
        self.counts.add(ProgramCause::Padding, missing);
        if self.frontiers[stream].is_broken() {
            self.skip(stream);
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
            self.entry_changed(lpn);
            self.record_trim(lpn);
        }
        old.is_some()
    }

    /// Reports that program unit `pu` is on flash; whether it was the last of its superblock.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[inline]
    pub fn programmed(&mut self, pu: Pu) -> bool {
        if self.follows {
            self.note_programmed(pu);
        }
        if self.partials.are_on_flash() {
            self.note_cover(pu);
        }
        self.programmed_run(pu, 1)
    }

    /// [`Ftl::programmed`] of `count` program units of one superblock, at most 64, from `first` on. Whoever calls it knows that they
    /// are of no cover and release no origin.
    #[inline]
    fn programmed_run(&mut self, first: Pu, count: u32) -> bool {
        let (superblock, within) = self.layout.within_superblock(first);
        self.physical.program(&self.layout, superblock, within, count);
        self.counts.programmed(count);
        let sealed = self.superblocks.programmed(superblock, first, count, self.counts.clock());
        if sealed {
            self.sealed(superblock);
        }
        sealed
    }

    /// A unit of logical page `lpn` with these bytes, when bytes are kept.
    #[inline]
    pub fn make_unit(&mut self, lpn: Lpn, bytes: &[u8]) -> Option<UnitBytes> {
        self.contents.as_mut().map(|contents| contents.make(lpn.0, bytes))
    }

    /// Has `store` keep the bytes, when bytes are kept.
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

/// The flash of a core with `layout`, or none of it where tables are not built.
fn physical_of(
    geometry: &Geometry,
    layout: &Layout,
    defects: &DefectConfig,
    seed: u64,
    whole: bool,
) -> Result<Physical, ConfigError> {
    if whole { Physical::new(geometry, layout, defects, seed) } else { Ok(Physical::none(geometry, layout)) }
}

/// Refuses more blocks that are bad when new than there are spare ones.
fn check_bad(
    geometry: &Geometry,
    layout: &Layout,
    defects: &DefectConfig,
    seed: u64,
) -> Result<(), ConfigError> {
    if defects.factory_bad > 0.0 {
        let bad = PhysicalBlocks::bad_when_new(geometry, layout.dies(), defects, seed);
        BlockTable::check(geometry, layout.superblocks(), bad)?;
    }
    Ok(())
}

/// Refuses blocks with too few pages for what is to be done with a superblock.
fn check_pages(
    geometry: &Geometry,
    layout: &Layout,
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

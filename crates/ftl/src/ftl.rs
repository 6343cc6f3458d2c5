//! The translation layer of one flash core: construction, host writes, trims, programs.

mod check;
mod choices;
mod coalescing;
mod damage;
mod figures;
mod handles;
mod levelling;
mod lists;
mod map_flush;
mod places;
mod power;
mod redundancy;
mod relocation;
mod restored;
mod room;
mod stream_view;
mod superblock;
mod superblock_view;
mod tear;
mod turns;
mod untimed;

pub use figures::FtlFigures;
pub use handles::HandlesView;
pub use redundancy::RedundancyView;
pub use relocation::{ConsideredUnits, MovingUnits, RelocatedUnits};
pub use stream_view::StreamView;
pub use superblock_view::SuperblockView;
pub use untimed::FtlFull;

use crate::chooser::RelocationChooser;
use crate::held::HeldPus;
use crate::layout::SlotLayout;
use crate::modes::StreamModes;
use crate::mount::{FactoryMarks, FlashRecords};
use crate::pages::{MountOptions, PageTable};
use crate::slc_cache::SlcCacheRules;
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use crate::turns::UntimedTurns;
use outlast_media::{ConfigError, DefectConfig, Geometry, UnitBytes};
use outlast_settings::ftl::{FtlConfig, ProtectionConfig};
use outlast_settings::placement::PlacementConfig;
use outlast_units::rng::mix;
use outlast_units::{DieId, LocalDie, Lpn, Ppn, Pu, Stream, SuperblockId};

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
    /// Reclaim unit handles; absent without: the host's streams go by class and stream hint.
    pub placement: Option<PlacementConfig>,
    /// True if there is a stream for data moved by scrubbing.
    pub scrub: bool,
    /// True if, without such a stream, one is planned for data that a failed die held ([`Ftl::begin_rebuild`]).
    pub rebuild: bool,
    /// True if the last page of every block is kept for the owners of another block's units ([`PuStates::list_reads`](crate::PuStates::list_reads)).
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
    /// Units that there must be room for, where they are not all that are mapped.
    pub room_for: Option<u64>,
    /// Modes of superblocks, and what is written in them.
    pub modes: StreamModes,
    /// Rules of a cache of superblocks in the second mode, which the host's streams then open as the rules say; absent: no cache.
    pub slc_cache: Option<SlcCacheRules>,
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
/// **Relocation** of superblock `s`: `begin_relocation(s)`, then `relocate_units` of every program unit, `end_promise` of the stream once all units have
/// moved, then erase, then `erased(s)`.
///
/// **Never stuck.** One free superblock is held back for each relocating stream, and the configuration is refused unless
/// enough superblocks remain that some sealed one always has stale units ([`Ftl::new`]).
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Ftl {
    /// Superblocks: where units go.
    space: FlashSpace,
    /// The mapping: which unit lies where.
    pages: PageTable,
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
    /// Settings of the mount; absent where nothing is recorded for it.
    #[persist(skip)]
    mount: Option<MountOptions>,
    /// Choice of superblocks to be relocated.
    chooser: RelocationChooser,
}

impl FtlOptions {
    /// Seed of the core with `dies`: of factory bad blocks and of random victims.
    pub(crate) fn core_seed(&self, dies: &[DieId]) -> u64 {
        mix(self.seed ^ dies.first().map_or(0, |die| u64::from(die.0)))
    }
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
        options: &FtlOptions,
    ) -> Result<Self, ConfigError> {
        let space = FlashSpace::new(geometry, config, defects, dies, logical_units, options)?;
        let layout = space.layout();
        let (built, seed) = (options.tables == FtlTables::Built, options.core_seed(dies));
        let keeps_origins = options.erases_late && built;
        let records = options
            .mount
            .filter(|_| built)
            .map(|mount| blank_records(geometry, layout, defects, seed, mount));
        let pus = if built { (layout.superblocks() * layout.pus_per_superblock()) as usize } else { 0 };
        let mut ftl = Self {
            pages: PageTable::new(
                config,
                (layout, space.streams()),
                logical_units,
                built,
                keeps_origins,
                records,
            ),
            held: HeldPus::of(options.coalesce, layout.units_per_pu(), pus),
            turns: UntimedTurns::default(),
            stretch: 1,
            background_every: options.background_every,
            checks_before_write: options.coalesce.is_some() || config.map_flush.is_some() || keeps_origins,
            mount: options.mount,
            chooser: RelocationChooser::new(config, seed),
            space,
        };
        ftl.begin_turns();
        Ok(ftl)
    }

    /// True if `stream` can take another unit now.
    #[inline]
    pub fn can_append(&self, stream: Stream) -> bool {
        self.space.can_take(stream, &self.pages)
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
            self.space.streams().cause(stream) == StreamCause::Host,
            "data of the host goes to stream {}",
            stream.0
        );
        let slot = self.space.take_slot(stream, &mut self.pages);
        self.pages.put_new(&mut self.space, stream, lpn, slot.ppn);
        self.space.counts_mut().count_host_unit();
        slot
    }

    /// Deallocates a logical page; true when there was data.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        self.pages.trim(&mut self.space, lpn)
    }

    /// As [`Ftl::trim`], but a loss of power before [`Ftl::persist_trims`] undoes it.
    pub fn trim_unsafely(&mut self, lpn: Lpn) -> bool {
        self.pages.trim_unsafely(&mut self.space, lpn)
    }

    /// Makes all trims so far safe, as the log of the mapping is.
    pub fn persist_trims(&mut self) {
        self.pages.persist_trims();
    }

    /// Makes trims safe before `superblock` is erased, if a former copy is in it.
    pub fn persist_trims_of(&mut self, superblock: SuperblockId) {
        self.pages.persist_trims_of(&self.space, superblock);
    }

    /// Reports that program unit `pu` is on flash; true if it was the last of its superblock.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[allow(clippy::inline_always, reason = "a few steps for every program, in the frame of its end")]
    #[inline(always)]
    pub fn programmed(&mut self, pu: Pu) -> bool {
        if self.pages.tracks_writes() {
            self.pages.record_programmed(&self.space, pu);
        }
        self.space.programmed(pu, &mut self.pages)
    }

    /// Stores a unit just appended, when bytes are kept.
    #[inline]
    pub fn store(&mut self, slot: Ppn, unit: UnitBytes) {
        debug_assert!(unit.tag() == self.pages.owner(slot).0, "slot {slot} was appended for another page");
        self.space.store(slot, unit);
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

//! The translation layer of one flash core.

mod damage;
mod encoding;
mod figures;
mod lists;
mod parity;
mod partial;
mod power;
mod protection;
mod relocation;
mod room;
mod streams;
mod untimed;
mod written;

pub use lists::ListRead;
pub use parity::Axis;
pub use power::Aftermath;
pub use protection::Member;
pub use relocation::Relocated;
pub use untimed::Full;
pub use written::Cause;

use partial::Partials;
use power::Origins;
use protection::Gaps;
use streams::Streams;

use crate::bits::Bits;
use crate::block_table::BlockTable;
use crate::causes::{PagesRead, ProgramCause, UnitsWritten};
use crate::config::{CodeConfig, FtlConfig, PartialPlace, ProtectedStreams, ProtectionConfig};
use crate::layout::Layout;
use crate::policy::NO_CANDIDATE;
use crate::stripes::{LaneSet, Stripes};
use crate::table::{FlatMap, Mapping};
use outlast_media::{Blocks, ConfigError, Contents, DefectConfig, Geometry, ProgramOrder, Unit};
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{DieId, Lpn, Ppn, SuperblockId};
use std::collections::{BTreeMap, BTreeSet};

/// A write frontier with its own open superblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream(pub u8);

/// Where a unit was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot.
    pub ppn: Ppn,
    /// Whether it was the last of its program unit, which can now be programmed.
    pub completes_pu: bool,
}

/// State of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Erased.
    Free,
    /// A stream's frontier, or filled and not wholly programmed yet.
    Open,
    /// Programmed; a candidate for collection.
    Sealed,
    /// Being relocated, then erased.
    Collecting,
    /// Given up: a block went bad and no spare was left.
    Retired,
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
    /// Whether the last page of every block is kept for the owners of another block's units ([`Ftl::list_reads`]).
    pub lists: bool,
    /// Whether a victim is erased only when its data is on flash, not already when it is in the buffer. Each relocating stream
    /// then needs a superblock more: the next victim is begun before the last one is erased.
    pub erases_late: bool,
    /// Dies, numbered within the core, that are not there yet ([`Ftl::add_die`]).
    pub absent: Vec<u16>,
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

#[derive(Clone, Copy, Debug, Default)]
struct Frontier {
    /// Next slot.
    next: u32,
    /// First slot of the next program unit.
    pu_end: u32,
    /// First slot beyond the superblock; equal to `next` when no superblock is open.
    end: u32,
    superblock: SuperblockId,
    /// A relocation under way may have to open a superblock more for this stream: one that is free is promised to it.
    promised: bool,
    /// Some program units of the superblock hold no data: parity, or lanes that are gone.
    irregular: bool,
    /// Where irregular: data slots after the program unit under way.
    later: u32,
    /// Stripes that are complete and whose parity is still to be written: the first one, the one after the last, and how many
    /// parity program units of the first have been handed out.
    due: (u32, u32, u32),
    /// Program units of lists that have been handed out, in allocation order.
    lists: u32,
}

/// Why a core serves reads only, if it does.
#[derive(Clone, Copy, Debug, Default)]
struct ReadOnly {
    /// A victim's data had no place to go: superblocks held back for relocation have worn out.
    stuck: bool,
    /// Too few superblocks are left to take writes for ever; [`Ftl::review_room`] keeps it true.
    worn_out: bool,
}

/// The mapping in use.
pub(crate) type Map = FlatMap;

/// Mapping, streams and superblocks of one flash core. It decides where units go and knows no time: the caller programs
/// what a [`Slot`] completes and reports it with [`Ftl::programmed`].
///
/// **Inputs:** [`append`](Ftl::append) (host data), [`relocate`](Ftl::relocate), [`pad`](Ftl::pad), [`trim`](Ftl::trim),
/// [`programmed`](Ftl::programmed), [`erased`](Ftl::erased). **Decisions:** [`choose_victim`](Ftl::choose_victim),
/// [`choose_cold`](Ftl::choose_cold). **Look-ups** change nothing.
///
/// **Relocation** of superblock `s`: `begin_relocation(s)`, then `relocate` every valid slot, then erase, then `erased(s)`.
///
/// **Never stuck.** One free superblock is held back for each relocating stream, and the configuration is refused unless
/// enough superblocks remain that some sealed one always has stale units ([`Ftl::new`]).
#[derive(Clone, Debug)]
pub struct Ftl {
    layout: Layout,
    config: FtlConfig,
    /// Where the host's units are, then those that other cores have handed over ([`Ftl::set_logical`]).
    map: Map,
    /// Units that there must be room for.
    logical_units: u64,
    /// Valid units of each superblock, with [`NO_CANDIDATE`] unless it is sealed.
    valid: Vec<u32>,
    sealed_at: Vec<u64>,
    sealed_order: Vec<u64>,
    seals: u64,
    state: Vec<State>,
    cycles: Vec<u32>,
    /// Program units of each superblock that are not programmed yet.
    unprogrammed: Vec<u32>,
    /// One bit for each program unit; meaningful where `unprogrammed` is not zero.
    pu_programmed: Bits,
    /// Free superblocks, the one freed longest ago first.
    free: Vec<SuperblockId>,
    frontiers: Vec<Frontier>,
    /// Why the units of each superblock that is being relocated move.
    moved_for: Vec<Cause>,
    streams: Streams,
    /// How the code instances divide superblocks, and which code each is.
    codes: Vec<Stripes>,
    code_configs: Vec<CodeConfig>,
    /// The code of each class, and which streams are protected.
    class_codes: Vec<CodeConfig>,
    protected: ProtectedStreams,
    /// The code of what each stream writes, and of each superblock since it was opened: an index into `codes`, or [`NO_CODE`].
    stream_code: Vec<u8>,
    code: Vec<u8>,
    /// The stream that opened each superblock.
    opened_by: Vec<Stream>,
    /// Data slots of a superblock that each stream opens.
    data_units: Vec<u32>,
    partials: Partials,
    /// Whether stripes that are not full get parity of their own on flash.
    covers: bool,
    /// Data program units of each stream's open stripe that no parity protects yet.
    exposed: Vec<u32>,
    /// Lanes that are gone, for each superblock that has such.
    gaps: Vec<Option<Box<Gaps>>>,
    /// Lanes that are gone for good: their die or plane has failed.
    dead_lanes: LaneSet,
    /// Program units whose program operation failed after their stripe's parity was computed.
    failed_pus: BTreeSet<u32>,
    /// Lanes of superblocks that have a bad block which nothing replaces, and the slots that this takes in all.
    missing: BTreeMap<u32, LaneSet>,
    missing_units: u64,
    /// Whether a program operation has ever failed.
    damaged: bool,
    /// Bytes of slots whose program operation failed, while they are written again.
    in_hand: BTreeMap<u32, Unit>,
    /// Logical pages whose data has been lost, until they are written or trimmed.
    lost: BTreeSet<u32>,
    /// What each unit in the buffer superseded; absent where the buffer survives a loss of power, and in untimed writes.
    origins: Option<Box<Origins>>,
    /// How often power has failed since the space held back for relocation was last whole.
    cuts: u32,
    blocks: Blocks,
    table: BlockTable,
    /// How far each lane of each superblock is programmed, in program units.
    order: ProgramOrder,
    endurance: Option<u32>,
    /// Free superblocks held back for each relocating stream.
    held_back: u32,
    contents: Option<Contents>,
    rng: SplitMix,
    clock: u64,
    written: UnitsWritten,
    pus_programmed: u64,
    pus_failed: u64,
    /// Pages read while relocating without time.
    untimed_reads: PagesRead,
    victims: u64,
    victim_units: u64,
    retired: u32,
    read_only: ReadOnly,
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
        let mut layout = Layout::new(geometry, config, dies, logical_units)?;
        let FtlOptions { keep_bytes, protection, scrub, lists, erases_late, absent, seed, tables } = options;
        let whole = tables == Tables::Built;
        if lists {
            layout.keep_lists(geometry)?;
        }
        if erases_late && layout.pus_per_superblock() < 2 {
            let limit = "without a protected buffer a superblock must take at least two program operations";
            return Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit));
        }
        let seed = mix(seed ^ dies.first().map_or(0, |die| u64::from(die.0)));
        let count = dies.len() as u16;
        let superblocks = layout.superblocks();
        if defects.factory_bad > 0.0 {
            let bad = Blocks::bad_when_new(geometry, count, defects, seed);
            BlockTable::check(geometry, superblocks, bad)?;
        }
        let blocks = if whole { Blocks::new(geometry, count, defects, seed) } else { Blocks::none(geometry) };
        let table =
            if whole { BlockTable::new(geometry, count, superblocks, &blocks)? } else { BlockTable::none() };
        let place = protection.as_ref().map(|protection| protection.partial.place);
        let classes = protection.as_ref().map_or(1, ProtectionConfig::class_count);
        let streams = Streams::new(config, classes, scrub, place == Some(PartialPlace::Blocks))?;
        if place == Some(PartialPlace::Blocks) && layout.superpages() < 2 {
            let limit = "a superblock of partial parity takes at least two superpages";
            return Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit));
        }
        let lanes = layout.lanes().len();
        let pus = if whole { superblocks as usize * layout.pus_per_superblock() as usize } else { 0 };
        let rows = if tables == Tables::LeftOut { 0 } else { superblocks as usize };
        let (mapped, slots) = if whole { (layout.logical_units(), layout.slots()) } else { (0, 0) };
        let none = CodeConfig { data: 1, parity: 0, block: None };
        let class_codes: Vec<CodeConfig> =
            (0..classes).map(|class| protection.as_ref().map_or(none, |own| own.code(class))).collect();
        let mut ftl = Self {
            map: FlatMap::new(u64::from(mapped), slots),
            logical_units,
            valid: vec![NO_CANDIDATE; rows],
            sealed_at: vec![0; rows],
            sealed_order: vec![0; rows],
            seals: 0,
            state: vec![State::Free; rows],
            cycles: vec![0; rows],
            unprogrammed: vec![0; rows],
            pu_programmed: Bits::new(pus),
            free: (0..rows as u32).map(SuperblockId).collect(),
            frontiers: vec![Frontier::default(); streams.count()],
            moved_for: vec![Cause::Gc; rows],
            stream_code: vec![NO_CODE; streams.count()],
            code: vec![NO_CODE; rows],
            opened_by: vec![Stream::default(); rows],
            data_units: Vec::new(),
            partials: Partials::new(place, pus, lanes),
            covers: matches!(place, Some(PartialPlace::Inline | PartialPlace::Blocks)),
            exposed: vec![0; streams.count()],
            gaps: vec![None; rows],
            dead_lanes: LaneSet::new(lanes),
            failed_pus: BTreeSet::new(),
            missing: BTreeMap::new(),
            missing_units: 0,
            damaged: false,
            in_hand: BTreeMap::new(),
            lost: BTreeSet::new(),
            origins: (erases_late && whole).then(|| Box::new(Origins::new(&layout))),
            cuts: 0,
            blocks,
            table,
            order: ProgramOrder::new(if whole { rows * lanes } else { 0 }, layout.superpages()),
            endurance: defects.endurance,
            held_back: u32::from(erases_late) + 1,
            contents: keep_bytes
                .then(|| Contents::new(config.mapping_unit.0 as usize, protection.is_some() || erases_late)),
            codes: Vec::new(),
            code_configs: Vec::new(),
            protected: protection.as_ref().map_or(ProtectedStreams::All, |own| own.streams),
            class_codes: Vec::new(),
            streams,
            rng: SplitMix::new(seed, "ftl.gc"),
            clock: 0,
            written: UnitsWritten::default(),
            pus_programmed: 0,
            pus_failed: 0,
            untimed_reads: PagesRead::default(),
            victims: 0,
            victim_units: 0,
            retired: 0,
            read_only: ReadOnly::default(),
            config: config.clone(),
            layout,
        };
        ftl.leave_out_dies(&absent);
        ftl.take_codes(&class_codes)?;
        ftl.count_data_units();
        ftl.check_room(geometry)?;
        ftl.review_room();
        Ok(ftl)
    }

    /// Free superblocks held back for relocation.
    pub fn reserve(&self) -> u32 {
        self.streams.tasks() * self.held_back
    }

    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The stream of host data of class `class` with stream hint `hint`.
    #[inline]
    pub fn host_stream(&self, hint: u8, class: u8) -> Stream {
        self.streams.host(hint, class)
    }
    /// Number of streams of host data; they are the first ones.
    #[inline]
    pub fn host_streams(&self) -> u8 {
        self.streams.hosts()
    }
    /// Number of classes.
    pub fn classes(&self) -> u8 {
        self.streams.classes()
    }
    /// The stream of data of class `class` moved by garbage collection.
    ///
    /// # Panics
    /// If there is no such class.
    #[inline]
    pub fn gc_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::Gc, class).expect("garbage collection has a stream for each class")
    }
    /// The stream of data of class `class` moved by static wear levelling.
    ///
    /// # Panics
    /// If static wear levelling is off.
    pub fn wear_leveling_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::WearLeveling, class).expect("static wear levelling is on")
    }
    /// The stream of data of class `class` moved by scrubbing.
    ///
    /// # Panics
    /// If there is no scrubbing.
    pub fn scrub_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::Scrub, class).expect("scrubbing is on")
    }
    /// Why units of `stream` are written.
    #[inline]
    pub fn cause_of(&self, stream: Stream) -> Cause {
        self.streams.cause(stream)
    }
    /// The class of what `stream` writes.
    #[inline]
    pub fn class_of(&self, stream: Stream) -> u8 {
        self.streams.class(stream)
    }
    /// The class of what a superblock holds.
    #[inline]
    pub fn class_of_superblock(&self, superblock: SuperblockId) -> u8 {
        self.streams.class(self.opened_by[superblock.index()])
    }
    /// Number of streams.
    pub fn streams(&self) -> u8 {
        self.frontiers.len() as u8
    }

    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppn {
        self.map.lookup(lpn)
    }

    /// The logical page that a slot was written for; it is stale unless [`Ftl::lookup`] leads back.
    #[inline]
    pub fn owner(&self, slot: Ppn) -> Lpn {
        self.map.owner(slot)
    }

    /// Whether a slot's program unit is on flash, not still in the buffer.
    #[inline]
    pub fn is_programmed(&self, slot: Ppn) -> bool {
        self.unprogrammed[self.layout.superblock_of(slot).index()] == 0 || {
            let (pu, _) = self.layout.pu_of(slot);
            self.pu_programmed.get(pu)
        }
    }

    /// The state of a superblock.
    #[inline]
    pub fn state(&self, superblock: SuperblockId) -> State {
        self.state[superblock.index()]
    }

    /// The stream that opened a superblock last.
    pub fn stream_of(&self, superblock: SuperblockId) -> Stream {
        self.opened_by[superblock.index()]
    }

    /// Whether program unit `pu` is of a superblock that `stream` opened.
    pub fn is_of(&self, pu: u32, stream: Stream) -> bool {
        self.opened_by[self.layout.place(pu).superblock.index()] == stream
    }

    /// Whether what a superblock holds was put there by scrubbing.
    pub fn is_scrubbed(&self, superblock: SuperblockId) -> bool {
        self.cause_of(self.opened_by[superblock.index()]) == Cause::Scrub
    }

    /// The block of a superblock in one plane of a die, numbered as by [`Blocks::index`].
    #[inline]
    pub fn block_index(&self, superblock: SuperblockId, local_die: u16, plane: u16) -> u32 {
        self.blocks.index(self.table.block(superblock, local_die, plane)) as u32
    }

    /// All blocks of a superblock, but for those whose lane is gone, numbered as by [`Blocks::index`].
    pub fn block_indices(&self, superblock: SuperblockId) -> impl Iterator<Item = u32> {
        self.live_lanes()
            .flat_map(move |lane| self.blocks_of(superblock, lane))
            .map(|at| self.blocks.index(at) as u32)
    }

    /// The superblock that a block, numbered as by [`Blocks::index`], belongs to; `None` of a spare or bad one.
    pub fn superblock_of_block(&self, block: u32) -> Option<SuperblockId> {
        let at = self.blocks.address(block);
        (0..self.layout.superblocks())
            .map(SuperblockId)
            .find(|&superblock| self.table.block(superblock, at.die, at.plane).block == at.block)
    }

    /// Gives the blocks the wear that they come with, in the order of [`Blocks::all_cycles`].
    pub fn wear(&mut self, cycles: &[u32]) {
        self.blocks.set_cycles(cycles);
        for superblock in 0..self.layout.superblocks() {
            self.weigh(SuperblockId(superblock));
        }
    }

    /// Brings the entries of logical pages that will soon be needed into the processor's cache: loads that do not wait for
    /// each other.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        self.map.touch(lpns);
    }

    /// Whether `stream` can take another unit now.
    #[inline]
    pub fn can_append(&self, stream: Stream) -> bool {
        let frontier = &self.frontiers[usize::from(stream.0)];
        frontier.next != frontier.end || self.may_open(stream)
    }

    fn may_open(&self, stream: Stream) -> bool {
        let relocates = !matches!(self.cause_of(stream), Cause::Host | Cause::Partial);
        let held_back = if relocates { 0 } else { self.reserve() as usize };
        self.free.len() > held_back && self.data_units[usize::from(stream.0)] != 0
    }

    /// Puts host data of `lpn` at the frontier of `stream`; the old copy becomes stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit ([`Ftl::can_append`]).
    #[inline]
    pub fn append(&mut self, stream: Stream, lpn: Lpn) -> Slot {
        let slot = self.advance(stream);
        let old = self.map.put(lpn, slot.ppn);
        let mut was_lost = false;
        if old.is_some() {
            self.invalidate(old);
        } else if !self.lost.is_empty() {
            was_lost = self.lost.remove(&lpn.0);
        }
        self.note_origin(slot.ppn, old, was_lost);
        self.valid[self.frontiers[usize::from(stream.0)].superblock.index()] += 1;
        self.clock += 1;
        self.written[ProgramCause::Host] += 1;
        slot
    }

    #[inline]
    fn advance(&mut self, stream: Stream) -> Slot {
        let index = usize::from(stream.0);
        if self.frontiers[index].next == self.frontiers[index].end {
            self.open(stream);
        }
        let units = self.layout.units_per_pu();
        let frontier = &mut self.frontiers[index];
        let ppn = Ppn(frontier.next);
        frontier.next += 1;
        let completes_pu = frontier.next == frontier.pu_end;
        if completes_pu {
            frontier.pu_end += units;
            if frontier.irregular {
                self.skip(stream);
            }
        }
        Slot { ppn, completes_pu }
    }

    #[inline]
    fn invalidate(&mut self, slot: Ppn) {
        self.count_stale(slot);
        if let Some(contents) = &mut self.contents {
            contents.discard(slot.0);
        }
    }

    #[inline]
    fn count_stale(&mut self, slot: Ppn) {
        self.valid[self.layout.superblock_of(slot).index()] -= 1;
    }

    #[cold]
    fn open(&mut self, stream: Stream) {
        assert!(self.may_open(stream), "stream {} has no free superblock", stream.0);
        let superblock = self.take_free(self.cause_of(stream));
        self.begin_superblock(superblock, stream);
        let first = self.layout.first_slot(superblock);
        self.exposed[usize::from(stream.0)] = 0;
        self.frontiers[usize::from(stream.0)] = Frontier {
            next: first,
            pu_end: first + self.layout.units_per_pu(),
            end: first + self.layout.data_pus() * self.layout.units_per_pu(),
            superblock,
            promised: false,
            irregular: false,
            later: 0,
            due: (0, 0, 0),
            lists: 0,
        };
        if self.code[superblock.index()] != NO_CODE
            || !self.dead_lanes.is_empty()
            || self.missing.contains_key(&superblock.0)
        {
            self.open_irregular(stream);
        }
    }

    /// The free superblock that comes next for units written for `cause`.
    fn take_free(&mut self, cause: Cause) -> SuperblockId {
        let cycles = &self.cycles;
        let least =
            |free: &[SuperblockId]| (0..free.len()).min_by_key(|&i| cycles[free[i].index()]).unwrap_or(0);
        // `min_by_key` of the complement: the first of the most-worn, as `max_by_key` would give the last.
        let most =
            |free: &[SuperblockId]| (0..free.len()).min_by_key(|&i| !cycles[free[i].index()]).unwrap_or(0);
        let pick = match cause {
            Cause::WearLeveling => most(&self.free),
            _ if self.config.wear_leveling.dynamic => least(&self.free),
            _ => 0,
        };
        self.free.remove(pick)
    }

    /// Superblock `superblock`, free until now, is being filled by `stream`.
    fn begin_superblock(&mut self, superblock: SuperblockId, stream: Stream) {
        let index = superblock.index();
        self.state[index] = State::Open;
        let pus = self.layout.pus_per_superblock();
        self.unprogrammed[index] = pus;
        self.pu_programmed.clear_range(superblock.0 * pus, pus);
        self.code[index] = self.stream_code[usize::from(stream.0)];
        self.opened_by[index] = stream;
        if let Some(origins) = &mut self.origins {
            origins.opened(superblock, self.layout.units_per_superblock());
        }
    }

    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream) -> Option<u32> {
        let units = self.layout.units_per_pu();
        let frontier = &mut self.frontiers[usize::from(stream.0)];
        let missing = (frontier.pu_end - frontier.next) % units;
        if missing == 0 || frontier.next == frontier.end {
            return None;
        }
        self.map.disown(Ppn(frontier.next), missing);
        let pu = frontier.next / units;
        frontier.next = frontier.pu_end;
        frontier.pu_end += units;
        self.written[ProgramCause::Padding] += u64::from(missing);
        if frontier.irregular {
            self.skip(stream);
        }
        Some(pu)
    }

    /// Units that `stream` has put into a program unit that is not full yet.
    pub fn begun_units(&self, stream: Stream) -> u32 {
        let frontier = &self.frontiers[usize::from(stream.0)];
        let units = self.layout.units_per_pu();
        if frontier.next == frontier.end { 0 } else { units - (frontier.pu_end - frontier.next) }
    }

    /// The program unit that `stream` has begun and not filled.
    pub fn begun_pu(&self, stream: Stream) -> Option<u32> {
        let frontier = &self.frontiers[usize::from(stream.0)];
        (self.begun_units(stream) != 0).then(|| self.layout.pu_of(Ppn(frontier.next)).0)
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub fn room(&self, stream: Stream) -> u32 {
        let frontier = &self.frontiers[usize::from(stream.0)];
        if !frontier.irregular {
            frontier.end - frontier.next
        } else if frontier.next == frontier.end {
            0
        } else {
            frontier.later + (frontier.pu_end - frontier.next)
        }
    }

    /// Valid units of a superblock.
    #[inline]
    pub fn valid_count(&self, superblock: SuperblockId) -> u32 {
        self.valid[superblock.index()] & !NO_CANDIDATE
    }

    /// Deallocates a logical page; true when there was data.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = self.map.unmap(lpn);
        if old.is_some() {
            self.invalidate(old);
        } else {
            self.lost.remove(&lpn.0);
        }
        old.is_some()
    }

    /// Reports that program unit `pu` is on flash; whether it was the last of its superblock.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[inline]
    pub fn programmed(&mut self, pu: u32) -> bool {
        if self.origins.is_some() {
            self.release_origins(pu);
        }
        if self.covers {
            self.note_cover(pu);
        }
        self.programmed_run(pu, 1)
    }

    /// [`Ftl::programmed`] of `count` program units of one superblock, at most 64, from `first` on. Whoever calls it knows that they
    /// are of no cover and release no origin.
    #[inline]
    fn programmed_run(&mut self, first: u32, count: u32) -> bool {
        let (superblock, within) = self.layout.within_superblock(first);
        let (mut row, mut lane) = self.layout.row_and_lane(within);
        let lanes = self.layout.lanes().len();
        let column = superblock.index() * lanes;
        for _ in 0..count {
            self.order.program(column + lane as usize, row);
            lane += 1;
            if lane as usize == lanes {
                (row, lane) = (row + 1, 0);
            }
        }
        self.pu_programmed.set_run(first, count);
        self.pus_programmed += u64::from(count);
        let left = &mut self.unprogrammed[superblock.index()];
        debug_assert!(*left >= count, "more of superblock {superblock} is programmed than there is");
        *left -= count;
        let sealed = *left == 0;
        if sealed {
            self.seal(superblock);
        }
        sealed
    }

    /// `pus` program units of an open superblock never will be programmed; whether that was the last of it.
    fn settle_pus(&mut self, superblock: SuperblockId, pus: u32) -> bool {
        let left = &mut self.unprogrammed[superblock.index()];
        *left -= pus;
        let sealed = *left == 0 && pus != 0;
        if sealed {
            self.seal(superblock);
        }
        sealed
    }

    #[cold]
    fn seal(&mut self, superblock: SuperblockId) {
        self.state[superblock.index()] = State::Sealed;
        self.valid[superblock.index()] &= !NO_CANDIDATE;
        self.sealed_at[superblock.index()] = self.clock;
        self.sealed_order[superblock.index()] = self.seals;
        self.seals += 1;
        if let Some(origins) = &mut self.origins {
            origins.sealed(superblock);
        }
    }

    /// Free superblocks.
    #[inline]
    pub fn free_superblocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// A unit of logical page `lpn`, when bytes are kept. `fill` gets its bytes, which hold anything, and overwrites all of them.
    pub fn make_unit(&mut self, lpn: Lpn, fill: impl FnOnce(&mut [u8])) -> Option<Unit> {
        self.contents.as_mut().map(|contents| contents.make(lpn.0, fill))
    }

    /// Stores a unit just appended, when bytes are kept.
    pub fn store(&mut self, slot: Ppn, unit: Unit) {
        debug_assert!(unit.tag() == self.map.owner(slot).0, "slot {slot} was appended for another page");
        if let Some(contents) = &mut self.contents {
            contents.write(slot.0, unit);
        }
    }

    /// What lies in a slot of a drive that keeps an image of its flash; the tag of parity is the code's sum of owners.
    pub fn image(&self, slot: Ppn) -> Option<&Unit> {
        self.contents.as_ref().and_then(|contents| contents.raw(slot.0))
    }

    /// The unit of a live slot, when bytes are kept.
    pub fn load(&self, slot: Ppn) -> Option<&Unit> {
        self.contents.as_ref().map(|contents| contents.read(slot.0, self.map.owner(slot).0))
    }
}

/// In place of the number of a code: no parity.
const NO_CODE: u8 = u8::MAX;

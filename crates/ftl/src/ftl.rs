//! The translation layer of one flash core.

mod figures;
mod relocation;
mod untimed;

pub use untimed::Full;

use crate::block_table::BlockTable;
use crate::config::FtlConfig;
use crate::layout::Layout;
use crate::policy::NO_CANDIDATE;
use outlast_media::{Blocks, ConfigError, Contents, DefectConfig, Geometry};
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{DieId, Lpn, Ppn, SuperblockId};

/// A write frontier with its own open superblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream(pub u8);

/// Why a unit was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host wrote it.
    Host,
    /// Garbage collection moved it.
    Gc,
    /// Static wear levelling moved it.
    WearLeveling,
}

/// Mapping units written so far, by cause. Their sum is what the flash programmed, or still will from the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitsWritten {
    /// By the host.
    pub host: u64,
    /// Moved by garbage collection.
    pub gc: u64,
    /// Moved by wear levelling.
    pub wear_leveling: u64,
    /// Empty, to fill a program unit that could not wait.
    pub padding: u64,
}

impl UnitsWritten {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.host + self.gc + self.wear_leveling + self.padding
    }
}

/// Pages read so far by relocation without time, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedReads {
    /// By garbage collection.
    pub gc: u64,
    /// By wear levelling.
    pub wear_leveling: u64,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlOptions {
    /// Keep the bytes of live data.
    pub keep_bytes: bool,
    /// Whether a victim is erased only when its data is on flash, not already when it is in the buffer. Each relocating stream
    /// then needs a superblock more: the next victim is begun before the last one is erased.
    pub erases_late: bool,
    /// Seed of factory bad blocks and of random victims.
    pub seed: u64,
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
}

/// The valid slots of a superblock being relocated, kept exact while the host overwrites and trims: relocation then asks this
/// small map instead of the mapping table, which would miss the cache at every unit.
#[derive(Clone, Debug, Default)]
struct Victim {
    superblock: Option<SuperblockId>,
    /// Where its valid units go.
    stream: Stream,
    /// One bit for each slot, counted from the superblock's first.
    valid: Vec<u64>,
}

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
    l2p: Vec<Ppn>,
    p2l: Vec<Lpn>,
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
    pu_programmed: Vec<u64>,
    /// Free superblocks, the one freed longest ago first.
    free: Vec<SuperblockId>,
    frontiers: Vec<Frontier>,
    /// Superblocks being relocated: for each relocating stream one under way and one that waits for its erasure.
    relocating: [Victim; 4],
    blocks: Blocks,
    table: BlockTable,
    endurance: Option<u32>,
    /// Free superblocks held back for each relocating stream.
    held_back: u32,
    contents: Option<Contents>,
    rng: SplitMix,
    clock: u64,
    written: UnitsWritten,
    pus_programmed: u64,
    /// Pages read while relocating without time.
    untimed_reads: UntimedReads,
    victims: u64,
    victim_units: u64,
    retired: u32,
    /// A victim's data had no place to go: superblocks held back for relocation have worn out.
    stuck: bool,
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
        let layout = Layout::new(geometry, config, dies, logical_units)?;
        let FtlOptions { keep_bytes, erases_late, seed } = options;
        if erases_late && layout.pus_per_superblock() < 2 {
            let limit = "without a protected buffer a superblock must take at least two program operations";
            return Err(ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit));
        }
        let seed = mix(seed ^ dies.first().map_or(0, |die| u64::from(die.0)));
        let blocks = Blocks::new(geometry, dies.len() as u16, defects, seed);
        let superblocks = layout.superblocks();
        let table = BlockTable::new(geometry, dies.len() as u16, superblocks, &blocks)?;
        let relocating = 1 + u32::from(config.wear_leveling.static_gap.is_some());
        let streams = usize::from(config.streams) + relocating as usize;
        let mut ftl = Self {
            l2p: vec![Ppn::NONE; layout.logical_units() as usize + 1],
            p2l: vec![Lpn::NONE; layout.slots() as usize],
            valid: vec![NO_CANDIDATE; superblocks as usize],
            sealed_at: vec![0; superblocks as usize],
            sealed_order: vec![0; superblocks as usize],
            seals: 0,
            state: vec![State::Free; superblocks as usize],
            cycles: vec![0; superblocks as usize],
            unprogrammed: vec![0; superblocks as usize],
            pu_programmed: vec![
                0;
                (superblocks as usize * layout.pus_per_superblock() as usize).div_ceil(64)
            ],
            free: (0..superblocks).map(SuperblockId).collect(),
            frontiers: vec![Frontier::default(); streams],
            relocating: Default::default(),
            blocks,
            table,
            endurance: defects.endurance,
            held_back: u32::from(options.erases_late) + 1,
            contents: keep_bytes.then(Contents::default),
            rng: SplitMix::new(seed, "ftl.gc"),
            clock: 0,
            written: UnitsWritten::default(),
            pus_programmed: 0,
            untimed_reads: UntimedReads::default(),
            victims: 0,
            victim_units: 0,
            retired: 0,
            stuck: false,
            config: config.clone(),
            layout,
        };
        if let Some(wanted) = ftl.config.gc.start_free {
            let most = superblocks.saturating_sub(ftl.superblocks_needed()) + ftl.reserve();
            if wanted < ftl.reserve() || wanted > most {
                let limit = format!("must be between {} and {most} superblocks", ftl.reserve());
                return Err(ConfigError::new("device.ftl.gc.start_free", wanted, limit));
            }
        } else {
            ftl.config.gc.start_free = Some(ftl.reserve());
        }
        if superblocks < ftl.superblocks_needed() {
            let data = ftl.superblocks_for_data();
            let over = ftl.superblocks_needed() - data;
            let limit = format!(
                "the user data fills {data} superblocks of {} and {over} more are needed for open and held-back ones, but \
                 the drive has {superblocks}: lower the capacity, or make superblocks smaller (fewer pages to a block)",
                outlast_units::Bytes(u64::from(ftl.layout.units_per_superblock()) * config.mapping_unit.0),
            );
            return Err(ConfigError::new("device.ftl.capacity", config.user_capacity(geometry), limit));
        }
        Ok(ftl)
    }

    fn superblocks_for_data(&self) -> u32 {
        self.layout.logical_units().div_ceil(self.layout.units_per_superblock())
    }

    /// Open superblocks of every stream, held-back ones, victims that wait for their erasure, and one more so that sealed
    /// superblocks hold more slots than the host has units: then some sealed superblock has a stale unit whenever the host
    /// can open none.
    fn superblocks_needed(&self) -> u32 {
        let waiting = self.relocating_streams() * (self.held_back - 1);
        self.superblocks_for_data() + self.frontiers.len() as u32 + self.reserve() + waiting + 1
    }

    fn relocating_streams(&self) -> u32 {
        (self.frontiers.len() - usize::from(self.config.streams)) as u32
    }

    /// Free superblocks held back for relocation.
    pub fn reserve(&self) -> u32 {
        self.relocating_streams() * self.held_back
    }

    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The stream of host data with stream hint `hint`.
    #[inline]
    pub fn host_stream(&self, hint: u8) -> Stream {
        Stream(if self.config.streams == 1 { 0 } else { hint % self.config.streams })
    }
    /// The stream of data moved by garbage collection.
    #[inline]
    pub fn gc_stream(&self) -> Stream {
        Stream(self.config.streams)
    }
    /// The stream of data moved by static wear levelling.
    ///
    /// # Panics
    /// If static wear levelling is off.
    pub fn wear_leveling_stream(&self) -> Stream {
        assert!(self.config.wear_leveling.static_gap.is_some(), "static wear levelling is off");
        Stream(self.config.streams + 1)
    }
    /// Why units of `stream` are written.
    #[inline]
    pub fn cause_of(&self, stream: Stream) -> Cause {
        match stream.0.checked_sub(self.config.streams) {
            None => Cause::Host,
            Some(0) => Cause::Gc,
            Some(_) => Cause::WearLeveling,
        }
    }
    /// Number of streams.
    pub fn streams(&self) -> u8 {
        self.frontiers.len() as u8
    }

    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppn {
        self.l2p[lpn.index()]
    }

    /// The logical page that a slot was written for; it is stale unless [`Ftl::lookup`] leads back.
    #[inline]
    pub fn owner(&self, slot: Ppn) -> Lpn {
        self.p2l[slot.index()]
    }

    /// Whether a slot's program unit is on flash, not still in the buffer.
    #[inline]
    pub fn is_programmed(&self, slot: Ppn) -> bool {
        self.unprogrammed[self.layout.superblock_of(slot).index()] == 0 || {
            let (pu, _) = self.layout.pu_of(slot);
            self.pu_programmed[pu as usize / 64] >> (pu % 64) & 1 == 1
        }
    }

    /// The entry of a logical page that may be none: the table ends with an entry that is always [`Ppn::NONE`].
    #[inline]
    fn l2p_index(&self, lpn: Lpn) -> usize {
        lpn.0.min(self.layout.logical_units()) as usize
    }

    /// Brings the entries of logical pages that will soon be needed into the processor's cache: loads that do not wait for
    /// each other.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        let sum = lpns.fold(0u32, |sum, lpn| sum ^ self.l2p[self.l2p_index(lpn)].0);
        std::hint::black_box(sum);
    }

    /// Whether `stream` can take another unit now.
    #[inline]
    pub fn can_append(&self, stream: Stream) -> bool {
        let frontier = &self.frontiers[usize::from(stream.0)];
        frontier.next != frontier.end || self.may_open(stream)
    }

    fn may_open(&self, stream: Stream) -> bool {
        let held_back = if stream.0 < self.config.streams { self.reserve() as usize } else { 0 };
        self.free.len() > held_back
    }

    /// Puts host data of `lpn` at the frontier of `stream`; the old copy becomes stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit ([`Ftl::can_append`]).
    #[inline]
    pub fn append(&mut self, stream: Stream, lpn: Lpn) -> Slot {
        let slot = self.advance(stream);
        let old = std::mem::replace(&mut self.l2p[lpn.index()], slot.ppn);
        if old.is_some() {
            self.invalidate(old);
        }
        self.p2l[slot.ppn.index()] = lpn;
        self.valid[self.frontiers[usize::from(stream.0)].superblock.index()] += 1;
        self.clock += 1;
        self.written.host += 1;
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
        }
        Slot { ppn, completes_pu }
    }

    #[inline]
    fn invalidate(&mut self, slot: Ppn) {
        let superblock = self.layout.superblock_of(slot);
        let valid = &mut self.valid[superblock.index()];
        *valid -= 1;
        if *valid & NO_CANDIDATE != 0 {
            self.note_stale(superblock, slot);
        }
        if let Some(contents) = &mut self.contents {
            contents.discard(slot.0);
        }
    }

    #[cold]
    fn open(&mut self, stream: Stream) {
        assert!(self.may_open(stream), "stream {} has no free superblock", stream.0);
        let cause = self.cause_of(stream);
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
        let superblock = self.free.remove(pick);
        self.state[superblock.index()] = State::Open;
        let pus = self.layout.pus_per_superblock();
        self.unprogrammed[superblock.index()] = pus;
        clear_bits(&mut self.pu_programmed, superblock.index() * pus as usize, pus as usize);
        let first = self.layout.first_slot(superblock);
        self.frontiers[usize::from(stream.0)] = Frontier {
            next: first,
            pu_end: first + self.layout.units_per_pu(),
            end: first + self.layout.units_per_superblock(),
            superblock,
            promised: false,
        };
    }

    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream) -> Option<u32> {
        let units = self.layout.units_per_pu();
        let frontier = &mut self.frontiers[usize::from(stream.0)];
        let missing = (frontier.pu_end - frontier.next) % units;
        if missing == 0 || frontier.next == frontier.end {
            return None;
        }
        for slot in frontier.next..frontier.pu_end {
            self.p2l[slot as usize] = Lpn::NONE;
        }
        let pu = frontier.next / units;
        frontier.next = frontier.pu_end;
        frontier.pu_end += units;
        self.written.padding += u64::from(missing);
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

    /// Slots left in the open superblock of `stream`.
    #[inline]
    pub fn room(&self, stream: Stream) -> u32 {
        let frontier = &self.frontiers[usize::from(stream.0)];
        frontier.end - frontier.next
    }

    /// Valid units of a superblock.
    #[inline]
    pub fn valid_count(&self, superblock: SuperblockId) -> u32 {
        self.valid[superblock.index()] & !NO_CANDIDATE
    }

    /// Deallocates a logical page; true when there was data.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = std::mem::replace(&mut self.l2p[lpn.index()], Ppn::NONE);
        if old.is_some() {
            self.invalidate(old);
        }
        old.is_some()
    }

    /// Reports that program unit `pu` is on flash.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[inline]
    pub fn programmed(&mut self, pu: u32) {
        let place = self.layout.place(pu);
        let rows = self.layout.rows_per_pu();
        for plane in place.lane.first_plane..place.lane.first_plane + place.lane.planes {
            let block = self.table.block(place.superblock, place.lane.local_die, plane);
            self.blocks.program(block, place.first_page, rows);
        }
        self.pu_programmed[pu as usize / 64] |= 1 << (pu % 64);
        self.pus_programmed += 1;
        let left = &mut self.unprogrammed[place.superblock.index()];
        *left -= 1;
        if *left == 0 {
            self.state[place.superblock.index()] = State::Sealed;
            self.valid[place.superblock.index()] &= !NO_CANDIDATE;
            self.sealed_at[place.superblock.index()] = self.clock;
            self.sealed_order[place.superblock.index()] = self.seals;
            self.seals += 1;
        }
    }

    /// Free superblocks.
    #[inline]
    pub fn free_superblocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Stores the bytes of a unit just appended.
    pub fn store(&mut self, slot: Ppn, bytes: Box<[u8]>) {
        let owner = self.p2l[slot.index()];
        if let Some(contents) = &mut self.contents {
            contents.write(slot.0, owner.0, bytes);
        }
    }

    /// The bytes of a live slot, when bytes are kept.
    pub fn load(&self, slot: Ppn) -> Option<&[u8]> {
        self.contents.as_ref().map(|contents| contents.read(slot.0, self.p2l[slot.index()].0))
    }
}

fn clear_bits(words: &mut [u64], first: usize, count: usize) {
    let mut bit = first;
    let end = first + count;
    while bit < end {
        if bit.is_multiple_of(64) && end - bit >= 64 {
            words[bit / 64] = 0;
            bit += 64;
        } else {
            words[bit / 64] &= !(1 << (bit % 64));
            bit += 1;
        }
    }
}

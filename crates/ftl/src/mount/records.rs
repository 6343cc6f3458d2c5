//! Records of what has been programmed, as flash keeps it.

use super::blocks::{FactoryMarks, RetiredBlock};
use super::checkpoint::MapCheckpoint;
use super::journal::{MapJournal, MapJournalEntry, PageEvent};
use super::rebuild::{newest_on_flash, rebuild};
use super::{MAPPED_BYTES, OWNER_BYTES};
use crate::bits::BitSet;
use crate::layout::SlotLayout;
use outlast_media::Geometry;
use outlast_units::{Bytes, IndexVec, Lpn, Ppn, Pu, Stream, SuperblockId};

/// Header of a superblock: on its first page, and with its list of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct SuperblockHeader {
    /// The stream that opened it.
    pub(crate) stream: Stream,
    /// Number of the event of its opening.
    pub(crate) opened: u64,
    /// Number of the event when all of it had been programmed, and its list of owners was written.
    pub(crate) closed: Option<u64>,
}

/// The records of a flash core.
///
/// Records of a program unit that is not on flash yet are in the controller's memory: a loss of power takes them with the buffer.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct FlashRecords {
    /// Numbers events in their order, from 1 on.
    events: u64,
    /// The logical page of each slot; [`Lpn::NONE`]: none.
    #[persist(each)]
    owners: IndexVec<Ppn, Lpn>,
    /// Number of the event that put the page there.
    #[persist(each)]
    numbers: IndexVec<Ppn, u64>,
    /// Program units that are on flash and can be read.
    programmed: BitSet,
    /// Header of each superblock; absent if it is erased.
    #[persist(each)]
    headers: IndexVec<SuperblockId, Option<SuperblockHeader>>,
    journal: MapJournal,
    /// Blocks that are bad and were not from the factory, in the order in which they were given up.
    retired: Vec<RetiredBlock>,
    #[persist(skip)]
    marks: FactoryMarks,
    checkpoint: Option<Box<MapCheckpoint>>,
    /// Program units between two checkpoints; absent: none is made.
    #[persist(skip)]
    every: Option<u64>,
    since: u64,
    checkpoints: u64,
}

impl FlashRecords {
    /// Records of erased flash. `every`: bytes between two checkpoints; absent: none is made.
    pub(crate) fn new(
        geometry: &Geometry,
        layout: &SlotLayout,
        marks: FactoryMarks,
        every: Option<Bytes>,
    ) -> Self {
        let pu_bytes = u64::from(layout.pages_per_pu()) * geometry.page_size.0;
        let (slots, superblocks) = (layout.slots() as usize, layout.superblocks() as usize);
        Self {
            events: 0,
            owners: IndexVec::filled(Lpn::NONE, slots),
            numbers: IndexVec::filled(0, slots),
            programmed: BitSet::new(superblocks * layout.pus_per_superblock() as usize),
            headers: IndexVec::filled(None, superblocks),
            journal: MapJournal::default(),
            retired: Vec::new(),
            marks,
            checkpoint: None,
            every: every.map(|bytes| bytes.0.div_ceil(pu_bytes)),
            since: 0,
            checkpoints: 0,
        }
    }

    fn next_event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// Records that `stream` has opened `superblock`.
    pub(crate) fn record_opening(&mut self, superblock: SuperblockId, stream: Stream) {
        debug_assert!(self.headers[superblock].is_none(), "superblock {superblock} is opened twice");
        let opened = self.next_event();
        self.headers[superblock] = Some(SuperblockHeader { stream, opened, closed: None });
    }

    /// Records that `superblock` is closed: all of it is on flash, as far as it ever will be.
    pub(crate) fn record_closing(&mut self, superblock: SuperblockId) {
        let closed = self.next_event();
        if let Some(header) = &mut self.headers[superblock] {
            debug_assert!(header.closed.is_none(), "superblock {superblock} is closed twice");
            header.closed = Some(closed);
        }
    }

    /// Records that data of `lpn` has been put into `slot`, on its way to flash.
    pub(crate) fn record_put(&mut self, layout: &SlotLayout, slot: Ppn, lpn: Lpn) {
        debug_assert!(!self.programmed.get(layout.pu_of(slot).0.0), "slot {slot} is on flash already");
        self.owners[slot] = lpn;
        self.numbers[slot] = self.next_event();
    }

    /// Records that program unit `pu` is on flash.
    pub(crate) fn record_programmed(&mut self, pu: Pu) {
        debug_assert!(!self.programmed.get(pu.0), "program unit {pu} is programmed twice");
        self.programmed.set(pu.0);
        self.since += 1;
    }

    /// Drops the records of program unit `pu`, whose units will never be on flash there.
    pub(crate) fn drop_pu(&mut self, layout: &SlotLayout, pu: Pu) {
        if !self.programmed.get(pu.0) {
            let (first, units) = (layout.first_slot_of(pu).index(), layout.units_per_pu() as usize);
            self.owners.as_mut_slice()[first..first + units].fill(Lpn::NONE);
        }
    }

    /// Drops all records that were not on flash: the controller has lost them.
    pub(crate) fn drop_buffered(&mut self, layout: &SlotLayout) {
        for superblock in self.headers.indices() {
            if self.headers[superblock].is_some_and(|header| header.closed.is_none()) {
                for pu in Pu::each(layout.pus_of(superblock)) {
                    self.drop_pu(layout, pu);
                }
            }
        }
    }

    /// Drops the records of `superblock`, which has been erased.
    pub(crate) fn drop_superblock(&mut self, layout: &SlotLayout, superblock: SuperblockId) {
        let (first, units) = (layout.first_slot(superblock).index(), layout.units_per_superblock() as usize);
        self.owners.as_mut_slice()[first..first + units].fill(Lpn::NONE);
        self.programmed.clear_range(layout.pus_of(superblock).start.0, layout.pus_per_superblock());
        self.headers[superblock] = None;
    }

    /// Records blocks that have been retired.
    pub(crate) fn record_retired(&mut self, blocks: &[RetiredBlock]) {
        self.retired.extend_from_slice(blocks);
    }

    /// Records that the host has trimmed `lpn`.
    pub(crate) fn record_trim(&mut self, lpn: Lpn) {
        let at = self.next_event();
        self.journal.append(PageEvent::Trimmed, lpn, at);
    }

    /// Records that the data of `lpn` cannot be read any more.
    pub(crate) fn record_loss(&mut self, lpn: Lpn) {
        let at = self.next_event();
        self.journal.append(PageEvent::Lost, lpn, at);
    }

    /// Makes a checkpoint of `pages` logical pages if one is due, or else clears the journal if it has grown.
    pub(crate) fn tidy(&mut self, layout: &SlotLayout, pages: usize) {
        if self.every.is_some_and(|every| self.since >= every) {
            self.make_checkpoint(layout, pages);
        } else if self.journal.has_grown() {
            self.clear_journal(layout, pages);
        }
    }

    fn make_checkpoint(&mut self, layout: &SlotLayout, pages: usize) {
        let rebuilt = rebuild(self.on_flash(layout), pages, false);
        let at = self.next_event();
        let from = self.on_flash(layout).in_memory().map(|(_, _, number)| number).min().unwrap_or(at);
        self.checkpoint = Some(Box::new(MapCheckpoint::new(at, from, rebuilt)));
        self.journal.clear_but(|_, event| event >= from);
        self.since = 0;
        self.checkpoints += 1;
    }

    /// Clears the journal of events that are not needed. Needed is the last event of a page, unless a newer copy is on flash: without it, an older
    /// copy would count.
    fn clear_journal(&mut self, layout: &SlotLayout, pages: usize) {
        let mut newest = newest_on_flash(self.on_flash(layout), pages);
        for (lpn, at) in self.journal.entries().iter().flat_map(|entry| entry.pages()) {
            newest[lpn.index()] = newest[lpn.index()].max(at);
        }
        self.journal.clear_but(|lpn, at| newest[lpn.index()] == at);
    }

    /// Checkpoints made so far.
    pub(crate) fn checkpoints(&self) -> u64 {
        self.checkpoints
    }

    /// Bytes of the tables of a core with `slots` slots and `pages` logical pages; a checkpoint is as large as it can be.
    pub(crate) fn bytes(slots: u64, pages: u64, every: Option<Bytes>) -> u64 {
        slots * OWNER_BYTES + every.map_or(0, |_| pages * MAPPED_BYTES)
    }

    /// The records on flash.
    pub(crate) fn on_flash<'a>(&'a self, layout: &'a SlotLayout) -> OnFlash<'a> {
        OnFlash { records: self, layout }
    }
}

/// Records that a drive can read when power is back: none has changed since it was programmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnFlash<'a> {
    records: &'a FlashRecords,
    layout: &'a SlotLayout,
}

impl<'a> OnFlash<'a> {
    /// The superblocks.
    pub(crate) fn superblocks(self) -> impl Iterator<Item = SuperblockId> {
        self.records.headers.indices()
    }

    /// The header of a superblock; `None` where it is erased.
    pub(crate) fn header(self, superblock: SuperblockId) -> Option<SuperblockHeader> {
        self.records.headers[superblock]
    }

    /// The superblock of a slot.
    pub(crate) fn superblock_of(self, slot: Ppn) -> SuperblockId {
        self.layout.superblock_of(slot)
    }

    /// The number in the order of writing of the unit in `slot`; `None` where nothing can be read.
    pub(crate) fn number(self, slot: Ppn) -> Option<u64> {
        let is_there = self.records.programmed.get(self.layout.pu_of(slot).0.0);
        (is_there && self.records.owners[slot].is_some()).then(|| self.records.numbers[slot])
    }

    /// Spare areas of a superblock: slots that hold units, their logical pages and their numbers.
    pub(crate) fn spare_areas(self, superblock: SuperblockId) -> impl Iterator<Item = (Ppn, Lpn, u64)> {
        self.units(superblock, true)
    }

    /// The units that the controller has in its memory: where its capacitors have time enough, it writes them to flash when power fails.
    pub(crate) fn in_memory(self) -> impl Iterator<Item = (Ppn, Lpn, u64)> {
        let is_open = move |&at: &SuperblockId| self.header(at).is_some_and(|header| header.closed.is_none());
        self.superblocks().filter(is_open).flat_map(move |superblock| self.units(superblock, false))
    }

    fn units(self, superblock: SuperblockId, on_flash: bool) -> impl Iterator<Item = (Ppn, Lpn, u64)> {
        let is_selected = move |&pu: &Pu| self.records.programmed.get(pu.0) == on_flash;
        let slots = move |pu: Pu| Ppn::each(self.layout.slots_of(pu));
        let pus = Pu::each(self.layout.pus_of(superblock)).filter(is_selected);
        pus.flat_map(slots)
            .map(move |slot| (slot, self.records.owners[slot], self.records.numbers[slot]))
            .filter(|&(_, lpn, _)| lpn.is_some())
    }

    /// The journal.
    pub(crate) fn journal(self) -> &'a [MapJournalEntry] {
        self.records.journal.entries()
    }

    /// The list of blocks that were retired.
    pub(crate) fn retired_blocks(self) -> &'a [RetiredBlock] {
        &self.records.retired
    }

    /// Marks of the factory on blocks.
    pub(crate) fn marks(self) -> &'a FactoryMarks {
        &self.records.marks
    }

    /// The newest checkpoint.
    pub(crate) fn checkpoint(self) -> Option<&'a MapCheckpoint> {
        self.records.checkpoint.as_deref()
    }
}

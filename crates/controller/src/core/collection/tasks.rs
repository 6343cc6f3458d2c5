//! The internal tasks of a flash core: which victims they move, and what they have on its way to flash.

mod ends;
mod restored;
mod room;
mod whole;

use super::victim::{Former, ReadList, Span, TaskVictim, VictimPart};
use crate::op::InternalTask;
use crate::places::place_within;
use outlast_flash::BlockRow;
use outlast_ftl::{Ftl, StreamCause, VictimWork};
use outlast_settings::ftl::GcConfig;
use outlast_units::{LocalDie, Pu, Stream, SuperblockId, count_few, to_count};

/// Work of an internal task that is under way.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct UnderWay {
    victim: Option<TaskVictim>,
    /// The victim before it, if its data is not all on flash.
    former: Option<Former>,
    /// Program operations of the current epoch that have not ended.
    programs: u32,
    /// Counts victims, so that programs of different ones are told apart.
    epoch: u32,
}

/// Garbage collection, wear levelling and scrubbing of one flash core.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Tasks {
    under_way: [UnderWay; InternalTask::COUNT],
    /// Relocated units that are being read or are not on flash, and how many there may be.
    relocating: u32,
    #[persist(fixed)]
    relocating_max: u32,
    /// Units of relocation reads that are further down the recovery ladder than the die that read them.
    recovering: u32,
    /// True if a victim cannot be erased before what superseded its units has left the buffer.
    pinned: bool,
    spare_list: ReadList,
    /// Of the victim of collection.
    work: VictimWork,
    /// How much of a program unit one read takes.
    #[persist(fixed)]
    span: Span,
    /// True if the next victim of a task begins while the last one is erased.
    #[persist(fixed)]
    overlaps: bool,
}

/// The next read of a die for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextRead {
    /// Nothing.
    None,
    /// Something, once relocated data has left the buffer.
    Later,
    /// Program unit `pu` of the core, of which `mask` are valid.
    Read {
        /// The program unit.
        pu: Pu,
        /// Its place on the die.
        place: BlockRow,
        /// Its valid units, a bit each, and their number.
        mask: u64,
        units: u32,
    },
    /// Nothing, as the rest that was listed has become stale; with that the victim has been moved.
    Stale,
}

/// The next step of a task's victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// No step: something is still to be awaited.
    Stays,
    /// The victim is erased; its lanes are counted.
    Erase(SuperblockId),
    /// The same, and it makes way for the next.
    EraseBeside(SuperblockId, Stream),
    /// Not all of it found room: it stays as it is. Another, with less to move, may.
    GivenUp(SuperblockId, Stream),
    /// The victim before it waits for the program unit that this stream has begun, and nothing is sure to fill it.
    Pad(Stream),
    /// The victim, moved to this stream, waits for its data to be on flash, and makes way for the next.
    AwaitsFlash(Stream),
    /// The victim cannot be erased before what superseded its units is on flash.
    Pinned,
}

impl Tasks {
    /// Tasks of a core with translation layer `ftl`, whose fine passes follow coarse ones `distance` program units later; 0: there is one pass.
    pub fn new(ftl: &Ftl, config: &GcConfig, distance: u32) -> Self {
        let (layout, streams) = (ftl.layout(), ftl.streams());
        // Each stream of moved data may have begun a program unit that nothing fills for long.
        let moved = streams.all().filter(|&stream| streams.cause(stream) != StreamCause::Host);
        let moved = to_count(moved.count());
        let begun = moved * (layout.units_per_pu() - 1);
        let superpage = layout.lanes().len() as u32 * layout.units_per_pu();
        Self {
            under_way: Default::default(),
            relocating: 0,
            // Two superpages: one being programmed while the next is read. Beside what is begun there is room for a read.
            // Of each stream, what waits for its fine pass is there, too.
            relocating_max: (2 * superpage).max(begun + 1) + moved * distance * superpage,
            recovering: 0,
            pinned: false,
            spare_list: ReadList::default(),
            work: VictimWork::default(),
            span: Span::of(ftl, config.reads),
            overlaps: config.overlap,
        }
    }

    /// True if `task` moves or erases a victim; one that only waits for its data to be on flash does not count.
    #[inline]
    pub fn runs(&self, task: InternalTask) -> bool {
        self.under_way[task as usize].victim.is_some()
    }

    /// True if any background task runs.
    #[inline]
    pub(crate) fn background_runs(&self) -> bool {
        self.runs(InternalTask::WearLeveling) || self.runs(InternalTask::Scrub)
    }

    /// True if no task has anything under way that will make room.
    pub fn is_idle(&self) -> bool {
        self.under_way.iter().all(|own| own.victim.is_none() && own.former.is_none())
    }

    /// Units that the tasks have on their way, read or not: see [`Tasks::keep_room`].
    pub fn relocating(&self) -> u32 {
        self.relocating
    }

    /// Of these, those whose recovery is under way.
    pub fn recovering(&self) -> u32 {
        self.recovering
    }

    /// The valid units of `part` of `superblock` are to be moved to `stream`; it holds `valid` of them in all. Returns whether any are to
    /// be read.
    pub fn begin(
        &mut self,
        task: InternalTask,
        ftl: &Ftl,
        superblock: SuperblockId,
        stream: Stream,
        part: &VictimPart,
        valid: u32,
    ) -> bool {
        let own = &mut self.under_way[task as usize];
        debug_assert!(own.victim.is_none(), "{task:?} has a victim");
        debug_assert_eq!(
            valid,
            ftl.superblock(superblock).valid(),
            "superblock {superblock} holds something else"
        );
        let mut list = std::mem::take(&mut self.spare_list);
        list.fill(ftl, superblock, part, self.span);
        let has_reads = list.dies_left != 0;
        if task == InternalTask::Gc {
            self.work = VictimWork::new(valid, ftl.stream(stream).room(), ftl.stream(stream).data_units());
        }
        own.victim = Some(TaskVictim {
            superblock,
            stream,
            list,
            units: part.units,
            reads_in_flight: 0,
            erasing: None,
            opens: ftl.stream(stream).is_promised(),
        });
        has_reads
    }

    /// The next read of die `local` for `task`, if it `may_start` now. Room is kept for what is read, and the read is under way, until
    /// [`Tasks::read_ended`].
    #[allow(clippy::inline_always, reason = "once for each read of collection, which is in registers there")]
    #[inline(always)]
    pub(crate) fn next_read(
        &mut self,
        task: InternalTask,
        local: LocalDie,
        ftl: &Ftl,
        may_start: bool,
    ) -> NextRead {
        let Some(victim) = &mut self.under_way[task as usize].victim else { return NextRead::None };
        let mut left = victim.list.of_die(local);
        if !left.has_more() {
            return NextRead::None;
        }
        if self.relocating >= self.relocating_max || !may_start {
            return NextRead::Later;
        }
        let piece = left.take();
        let after = left.peek();
        let (pu, within) = (ftl.layout().pu_at(victim.superblock, piece.pu()), piece.pu());
        let mask = ftl.valid_units(victim.superblock, within) & self.span.at(piece) & victim.units;
        if mask == 0 {
            return self.next_read_after_stale(task, local, ftl);
        }
        debug_assert!(victim.erasing.is_none(), "a victim is read that is being erased");
        victim.reads_in_flight += 1;
        ftl.touch_moving(pu, mask);
        if let Some(next) = after {
            ftl.touch_owners(ftl.layout().pu_at(victim.superblock, next));
        }
        // Room is kept from the start of the read, so that data read always has a place to go.
        let units = count_few(mask);
        self.relocating += units;
        NextRead::Read { pu, place: place_within(ftl, victim.superblock, within), mask, units }
    }

    /// [`Tasks::next_read`] where one may start and the host has overwritten all of the piece that was next. That may have been the last of the
    /// victim.
    #[cold]
    #[inline(never)]
    fn next_read_after_stale(&mut self, task: InternalTask, local: LocalDie, ftl: &Ftl) -> NextRead {
        match self.next_read(task, local, ftl, true) {
            NextRead::None if self.is_moved(task) => NextRead::Stale,
            next => next,
        }
    }

    /// True if die `local` has something to read for `task`.
    pub(crate) fn has_reads(&self, task: InternalTask, local: LocalDie) -> bool {
        self.under_way[task as usize].victim.as_ref().is_some_and(|victim| victim.list.has_more(local))
    }

    /// True if a host write to `stream` leaves room for what the victim of collection still holds, if that goes there, too.
    #[cold]
    pub(crate) fn leaves_room(&self, ftl: &Ftl, stream: Stream) -> bool {
        let victim = self.under_way[InternalTask::Gc as usize].victim.as_ref();
        victim.is_none_or(|victim| {
            victim.stream != stream
                || ftl.space().leaves_room(stream, ftl.superblock(victim.superblock).valid())
        })
    }

    /// The victim of `task`, which is being read, and the stream to which it is moved.
    ///
    /// # Panics
    /// If the task has no victim.
    #[inline]
    pub(crate) fn route(&self, task: InternalTask) -> (SuperblockId, Stream) {
        let victim = self.under_way[task as usize].victim.as_ref().expect("a read belongs to a victim");
        (victim.superblock, victim.stream)
    }

    /// The stream to which the victim of `task`, which is being read, is moved.
    ///
    /// # Panics
    /// If the task has no victim.
    #[inline]
    pub fn stream(&self, task: InternalTask) -> Stream {
        self.under_way[task as usize].victim.as_ref().expect("a read belongs to a victim").stream
    }

    /// A read of `task` has ended and its units are where they go. Only now: until every unit has left, the victim must not be erased.
    /// Returns whether it was the last.
    #[inline]
    pub fn read_ended(&mut self, task: InternalTask) -> bool {
        let Some(victim) = &mut self.under_way[task as usize].victim else { return false };
        debug_assert!(victim.reads_in_flight != 0, "a read of {task:?} ends that did not begin");
        victim.reads_in_flight -= 1;
        victim.is_moved()
    }

    /// The work of collection on its victim.
    #[inline]
    pub fn work(&self) -> VictimWork {
        self.work
    }

    #[inline]
    pub(crate) fn set_work(&mut self, work: VictimWork) {
        self.work = work;
    }

    /// True if all of the victim of `task` has been moved, and erasing has not begun.
    #[inline]
    pub(crate) fn is_moved(&self, task: InternalTask) -> bool {
        self.under_way[task as usize].victim.as_ref().is_some_and(TaskVictim::is_moved)
    }

    /// The epoch of programs of the victim that `task` moves now.
    #[inline]
    pub fn epoch(&self, task: InternalTask) -> u32 {
        self.under_way[task as usize].epoch
    }

    /// A program of `task` with that epoch is handed out.
    #[inline]
    pub(crate) fn program_begins(&mut self, task: InternalTask, epoch: u32) {
        let own = &mut self.under_way[task as usize];
        own.programs += u32::from(own.epoch == epoch);
        if let Some(former) = own.former.as_mut().filter(|former| former.epoch == epoch) {
            former.programs += 1;
        }
    }

    /// The program of `task` with that epoch, of program unit `pu`, has ended.
    #[inline]
    pub(crate) fn program_ended(&mut self, task: InternalTask, epoch: u32, pu: Pu) {
        let own = &mut self.under_way[task as usize];
        if let Some(former) = &mut own.former {
            debug_assert!(former.epoch != epoch || former.programs != 0, "a program of {task:?} ends twice");
            former.programs -= u32::from(former.epoch == epoch);
            former.begun = former.begun.filter(|&begun| begun != pu);
        }
        debug_assert!(
            own.epoch != epoch || own.programs != 0,
            "a program of {task:?} ends that did not begin"
        );
        own.programs -= u32::from(own.epoch == epoch);
    }
}

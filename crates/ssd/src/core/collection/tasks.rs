//! The internal tasks of a flash core: which victims they move, and what they have on its way to flash.

use super::victim::{Former, ReadList, Span, TaskVictim, VictimPart, erased_first, width_of};
use crate::op::InternalTask;
use outlast_ftl::{Ftl, VictimWork};
use outlast_settings::ftl::GcConfig;
use outlast_units::{LaneIndex, LocalDie, Pu, Stream, SuperblockId, count_few};

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
pub(crate) struct Tasks {
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
        /// Its valid units, a bit each.
        mask: u64,
    },
    /// Nothing, as the rest that was listed has become stale; with that the victim has been moved.
    Stale,
}

/// The next step of a task's victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing yet.
    Stays,
    /// The victim is erased; its lanes are counted.
    Erase(SuperblockId),
    /// The same, and it makes way for the next.
    EraseBeside(SuperblockId, Stream),
    /// Not all of it found room: it stays as it is. Another, with less to move, may.
    GivenUp(SuperblockId, Stream),
    /// The victim before it waits for the program unit that this stream has begun, and nothing is sure to fill it.
    Pad(Stream),
    /// The victim waits for its data to be on flash, and makes way for the next.
    AwaitsFlash,
    /// The victim cannot be erased before what superseded its units is on flash.
    Pinned,
}

impl Tasks {
    /// Tasks of a core with translation layer `ftl`.
    pub(crate) fn new(ftl: &Ftl, config: &GcConfig) -> Self {
        let layout = ftl.layout();
        Self {
            under_way: Default::default(),
            relocating: 0,
            // Two superpages: one being programmed while the next is read.
            relocating_max: 2 * layout.lanes().len() as u32 * layout.units_per_pu(),
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
    pub(crate) fn runs(&self, task: InternalTask) -> bool {
        self.under_way[task as usize].victim.is_some()
    }

    /// True if any background task runs.
    #[inline]
    pub(crate) fn background_runs(&self) -> bool {
        self.runs(InternalTask::WearLeveling) || self.runs(InternalTask::Scrub)
    }

    /// True if no task has anything under way that will make room.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.iter().all(|own| own.victim.is_none() && own.former.is_none())
    }

    /// Units that the tasks have on their way, read or not: see [`Tasks::keep_room`].
    pub(crate) fn relocating(&self) -> u32 {
        self.relocating
    }

    /// Of these, those whose recovery is under way.
    pub(crate) fn recovering(&self) -> u32 {
        self.recovering
    }

    /// The valid units of `part` of `superblock` are to be moved to `stream`; it holds `valid` of them in all. Returns whether any are to
    /// be read.
    pub(crate) fn begin(
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
    #[inline]
    pub(crate) fn next_read(
        &mut self,
        task: InternalTask,
        local: LocalDie,
        ftl: &Ftl,
        may_start: bool,
    ) -> NextRead {
        let Some(victim) = &mut self.under_way[task as usize].victim else { return NextRead::None };
        let mut is_stale = false;
        while victim.list.has_more(local) {
            if self.relocating >= self.relocating_max || !may_start {
                return NextRead::Later;
            }
            let piece = victim.list.take(local);
            let within = piece.pu();
            let mask = ftl.valid_units(victim.superblock, within) & self.span.at(piece) & victim.units;
            if mask == 0 {
                // The host has overwritten all of it meanwhile. That may have been the last of the victim.
                is_stale = true;
                continue;
            }
            debug_assert!(victim.erasing.is_none(), "a victim is read that is being erased");
            victim.reads_in_flight += 1;
            ftl.touch_moving(ftl.layout().pu_at(victim.superblock, within), mask);
            if let Some(next) = victim.list.peek(local) {
                ftl.touch_owners(ftl.layout().pu_at(victim.superblock, next));
            }
            // Room is kept from the start of the read, so that data read always has a place to go.
            self.relocating += count_few(mask);
            return NextRead::Read { pu: ftl.layout().pu_at(victim.superblock, within), mask };
        }
        if is_stale && victim.is_moved() { NextRead::Stale } else { NextRead::None }
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
            victim.stream != stream || ftl.leaves_room(stream, ftl.superblock(victim.superblock).valid())
        })
    }

    /// The stream to which the victim of `task`, which is being read, is moved.
    #[inline]
    pub(crate) fn stream(&self, task: InternalTask) -> Stream {
        self.under_way[task as usize].victim.as_ref().expect("a read belongs to a victim").stream
    }

    /// A read of `task` has ended and its units are where they go. Only now: until every unit has left, the victim must not be erased.
    /// Returns whether it was the last.
    #[inline]
    pub(crate) fn read_ended(&mut self, task: InternalTask) -> bool {
        let Some(victim) = &mut self.under_way[task as usize].victim else { return false };
        debug_assert!(victim.reads_in_flight != 0, "a read of {task:?} ends that did not begin");
        victim.reads_in_flight -= 1;
        victim.is_moved()
    }

    /// The work of collection on its victim.
    #[inline]
    pub(crate) fn work(&self) -> VictimWork {
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

    /// A relocated unit takes up room until it is on flash.
    pub(crate) fn keep_room(&mut self, units: u32) {
        self.relocating += units;
    }

    /// `units` units need no room any more.
    #[inline]
    pub(crate) fn leave(&mut self, units: u32) {
        debug_assert!(
            units <= self.relocating,
            "{units} units leave where {} are relocated",
            self.relocating
        );
        self.relocating -= units;
    }

    /// The recovery of `units` units of a relocation read begins.
    pub(crate) fn recovery_begins(&mut self, units: u32) {
        self.recovering += units;
        debug_assert!(self.recovering <= self.relocating, "more units are recovered than relocated");
    }

    /// The recovery of `units` units of a relocation read has ended.
    pub(crate) fn recovery_ended(&mut self, units: u32) {
        debug_assert!(
            units <= self.recovering,
            "{units} units are recovered, {} were to be",
            self.recovering
        );
        self.recovering -= units;
    }

    /// The epoch of programs of the victim that `task` moves now.
    #[inline]
    pub(crate) fn epoch(&self, task: InternalTask) -> u32 {
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

    /// The next step of the victim of `task`: it is erased once its data is out of it, at once where the buffer is `protected`; else when the
    /// data is on flash, until when the victim waits and makes way for the next.
    #[inline]
    pub(crate) fn look_at_victim(&mut self, task: InternalTask, ftl: &Ftl, protected: bool) -> Next {
        match &self.under_way[task as usize].victim {
            Some(victim) if victim.is_moved() => self.victim_is_moved(task, ftl, protected),
            _ => Next::Stays,
        }
    }

    fn victim_is_moved(&mut self, task: InternalTask, ftl: &Ftl, protected: bool) -> Next {
        let own = &mut self.under_way[task as usize];
        let Some(victim) = &mut own.victim else { return Next::Stays };
        debug_assert!(victim.is_moved(), "something of the victim of {task:?} is still to be read");
        let (superblock, stream) = (victim.superblock, victim.stream);
        if ftl.superblock(superblock).valid() != 0 {
            self.spare_list = own.victim.take().map_or_else(ReadList::default, |done| done.list);
            return Next::GivenUp(superblock, stream);
        }
        if protected && self.overlaps {
            if own.former.is_some() {
                // Its erasure ends here.
                return Next::Stays;
            }
            let erasing = Some(erased_first(ftl, superblock, self.overlaps).count() as u32);
            let (programs, epoch) = (own.programs, own.epoch);
            own.former = Some(Former { superblock, epoch, programs, begun: None, erasing });
            (own.programs, own.epoch) = (0, epoch.wrapping_add(1));
            self.spare_list = own.victim.take().map_or_else(ReadList::default, |done| done.list);
            return Next::EraseBeside(superblock, stream);
        }
        let begun = ftl.stream(stream).begun_pu();
        let is_on_flash = own.programs == 0 && own.former.is_none() && begun.is_none();
        if protected || (is_on_flash && ftl.superblock(superblock).may_be_erased()) {
            victim.erasing = Some(erased_first(ftl, superblock, self.overlaps).count() as u32);
            return Next::Erase(superblock);
        }
        match own.former {
            // The victim before this one waits for a program unit that this one's data did not fill either: between them
            // they gain so much that a padded one is little. Or its data went to another stream, which nothing may fill.
            Some(Former { begun: Some(waited), .. })
                if Some(waited) == begun
                    || ftl.superblock(ftl.layout().place(waited).superblock).stream() != stream =>
            {
                Next::Pad(ftl.superblock(ftl.layout().place(waited).superblock).stream())
            }
            // It waits for programs that are under way; their end comes back here.
            Some(_) => Next::Stays,
            None => {
                let (programs, epoch) = (own.programs, own.epoch);
                own.former = Some(Former { superblock, epoch, programs, begun, erasing: None });
                (own.programs, own.epoch) = (0, epoch.wrapping_add(1));
                self.spare_list = own.victim.take().map_or_else(ReadList::default, |done| done.list);
                Next::AwaitsFlash
            }
        }
    }

    /// The next step of the victim of `task` that waits for its data to be on flash.
    #[inline]
    pub(crate) fn look_at_former(&mut self, task: InternalTask, ftl: &Ftl) -> Next {
        let overlaps = self.overlaps;
        match &mut self.under_way[task as usize].former {
            Some(former) if former.is_on_flash() => {
                if ftl.superblock(former.superblock).may_be_erased() {
                    former.erasing = Some(erased_first(ftl, former.superblock, overlaps).count() as u32);
                    Next::Erase(former.superblock)
                } else {
                    self.pinned = true;
                    Next::Pinned
                }
            }
            _ => Next::Stays,
        }
    }

    /// True if a victim cannot be erased before what superseded its units has left the buffer.
    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Data has come to flash: whether victims that were pinned are to be looked at.
    #[inline]
    pub(crate) fn take_pinned(&mut self) -> bool {
        std::mem::take(&mut self.pinned)
    }

    /// The victims that wait for their data to be on flash.
    pub(crate) fn formers(&self) -> impl Iterator<Item = SuperblockId> {
        self.under_way.iter().filter_map(|own| own.former.map(|former| former.superblock))
    }

    /// The lanes of victim `superblock` whose erasure begins first; see [`erased_first`].
    pub(crate) fn erased_first(
        &self,
        ftl: &Ftl,
        superblock: SuperblockId,
    ) -> impl Iterator<Item = LaneIndex> {
        erased_first(ftl, superblock, self.overlaps)
    }

    /// The lane that is erased when `lane` of victim `superblock` has been.
    pub(crate) fn erased_after(
        &self,
        ftl: &Ftl,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) -> Option<LaneIndex> {
        if !self.overlaps {
            return None;
        }
        let width = width_of(ftl, true);
        ftl.superblock(superblock)
            .lanes()
            .find(|next| next.0 > lane.0 && (next.0 - lane.0).is_multiple_of(width))
    }

    /// Superblocks that come back without a gain having been waited for: the victim of collection that is being erased, and one that the stream has
    /// opened for the victim being read.
    pub(crate) fn coming(&self, ftl: &Ftl) -> u32 {
        let UnderWay { victim, former, .. } = &self.under_way[InternalTask::Gc as usize];
        let opened =
            victim.as_ref().is_some_and(|victim| victim.opens && !ftl.stream(victim.stream).is_promised());
        u32::from(opened) + u32::from(former.is_some())
    }

    /// A lane of victim `superblock` of `task` has been erased, or has failed to be, and none follows it; whether no other is left either.
    pub(crate) fn lane_erased(&mut self, task: InternalTask, superblock: SuperblockId) -> bool {
        let own = &mut self.under_way[task as usize];
        let left = match &mut own.former {
            Some(former) if former.superblock == superblock => &mut former.erasing,
            _ => &mut own.victim.as_mut().expect("an erasure belongs to a victim").erasing,
        };
        let left = left.as_mut().expect("an erasure belongs to a victim being erased");
        debug_assert!(*left != 0, "more lanes of superblock {superblock} have been erased than it has");
        *left -= 1;
        *left == 0
    }

    /// The victim `superblock` of `task` has been erased.
    pub(crate) fn erased(&mut self, task: InternalTask, superblock: SuperblockId) {
        let own = &mut self.under_way[task as usize];
        if own.former.take_if(|former| former.superblock == superblock).is_none()
            && let Some(done) = own.victim.take()
        {
            debug_assert!(done.superblock == superblock, "another victim has been erased");
            self.spare_list = done.list;
        }
    }

    /// Power has failed: nothing is under way but the erasures, which [`Tasks::erase_again`] lists. Returns the victims that are abandoned.
    pub(crate) fn forget(&mut self) -> Vec<SuperblockId> {
        let mut abandoned = Vec::new();
        for own in &mut self.under_way {
            if let Some(victim) = own.victim.take_if(|victim| victim.erasing.is_none()) {
                abandoned.push(victim.superblock);
                self.spare_list = victim.list;
            }
            if let Some(former) = own.former.take_if(|former| former.erasing.is_none()) {
                abandoned.push(former.superblock);
            }
            (own.programs, own.epoch) = (0, 0);
        }
        (self.recovering, self.pinned) = (0, false);
        abandoned
    }

    /// After a loss of power, `relocated` relocated units are in the buffer.
    pub(crate) fn hold(&mut self, relocated: u32) {
        self.relocating = relocated;
    }

    /// The victims of `task` whose erasure was under way when power failed: it begins anew, on the lanes that they still have.
    pub(crate) fn erase_again(&mut self, task: InternalTask, ftl: &Ftl) -> Vec<SuperblockId> {
        let overlaps = self.overlaps;
        let own = &mut self.under_way[task as usize];
        let former = own.former.as_mut().map(|former| (former.superblock, &mut former.erasing));
        let victim = own.victim.as_mut().map(|victim| (victim.superblock, &mut victim.erasing));
        let mut again = Vec::new();
        for (superblock, erasing) in former.into_iter().chain(victim) {
            *erasing = Some(erased_first(ftl, superblock, overlaps).count() as u32);
            again.push(superblock);
        }
        again
    }
}

//! Ends of victims: whether one has been moved, what is erased of it when, and what a loss of power leaves of that.

use super::super::victim::{Former, ReadList, erased_first, width_of};
use super::{Next, Tasks, UnderWay};
use crate::op::InternalTask;
use outlast_ftl::Ftl;
use outlast_units::{LaneIndex, Pu, Stream, SuperblockId};

impl Tasks {
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
                Next::AwaitsFlash(stream)
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

    /// The epoch of the programs for which the former victim of `task` waits, and the program unit that it had begun, if all of the victim after it has
    /// been moved.
    pub(crate) fn awaited_programs(&self, task: InternalTask) -> Option<(u32, Option<Pu>)> {
        let former = self.under_way[task as usize].former.as_ref()?;
        (self.is_moved(task) && !former.is_on_flash()).then_some((former.epoch, former.begun))
    }

    /// The stream that has begun the program unit for which the former victim of `task` waits, if no victim follows that may fill it.
    pub(crate) fn begun_for_former(&self, task: InternalTask, ftl: &Ftl) -> Option<Stream> {
        let own = &self.under_way[task as usize];
        let begun = own.former.and_then(|former| former.begun).filter(|_| own.victim.is_none())?;
        let stream = ftl.superblock(ftl.layout().place(begun).superblock).stream();
        (ftl.stream(stream).begun_pu() == Some(begun)).then_some(stream)
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
    pub fn coming(&self, ftl: &Ftl) -> u32 {
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
    pub fn erased(&mut self, task: InternalTask, superblock: SuperblockId) {
        let own = &mut self.under_way[task as usize];
        if own.former.take_if(|former| former.superblock == superblock).is_none()
            && let Some(done) = own.victim.take()
        {
            debug_assert!(done.superblock == superblock, "another victim has been erased");
            self.spare_list = done.list;
        }
    }

    /// Power has failed: nothing is under way but the erasures, which [`Tasks::erase_again`] lists. Returns the victims that are abandoned.
    pub fn forget(&mut self) -> Vec<SuperblockId> {
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
    pub fn hold(&mut self, relocated: u32) {
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

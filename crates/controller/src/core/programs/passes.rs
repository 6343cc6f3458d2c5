//! Data that is awaited comes to flash: program units that are begun, and programs in two passes (decision 0156). What a stream writes last stays between its passes
//! until something follows it; where that is awaited, padding does.

use crate::core::{CoreContext, Due, FlashCore, WaitingWrite};
use crate::op::{InternalTask, OpKind, Purpose};
use outlast_flash::FlashOp;
use outlast_units::{BlockId, DieId, Nanos, Pu, SuperblockId};
use std::collections::BTreeMap;

impl FlashCore {
    /// The coarse pass of program `op` has ended: if nothing more goes to its superblock, no fine pass there waits for something to follow.
    #[cold]
    pub(crate) fn coarse_pass_ended(&mut self, now: Nanos, context: &mut CoreContext, op: &FlashOp<Purpose>) {
        let superblock = self.ftl.layout().place(op.tag.pu).superblock;
        if !self.is_being_filled(superblock) {
            self.close_passes(now, context, superblock);
        }
        if self.buffer.any_waits() {
            self.make_due(context, Due::Admit);
        }
        context.let_waiting_go();
    }

    /// True if the stream that has opened `superblock` goes on to fill it.
    fn is_being_filled(&self, superblock: SuperblockId) -> bool {
        let stream = self.ftl.superblock(superblock).stream();
        self.ftl.stream(stream).open_superblock() == Some(superblock)
    }

    /// Ends what has been submitted of `superblock`: nothing is to follow it.
    pub(crate) fn close_passes(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        if context.flash.passes().are_on() {
            for local in self.dies.indices() {
                self.close_passes_on(now, context, self.dies[local], Some(superblock));
            }
        }
    }

    /// Ends what has been submitted to `die`, or to its blocks in `superblock`: nothing is to follow it.
    pub(crate) fn close_passes_on(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
        superblock: Option<SuperblockId>,
    ) {
        if context.flash.close_passes(die, superblock.map(|superblock| BlockId(superblock.0))) {
            self.wake_of::<false>(now, context, die);
        }
    }

    /// Brings the programs that are `awaited` to their end: padding follows those that nothing else is sure to follow.
    pub(crate) fn end_passes(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        awaited: impl Fn(&Self, &Purpose) -> bool,
    ) {
        if context.flash.passes().are_on() {
            let mut last = BTreeMap::new();
            for (die, op) in context.flash.open_passes() {
                if context.places[die].core == self.id && awaited(self, &op.tag) {
                    let superblock = self.ftl.layout().place(op.tag.pu).superblock;
                    let own = last.entry(superblock).or_insert(op.tag.pu);
                    *own = op.tag.pu.max(*own);
                }
            }
            for (superblock, pu) in last {
                self.pad_after(now, context, superblock, pu);
                self.close_passes(now, context, superblock);
            }
        }
    }

    /// Pads `superblock`, as far as its stream goes on to fill it, until all lanes have what the fine pass of program unit `last` follows.
    #[cold]
    fn pad_after(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId, last: Pu) {
        let lanes = self.ftl.layout().lanes().len() as u32;
        let until = last + lanes * context.flash.passes().distance();
        let stream = self.ftl.superblock(superblock).stream();
        while self.is_being_filled(superblock) && self.ftl.stream(stream).next_pu() <= until {
            let units = self.ftl.stream(stream).begun_units();
            let Some(pu) = self.ftl.pad_next(stream) else { break };
            self.program_in(now, context, stream, pu, units);
            self.program_parity(now, context, stream);
        }
    }

    /// Brings all programs to their end.
    #[cold]
    pub(crate) fn end_all_passes(&mut self, now: Nanos, context: &mut CoreContext) {
        self.end_passes(now, context, |_, _| true);
    }

    /// Brings programs to their end that flushes wait for: of the host, and of relocation where these hold data of the host that moved in.
    pub(crate) fn end_passes_of_host(&mut self, now: Nanos, context: &mut CoreContext) {
        self.end_passes(now, context, |core, tag| {
            tag.kind == OpKind::HostProgram || core.buffer.moved_in(tag.pu).next().is_some()
        });
    }

    /// The victim of `task` has been moved, and the one before it waits for its data to be on flash: what the later one's data did not follow is padded.
    pub(crate) fn end_passes_of_former(&mut self, now: Nanos, context: &mut CoreContext, task: InternalTask) {
        if context.flash.passes().are_on()
            && let Some((epoch, begun)) = self.tasks.awaited_programs(task)
        {
            self.end_passes(now, context, |_, tag| {
                Some(tag.pu) == begun
                    || tag.kind == OpKind::RelocationProgram && tag.task == task && tag.cookie == epoch
            });
        }
    }

    /// A write waits for room, and there is no victim: if no program under way ends by itself, which would ask again, all are brought to their end.
    #[cold]
    pub(crate) fn end_passes_for_room(&mut self, now: Nanos, context: &mut CoreContext) {
        let waits = |write: WaitingWrite| !self.ftl.can_append(write.stream);
        if !context.flash.passes().are_on() || !self.buffer.first_waiting().is_some_and(waits) {
            return;
        }
        let own = |&(die, _): &(DieId, &FlashOp<Purpose>)| context.places[die].core == self.id;
        if context.flash.open_passes().filter(own).count() == context.programs_in_flight(self.id).count() {
            self.end_all_passes(now, context);
        }
    }

    /// A victim cannot be erased before what superseded its units is on flash. Where host writes wait for its space, what they would
    /// have to fill first is padded.
    #[cold]
    pub(crate) fn hurry_pinned(&mut self, now: Nanos, context: &mut CoreContext) {
        if !self.buffer.is_blocked() {
            return;
        }
        self.program_pinned(now, context, None);
    }

    /// Programs what must be on flash before the victims that wait for that can be erased, or `more`.
    #[cold]
    pub(crate) fn program_pinned(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        more: Option<SuperblockId>,
    ) {
        self.program_held(now, context);
        let pinned: Vec<SuperblockId> = self.tasks.formers().chain(more).collect();
        for &superblock in &pinned {
            for stream in self.ftl.streams().all() {
                let ftl = &mut self.ftl;
                let units = ftl.stream(stream).begun_units();
                if !ftl.stream(stream).begun_pins(superblock) {
                    continue;
                }
                let Some(pu) = ftl.pad(stream) else { continue };
                self.program_in(now, context, stream, pu, units);
                self.program_parity(now, context, stream);
            }
        }
        self.end_passes(now, context, |core, tag| {
            pinned.iter().any(|&superblock| core.ftl.pu_pins(tag.pu, superblock))
        });
    }
}

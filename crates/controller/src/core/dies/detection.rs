//! Failed dies: what operations of the core show goes to the detector and the predictor.

use crate::core::{CoreContext, FlashCore};
use crate::op::{Op, OpKind};
use crate::read::units;
use outlast_units::{BlockIndex, CoreId, LaneIndex, Nanos, Row};

impl FlashCore {
    /// A read has ended that did not give its units in `op.failing`.
    #[cold]
    pub(crate) fn note_failed_read(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        if op.kind == OpKind::ProbeRead {
            return;
        }
        debug_assert!(op.failing != 0, "the read of {:?} has given all", op.kind);
        let layout = self.ftl.layout();
        let place = layout.place(op.pu);
        let is_last = context.ladder.retries().all().is_none_or(|all| u32::from(op.step) >= all);
        let (mut broken, mut soft) = (Vec::new(), Vec::new());
        for unit in units(op.failing) {
            for page in layout.pages_of_unit(unit) {
                let (plane, row) = layout.page_place(place, page);
                let block = self.ftl.space().block_index(place.superblock, place.lane.local_die, plane);
                let readable = self.faults.as_ref().is_none_or(|faults| faults.is_readable(block, row));
                if readable { soft.push(block) } else { broken.push(block) }
            }
        }
        // What patrol finds too many errors in can still be read, and so can what has re-reads left.
        let blocks = if !broken.is_empty() {
            broken
        } else if is_last && op.kind != OpKind::PatrolRead {
            soft
        } else {
            return;
        };
        let predictor = context.watch.as_mut().and_then(|watch| watch.predictor.as_mut());
        if let Some(predictor) = predictor {
            predictor.note_uncorrectable(now, place.lane.die, op.failing.count_ones());
            context.call_housekeeping(now);
        }
        context.note_bad(now, self.id, blocks);
    }

    /// A program or an erasure has failed, or its blocks may not be written any more.
    #[cold]
    pub(crate) fn note_failed_write(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        let (Some(faults), Some(_)) = (&self.faults, &context.watch) else { return };
        let place = self.ftl.layout().place(op.pu);
        let planes = place.lane.first_plane..place.lane.first_plane + place.lane.planes;
        let blocks =
            planes.map(|at| self.ftl.space().block_index(place.superblock, place.lane.local_die, at));
        let blocks = blocks.filter(|&block| faults.block_must_retire(block)).collect();
        context.note_bad(now, self.id, blocks);
    }

    /// The first page of a block has been read, or could not be.
    pub(crate) fn probe_read(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        let Some(watch) = &mut context.watch else { return };
        let ftl = &self.ftl;
        let is_bad = |block: BlockIndex| {
            let is_broken = self.faults.as_ref().is_some_and(|faults| !faults.is_readable(block, Row(0)));
            // An empty page has no bits to be wrong; a unit over several pages does not say which of them is.
            let programmed = ftl.space().programmed_rows(block) != 0;
            is_broken || (op.failing != 0 && programmed && ftl.layout().pages_per_unit() == 1)
        };
        watch.detector.probe_ended(ftl.layout().lane_of_pu(op.pu).die, is_bad);
        context.call_housekeeping(now);
    }

    /// The lanes of the core whose data is moved away, or was until their die failed.
    pub(crate) fn leaving_lanes(&self, context: &CoreContext) -> Vec<LaneIndex> {
        let predictor = context.watch.as_ref().and_then(|watch| watch.predictor.as_ref());
        let Some(predictor) = predictor else { return Vec::new() };
        let dies = self.dies.iter_indexed().filter(|&(_, &die)| predictor.is_leaving(die));
        dies.flat_map(|(local, _)| self.ftl.layout().lanes_of_die(local)).copied().collect()
    }
}

impl CoreContext {
    fn note_bad(&mut self, now: Nanos, core: CoreId, blocks: Vec<BlockIndex>) {
        let Some(watch) = &mut self.watch else { return };
        for block in blocks {
            watch.detector.note_bad(core, block);
        }
        self.call_housekeeping(now);
    }
}

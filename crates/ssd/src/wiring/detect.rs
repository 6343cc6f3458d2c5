//! Failed dies: what operations show goes to the detector and the predictor; what they ask for is read, given up, and told to the host.

use crate::health::Detected;
use crate::op::{InternalTask, Op, OpKind};
use crate::read::units;
use crate::repair::RepairRecord;
use crate::ssd::Ssd;
use outlast_device::{Notice, NoticeKind};
use outlast_units::{BlockIndex, CoreId, DieId, LaneIndex, Nanos, PuWithin, Row};

impl Ssd {
    /// A read has ended that did not give its units in `op.failing`.
    #[cold]
    pub(crate) fn note_failed_read(&mut self, now: Nanos, op: &Op) {
        if op.kind == OpKind::ProbeRead {
            return;
        }
        debug_assert!(op.failing != 0, "the read of {:?} has given all", op.kind);
        let core = op.core;
        let state = &self.cores[core];
        let layout = state.ftl.layout();
        let place = layout.place(op.pu);
        let is_last = self.ladder.retries().all().is_none_or(|all| u32::from(op.step) >= all);
        let (mut broken, mut soft) = (Vec::new(), Vec::new());
        for unit in units(op.failing) {
            for page in layout.pages_of_unit(unit) {
                let (plane, row) = layout.page_place(place, page);
                let block = state.ftl.block_index(place.superblock, place.lane.local_die, plane);
                let readable = state.faults.as_ref().is_none_or(|faults| faults.is_readable(block, row));
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
        let predictor = self.watch.as_mut().and_then(|watch| watch.predictor.as_mut());
        if let Some(predictor) = predictor {
            predictor.note_uncorrectable(now, place.lane.die, op.failing.count_ones());
            self.call_housekeeping(now);
        }
        self.note_bad(now, core, blocks);
    }

    /// A program or an erasure has failed, or its blocks may not be written any more.
    #[cold]
    pub(crate) fn note_failed_write(&mut self, now: Nanos, op: &Op) {
        let core = op.core;
        let state = &self.cores[core];
        let (Some(faults), Some(_)) = (&state.faults, &self.watch) else { return };
        let place = state.ftl.layout().place(op.pu);
        let planes = place.lane.first_plane..place.lane.first_plane + place.lane.planes;
        let blocks = planes.map(|at| state.ftl.block_index(place.superblock, place.lane.local_die, at));
        let blocks = blocks.filter(|&block| faults.block_must_retire(block)).collect();
        self.note_bad(now, core, blocks);
    }

    fn note_bad(&mut self, now: Nanos, core: CoreId, blocks: Vec<BlockIndex>) {
        let Some(watch) = &mut self.watch else { return };
        for block in blocks {
            watch.detector.note_bad(core, block);
        }
        self.call_housekeeping(now);
    }

    /// Everything that detector and predictor have to do by now.
    pub(crate) fn watch_dies(&mut self, now: Nanos) {
        let Some(watch) = &mut self.watch else { return };
        watch.detector.begin_round();
        while let Some(asked) = self.next_detected(now) {
            match asked {
                Detected::Probe(die, block) => self.start_probe(now, die, block),
                Detected::Failed(die) => self.record_failure(now, die),
            }
        }
        while let Some(die) = self.next_expected(now) {
            self.notices.push_back(Notice { at: now, kind: NoticeKind::DieFailing { die: die.0 } });
            self.evacuate(now, die);
        }
    }

    fn next_detected(&mut self, now: Nanos) -> Option<Detected> {
        let (cores, places) = (&self.cores, &self.places);
        let in_use =
            |die: DieId, block: BlockIndex| cores[places[die].core].ftl.superblock_of_block(block).is_some();
        self.watch.as_mut()?.detector.next(now, in_use)
    }

    fn next_expected(&mut self, now: Nanos) -> Option<DieId> {
        let watch = self.watch.as_mut()?;
        let detector = &watch.detector;
        let bad_blocks = |die| (!detector.has_failed(die)).then(|| detector.bad_blocks(die));
        watch.predictor.as_mut()?.next(now, bad_blocks)
    }

    /// Reads the first page of a block, whatever it holds.
    fn start_probe(&mut self, now: Nanos, die: DieId, block: BlockIndex) {
        let (core, local) = self.core_of_die(die);
        let ftl = &self.cores[core].ftl;
        let layout = ftl.layout();
        let plane = ftl.blocks().address(block).plane;
        let lanes = layout.lanes_of_die(local).iter().map(|&lane| (lane, layout.lanes()[lane]));
        let mut holding =
            lanes.filter(|(_, lane)| (lane.first_plane..lane.first_plane + lane.planes).contains(&plane));
        let (lane, of_lane) = holding.next().expect("the lanes of a die cover its planes");
        let superblock = ftl.superblock_of_block(block).expect("only blocks in use are probed");
        let page = u32::from(plane - of_lane.first_plane);
        let on_page = |&unit: &u32| layout.pages_of_unit(unit).contains(&page);
        let mask = (0..layout.units_per_pu()).filter(on_page).fold(0u64, |mask, unit| mask | 1 << unit);
        debug_assert!(mask != 0, "some unit lies on the first page of every block");
        let pu = layout.pu_at(superblock, PuWithin(lane.0));
        let op = Op::new(OpKind::ProbeRead, InternalTask::Gc, core, pu);
        self.queue_read(now, Op { units: mask.count_ones() as u16, mask, ..op });
    }

    /// The first page of a block has been read, or could not be.
    pub(crate) fn probe_read(&mut self, now: Nanos, op: &Op) {
        let Some(watch) = &mut self.watch else { return };
        let state = &self.cores[op.core];
        let ftl = &state.ftl;
        let is_bad = |block: BlockIndex| {
            let is_broken = state.faults.as_ref().is_some_and(|faults| !faults.is_readable(block, Row(0)));
            // An empty page has no bits to be wrong; a unit over several pages does not say which of them is.
            let programmed = ftl.programmed_rows(block) != 0;
            is_broken || (op.failing != 0 && programmed && ftl.layout().pages_per_unit() == 1)
        };
        watch.detector.probe_ended(ftl.layout().lane_of_pu(op.pu).die, is_bad);
        self.call_housekeeping(now);
    }

    /// Die `die` has failed, as far as firmware knows: it is recorded, given up, and repaired.
    fn record_failure(&mut self, now: Nanos, die: DieId) {
        let (core, local) = self.core_of_die(die);
        let failed_units = self.failed_units(die.0);
        let space_utilisation = self.space_utilisation();
        let Some(watch) = &mut self.watch else { return };
        if let Some(before) = watch.records.last_mut() {
            before.space_utilisation = space_utilisation;
        }
        assert!(watch.detector.has_failed(die), "die {die} is recorded as failed before it is known to be");
        let finding = watch.detector.finding(die);
        watch.records.push(RepairRecord {
            die: die.0,
            core: core.0,
            failed_at: finding.broken_at,
            first_bad_at: finding.first_bad_at,
            detected_at: now,
            bad_blocks: finding.bad_blocks,
            probes: finding.probes,
            failed_units,
            ..RepairRecord::default()
        });
        self.give_up(now, core, local, None);
        self.repair_die(now, die);
    }

    /// Die `die`, which is expected to fail, takes no more data, and what it holds is moved away, if its core has room without it.
    fn evacuate(&mut self, now: Nanos, die: DieId) {
        let (core, local) = self.core_of_die(die);
        let ftl = &self.cores[core].ftl;
        if !ftl.space().could_hold(ftl.space().logical_units(), Some(local)) {
            return;
        }
        if let Some(predictor) = self.watch.as_mut().and_then(|watch| watch.predictor.as_mut()) {
            predictor.leave(die);
        }
        self.give_up(now, core, local, None);
    }

    /// The lanes of core `core` whose data is moved away, or was until their die failed.
    pub(crate) fn leaving_lanes(&self, core: CoreId) -> Vec<LaneIndex> {
        let predictor = self.watch.as_ref().and_then(|watch| watch.predictor.as_ref());
        let Some(predictor) = predictor else { return Vec::new() };
        let state = &self.cores[core];
        let dies = state.dies.iter_indexed().filter(|&(_, &die)| predictor.is_leaving(die));
        dies.flat_map(|(local, _)| state.ftl.layout().lanes_of_die(local)).copied().collect()
    }

    /// Firmware looks at every die at once, without time: for drives that are used without it, where nothing would ever be noticed.
    pub fn detect_untimed(&mut self, now: Nanos) {
        for die in self.places.indices() {
            let (core, local) = self.core_of_die(die);
            let faults = self.cores[core].faults.as_ref();
            let is_dead = faults.is_some_and(|faults| faults.die_is_dead(local));
            let Some(watch) = &mut self.watch else { return };
            if is_dead && !watch.detector.has_failed(die) {
                watch.detector.declare(die);
                self.record_failure(now, die);
                self.settle(now);
            }
        }
    }
}

//! Dies that have failed, or are expected to: the drive probes them, gives them up, and tells the host.

use crate::ssd::Ssd;
use outlast_controller::{Detected, RepairRecord};
use outlast_device::{Notice, NoticeKind};
use outlast_units::{BlockIndex, DieId, Nanos, PuWithin};

impl Ssd {
    /// Everything that detector and predictor have to do by now.
    pub(crate) fn watch_dies(&mut self, now: Nanos) {
        let Some(watch) = &mut self.context.watch else { return };
        watch.detector.begin_round();
        loop {
            let (cores, places) = (&self.cores, &self.context.places);
            let in_use = |die: DieId, block: BlockIndex| {
                cores[places[die].core].ftl().space().superblock_of_block(block).is_some()
            };
            let detector = self.context.watch.as_mut().map(|watch| &mut watch.detector);
            match detector.and_then(|detector| detector.next(now, in_use)) {
                Some(Detected::Probe(die, block)) => self.start_probe(now, die, block),
                Some(Detected::Failed(die)) => self.record_failure(now, die),
                None => break,
            }
        }
        while let Some(die) = self.context.watch.as_mut().and_then(|watch| watch.next_expected(now)) {
            self.notices.push_back(Notice { at: now, kind: NoticeKind::DieFailing { die: die.0 } });
            self.evacuate(now, die);
        }
    }

    /// Reads the first page of a block, whatever it holds.
    fn start_probe(&mut self, now: Nanos, die: DieId, block: BlockIndex) {
        let (core, local) = self.context.core_of_die(die);
        let ftl = self.cores[core].ftl();
        let layout = ftl.layout();
        let plane = ftl.space().blocks().address(block).plane;
        let lanes = layout.lanes_of_die(local).iter().map(|&lane| (lane, layout.lanes()[lane]));
        let mut holding =
            lanes.filter(|(_, lane)| (lane.first_plane..lane.first_plane + lane.planes).contains(&plane));
        let (lane, of_lane) = holding.next().expect("the lanes of a die cover its planes");
        let superblock = ftl.space().superblock_of_block(block).expect("only blocks in use are probed");
        let page = u32::from(plane - of_lane.first_plane);
        let on_page = |&unit: &u32| layout.pages_of_unit(unit).contains(&page);
        let mask = (0..layout.units_per_pu()).filter(on_page).fold(0u64, |mask, unit| mask | 1 << unit);
        debug_assert!(mask != 0, "some unit lies on the first page of every block");
        let pu = layout.pu_at(superblock, PuWithin(lane.0));
        self.cores[core].queue_probe_read(now, &mut self.context, pu, mask);
    }

    /// Die `die` has failed, as far as firmware knows: it is recorded, given up, and repaired.
    fn record_failure(&mut self, now: Nanos, die: DieId) {
        let (core, local) = self.context.core_of_die(die);
        let failed_units = self.failed_units(die.0);
        let space_utilisation = self.space_utilisation();
        let Some(watch) = &mut self.context.watch else { return };
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
        let (core, local) = self.context.core_of_die(die);
        let ftl = self.cores[core].ftl();
        if !ftl.space().could_hold(ftl.space().logical_units(), Some(local)) {
            return;
        }
        if let Some(predictor) = self.context.watch.as_mut().and_then(|watch| watch.predictor.as_mut()) {
            predictor.leave(die);
        }
        self.give_up(now, core, local, None);
    }

    /// Firmware looks at every die at once, without time: for drives that are used without it, where nothing would ever be noticed.
    pub fn detect_untimed(&mut self, now: Nanos) {
        for die in self.context.places.indices() {
            let (core, local) = self.context.core_of_die(die);
            let faults = self.cores[core].faults();
            let is_dead = faults.is_some_and(|faults| faults.die_is_dead(local));
            let Some(watch) = &mut self.context.watch else { return };
            if is_dead && !watch.detector.has_failed(die) {
                watch.detector.declare(die);
                self.record_failure(now, die);
                self.settle(now);
            }
        }
    }
}

//! Housekeeping: the drive carries out what the parts of its health ask for when their time has come.

use crate::health::{Change, FaultEvent};
use crate::ssd::Ssd;
use outlast_device::PlacementId;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::ChangeConfig;
use outlast_units::{DieId, Nanos};

impl Ssd {
    /// The time for housekeeping has come.
    pub(crate) fn house_event(&mut self, now: Nanos) {
        self.context.begin_housekeeping();
        self.let_in(now);
        self.break_what_is_due(now);
        while let Some(change) = self.changes.due(now) {
            self.make_change(now, change);
        }
        debug_assert!(self.schedule.next().min(self.changes.next()) > now, "all that was due has been done");
        self.watch_dies(now);
        self.begin_late_flush(now);
        self.settle(now);
        let mut next = self.schedule.next().min(self.changes.next());
        next = next.min(self.context.commands.late.next()).min(self.host.opens_at());
        next =
            next.min(self.call_map_flushes(now)).min(self.fold_in_idle_time(now)).min(self.watch_heat(now));
        next = next.min(self.limit_units(now));
        for core in self.cores.indices() {
            next = next
                .min(self.cores[core].scrub_what_is_due(now, &mut self.context))
                .min(self.cores[core].cover_what_is_due(now, &mut self.context));
            next = next.min(self.cores[core].pace_what_is_due(now, &mut self.context));
            self.settle(now);
        }
        // Nothing is due twice at one time, or the clock would stand still.
        self.context.call_housekeeping(next.max(Nanos(now.0 + 1)));
    }

    /// Has `faults` happen at their times.
    pub fn schedule_faults(&mut self, faults: &[(Nanos, DriveFault)]) {
        if faults.is_empty() {
            return;
        }
        if faults.iter().any(|(_, fault)| !matches!(fault.damage, DieDamage::Power(_))) {
            self.expect_faults();
        }
        self.schedule.schedule(faults);
        self.context.call_housekeeping(self.schedule.next());
    }

    /// Has the data on flash become older by `by` at time `at`, as if the drive had lain there; nothing else takes time.
    pub fn schedule_ageing(&mut self, at: Nanos, by: Nanos) {
        self.schedule.schedule_leap(at, by);
        self.context.call_housekeeping(self.schedule.next());
    }

    fn break_what_is_due(&mut self, now: Nanos) {
        while let Some(event) = self.schedule.due(now) {
            match event {
                FaultEvent::Break(fault) => self.inject(now, fault),
                // Alarms and timers were set for younger data.
                FaultEvent::Aged(by) => {
                    self.context.aged += by;
                    self.begin_scrub(now);
                }
            }
        }
    }

    /// Has `changes` made when they are due.
    pub fn schedule_changes(&mut self, changes: &[ChangeConfig]) {
        self.changes.schedule(changes);
        self.context.awaits_state = self.changes.waits_for_state();
        self.context.call_housekeeping(self.changes.next());
    }

    /// Has the handle of `identifier` refer to an empty reclaim unit, as the host commands. Does nothing without handles.
    pub fn update_handle(&mut self, now: Nanos, identifier: PlacementId) {
        self.handles.update(now, (&mut self.cores, &mut self.context), identifier);
        // Which settles; nothing else is due before its time.
        self.house_event(now);
    }

    /// Changes that were due, made or refused.
    pub fn changes(&self) -> &[Change] {
        self.changes.done()
    }

    #[cold]
    pub(crate) fn change_by_state(&mut self, now: Nanos) {
        let worn = self.cores.iter().map(|core| core.ftl().space().blocks().max_cycles()).max().unwrap_or(0);
        let errors =
            self.at_reset.errors + self.context.counters.medium_errors + self.context.counters.lost_units;
        while let Some(change) = self.changes.due_by_state(worn, errors) {
            self.make_change(now, change);
        }
        self.context.awaits_state = self.changes.waits_for_state();
    }

    fn make_change(&mut self, now: Nanos, asked: ChangeConfig) {
        let result = if !asked.update_handles.is_empty() {
            for &identifier in &asked.update_handles {
                let parts = (&mut self.cores, &mut self.context);
                self.handles.update(now, parts, PlacementId(identifier));
            }
            Ok(())
        } else if asked.dies.is_empty() {
            let code = asked.code(self.code(asked.class));
            self.change_code(now, asked.class, code)
        } else {
            asked.dies.iter().try_for_each(|&die| self.join_die(now, DieId(die)))
        };
        let refused = result.err().map(|error| error.to_string());
        self.changes.note(Change { at: now, asked, refused });
    }
}

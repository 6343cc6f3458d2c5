//! Redirection after a die has failed: room is made in other cores, and writes that wait in one core go to another.

use crate::ssd::Ssd;
use outlast_controller::{Due, Prospects, Redirection, UnitHomes, UnitWork, WaitingWrite};
use outlast_device::{Notice, NoticeKind};
use outlast_media::ConfigError;
use outlast_settings::drive::{Migration, RepairScheme};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, IndexVec, LocalDie, Lpn, Nanos};

impl Ssd {
    /// The unit that lives at (`core`, `lpn`) has been trimmed there. Returns the core in which a former copy is out of date now.
    #[cold]
    pub(crate) fn trimmed_at(&mut self, core: CoreId, lpn: Lpn) -> Option<CoreId> {
        if self.context.groups().is_none() {
            return self.drop_former(core, lpn);
        }
        self.leave_group(core, lpn);
        None
    }

    /// The unit that lives at (`core`, `lpn`) has been written or trimmed there: what its former place holds is out of date.
    #[cold]
    pub(crate) fn drop_former(&mut self, core: CoreId, lpn: Lpn) -> Option<CoreId> {
        let former = self.context.former_core_of(self.context.unit_at(core, lpn));
        (former != (core, lpn) && self.cores[former.0].ftl_mut().trim(former.1)).then_some(former.0)
    }

    /// [`Ssd::drop_former`] with what follows from it.
    #[cold]
    pub(crate) fn drop_superseded(&mut self, core: CoreId, lpn: Lpn) {
        if let Some(former) = self.drop_former(core, lpn) {
            self.cores[former].make_due(&mut self.context, Due::Collect);
        }
    }

    /// Die `die` has failed, as far as its core's translation layer is concerned: the host is told, and room is made.
    pub(crate) fn repair_die(&mut self, now: Nanos, die: DieId) {
        if self.context.config.repair.is_none() {
            return;
        }
        self.notices.push_back(Notice { at: now, kind: NoticeKind::DieFailed { die: die.0 } });
        self.adjust_space(now, die);
        self.note_prospects(now, die);
    }

    /// Die `die` has failed and its core has given it up: where the scheme is cooperative, a part of the core's units goes to the other
    /// cores. Once for each die. Nothing changes where that would leave some core too little room; then all depends on whether the core
    /// can go on alone ([`Ssd::prospects`]).
    pub(crate) fn adjust_space(&mut self, now: Nanos, die: DieId) {
        let Some(repair) = &self.context.config.repair else { return };
        let moves_itself = repair.migration == Migration::Device;
        if repair.scheme != RepairScheme::Cooperative || !self.context.note_adjusted(die) {
            return;
        }
        let (victim, _) = self.context.core_of_die(die);
        let Some(next) = self.redirected_once_more(victim, None) else { return };
        let held: u64 = self.cores.indices().map(|core| next.logical(core)).sum();
        assert!(
            held == self.context.size.units,
            "the cores are to hold {held} units of {}",
            self.context.size.units
        );
        for (index, core) in self.cores.iter_mut_indexed() {
            core.ftl_mut().set_logical(u64::from(next.end(index)), next.logical(index));
        }
        assert!(
            self.cores.iter().map(|core| core.ftl().space().logical_units()).sum::<u64>()
                == self.context.size.units,
            "the cores make room for all {} units",
            self.context.size.units
        );
        self.context.homes = Some(Box::new(UnitHomes::Redirected(next)));
        // Writes that wait for room in the victim may have room where they belong now.
        let waiting = self.cores[victim].take_waiting();
        for write in waiting {
            if let Some((core, work)) = self.directory().rerouted(victim, write.work) {
                self.cores[victim].note_waited(now, &mut self.context, &write.work);
                self.queue_write(now, core, WaitingWrite { work: UnitWork { story: NIL, ..work }, ..write });
            } else {
                self.cores[victim].wait_again(write);
            }
        }
        self.cores[victim].make_due(&mut self.context, Due::Admit);
        if moves_itself {
            self.context.moves.begin(victim);
            self.context.look_at_commands();
        }
    }

    /// Dies that failed and were repaired before there was any data: they are left out, and where the scheme is cooperative their core has
    /// fewer units from the start.
    ///
    /// # Errors
    /// A die whose failure leaves too little room.
    pub(crate) fn begin_repaired(&mut self) -> Result<(), ConfigError> {
        let dies =
            self.context.config.repair.as_ref().map_or_else(Vec::new, |repair| repair.repaired_dies.clone());
        for (index, &die) in dies.iter().enumerate() {
            let (core, local) = self.context.core_of_die(DieId(die));
            self.cores[core].ftl_mut().give_up_die(local, None);
            self.adjust_space(Nanos::ZERO, DieId(die));
            if self.prospects() == Prospects::Beyond {
                let limit = "leaves too little room for the data";
                return Err(ConfigError::new(&format!("device.repair.repaired_dies[{index}]"), die, limit));
            }
        }
        Ok(())
    }

    /// How units would be redirected after one more failure on core `victim`, `die` being the one that fails where it has not yet;
    /// `None` where that cannot be, or leaves some core too little room.
    pub(crate) fn redirected_once_more(&self, victim: CoreId, die: Option<LocalDie>) -> Option<Redirection> {
        let dies = (self.context.places.len() - self.context.config.absent_dies.len()) as u32;
        let beside = |core: CoreId| self.cores[core].ftl().map_pages();
        let none = || Redirection::new(self.context.size.units, self.cores.len() as u32, dies, beside);
        let mut next = self.context.redirection().map_or_else(none, Redirection::clone);
        let fits = |core: CoreId, next: &Redirection| {
            let without = die.filter(|_| core == victim);
            self.cores[core].ftl().space().could_hold(next.logical(core), without)
        };
        (next.take_window(victim) && self.cores.indices().all(|core| fits(core, &next))).then_some(next)
    }

    /// Checks that every unit has one home, that no page is used by two, and that no unit has data in two places.
    pub(crate) fn check_redirection(&self) -> Result<(), String> {
        let Some(redirection) = self.context.redirection() else { return Ok(()) };
        let ends: IndexVec<CoreId, u64> =
            self.cores.indices().map(|core| u64::from(redirection.end(core))).collect();
        let mut seen: IndexVec<CoreId, Vec<bool>> =
            ends.iter().map(|&end| vec![false; end as usize]).collect();
        let mut held: IndexVec<CoreId, u64> = IndexVec::filled(0, self.cores.len());
        for unit in 0..self.context.size.units {
            let (home, former) = (self.context.core_of(unit), self.context.former_core_of(unit));
            let used = seen[home.0].get_mut(home.1.index());
            if used.is_none_or(|used| std::mem::replace(used, true)) {
                return Err(format!("unit {unit} lives at {home:?}, which is another's or does not exist"));
            }
            if self.context.unit_at(home.0, home.1) != unit
                || self.context.unit_at(former.0, former.1) != unit
            {
                return Err(format!("unit {unit} lives at {home:?}, which leads back elsewhere"));
            }
            held[home.0] += 1;
            let holds = |place: (CoreId, Lpn)| {
                let ftl = self.cores[place.0].ftl();
                ftl.lookup(place.1).is_some() || ftl.is_lost(place.1)
            };
            if home != former && holds(home) && holds(former) {
                return Err(format!("unit {unit} has data at {home:?} and at {former:?}"));
            }
        }
        for (index, core) in self.cores.iter_indexed() {
            let (mapped, units) = (core.ftl().mapped_pages(), core.ftl().space().logical_units());
            if (mapped, units) != (ends[index], held[index]) {
                return Err(format!(
                    "core {index} maps {mapped} pages for {units} units; it is to map {} for {}",
                    ends[index], held[index]
                ));
            }
        }
        Ok(())
    }
}

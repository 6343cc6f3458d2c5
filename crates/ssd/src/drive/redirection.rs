//! Redirection: where units live after a die has failed, and whether there is room. This takes the whole drive: a unit moves from one core
//! to another, and writes that wait in one core go to the other.

use crate::core::{Due, WaitingWrite};
use crate::op::UnitWork;
use crate::repair::{Prospects, Redirection};
use crate::ssd::Ssd;
use outlast_device::{Notice, NoticeKind, Op as HostOp};
use outlast_ftl::{FtlFigures, ProgramCause, UnitsWritten};
use outlast_media::ConfigError;
use outlast_settings::drive::{Migration, RepairScheme};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, IndexVec, LocalDie, Lpn, Nanos};

impl Ssd {
    /// The place of the data of unit `unit`: at its home, unless it was written before it was redirected and not since. Of a unit without
    /// data, its home.
    #[inline]
    pub(crate) fn place_of(&self, unit: u64) -> (CoreId, Lpn) {
        let home = self.context.core_of(unit);
        if self.context.redirection.is_some() { self.place_of_redirected(unit, home) } else { home }
    }

    #[inline(never)]
    fn place_of_redirected(&self, unit: u64, home: (CoreId, Lpn)) -> (CoreId, Lpn) {
        debug_assert!(self.context.redirection.is_some(), "without redirection units are at home");
        let former = self.context.former_core_of(unit);
        let ftl = self.cores[former.0].ftl();
        let is_there = ftl.lookup(former.1).is_some() || ftl.is_lost(former.1);
        if is_there { former } else { home }
    }

    /// The former place of a unit whose data can still be read there, though it is to live elsewhere: what Reparo calls a fake failure.
    /// `None` also where that data is gone, since then the failure is a real one.
    pub(crate) fn left_behind(&self, unit: u64) -> Option<(CoreId, Lpn)> {
        self.context.redirection.as_ref()?;
        let place = self.place_of(unit);
        let is_left = place != self.context.core_of(unit) && !self.cores[place.0].ftl().is_gone(place.1);
        is_left.then_some((place.0, place.1))
    }

    /// Units whose data lies in a core that they do not belong to any more. In time proportional to the units redirected.
    pub fn left_behind_units(&self) -> impl Iterator<Item = u64> {
        let victims = self.context.redirection.iter().flat_map(move |redirection| {
            self.cores.indices().flat_map(move |victim| {
                redirection.redirected(victim, 0).map(move |number| self.context.unit_at(victim, number))
            })
        });
        victims.filter(|&unit| self.left_behind(unit).is_some())
    }

    /// The address beyond the host's by which Reparo calls the place of a unit that lives in another core than its own (`_60` in its Figure
    /// 8), in units; `None` of all others. Address `a` is number `⌊a / N⌋` of core `a mod N`, as everywhere.
    pub fn extended_address(&self, unit: u64) -> Option<u64> {
        let home = self.context.core_of(unit);
        let is_redirected = home != self.context.former_core_of(unit);
        is_redirected.then(|| u64::from(home.1.0) * self.cores.len() as u64 + u64::from(home.0.0))
    }

    /// The place where work on a unit is to be done, if not at (`core`, `work.lpn`): the unit has been redirected, or its data has moved, since.
    #[cold]
    pub(crate) fn rerouted(&self, core: CoreId, work: UnitWork) -> Option<(CoreId, UnitWork)> {
        let unit = self.context.unit_at(core, work.lpn);
        let is_read = self.context.host.requests.command(work.request).op == HostOp::Read;
        let place = if is_read { self.place_of(unit) } else { self.context.core_of(unit) };
        (place != (core, work.lpn)).then_some((place.0, UnitWork { lpn: place.1, ..work }))
    }

    /// The place of the data that a partial write of `work` at its home completes.
    #[inline]
    pub(crate) fn holder_of_rest(&self, core: CoreId, work: UnitWork) -> (CoreId, UnitWork) {
        if self.context.redirection.is_none() {
            return (core, work);
        }
        let place = self.place_of(self.context.unit_at(core, work.lpn));
        (place.0, UnitWork { lpn: place.1, ..work })
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
        if repair.scheme != RepairScheme::Cooperative || self.context.adjusted.contains(&die) {
            return;
        }
        self.context.adjusted.push(die);
        let moves_itself = repair.migration == Migration::Device;
        let (victim, _) = self.core_of_die(die);
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
        self.context.redirection = Some(Box::new(next));
        // Writes that wait for room in the victim may have room where they belong now.
        let waiting = self.cores[victim].take_waiting();
        for write in waiting {
            if let Some((core, work)) = self.rerouted(victim, write.work) {
                self.cores[victim].note_waited(now, &mut self.context, &write.work);
                self.queue_write(now, core, WaitingWrite { work: UnitWork { story: NIL, ..work }, ..write });
            } else {
                self.cores[victim].wait_again(write);
            }
        }
        self.cores[victim].make_due(&mut self.context, Due::Admit);
        if moves_itself {
            self.context.moves.begin(victim);
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
            let (core, local) = self.core_of_die(DieId(die));
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
        let mut next = self.context.redirection.as_deref().map_or_else(none, Redirection::clone);
        let fits = |core: CoreId, next: &Redirection| {
            let without = die.filter(|_| core == victim);
            self.cores[core].ftl().space().could_hold(next.logical(core), without)
        };
        (next.take_window(victim) && self.cores.indices().all(|core| fits(core, &next))).then_some(next)
    }

    /// Each core's space utilisation (`U_i` of Reparo's section 5.2): the units that it is to hold by those that its remaining dies can,
    /// spare blocks aside.
    pub fn space_utilisation(&self) -> Vec<f64> {
        let of = |core: &crate::core::FlashCore| {
            core.ftl().space().logical_units() as f64 / core.ftl().space().physical_units() as f64
        };
        self.cores.iter().map(of).collect()
    }

    /// The space utilisation that all cores had before any die failed.
    pub fn space_utilisation_when_new(&self) -> f64 {
        let physical: u64 = self.cores.iter().map(|core| core.ftl().space().physical_units_when_new()).sum();
        self.context.size.units as f64 / physical.max(1) as f64
    }

    /// Units written for each one of the host's, by core, since the last reset; 0 where the host wrote nothing.
    pub fn write_amplification_by_core(&self) -> Vec<f64> {
        let of = |((now, joined), (base, joined_before)): ((UnitsWritten, u64), &(UnitsWritten, u64))| {
            let written = now - *base;
            match written[ProgramCause::Host] + joined - joined_before {
                0 => 0.0,
                host => written.total() as f64 / host as f64,
            }
        };
        self.by_core().zip(&self.at_reset.by_core).map(of).collect()
    }

    /// Units written by each core since the beginning, and those of the host's that took the place of older ones.
    pub(crate) fn by_core(&self) -> impl Iterator<Item = (UnitsWritten, u64)> {
        let of = |figures: FtlFigures| (figures.written, figures.coalesced);
        self.cores.iter().map(move |core| of(core.ftl().figures()))
    }

    /// Checks that every unit has one home, that no page is used by two, and that no unit has data in two places.
    pub(crate) fn check_redirection(&self) -> Result<(), String> {
        let Some(redirection) = &self.context.redirection else { return Ok(()) };
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
            let (mapped, units) = (core.ftl().space().mapped_pages(), core.ftl().space().logical_units());
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

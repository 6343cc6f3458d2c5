//! Places of units over the flash cores, while some units live in another core than when the drive was new.

use crate::ssd::Ssd;
use outlast_controller::{CoreContext, Cores, UnitWork};
use outlast_device::Op as HostOp;
use outlast_ftl::Ftl;
use outlast_units::{CoreId, Lpn};

/// Lookup of units in all flash cores: it changes nothing.
#[derive(Clone, Copy)]
pub(crate) struct UnitDirectory<'a> {
    pub(crate) cores: &'a Cores,
    pub(crate) context: &'a CoreContext,
}

impl<'a> UnitDirectory<'a> {
    /// The place of the data of unit `unit`: of several reclaim groups, in that which has it; else at its home, unless it was written before it was redirected and not since. Of a unit without
    /// data, its home.
    #[inline]
    pub(crate) fn place_of(self, unit: u64) -> (CoreId, Lpn) {
        let home = self.context.core_of(unit);
        if self.context.homes.is_some() { self.place_of_redirected(unit, home) } else { home }
    }

    #[inline(never)]
    fn place_of_redirected(self, unit: u64, home: (CoreId, Lpn)) -> (CoreId, Lpn) {
        debug_assert!(self.context.homes.is_some(), "without redirection units are at home");
        if self.context.groups().is_some() {
            return home;
        }
        let former = self.context.former_core_of(unit);
        let ftl = self.cores[former.0].ftl();
        let is_there = ftl.lookup(former.1).is_some() || ftl.is_lost(former.1);
        if is_there { former } else { home }
    }

    /// The former place of a unit whose data can still be read there, though it is to live elsewhere: what Reparo calls a fake failure.
    /// `None` also where that data is gone, since then the failure is a real one.
    pub(crate) fn left_behind(self, unit: u64) -> Option<(CoreId, Lpn)> {
        self.context.redirection()?;
        let place = self.place_of(unit);
        let is_left = place != self.context.core_of(unit) && !self.cores[place.0].ftl().is_gone(place.1);
        is_left.then_some((place.0, place.1))
    }

    /// Units whose data lies in a core that they do not belong to any more. In time proportional to the units redirected.
    pub(crate) fn left_behind_units(self) -> impl Iterator<Item = u64> + use<'a> {
        let victims = self.context.redirection().into_iter().flat_map(move |redirection| {
            self.cores.indices().flat_map(move |victim| {
                redirection.redirected(victim, 0).map(move |number| self.context.unit_at(victim, number))
            })
        });
        victims.filter(move |&unit| self.left_behind(unit).is_some())
    }

    /// The address beyond the host's by which Reparo calls the place of a unit that lives in another core than its own (`_60` in its Figure
    /// 8), in units; `None` of all others. Address `a` is number `⌊a / N⌋` of core `a mod N`, as everywhere.
    pub(crate) fn extended_address(self, unit: u64) -> Option<u64> {
        let home = self.context.core_of(unit);
        let is_redirected = home != self.context.former_core_of(unit);
        is_redirected.then(|| u64::from(home.1.0) * self.cores.len() as u64 + u64::from(home.0.0))
    }

    /// The place where work on a unit is to be done, if not at (`core`, `work.lpn`): the unit has been redirected, or its data has moved, since.
    #[cold]
    pub(crate) fn rerouted(self, core: CoreId, work: UnitWork) -> Option<(CoreId, UnitWork)> {
        let unit = self.context.unit_at(core, work.lpn);
        let command = self.context.commands.requests.command(work.request);
        let place = match command.op {
            HostOp::Read => self.place_of(unit),
            HostOp::Write => self.place_of_write(unit, command.placement),
            _ => self.context.core_of(unit),
        };
        (place != (core, work.lpn)).then_some((place.0, UnitWork { lpn: place.1, ..work }))
    }

    /// The place of the data that a partial write of `work` at its home completes.
    #[inline]
    pub(crate) fn holder_of_rest(self, core: CoreId, work: UnitWork) -> (CoreId, UnitWork) {
        if self.context.homes.is_none() {
            return (core, work);
        }
        let place = self.place_of(self.context.unit_at(core, work.lpn));
        (place.0, UnitWork { lpn: place.1, ..work })
    }
}

impl Ssd {
    /// Lookup of units in all flash cores.
    #[inline]
    pub(crate) fn directory(&self) -> UnitDirectory<'_> {
        UnitDirectory { cores: &self.cores, context: &self.context }
    }

    /// The translation layers, by flash core.
    pub fn ftls(&self) -> impl ExactSizeIterator<Item = &Ftl> {
        self.cores.iter().map(outlast_controller::FlashCore::ftl)
    }
}

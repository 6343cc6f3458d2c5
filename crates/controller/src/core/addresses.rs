//! Which flash core a mapping unit belongs to, and which unit a number of a core is.

use crate::core::CoreContext;
use crate::groups::ReclaimGroups;
use crate::homes::UnitHomes;
use crate::places::DiePlace;
use crate::repair::Redirection;
use outlast_settings::drive::WriteCache;
use outlast_units::{CoreId, DieId, LocalDie, Lpn};

impl CoreContext {
    /// The core that unit `unit` had when the drive was new, and its number there.
    #[inline]
    pub fn former_core_of(&self, unit: u64) -> (CoreId, Lpn) {
        let cores = self.flash_cores() as u64;
        (CoreId((unit % cores) as u16), Lpn((unit / cores) as u32))
    }

    /// The unit that core `core` knows by number `lpn`, be it there at home or formerly.
    #[inline]
    pub fn unit_at(&self, core: CoreId, lpn: Lpn) -> u64 {
        let (core, number) = match self.homes.as_deref() {
            None => (core, lpn),
            Some(UnitHomes::Redirected(redirection)) => redirection.origin(core, lpn),
            Some(UnitHomes::Grouped(groups)) => return groups.unit_at(core, lpn),
        };
        u64::from(number.0) * self.flash_cores() as u64 + u64::from(core.0)
    }

    /// The flash core that unit `unit` belongs to, and its number there: of several reclaim groups, in the one that has its data.
    #[allow(clippy::inline_always, reason = "one comparison, mostly, for every unit of a command")]
    #[inline(always)]
    pub fn core_of(&self, unit: u64) -> (CoreId, Lpn) {
        if self.flash_cores() == 1 {
            return (CoreId(0), Lpn(unit as u32));
        }
        match &self.homes {
            None => self.former_core_of(unit),
            Some(homes) => homes.home(unit, || self.former_core_of(unit)),
        }
    }

    /// Which units of cores with failed dies live elsewhere; `None` where none do.
    #[inline]
    pub fn redirection(&self) -> Option<&Redirection> {
        self.homes.as_ref().and_then(|homes| homes.redirection())
    }

    /// The group of each unit; `None` with one reclaim group.
    #[inline]
    pub fn groups(&self) -> Option<&ReclaimGroups> {
        self.homes.as_ref().and_then(|homes| homes.groups())
    }

    /// The flash core that owns die `die`, and the die's number there.
    pub fn core_of_die(&self, die: DieId) -> (CoreId, LocalDie) {
        let DiePlace { core, local } = self.places[die];
        (core, local)
    }

    /// When a write of the host is safe.
    #[inline]
    pub fn write_cache(&self) -> WriteCache {
        self.config.controller.write_cache
    }
}

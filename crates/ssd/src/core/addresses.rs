//! Which flash core a mapping unit belongs to, and which unit a number of a core is.

use crate::core::CoreContext;
use outlast_settings::drive::WriteCache;
use outlast_units::{CoreId, Lpn};

impl CoreContext {
    /// The core that unit `unit` had when the drive was new, and its number there.
    #[inline]
    pub(crate) fn former_core_of(&self, unit: u64) -> (CoreId, Lpn) {
        let cores = self.flash_cores() as u64;
        (CoreId((unit % cores) as u16), Lpn((unit / cores) as u32))
    }

    /// The unit that core `core` knows by number `lpn`, be it there at home or formerly.
    #[inline]
    pub(crate) fn unit_at(&self, core: CoreId, lpn: Lpn) -> u64 {
        let (core, number) = match &self.redirection {
            None => (core, lpn),
            Some(redirection) => redirection.origin(core, lpn),
        };
        u64::from(number.0) * self.flash_cores() as u64 + u64::from(core.0)
    }

    /// The flash core that unit `unit` belongs to, and its number there.
    #[inline]
    pub(crate) fn core_of(&self, unit: u64) -> (CoreId, Lpn) {
        if self.flash_cores() == 1 {
            return (CoreId(0), Lpn(unit as u32));
        }
        let (core, number) = self.former_core_of(unit);
        match &self.redirection {
            None => (core, number),
            Some(redirection) => redirection.home(core, number).unwrap_or((core, number)),
        }
    }

    pub(crate) fn write_cache(&self) -> WriteCache {
        self.config.controller.write_cache
    }
}

//! What fits into the buffer, and writes that coalesce there: they take the place of older data, and full program units are held back for that.

use super::WaitingWrite;
use crate::op::{InternalTask, UnitWork};
use crate::ssd::Ssd;
use outlast_ftl::Ftl;
use outlast_media::ConfigError;
use outlast_settings::drive::SsdConfig;
use outlast_units::{Bytes, CoreId, Nanos, Pu};

/// Units that the buffer of a core with translation layer `ftl` holds.
///
/// # Errors
/// No program unit of each stream fits, beside what is held back.
pub(super) fn capacity_of(ftl: &Ftl, config: &SsdConfig) -> Result<u32, ConfigError> {
    let each = config.ftl.mapping_unit.0 * u64::from(config.controller.flash_cores);
    let capacity = u32::try_from(config.controller.write_buffer.0 / each).unwrap_or(u32::MAX);
    // Each stream may hold a program unit that is begun and not full; one more must fit.
    let least = (ftl.streams().hosts().len() as u32) * ftl.layout().units_per_pu() + 1;
    if capacity < least {
        let bytes = Bytes(u64::from(least) * each);
        let limit = format!("must hold a program unit of every stream and core: at least {bytes}");
        let given = config.controller.write_buffer;
        return Err(ConfigError::new("device.controller.write_buffer", given, limit));
    }
    if config.units_held_back().is_some_and(|units| units > capacity - least) {
        let most = Bytes(u64::from(capacity - least) * each);
        let limit = format!(
            "must leave room in the write buffer for a program unit of every stream and core: at most {most}"
        );
        return Err(ConfigError::new("device.controller.hold_back", config.controller.hold_back, limit));
    }
    Ok(capacity)
}

impl Ssd {
    /// Whether `write` needs no room: it takes the place of older data in the buffer.
    pub(super) fn may_coalesce(&self, core: CoreId, write: &WaitingWrite) -> bool {
        self.cores[core].ftl.replaceable(write.work.lpn).is_some()
    }

    /// Has `work`, which enters the buffer, take the place of older data there, if there is such; whether it did.
    #[inline(never)]
    pub(super) fn coalesce(&mut self, now: Nanos, core: CoreId, work: UnitWork) -> bool {
        let Some(slot) = self.cores[core].ftl.replaceable(work.lpn) else { return false };
        debug_assert!(work.sectors != 0, "a unit moves to where the host has written it anew");
        let unit = if self.config.bytes { self.merged(core, work) } else { None };
        self.cores[core].ftl.replace(slot, unit);
        self.note_entered(core, work);
        self.finish_parts(now, work.request, 1);
        true
    }

    /// A write finds no room. A superblock can be collected when all of it is on flash: where no other can, nothing is held back.
    pub(super) fn give_up_held(&mut self, now: Nanos, core: CoreId) {
        self.collect(now, core);
        if !self.cores[core].tasks.runs(InternalTask::Gc) {
            self.program_held(now, core);
        }
    }

    /// Holds `pu` back, and programs the one whose turn it is. What is not full of data is awaited, and so is all before it.
    #[inline(never)]
    pub(super) fn hold_back(&mut self, now: Nanos, core: CoreId, pu: Pu, units: u32) {
        let epoch = self.host.flushes.open_epoch();
        let all = self.cores[core].ftl.layout().units_per_pu();
        if units == all {
            if let Some(next) = self.cores[core].ftl.hold_back(pu) {
                self.program_host_in(now, core, next, all, epoch);
            }
        } else {
            self.program_held(now, core);
            self.program_host_in(now, core, pu, units, epoch);
        }
    }

    /// Programs all that is held back.
    pub(crate) fn program_held(&mut self, now: Nanos, core: CoreId) {
        let (epoch, units) = (self.host.flushes.open_epoch(), self.cores[core].ftl.layout().units_per_pu());
        while let Some(pu) = self.cores[core].ftl.take_held() {
            self.program_host_in(now, core, pu, units, epoch);
        }
    }
}

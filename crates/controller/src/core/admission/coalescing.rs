//! Capacity of the buffer, and writes that coalesce there: they take the place of older data, and full program units are held back for that.

use crate::core::{CoreContext, FlashCore, WaitingWrite};
use outlast_ftl::Ftl;
use outlast_media::ConfigError;
use outlast_settings::drive::SsdConfig;
use outlast_units::{Bytes, Nanos, Pu};

/// Units that the buffer of a core with translation layer `ftl` holds.
///
/// # Errors
/// No program unit of each stream fits, beside what is held back.
pub(super) fn capacity_of(ftl: &Ftl, config: &SsdConfig) -> Result<u32, ConfigError> {
    let each = config.ftl.mapping_unit.0 * u64::from(config.controller.flash_cores);
    let capacity = u32::try_from(config.controller.write_buffer.0 / each).unwrap_or(u32::MAX);
    // Each stream may hold a program unit that is begun and not full; one more must fit.
    let streams = ftl.streams().hosts().len() as u32;
    let between = config.ftl.two_pass.map_or(0, |passes| passes.distance) * ftl.layout().lanes().len() as u32;
    let least = streams * (1 + between) * ftl.layout().units_per_pu() + 1;
    if capacity < least {
        let bytes = Bytes(u64::from(least) * each);
        let besides = if between == 0 { "" } else { ", and what waits there for the fine pass" };
        let limit = format!("must hold a program unit of every stream and core{besides}: at least {bytes}");
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

impl FlashCore {
    /// True if `write` needs no room: it takes the place of older data in the buffer.
    #[inline]
    pub(crate) fn may_coalesce(&self, write: &WaitingWrite) -> bool {
        self.ftl.replaceable(write.work.lpn).is_some()
    }

    /// Holds `pu` back, and programs the one whose turn it is. What is not full of data is awaited, and so is all before it.
    #[inline(never)]
    pub(in crate::core) fn hold_back(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu, units: u32) {
        let epoch = context.commands.flushes.open_epoch();
        let all = self.ftl.layout().units_per_pu();
        if units == all {
            if let Some(next) = self.ftl.hold_back(pu) {
                self.program_host_in(now, context, next, all, epoch);
            }
        } else {
            self.program_held(now, context);
            self.program_host_in(now, context, pu, units, epoch);
        }
    }

    /// Programs all that is held back.
    pub(crate) fn program_held(&mut self, now: Nanos, context: &mut CoreContext) {
        let (epoch, units) = (context.commands.flushes.open_epoch(), self.ftl.layout().units_per_pu());
        while let Some(pu) = self.ftl.take_held() {
            self.program_host_in(now, context, pu, units, epoch);
        }
    }
}

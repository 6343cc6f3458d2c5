//! Properties of a controller: what registers are on `PCIe`.

use crate::facts::{QUEUE_ENTRIES, VERSION};
use crate::status::NvmeStatus;

const CAP: u32 = 0x00;
const VS: u32 = 0x08;
const CC: u32 = 0x14;
const CSTS: u32 = 0x1C;

/// Bits of CC.
const ENABLE: u32 = 1;
const SHUTDOWN: u32 = 3 << 14;
const NORMAL_SHUTDOWN: u32 = 1 << 14;
/// Pages longer than 4 KiB, and ways of arbitration other than round robin: what CAP does not offer.
const NOT_OFFERED: u32 = 0xF << 7 | 7 << 11;
/// Command sets that the host selects: 0 for the NVM command set, 6 for all.
const SELECTED_SETS: u32 = 7 << 4;
const ALL_SETS: u32 = 6 << 4;
/// Bits of CSTS.
const READY: u32 = 1;
const FATAL: u32 = 1 << 1;
const SHUTDOWN_STATUS: u32 = 3 << 2;
const SHUTDOWN_OCCURS: u32 = 1 << 2;
const SHUTDOWN_COMPLETE: u32 = 2 << 2;

/// Time after which a host gives up waiting for the controller, in units of 500 ms.
const TIMEOUT_UNITS: u64 = 20;

/// What a change of a property asks for beside the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyChange {
    Nothing,
    /// The controller is reset.
    Reset,
    /// The controller is shut down: what its buffer holds is to be on flash before [`ControllerProperties::shut_down`].
    ShutDown,
}

/// The properties that a host changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ControllerProperties {
    configuration: u32,
    status: u32,
}

impl ControllerProperties {
    /// True while the controller carries out commands.
    pub(crate) fn is_ready(self) -> bool {
        self.status & READY != 0
    }

    /// True if the host has selected all command sets that the controller has, and not the NVM command set alone.
    pub(crate) fn has_all_sets(self) -> bool {
        self.configuration & SELECTED_SETS == ALL_SETS
    }

    /// The value of a property; `is_long` for one of 8 bytes, `has_zones` for a subsystem that has a further command set.
    pub(crate) fn get(self, offset: u32, is_long: bool, has_zones: bool) -> Result<u64, NvmeStatus> {
        match (offset, is_long) {
            // Entries of queues less one; contiguous queues; time-out; the NVM command set, and others; pages of 4 KiB.
            (CAP, true) => {
                let sets = 1 << 37 | u64::from(has_zones) << 43;
                Ok(u64::from(QUEUE_ENTRIES - 1) | 1 << 16 | TIMEOUT_UNITS << 24 | sets)
            }
            (VS, false) => Ok(VERSION.into()),
            (CC, false) => Ok(self.configuration.into()),
            (CSTS, false) => Ok(self.status.into()),
            _ => Err(NvmeStatus::INVALID_FIELD),
        }
    }

    /// Sets a property.
    pub(crate) fn set(
        &mut self,
        offset: u32,
        is_long: bool,
        value: u64,
    ) -> Result<PropertyChange, NvmeStatus> {
        if (offset, is_long) != (CC, false) {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        let (before, now) = (self.configuration, value as u32);
        self.configuration = now;
        if now & ENABLE != 0 && before & ENABLE == 0 {
            let is_offered = now & NOT_OFFERED == 0 && matches!(now & SELECTED_SETS, 0 | ALL_SETS);
            self.status = if is_offered { READY } else { FATAL };
        }
        let is_reset = now & ENABLE == 0 && before & ENABLE != 0;
        if is_reset {
            self.status &= !(READY | FATAL);
        }
        match now & SHUTDOWN {
            0 => self.status &= !SHUTDOWN_STATUS,
            NORMAL_SHUTDOWN if before & SHUTDOWN == 0 && !is_reset => {
                self.status = self.status & !SHUTDOWN_STATUS | SHUTDOWN_OCCURS;
                return Ok(PropertyChange::ShutDown);
            }
            _ if before & SHUTDOWN == 0 => self.status = self.status & !SHUTDOWN_STATUS | SHUTDOWN_COMPLETE,
            _ => {}
        }
        Ok(if is_reset { PropertyChange::Reset } else { PropertyChange::Nothing })
    }

    /// Notes that nothing is left to be done of a shutdown.
    pub(crate) fn shut_down(&mut self) {
        if self.status & SHUTDOWN_STATUS == SHUTDOWN_OCCURS {
            self.status = self.status & !SHUTDOWN_STATUS | SHUTDOWN_COMPLETE;
        }
    }
}

//! Features: settings of a controller that a host reads and changes.

use crate::facts::{IO_QUEUES, KEEP_ALIVE_UNITS};
use crate::status::NvmeStatus;

const ARBITRATION: u8 = 0x01;
const POWER_MANAGEMENT: u8 = 0x02;
const TEMPERATURE_THRESHOLD: u8 = 0x04;
pub(crate) const ERROR_RECOVERY: u8 = 0x05;
const VOLATILE_CACHE: u8 = 0x06;
pub(crate) const QUEUES: u8 = 0x07;
const WRITE_ATOMICITY: u8 = 0x0A;
const EVENT_CONFIGURATION: u8 = 0x0B;
const KEEP_ALIVE: u8 = 0x0F;
const LBA_STATUS: u8 = 0x15;

/// Fields of the value of the temperature threshold: which sensor, of which there is the composite one only, and of which kind the threshold is.
const SENSOR: u32 = 0xF << 16;
const THRESHOLD_KIND: u32 = 3 << 20;
const UNDER: u32 = 1 << 20;

/// Shortest time between two looks at the log of LBA status that makes sense, in units of 100 ms: an answer takes time of the server.
const LBA_STATUS_POLL: u32 = 1;

/// Features of a controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerFeatures {
    arbitration: u32,
    /// Thresholds above and below which a temperature is told; none reaches them by itself, since none is reported.
    temperatures: (u16, u16),
    write_cache: bool,
    write_atomicity: u32,
    /// Critical warnings that are told as events, in bits 7 to 0.
    events: u32,
    /// Keep-alive time-out, in milliseconds; 0 for none.
    keep_alive: u32,
    /// Interval of reports of LBA status that the host wishes. None are made unasked.
    lba_status_reports: u16,
}

impl ControllerFeatures {
    pub(crate) fn new(keep_alive: u32) -> Self {
        Self {
            arbitration: 0,
            temperatures: (0xFFFF, 0),
            write_cache: true,
            write_atomicity: 0,
            events: 0,
            keep_alive: whole_units(keep_alive),
            lba_status_reports: 0,
        }
    }

    /// True if writes may stay in a buffer that forgets.
    pub(crate) fn has_write_cache(self) -> bool {
        self.write_cache
    }

    /// Critical warnings that are told as events.
    pub(crate) fn reported_warnings(self) -> u8 {
        self.events as u8
    }

    /// Keep-alive time-out, in milliseconds.
    pub(crate) fn keep_alive(self) -> u32 {
        self.keep_alive
    }

    /// The value of a feature, of which `selected` names a part if it has several.
    pub(crate) fn get(self, feature: u8, selected: u32) -> Result<u32, NvmeStatus> {
        match feature {
            ARBITRATION => Ok(self.arbitration),
            POWER_MANAGEMENT | ERROR_RECOVERY => Ok(0),
            TEMPERATURE_THRESHOLD => match selected & (SENSOR | THRESHOLD_KIND) {
                0 => Ok(self.temperatures.0.into()),
                UNDER => Ok(self.temperatures.1.into()),
                _ => Err(NvmeStatus::INVALID_FIELD),
            },
            VOLATILE_CACHE => Ok(self.write_cache.into()),
            QUEUES => Ok(granted_queues()),
            WRITE_ATOMICITY => Ok(self.write_atomicity),
            EVENT_CONFIGURATION => Ok(self.events),
            KEEP_ALIVE => Ok(self.keep_alive),
            LBA_STATUS => Ok(LBA_STATUS_POLL << 16 | u32::from(self.lba_status_reports)),
            _ => Err(NvmeStatus::INVALID_FIELD),
        }
    }

    /// Sets a feature; returns the result of the command.
    pub(crate) fn set(&mut self, feature: u8, value: u32) -> Result<u32, NvmeStatus> {
        match feature {
            ARBITRATION => self.arbitration = value,
            // Sensor 15 stands for all.
            TEMPERATURE_THRESHOLD if !matches!(value & SENSOR, 0 | SENSOR) => {
                return Err(NvmeStatus::INVALID_FIELD);
            }
            TEMPERATURE_THRESHOLD => match value & THRESHOLD_KIND {
                0 => self.temperatures.0 = value as u16,
                UNDER => self.temperatures.1 = value as u16,
                _ => return Err(NvmeStatus::INVALID_FIELD),
            },
            VOLATILE_CACHE => self.write_cache = value & 1 != 0,
            QUEUES => {
                // 65536 queues are no valid number of either kind.
                let is_valid = value & 0xFFFF != 0xFFFF && value >> 16 != 0xFFFF;
                return if is_valid { Ok(granted_queues()) } else { Err(NvmeStatus::INVALID_FIELD) };
            }
            WRITE_ATOMICITY => self.write_atomicity = value & 1,
            EVENT_CONFIGURATION => self.events = value & 0xFF,
            KEEP_ALIVE => self.keep_alive = whole_units(value),
            LBA_STATUS => self.lba_status_reports = value as u16,
            // There is one power state, and no other way of recovery.
            POWER_MANAGEMENT | ERROR_RECOVERY if value == 0 => {}
            ERROR_RECOVERY => return Err(NvmeStatus::FEATURE_NOT_CHANGEABLE),
            _ => return Err(NvmeStatus::INVALID_FIELD),
        }
        Ok(0)
    }
}

/// A keep-alive time-out, rounded up to the granularity that Identify tells.
fn whole_units(milliseconds: u32) -> u32 {
    let unit = u32::from(KEEP_ALIVE_UNITS) * 100;
    milliseconds.div_ceil(unit).saturating_mul(unit)
}

/// Numbers of submission and completion queues, each less one.
fn granted_queues() -> u32 {
    let count = u32::from(IO_QUEUES - 1);
    count << 16 | count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_had_again_and_the_rest_is_refused() {
        let mut features = ControllerFeatures::new(5000);
        assert_eq!(features.get(KEEP_ALIVE, 0), Ok(5000));
        for (feature, value) in
            [(ARBITRATION, 7), (VOLATILE_CACHE, 0), (EVENT_CONFIGURATION, 4), (KEEP_ALIVE, 0)]
        {
            assert_eq!((features.set(feature, value), features.get(feature, 0)), (Ok(0), Ok(value)));
        }
        assert!(!features.has_write_cache() && features.reported_warnings() == 4);
        assert_eq!((features.set(LBA_STATUS, 7), features.get(LBA_STATUS, 0)), (Ok(0), Ok(1 << 16 | 7)));
        assert_eq!(features.set(QUEUES, 3 << 16 | 3), Ok(15 << 16 | 15));
        assert_eq!(features.set(QUEUES, 0xFFFF), Err(NvmeStatus::INVALID_FIELD));
        assert_eq!(features.set(ERROR_RECOVERY, 1), Err(NvmeStatus::FEATURE_NOT_CHANGEABLE));
        assert_eq!((features.set(ERROR_RECOVERY, 0), features.get(ERROR_RECOVERY, 0)), (Ok(0), Ok(0)));
        assert_eq!(features.get(TEMPERATURE_THRESHOLD, 0), Ok(0xFFFF), "no temperature is above it");
        for (feature, value) in [(TEMPERATURE_THRESHOLD, 350), (WRITE_ATOMICITY, 1)] {
            assert_eq!((features.set(feature, value), features.get(feature, 0)), (Ok(0), Ok(value)));
        }
        assert_eq!(features.set(POWER_MANAGEMENT, 1), Err(NvmeStatus::INVALID_FIELD), "one power state");
        assert_eq!((features.set(POWER_MANAGEMENT, 0), features.get(POWER_MANAGEMENT, 0)), (Ok(0), Ok(0)));
        for (asked, had) in [(1, 1000), (1000, 1000), (1500, 2000), (u32::MAX, u32::MAX), (0, 0)] {
            assert_eq!((features.set(KEEP_ALIVE, asked), features.get(KEEP_ALIVE, 0)), (Ok(0), Ok(had)));
        }
        for unknown in [0, 0x03, 0x08, 0x10, 0x80, 0xFF] {
            assert_eq!(features.get(unknown, 0), Err(NvmeStatus::INVALID_FIELD));
        }
    }

    #[test]
    fn thresholds_of_temperature_are_one_above_and_one_below_of_the_only_sensor() {
        let mut features = ControllerFeatures::new(0);
        let get = |features: ControllerFeatures, selected| features.get(TEMPERATURE_THRESHOLD, selected);
        assert_eq!((get(features, 0), get(features, UNDER)), (Ok(0xFFFF), Ok(0)));
        features.set(TEMPERATURE_THRESHOLD, 350).unwrap();
        features.set(TEMPERATURE_THRESHOLD, UNDER | SENSOR | 0x118).unwrap();
        assert_eq!((get(features, 0), get(features, UNDER)), (Ok(350), Ok(280)));
        for wrong in [1 << 16, 8 << 16 | UNDER, 2 << 20, 3 << 20] {
            assert_eq!(features.set(TEMPERATURE_THRESHOLD, wrong), Err(NvmeStatus::INVALID_FIELD));
            assert_eq!(get(features, wrong), Err(NvmeStatus::INVALID_FIELD));
        }
        assert_eq!((get(features, 0), get(features, UNDER)), (Ok(350), Ok(280)), "nothing was set");
    }
}

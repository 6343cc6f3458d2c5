//! Resolves faults to their targets: the flash of a drive, or an array and its members as wholes.

use super::Scenario;
use outlast_media::{ConfigError, DieDamage, DriveFault, FaultKind, FaultSpec, UnitTear};
use outlast_settings::drive::WriteCache;
use outlast_units::Nanos;

/// An event of an array, or of a member as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum PlannedEvent {
    /// A member fails.
    Fail {
        /// Column of the member.
        member: u16,
    },
    /// A member is exchanged for a new drive.
    Replace {
        /// Column of the member.
        member: u16,
        /// True to exchange it even if data is lost with it.
        force: bool,
        /// Index in the scenario's list of faults.
        fault: usize,
    },
    /// The power of all devices fails and returns at once.
    PowerCut {
        /// True to start the array even if parity is in doubt and a member missing.
        force: bool,
        /// State of the units that were being programmed.
        tear: UnitTear,
    },
}

/// The target of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// The flash of a drive.
    Flash {
        /// Number of the device, from 0; 0 for a drive without an array.
        device: u16,
        /// The damage and its place in the flash.
        fault: DriveFault,
    },
    /// The array, or a member of it as a whole.
    Array(PlannedEvent),
}

impl Scenario {
    /// Faults of flash, or if `whole` of the array and its members as wholes, with their indices.
    fn faults_of(&self, whole: bool) -> impl Iterator<Item = (usize, &FaultSpec)> {
        self.faults.iter().enumerate().filter(move |(_, fault)| self.is_whole(fault) == whole)
    }

    /// True if a fault concerns the array or a member as a whole, and not flash.
    fn is_whole(&self, fault: &FaultSpec) -> bool {
        fault.is_of_device() || self.array.is_some() && fault.is_of_array()
    }

    /// The target of `fault`, which is called `field` in messages, such as `faults[3]`, and has number `index`.
    ///
    /// # Errors
    /// The place does not exist, or the kind of fault does not take a field.
    pub fn fault_target(
        &self,
        field: &str,
        index: usize,
        fault: &FaultSpec,
    ) -> Result<FaultTarget, ConfigError> {
        // Without an array the only device is the drive, and a fault need not name it.
        let (members, devices) =
            self.array.as_ref().map_or((0, None), |array| (array.members, Some(array.devices())));
        let device = fault.resolve_device(field, members, devices)?;
        let (force, tear) = (fault.force.unwrap_or(false), self.tear(field, fault)?);
        if self.is_whole(fault) {
            return Ok(FaultTarget::Array(match fault.kind {
                FaultKind::Replace => PlannedEvent::Replace { member: device, force, fault: index },
                FaultKind::Power => PlannedEvent::PowerCut { force, tear },
                _ => PlannedEvent::Fail { member: device },
            }));
        }
        if self.array.as_ref().is_some_and(|array| array.is_light(device)) {
            let limit = "is a light member (array.light), which has no flash that could fail";
            return Err(ConfigError::new(&format!("{field}.device"), device, limit));
        }
        self.check_member_reset(field, fault)?;
        let mut fault = fault.resolve(field, &self.device.geometry)?;
        if let DieDamage::Power(fault_tear) = &mut fault.damage {
            *fault_tear = tear;
        }
        Ok(FaultTarget::Flash { device, fault })
    }

    /// State in which a loss of power leaves the units that are being programmed, from `fault`, which is called `field` in messages.
    ///
    /// # Errors
    /// The values are impossible or belong to another kind of fault, or capacitors of the drive complete all programs.
    pub fn tear(&self, field: &str, fault: &FaultSpec) -> Result<UnitTear, ConfigError> {
        let tear = fault.tear(field, self.device.ftl.mapping_unit)?;
        if tear == UnitTear::Nothing || self.device.controller.write_cache != WriteCache::Protected {
            return Ok(tear);
        }
        let limit = "must be absent: with a protected buffer, programs under way are completed when power fails; only \
                     device.controller.write_cache = \"volatile\" or \"off\" leaves them incomplete";
        Err(match fault.shorn {
            Some(share) => ConfigError::new(&format!("{field}.shorn"), share, limit),
            None => ConfigError::new(&format!("{field}.torn"), fault.torn.unwrap_or_default(), limit),
        })
    }

    /// Refuses a member that loses its power alone and forgets acknowledged writes: the array would not notice.
    fn check_member_reset(&self, field: &str, fault: &FaultSpec) -> Result<(), ConfigError> {
        let forgets = self.device.controller.write_cache == WriteCache::Volatile;
        match fault.device {
            Some(device) if fault.kind == FaultKind::Power && self.array.is_some() && forgets => {
                let limit = "must be absent (the whole array loses its power): a member with a volatile buffer would forget \
                             writes that it has acknowledged, and the array would not notice";
                Err(ConfigError::new(&format!("{field}.device"), device, limit))
            }
            _ => Ok(()),
        }
    }

    /// The scheduled faults of flash, with the numbers of their drives and their times.
    ///
    /// # Errors
    /// The place of a fault does not exist, or its kind does not take a field.
    pub fn flash_faults(&self) -> Result<Vec<(u16, Nanos, DriveFault)>, ConfigError> {
        let mut all = Vec::new();
        for (index, spec) in self.faults_of(false) {
            if let FaultTarget::Flash { device, fault } =
                self.fault_target(&format!("faults[{index}]"), index, spec)?
            {
                all.push((device, spec.at, fault));
            }
        }
        Ok(all)
    }

    /// The scheduled events of the array and its members as wholes, with their times.
    ///
    /// # Errors
    /// A member does not exist.
    pub fn planned_events(&self) -> Result<Vec<(Nanos, PlannedEvent)>, ConfigError> {
        let members = self.array.iter().flat_map(|array| &array.member);
        let mut all: Vec<(Nanos, PlannedEvent)> = members
            .filter_map(|member| Some((member.fail_at?, PlannedEvent::Fail { member: member.device })))
            .collect();
        for (index, spec) in self.faults_of(true) {
            if let FaultTarget::Array(event) = self.fault_target(&format!("faults[{index}]"), index, spec)? {
                all.push((spec.at, event));
            }
        }
        Ok(all)
    }
}

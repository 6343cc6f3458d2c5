//! What faults strike: the flash of a drive, or an array and its members as wholes.

use super::Scenario;
use outlast_media::{ConfigError, Damage, Fault, FaultKind, FaultSpec, Tear};
use outlast_settings::drive::WriteCache;
use outlast_units::Nanos;

/// What happens to an array, or to a member of it as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum Happening {
    /// It fails.
    Fail {
        /// Its column.
        member: u16,
    },
    /// It is exchanged for a new drive.
    Replace {
        /// Its column.
        member: u16,
        /// Even where data is lost with it.
        force: bool,
        /// Place in the scenario's list of faults.
        fault: usize,
    },
    /// The power of all devices fails and is back at once.
    PowerCut {
        /// The array starts even where parity is in doubt and a member missing.
        force: bool,
        /// What is left of what was being programmed.
        tear: Tear,
    },
}

/// What a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// The flash of a drive.
    Flash {
        /// The device, counted from 0; of a drive by itself 0.
        device: u16,
        /// What breaks.
        fault: Fault,
    },
    /// The array, or a member of it as a whole.
    Whole(Happening),
}

impl Scenario {
    /// Faults of flash, or (`whole`) of the array and its members as wholes.
    fn faults_of(&self, whole: bool) -> impl Iterator<Item = (usize, &FaultSpec)> {
        self.faults.iter().enumerate().filter(move |(_, fault)| self.is_whole(fault) == whole)
    }

    /// Whether a fault is of the array or of a member as a whole, and not of flash.
    fn is_whole(&self, fault: &FaultSpec) -> bool {
        fault.is_of_device() || self.array.is_some() && fault.is_of_array()
    }

    /// What `fault` strikes; messages call it `field`, such as `faults[3]`, of which `index` is the number.
    ///
    /// # Errors
    /// A place that is not there, or a field that the kind does not take.
    pub fn strike(&self, field: &str, index: usize, fault: &FaultSpec) -> Result<Strike, ConfigError> {
        let (members, devices) =
            self.array.as_ref().map_or((0, None), |array| (array.members, Some(array.devices())));
        let device = fault.resolve_device(field, members, devices)?;
        let (force, tear) = (fault.force.unwrap_or(false), self.tear(field, fault)?);
        if self.is_whole(fault) {
            return Ok(Strike::Whole(match fault.kind {
                FaultKind::Replace => Happening::Replace { member: device, force, fault: index },
                FaultKind::Power => Happening::PowerCut { force, tear },
                _ => Happening::Fail { member: device },
            }));
        }
        if self.array.as_ref().is_some_and(|array| array.is_light(device)) {
            let limit = "is a light member (array.light), which has no flash that could fail";
            return Err(ConfigError::new(&format!("{field}.device"), device, limit));
        }
        self.may_reset(field, fault)?;
        let mut fault = fault.resolve(field, &self.device.geometry)?;
        if let Damage::Power(own) = &mut fault.damage {
            *own = tear;
        }
        Ok(Strike::Flash { device, fault })
    }

    /// What a loss of power leaves of what is being programmed, as the fault `fault`, which messages call `field`, says.
    ///
    /// # Errors
    /// Something that cannot be, or of a fault of another kind, or of a drive in which capacitors have it programmed to its end.
    pub fn tear(&self, field: &str, fault: &FaultSpec) -> Result<Tear, ConfigError> {
        let tear = fault.tear(field, self.device.ftl.mapping_unit)?;
        if tear == Tear::Nothing || self.device.controller.write_cache != WriteCache::Protected {
            return Ok(tear);
        }
        let limit = "must be absent: with a protected buffer, programs under way are completed when power fails; only \
                     device.controller.write_cache = \"volatile\" or \"off\" leaves them incomplete";
        Err(match fault.shorn {
            Some(share) => ConfigError::new(&format!("{field}.shorn"), share, limit),
            None => ConfigError::new(&format!("{field}.torn"), fault.torn.unwrap_or_default(), limit),
        })
    }

    /// A member may lose its power by itself only where it forgets nothing that it has acknowledged: nobody would notice.
    fn may_reset(&self, field: &str, fault: &FaultSpec) -> Result<(), ConfigError> {
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

    /// The scheduled faults of flash, with the drives that they strike and their times.
    ///
    /// # Errors
    /// A fault at a place that the drive has not, or that is not one of its kind.
    pub fn flash_faults(&self) -> Result<Vec<(u16, Nanos, Fault)>, ConfigError> {
        let mut all = Vec::new();
        for (index, spec) in self.faults_of(false) {
            if let Strike::Flash { device, fault } = self.strike(&format!("faults[{index}]"), index, spec)? {
                all.push((device, spec.at, fault));
            }
        }
        Ok(all)
    }

    /// What happens to the array and its members as wholes, with the times.
    ///
    /// # Errors
    /// A member that is not there.
    pub fn happenings(&self) -> Result<Vec<(Nanos, Happening)>, ConfigError> {
        let members = self.array.iter().flat_map(|array| &array.member);
        let mut all: Vec<(Nanos, Happening)> = members
            .filter_map(|member| Some((member.fail_at?, Happening::Fail { member: member.device })))
            .collect();
        for (index, spec) in self.faults_of(true) {
            if let Strike::Whole(happening) = self.strike(&format!("faults[{index}]"), index, spec)? {
                all.push((spec.at, happening));
            }
        }
        Ok(all)
    }
}

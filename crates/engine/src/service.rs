//! A drive or an array that is used as it is, without a workload: prepared as the scenario says, its time begun.

use crate::error::{EngineError, ServiceError};
use crate::member::MemberConfigs;
use crate::progress::OnProgress;
use crate::simulated_device::SimulatedDevice;
use crate::simulation::{prepared, target_of};
use crate::snapshot::{read_snapshot, settings_of};
use crate::volume::ArrayVolume;
use outlast_array::{Array, PowerCycle};
use outlast_device::{Device, Tag};
use outlast_media::{ConfigError, FaultSpec, Store, Tear};
use outlast_persist::{Damage, Reader, Restore, Writer, shape};
use outlast_scenario::{Happening, Scenario, TimingMode};
use outlast_ssd::Ssd;
use outlast_units::{Lba, Nanos};
use std::{io::Read, sync::Arc};

/// A drive or an array in service. There is no way to one that has not been prepared, or whose time has not begun.
#[derive(Clone, Debug)]
pub struct InService {
    scenario: Arc<Scenario>,
    kind: ServedDevice,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum ServedDevice {
    Drive(Ssd),
    Array(ArrayVolume),
}

/// Does the same with a drive or an array.
macro_rules! either {
    ($self:expr, $device:ident => $do:expr) => {
        match $self {
            ServedDevice::Drive($device) => $do,
            ServedDevice::Array($device) => $do,
        }
    };
}

mod device;

impl ServedDevice {
    /// What `scenario` describes, new; `is_read`: of an array without its members' tables, since these are read whole.
    fn build(scenario: &Scenario, is_read: bool) -> Result<Self, ConfigError> {
        scenario.check_policies()?;
        Ok(match &scenario.array {
            None => Self::Drive(Ssd::new(scenario.device.clone(), scenario.seed)?),
            Some(array) if is_read => Self::Array(ArrayVolume::without_tables(scenario, array)?),
            Some(array) => Self::Array(ArrayVolume::new(scenario, array)?),
        })
    }
}

impl Restore for InService {
    const SHAPE: u64 =
        shape("InService", &[("", <Ssd as Restore>::SHAPE), ("", <ArrayVolume as Restore>::SHAPE)]);

    /// Whether it is a drive or an array follows from the settings.
    fn save(&self, to: &mut Writer<'_>) {
        either!(&self.kind, device => device.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        either!(&mut self.kind, device => device.restore(from))
    }
}

impl InService {
    /// Builds what `scenario` describes, prepares it, and begins its time: what the scenario has happen will happen. The workload counts
    /// only where it is what preconditioning overwrites with.
    ///
    /// # Errors
    /// The first setting that cannot work, or a drive that wears out while it is being prepared; `None` where `progress` stopped it.
    pub fn new(scenario: Scenario, progress: OnProgress<'_>) -> Result<Option<Self>, EngineError> {
        scenario.validate()?;
        if scenario.run.timing == TimingMode::None {
            return Err(
                ConfigError::new("run.timing", "none", "must be full: who is served needs time").into()
            );
        }
        let mut kind = ServedDevice::build(&scenario, scenario.precondition.from.is_some())?;
        let is_prepared = either!(&mut kind, device => begin(&scenario, device, progress))?;
        Ok(is_prepared.then(|| Self { scenario: Arc::new(scenario), kind }))
    }

    /// Has what `scenario` describes, as a part of `whole`, take over the state of another that was written with
    /// [`write_snapshot`](crate::write_snapshot); its bytes go to `store`, if there is one.
    ///
    /// # Errors
    /// A setting that cannot work, or `from` is no such state.
    pub fn resume<S: Restore>(
        scenario: Scenario,
        from: &mut dyn Read,
        store: Option<&Arc<dyn Store>>,
        whole: impl FnOnce(Self) -> S,
    ) -> Result<S, EngineError> {
        scenario.validate()?;
        let (settings, member_configs) =
            (settings_of(&scenario), MemberConfigs::of(&scenario, store.cloned()));
        let kind = ServedDevice::build(&scenario, true)?;
        let mut service = Self { scenario: Arc::new(scenario), kind };
        if let Some(store) = store {
            service.keep_contents_in(store);
        }
        let mut state = whole(service);
        read_snapshot(from, settings, &member_configs, &mut state).map_err(EngineError::Checkpoint)?;
        Ok(state)
    }

    /// Has `store` keep the bytes from now on.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn Store>) {
        either!(&mut self.kind, device => device.keep_contents_in(store));
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The drives: the one, or those that are or were in the array, members first.
    pub fn drives(&self) -> Vec<&Ssd> {
        match &self.kind {
            ServedDevice::Drive(ssd) => vec![ssd],
            ServedDevice::Array(volume) => volume.drives().collect(),
        }
    }

    /// The drive in column `column` of the array; of a drive by itself, the drive is column 0. `None` where nothing is, or a stand-in.
    pub fn drive(&self, column: usize) -> Option<&Ssd> {
        match &self.kind {
            ServedDevice::Drive(ssd) => (column == 0).then_some(ssd),
            ServedDevice::Array(volume) => volume.array.member(column)?.drive(),
        }
    }

    /// The array, if it is one.
    pub fn array(&self) -> Option<&Array<impl Device + PowerCycle + use<>>> {
        match &self.kind {
            ServedDevice::Drive(_) => None,
            ServedDevice::Array(volume) => Some(&volume.array),
        }
    }

    /// What was to happen to the array and did not, in words.
    pub fn notes(&self) -> &[String] {
        match &self.kind {
            ServedDevice::Drive(_) => &[],
            ServedDevice::Array(volume) => &volume.notes,
        }
    }

    /// The latest simulated time that can be handled.
    pub fn latest(&self) -> Nanos {
        either!(&self.kind, device => device.latest())
    }

    /// Whether it takes commands: an array that did not start after a loss of power does not.
    pub fn is_up(&self) -> bool {
        either!(&self.kind, device => device.is_up())
    }

    /// What is broken at `now`, as a `[[faults]]` entry of the scenario would break it. To be called with all done that was due until then.
    ///
    /// # Errors
    /// A place that is not there, or what the array refuses; after a loss of power that it refuses to start from, it is off.
    pub fn strike(&mut self, now: Nanos, fault: &FaultSpec) -> Result<(), ServiceError> {
        let strike = self.scenario.strike("fault", 0, fault)?;
        either!(&mut self.kind, device => device.strike(now, strike))
    }

    /// Member `member` is exchanged for a new drive.
    ///
    /// # Errors
    /// A drive by itself, or what the array refuses.
    pub fn replace(&mut self, now: Nanos, member: u16, force: bool) -> Result<(), ServiceError> {
        let volume = self.volume()?;
        Ok(volume.carry_out(now, Happening::Replace { member, force, fault: 0 })?)
    }

    /// The array reads all of itself and makes redundancy fit, as md's `repair` does.
    ///
    /// # Errors
    /// A drive by itself.
    pub fn repair(&mut self, now: Nanos) -> Result<(), ServiceError> {
        self.volume()?.array.start_scrub(now, true);
        Ok(())
    }

    /// Reads a member of the array as it is, beside all that the array asks of it; it completes as a command of the host does. See
    /// [`Array::read_member`].
    ///
    /// # Errors
    /// A drive by itself.
    pub fn read_member(
        &mut self,
        now: Nanos,
        member: u16,
        lba: Lba,
        sectors: u32,
        tag: Tag,
    ) -> Result<(), ServiceError> {
        self.volume()?.array.read_member(now, member.into(), lba, sectors, tag);
        Ok(())
    }

    /// Power failed at `off`, nothing has been asked since, and it is back at `on`. Commands under way are forgotten.
    ///
    /// # Errors
    /// An array that may give wrong data does not start, unless `force`; then it is off.
    pub fn power_cycle(&mut self, off: Nanos, on: Nanos, force: bool) -> Result<(), ServiceError> {
        match &mut self.kind {
            ServedDevice::Drive(ssd) => ssd.power_cycle(off, on),
            ServedDevice::Array(volume) => volume.power_cycle(off, on, force)?,
        }
        Ok(())
    }

    /// From now on drives are ready as soon as their power is back: see [`Ssd::mount_at_once`].
    pub fn mount_at_once(&mut self) {
        match &mut self.kind {
            ServedDevice::Drive(ssd) => ssd.mount_at_once(),
            ServedDevice::Array(volume) => volume.array.with_devices(|_, member| {
                if let Some(ssd) = member.drive_mut() {
                    ssd.mount_at_once();
                }
            }),
        }
    }

    /// As [`InService::power_cycle`] at one moment, and member `member` of the array is gone when power is back.
    ///
    /// # Errors
    /// A drive by itself, no such member, or an array that may give wrong data and does not start, unless `force`; then it is off.
    pub fn power_cycle_without(&mut self, now: Nanos, member: u16, force: bool) -> Result<(), ServiceError> {
        Ok(self.volume()?.power_cycle_without(now, member, force)?)
    }

    /// The next loss of power leaves `tear` of what is being programmed then.
    pub fn tear_next(&mut self, tear: Tear) {
        either!(&mut self.kind, device => device.tear_next(tear));
    }

    /// Starts an array that did not start when power came back.
    ///
    /// # Errors
    /// It still does not, without `force`.
    pub fn start(&mut self, now: Nanos, force: bool) -> Result<(), ServiceError> {
        match &mut self.kind {
            ServedDevice::Drive(_) => Ok(()),
            ServedDevice::Array(volume) => Ok(volume.start(now, force)?),
        }
    }

    fn volume(&mut self) -> Result<&mut ArrayVolume, ServiceError> {
        match &mut self.kind {
            ServedDevice::Drive(_) => Err(ServiceError::NoArray),
            ServedDevice::Array(volume) => Ok(volume),
        }
    }
}

/// Prepares `device` and begins its time; false where `progress` stopped that.
fn begin<M: SimulatedDevice>(
    scenario: &Scenario,
    device: &mut M,
    progress: OnProgress<'_>,
) -> Result<bool, EngineError> {
    let target = target_of(scenario)?;
    let prepared = prepared(scenario, device, &target, progress)?;
    device.begin(scenario)?;
    device.reset(Nanos::ZERO);
    Ok(!prepared.stopped)
}

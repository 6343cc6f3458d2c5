//! A drive or an array in service: prepared as the scenario says, its time begun, and used by others than a workload.

use crate::error::{EngineError, ServiceError};
use crate::member::MemberConfigs;
use crate::progress::OnProgress;
use crate::simulated_device::SimulatedDevice;
use crate::simulation::{drive_of, prepare_device, target_of};
use crate::snapshot::{read_snapshot, settings_of};
use crate::volume::ArrayVolume;
use outlast_array::{Array, PowerCycle};
use outlast_device::{Device, PlacementId, Tag};
use outlast_media::{ByteStore, ConfigError, FaultSpec, UnitTear};
use outlast_persist::{Damage, Reader, Restore, Writer, shape};
use outlast_scenario::{PlannedEvent, Scenario, TimingMode};
use outlast_ssd::Ssd;
use outlast_units::{Lba, Nanos};
use std::{io::Read, sync::Arc};

/// A drive or an array in service. Every constructor prepares it and begins its time.
#[derive(Clone, Debug)]
pub struct InService {
    scenario: Arc<Scenario>,
    device: DriveOrArray,
}

/// The device in service.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum DriveOrArray {
    Drive(Ssd),
    Array(ArrayVolume),
}

/// Does the same with a drive or an array.
macro_rules! either {
    ($self:expr, $device:ident => $do:expr) => {
        match $self {
            DriveOrArray::Drive($device) => $do,
            DriveOrArray::Array($device) => $do,
        }
    };
}

mod device;

impl DriveOrArray {
    /// Builds what `scenario` describes. `is_read` leaves out the tables of an array's members, which will be read whole.
    fn build(scenario: &Scenario, is_read: bool) -> Result<Self, ConfigError> {
        // Before the drives are built, which may take gigabytes.
        scenario.check_policies()?;
        Ok(match &scenario.array {
            None => Self::Drive(drive_of(scenario)?),
            Some(array) if is_read => Self::Array(ArrayVolume::without_tables(scenario, array)?),
            Some(array) => Self::Array(ArrayVolume::new(scenario, array)?),
        })
    }
}

impl Restore for InService {
    const SHAPE: u64 =
        shape("InService", &[("", <Ssd as Restore>::SHAPE), ("", <ArrayVolume as Restore>::SHAPE)]);

    /// Saves the state only: the settings say if it is a drive or an array.
    fn save(&self, to: &mut Writer<'_>) {
        either!(&self.device, device => device.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        either!(&mut self.device, device => device.restore(from))
    }
}

impl InService {
    /// Builds what `scenario` describes, prepares it and begins its time, with the scenario's faults scheduled. The workload is used only
    /// if preconditioning overwrites with it.
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
        let mut device = DriveOrArray::build(&scenario, scenario.precondition.from.is_some())?;
        let is_prepared = either!(&mut device, device => begin(&scenario, device, progress))?;
        Ok(is_prepared.then(|| Self { scenario: Arc::new(scenario), device }))
    }

    /// Builds what `scenario` describes, wraps it by `whole`, and reads the state of the result from `from`, which
    /// [`write_snapshot`](crate::write_snapshot) wrote. Contents go to `store`, if given.
    ///
    /// # Errors
    /// A setting that cannot work, or `from` holds no such state.
    pub fn resume<S: Restore>(
        scenario: Scenario,
        from: &mut dyn Read,
        store: Option<&Arc<dyn ByteStore>>,
        whole: impl FnOnce(Self) -> S,
    ) -> Result<S, EngineError> {
        scenario.validate()?;
        let (settings, member_configs) =
            (settings_of(&scenario), MemberConfigs::of(&scenario, store.cloned()));
        let device = DriveOrArray::build(&scenario, true)?;
        let mut service = Self { scenario: Arc::new(scenario), device };
        if let Some(store) = store {
            service.keep_contents_in(store);
        }
        let mut state = whole(service);
        read_snapshot(from, settings, &member_configs, &mut state).map_err(EngineError::Checkpoint)?;
        Ok(state)
    }

    /// Keeps contents in `store` from now on.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        either!(&mut self.device, device => device.keep_contents_in(store));
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The drive, or all drives that are or were in the array, members first.
    pub fn drives(&self) -> Vec<&Ssd> {
        match &self.device {
            DriveOrArray::Drive(ssd) => vec![ssd],
            DriveOrArray::Array(volume) => volume.drives().collect(),
        }
    }

    /// The drive in `column` of the array; a drive by itself is column 0. `None` for an empty column or a stand-in.
    pub fn drive(&self, column: usize) -> Option<&Ssd> {
        match &self.device {
            DriveOrArray::Drive(ssd) => (column == 0).then_some(ssd),
            DriveOrArray::Array(volume) => volume.array.member(column)?.drive(),
        }
    }

    /// The array; `None` for a drive by itself.
    pub fn array(&self) -> Option<&Array<impl Device + PowerCycle + use<>>> {
        match &self.device {
            DriveOrArray::Drive(_) => None,
            DriveOrArray::Array(volume) => Some(&volume.array),
        }
    }

    /// Notes of scheduled happenings that the array refused, as sentences.
    pub fn notes(&self) -> &[String] {
        match &self.device {
            DriveOrArray::Drive(_) => &[],
            DriveOrArray::Array(volume) => &volume.notes,
        }
    }

    /// The latest simulated time that can be handled.
    pub fn latest(&self) -> Nanos {
        either!(&self.device, device => device.latest())
    }

    /// True if it takes commands; an array that did not start after a loss of power does not.
    pub fn is_up(&self) -> bool {
        either!(&self.device, device => device.is_up())
    }

    /// Injects `fault` at `now`, like a `[[faults]]` entry of the scenario. The device must have been advanced to `now`.
    ///
    /// # Errors
    /// An address that the device does not have, or a refusal of the array. An array that refuses to start after a loss of power stays off.
    pub fn strike(&mut self, now: Nanos, fault: &FaultSpec) -> Result<(), ServiceError> {
        let strike = self.scenario.fault_target("fault", 0, fault)?;
        either!(&mut self.device, device => device.strike(now, strike))
    }

    /// Exchanges member `member` for a new drive.
    ///
    /// # Errors
    /// A drive by itself, or a refusal of the array.
    pub fn replace(&mut self, now: Nanos, member: u16, force: bool) -> Result<(), ServiceError> {
        let volume = self.volume()?;
        Ok(volume.carry_out(now, PlannedEvent::Replace { member, force, fault: 0 })?)
    }

    /// Has the reclaim unit handle of `identifier` refer to an empty reclaim unit. Does nothing to an array, and to a drive without handles.
    pub fn update_handle(&mut self, now: Nanos, identifier: PlacementId) {
        if let DriveOrArray::Drive(ssd) = &mut self.device {
            ssd.update_handle(now, identifier);
        }
    }

    /// Starts a scrub that reads the whole array and corrects redundancy, like md's `repair`.
    ///
    /// # Errors
    /// A drive by itself.
    pub fn repair(&mut self, now: Nanos) -> Result<(), ServiceError> {
        self.volume()?.array.start_scrub(now, true);
        Ok(())
    }

    /// Reads a member of the array directly, beside the array's own commands; completes like a command of the host. See
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

    /// Loses power at `off` and regains it at `on`; nothing may have been submitted since `off`. Commands under way are dropped.
    ///
    /// # Errors
    /// An array whose data may be wrong does not start without `force`; it is off then.
    pub fn power_cycle(&mut self, off: Nanos, on: Nanos, force: bool) -> Result<(), ServiceError> {
        match &mut self.device {
            DriveOrArray::Drive(ssd) => ssd.power_cycle(off, on),
            DriveOrArray::Array(volume) => volume.power_cycle(off, on, force)?,
        }
        Ok(())
    }

    /// Makes drives ready as soon as power is back, from now on: see [`Ssd::mount_at_once`].
    pub fn mount_at_once(&mut self) {
        match &mut self.device {
            DriveOrArray::Drive(ssd) => ssd.mount_at_once(),
            DriveOrArray::Array(volume) => volume.array.with_devices(|_, member| {
                if let Some(ssd) = member.drive_mut() {
                    ssd.mount_at_once();
                }
            }),
        }
    }

    /// Loses and regains power at `now`; member `member` of the array is gone afterwards.
    ///
    /// # Errors
    /// A drive by itself, no such member, or an array that does not start without `force`; it is off then.
    pub fn power_cycle_without(&mut self, now: Nanos, member: u16, force: bool) -> Result<(), ServiceError> {
        Ok(self.volume()?.power_cycle_without(now, member, force)?)
    }

    /// Sets how much of the operations under way the next loss of power leaves on flash.
    pub fn tear_next(&mut self, tear: UnitTear) {
        either!(&mut self.device, device => device.tear_next(tear));
    }

    /// Starts an array that did not start when power came back.
    ///
    /// # Errors
    /// The array still refuses, without `force`.
    pub fn start(&mut self, now: Nanos, force: bool) -> Result<(), ServiceError> {
        match &mut self.device {
            DriveOrArray::Drive(_) => Ok(()),
            DriveOrArray::Array(volume) => Ok(volume.start(now, force)?),
        }
    }

    /// The array.
    fn volume(&mut self) -> Result<&mut ArrayVolume, ServiceError> {
        match &mut self.device {
            DriveOrArray::Drive(_) => Err(ServiceError::NoArray),
            DriveOrArray::Array(volume) => Ok(volume),
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
    let prepared = prepare_device(scenario, device, &target, progress)?;
    device.begin(scenario)?;
    device.reset(Nanos::ZERO);
    Ok(!prepared.stopped)
}

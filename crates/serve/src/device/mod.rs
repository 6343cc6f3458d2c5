//! A drive or an array in service.

mod advance;
mod commands;
mod contents;
mod die_losses;
mod events;
mod health;
mod members;
mod outcomes;
mod placement;
mod power;
mod refused;
mod snapshot;
mod state;
mod tags;
mod zones;

pub use events::DeviceEvent;
pub(crate) use events::fault_in_words;
pub(crate) use placement::PlacementReport;
pub use refused::RefusedInput;
pub use state::{ArrayState, DeviceKind, DeviceState, DriveState, MemberState, PassState, RepairState};
pub use zones::ZonesState;
pub(crate) use zones::write_offset;

use crate::input::DeviceInput;
use crate::store::FileStore;
use die_losses::DieLossCache;
use events::EventHistory;
use outlast_device::{Completion, Device, Extent, Identity, Peek, Smart, Tag};
use outlast_engine::{EngineError, InService, OnProgress, Scenario};
use outlast_units::{Lba, Nanos};
use std::sync::Arc;
use tags::TagsInFlight;

/// Upper bound of tags, exclusive.
pub const TAG_LIMIT: u32 = 1 << 20;

/// A prepared drive or array whose time has begun. Only [`ServedDevice::apply`] changes it; forks also answer hypothetical questions.
///
/// Its state depends on the inputs and their times alone, not on when [`ServedDevice::advance`] was called in between: before each input, everything
/// due by then is done. Equal inputs at equal times give equal devices.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub struct ServedDevice {
    service: InService,
    /// Latest time that the device has been given.
    now: Nanos,
    /// Completions that have not been handed out.
    ready: Vec<Completion>,
    tags: TagsInFlight,
    /// Data of reads that completed before power was lost and have not been handed out.
    unclaimed_reads: Vec<(Tag, Vec<u8>)>,
    /// Time at which power was lost; `None` while there is power.
    off_since: Option<Nanos>,
    /// Total time without power, up to the last return of power.
    total_off: Nanos,
    events: EventHistory,
    /// Store of the device's bytes, if they are not in memory.
    #[persist(skip)]
    store: Option<Arc<FileStore>>,
    #[persist(skip)]
    die_losses: DieLossCache,
}

impl ServedDevice {
    /// Builds the device that `scenario` describes, with its bytes, prepares it, and begins its time. `None` if `progress` stopped it.
    ///
    /// # Errors
    /// The first setting that cannot work, or a drive that wears out while it is being prepared.
    pub fn prepare(scenario: &Scenario, progress: OnProgress<'_>) -> Result<Option<Self>, EngineError> {
        let mut scenario = scenario.clone();
        // Clients read what they wrote, so the device must keep data, which simulations do not need.
        scenario.device.bytes = true;
        Ok(InService::new(scenario, progress)?.map(Self::with_service))
    }

    /// As [`ServedDevice::prepare`], without a way to stop it.
    ///
    /// # Errors
    /// Those of [`ServedDevice::prepare`].
    ///
    /// # Panics
    /// Never.
    pub fn new(scenario: &Scenario) -> Result<Self, EngineError> {
        let made = Self::prepare(scenario, &mut |_| outlast_engine::RunControl::Continue)?;
        Ok(made.expect("preparing ends where nobody stops it"))
    }

    fn with_service(service: InService) -> Self {
        Self {
            service,
            now: Nanos::ZERO,
            ready: Vec::new(),
            tags: TagsInFlight::default(),
            unclaimed_reads: Vec::new(),
            off_since: None,
            total_off: Nanos::ZERO,
            events: EventHistory::default(),
            store: None,
            die_losses: DieLossCache::default(),
        }
    }

    /// Does everything that is due by `now`, then applies an input. A `now` before the latest time counts as the latest time.
    ///
    /// # Errors
    /// The device refuses the input. Refusals are as repeatable as everything else.
    pub fn apply(&mut self, now: Nanos, input: &DeviceInput<'_>) -> Result<(), RefusedInput> {
        let now = self.advance_to(now)?;
        let done = match *input {
            DeviceInput::Command { tag, command, data } => return self.submit(now, tag, command, data),
            DeviceInput::ReadMember { tag, member, lba, sectors } => {
                return self.read_member(now, tag, member.into(), lba, sectors);
            }
            DeviceInput::Advance => return Ok(()),
            DeviceInput::Mark(text) => {
                self.events.record(now, "mark", text.to_owned());
                Ok(())
            }
            DeviceInput::Power(power) => self.change_power(now, power),
            DeviceInput::Tear(tear) => {
                self.service.tear_next(tear);
                Ok(())
            }
            DeviceInput::Fault(fault) => self.check_power().and_then(|()| {
                self.service.strike(now, fault)?;
                self.events.record(now, "fault", events::fault_in_words(fault));
                Ok(())
            }),
            DeviceInput::Replace { member, force } => self.check_power().and_then(|()| {
                self.service.replace(now, member, force)?;
                self.events.record(now, "replace", format!("member {member} is exchanged for a new drive"));
                Ok(())
            }),
            DeviceInput::UpdateHandle(identifier) => self.check_power().map(|()| {
                self.update_handle(now, identifier);
            }),
            DeviceInput::Repair => self.check_power().and_then(|()| {
                self.service.repair(now)?;
                self.events.record(
                    now,
                    "repair",
                    "the array is scrubbed: all of it is read, and redundancy is repaired".to_owned(),
                );
                Ok(())
            }),
        };
        self.events.collect(&mut self.service);
        done
    }

    /// Latest time that the device has been given.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// An independent copy, with the commands under way. Contents are shared until one of the two changes them, so the cost is mostly that of
    /// copying the tables.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// State of `sectors` sectors from `lba` on, clipped to the capacity: consecutive runs, in order.
    pub fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.service.extents(lba, sectors)
    }

    /// Data that a read of `sectors` sectors from `lba` on would return, appended to `to`: see [`Device::peek`].
    pub fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.service.peek(lba, sectors, to);
    }

    /// Model, capacity and sizes, as a host is told.
    pub fn identify(&self) -> Identity {
        self.service.identify()
    }

    /// Health summary, as a host is told.
    pub fn smart(&self) -> Smart {
        self.service.smart()
    }

    /// The scenario it was built from, with `device.bytes` set.
    pub fn scenario(&self) -> &Scenario {
        self.service.scenario()
    }

    /// Number of commands under way.
    pub fn in_flight(&self) -> u32 {
        self.tags.len()
    }

    /// Tags of the commands under way, in ascending order.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.tags.tags()
    }

    /// True while the power is off.
    pub fn is_off(&self) -> bool {
        self.off_since.is_some()
    }

    /// True if the device takes commands: it has power and, if it is an array, has started.
    pub fn is_up(&self) -> bool {
        self.off_since.is_none() && self.service.is_up()
    }

    /// State for people. Counters are cumulative, so any number of readers can take differences. The cost is proportional to the number of blocks.
    pub fn state(&self) -> DeviceState {
        DeviceState::of(&self.service, self.now, self.off_since.is_none(), &self.die_losses)
    }

    /// Number of events over the life of the device.
    pub fn event_count(&self) -> u64 {
        self.events.count()
    }

    /// The latest events, oldest first.
    pub fn events(&self) -> impl Iterator<Item = &DeviceEvent> {
        self.events.iter()
    }

    /// Checks every invariant, at a cost proportional to the size of the device. For tests.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub fn self_check(&self) -> Result<(), String> {
        self.service.self_check()
    }

    fn check_power(&self) -> Result<(), RefusedInput> {
        if self.off_since.is_some() {
            return Err(RefusedInput::Off);
        }
        if self.service.is_up() { Ok(()) } else { Err(RefusedInput::NotStarted) }
    }
}

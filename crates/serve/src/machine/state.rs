//! How a machine is, for people and their programs.

use super::memo::Memo;
use outlast_array::{ArrayCondition, MemberRepair, PassKind};
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_engine::InService;
use outlast_ssd::{BufferView, DieView, RedundancyLoss, RedundancyView, Ssd, SuperblockCounts};
use outlast_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a machine is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A drive by itself.
    Drive,
    /// An array of drives.
    Array,
}

/// A machine at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// Its time, in nanoseconds since it was put in service.
    pub now_ns: u64,
    /// What it is made of.
    pub kind: Kind,
    /// The scenario's name.
    pub name: String,
    /// The model.
    pub model: String,
    /// What the host addresses, in bytes.
    pub capacity: u64,
    /// The unit in which it maps, in bytes.
    pub unit: u64,
    /// Whether it has power and, if it is an array, has started.
    pub powered: bool,
    /// Whether it takes no more writes.
    pub read_only: bool,
    /// The drives; of an array those that are or were in it, members first.
    pub drives: Vec<DriveState>,
    /// The array, if it is one.
    pub array: Option<ArrayState>,
}

/// A drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveState {
    /// Its column, or that of a spare, as `device` of a fault has it; absent where it has left the array.
    pub device: Option<usize>,
    /// Channels.
    pub channels: u16,
    /// Dies of a channel.
    pub dies_per_channel: u16,
    /// Dies, channel by channel.
    pub dies: Vec<DieView>,
    /// Superblocks by what they are.
    pub superblocks: SuperblockCounts,
    /// How many failures its data survives, and what it lacks.
    pub redundancy: RedundancyView,
    /// Dies that may still fail, all in the worst place, before it takes no more writes.
    pub takes_writes_after: u32,
    /// Dies and planes that were given up while data with parity lay on them, and when redundancy was whole again.
    pub redundancy_losses: Vec<RedundancyLoss>,
    /// The write buffer.
    pub buffer: BufferView,
    /// Mapping units programmed since it was put in service, by cause.
    pub units: BTreeMap<&'static str, u64>,
    /// Pages read since then, by cause.
    pub reads: BTreeMap<&'static str, u64>,
    /// Blocks erased since then.
    pub erases: u64,
    /// Nanoseconds since then for which host writes waited for garbage collection, summed over cores.
    pub blocked_ns: u64,
    /// Mapping units whose data is lost and that have been neither written nor trimmed since.
    pub lost_units: u64,
    /// Mapping units whose data lies where it does not belong any more since a die failed.
    pub left_behind_units: u64,
    /// Losses of power over its life.
    pub power_cuts: u64,
    /// Mapping units that a loss of power has left shorn or torn, which the drive takes for good.
    pub torn_units: u64,
    /// While it mounts from flash and commands wait: until when, in nanoseconds of the machine's time.
    pub ready_at_ns: Option<u64>,
}

/// An array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayState {
    /// Its level, as in scenarios.
    pub level: &'static str,
    /// What commands of the host meet.
    pub condition: ArrayCondition,
    /// Its members, by column.
    pub members: Vec<MemberState>,
    /// Devices standing by.
    pub spares: usize,
    /// What it does for itself.
    pub pass: Option<PassState>,
    /// Recoveries from failed dies, finished or not.
    pub repairs: Vec<RepairState>,
    /// Sectors of host data that nothing can bring back.
    pub lost_sectors: u64,
    /// Stripes that a loss of power has left with wrong redundancy where it was needed.
    pub write_holes: u64,
}

/// A member of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberState {
    /// Whether a device is there.
    pub present: bool,
    /// Whether all of it can be read.
    pub in_sync: bool,
    /// Read errors not yet forgotten.
    pub read_errors: u32,
    /// Sectors that could not be written.
    pub bad_sectors: u64,
}

/// A pass of an array over itself, or the repair of a member.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassState {
    /// What it does.
    pub kind: PassKind,
    /// Bytes of each member done.
    pub done: u64,
    /// Bytes of each member in all.
    pub total: u64,
}

/// The recovery of what a member has lost with a die.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RepairState {
    /// The member.
    pub member: usize,
    /// The die.
    pub die: u16,
    /// How.
    pub way: RepairWay,
    /// When the member told of it.
    pub noticed_ns: u64,
    /// When recovery began; absent while it waits.
    pub started_ns: Option<u64>,
    /// When it ended.
    pub finished_ns: Option<u64>,
    /// Whether it ended early.
    pub abandoned: bool,
}

impl State {
    pub(super) fn of(service: &InService, now: Nanos, has_power: bool, memo: &Memo) -> Self {
        let (identity, scenario) = (service.identify(), service.scenario());
        let kind = if scenario.array.is_some() { Kind::Array } else { Kind::Drive };
        let members = scenario.array.as_ref().map_or(1, |array| usize::from(array.members));
        let spares = service.array().map_or(0, |array| array.status(now).spares);
        let columns = (0..members).filter(|&column| service.drive(column).is_some());
        let places = columns.chain(members..members + spares).map(Some).chain(std::iter::repeat(None));
        let drives = places.zip(service.drives());
        Self {
            now_ns: now.0,
            kind,
            name: scenario.name.clone(),
            model: identity.model,
            capacity: identity.capacity.0,
            unit: scenario.device.ftl.mapping_unit.0,
            powered: has_power && service.is_up(),
            read_only: service.smart().read_only,
            drives: drives
                .enumerate()
                .map(|(place, (device, ssd))| {
                    let takes_writes_after = memo.dies_it_can_lose(place, ssd, now);
                    DriveState::of(device, ssd, now, takes_writes_after)
                })
                .collect(),
            array: service.array().map(|array| {
                let (status, counters) = (array.status(now), array.counters());
                ArrayState {
                    level: status.level,
                    condition: array.condition(),
                    members: status.members.iter().map(MemberState::of).collect(),
                    spares: status.spares,
                    pass: status.progress.map(|pass| PassState {
                        kind: pass.kind,
                        done: pass.done.0,
                        total: pass.total.0,
                    }),
                    repairs: array.repairs().iter().map(RepairState::of).collect(),
                    lost_sectors: status.lost_sectors,
                    write_holes: counters.write_holes,
                }
            }),
        }
    }
}

impl DriveState {
    fn of(device: Option<usize>, ssd: &Ssd, now: Nanos, takes_writes_after: u32) -> Self {
        let (geometry, counters) = (&ssd.config().geometry, ssd.counters());
        Self {
            device,
            channels: geometry.channels,
            dies_per_channel: geometry.dies() / geometry.channels,
            dies: ssd.die_views(now),
            superblocks: ssd.superblock_counts(),
            redundancy: ssd.redundancy(),
            takes_writes_after,
            redundancy_losses: ssd.redundancy_losses().to_vec(),
            buffer: ssd.buffer_view(),
            units: ssd.written().iter().map(|(cause, units)| (cause.name(), units)).collect(),
            reads: counters.reads.iter().map(|(cause, pages)| (cause.name(), pages)).collect(),
            erases: counters.erases,
            blocked_ns: counters.blocked_ns,
            lost_units: ssd.lost_units(),
            left_behind_units: ssd.left_behind_units().count() as u64,
            power_cuts: ssd.power_cuts().cuts,
            torn_units: ssd.torn_units(),
            ready_at_ns: ssd.ready_at().map(|at| at.0),
        }
    }
}

impl MemberState {
    fn of(status: &outlast_array::MemberStatus) -> Self {
        Self {
            present: status.present,
            in_sync: status.in_sync,
            read_errors: status.read_errors,
            bad_sectors: status.bad_sectors,
        }
    }
}

impl RepairState {
    fn of(repair: &MemberRepair) -> Self {
        Self {
            member: repair.member,
            die: repair.die,
            way: repair.way,
            noticed_ns: repair.noticed_at.0,
            started_ns: repair.started_at.map(|at| at.0),
            finished_ns: repair.finished_at.map(|at| at.0),
            abandoned: repair.abandoned,
        }
    }
}

//! State of a device, for people and their programs.

use super::die_losses::DieLossCache;
use super::zones::ZonesState;
use outlast_array::{ArrayCondition, MemberRepair, PassKind};
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_engine::InService;
use outlast_ssd::{
    BufferView, DieView, DriveRedundancy, RedundancyLoss, Ssd, SuperblockCounts, SuperblockMap,
};
use outlast_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most cells of the map of the superblocks of one drive.
const MOST_CELLS: usize = 1024;

/// Kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A single drive.
    Drive,
    /// An array of drives.
    Array,
}

/// State of a device at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceState {
    /// Simulated time, in nanoseconds since the device was put in service.
    pub now_ns: u64,
    /// Kind of device.
    pub kind: DeviceKind,
    /// The scenario's name.
    pub name: String,
    /// Model name.
    pub model: String,
    /// Capacity that the host addresses, in bytes.
    pub capacity: u64,
    /// Mapping unit, in bytes.
    pub unit: u64,
    /// True if the device has power and, if it is an array, has started.
    pub powered: bool,
    /// True if the device takes no more writes.
    pub read_only: bool,
    /// Drives. For an array all that are or were in it, members first.
    pub drives: Vec<DriveState>,
    /// The array, if it is one.
    pub array: Option<ArrayState>,
}

/// State of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveState {
    /// Column of the drive, or index of the spare, as in the field `device` of a fault; absent once it has left the array.
    pub device: Option<usize>,
    /// Number of channels.
    pub channels: u16,
    /// Number of dies on each channel.
    pub dies_per_channel: u16,
    /// State of each die, channel by channel.
    pub dies: Vec<DieView>,
    /// Number of superblocks in each state.
    pub superblocks: SuperblockCounts,
    /// Map of the superblocks, at most 1024 cells.
    pub superblock_map: SuperblockMap,
    /// Number of failures that the data survives, and missing redundancy.
    pub redundancy: DriveRedundancy,
    /// Number of dies that may still fail, in the worst combination, before the drive becomes read-only.
    pub takes_writes_after: u32,
    /// Failures of dies and planes that held data with parity, and when redundancy was whole again.
    pub redundancy_losses: Vec<RedundancyLoss>,
    /// State of the write buffer.
    pub buffer: BufferView,
    /// Mapping units programmed since the drive was put in service, by cause.
    pub units: BTreeMap<&'static str, u64>,
    /// Pages read since the drive was put in service, by cause.
    pub reads: BTreeMap<&'static str, u64>,
    /// Blocks erased since the drive was put in service.
    pub erases: u64,
    /// Nanoseconds for which host writes waited for garbage collection since the drive was put in service, summed over cores.
    pub blocked_ns: u64,
    /// Mapping units whose data is lost, and which have been neither written nor trimmed since.
    pub lost_units: u64,
    /// Mapping units whose data lies in the wrong place since a die failed.
    pub left_behind_units: u64,
    /// Losses of power over the life of the drive.
    pub power_cuts: u64,
    /// Mapping units that a loss of power has left shorn or torn, and which the drive takes for valid.
    pub torn_units: u64,
    /// End of a mount from flash for which commands wait, in nanoseconds of simulated time; absent if the drive is ready.
    pub ready_at_ns: Option<u64>,
    /// Zones, if the drive has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZonesState>,
}

/// State of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayState {
    /// RAID level, as in scenarios.
    pub level: &'static str,
    /// Condition of the array, as commands of the host meet it.
    pub condition: ArrayCondition,
    /// Members, by column.
    pub members: Vec<MemberState>,
    /// Number of spare devices.
    pub spares: usize,
    /// Resynchronisation, scrub or rebuild in progress.
    pub pass: Option<PassState>,
    /// Recoveries from failed dies, finished or not.
    pub repairs: Vec<RepairState>,
    /// Sectors of host data that are lost for good.
    pub lost_sectors: u64,
    /// Stripes whose redundancy a loss of power had left wrong when it was needed.
    pub write_holes: u64,
}

/// State of a member of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberState {
    /// True if a device is present.
    pub present: bool,
    /// True if every sector of the member can be read.
    pub in_sync: bool,
    /// Read errors that count towards the limit.
    pub read_errors: u32,
    /// Sectors that could not be written.
    pub bad_sectors: u64,
}

/// Progress of a pass over an array, or of the repair of a member.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassState {
    /// Kind of pass.
    pub kind: PassKind,
    /// Bytes done of each member.
    pub done: u64,
    /// Bytes of each member.
    pub total: u64,
}

/// Recovery of the data that a member has lost with a die.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RepairState {
    /// Column of the member.
    pub member: usize,
    /// Number of the die.
    pub die: u16,
    /// Way in which the data is restored.
    pub way: RepairWay,
    /// Time at which the member reported the failure, in nanoseconds.
    pub noticed_ns: u64,
    /// Time at which recovery began, in nanoseconds; absent while it waits.
    pub started_ns: Option<u64>,
    /// Time at which recovery ended, in nanoseconds.
    pub finished_ns: Option<u64>,
    /// True if recovery ended early.
    pub abandoned: bool,
}

impl DeviceState {
    pub(super) fn of(service: &InService, now: Nanos, has_power: bool, die_losses: &DieLossCache) -> Self {
        let (identity, scenario) = (service.identify(), service.scenario());
        let kind = if scenario.array.is_some() { DeviceKind::Array } else { DeviceKind::Drive };
        let members = scenario.array.as_ref().map_or(1, |array| usize::from(array.members));
        let spares = service.array().map_or(0, |array| array.status(now).spares);
        let columns = (0..members).filter(|&column| service.drive(column).is_some());
        // Members by column, then spares, then drives that have left the array and have no column.
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
                    let takes_writes_after = die_losses.dies_it_can_lose(place, ssd, now);
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
            superblock_map: ssd.superblock_map(MOST_CELLS),
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
            zones: ssd.zones().map(|table| ZonesState::of(table, MOST_CELLS)),
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
            member: repair.member.index(),
            die: repair.die,
            way: repair.way,
            noticed_ns: repair.noticed_at.0,
            started_ns: repair.started_at.map(|at| at.0),
            finished_ns: repair.finished_at.map(|at| at.0),
            abandoned: repair.abandoned,
        }
    }
}

//! The array as a state machine, put together from its parts.
//!
//! Files call downwards only, in the order of this list; `python tests/structure.py` finds no circle, and a test keeps it so.
//!
//! - *Inputs*: [`device`] and [`inputs`], [`power`]; then [`events`], which takes the next deadline and settles.
//! - *Work*: [`host`] takes commands and cuts them into pieces; [`pass`] and [`repair`] work in the background and yield to the host as md's does
//!   (decision 0101); [`membership`] takes devices in and out.
//! - [`completions`] hands what members have done to its handler: [`direct`] for parts that need no lock, or a step of an operation on a group.
//! - *Steps* of an operation: [`begin`], [`gather`], [`window`], [`record`], [`commit`].
//! - *Ends*: [`ends`] of operations, [`replies`] to the host, [`ejection`] of members, [`shift`] of parity, [`losses`], [`bitmap`]; and [`send`], the
//!   way to the members.
//!
//! An event records what it makes due for others (operations that got a lock, room or a mark, members that must leave, passes), and one settle after it
//! does that (decision 0034): so nothing calls upwards.
//!
//! The parts own their state and decide on plain data: members with their next events, commands and operations in flight, doubt, passes, repairs. They never
//! call each other. [`availability`] and [`plan`] answer questions about some of them and change nothing; [`deciders`] asks user policies. All methods of the
//! array are in this folder, to which its fields are private. [`extents`], [`peek`], [`status`] and [`untimed`] are outputs, [`check`] judges state that has
//! been read.

mod accounting;
mod availability;
mod begin;
mod bitmap;
mod check;
mod commit;
mod completions;
mod deciders;
mod device;
mod direct;
mod ejection;
mod ends;
mod events;
mod extents;
mod flight;
mod gather;
mod history;
mod host;
mod inputs;
mod losses;
mod member_reads;
mod membership;
mod pass;
mod peek;
mod plan;
mod power;
mod record;
mod repair;
mod replies;
mod send;
mod setup;
mod shift;
mod status;
mod untimed;
mod window;

use crate::accounts::HostAccounts;
use crate::doubt::PowerLossDoubt;
use crate::ids::{ColumnDevice, ColumnIndex};
use crate::layout::{GroupLayout, RowRange, lay_out_over};
use crate::members::ArrayMembers;
use crate::passes::{BackgroundPasses, PassKind};
use crate::repairs::MemberRepairs;
use availability::RoleAvailability;
use deciders::ArrayDeciders;
use flight::{ArrayFlight, HostReplies};
use history::ArrayHistory;
use outlast_device::{Command, Completion, Device, Op as HostOp};
use outlast_media::ConfigError;
use outlast_settings::array::ArrayConfig;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use plan::GatherPlanner;
use repair::RepairRanges;
use setup::ArraySetup;

/// An array of devices; itself a [`Device`].
///
/// **Inputs** beside those of a device: [`Array::fail_member`], [`Array::replace`], [`Array::add_spare`], [`Array::start_scrub`],
/// [`Array::power_failure`], [`Array::power_cut`] and [`Array::power_on`], [`Array::finish_shift`], [`Array::read_member`]. **Outputs** beside completions: [`Array::status`],
/// [`Array::counters`], [`Array::events`], [`Array::lost`].
///
/// **Time rule**: see [`Device`]. All inputs take the time, and first do what is due before it, so that members never see time run
/// backwards; the completions of that come out with the next `advance`.
///
/// **Consistency.** An operation that writes a group holds a lock on its rows until the last member has written. Reads of healthy data take no lock;
/// reads that need redundancy, and all reads while parity moves, take a shared one. Without redundancy, only passes write beside
/// the host: during a pass the host's writes take a lock, too, and a pass first waits for writes that were sent without one.
///
/// **Time of its own**: none. Computing parity is free, as in the Diff-RAID paper, which switches it off.
///
/// **Call order.** Every input is one event: what is due before it, the input itself, then one `settle`, which runs whatever that made due
/// (operations that got their lock, room or mark, members that must leave, host commands held back, passes) until nothing is. Handlers only
/// set such things due; none of them calls another handler.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub struct Array<D: Device> {
    #[persist(skip)]
    setup: ArraySetup,
    /// User policies; `None` if the settings decide everything.
    #[persist(skip)]
    deciders: Option<Box<ArrayDeciders>>,
    layout: GroupLayout,
    members: ArrayMembers<D>,
    flight: ArrayFlight,
    replies: HostReplies,
    /// State kept for a loss of power.
    doubt: PowerLossDoubt,
    passes: BackgroundPasses,
    repairs: MemberRepairs,
    history: ArrayHistory,
    /// Accounts of where the time of commands goes, if asked for.
    #[persist(skip)]
    accounts: Option<Box<HostAccounts>>,
    clock: Nanos,
    read_only: bool,
    powered: bool,
    /// Completions of members; kept so that its memory is reused.
    buffer: Vec<Completion>,
}

impl<D: Device> Array<D> {
    /// Builds an array of the first `members` of `devices`, with the rest as spares. `bytes`: the members keep bytes, and so does the
    /// array. All devices must be empty, or hold what an array left on them.
    ///
    /// # Errors
    /// The first setting that cannot work, or too few or too small devices.
    ///
    /// # Panics
    /// Never: validation has seen to it that there is a member.
    pub fn new(config: ArrayConfig, devices: Vec<D>, bytes: bool) -> Result<Self, ConfigError> {
        config.validate()?;
        let (members, wanted) = (usize::from(config.members), usize::from(config.members + config.spares));
        if devices.len() != wanted {
            let limit =
                format!("needs {wanted} devices with its {} spares, not {}", config.spares, devices.len());
            return Err(ConfigError::new("array.members", config.members, limit));
        }
        let identities: Vec<_> = devices.iter().map(Device::identify).collect();
        let sizes = || identities.iter().map(|identity| identity.capacity.0 / SECTOR_BYTES * SECTOR_BYTES);
        let smallest = Bytes(sizes().min().expect("an array has members"));
        let largest = Bytes(sizes().max().expect("an array has members"));
        let layout = lay_out_over(&config, smallest)?;
        if let Some(share) = config.repair.share
            && identities.iter().any(|identity| identity.link.is_none())
        {
            let limit =
                "needs device.controller.link: without a link bandwidth there is nothing to take a share of";
            return Err(ConfigError::new("array.repair.share", share, limit));
        }
        let mut history = ArrayHistory::default();
        if largest > smallest {
            history.notices.push(format!(
                "members differ in size: {smallest} of each is used, up to {largest} there is"
            ));
        }
        let trim_unit = identities.iter().map(|identity| identity.optimal_io.0 / SECTOR_BYTES).max();
        let setup = ArraySetup::new(config, &layout, smallest, trim_unit.unwrap_or(1), bytes)?;
        Ok(Self {
            members: ArrayMembers::new(devices, members, |device| f64::from(device.smart().percentage_used)),
            flight: ArrayFlight::new(),
            replies: HostReplies::default(),
            doubt: PowerLossDoubt::new(&setup.config, layout.groups, layout.chunk),
            passes: BackgroundPasses::new(&setup.config.background),
            repairs: MemberRepairs::default(),
            history,
            accounts: None,
            clock: Nanos::ZERO,
            read_only: false,
            powered: true,
            buffer: Vec::new(),
            deciders: ArrayDeciders::new(&setup.config.own),
            layout,
            setup,
        })
    }

    /// Sets another measure of a member's age than the percentage of its rating in its health log: any
    /// figure that grows with wear. [`ReplacementConfig::limit_percent`](crate::ReplacementConfig) is compared with it.
    #[must_use]
    pub fn with_age(mut self, age_of: fn(&D) -> f64) -> Self {
        self.members.set_age_measure(age_of);
        self
    }

    /// The settings.
    pub fn config(&self) -> &ArrayConfig {
        &self.setup.config
    }

    /// Remarks on how the devices fit together, for the user.
    pub fn notices(&self) -> &[String] {
        &self.history.notices
    }

    /// The device in column `column`, if there is one.
    pub fn member(&self, column: usize) -> Option<&D> {
        self.members.get(self.members.find_column(column).ok()?)?.device.as_ref()
    }

    /// The mutable device in column `column`, to inject faults.
    pub fn member_mut(&mut self, column: usize) -> Option<&mut D> {
        let column = self.members.find_column(column).ok()?;
        self.members.device_mut(ColumnDevice::Member(column))
    }

    /// Devices that have left, with the column they had, oldest first.
    pub fn removed(&self) -> &[(ColumnIndex, D)] {
        self.members.removed()
    }

    /// Every device, including those that failed or that the array replaced by itself: members by column, then spares, then
    /// those that have left, oldest first, then donors, which are being replaced.
    pub fn devices(&self) -> impl Iterator<Item = &D> {
        self.members.devices()
    }

    /// Changes devices from outside, between commands: to prepare them, or to schedule faults. `change` gets members with
    /// their column, spares with the numbers that follow, and those that have left with further ones.
    pub fn with_devices(&mut self, mut change: impl FnMut(usize, &mut D)) {
        let members = self.members.len();
        for (column, member) in self.members.iter_mut().enumerate() {
            if let Some(device) = &mut member.device {
                change(column, device);
            }
        }
        for (index, device) in self.members.others_mut().enumerate() {
            change(members + index, device);
        }
        self.members.refresh_deadlines();
    }

    /// True if some member is being rebuilt or repaired, or parity moves.
    pub fn is_rebuilding(&self) -> bool {
        let pass = self.passes.under_way();
        self.passes.is_shift_pending()
            || self.repairs.in_place()
            || pass.is_some_and(|pass| matches!(pass.kind, PassKind::Rebuild | PassKind::Shift))
    }

    /// True if parity is in doubt since a loss of power.
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.resync().is_some()
    }

    /// True if the array has power, and has started.
    pub fn is_powered(&self) -> bool {
        self.powered
    }

    /// Bytes allocated for bookkeeping, without that of members.
    pub fn heap_bytes(&self) -> usize {
        self.flight.heap_bytes()
    }

    /// The roles of groups that can be read and written now.
    #[inline]
    fn availability(&self) -> RoleAvailability<'_, D> {
        RoleAvailability { layout: &self.layout, members: &self.members }
    }

    /// The facts that plans of operations depend on.
    #[inline]
    fn planner(&self) -> GatherPlanner<'_, D> {
        GatherPlanner {
            layout: &self.layout,
            availability: self.availability(),
            doubt: &self.doubt,
            writes: self.setup.config.writes,
        }
    }

    /// The ranges in which members are queried about failed sectors.
    fn repair_ranges(&self) -> RepairRanges {
        let sectors = self.setup.config.repair.range.0 / SECTOR_BYTES;
        RepairRanges { sectors, member_sectors: self.layout.member_sectors() }
    }
}

/// A command to a member.
pub(super) fn command(op: HostOp, lba: u64, rows: RowRange) -> Command {
    Command::new(op, Lba(lba), rows.len())
}

//! The drive: a machine of host commands, flash cores, dies and channels.

use crate::drive::{HostHandles, IdleWatch, Mounts, ZoneSplit};
use crate::health::{Changes, FaultSchedule};
use crate::heat::PowerWatch;
use crate::host::HostSide;
use crate::placement::Classifier;
use crate::shutdowns::Shutdowns;
use crate::totals::{AtReset, PowerCuts};
use outlast_controller::{CoreContext, DriveSource, DueEvent, FlashCore, HostRequestId, Processor};
use outlast_device::{Completion, Notice};
use outlast_media::ByteStore;
use outlast_settings::drive::SsdConfig;
use outlast_units::{CoreId, DieId, IndexVec, LocalDie, Nanos};
use std::collections::VecDeque;
use std::sync::Arc;

/// A simulated solid-state drive: a machine made of parts.
///
/// The way of a command: the host link brings it in, the master core splits it by mapping unit, the flash core of each unit
/// translates it, the die and its channel carry it out, the link takes the data back. Each stage is a machine that books
/// time; with one core, zero CPU cost and no link it is a plain SSD.
///
/// # Inputs, settling, outputs
///
/// *Inputs* are the host's ([`Device::submit`](outlast_device::Device::submit)), simulated time ([`Device::advance`](outlast_device::Device::advance), one event at a time in `step`), and what is asked for
/// from outside: faults ([`Ssd::inject`]), losses of power, changes of code and dies. Each is one handler. A handler changes the state of
/// parts, submits flash operations, and records what may be *due* in consequence.
///
/// After each input the drive *settles* (`settle.rs`): what is due is done in a fixed order until nothing is, that which comes of it included.
/// On each flash core: victims whose data is on flash are erased; victims that have been moved are erased, or wait for flash; wear levelling,
/// garbage collection and scrubbing begin; then flushes and the drive's own moves go on, and host writes that wait enter the buffer. Last, dies
/// that wait to start an internal operation may. A write that enters, or an operation that begins, may make any of this due again.
///
/// # Flash cores
///
/// Work of one flash core alone is a method of `FlashCore` (`core/`), which sees its own private fields and a `CoreContext`: the parts of the
/// drive that all cores share. It sees neither the other cores nor the drive; what concerns them is an effect, which the drive applies. Methods of `Ssd`
/// are what needs several cores: the host's side, redirection, power, failures.
///
/// *Outputs* are values: completions, notices, data and answers, which the caller takes.
///
/// Order of calls: `submit` at a time not before the last one; `advance` to a deadline ([`Device::next_deadline`](outlast_device::Device::next_deadline)) or beyond; then `take_data`,
/// `take_lba_status`, `take_notice`. Between calls nothing is due ([`Device::self_check`](outlast_device::Device::self_check) sees to that).
///
/// **Time rule**: see [`Device`](outlast_device::Device). The sources of events are the dies, the flash cores' processors, the master core, the link, housekeeping and the
/// slots of internal operations that think; each has at most one pending event. Of the priorities on a die see [`Flash`].
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(within, check)]
pub struct Ssd {
    #[persist(each)]
    pub(crate) cores: IndexVec<CoreId, FlashCore>,
    /// Parts of the drive that all flash cores use.
    pub(crate) context: CoreContext,
    pub(crate) host: HostSide,
    /// True if the drive settles, which is not to be entered again.
    #[persist(skip)]
    pub(crate) is_settling: bool,
    pub(crate) master: Processor<HostRequestId>,
    pub(crate) at_reset: AtReset,
    /// Which class writes belong to; absent where there is one only.
    #[persist(each)]
    pub(crate) classifier: Option<Box<Classifier>>,
    /// Faults that are to come.
    pub(crate) schedule: FaultSchedule,
    /// Changes of protection that are to be made.
    pub(crate) changes: Changes,
    pub(crate) power_cuts: PowerCuts,
    /// Placement identifiers of the host.
    pub(crate) handles: HostHandles,
    /// A command to a zone that is being split.
    #[persist(skip)]
    pub(crate) zone_split: ZoneSplit,
    pub(crate) mounts: Mounts,
    /// Watch on pauses of the host, in which an SLC cache is folded; absent where none is.
    pub(crate) idle: Option<IdleWatch>,
    /// Account of energy and heat; absent unless they are set.
    pub(crate) power_watch: Option<PowerWatch>,
    pub(crate) shutdowns: Shutdowns,
    /// What the host has not been told yet.
    pub(crate) notices: VecDeque<Notice>,
    pub(crate) seed: u64,
}

impl Ssd {
    /// The settings.
    pub fn config(&self) -> &SsdConfig {
        &self.context.config
    }

    /// The seed that it was built with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// From now on the drive keeps account of where the time of commands goes, see [`Device::take_parts`](outlast_device::Device::take_parts). To be asked for while no command
    /// is under way; a snapshot has nothing of it.
    pub fn split_latencies(&mut self) {
        self.context.keep_latency_accounts();
    }

    /// Has `store` keep the bytes from now on, if the drive keeps any; they are no longer in memory then.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        for core in &mut self.cores {
            core.ftl_mut().keep_contents_in(store);
        }
    }

    /// Mapping units that the host addresses.
    pub fn units(&self) -> u64 {
        self.context.size.units
    }

    /// Host sectors in a mapping unit.
    pub fn sectors_per_unit(&self) -> u32 {
        self.context.size.sectors_per_unit
    }

    /// Mean P/E cycles of the blocks.
    pub fn mean_cycles(&self) -> f64 {
        self.ftls().map(|ftl| ftl.space().blocks().mean_cycles()).sum::<f64>() / self.cores.len() as f64
    }

    /// Mean P/E cycles in percent of those that blocks are rated for; absent without a rating.
    pub fn used_percent(&self) -> Option<f64> {
        Some(self.mean_cycles() * 100.0 / f64::from(self.context.config.rated_cycles()?))
    }

    /// The dies (numbers over the drive) that flash core `core` owns, in the order of its own numbering.
    pub fn dies_of_core(&self, core: CoreId) -> &IndexVec<LocalDie, DieId> {
        self.cores[core].dies()
    }

    /// The latest simulated time that the drive can handle: 2^64 ns divided by the number of its dies (one more with a think time), or by that of its
    /// flash cores and three more, rounded up to a power of two: 4.5 years with up to 128 dies, 208 days with up to 1024, 3.2 days with 65 535. A run
    /// that gets there ends with an error.
    pub fn horizon(&self) -> Nanos {
        self.context.events.horizon()
    }

    /// Free superblocks, over all cores.
    pub fn free_superblocks(&self) -> u32 {
        self.cores.iter().map(|core| core.ftl().space().free_superblocks()).sum()
    }

    /// True if nothing is under way: no command, no flash operation, no internal task, not even one that thinks. Housekeeping may be waiting for its time.
    pub fn is_idle(&self) -> bool {
        self.commands_in_flight() == 0
            && self.context.flash.all_idle()
            && !self.context.flash.has_thinking_slots()
            && self.context.commands.completions.next() == Nanos::MAX
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.context
            .flash
            .next_event()
            .min(self.context.events.next())
            .min(self.context.commands.completions.next())
    }

    /// Does what is due at `due`, which is [next](Ssd::next_event); with `PLAIN` in a flash room that [is plain](outlast_flash::Flash::is_plain).
    #[allow(clippy::inline_always, reason = "the body of two loops, of which one runs for every event")]
    #[inline(always)]
    pub(crate) fn step<const PLAIN: bool>(&mut self, due: Nanos, completions: &mut Vec<Completion>) {
        debug_assert!(due == self.next_event(), "a step at {due}, which is not when the next event is due");
        if self.context.commands.completions.next() > due {
            match self.context.events.earliest(&self.context.flash) {
                DueEvent::Die(die) if PLAIN => self.die_event_of::<true>(due, die),
                DueEvent::Die(die) => self.die_event_with_extras(due, die),
                DueEvent::Drive(DriveSource::Core(core)) => self.cpu_event(due, core),
                DueEvent::Drive(DriveSource::Master) => self.master_event(due),
                DueEvent::Drive(DriveSource::Link) => self.link_event(due),
                DueEvent::Drive(DriveSource::Housekeeping) => self.house_event(due),
                DueEvent::Thinking => self.slot_has_thought(due),
            }
            self.settle(due);
            // A command that ends at once is handed out next in any case; a notice, if there is one, is looked at before.
            if self.context.commands.completions.next() > due || !self.notices.is_empty() {
                return;
            }
        }
        self.emit(completions);
        self.settle(due);
    }
}

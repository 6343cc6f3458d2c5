//! The drive: a machine of host commands, flash cores, dies and channels.

use crate::core::{CoreContext, FlashCore, Processor};
use crate::counters::{AtReset, PowerCuts};
use crate::drive::Mounts;
use crate::events::{DriveSource, DueEvent};
use crate::host::HostRequestId;
use crate::livelock::LivelockWatch;
use crate::placement::Classifier;
use crate::places::DiePlace;
use crate::shutdowns::Shutdowns;
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, LbaRun, Notice, Op as HostOp, Peek,
    SectorRun, Smart, Tag,
};
use outlast_ftl::Ftl;
use outlast_media::ByteStore;
use outlast_settings::drive::SsdConfig;
use outlast_units::{Bytes, CoreId, DieId, IndexVec, Lba, LocalDie, Lpn, Nanos, SECTOR_BYTES};
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
/// *Inputs* are the host's ([`Device::submit`]), simulated time ([`Device::advance`], one event at a time in `step`), and what is asked for
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
/// Order of calls: `submit` at a time not before the last one; `advance` to a deadline ([`Device::next_deadline`]) or beyond; then `take_data`,
/// `take_lba_status`, `take_notice`. Between calls nothing is due ([`Device::self_check`] sees to that).
///
/// **Time rule**: see [`Device`]. The sources of events are the dies, the flash cores' processors, the master core, the link, housekeeping and the
/// slots of internal operations that think; each has at most one pending event. Of the priorities on a die see [`Flash`].
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(within, check)]
pub struct Ssd {
    #[persist(each)]
    pub(crate) cores: IndexVec<CoreId, FlashCore>,
    /// Parts of the drive that all flash cores use.
    pub(crate) context: CoreContext,
    /// True if the drive settles, which is not to be entered again.
    #[persist(skip)]
    pub(crate) is_settling: bool,
    pub(crate) master: Processor<HostRequestId>,
    pub(crate) at_reset: AtReset,
    /// Which class writes belong to; absent where there is one only.
    #[persist(each)]
    pub(crate) classifier: Option<Box<Classifier>>,
    pub(crate) power_cuts: PowerCuts,
    pub(crate) mounts: Mounts,
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

    /// From now on the drive keeps account of where the time of commands goes, see [`Device::take_parts`]. To be asked for while no command
    /// is under way; a snapshot has nothing of it.
    pub fn split_latencies(&mut self) {
        self.context.flash.keep_accounts();
        self.context.ledger = Some(Box::default());
        self.context.notes_reads = true;
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

    /// The unit in which a sector lies, and the sector's place in it.
    #[inline]
    pub(crate) fn unit_of(&self, sector: u64) -> (u64, u32) {
        self.context.size.unit_of(sector)
    }

    /// The flash core that owns die `die`, and the die's number there.
    pub(crate) fn core_of_die(&self, die: DieId) -> (CoreId, LocalDie) {
        let DiePlace { core, local } = self.context.places[die];
        (core, local)
    }

    /// The translation layers, by flash core.
    pub fn ftls(&self) -> impl ExactSizeIterator<Item = &Ftl> {
        self.cores.iter().map(super::core::FlashCore::ftl)
    }

    /// Mean P/E cycles of the blocks.
    pub fn mean_cycles(&self) -> f64 {
        self.ftls().map(|ftl| ftl.blocks().mean_cycles()).sum::<f64>() / self.cores.len() as f64
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
            && self.context.host.completions.next() == Nanos::MAX
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.context
            .flash
            .next_event()
            .min(self.context.events.next())
            .min(self.context.host.completions.next())
    }

    /// Does what is due first; the caller has checked that something is.
    #[inline]
    pub(crate) fn step(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let at = self.context.flash.next_event().min(self.context.events.next());
        let completes = self.context.host.completions.next();
        if completes <= at {
            self.emit(completions);
            self.settle(completes);
            return;
        }
        debug_assert!(at <= now, "an event of the future handled now");
        match self.context.events.earliest(&self.context.flash) {
            DueEvent::Die(die) => self.die_event(at, die),
            DueEvent::Drive(DriveSource::Core(core)) => self.cpu_event(at, core),
            DueEvent::Drive(DriveSource::Master) => self.master_event(at),
            DueEvent::Drive(DriveSource::Link) => self.link_event(at),
            DueEvent::Drive(DriveSource::Housekeeping) => self.house_event(at),
            DueEvent::Thinking => self.slot_has_thought(at),
        }
        self.settle(at);
    }
}

impl Device for Ssd {
    #[inline]
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.submit_data(now, command, tag, &[]);
    }

    #[inline]
    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.context.note(move |ledger| ledger.submitted(now, tag));
        self.receive(now, command, tag, data);
        self.settle(now);
    }

    fn take_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.context.ledger.as_mut()?.take(tag)
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.context.host.bytes.take(tag)
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.context.host.bytes.take_answer(tag)
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.context.host.failures.take(tag)
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        Some(self.context.host.under_way())
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.peek_at(lba, sectors, to);
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.extents_of(lba, sectors)
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    #[inline]
    fn has_notice(&self) -> bool {
        !self.notices.is_empty()
    }

    fn next_deadline(&self) -> Option<Nanos> {
        Some(self.next_event()).filter(|&at| at != Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let mut watch = LivelockWatch::new(completions.len());
        while self.next_event() <= now && self.next_event() != Nanos::MAX {
            self.step(now, completions);
            if watch.step() {
                watch.look(completions.len(), self.commands_in_flight(), self.context.size.units);
            }
        }
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        let mut watch = LivelockWatch::new(completions.len());
        loop {
            if watch.step() {
                watch.look(completions.len(), self.commands_in_flight(), self.context.size.units);
            }
            let at = self.next_event();
            if at > limit || at == Nanos::MAX {
                return limit;
            }
            let before = completions.len();
            self.step(at, completions);
            if completions.len() != before || !self.notices.is_empty() {
                return at;
            }
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        /// Reads at once: as many as the processor's cache can well await.
        const MOST: usize = 64;
        for (index, core) in self.cores.iter_indexed() {
            let own = |written: bool| {
                let some = upcoming.iter().filter(move |command| (command.op == HostOp::Write) == written);
                let places = some.map(|command| self.context.core_of(self.unit_of(command.lba.0).0));
                places.filter(move |&(owner, _)| owner == index).map(|(_, lpn)| lpn)
            };
            let (mut read, mut reads) = (own(false), [Lpn(0); MOST]);
            loop {
                let mut count = 0;
                for (place, lpn) in reads.iter_mut().zip(&mut read) {
                    *place = lpn;
                    count += 1;
                }
                if count == 0 {
                    break;
                }
                core.ftl().touch(reads[..count].iter().copied());
                if let Some(cells) = core.cells() {
                    cells.touch(core.ftl(), &reads[..count]);
                }
            }
            core.ftl().touch_written(own(true));
        }
    }

    fn identify(&self) -> Identity {
        Identity {
            model: self.context.config.model.clone(),
            capacity: Bytes(self.context.size.sectors * SECTOR_BYTES),
            optimal_io: self.context.config.ftl.mapping_unit,
            link: self.context.config.controller.link,
        }
    }

    fn smart(&self) -> Smart {
        let left: u64 = self.cores.iter().map(|core| core.ftl().spare_blocks_left()).sum();
        let made =
            u64::from(self.context.config.ftl.spare_blocks) * self.context.config.geometry.planes() as u64;
        Smart {
            host_read_commands: self.context.host.life.commands[0],
            host_write_commands: self.context.host.life.commands[1],
            data_units_read: self.context.host.life.sectors[0].div_ceil(1000),
            data_units_written: self.context.host.life.sectors[1].div_ceil(1000),
            media_errors: self.context.host.life.media_errors,
            available_spare: (left * 100).checked_div(made).map_or(100, |percent| percent as u8),
            percentage_used: self.used_percent().map_or(0, |percent| percent as u32),
            read_only: self.cores.iter().any(|core| core.ftl().is_read_only()),
        }
    }

    fn self_check(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter_indexed() {
            core.ftl().self_check().map_err(|error| format!("core {index}: {error}"))?;
        }
        self.check_health()?;
        self.context.flash.self_check()?;
        self.check_records()?;
        self.check_redirection()?;
        self.check_settled()?;
        self.check_requests()?;
        self.check_buffers()
    }
}

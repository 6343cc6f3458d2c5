//! The drive as a device: commands in, completions out, and what a host may ask.

use crate::livelock::LivelockWatch;
use crate::ssd::Ssd;
use outlast_controller::{FlashCore, Ledger, Zones};
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, LbaRun, Notice, Op as HostOp, Peek,
    PowerCycle, SectorRun, Smart, Tag, ZoneTable,
};
use outlast_units::{Bytes, CoreId, Lba, Lpn, Nanos, SECTOR_BYTES};

impl PowerCycle for Ssd {
    fn power_cycle(&mut self, off: Nanos, on: Nanos) {
        let mut unheard = Vec::new();
        loop {
            let due = self.next_event();
            if due >= off {
                break;
            }
            self.advance(due, &mut unheard);
        }
        self.host.forget(off);
        self.context.commands.forget(off);
        self.context.note(Ledger::forget);
        self.cut(off, on);
    }
}

impl Ssd {
    /// Power fails at `now` and is back at once. Commands in flight never complete, those included whose completion has not been
    /// handed out. Faults, ageing and scrubbing that are still to come will come.
    pub fn power_cut(&mut self, now: Nanos) {
        self.power_cycle(now, now);
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
        self.context.take_latency_parts(tag)
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        let data = self.context.commands.bytes.take(tag);
        if self.context.zones.is_some() { self.with_rest_of_zone(tag, data) } else { data }
    }

    fn return_data(&mut self, memory: Vec<u8>) {
        self.context.commands.bytes.take_memory(memory);
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        let runs = self.context.commands.bytes.take_answer(tag);
        runs.map(|runs| self.runs_in_zones(runs))
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        let failed = self.context.commands.failures.take(tag);
        failed.map(|runs| self.failed_in_zones(runs))
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        Some(self.host.under_way(&self.context.commands))
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        if self.context.zones.is_some() {
            return self.peek_in_zones(lba, sectors, to);
        }
        self.peek_at(lba, sectors, to);
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        if self.context.zones.is_some() {
            self.extents_in_zones(lba, sectors)
        } else {
            self.extents_of(lba, sectors)
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    #[inline]
    fn has_notice(&self) -> bool {
        !self.notices.is_empty()
    }

    fn zones(&self) -> Option<&ZoneTable> {
        self.zones_view().map(Zones::table)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Nanos> {
        Some(self.next_event()).filter(|&at| at != Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if self.context.flash.is_plain() {
            run_until::<true>(self, now, completions);
        } else {
            run_until::<false>(self, now, completions);
        }
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        if self.context.flash.is_plain() {
            run_to_completion::<true>(self, limit, completions)
        } else {
            run_to_completion_with_extras(self, limit, completions)
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        for (index, core) in self.cores.iter_indexed() {
            if self.cores.len() == 1 {
                hint_to::<true>(self, index, core, upcoming);
            } else {
                hint_to::<false>(self, index, core, upcoming);
            }
        }
    }

    fn identify(&self) -> Identity {
        Identity {
            model: self.context.config.model.clone(),
            capacity: self
                .zones_view()
                .map_or(Bytes(self.context.size.sectors * SECTOR_BYTES), Zones::capacity),
            optimal_io: self.context.config.ftl.mapping_unit,
            link: self.context.config.controller.link,
        }
    }

    fn smart(&self) -> Smart {
        let left: u64 = self.cores.iter().map(|core| core.ftl().space().spare_blocks_left()).sum();
        let made =
            u64::from(self.context.config.ftl.spare_blocks) * self.context.config.geometry.planes() as u64;
        Smart {
            host_read_commands: self.context.commands.life.commands[0],
            host_write_commands: self.context.commands.life.commands[1],
            data_units_read: self.context.commands.life.sectors[0].div_ceil(1000),
            data_units_written: self.context.commands.life.sectors[1].div_ceil(1000),
            media_errors: self.context.commands.life.media_errors,
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
        self.check_groups()?;
        self.check_settled()?;
        self.check_requests()?;
        self.check_zones()?;
        self.check_buffers()
    }
}

/// Touches what flash core `core`, which is the only one where `ALONE`, will look up for the commands in `upcoming`.
#[allow(clippy::inline_always, reason = "compiled once for each kind of drive")]
#[inline(always)]
fn hint_to<const ALONE: bool>(ssd: &Ssd, index: CoreId, core: &FlashCore, upcoming: &[Command]) {
    /// Commands at once: as many as the processor's cache can well await.
    const MOST: usize = 64;
    for some in upcoming.chunks(MOST) {
        let (mut read, mut reads) = ([Lpn(0); MOST], 0);
        let (mut written, mut writes) = ([Lpn(0); MOST], 0);
        for command in some {
            let (owner, lpn) = ssd.context.core_of(ssd.context.size.unit_of(command.lba.0).0);
            let (is_own, is_write) = (ALONE || owner == index, command.op == HostOp::Write);
            // Puts it into both lists, and counts it in one. Neither is full yet: the remainder only tells the compiler.
            (read[reads % MOST], written[writes % MOST]) = (lpn, lpn);
            reads += usize::from(is_own && !is_write);
            writes += usize::from(is_own && is_write);
        }
        core.ftl().touch(read[..reads].iter().copied());
        if let Some(cells) = core.cells() {
            cells.touch(core.ftl(), &read[..reads]);
        }
        core.ftl().touch_written::<false>(written[..writes].iter().copied());
    }
}

/// The latest time of an event: [`Nanos::MAX`] stands for none.
const LAST: Nanos = Nanos(u64::MAX - 1);

/// Does what is due up to `now`; with `PLAIN` in a flash room that [is plain](outlast_flash::Flash::is_plain).
#[inline(never)]
fn run_until<const PLAIN: bool>(ssd: &mut Ssd, now: Nanos, completions: &mut Vec<Completion>) {
    let mut watch = LivelockWatch::new(completions.len());
    let last = now.min(LAST);
    loop {
        let due = ssd.next_event();
        if due > last {
            break;
        }
        ssd.step::<PLAIN>(due, completions);
        if watch.step() {
            watch.look(completions.len(), ssd.host.worked_on(&ssd.context.commands), ssd.context.size.units);
        }
    }
}

/// Does what is due up to the first completion or notice, or up to `limit`; returns the time of that. `PLAIN` as in [`run_until`].
#[allow(clippy::inline_always, reason = "the loop of every run")]
#[inline(always)]
fn run_to_completion<const PLAIN: bool>(
    ssd: &mut Ssd,
    limit: Nanos,
    completions: &mut Vec<Completion>,
) -> Nanos {
    let before = completions.len();
    // Made when it is needed, after a million events.
    let mut watch = None;
    let last = limit.min(LAST);
    loop {
        for _ in 0..LivelockWatch::BETWEEN_LOOKS {
            let at = ssd.next_event();
            if at > last {
                return limit;
            }
            ssd.step::<PLAIN>(at, completions);
            if completions.len() != before || !ssd.notices.is_empty() {
                return at;
            }
        }
        let watch = watch.get_or_insert_with(|| LivelockWatch::new(before));
        watch.look(before, ssd.host.worked_on(&ssd.context.commands), ssd.context.size.units);
    }
}

/// [`run_to_completion`] where the flash room has extras.
#[inline(never)]
fn run_to_completion_with_extras(ssd: &mut Ssd, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
    run_to_completion::<false>(ssd, limit, completions)
}

//! The drive without time: preconditioning, and endurance studies that need no latencies.

use crate::ssd::Ssd;
use outlast_device::{Command, NamespaceId, Op, Outcome, PlacementId};
use outlast_ftl::ReadCause;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES};

impl Ssd {
    /// Writes one whole mapping unit at once, with all that follows from it. Only while the drive is idle. With hint 0 a unit stays in its reclaim group, and the
    /// first to be written share the groups in order of their addresses.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when the drive is worn out.
    ///
    /// # Panics
    /// If `unit` lies beyond the capacity.
    #[allow(clippy::inline_always, reason = "the whole of a loop over the drive that fills it")]
    #[inline(always)]
    pub fn write_unit_untimed(&mut self, unit: u64, hint: u16) -> Result<(), Outcome> {
        let lba = outlast_units::Lba(unit * u64::from(self.context.size.sectors_per_unit));
        let placement = PlacementId(hint);
        let command =
            Command { placement, ..Command::new(Op::Write, lba, self.context.size.sectors_per_unit) };
        self.put_unit(unit, &command, hint == 0)?;
        self.context.commands.life.commands[Op::Write as usize] += 1;
        self.context.commands.life.sectors[Op::Write as usize] +=
            u64::from(self.context.size.sectors_per_unit);
        Ok(())
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn put_unit(&mut self, unit: u64, command: &Command, is_filling: bool) -> Result<(), Outcome> {
        if self.context.homes.is_some() {
            return self.put_redirected(unit, command, is_filling);
        }
        let (core, lpn) = self.context.core_of(unit);
        self.put_at(unit, core, lpn, command)
    }

    /// As [`Ssd::put_unit`], where a call more does not matter.
    #[inline(never)]
    fn put_one(&mut self, unit: u64, command: &Command) -> Result<(), Outcome> {
        self.put_unit(unit, command, false)
    }

    #[cold]
    #[inline(never)]
    fn put_redirected(&mut self, unit: u64, command: &Command, is_filling: bool) -> Result<(), Outcome> {
        if let Some(own) = self.group_by_address(unit) {
            // Of the first handle, an identifier is the number of a group.
            let placement = if is_filling { PlacementId(own) } else { command.placement };
            let (core, lpn) = self.directory().place_of_write(unit, placement);
            self.put_at(unit, core, lpn, command)?;
            self.enter_group(core, lpn, placement);
            return Ok(());
        }
        let (core, lpn) = self.context.core_of(unit);
        self.put_at(unit, core, lpn, command)?;
        self.drop_former(core, lpn);
        Ok(())
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn put_at(&mut self, unit: u64, core: CoreId, lpn: Lpn, command: &Command) -> Result<(), Outcome> {
        let class = match &mut self.classifier {
            None => 0,
            Some(classifier) => {
                let sector = unit * u64::from(self.context.size.sectors_per_unit);
                classifier.note(sector);
                classifier.class(command, sector)
            }
        };
        if self.cores[core].has_caches() {
            self.pass_caches(core, lpn);
        }
        let ftl = self.cores[core].ftl_mut();
        let stream = ftl.streams().host(command.placement.0, class);
        match ftl.write_untimed(stream, lpn) {
            Ok(_) => Ok(()),
            Err(outlast_ftl::FtlFull) => Err(Outcome::ReadOnly),
        }
    }

    /// Unit `lpn` of core `core` is written without time: it leaves the read cache, and its page of the mapping table comes to memory.
    #[cold]
    #[inline(never)]
    fn pass_caches(&mut self, core: CoreId, lpn: Lpn) {
        self.cores[core].forget_read(lpn);
        self.cores[core].pass_map_untimed(&mut self.context, lpn);
    }

    /// Brings the table entries of units that will soon be written into the processor's cache.
    #[inline]
    pub fn touch_untimed(&self, units: &[u64]) {
        if let [core] = self.cores.as_slice() {
            core.ftl().touch_written::<false>(units.iter().map(|&unit| Lpn(unit as u32)));
        }
    }

    /// Carries out a command at once, without time: mapping, collection, wear and every counter as in a timed run.
    pub fn apply_untimed(&mut self, command: &Command) -> Outcome {
        if command.namespace != NamespaceId::FIRST {
            return Outcome::InvalidNamespace;
        }
        if command.op == Op::Flush {
            return Outcome::Ok;
        }
        if command
            .lba
            .0
            .checked_add(u64::from(command.sectors))
            .is_none_or(|end| end > self.context.size.sectors)
        {
            return Outcome::OutOfRange;
        }
        if command.op == Op::Write {
            self.handles.note_write(command.placement);
        }
        let (mut unit, mut offset) = self.context.size.unit_of(command.lba.0);
        let mut rest = command.sectors;
        let mut last_page = None;
        while rest != 0 {
            let sectors = rest.min(self.context.size.sectors_per_unit - offset);
            let (core, lpn) = self.context.core_of(unit);
            let (holder, number) = self.directory().place_of(unit);
            let ftl = self.cores[holder].ftl();
            let slot = ftl.lookup(number);
            let page = slot.is_some().then(|| (holder, ftl.layout().page_of(slot)));
            let pages = u64::from(ftl.layout().pages_per_unit());
            if command.op == Op::Read && self.cores[holder].has_caches() {
                self.cores[holder].pass_map_untimed(&mut self.context, number);
            }
            match command.op {
                Op::Read if page.is_some() => {
                    // Neighbouring units of one page are read together, as in a timed run.
                    if page != last_page {
                        self.context.counters.reads[ReadCause::Host] += pages;
                    }
                    last_page = page;
                }
                Op::Read => self.context.counters.unmapped_reads += 1,
                Op::Write => {
                    if sectors != self.context.size.sectors_per_unit {
                        let read = u64::from(page.is_some()) * pages;
                        self.context.counters.partial_writes += 1;
                        self.context.counters.partial_bytes +=
                            u64::from(self.context.size.sectors_per_unit - sectors) * SECTOR_BYTES;
                        self.context.counters.reads[ReadCause::Rmw] += read;
                    }
                    if let Err(outcome) = self.put_one(unit, command) {
                        return outcome;
                    }
                    self.context.counters.host_bytes_written += u64::from(sectors) * SECTOR_BYTES;
                }
                Op::Trim if sectors == self.context.size.sectors_per_unit => {
                    self.cores[core].forget_read(lpn);
                    self.cores[core].ftl_mut().trim(lpn);
                    if self.context.homes.is_some() {
                        self.trimmed_at(core, lpn);
                    }
                }
                Op::Trim | Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => {}
            }
            rest -= sectors;
            offset = 0;
            unit += 1;
        }
        self.context.commands.life.count(command, Outcome::Ok);
        Outcome::Ok
    }

    /// Has every block spent `cycles` P/E cycles: a drive that was in use before. Only while it is empty; of a drive with an error model
    /// its settings say the same.
    pub fn pre_wear(&mut self, cycles: u32) {
        for core in &mut self.cores {
            let blocks = core.ftl().space().blocks().all_cycles().len();
            core.ftl_mut().set_wear(&vec![cycles; blocks]);
        }
    }

    /// Takes up time after untimed writes: collection is as far as an idle drive would have brought it, and units that have
    /// begun a program unit are in the buffer.
    pub fn begin_timed(&mut self) {
        for core in &mut self.cores {
            core.ftl_mut().settle_untimed();
            core.ftl_mut().begin_origins();
        }
        self.end_untimed();
        self.begin_cells();
        self.reset_power(Nanos::ZERO);
    }

    /// The cells are brought into the state in which the run begins.
    fn begin_cells(&mut self) {
        let Some(reliability) = &self.context.config.reliability else { return };
        let bits = self.context.codeword_bits();
        for core in &mut self.cores {
            core.begin_cells(reliability, bits);
        }
        self.begin_scrub(Nanos::ZERO);
    }

    /// Takes account of what untimed writes have left: units in the buffer, of program units begun and not full or held back, and the write pointers of
    /// zones.
    pub fn end_untimed(&mut self) {
        for core in &mut self.cores {
            core.end_untimed();
        }
        self.find_zones(Nanos::ZERO);
    }
}

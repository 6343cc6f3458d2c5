//! A host in virtual time: it submits requests under names of its own, moves time, and takes what has completed.

use crate::failure::{CallFailure, CallStatus};
use outlast_device::{Command, Completion, Device, Op, Outcome, Tag};
use outlast_engine::{DRAIN_TIME, InService, RunControl, ScenarioLayer, load_scenario};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// Requests in flight at most: as many as the largest queue of `NVMe`.
pub(crate) const MOST_IN_FLIGHT: usize = 1 << 16;

/// A request of the caller.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest<'a> {
    /// Read, write, trim or flush.
    pub op: Op,
    /// First byte, a multiple of a sector. Ignored by a flush.
    pub offset: u64,
    /// Bytes, a multiple of a sector and not 0. Ignored by a flush.
    pub length: u64,
    /// Name that the completion has.
    pub name: u64,
    /// True for a write that completes only when it is on flash.
    pub fua: bool,
    /// Contents of a write, as long as it. They must be given where the device keeps contents, and are ignored elsewhere.
    pub data: Option<&'a [u8]>,
}

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCompletion {
    /// Name that the caller gave it.
    pub name: u64,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it ended.
    pub at: Nanos,
    /// How.
    pub outcome: Outcome,
    /// Contents of a read, where the device keeps contents; else empty.
    pub data: Vec<u8>,
}

/// Totals since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostTotals {
    /// Requests that have ended, whatever became of them.
    pub requests: u64,
    /// Requests that were not served.
    pub failed: u64,
    /// Bytes of reads that were served.
    pub read_bytes: u64,
    /// Bytes of writes that were served.
    pub written_bytes: u64,
    /// Bytes that flash programmed, of all drives.
    pub programmed_bytes: u64,
    /// Blocks that flash erased, of all drives.
    pub erased_blocks: u64,
    /// Mean P/E cycles of the blocks, of all drives.
    pub mean_cycles: f64,
}

/// A request in flight; the place in the list is its tag at the device.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    name: u64,
    submitted: Nanos,
    op: Op,
    length: u64,
}

/// A drive or an array, and the time that its caller has reached.
#[derive(Debug)]
pub struct VirtualHost {
    device: InService,
    now: Nanos,
    in_flight: Vec<InFlight>,
    /// Tags that nobody uses.
    free: Vec<u32>,
    /// Completions of the device that have no tag of the caller yet.
    completions: Vec<Completion>,
    /// Ended requests that the caller has not taken, the oldest first.
    ended: VecDeque<NamedCompletion>,
    keeps_contents: bool,
    totals: HostTotals,
}

impl VirtualHost {
    /// Builds and prepares the drive or array of a scenario, with single settings (`name=value`) on top. Its time begins at 0, and its workload does
    /// not run.
    ///
    /// # Errors
    /// A scenario that cannot be read or is wrong, and a device that cannot be made of it.
    pub fn open(layer: ScenarioLayer, settings: &[(String, String)]) -> Result<Self, CallFailure> {
        let wrong =
            |error: &dyn std::fmt::Display| CallFailure::new(CallStatus::BadScenario, error.to_string());
        let (scenario, _) = load_scenario(&[layer], settings).map_err(|error| wrong(&error))?;
        let keeps_contents = scenario.device.bytes;
        let device =
            InService::new(scenario, &mut |_| RunControl::Continue).map_err(|error| wrong(&error))?;
        let device = device.ok_or_else(|| CallFailure::new(CallStatus::Bug, "preparing was stopped"))?;
        Ok(Self {
            device,
            now: Nanos::ZERO,
            in_flight: Vec::new(),
            free: Vec::new(),
            completions: Vec::new(),
            ended: VecDeque::new(),
            keeps_contents,
            totals: HostTotals::default(),
        })
    }

    /// Bytes that requests may address.
    pub fn capacity(&self) -> u64 {
        self.device.identify().capacity.0
    }

    /// The time reached.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The next time at which something happens in the device; `None` while it is idle.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        self.device.next_deadline()
    }

    /// Submits a request now.
    ///
    /// # Errors
    /// An address or a length that is no whole number of sectors, contents of another length, or too many requests in flight.
    pub fn submit(&mut self, request: &HostRequest<'_>) -> Result<(), CallFailure> {
        let command = Self::command(request)?;
        if let Some(data) = request.data
            && (request.op != Op::Write || data.len() as u64 != request.length)
        {
            return Err(CallFailure::argument("data: belongs to a write, and is as long as it"));
        }
        if self.keeps_contents && request.op == Op::Write && request.data.is_none() {
            return Err(CallFailure::argument(
                "data: must be given, since the device keeps contents (device.bytes)",
            ));
        }
        let length = if request.op == Op::Flush { 0 } else { request.length };
        let kept = InFlight { name: request.name, submitted: self.now, op: request.op, length };
        let tag = self.take_tag(kept)?;
        match request.data {
            Some(data) => self.device.submit_data(self.now, command, tag, data),
            None => self.device.submit(self.now, command, tag),
        }
        Ok(())
    }

    /// Lets everything happen until `until`, which is the time then.
    ///
    /// # Errors
    /// A time that has passed, or one beyond what can be handled.
    pub fn advance(&mut self, until: Nanos) -> Result<(), CallFailure> {
        self.check_time(until)?;
        self.device.advance(until, &mut self.completions);
        self.now = until;
        self.name_completions();
        Ok(())
    }

    /// As [`VirtualHost::advance`], but stops at the first completion. Returns at once where one waits to be taken.
    ///
    /// # Errors
    /// Errors of [`VirtualHost::advance`].
    pub fn advance_to_completion(&mut self, limit: Nanos) -> Result<(), CallFailure> {
        self.check_time(limit)?;
        while self.ended.is_empty() && self.now < limit {
            // An idle device completes nothing more, and time need not pass.
            if self.device.next_deadline().is_none_or(|next| next > limit) {
                return self.advance(limit);
            }
            self.now = self.device.advance_to_completion(limit, &mut self.completions).max(self.now);
            self.name_completions();
        }
        Ok(())
    }

    /// The oldest ended request that has not been taken.
    #[inline]
    pub fn take(&mut self) -> Option<NamedCompletion> {
        self.ended.pop_front()
    }

    /// Requests in flight, those that have ended not counted.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    /// Totals since the device was opened.
    pub fn totals(&self) -> HostTotals {
        let drives = self.device.drives();
        let unit = |index: usize| drives[index].config().ftl.mapping_unit.0;
        let programmed = (0..drives.len()).map(|index| drives[index].written().total() * unit(index)).sum();
        HostTotals {
            programmed_bytes: programmed,
            erased_blocks: drives.iter().map(|drive| drive.counters().erases).sum(),
            mean_cycles: drives.iter().map(|drive| drive.mean_cycles()).sum::<f64>()
                / drives.len().max(1) as f64,
            ..self.totals
        }
    }

    fn command(request: &HostRequest<'_>) -> Result<Command, CallFailure> {
        if request.op == Op::Flush {
            return Ok(Command::FLUSH);
        }
        let in_sectors = |name: &str, bytes: u64| {
            let whole = bytes.is_multiple_of(SECTOR_BYTES).then_some(bytes / SECTOR_BYTES);
            whole.ok_or_else(|| {
                CallFailure::argument(format!(
                    "{name} = {bytes}: must be a multiple of {SECTOR_BYTES}, a sector's bytes"
                ))
            })
        };
        let (lba, sectors) = (in_sectors("offset", request.offset)?, in_sectors("length", request.length)?);
        let sectors = u32::try_from(sectors).ok().filter(|&sectors| sectors != 0).ok_or_else(|| {
            let most = u64::from(u32::MAX) * SECTOR_BYTES;
            CallFailure::argument(format!(
                "length = {}: must be from {SECTOR_BYTES} to {most}",
                request.length
            ))
        })?;
        Ok(Command {
            fua: request.fua && request.op == Op::Write,
            ..Command::new(request.op, Lba(lba), sectors)
        })
    }

    fn take_tag(&mut self, kept: InFlight) -> Result<Tag, CallFailure> {
        if let Some(tag) = self.free.pop() {
            self.in_flight[tag as usize] = kept;
            return Ok(Tag(tag));
        }
        if self.in_flight.len() == MOST_IN_FLIGHT {
            let message =
                format!("{MOST_IN_FLIGHT} requests are in flight: advance the time and take completions");
            return Err(CallFailure::new(CallStatus::Full, message));
        }
        self.in_flight.push(kept);
        Ok(Tag(outlast_units::to_count(self.in_flight.len() - 1)))
    }

    fn check_time(&self, until: Nanos) -> Result<(), CallFailure> {
        let latest = self.device.latest().saturating_sub(DRAIN_TIME);
        if until < self.now {
            return Err(CallFailure::argument(format!(
                "time = {} ns: it is {} ns already",
                until.0, self.now.0
            )));
        }
        if until > latest {
            return Err(CallFailure::argument(format!(
                "time = {} ns: must be at most {} ns",
                until.0, latest.0
            )));
        }
        Ok(())
    }

    /// Gives completions of the device the names of their requests, and frees their tags. Notices are dropped: this interface has none.
    fn name_completions(&mut self) {
        while self.device.take_notice().is_some() {}
        for index in 0..self.completions.len() {
            let Completion { at, tag, outcome, .. } = self.completions[index];
            let InFlight { name, submitted, op, length } = self.in_flight[tag.0 as usize];
            self.free.push(tag.0);
            let data = if self.keeps_contents && op == Op::Read { self.device.take_data(tag) } else { None };
            if outcome == Outcome::MediumError {
                self.device.take_failed(tag);
            }
            self.totals.requests += 1;
            match (outcome, op) {
                (Outcome::Ok, Op::Read) => self.totals.read_bytes += length,
                (Outcome::Ok, Op::Write) => self.totals.written_bytes += length,
                (Outcome::Ok, _) => {}
                _ => self.totals.failed += 1,
            }
            self.ended.push_back(NamedCompletion {
                name,
                submitted,
                at,
                outcome,
                data: data.unwrap_or_default(),
            });
        }
        self.completions.clear();
    }
}

//! A host in virtual time: it submits requests under names of its own, moves time, and takes what has completed.

use crate::failure::{CallFailure, CallStatus};
use crate::requests::{HostRequest, HostTotals, NamedCompletion};
use outlast_device::{Completion, Device, Op, Outcome, Tag};
use outlast_engine::{DRAIN_TIME, InService, RunControl, ScenarioLayer, load_scenario};
use outlast_units::Nanos;
use std::collections::VecDeque;

/// Requests in flight at most: as many as the largest queue of `NVMe`.
pub(crate) const MOST_IN_FLIGHT: usize = 1 << 16;

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

    /// Submits a request now. It is aborted at once where an array has not started after a loss of power, since that takes no commands.
    ///
    /// # Errors
    /// An address or a length that is no whole number of sectors, contents of another length, or too many requests in flight.
    pub fn submit(&mut self, request: &HostRequest<'_>) -> Result<(), CallFailure> {
        let command = request.command()?;
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
        if !self.device.is_up() {
            self.end(Completion::new(self.now, tag, Outcome::Aborted), None);
            return Ok(());
        }
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
            let completion = self.completions[index];
            let tag = completion.tag;
            let is_read = self.in_flight[tag.0 as usize].op == Op::Read;
            let data = if self.keeps_contents && is_read { self.device.take_data(tag) } else { None };
            if completion.outcome == Outcome::MediumError {
                self.device.take_failed(tag);
            }
            self.end(completion, data);
        }
        self.completions.clear();
    }

    /// Ends a request, of which `data` was read: its tag is free, and the totals count it.
    fn end(&mut self, completion: Completion, data: Option<Vec<u8>>) {
        let Completion { at, tag, outcome, .. } = completion;
        let InFlight { name, submitted, op, length } = self.in_flight[tag.0 as usize];
        self.free.push(tag.0);
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
}

//! Requests taken from a source ahead of time, so that generating, hinting and issuing each run over a batch.

use crate::error::EngineError;
use outlast_device::{Command, Device};
use outlast_workload::{Workload, WorkloadRequest};

/// Requests drawn from the source at once.
const BATCH: usize = 1024;
/// Commands hinted to the device together: enough cache misses in flight to hide each behind the others.
const HINT: usize = 64;

/// Requests drawn and not yet issued. Those before `hinted` have been announced to the device.
#[derive(Debug, Default)]
pub(crate) struct RequestBatch {
    requests: Vec<WorkloadRequest>,
    next: usize,
    hinted: usize,
    commands: Vec<Command>,
}

impl RequestBatch {
    /// The next request; `None` at the end of the workload.
    #[inline]
    pub(crate) fn next(
        &mut self,
        workload: &mut Workload,
        device: &impl Device,
    ) -> Result<Option<&WorkloadRequest>, EngineError> {
        if self.next == self.hinted && !self.refill(workload, device)? {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(&self.requests[self.next - 1]))
    }

    /// Draws requests if none is left, and hints the next ones to the device; false at the end of the workload.
    #[cold]
    fn refill(&mut self, workload: &mut Workload, device: &impl Device) -> Result<bool, EngineError> {
        if self.next == self.requests.len() {
            self.requests.clear();
            self.next = 0;
            self.hinted = 0;
            if workload.source.fill(&mut self.requests, BATCH)? == 0 {
                return Ok(false);
            }
        }
        let end = self.requests.len().min(self.hinted + HINT);
        self.commands.clear();
        self.commands.extend(self.requests[self.hinted..end].iter().map(|request| request.command));
        device.hint(&self.commands);
        self.hinted = end;
        Ok(true)
    }
}

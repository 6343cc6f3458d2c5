//! Waiting for a command to complete, of which a drive may never do one: one that shuts down for heat that its own work keeps up.

use super::{LegRunner, RunControl, RunEnding};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::simulated_device::SimulatedDevice;
use outlast_device::Completion;
use outlast_units::Nanos;

/// Simulated time without a completion after which the caller of the run is asked whether to go on.
const BETWEEN_REPORTS: Nanos = Nanos::secs(3600);
/// Simulated time without a completion after which none is expected: a drive cools down in minutes.
const LONGEST_WAIT: Nanos = Nanos::secs(10 * 86_400);

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Advances until a command completes; false if the caller of the run wants to stop. Notices of the drive are dropped.
    ///
    /// # Errors
    /// No command completes for [`LONGEST_WAIT`], or until time ends.
    #[inline]
    pub(super) fn await_completion(
        &mut self,
        completions: &mut Vec<Completion>,
    ) -> Result<bool, EngineError> {
        let since = self.state.now.max(self.state.reached).max(self.state.clock);
        let limit = since + BETWEEN_REPORTS;
        let reached = self.device.advance_to_completion(limit.min(self.device.latest()), completions);
        self.drop_notices();
        if completions.is_empty() { self.wait_on(since, reached, completions) } else { Ok(true) }
    }

    /// Goes on with [`LegRunner::await_completion`] from `reached`, where nothing has completed since `since`.
    #[cold]
    #[inline(never)]
    fn wait_on(
        &mut self,
        since: Nanos,
        mut reached: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<bool, EngineError> {
        let latest = self.device.latest();
        let mut report = since + BETWEEN_REPORTS;
        while completions.is_empty() {
            assert!(self.device.next_deadline().is_some(), "commands are in flight and the drive is idle");
            if reached >= latest {
                return Err(EngineError::BeyondHorizon { at: reached, latest });
            }
            if reached >= report {
                if self.pulse.is_due() && self.report() == RunControl::Stop {
                    self.ending = RunEnding::Stopped;
                    return Ok(false);
                }
                if reached >= since + LONGEST_WAIT {
                    let commands = self.state.in_flight();
                    return Err(EngineError::Unanswered { since, until: reached, commands });
                }
                report = reached + BETWEEN_REPORTS;
            }
            // The device also returns for a notice alone.
            reached = self.device.advance_to_completion(report.min(latest), completions);
            self.drop_notices();
        }
        Ok(true)
    }
}

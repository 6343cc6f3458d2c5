//! Waiting for a command to complete, of which a drive may never do one: one that shuts down for heat that its own work keeps up.

use super::{LegRunner, RunControl, RunEnding};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::simulated_device::SimulatedDevice;
use outlast_device::Completion;
use outlast_settings::drive::HeatConfig;
use outlast_units::Nanos;

/// Simulated time without a completion after which the caller of the run is asked whether to go on.
const BETWEEN_REPORTS: Nanos = Nanos::secs(3600);
/// Simulated time without a completion after which none is expected, where nothing tells more.
const LONGEST_WAIT: Nanos = Nanos::secs(10 * 86_400);
/// Times a drive's time to cool down, after which it is as warm as its work keeps it: of what it had to lose, e^-10 is left, less than a hundredth of a kelvin.
const COOLINGS: f64 = 10.0;
/// Longest wait for a drive to cool down, whatever its constants: the time of a drive to cool down is minutes.
const LONGEST_COOLING: Nanos = Nanos::secs(3 * 3600);

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Advances until a command completes; false if the caller of the run wants to stop. Notices of the drive are dropped.
    ///
    /// # Errors
    /// No command completes for [`LegRunner::longest_wait`], or until time ends.
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
        let longest = self.longest_wait();
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
                if reached >= since + longest {
                    let commands = self.state.in_flight();
                    let shutdown = self.heat().and_then(|heat| heat.shutdown);
                    return Err(EngineError::Unanswered { since, until: reached, shutdown, commands });
                }
                report = reached + BETWEEN_REPORTS;
            }
            // The device also returns for a notice alone.
            reached = self.device.advance_to_completion(report.min(latest), completions);
            self.drop_notices();
        }
        Ok(true)
    }

    /// Simulated time without a completion after which none is expected: a drive that shuts down for heat has cooled down by then as far as it will.
    fn longest_wait(&self) -> Nanos {
        match self.heat() {
            Some(heat) if heat.shutdown.is_some() => {
                let cooled = Nanos((COOLINGS * heat.cooling_seconds() * 1e9) as u64);
                cooled.clamp(BETWEEN_REPORTS, LONGEST_COOLING)
            }
            _ => LONGEST_WAIT,
        }
    }

    /// Heat of the drives, whose settings are all the same.
    fn heat(&self) -> Option<HeatConfig> {
        self.device.as_drives().config().heat.clone()
    }
}

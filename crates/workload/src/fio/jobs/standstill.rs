//! Jobs that would never end: those that wait for each other, and those for which only time would end them.

use super::{FioJob, FioJobs, JobState};
use crate::WorkloadError;
use crate::fio::flow::FlowGroup;
use crate::fio::parse::refused;
use outlast_units::Nanos;

impl FioJobs {
    /// Where nothing is in flight, `now`: checks that no job is held back by its flow for ever. `is_asleep` is true if a job sleeps, perhaps to ask its flow again.
    ///
    /// # Errors
    /// A job is held back.
    pub fn check_flows(&self, now: Nanos, is_asleep: bool) -> Result<(), WorkloadError> {
        let mut waiting = self.flows.iter().flat_map(FlowGroup::waiting);
        let Some(&held) = waiting.next() else { return Ok(()) };
        if is_asleep && !self.are_all_held(now) {
            return Ok(());
        }
        let FioJob { plan, flow_at, .. } = &self.jobs[held as usize];
        let why = "the job is held back for ever, as the others of its flow do not issue before it ends; fio does not end, either";
        Err(refused(flow_at, "flow", &plan.flow.weight.to_string(), why))
    }

    /// True if each job that runs is held back by its flow until another one moves, and none begins or ends by time.
    fn are_all_held(&self, now: Nanos) -> bool {
        let is_held = |index: usize| {
            self.flow_of[index].is_some_and(|at| self.flows[at].waiting().contains(&(index as u32)))
        };
        self.states.iter().enumerate().all(|(index, state)| match state {
            JobState::NotBegun => now >= self.jobs[index].delay,
            JobState::Running(thread) => is_held(index) && !thread.ends_by_time(),
            JobState::Ended => true,
        })
    }

    /// True if time alone ends each job that runs.
    pub fn only_time_ends(&self) -> bool {
        self.jobs
            .iter()
            .zip(&self.states)
            .all(|(job, state)| !matches!(state, JobState::Running(_)) || job.plan.is_endless())
    }

    /// Work of the jobs that amounts of data end: how many have ended, and the bytes that the running ones have issued. Where it does not grow
    /// although others issue, these jobs wait for time.
    pub fn work_of_counted(&self) -> (u64, u64) {
        let (mut ended, mut bytes) = (0, 0u64);
        for (job, state) in self.jobs.iter().zip(&self.states) {
            match state {
                JobState::Running(thread) if !job.plan.is_endless() => {
                    bytes = bytes.wrapping_add(thread.issued_bytes());
                }
                JobState::NotBegun | JobState::Running(_) => {}
                JobState::Ended => ended += 1,
            }
        }
        (ended, bytes)
    }
}

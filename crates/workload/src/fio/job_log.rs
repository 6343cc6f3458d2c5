//! Log of the requests that the jobs of a file issue to a device of fixed latency: to look at a job before it runs, and to compare it with fio.

use super::fixed_latency::FixedLatencyJobs;
use super::spec::FioSpec;
use crate::pass::PassSeeds;
use crate::{WorkloadError, WorkloadTarget};
use outlast_device::Command;
use outlast_units::Nanos;

/// One request of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Time of submission.
    pub at: Nanos,
    /// Number of the job, an index of [`JobLog::jobs`].
    pub job: u32,
    /// The command.
    pub command: Command,
}

/// One job of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedJob {
    /// Name of its section; clones share it.
    pub name: String,
    /// Time of its beginning; `None` if the log was cut off before.
    pub begin: Option<Nanos>,
    /// Time of its end; `None` if the log was cut off before.
    pub end: Option<Nanos>,
}

/// The first requests of a job file, and its jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLog {
    /// Requests in order of time.
    pub requests: Vec<LoggedRequest>,
    /// Jobs and clones in order of the file.
    pub jobs: Vec<LoggedJob>,
}

impl FioSpec {
    /// Logs the first `most` requests to a device that completes each after `latency`. With `as_fio` random streams are fio's own; otherwise
    /// they come from the target's seed.
    ///
    /// # Errors
    /// As [`crate::WorkloadSpec::open`].
    pub fn log(
        &self,
        target: &WorkloadTarget,
        latency: Nanos,
        as_fio: bool,
        most: usize,
    ) -> Result<JobLog, WorkloadError> {
        let workload =
            if as_fio { self.open_as_fio(target)? } else { self.open(target, PassSeeds::new(target, 0))? };
        let Some(jobs) = workload.jobs else {
            return Ok(JobLog { requests: Vec::new(), jobs: Vec::new() });
        };
        let names: Vec<String> = jobs.infos().map(|info| info.name.clone()).collect();
        let mut run = FixedLatencyJobs::new(jobs, latency);
        let mut requests = Vec::new();
        while requests.len() < most {
            let Some((at, job, command)) = run.next()? else { break };
            requests.push(LoggedRequest { at, job, command });
        }
        let jobs = names
            .into_iter()
            .zip(&run.spans)
            .map(|(name, &(begin, end))| LoggedJob { name, begin, end })
            .collect();
        Ok(JobLog { requests, jobs })
    }
}

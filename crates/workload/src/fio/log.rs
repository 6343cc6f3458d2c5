//! What the jobs of a file ask of a device that takes the same time for every request: a way to look at a job before it runs, and to compare
//! it with fio.

use super::paced::Paced;
use super::spec::FioSpec;
use crate::pass::PassSeeds;
use crate::{Target, WorkloadError};
use outlast_device::Command;
use outlast_units::Nanos;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When it is issued.
    pub at: Nanos,
    /// Number of the lane.
    pub lane: u32,
    /// What it asks.
    pub command: Command,
}

/// One lane of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedLane {
    /// Name of the job.
    pub name: String,
    /// When it began and ended; absent where the log was cut off before.
    pub begin: Option<Nanos>,
    #[allow(missing_docs, reason = "said above")]
    pub end: Option<Nanos>,
}

/// The first `most` requests and the lanes they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLog {
    /// In order of time.
    pub requests: Vec<Logged>,
    /// In order of the file.
    pub lanes: Vec<LoggedLane>,
}

impl FioSpec {
    /// What the jobs ask of a device that completes every request after `latency`. With `as_fio` random streams are those that fio has
    /// by itself; otherwise they come from the target's seed.
    ///
    /// # Errors
    /// As [`crate::WorkloadSpec::open`].
    pub fn log(
        &self,
        target: &Target,
        latency: Nanos,
        as_fio: bool,
        most: usize,
    ) -> Result<JobLog, WorkloadError> {
        let workload =
            if as_fio { self.open_as_fio(target)? } else { self.open(target, PassSeeds::of(target, 0))? };
        let Some(lanes) = workload.lanes else {
            return Ok(JobLog { requests: Vec::new(), lanes: Vec::new() });
        };
        let names: Vec<String> = lanes.infos().map(|info| info.name.clone()).collect();
        let mut paced = Paced::new(lanes, latency);
        let mut requests = Vec::new();
        while requests.len() < most {
            let Some((at, lane, command)) = paced.next() else { break };
            requests.push(Logged { at, lane, command });
        }
        let lanes = names
            .into_iter()
            .zip(&paced.spans)
            .map(|(name, &(begin, end))| LoggedLane { name, begin, end })
            .collect();
        Ok(JobLog { requests, lanes })
    }
}

//! `[workload]` of a scenario.

use crate::pass::PassSeeds;
use crate::{
    FioSpec, InputFile, OwnPlacement, SyntheticSpec, Target, TraceSpec, Workload, WorkloadError, error::bad,
};
use outlast_units::{JsonSchema, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// What the host asks: exactly one of a synthetic stream, a trace or a fio job.
///
/// How requests arrive is part of each: `rate_iops` and `arrival`, recorded times, or `queue_depth`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// A stream drawn at random or counted up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticSpec>,
    /// A recorded trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// A fio job file, or its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio: Option<FioSpec>,
    /// Code of the user's that gives writes their stream hints: what `[policies]` of a scenario names, loaded.
    #[serde(skip)]
    pub placement: Option<OwnPlacement>,
}

impl WorkloadSpec {
    /// Every file that the spec reads. Who keeps results under a hash of what decides them hashes these as well.
    pub fn input_files(&self) -> Vec<InputFile> {
        // Every source by name: a new one does not compile before it has said which files it reads.
        let Self { synthetic: _, trace, fio, placement: _ } = self;
        let trace = trace.iter().flat_map(TraceSpec::input_files);
        trace.chain(fio.iter().flat_map(FioSpec::input_files)).collect()
    }

    /// Checks the spec against the target and opens its files. Relative file names are taken as they are: the caller
    /// resolves them against the scenario's folder first.
    ///
    /// # Errors
    /// A setting outside its limits (the message names the field by its dotted path, the value and the limit), settings
    /// that exclude each other, or a file that cannot be opened or understood.
    pub fn open(&self, target: &Target) -> Result<Workload, WorkloadError> {
        self.open_pass(target, 0)
    }

    /// As [`WorkloadSpec::open`]; `pass` other than 0 is one of several that follow each other: the same places are hot in all of them,
    /// and each has random streams of its own even where the workload fixes its seed. `target` is that of the run.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn open_pass(&self, target: &Target, pass: u64) -> Result<Workload, WorkloadError> {
        if target.capacity.0 < SECTOR_BYTES {
            return Err(bad(
                "capacity",
                target.capacity,
                format!("must be at least one sector of {SECTOR_BYTES} B"),
            ));
        }
        let mut workload = self.open_plain(target, pass)?;
        if let Some(own) = &self.placement {
            if workload.lanes.is_some() {
                let limit = "is for [workload.synthetic] and [workload.trace]: jobs of fio say themselves to which stream they write";
                return Err(bad("policies.placement", own.name(), limit));
            }
            workload.source = own.over(workload.source, target.capacity.0 / SECTOR_BYTES);
        }
        Ok(workload)
    }

    fn open_plain(&self, target: &Target, pass: u64) -> Result<Workload, WorkloadError> {
        let seeds = PassSeeds::of(target, pass);
        match (&self.synthetic, &self.trace, &self.fio) {
            (Some(synthetic), None, None) => synthetic.open(target, seeds),
            (None, Some(trace), None) => trace.open(target),
            (None, None, Some(fio)) => fio.open(target, seeds),
            (None, None, None) => Err(WorkloadError::Missing {
                field: "workload".into(),
                needed: "write one of [workload.synthetic], [workload.trace], [workload.fio]".into(),
            }),
            (synthetic, trace, _) => Err(WorkloadError::Conflict {
                first: if synthetic.is_some() { "workload.synthetic" } else { "workload.trace" }.into(),
                second: if synthetic.is_some() && trace.is_some() {
                    "workload.trace"
                } else {
                    "workload.fio"
                }
                .into(),
                why: "a workload has one source of requests",
            }),
        }
    }
}

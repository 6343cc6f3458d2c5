//! `[workload]` of a scenario.

use crate::pass::PassSeeds;
use crate::{
    FioSpec, InputFile, SyntheticSpec, TraceSpec, UserPlacement, Workload, WorkloadError, WorkloadTarget,
    ZonedSpec, error::bad_setting,
};
use outlast_units::{JsonSchema, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Requests of the host: exactly one of a synthetic stream, a trace, a fio job or a zoned workload.
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
    /// A host that writes zones one after another, and resets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned: Option<ZonedSpec>,
    /// The loaded code of a user that `policies.placement` names, which gives writes their stream hints.
    #[serde(skip)]
    pub placement: Option<UserPlacement>,
}

impl WorkloadSpec {
    /// All files that the spec reads. A hash of the inputs of a result must cover their contents.
    pub fn input_files(&self) -> Vec<InputFile> {
        // Destructured without `..`, so that a new kind of source does not compile until it is handled here.
        let Self { synthetic: _, trace, fio, zoned: _, placement: _ } = self;
        let trace = trace.iter().flat_map(TraceSpec::input_files);
        trace.chain(fio.iter().flat_map(FioSpec::input_files)).collect()
    }

    /// Checks the spec against the target and opens its files. Relative file names are taken as they are: the caller
    /// resolves them against the scenario's folder first.
    ///
    /// # Errors
    /// A setting outside its limits (the message names the field by its dotted path, the value and the limit), settings
    /// that exclude each other, or a file that cannot be opened or understood.
    pub fn open(&self, target: &WorkloadTarget) -> Result<Workload, WorkloadError> {
        self.open_pass(target, 0)
    }

    /// Opens pass number `pass` of the workload, of which 0 is the measured run ([`WorkloadSpec::open`]) and the others precondition. The
    /// same addresses are hot in all passes; each draws from random streams of its own, even if the workload fixes its seed. `target` is that
    /// of the run.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn open_pass(&self, target: &WorkloadTarget, pass: u64) -> Result<Workload, WorkloadError> {
        if target.capacity.0 < SECTOR_BYTES {
            return Err(bad_setting(
                "capacity",
                target.capacity,
                format!("must be at least one sector of {SECTOR_BYTES} B"),
            ));
        }
        let mut workload = self.open_source(target, pass)?;
        if let Some(placement) = &self.placement {
            if workload.jobs.is_some() {
                let limit = "is for [workload.synthetic] and [workload.trace]: jobs of fio say themselves to which stream they write";
                return Err(bad_setting("policies.placement", placement.name(), limit));
            }
            workload.source = placement.wrap_source(workload.source, target.capacity.0 / SECTOR_BYTES);
        }
        Ok(workload)
    }

    fn open_source(&self, target: &WorkloadTarget, pass: u64) -> Result<Workload, WorkloadError> {
        let seeds = PassSeeds::new(target, pass);
        if let Some(zoned) = &self.zoned {
            return match (&self.synthetic, &self.trace, &self.fio) {
                (None, None, None) => zoned.open(target, seeds),
                (synthetic, trace, _) => Err(WorkloadError::Conflict {
                    first: match (synthetic, trace) {
                        (Some(_), _) => "workload.synthetic",
                        (None, Some(_)) => "workload.trace",
                        (None, None) => "workload.fio",
                    }
                    .into(),
                    second: "workload.zoned".into(),
                    why: "a workload has one source of requests",
                }),
            };
        }
        if target.zones.is_some() {
            self.refuse_on_zones()?;
        }
        match (&self.synthetic, &self.trace, &self.fio) {
            (Some(synthetic), None, None) => synthetic.open(target, seeds),
            (None, Some(trace), None) => trace.open(target),
            (None, None, Some(fio)) => fio.open(target, seeds),
            (None, None, None) => Err(WorkloadError::Missing {
                field: "workload".into(),
                needed:
                    "write one of [workload.synthetic], [workload.trace], [workload.fio], [workload.zoned]"
                        .into(),
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

    /// Refuses what writes elsewhere than at write pointers, and reads from one zone into the next.
    fn refuse_on_zones(&self) -> Result<(), WorkloadError> {
        if self.synthetic.is_none() {
            return Ok(());
        }
        let limit = "does not go with [device.zones]: zones are written at their write pointers only; use [workload.zoned], a fio job with zonemode=zbd, or a \
                     trace of commands";
        Err(bad_setting("workload.synthetic", "given", limit))
    }
}

//! Requests of the host: synthetic streams, block traces and fio job files, all as one [`RequestSource`] of [`WorkloadRequest`]s.
//!
//! A `[workload]` of a scenario is a [`WorkloadSpec`]; [`WorkloadSpec::open`] checks it against the device ([`WorkloadTarget`])
//! and gives a [`Workload`]. A workload is **open loop** (requests carry the times at which they arrive, and the
//! device's speed does not change them), **closed loop** (a fixed number of requests is in flight, and arrival times
//! are meaningless), or several **jobs** as in fio, which run side by side and each decide when to issue;
//! [`RequestPacing`] names the kind, and a spec that asks for two of them is refused.
//!
//! Architecture Invariant: this room reads its trace or job file and does no other input or output; it keeps no clock and
//! draws every random number from a named sub-stream of the target's seed, so that the same spec, seed and file give the
//! same requests.

mod error;
mod fio;
mod input_file;
mod job;
mod pass;
mod placement;
mod request;
mod size_or_percent;
mod spec;
mod synthetic;
mod trace;
mod workload;
mod zoned;

pub use error::{TracePosition, WorkloadError};
pub use fio::{FioJobs, FioSpec, JobLog, LoggedJob, LoggedRequest, job_variables, parse_job};
pub use input_file::InputFile;
pub use job::{JobCompletion, JobInfo, JobStep};
pub use placement::{PlacerFactory, UserPlacement, WriteBatch, WritePlacer};
pub use request::{NamespaceTarget, RequestSource, WorkloadRequest, WorkloadTarget, ZonedTarget};
pub use size_or_percent::SizeOrPercent;
pub use spec::WorkloadSpec;
pub use synthetic::{AddressPattern, ArrivalProcess, NamedMix, SizeMix, SizeWeight, SyntheticSpec};
pub use trace::{
    AddressOverflow, AddressUnit, BlkEvent, BlkLine, BlkLineReader, ColumnSeparator, ColumnsSpec,
    DeviceLayout, DeviceName, OpStats, TimeUnit, TraceFormat, TraceInfo, TraceSpec, TraceWriter,
    UnorderedRecords, convert, parse_bytes, trace_info, trace_info_while,
};
pub use workload::{RequestPacing, Workload};
pub use zoned::{ZoneCommand, ZoneResetPolicy, ZonedSpec};

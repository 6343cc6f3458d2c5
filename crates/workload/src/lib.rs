//! What the host asks: synthetic streams, block traces and fio job files, all as one [`Source`] of [`Request`]s.
//!
//! A `[workload]` of a scenario is a [`WorkloadSpec`]; [`WorkloadSpec::open`] checks it against the device ([`Target`])
//! and gives a [`Workload`]. A workload is **open loop** (requests carry the times at which they arrive, and the
//! device's speed does not change them), **closed loop** (a fixed number of requests is in flight, and arrival times
//! are meaningless), or several **lanes** (fio jobs: queues that decide for themselves, given the time, and go on side by
//! side); [`Pacing`] says which, and a spec that asks for two of them is refused.
//!
//! Architecture Invariant: this room reads its trace or job file and does no other input or output; it keeps no clock and
//! draws every random number from a named sub-stream of the target's seed, so that the same spec, seed and file give the
//! same requests.

mod error;
mod extent;
mod fio;
mod input_file;
mod lanes;
mod pass;
mod placed;
mod request;
mod spec;
mod synthetic;
mod trace;
mod workload;

pub use error::{Position, WorkloadError};
pub use extent::Extent;
pub use fio::{FioLanes, FioSpec, JobLog, Logged, LoggedLane, job_variables, parse_job};
pub use input_file::InputFile;
pub use lanes::{Ask, LaneInfo, Noted};
pub use placed::{MakesPlacement, OwnPlacement, PlacesWrites, Writes};
pub use request::{Request, Source, Target};
pub use spec::WorkloadSpec;
pub use synthetic::{Arrival, NamedMix, Pattern, SizeMix, SizeWeight, SyntheticSpec};
pub use trace::{
    AddressUnit, Addresses, BlkEvent, BlkLine, BlkLines, DeviceName, Devices, Format, OpStats, TimeUnit,
    TraceInfo, TraceSpec, TraceWriter, Unordered, convert, parse_bytes, trace_info, trace_info_while,
};
pub use workload::{Pacing, Workload};

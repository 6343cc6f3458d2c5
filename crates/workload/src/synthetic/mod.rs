//! Synthetic streams: `[workload.synthetic]`.

mod address;
mod alias;
mod arrival;
mod check;
mod generator;
mod phases;
mod scramble;
mod spec;
mod zipf;

pub use spec::{Arrival, NamedMix, Pattern, SizeMix, SizeWeight, SyntheticSpec};

pub(crate) use address::{Address, Sequential, Uniform, Zones};
pub(crate) use alias::Alias;
pub(crate) use arrival::ArrivalPlan;
pub(crate) use check::threshold;
pub(crate) use generator::{Generator, Limit, Plan, Size, SizePlan};
pub(crate) use scramble::{Permuted, Scramble};
pub(crate) use zipf::Zipf;

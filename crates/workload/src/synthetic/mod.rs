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

use address::{Address, Sequential, Uniform, Zones};
use alias::Alias;
use arrival::ArrivalPlan;
use check::threshold;
use scramble::Scramble;
use zipf::Zipf;

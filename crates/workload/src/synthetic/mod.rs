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

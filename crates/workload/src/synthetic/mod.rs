//! Synthetic streams: `[workload.synthetic]`.

mod address;
mod alias_table;
mod arrival;
mod check;
mod generator;
mod permutation;
mod phases;
mod spec;
mod zipf;

pub use spec::{AddressPattern, ArrivalProcess, NamedMix, SizeMix, SizeWeight, SyntheticSpec};

//! Surroundings of a translation layer with parity, in tests.

pub(crate) mod kind;
mod moves;
pub(crate) mod rig;
mod steps;

//! Surroundings of a translation layer with parity, in tests.

pub(crate) mod kind;
pub(crate) mod modes;
mod moves;
pub(crate) mod rig;
mod steps;

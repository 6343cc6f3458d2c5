//! Cost and benefit (HRM, section 5): the re-reads that a superblock has cost exceed what moving it would cost.

use super::{Policy, View};
use outlast_units::SuperblockId;

/// Re-reads for each valid unit at which a superblock is moved.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Rereads(#[persist(fixed)] f64);

impl Policy for Rereads {
    type Setting = f64;

    fn new(ratio: f64, _superblocks: u32) -> Self {
        Self(ratio)
    }

    fn reread(&self, view: &impl View, superblock: SuperblockId) -> bool {
        f64::from(view.rereads(superblock)) >= self.0 * f64::from(view.valid(superblock).max(1))
    }
}

//! Data and trims that a loss of power would undo now.

use super::Ftl;
use crate::origins::is_copy;
use crate::streams::StreamCause;
use outlast_units::{Lpn, Ppn};

impl Ftl {
    /// True if the newest data of `lpn`, or its trim, is only in a buffer that a loss of power empties.
    pub fn is_volatile(&self, lpn: Lpn) -> bool {
        let Some(origins) = &self.origins else { return false };
        let mut at = self.lookup(lpn);
        if !at.is_some() {
            return self.is_trim_volatile(lpn);
        }
        while is_copy(at) && !self.is_programmed(at) {
            if self.is_new(at) {
                return true;
            }
            at = origins.of(&self.layout, at).unwrap_or(Ppn::NONE);
        }
        false
    }

    /// True if the unit in `slot` is new data of the host, not one that relocation moved.
    pub(super) fn is_new(&self, slot: Ppn) -> bool {
        let elsewhere = self.origins.as_ref().and_then(|origins| origins.is_new_elsewhere(slot));
        elsewhere.unwrap_or_else(|| {
            let stream = self.superblocks.opened_by(self.layout.superblock_of(slot));
            self.streams.cause(stream) == StreamCause::Host
        })
    }
}

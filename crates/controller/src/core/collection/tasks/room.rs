//! Room for relocated units: kept while they are read, given back when they are on flash.

use super::Tasks;

impl Tasks {
    /// A relocated unit takes up room until it is on flash.
    pub(crate) fn keep_room(&mut self, units: u32) {
        self.relocating += units;
    }

    /// `units` units need no room any more.
    #[inline]
    pub fn leave(&mut self, units: u32) {
        debug_assert!(
            units <= self.relocating,
            "{units} units leave where {} are relocated",
            self.relocating
        );
        self.relocating -= units;
    }

    /// The recovery of `units` units of a relocation read begins.
    pub(crate) fn recovery_begins(&mut self, units: u32) {
        self.recovering += units;
        debug_assert!(self.recovering <= self.relocating, "more units are recovered than relocated");
    }

    /// The recovery of `units` units of a relocation read has ended.
    pub(crate) fn recovery_ended(&mut self, units: u32) {
        debug_assert!(
            units <= self.recovering,
            "{units} units are recovered, {} were to be",
            self.recovering
        );
        self.recovering -= units;
    }
}

//! What came of completed commands.

use super::Machine;
use outlast_device::{Device, LbaRun, SectorRun, Tag};

impl Machine {
    /// The bytes that the completed read `tag` returned. Once for each read.
    pub fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        match self.answers.iter().position(|&(own, _)| own == tag) {
            Some(at) => Some(self.answers.swap_remove(at).1),
            None => self.service.take_data(tag),
        }
    }

    /// The answer to the completed question for sectors to be written again, `tag`. Once for each.
    pub fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.service.take_lba_status(tag)
    }

    /// Which sectors made the command `tag` end with a medium error. Once for each, before its tag is used again.
    pub fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.service.take_failed(tag)
    }

    /// Nobody asks what came of the completed command `tag`.
    pub(crate) fn forget(&mut self, tag: Tag) {
        drop(self.take_data(tag));
        drop(self.take_lba_status(tag));
        drop(self.take_failed(tag));
    }
}

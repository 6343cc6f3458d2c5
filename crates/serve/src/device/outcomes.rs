//! Data and errors of completed commands.

use super::ServedDevice;
use outlast_device::{Device, LbaRun, SectorRun, Tag};

impl ServedDevice {
    /// Data of the completed read `tag`. Each can be taken once.
    pub fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        match self.unclaimed_reads.iter().position(|&(read_tag, _)| read_tag == tag) {
            Some(index) => Some(self.unclaimed_reads.swap_remove(index).1),
            None => self.service.take_data(tag),
        }
    }

    /// Sectors to be written again, as reported by the completed status command `tag`. Each can be taken once.
    pub fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.service.take_lba_status(tag)
    }

    /// Sectors for which the command `tag` ended with a medium error. Can be taken once, before the tag is used again.
    pub fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.service.take_failed(tag)
    }

    /// Drops everything that the completed command `tag` returned.
    pub(crate) fn drop_outcome(&mut self, tag: Tag) {
        drop(self.take_data(tag));
        drop(self.take_lba_status(tag));
        drop(self.take_failed(tag));
    }
}

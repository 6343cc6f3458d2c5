//! The bytes of commands, where the drive keeps them: those to be written, those read, and answers to queries.

use crate::op::UnitWork;
use outlast_device::{Command, LbaRun, Tag};
use outlast_units::{Lpn, SECTOR_BYTES};
use std::collections::BTreeMap;

/// What commands carry beside their addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostBytes {
    /// What writes under way bring, by request.
    written: BTreeMap<u32, Vec<u8>>,
    /// What reads under way have so far, by request.
    reading: BTreeMap<u32, Vec<u8>>,
    /// What completed reads have, until the host takes it.
    read: BTreeMap<Tag, Vec<u8>>,
    /// Answers to queries for failed units, until the host takes them.
    answers: BTreeMap<Tag, Vec<LbaRun>>,
}

/// Where the part `work` of command `command` lies in a unit whose first sector is `unit_start`, and in the command's data: the byte it
/// begins with in the command, the byte it begins with in the unit, and how many there are.
fn span(command: &Command, unit_start: u64, work: UnitWork) -> (usize, usize, usize) {
    let sector = SECTOR_BYTES as usize;
    let at = (unit_start + u64::from(work.first) - command.lba.0) as usize * sector;
    (at, usize::from(work.first) * sector, usize::from(work.sectors) * sector)
}

impl HostBytes {
    /// Request `request` writes `data`.
    pub(crate) fn begin_write(&mut self, request: u32, data: &[u8]) {
        self.written.insert(request, data.to_vec());
    }

    /// Request `request` reads `sectors` sectors.
    pub(crate) fn begin_read(&mut self, request: u32, sectors: u32) {
        self.reading.insert(request, vec![0; sectors as usize * SECTOR_BYTES as usize]);
    }

    /// Puts the part `work` of unit `unit`, whose first sector is `unit_start`, where `command` returns it.
    pub(crate) fn copy_out(&mut self, command: &Command, unit_start: u64, work: UnitWork, unit: &[u8]) {
        let (at, from, bytes) = span(command, unit_start, work);
        if let Some(data) = self.reading.get_mut(&work.request) {
            data[at..at + bytes].copy_from_slice(&unit[from..from + bytes]);
        }
    }

    /// As [`HostBytes::copy_out`], of all of the unit that `command` asks for.
    pub(crate) fn deliver(&mut self, command: &Command, request: u32, unit_start: u64, unit: &[u8]) {
        let sectors = unit.len() as u64 / SECTOR_BYTES;
        let start = unit_start.max(command.lba.0);
        let end = (command.lba.0 + u64::from(command.sectors)).min(unit_start + sectors);
        if start < end {
            let (first, sectors) = ((start - unit_start) as u16, (end - start) as u16);
            self.copy_out(command, unit_start, UnitWork { request, lpn: Lpn::NONE, first, sectors }, unit);
        }
    }

    /// What request `work.request` writes into a unit whose first sector is `unit_start`, and the byte of the unit where that begins; `None`
    /// if the request has come without bytes.
    pub(crate) fn part(&self, command: &Command, unit_start: u64, work: UnitWork) -> Option<(usize, &[u8])> {
        let (at, from, bytes) = span(command, unit_start, work);
        Some((from, self.written.get(&work.request)?.get(at..at + bytes)?))
    }

    /// Request `request` has ended; what it read goes out under `tag`, if it is `good`: nothing of a read that failed is handed out as if
    /// nothing were amiss.
    pub(crate) fn end(&mut self, request: u32, tag: Tag, good: bool) {
        self.written.remove(&request);
        if let Some(data) = self.reading.remove(&request)
            && good
        {
            self.read.insert(tag, data);
        }
    }

    /// Query `tag` has been answered.
    pub(crate) fn answer(&mut self, tag: Tag, runs: Vec<LbaRun>) {
        self.answers.insert(tag, runs);
    }

    pub(crate) fn take(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.read.remove(&tag)
    }

    pub(crate) fn take_answer(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.answers.remove(&tag)
    }

    /// Power has failed: commands under way have no data any more, nor have `aborted` ones that were complete.
    pub(crate) fn abort(&mut self, aborted: &[Tag]) {
        self.written.clear();
        self.reading.clear();
        for tag in aborted {
            self.read.remove(tag);
            self.answers.remove(tag);
        }
    }

    /// Power has failed, and the host takes nothing any more.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Requests that have bytes.
    pub(crate) fn requests(&self) -> impl Iterator<Item = u32> {
        self.written.keys().chain(self.reading.keys()).copied()
    }
}

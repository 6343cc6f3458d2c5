//! The bytes of commands, where the drive keeps them: those to be written, those read, and answers to queries.

use crate::commands::HostRequestId;
use crate::op::UnitWork;
use outlast_device::{Command, LbaRun, Tag};
use outlast_media::UnitBytes;
use outlast_units::spare_buffers::SpareBuffers;
use outlast_units::{ListMap, Lpn, SECTOR_BYTES};

/// Data of commands under way: bytes of writes and reads, and answers to queries.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct HostBytes {
    /// Data of writes under way, by request; empty where they have ended.
    written: Vec<Written>,
    /// Data of reads under way as far as it has come, by request: from the first byte up to the last that is there, with zeroes in between.
    reading: Vec<Option<Vec<u8>>>,
    /// Data of completed reads, until the host takes it.
    read: ListMap<Tag, Vec<u8>>,
    /// Answers to queries for failed units, until the host takes them.
    answers: ListMap<Tag, Vec<LbaRun>>,
    /// Memory of reads that the host has given back.
    #[persist(skip)]
    spare: SpareBuffers,
}

/// What a write brings: a part for each unit that it touches, from unit `first` on.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct Written {
    first: u64,
    /// Absent once it has been stored.
    parts: Vec<Option<Part>>,
}

/// What a write brings for a unit.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub enum Part {
    /// All of it, as the unit to be stored: the bytes are copied once, when the command comes.
    Whole(UnitBytes),
    /// Some of its sectors.
    Sectors(Box<[u8]>),
}

/// Where the part `work` of command `command` lies in a unit whose first sector is `unit_start`, and in the command's data: the byte it
/// begins with in the command, the byte it begins with in the unit, and how many there are.
fn span(command: &Command, unit_start: u64, work: UnitWork) -> (usize, usize, usize) {
    let sector = SECTOR_BYTES as usize;
    let at = (unit_start + u64::from(work.first) - command.lba.0) as usize * sector;
    (at, usize::from(work.first) * sector, usize::from(work.sectors) * sector)
}

/// Bytes of `sectors` sectors.
fn length_of(sectors: u32) -> usize {
    sectors as usize * SECTOR_BYTES as usize
}

impl HostBytes {
    /// Request `request` brings `part` for unit `unit`: the one after that of the part before.
    #[inline]
    pub fn bring(&mut self, request: HostRequestId, unit: u64, part: Part) {
        let index = request.0 as usize;
        if index >= self.written.len() {
            self.written.resize_with(index + 1, Written::default);
        }
        let own = &mut self.written[index];
        if own.parts.is_empty() {
            own.first = unit;
        }
        debug_assert!(unit == own.first + own.parts.len() as u64, "the parts of a write come in order");
        own.parts.push(Some(part));
    }

    /// Request `request` reads `sectors` sectors.
    pub fn begin_read(&mut self, request: HostRequestId, sectors: u32) {
        let mut data = self.spare.take().unwrap_or_default();
        data.clear();
        data.reserve_exact(length_of(sectors));
        let index = request.0 as usize;
        if index >= self.reading.len() {
            self.reading.resize_with(index + 1, Option::default);
        }
        self.reading[index] = Some(data);
    }

    /// Puts the part `work` of unit `unit`, whose first sector is `unit_start`, where `command` returns it.
    pub fn copy_out(&mut self, command: &Command, unit_start: u64, work: UnitWork, unit: &UnitBytes) {
        let (at, from, bytes) = span(command, unit_start, work);
        let Some(Some(data)) = self.reading.get_mut(work.request.0 as usize) else { return };
        if data.len() < at {
            data.resize(at, 0);
        }
        if data.len() == at {
            // As units mostly come: nothing is written twice.
            unit.append_to(from, bytes, data);
            return;
        }
        data.resize(data.len().max(at + bytes), 0);
        unit.copy_to(from, &mut data[at..at + bytes]);
    }

    /// As [`HostBytes::copy_out`], of all of the unit, which has `sectors` sectors, that `command` asks for.
    pub(crate) fn deliver(
        &mut self,
        command: &Command,
        request: HostRequestId,
        unit_start: u64,
        sectors: u64,
        unit: &UnitBytes,
    ) {
        let start = unit_start.max(command.lba.0);
        let end = (command.lba.0 + u64::from(command.sectors)).min(unit_start + sectors);
        if start < end {
            let (first, sectors) = ((start - unit_start) as u16, (end - start) as u16);
            self.copy_out(command, unit_start, UnitWork::new(request, Lpn::NONE, first, sectors), unit);
        }
    }

    /// Hands out what request `request` brings for unit `unit`, to be stored; `None` if it has come without bytes.
    ///
    /// # Panics
    /// If it has been handed out before.
    #[inline]
    pub fn store(&mut self, request: HostRequestId, unit: u64) -> Option<Part> {
        let own = self.written.get_mut(request.0 as usize)?;
        let part = own.parts.get_mut(usize::try_from(unit.checked_sub(own.first)?).ok()?)?;
        Some(part.take().expect("what a write brings for a unit is stored once"))
    }

    /// Request `request` of `sectors` sectors has ended; what it read goes out under `tag`, if it is `good`: nothing of a read that failed is
    /// handed out as if nothing were amiss.
    pub fn end(&mut self, request: HostRequestId, sectors: u32, tag: Tag, good: bool) {
        let index = request.0 as usize;
        if let Some(own) = self.written.get_mut(index)
            && !own.parts.is_empty()
        {
            // A write, which reads nothing.
            own.parts.clear();
            return;
        }
        if let Some(mut data) = self.reading.get_mut(index).and_then(Option::take)
            && good
        {
            // What has never been written reads as zeroes.
            data.resize(length_of(sectors), 0);
            self.read.insert(tag, data);
        }
    }

    /// Query `tag` has been answered.
    pub fn answer(&mut self, tag: Tag, runs: Vec<LbaRun>) {
        self.answers.insert(tag, runs);
    }

    /// Takes the bytes of read `tag`, which has completed.
    pub fn take(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.read.remove(tag)
    }

    /// Takes the memory of a read that the host needs no more.
    pub fn take_memory(&mut self, memory: Vec<u8>) {
        self.spare.give(memory);
    }

    /// Takes the answer to query `tag`, which has completed.
    pub fn take_answer(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.answers.remove(tag)
    }

    /// Power has failed: commands under way have no data any more, nor have `aborted` ones that were complete.
    pub fn abort(&mut self, aborted: &[Tag]) {
        self.written.clear();
        self.reading.clear();
        for &tag in aborted {
            self.read.remove(tag);
            self.answers.remove(tag);
        }
    }

    /// Power has failed, and the host takes nothing any more.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The sectors of the completed read `tag`, if there is one.
    pub(crate) fn sectors_read(&self, tag: Tag) -> Option<u32> {
        self.read.get(tag).map(|data| (data.len() as u64 / SECTOR_BYTES) as u32)
    }

    /// Checks that what a read has so far is no longer than its command, which `sectors_of` gives for a read under way.
    ///
    /// # Errors
    /// The first request that reads more, or nothing.
    pub fn check_restored(&self, sectors_of: impl Fn(HostRequestId) -> Option<u32>) -> Result<(), String> {
        let fits = |request, data: &Vec<u8>| {
            sectors_of(request).is_some_and(|sectors| data.len() <= length_of(sectors))
        };
        match self.under_way().find(|&(request, data)| !fits(request, data)) {
            None => Ok(()),
            Some((request, data)) => Err(format!("request {request} has {} bytes of a read", data.len())),
        }
    }

    /// Requests that have bytes.
    pub fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        let written = (0..).map(HostRequestId).zip(&self.written).filter(|(_, own)| !own.parts.is_empty());
        written.map(|(request, _)| request).chain(self.under_way().map(|(request, _)| request))
    }

    /// Reads under way, with what each has so far.
    fn under_way(&self) -> impl Iterator<Item = (HostRequestId, &Vec<u8>)> {
        let reading = (0..).map(HostRequestId).zip(&self.reading);
        reading.filter_map(|(request, data)| Some((request, data.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::{HostBytes, HostRequestId};
    use crate::op::UnitWork;
    use outlast_device::{Command, Op, Tag};
    use outlast_media::UnitBytes;
    use outlast_units::{Lba, Lpn};

    const REQUEST: HostRequestId = HostRequestId(3);

    /// Two sectors of unit `unit`, each unit of four sectors, from sector `first` of the unit on.
    fn copy(bytes: &mut HostBytes, command: &Command, unit: u32, first: u16, fill: u8) {
        let work = UnitWork::new(REQUEST, Lpn(unit), first, 2);
        bytes.copy_out(command, u64::from(unit) * 4, work, &UnitBytes::new(0, &[fill; 2048]));
    }

    #[test]
    fn what_a_read_has_is_no_longer_than_its_command() {
        let mut bytes = HostBytes::default();
        bytes.begin_read(REQUEST, 8);
        assert_eq!(bytes.check_restored(|_| Some(8)), Ok(()));
        copy(&mut bytes, &Command::new(Op::Read, Lba(0), 8), 1, 2, 7);
        assert_eq!(bytes.check_restored(|_| Some(8)), Ok(()));
        for other in [Some(7), None] {
            assert_eq!(bytes.check_restored(|_| other), Err("request 3 has 4096 bytes of a read".to_owned()));
        }
    }

    #[test]
    fn units_come_in_any_order_and_holes_are_zeroes() {
        let mut bytes = HostBytes::default();
        let command = Command::new(Op::Read, Lba(2), 12);
        bytes.begin_read(REQUEST, 12);
        // Sectors 8 and 9, then 2 and 3, then 8 and 9 again; nothing for the others.
        for (unit, first, fill) in [(2, 0, 1), (0, 2, 2), (2, 0, 3)] {
            copy(&mut bytes, &command, unit, first, fill);
        }
        bytes.end(REQUEST, 12, Tag(5), true);
        let mut expected = vec![0; 12 * 512];
        expected[..1024].fill(2);
        expected[6 * 512..8 * 512].fill(3);
        assert_eq!(bytes.take(Tag(5)), Some(expected));
    }
}

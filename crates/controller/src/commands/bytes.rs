//! The bytes of commands, where the drive keeps them: those to be written, those read, and answers to queries.

use crate::commands::HostRequestId;
use crate::op::UnitWork;
use outlast_device::{Command, LbaRun, Tag};
use outlast_media::UnitBytes;
use outlast_units::{ListMap, Lpn, SECTOR_BYTES};

/// What commands carry beside their addresses.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct HostBytes {
    /// What writes under way bring, by request; those that have ended are empty.
    written: Vec<Written>,
    /// What reads under way have so far, by request.
    reading: ListMap<HostRequestId, ReadData>,
    /// What completed reads have, until the host takes it.
    read: ListMap<Tag, Vec<u8>>,
    /// Answers to queries for failed units, until the host takes them.
    answers: ListMap<Tag, Vec<LbaRun>>,
}

/// What a read under way has so far.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct ReadData {
    /// Bytes that the command reads.
    whole: u32,
    /// The first of them. Those behind are zero unless they are still to come: a buffer that is about to be filled is not cleared before.
    bytes: Vec<u8>,
}

impl ReadData {
    /// Puts `length` bytes of `unit`, from its byte `from` on, at byte `at`.
    #[inline]
    fn put(&mut self, at: usize, length: usize, unit: &UnitBytes, from: usize) {
        if at > self.bytes.len() {
            self.bytes.resize(at, 0);
        }
        if at == self.bytes.len() {
            unit.append_to(from, length, &mut self.bytes);
            return;
        }
        if at + length > self.bytes.len() {
            self.bytes.resize(at + length, 0);
        }
        unit.copy_to(from, &mut self.bytes[at..at + length]);
    }

    /// All of it: what nothing has come for is zero.
    fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.resize(self.whole as usize, 0);
        self.bytes
    }
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
        let whole = sectors * SECTOR_BYTES as u32;
        self.reading.insert(request, ReadData { whole, bytes: Vec::with_capacity(whole as usize) });
    }

    /// Puts the part `work` of unit `unit`, whose first sector is `unit_start`, where `command` returns it.
    pub(crate) fn copy_out(&mut self, command: &Command, unit_start: u64, work: UnitWork, unit: &UnitBytes) {
        let (at, from, bytes) = span(command, unit_start, work);
        if let Some(data) = self.reading.get_mut(work.request) {
            data.put(at, bytes, unit, from);
        }
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

    /// Request `request` has ended; what it read goes out under `tag`, if it is `good`: nothing of a read that failed is handed out as if
    /// nothing were amiss.
    pub fn end(&mut self, request: HostRequestId, tag: Tag, good: bool) {
        if let Some(own) = self.written.get_mut(request.0 as usize) {
            own.parts.clear();
        }
        if let Some(data) = self.reading.remove(request)
            && good
        {
            self.read.insert(tag, data.into_bytes());
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

    /// Checks that a read has room for as much as its command reads, which `sectors_of` gives for a read under way, and has no more than that.
    ///
    /// # Errors
    /// The first request that reads less or more, or nothing.
    pub fn check_restored(&self, sectors_of: impl Fn(HostRequestId) -> Option<u32>) -> Result<(), String> {
        let length = |request| sectors_of(request).map(|sectors| u64::from(sectors) * SECTOR_BYTES);
        let mut all = self.reading.iter();
        let is_wrong = |&(request, data): &(HostRequestId, &ReadData)| {
            length(request) != Some(data.whole.into()) || data.bytes.len() > data.whole as usize
        };
        match all.find(is_wrong) {
            None => Ok(()),
            Some((request, data)) => Err(format!("request {request} has {} bytes of a read", data.whole)),
        }
    }

    /// Requests that have bytes.
    pub fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        let written = (0..).map(HostRequestId).zip(&self.written).filter(|(_, own)| !own.parts.is_empty());
        written.map(|(request, _)| request).chain(self.reading.keys())
    }
}

#[cfg(test)]
mod tests {
    use super::{HostBytes, HostRequestId, ReadData};
    use outlast_media::UnitBytes;

    #[test]
    fn what_a_read_has_is_as_long_as_its_command() {
        let mut bytes = HostBytes::default();
        bytes.begin_read(HostRequestId(3), 8);
        assert_eq!(bytes.check_restored(|_| Some(8)), Ok(()));
        for other in [Some(7), None] {
            assert_eq!(bytes.check_restored(|_| other), Err("request 3 has 4096 bytes of a read".to_owned()));
        }
    }

    #[test]
    fn units_of_a_read_come_in_any_order_and_what_is_missing_is_zero() {
        let unit = UnitBytes::new(1, &[7; 1024]);
        let mut data = ReadData { whole: 5120, bytes: Vec::new() };
        data.put(2048, 1024, &unit, 0);
        data.put(512, 512, &unit, 512);
        data.put(2560, 1024, &UnitBytes::zero(2), 0);
        data.put(3584, 512, &unit, 0);
        let mut expected = vec![0; 5120];
        expected[512..1024].fill(7);
        expected[2048..2560].fill(7);
        expected[3584..4096].fill(7);
        assert_eq!(data.into_bytes(), expected);
    }
}

//! A host that knows what every sector may hold, and checks every read against it.

use super::command;
use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::collections::BTreeMap;

pub(crate) const SECTOR: usize = SECTOR_BYTES as usize;

/// The content of a sector: recognisable, and different at every write.
pub(crate) fn stamp(lba: u64, version: u64) -> [u8; SECTOR] {
    let mut rng = SplitMix::new(lba ^ version.rotate_left(32), "content");
    let mut bytes = [0; SECTOR];
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    bytes
}

/// The versions that a read of a sector may return: the last one acknowledged, and any written since and not acknowledged
/// when the read was submitted, or written while the read was under way. Version 0 is "zeroes".
///
/// Writes that were in flight together may take effect in either order, whichever was acknowledged first (the unit that
/// they share may be an early one of one command and a late one of the other): all of such a group stay allowed.
#[derive(Default, Clone)]
pub(crate) struct Sector {
    pub(crate) allowed: Vec<u64>,
    in_flight: Vec<u64>,
    /// All writes since none was in flight.
    group: Vec<u64>,
    /// The group has a trim that may have had no effect.
    kept: bool,
}

pub(crate) struct Pending {
    command: Command,
    version: u64,
    /// For a read: the versions allowed for each of its sectors.
    allowed: Vec<Vec<u64>>,
}

pub(crate) struct Host {
    pub(crate) ssd: Ssd,
    pub(crate) sectors: Vec<Sector>,
    pub(crate) pending: BTreeMap<Tag, Pending>,
    version: u64,
    pub(crate) now: Nanos,
    pub(crate) reads_checked: u64,
    /// Whether commands may end with a medium error, or with a refusal to write; and how many reads did.
    pub(crate) may_fail: bool,
    pub(crate) medium_errors: u64,
}

impl Host {
    pub(crate) fn new(ssd: Ssd) -> Self {
        let sectors = (ssd.identify().capacity.0 / SECTOR_BYTES) as usize;
        let empty = Sector { allowed: vec![0], ..Sector::default() };
        Self {
            ssd,
            sectors: vec![empty; sectors],
            pending: BTreeMap::new(),
            version: 0,
            now: Nanos::ZERO,
            reads_checked: 0,
            may_fail: false,
            medium_errors: 0,
        }
    }

    fn range(command: &Command) -> std::ops::Range<usize> {
        command.lba.0 as usize..command.lba.0 as usize + command.sectors as usize
    }

    pub(crate) fn submit(&mut self, tag: Tag, command: Command) {
        let mut allowed = Vec::new();
        let mut data = Vec::new();
        self.version += 1;
        let version = self.version;
        match command.op {
            Op::Read => {
                allowed = self.sectors[Self::range(&command)]
                    .iter()
                    .map(|s| [&s.allowed[..], &s.in_flight[..]].concat())
                    .collect();
            }
            Op::Write | Op::Trim => {
                // A trim of a part of a unit may or may not take effect: both are allowed from here on.
                let written = if command.op == Op::Write { version } else { 0 };
                for lba in Self::range(&command) {
                    self.sectors[lba].in_flight.push(written);
                    self.sectors[lba].group.push(written);
                    if command.op == Op::Write {
                        data.extend_from_slice(&stamp(lba as u64, version));
                    }
                }
                for read in self.pending.values_mut().filter(|pending| pending.command.op == Op::Read) {
                    for (lba, allowed) in Self::range(&read.command).zip(&mut read.allowed) {
                        if Self::range(&command).contains(&lba) {
                            allowed.push(written);
                        }
                    }
                }
            }
            Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => {}
        }
        self.pending.insert(tag, Pending { command, version, allowed });
        self.ssd.submit_data(self.now, command, tag, &data);
    }

    /// Advances to the next completion; false when nothing is under way.
    pub(crate) fn step(&mut self) -> bool {
        let mut completions = Vec::new();
        let reached = self.ssd.advance_to_completion(Nanos::MAX, &mut completions);
        if completions.is_empty() {
            return false;
        }
        self.now = reached;
        for completion in completions {
            let failed = completion.outcome != Outcome::Ok;
            assert!(
                !failed || (self.may_fail && completion.outcome != Outcome::OutOfRange),
                "{completion:?}"
            );
            let pending = self.pending.remove(&completion.tag).expect("completed once");
            self.settle(completion.tag, &pending, failed);
        }
        true
    }

    fn settle(&mut self, tag: Tag, pending: &Pending, failed: bool) {
        let range = Self::range(&pending.command);
        match pending.command.op {
            Op::Read if failed => {
                assert!(self.ssd.take_data(tag).is_none(), "a read that failed hands out data");
                self.medium_errors += 1;
            }
            Op::Read => {
                let data = self.ssd.take_data(tag).expect("a read returns data");
                assert_eq!(data.len(), range.len() * SECTOR);
                for ((lba, found), allowed) in range.zip(data.chunks_exact(SECTOR)).zip(&pending.allowed) {
                    let matches = allowed.iter().any(|&version| {
                        if version == 0 {
                            found.iter().all(|&b| b == 0)
                        } else {
                            found == stamp(lba as u64, version)
                        }
                    });
                    assert!(matches, "sector {lba} holds none of versions {allowed:?}");
                    self.reads_checked += 1;
                }
            }
            Op::Write | Op::Trim => {
                let unit = self.ssd.sectors_per_unit() as usize;
                for lba in range.clone() {
                    let whole = lba / unit * unit >= range.start && (lba / unit + 1) * unit <= range.end;
                    let written = if pending.command.op == Op::Write { pending.version } else { 0 };
                    let sector = &mut self.sectors[lba];
                    let position =
                        sector.in_flight.iter().position(|&v| v == written).expect("was in flight");
                    sector.in_flight.remove(position);
                    // Of a write that failed, some units may have been written.
                    sector.kept |= (pending.command.op == Op::Trim && !whole) || failed;
                    sector.allowed.push(written);
                    if sector.in_flight.is_empty() {
                        let group = std::mem::take(&mut sector.group);
                        if std::mem::take(&mut sector.kept) {
                            sector.allowed.extend(group);
                        } else {
                            sector.allowed = group;
                        }
                    }
                }
            }
            Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => assert!(pending.allowed.is_empty()),
        }
    }
}

impl Host {
    /// Lets everything under way come to its end.
    pub(crate) fn settle_down(&mut self) {
        while !self.pending.is_empty() {
            assert!(self.step(), "commands never completed: {:?}", self.pending.keys());
        }
    }

    /// Reads every sector back, one by one.
    pub(crate) fn read_everything(&mut self, first_tag: u32) {
        for lba in 0..self.sectors.len() as u64 {
            self.submit(Tag(first_tag + lba as u32), command(Op::Read, lba, 1));
            while self.pending.len() >= 64 {
                self.step();
            }
        }
        self.settle_down();
    }
}

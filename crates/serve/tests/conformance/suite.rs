//! The promises, each as a test over any disk. The oracle is what a list of sectors would hold.

use crate::asks::{Ask, AskOutcome};
use crate::disks::Disk;
use outlast_units::SECTOR_BYTES;
use outlast_units::rng::{SplitMix, mix};

/// Commands under way together at most.
const DEPTH: u64 = 12;
/// Sectors of a command at most: three mapping units and a bit.
const LONGEST: u64 = 26;
/// Sectors that the tests use, from the disk's first: few, so that commands meet.
const SPAN: u64 = 600;

/// The bytes of a sector as they were given by write number `version`; zeroes for number 0.
fn content(version: u64, sector: u64) -> Vec<u8> {
    if version == 0 {
        return vec![0; SECTOR_BYTES as usize];
    }
    let word = |at| mix(version << 32 | sector << 8 | at).to_le_bytes();
    (0..SECTOR_BYTES / 8).flat_map(word).collect()
}

/// What a sector may hold.
#[derive(Clone)]
struct Sector {
    /// The versions that a loss of power may leave, the current one last.
    versions: Vec<u64>,
    /// It was trimmed with a part of its mapping unit only: the version before the current one may still be the current one.
    is_either: bool,
}

impl Sector {
    /// Those that may be current.
    fn current(&self) -> &[u64] {
        &self.versions[self.versions.len() - 1 - usize::from(self.is_either)..]
    }
}

/// What each sector may hold.
struct Oracle {
    rng: SplitMix,
    /// Sectors of a mapping unit.
    unit: u64,
    sectors: Vec<Sector>,
    made: u64,
}

impl Oracle {
    fn new(seed: u64, disk: &impl Disk) -> Self {
        let blank = Sector { versions: vec![0], is_either: false };
        let rng = SplitMix::new(seed, "conformance");
        Self { rng, unit: disk.unit(), sectors: vec![blank; SPAN as usize], made: 0 }
    }

    /// Commands to have under way together. No two of them meet: what comes of those that do is nobody's promise.
    fn batch(&mut self) -> Vec<Ask> {
        let mut taken = vec![false; SPAN as usize];
        let mut batch = Vec::new();
        for _ in 0..=self.rng.below(DEPTH) {
            let sectors = 1 + self.rng.below(LONGEST);
            let lba = self.rng.below(SPAN - sectors + 1);
            let range = lba as usize..(lba + sectors) as usize;
            if taken[range.clone()].iter().any(|&taken| taken) {
                continue;
            }
            taken[range].fill(true);
            batch.push(match self.rng.below(10) {
                0 => Ask::Trim { lba, sectors },
                1..=4 => Ask::Read { lba, sectors },
                kind => {
                    self.made += 1;
                    let data = (lba..lba + sectors).flat_map(|sector| content(self.made, sector)).collect();
                    Ask::Write { lba, data, fua: kind == 9, version: self.made }
                }
            });
        }
        batch
    }

    /// Compares the answers to a batch, and takes note of what it changed.
    fn hear(&mut self, batch: &[Ask], answers: &[AskOutcome]) {
        assert_eq!(batch.len(), answers.len(), "every command has one answer");
        for (ask, answer) in batch.iter().zip(answers) {
            match ask {
                Ask::Read { lba, .. } => {
                    let AskOutcome::Done(data) = answer else { panic!("{ask:?}: {answer:?}") };
                    self.compare(*lba, data);
                }
                _ => assert!(matches!(answer, AskOutcome::Done(_)), "{ask:?}: {answer:?}"),
            }
            match *ask {
                Ask::Write { lba, ref data, fua, version } => {
                    for own in &mut self.sectors[lba as usize..][..data.len() / SECTOR_BYTES as usize] {
                        if fua {
                            own.versions.clear();
                        }
                        own.versions.push(version);
                        own.is_either = false;
                    }
                }
                Ask::Trim { lba, sectors } => self.trim(lba, lba + sectors),
                Ask::Flush => {
                    for own in &mut self.sectors {
                        own.versions = own.current().to_vec();
                    }
                }
                Ask::Read { .. } => {}
            }
        }
    }

    fn trim(&mut self, from: u64, to: u64) {
        for sector in from..to {
            let own = &mut self.sectors[sector as usize];
            let unit = sector / self.unit * self.unit;
            // A sector of which it was open what it holds, and that may have been left as it is: as many versions may be current.
            if own.is_either {
                own.versions.pop();
            }
            own.versions.push(0);
            own.is_either = unit < from || unit + self.unit > to;
        }
    }

    /// Whether what was read from `lba` on is what was written last. What is read once stays so.
    fn compare(&mut self, lba: u64, data: &[u8]) {
        for (sector, got) in (lba..).zip(data.chunks(SECTOR_BYTES as usize)) {
            let own = &mut self.sectors[sector as usize];
            let current = own.current();
            let found = current.iter().position(|&version| got == content(version, sector));
            let found =
                found.unwrap_or_else(|| panic!("sector {sector} is not as write {current:?} left it"));
            if own.is_either && found == 0 {
                own.versions.pop();
            }
            own.is_either = false;
        }
    }

    fn run(&mut self, disk: &mut impl Disk, batches: u32) {
        for _ in 0..batches {
            let batch = self.batch();
            let answers = disk.run(&batch);
            self.hear(&batch, &answers);
        }
    }

    /// Reads everything after a loss of power: what is there now is what was there all the time.
    fn look_again(&mut self, disk: &mut impl Disk) {
        let data = read(disk, 0, SPAN);
        let sectors = (0u64..).zip(data.chunks(SECTOR_BYTES as usize));
        for ((sector, got), own) in sectors.zip(&mut self.sectors) {
            let found = own.versions.iter().copied().find(|&version| got == content(version, sector));
            let version = found.unwrap_or_else(|| {
                panic!("sector {sector} is as none of the writes {:?} left it", own.versions)
            });
            // The next loss of power may not change it: it is on flash.
            *own = Sector { versions: vec![version], is_either: false };
        }
    }
}

fn read(disk: &mut impl Disk, lba: u64, sectors: u64) -> Vec<u8> {
    match disk.run(&[Ask::Read { lba, sectors }]).remove(0) {
        AskOutcome::Done(data) => data,
        other => panic!("reading {sectors} sectors from {lba}: {other:?}"),
    }
}

pub(crate) fn reads_zeroes_where_nothing_was_written(disk: &mut impl Disk) {
    let last = disk.sectors() - LONGEST;
    for lba in [0, 1, 7, SPAN, last] {
        assert!(read(disk, lba, LONGEST).iter().all(|&byte| byte == 0), "from sector {lba}");
    }
}

pub(crate) fn gives_what_was_written_last(disk: &mut impl Disk) {
    let mut oracle = Oracle::new(1, disk);
    oracle.run(disk, 150);
    let data = read(disk, 0, SPAN);
    oracle.compare(0, &data);
}

pub(crate) fn refuses_what_lies_beyond_its_end_and_changes_nothing(disk: &mut impl Disk) {
    let end = disk.sectors();
    let data = content(1, 9);
    let write = |lba, times: usize| Ask::Write { lba, data: data.repeat(times), fua: false, version: 1 };
    assert!(matches!(disk.run(&[write(end - 1, 1)])[0], AskOutcome::Done(_)), "the last sector is there");
    let beyond = [
        write(end, 1),
        write(end - 1, 2),
        Ask::Read { lba: end, sectors: 1 },
        Ask::Read { lba: end - 1, sectors: 2 },
        Ask::Trim { lba: end - 1, sectors: 2 },
        Ask::Trim { lba: end, sectors: 1 },
    ];
    for ask in beyond {
        let answer = disk.run(std::slice::from_ref(&ask)).remove(0);
        assert!(matches!(answer, AskOutcome::OutOfRange), "{ask:?} of {end} sectors: {answer:?}");
    }
    assert!(read(disk, end - 1, 1) == data, "the last sector is as it was");
    assert!(read(disk, end - 2, 1).iter().all(|&byte| byte == 0), "and so is the one before");
}

pub(crate) fn keeps_what_was_flushed_or_forced_when_power_fails(disk: &mut impl Disk) {
    let mut oracle = Oracle::new(2, disk);
    for _ in 0..12 {
        oracle.run(disk, 12);
        let flush = [Ask::Flush];
        oracle.hear(&flush, &disk.run(&flush));
        oracle.run(disk, 6);
        disk.cut_power();
        oracle.look_again(disk);
    }
}

pub(crate) fn never_gives_wrong_bytes_when_it_breaks(disk: &mut impl Disk) {
    let mut oracle = Oracle::new(3, disk);
    oracle.run(disk, 60);
    let flush = [Ask::Flush];
    oracle.hear(&flush, &disk.run(&flush));
    disk.break_something();
    let mut failed = 0;
    for sector in 0..SPAN {
        match disk.run(&[Ask::Read { lba: sector, sectors: 1 }]).remove(0) {
            AskOutcome::Done(data) => oracle.compare(sector, &data),
            AskOutcome::Failed => failed += 1,
            AskOutcome::OutOfRange => panic!("sector {sector} is within the disk"),
        }
    }
    assert_eq!(failed != 0, disk.loses_data_then(), "{failed} of {SPAN} sectors cannot be read");
    // What is written now is there, whatever was there before.
    let data: Vec<u8> = (0..SPAN).flat_map(|sector| content(1 << 20, sector)).collect();
    for (lba, part) in (0..).step_by(8).zip(data.chunks(8 * SECTOR_BYTES as usize)) {
        let write = Ask::Write { lba, data: part.to_vec(), fua: false, version: 1 << 20 };
        assert!(matches!(disk.run(&[write])[0], AskOutcome::Done(_)), "writing sector {lba}");
    }
    assert!(read(disk, 0, SPAN) == data, "it goes on after it broke");
}

//! Is a log of dm-log-writes read as it was written, by whomever, and is damage told?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the tests write files and run other programs")]

use outlast_torture::source::history_of_log_writes;
use outlast_torture::source::log_writes::{
    EntryContent, LogWritesDamage, LogWritesEntry, LogWritesReader, LogWritesWriter,
};
use proptest::prelude::*;
use std::io::Cursor;

/// An entry to be written; the bytes of a write follow from its seed.
#[derive(Clone, Debug)]
enum Step {
    Write { lba: u64, sectors: u64, fua: bool, seed: u8 },
    Discard { lba: u64, sectors: u64, fua: bool },
    Flush,
    Mark(String),
}

fn step() -> impl Strategy<Value = Step> {
    let lba = prop_oneof![0..100_u64, Just((1 << 54) - 600_000)];
    prop_oneof![
        (lba.clone(), 1..20_u64, any::<bool>(), any::<u8>())
            .prop_map(|(lba, sectors, fua, seed)| Step::Write { lba, sectors, fua, seed }),
        (lba, prop_oneof![1..20_u64, 200_000..600_000_u64], any::<bool>())
            .prop_map(|(lba, sectors, fua)| Step::Discard { lba, sectors, fua }),
        Just(Step::Flush),
        "\\PC{0,100}".prop_map(Step::Mark),
    ]
}

fn bytes(sectors: u64, seed: u8) -> Vec<u8> {
    (0..sectors * 512).map(|at| (at / 512) as u8 ^ seed).collect()
}

fn write(steps: &[Step]) -> Vec<u8> {
    let mut writer = LogWritesWriter::new(Cursor::new(Vec::new())).unwrap();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Write { lba, sectors, fua, seed } => {
                writer.write(*lba, *sectors, *fua, &mut &bytes(*sectors, *seed)[..]).unwrap();
            }
            Step::Discard { lba, sectors, fua } => writer.discard(*lba, *sectors, *fua).unwrap(),
            Step::Flush => writer.flush().unwrap(),
            Step::Mark(text) => writer.mark(text).unwrap(),
        }
        if number.is_multiple_of(7) {
            writer.commit().unwrap();
        }
    }
    writer.end().unwrap().into_inner()
}

fn read(log: &[u8]) -> Result<Vec<LogWritesEntry>, LogWritesDamage> {
    let mut reader = LogWritesReader::new(Cursor::new(log))?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        entries.push(entry);
    }
    Ok(entries)
}

/// Entries that a reader must give: discards come in entries of at most 128 MiB.
fn expected(steps: &[Step], entries: &[LogWritesEntry]) -> Vec<LogWritesEntry> {
    let mut found = entries.iter();
    let mut expected = Vec::new();
    for step in steps {
        let one = |flush, fua, content| LogWritesEntry { flush, fua, content };
        match step {
            Step::Write { lba, sectors, fua, .. } => {
                // Where its data is, is looked at below.
                let payload = found.clone().find_map(|entry| match entry.content {
                    EntryContent::Write { payload, .. } => Some(payload),
                    _ => None,
                });
                let (lba, sectors, payload) = (*lba, *sectors, payload.unwrap());
                expected.push(one(false, *fua, EntryContent::Write { lba, sectors, payload }));
            }
            Step::Discard { lba, sectors, fua } => {
                let pieces = (0..*sectors).step_by(262_144).map(|from| {
                    let sectors = (*sectors - from).min(262_144);
                    one(false, *fua, EntryContent::Discard { lba: *lba + from, sectors })
                });
                expected.extend(pieces);
            }
            Step::Flush => expected.push(one(true, false, EntryContent::Nothing)),
            Step::Mark(text) => expected.push(one(false, false, EntryContent::Mark(text.clone()))),
        }
        found = entries[expected.len().min(entries.len())..].iter();
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(steps in prop::collection::vec(step(), 0..30)) {
        let log = write(&steps);
        let entries = read(&log).unwrap();
        prop_assert_eq!(&entries, &expected(&steps, &entries));
        let seeds = steps.iter().filter_map(|step| match step {
            Step::Write { sectors, seed, .. } => Some(bytes(*sectors, *seed)),
            _ => None,
        });
        let found = entries.iter().filter_map(|entry| match entry.content {
            EntryContent::Write { payload, sectors, .. } => {
                Some(log[payload as usize..][..sectors as usize * 512].to_vec())
            }
            _ => None,
        });
        prop_assert!(found.eq(seeds));
    }

    #[test]
    fn a_log_that_was_cut_off_is_damage(steps in prop::collection::vec(step(), 1..10), share in 0.0..1.0) {
        let log = write(&steps);
        let end = (log.len() as f64 * share) as usize;
        let damage = read(&log[..end]);
        prop_assert!(matches!(damage, Err(LogWritesDamage::At { at, .. }) if at <= end as u64), "{damage:?}");
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        steps in prop::collection::vec(step(), 1..10),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut log = write(&steps);
        for (at, byte) in changes {
            let at = at.index(log.len());
            log[at] = byte;
        }
        let _ = read(&log);
    }
}

/// A log of one write of a sector, with 8 bytes of it replaced.
fn with(at: usize, word: u64) -> String {
    let mut log = write(&[Step::Write { lba: 5, sectors: 1, fua: false, seed: 1 }, Step::Mark("m".into())]);
    log[at..at + 8].copy_from_slice(&word.to_le_bytes());
    read(&log).unwrap_err().to_string()
}

#[test]
fn an_error_names_the_byte_and_the_reason() {
    assert_eq!(with(0, 1), "byte 0: magic 0x0000000000000001 is not 0x006a736677736872");
    assert_eq!(with(8, 2), "byte 8: version 2 is not 1");
    assert_eq!(with(24, 1000), "byte 24: sectors of 1000 bytes; must be a power of two from 512 to 8388608");
    assert_eq!(with(16, 3), "byte 2048: the log ends here, 1 entries before its last");
    assert_eq!(with(528, 32), "byte 528: an entry has unknown flags 0x20");
    assert_eq!(with(520, 9), "byte 512: the log ends 3584 bytes before the data of this entry does");
    assert_eq!(with(512, u64::MAX), "byte 512: 1 sectors from 18446744073709551615 on lie beyond 2^63 bytes");
    assert_eq!(with(520, 0), "byte 512: an entry of no sectors without flags");
    assert_eq!(with(544, 7), "byte 544: an entry that is not a mark has data behind its head");
    assert_eq!(with(1560, 481), "byte 1560: a mark of 481 bytes; its sector has room for 480");
}

#[test]
fn a_damaged_file_is_one_line_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = write(&[Step::Flush, Step::Flush]);
    log.truncate(1300);
    std::fs::write(&path, &log).unwrap();
    let why = history_of_log_writes(&path).unwrap_err().to_string();
    let expected = format!("{}: byte 1024: the log ends here, 1 entries before its last", path.display());
    assert_eq!(why, expected);
}

#[test]
fn a_mark_that_is_too_long_is_refused() {
    let mut writer = LogWritesWriter::new(Cursor::new(Vec::new())).unwrap();
    writer.mark(&"x".repeat(479)).unwrap();
    let why = writer.mark(&"y".repeat(480)).unwrap_err().to_string();
    let start = "y".repeat(40);
    assert_eq!(why, format!("mark \"{start}…\" has 480 bytes; the format has room for 479"));
}

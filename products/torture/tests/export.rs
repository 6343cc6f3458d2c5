//! Does a recording that was written in a foreign format leave what it left before, and nothing else?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the tests write files")]

use outlast_torture::source::list::{export_list, payload_path};
use outlast_torture::source::{history_of_list, history_of_log_writes, log_writes};
use outlast_torture::{CommandHistory, HistoryBuilder, WriteData, WriteId};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

const SECTORS: usize = 4;
/// The last mark, and the first byte of each sector.
type State = (Option<String>, Vec<u8>);

/// Commands that a host has under way.
#[derive(Default)]
struct UnderWay {
    writes: Vec<(WriteId, usize)>,
    flushes: Vec<outlast_torture::FlushId>,
}

/// A random history of writes of one sector. With `is_plain` no two writes under way have the same, none is under way while a flush is, and none
/// with forced unit access while anything else is.
fn history(seed: u64, is_plain: bool) -> CommandHistory {
    let mut rng = SplitMix::new(seed, "export");
    let (mut builder, mut own, mut source) = (HistoryBuilder::new(), UnderWay::default(), Vec::new());
    for step in 0..14_u64 {
        let now = Nanos(step * 10 + rng.below(10));
        match rng.below(8) {
            0..3 if !is_plain || own.flushes.is_empty() => {
                let sector = rng.below(SECTORS as u64) as usize;
                if is_plain && own.writes.iter().any(|&(_, other)| other == sector) {
                    continue;
                }
                let (fua, is_trim) = (rng.below(4) == 0, rng.below(5) == 0);
                let data = if is_trim {
                    WriteData::Zeroes
                } else {
                    WriteData::At { file: 0, offset: source.len() as u64 }
                };
                if !is_trim {
                    source.extend([step as u8 + 1; 512]);
                }
                let id = builder.write(now, Lba(sector as u64), 1, data, (fua, is_trim));
                if fua && is_plain {
                    builder.write_done(now, id);
                } else {
                    own.writes.push((id, sector));
                }
            }
            3 | 4 if !own.writes.is_empty() => {
                let (id, _) = own.writes.swap_remove(rng.below(own.writes.len() as u64) as usize);
                builder.write_done(now, id);
            }
            5 if own.flushes.is_empty() || !is_plain => {
                if is_plain {
                    own.writes.drain(..).for_each(|(id, _)| builder.write_done(now, id));
                }
                own.flushes.push(builder.flush(now));
            }
            6 if !own.flushes.is_empty() => {
                let id = own.flushes.swap_remove(rng.below(own.flushes.len() as u64) as usize);
                builder.flush_done(now, id);
            }
            _ => builder.mark(now, format!("mark {step}")),
        }
    }
    builder.finish(SECTORS as u64, true, Box::new(source)).unwrap()
}

/// All states that a loss of power may leave, read plainly: each sector holds its last version that is covered, or any later one.
fn states(history: &CommandHistory) -> BTreeSet<State> {
    let mut all = BTreeSet::new();
    for cut in 0..=history.events.len() {
        let mark = history.mark_at(cut).map(|mark| mark.text.clone());
        let mut contents = vec![Vec::new()];
        for sector in 0..SECTORS as u64 {
            let mut allowed = vec![0];
            for (id, write) in (0..).zip(&history.writes) {
                if write.lba.0 == sector && write.submitted < cut {
                    let mut byte = [0; 512];
                    history.read_write(WriteId(id), sector, &mut byte).unwrap();
                    if write.covered.is_some_and(|(event, _)| event < cut) {
                        allowed.clear();
                    }
                    allowed.push(byte[0]);
                }
            }
            let with = |content: &Vec<u8>| {
                allowed.iter().map(|&byte| [&content[..], &[byte]].concat()).collect::<Vec<_>>()
            };
            contents = contents.iter().flat_map(with).collect();
        }
        all.extend(contents.into_iter().map(|content| (mark.clone(), content)));
    }
    all
}

fn through_log(history: &CommandHistory, folder: &Path) -> CommandHistory {
    let path = folder.join("log");
    log_writes::export(history, BufWriter::new(File::create(&path).unwrap())).unwrap();
    history_of_log_writes(&path).unwrap()
}

#[test]
fn a_log_allows_what_the_recording_allows() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for seed in 0..600 {
        let own = history(seed, true);
        let log = through_log(&own, folder.path());
        assert_eq!(log.capacity, SECTORS as u64);
        let (expected, found) = (states(&own), states(&log));
        count += found.len();
        assert!(found == expected, "seed {seed}: {:?}", found.symmetric_difference(&expected).next());
    }
    assert!(count > 10_000, "{count} states");
}

#[test]
fn a_log_of_overlapping_commands_allows_no_state_that_the_recording_excludes() {
    let folder = tempfile::tempdir().unwrap();
    let mut fewer = 0;
    for seed in 0..1000 {
        let own = history(seed, false);
        let (expected, found) = (states(&own), states(&through_log(&own, folder.path())));
        assert!(found.is_subset(&expected), "seed {seed}: {:?}", found.difference(&expected).next());
        fewer += usize::from(found.len() < expected.len());
    }
    assert!(fewer > 0, "the format cannot say everything");
}

#[test]
fn a_list_is_the_recording_with_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let mut alike = 0;
    for seed in 0..800 {
        let own = history(seed, false);
        let mut text = BufWriter::new(File::create(&path).unwrap());
        export_list(&own, &mut text, &mut BufWriter::new(File::create(payload_path(&path)).unwrap()))
            .unwrap();
        drop(text);
        let list = history_of_list(&path).unwrap();
        assert_eq!((list.capacity, list.has_times), (own.capacity, true));
        let (expected, found) = (states(&own), states(&list));
        if has_completions(&own) && !is_ambiguous(&own) {
            alike += 1;
            let expected = (&own.events, &own.flushes, &own.marks);
            assert_eq!((&list.events, &list.flushes, &list.marks), expected, "seed {seed}");
        }
        assert!(found.is_subset(&expected), "seed {seed}: {:?}", found.difference(&expected).next());
    }
    assert!(alike > 50, "{alike} histories are alike");
}

/// True if a list of the history has completions; without them it allows fewer states.
fn has_completions(history: &CommandHistory) -> bool {
    history.writes.iter().any(|write| write.completed.is_some())
        || history.flushes.iter().any(|flush| flush.completed.is_some())
}

/// True if a completion is ambiguous: several flushes, or several writes of one sector, are under way.
fn is_ambiguous(history: &CommandHistory) -> bool {
    let never = history.events.len();
    let flushes = history.flushes.iter().map(|own| (None, own.submitted, own.completed.unwrap_or(never)));
    let writes = history.writes.iter();
    let writes = writes.map(|own| (Some(own.lba), own.submitted, own.completed.unwrap_or(never)));
    let all: Vec<_> = flushes.chain(writes).collect();
    let overlap = |one: &(Option<Lba>, usize, usize), other: &(Option<Lba>, usize, usize)| {
        one.0 == other.0 && one.1 < other.1 && other.1 < one.2
    };
    all.iter().any(|one| all.iter().any(|other| overlap(one, other)))
}

#[test]
fn a_flush_of_a_list_without_completions_covers_all_writes_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let lines = "8,0 0 1 0.000000001 1 Q W 0 + 1 [x]\n8,0 0 2 0.000000002 1 Q FWS [x]\n8,0 0 3 0.000000003 1 Q W 1 + 1 [x]\n\
                 8,0 0 0 0.000000004 1 m N mark one\n";
    std::fs::write(&path, lines).unwrap();
    std::fs::write(payload_path(&path), [[1; 512], [2; 512]].concat()).unwrap();
    let list = history_of_list(&path).unwrap();
    assert_eq!(list.capacity, 2);
    let covered: Vec<bool> = list.writes.iter().map(|write| write.is_covered(list.events.len())).collect();
    assert_eq!(covered, [true, false]);
    assert_eq!(list.marks[0].text, "one");
}

#[test]
fn a_completion_ends_the_writes_it_overlaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    // Two merged, one split, and two of the same sectors.
    let asked = ["0 + 8", "8 + 8", "100 + 16", "200 + 8", "200 + 8"];
    let done = ["0 + 16", "100 + 8", "200 + 8", "108 + 8"];
    // Of the last two the later: what it covers is more.
    let completed = ["11000", "11000", "11001", "11101"];
    for (count, expected) in (1..).zip(completed) {
        let asked = asked.iter().map(|range| format!("8,0 0 1 0.1 1 Q W {range} [x]\n"));
        let done = done[..count].iter().map(|range| format!("8,0 0 1 0.2 0 C W {range} [0]\n"));
        std::fs::write(&path, asked.chain(done).collect::<String>()).unwrap();
        std::fs::write(payload_path(&path), vec![0; 48 * 512]).unwrap();
        let list = history_of_list(&path).unwrap();
        let found: String =
            list.writes.iter().map(|write| if write.completed.is_some() { '1' } else { '0' }).collect();
        assert_eq!(found, expected, "{count} completions");
    }
}

#[test]
fn lists_that_make_no_sense_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let refusal = |lines: &str, data: usize| {
        std::fs::write(&path, lines).unwrap();
        std::fs::write(payload_path(&path), vec![0; data]).unwrap();
        let why = history_of_list(&path).unwrap_err().to_string();
        why.strip_prefix(path.to_str().unwrap()).unwrap().to_owned()
    };
    let line = "8,0 0 1 0.2 1 Q W 0 + 8 [x]\n";
    assert_eq!(refusal(line, 4000), ".data: has 4000 bytes; the writes of the list have 4096");
    assert_eq!(refusal(&format!("{line}bad\n"), 4096), ": line 2: device = bad: must be major,minor");
    let back = refusal(&format!("{line}8,0 0 1 0.1 1 Q R 0 + 8 [x]\n"), 4096);
    assert_eq!(back, ": line 2: time = 100ms: must not be before 200ms, that of a line above");
}

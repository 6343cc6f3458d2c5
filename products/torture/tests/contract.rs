//! Is every enumerated state one that the contract allows, and is none left out that should be there? Against the reference model of the contract,
//! sector by sector, that knows nothing of how states are enumerated.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_torture::contract::{ContractSettings, contract_state, contract_states};
use outlast_torture::{CommandHistory, CrashState, OpenRecording, StateId, WriteId, WritePiece, WritePieces};
use outlast_units::SECTOR_BYTES;
use proptest::prelude::*;
use std::collections::BTreeSet;
use support::{PlainContract, SECTORS, Step, steps};

/// The bytes of a whole device.
fn bytes(history: &CommandHistory, state: &CrashState) -> Vec<u8> {
    let mut bytes = vec![0; (history.capacity * SECTOR_BYTES) as usize];
    state.read(history, 0, &mut bytes).unwrap();
    bytes
}

fn settings(history: &CommandHistory, piece: u64, seed: u64) -> ContractSettings {
    ContractSettings { window: (0, history.events.len()), piece, random: 2, seed }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_allowed_and_every_content_is_there_once(
        steps in steps(60), piece in prop::sample::select(vec![1u64, 2, 8]), seed: u64,
    ) {
        let (history, plain) = support::play(&steps);
        let settings = settings(&history, piece, seed);
        let found = contract_states(&history, &settings);
        let mut seen = BTreeSet::new();
        for &candidate in &found.distinct {
            let own = contract_state(&history, &settings, candidate);
            let content = bytes(&history, &own);
            let allowed = plain.allowed(own.cut);
            for (sector, (bytes, allowed)) in content.chunks_exact(SECTOR_BYTES as usize).zip(&allowed).enumerate() {
                prop_assert!(allowed.contains(bytes), "sector {sector} of {} is not allowed", own.id);
            }
            prop_assert!(own.id.to_string().starts_with("contract@"), "{} is not the contract's", own.id);
            prop_assert!(seen.insert((history.marks_at(own.cut).count(), content)), "{} is there twice", own.id);
        }
        // Subsets that the reference model of the contract makes, whose contents must all be there.
        for cut in 0..=history.events.len() {
            let marks = history.marks_at(cut).count();
            for content in plain.subsets(cut) {
                prop_assert!(seen.contains(&(marks, content)), "a subset at cut {cut} is missing");
            }
        }
    }

    #[test]
    fn a_name_gives_the_state_again(steps in steps(60), seed: u64) {
        let (history, _) = support::play(&steps);
        let settings = settings(&history, 1, seed);
        for &candidate in &contract_states(&history, &settings).distinct {
            let own = contract_state(&history, &settings, candidate);
            let StateId::Lost { is_allowed, cut, lost } = own.id.to_string().parse().unwrap() else { panic!() };
            let again = CrashState::parse(&history, cut, &lost, is_allowed).unwrap();
            prop_assert_eq!(&again, &own);
            let whole = own.keep(&history, &own.lost);
            prop_assert_eq!(bytes(&history, &whole), bytes(&history, &CrashState::of(&history, cut, WritePieces::default())));
        }
    }

    #[test]
    fn a_part_reads_as_it_does_within_the_whole(
        steps in steps(40), from in 0..SECTORS * SECTOR_BYTES, length in 0..4000u64, seed: u64,
    ) {
        let (history, _) = support::play(&steps);
        let settings = settings(&history, 1, seed);
        let candidate = *contract_states(&history, &settings).distinct.last().unwrap();
        let own = contract_state(&history, &settings, candidate);
        let length = length.min(SECTORS * SECTOR_BYTES - from) as usize;
        let mut part = vec![7; length];
        own.read(&history, from, &mut part).unwrap();
        prop_assert_eq!(part.as_slice(), &bytes(&history, &own)[from as usize..from as usize + length]);
    }
}

/// One sector, written, flushed, and written again.
fn twice_written() -> (CommandHistory, PlainContract) {
    support::play(&[
        Step::Write { lba: 3, sectors: 1, content: 1, fua: false, is_trim: false },
        Step::Complete { which: 0 },
        Step::Flush,
        Step::Complete { which: 0 },
        Step::Mark,
        Step::Write { lba: 3, sectors: 1, content: 2, fua: false, is_trim: false },
    ])
}

#[test]
fn what_a_flush_covered_cannot_be_lost_and_says_so() {
    let (history, _) = twice_written();
    let refuse = |cut, lost: &str, is_allowed| {
        CrashState::parse(&history, cut, &[lost.to_owned()], is_allowed).unwrap_err().to_string()
    };
    assert_eq!(
        refuse(6, "0", true),
        "state contract@6-0: a flush covered some of what is lost: name it lost@…"
    );
    assert_eq!(refuse(2, "1", true), "state contract@2-1: write 1 comes after the cut");
    assert_eq!(refuse(7, "0", true), "state contract@7-0: the recording has 6 events");
    assert_eq!(refuse(6, "2", true), "state 2: the recording has 2 writes, counted from 0");
    assert_eq!(refuse(6, "1:2+1", true), "state 1:2+1: is not within its write");
    assert_eq!(refuse(6, "x", true), "state x: a lost write is a number, such as 12 or 12:4711+8");
    let lied = CrashState::parse(&history, 6, &["0".to_owned(), "1".to_owned()], false).unwrap();
    assert!(bytes(&history, &lied).iter().all(|&byte| byte == 0));
    let texts: Vec<String> = lied.witnesses(&history).into_iter().map(|witness| witness.text).collect();
    assert_eq!(
        texts,
        [
            "write 0 to sector 3, acknowledged as event 1, covered by flush 0, acknowledged as event 3: the device did not keep its promise, when \
         power failed after 6 events",
            "write 1 to sector 3, not acknowledged, not covered by a flush, when power failed after 6 events",
        ]
    );
}

#[test]
fn a_flush_covers_what_had_completed_when_it_came_and_nothing_else() {
    let write = |lba| Step::Write { lba, sectors: 1, content: 1 + lba as u8, fua: false, is_trim: false };
    // The second write completes after the flush was asked for.
    let steps = [
        write(0),
        write(1),
        Step::Complete { which: 0 },
        Step::Flush,
        Step::Complete { which: 0 },
        Step::Complete { which: 0 },
    ];
    let (history, _) = support::play(&steps);
    let covered: Vec<bool> = history.writes.iter().map(|write| write.covered.is_some()).collect();
    assert_eq!(covered, [true, false]);
}

#[test]
fn pieces_that_touch_are_joined() {
    let piece = |write, lba, sectors| WritePiece { write: WriteId(write), lba, sectors };
    let joined = WritePieces::new(vec![piece(1, 4, 4), piece(0, 0, 8), piece(1, 0, 4), piece(1, 9, 1)]);
    let expected = [piece(0, 0, 8), piece(1, 0, 8), piece(1, 9, 1)];
    assert_eq!(joined.iter().copied().collect::<Vec<_>>(), expected);
    assert!(
        joined.contains(WriteId(1), 9) && !joined.contains(WriteId(1), 8) && !joined.contains(WriteId(2), 9)
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut go_on = |_: &outlast_engine::RunProgress| outlast_engine::RunControl::Continue;
    let refused = OpenRecording::open(folder.path(), &mut go_on).unwrap_err().to_string();
    assert!(refused.contains("is not an Outlast image"), "{refused}");
}

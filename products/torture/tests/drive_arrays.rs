//! Arrays whose power fails, and a member with it: who has a write hole, who refuses, and who loses nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::classes;
use crate::recorded;

use classes::{check_promises, check_spans, compare, is_allowed, live, search_all};
use outlast_media::{FaultKind, FaultSpec};
use outlast_serve::{DeviceInput, ServedDevice};
use outlast_torture::drive::{ArrayStart, CrashClasses, CrashModel};
use outlast_torture::{CommandHistory, CrashState, WritePiece, WritePieces};
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use proptest::prelude::*;
use recorded::{Host, Recorded, array, cut, read_all};

/// How the classes of a member's loss come out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    refused: usize,
    allowed: usize,
    /// Neither the old nor the new is there of a write under way: nothing else is wrong.
    under_way: usize,
    /// Wrong where nothing was under way.
    holes: usize,
}

fn table(history: &CommandHistory, found: &CrashClasses) -> Table {
    let mut table = Table::default();
    for state in &found.classes {
        let is_under_way = |lba: u64| {
            let mut writes = history.writes.iter().filter(|write| write.range().contains(&lba));
            writes.any(|write| {
                write.submitted < state.cut && write.completed.is_none_or(|event| event >= state.cut)
            })
        };
        let is_lost = |piece: &WritePiece| {
            CrashState::of(history, state.cut, WritePieces::new(vec![*piece])).id.model() == "lost"
        };
        let lost = state.lost.iter().filter(|piece| is_lost(piece)).flat_map(WritePiece::range);
        let odd = state.odd.iter().map(|odd| odd.lba);
        let bad = state.bad.iter().flat_map(|run| run.lba.0..run.lba.0 + run.sectors);
        let wrong: Vec<u64> = lost.chain(odd).chain(bad).collect();
        match () {
            () if state.refused.is_some() => table.refused += 1,
            () if is_allowed(history, state) => table.allowed += 1,
            () if wrong.iter().all(|&lba| is_under_way(lba)) => table.under_way += 1,
            () => table.holes += 1,
        }
    }
    table
}

/// A member goes in just the same way, of a copy.
fn lose(machine: &mut ServedDevice, member: u16, start: ArrayStart) -> bool {
    let now = machine.now();
    if start == ArrayStart::Synced {
        assert!(cut(machine));
        // Nobody is served before records have been carried out.
        read_all(machine);
        while machine.is_in_doubt() {
            let at = machine.next_deadline().unwrap();
            machine.advance(at, &mut Vec::new());
        }
        let mut gone = FaultSpec::new(Nanos::ZERO, FaultKind::Device);
        gone.device = Some(member);
        return machine.apply(machine.now(), &DeviceInput::Fault(&gone)).is_ok();
    }
    machine.lose_power_and_member(member, now, start == ArrayStart::Forced).is_ok()
}

fn without(recorded: &Recorded, member: u16, start: ArrayStart) -> Table {
    let found = search_all(recorded, CrashModel::WithoutMember { member, start });
    if start != ArrayStart::Forced {
        check_spans(&found);
    }
    if !found.0.classes.is_empty() {
        compare(recorded, &recorded.scenario, &found, 9, |machine| lose(machine, member, start));
    }
    table(recorded.recording.history(), &found.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 9, ..ProptestConfig::default() })]

    #[test]
    fn an_array_check_promises_as_long_as_all_members_are_there(
        (level, members) in prop::sample::select(vec![("raid0", 2), ("raid1", 2), ("raid5", 3), ("raid6", 4), ("raid10", 4)]),
        consistency in prop::sample::select(vec!["resync", "bitmap", "ppl", "journal"]),
        cache in prop::sample::select(vec!["volatile", "off", "protected"]), seed: u64, commands in 5u64..40,
    ) {
        let has_parity = matches!(level, "raid5" | "raid6");
        let consistency = if has_parity { consistency } else { "resync" };
        let recorded = live(&array(level, members, consistency, cache), seed, commands);
        check_promises(&recorded, seed);
    }

    #[test]
    fn an_array_without_a_member_holds_what_a_copy_holds(
        (level, members) in prop::sample::select(vec![("raid1", 2), ("raid5", 3), ("raid6", 4)]),
        cache in prop::sample::select(vec!["volatile", "off"]), seed: u64, commands in 5u64..30,
        start in prop::sample::select(vec![ArrayStart::AsItIs, ArrayStart::Forced, ArrayStart::Synced]),
    ) {
        let recorded = live(&array(level, members, "resync", cache), seed, commands);
        let table = without(&recorded, (seed % u64::from(members)) as u16, start);
        if start == ArrayStart::Synced {
            prop_assert_eq!(table.holes + table.under_way + table.refused, 0);
        }
    }
}

/// A life of an array with a time of rest, after which it is marked clean.
fn rested(consistency: &str) -> Recorded {
    let mut host = Host::new(&array("raid5", 3, consistency, "off"));
    host.random(&mut SplitMix::new(12, "host"), 40, true);
    host.idle(Nanos::millis(50));
    host.mark("rested");
    host.finish()
}

/// Outcomes of each member's loss: with the power, with the power and a forced start, after a resynchronisation.
fn tables(consistency: &str) -> [Table; 3] {
    let recorded = rested(consistency);
    [ArrayStart::AsItIs, ArrayStart::Forced, ArrayStart::Synced].map(|start| {
        let mut sum = Table::default();
        for member in 0..3 {
            let table = without(&recorded, member, start);
            sum.refused += table.refused;
            sum.allowed += table.allowed;
            sum.under_way += table.under_way;
            sum.holes += table.holes;
        }
        sum
    })
}

/// As of md: who has no record of what was under way does not start without a member, and forced to start gives wrong data where nothing was being
/// written. Nobody loses anything once redundancy has been made to fit.
#[test]
fn an_array_without_a_log_has_the_write_hole() {
    for consistency in ["resync", "bitmap"] {
        let [gone, forced, synced] = tables(consistency);
        assert!(
            gone.refused > 0 && gone.allowed > 0 && gone.holes + gone.under_way == 0,
            "{consistency}: {gone:?}"
        );
        assert!(forced.holes > 3 && forced.refused == 0, "{consistency}: {forced:?}");
        assert_eq!(synced, Table { allowed: synced.allowed, ..Table::default() }, "{consistency}");
        assert!(synced.allowed > 20);
    }
}

/// A partial parity log keeps all but what was being written to the very member that is gone: that cannot be read.
#[test]
fn a_partial_parity_log_has_no_write_hole() {
    let [gone, forced, synced] = tables("ppl");
    assert!(gone.holes + gone.refused == 0 && gone.allowed > 20 && gone.under_way > 20, "{gone:?}");
    assert_eq!(forced, Table::default(), "nothing has to be forced");
    assert_eq!(synced, Table { allowed: synced.allowed, ..Table::default() });
}

#[test]
fn an_array_with_a_journal_loses_nothing() {
    let [gone, forced, synced] = tables("journal");
    for table in [gone, synced] {
        assert!(table.allowed > 20, "{table:?}");
        assert_eq!(table, Table { allowed: table.allowed, ..Table::default() });
    }
    assert_eq!(forced, Table::default(), "nothing has to be forced");
}

//! Notes of the result about errors, scrubbing, and what was scheduled and did not happen.

use super::redundancy;
use crate::facts::RunFacts;
use outlast_scenario::TimingMode;
use outlast_ssd::Scheduled;

/// Scrubbing that reserves at least one in so many spare superblocks gets a note.
const NOTEWORTHY_RESERVE: u32 = 20;

/// Notes of the result about errors and scrubbing.
pub(crate) fn notes(facts: &RunFacts<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let ssd = facts.ssd;
    if let (count, Some(first)) = ssd.saturations() {
        notes.push(format!(
            "The error model was used beyond its validity: {count} reads at an RBER limited to 0.5, first at {} P/E cycles, {:.1} days \
             after writing and {} reads of the block.",
            first.cycles, first.days, first.reads
        ));
    }
    if let (Some(reliability), Some(scrub)) = (&ssd.config().reliability, &ssd.config().scrub) {
        let cycles = reliability.initial.pe_cycles;
        let (_, fresh) = reliability.fresh_errors(cycles);
        if let Some(threshold) = scrub.expected_errors.filter(|&threshold| fresh >= threshold) {
            notes.push(format!(
                "Scrubbing never comes to rest: data just written on blocks of {cycles} P/E cycles already has {fresh:.1} expected \
                 wrong bits in a codeword, and device.scrub.expected_errors is {threshold}."
            ));
        }
    }
    let (moved, again) = (facts.measured.scrubbed.superblocks, facts.measured.scrubbed.again);
    // Half of them, and not just the second of two.
    if moved >= 4 && again * 2 > moved {
        notes.push(format!(
            "Scrubbing mostly moves data that it has moved before: {again} of {moved} superblocks. Most were moved because {}.",
            facts.measured.scrubbed.main_cause()
        ));
    }
    if let Some(lost) = redundancy(facts.ssd).filter(|lost| lost.lacks_space) {
        notes.push(format!(
            "{} superblocks, with {:.1} MiB, stay with less redundancy after a die has failed: to rebuild them takes a superblock more on \
             each flash core than spare space gives without that die. What the host overwrites gets full redundancy.",
            lost.degraded_superblocks,
            lost.degraded_bytes as f64 / f64::from(1 << 20)
        ));
    }
    if ssd.config().scrub.is_some() {
        let sum = |(held, spare), (core_held, core_spare)| (held + core_held, spare + core_spare);
        let (held, spare) = ssd.ftls().map(|ftl| ftl.space().superblocks_for_scrubbing()).fold((0, 0), sum);
        if held * NOTEWORTHY_RESERVE >= spare {
            notes.push(format!(
                "Scrubbing keeps {held} of the {spare} spare superblocks for itself, whether or not it moves anything: collection \
                 has that much less room, and writes more, than without [device.scrub]. Larger drives, or smaller superblocks, make \
                 this share smaller."
            ));
        }
    }
    let is_untimed = facts.scenario.run.timing == TimingMode::None;
    if ssd.can_fail() && is_untimed {
        notes.push("Errors and faults need time: a run without timing has none.".to_owned());
    } else {
        notes.extend(not_happened(ssd.scheduled(), is_untimed));
    }
    notes
}

/// The notes on what was scheduled and did not happen.
fn not_happened(left: Scheduled, is_untimed: bool) -> Vec<String> {
    let changes = [
        (left.changes, "change of protection", "changes of protection"),
        (left.handle_updates, "update of placement handles", "updates of placement handles"),
    ];
    let named = changes.into_iter().filter(|&(count, ..)| count != 0);
    let changes: Vec<String> =
        named.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect();
    let mut notes = Vec::new();
    match (left.faults + left.leaps, is_untimed) {
        (0, _) => {}
        (_, true) => {
            notes.push("Faults and leaps of age need time: a run without timing has none.".to_owned());
        }
        (count, false) => notes.push(format!(
            "{count} scheduled faults or leaps of age lie beyond the end of the run and did not happen."
        )),
    }
    if !changes.is_empty() {
        notes.push(format!(
            "Scheduled, and did not happen before the end of the run: {}.",
            changes.join(", ")
        ));
    }
    notes
}

//! A sweep over all cuts that keeps the open writes and the hashes of contents up to date.

use super::ContractSettings;
use super::content::content_terms;
use super::losses::{self, CandidateState, LossKind};
use crate::history::{CommandHistory, EventKind, WriteId};
use std::collections::BTreeSet;

/// A cut with the writes that may be lost there.
pub(super) struct CutContents<'a> {
    pub(super) history: &'a CommandHistory,
    pub(super) settings: &'a ContractSettings,
    pub(super) events: usize,
    /// Writes of which a part may be lost.
    open: &'a BTreeSet<WriteId>,
    /// Hash terms of all versions.
    terms: &'a [u128],
    /// For each write, true if it is covered.
    covered: &'a [bool],
    /// Hash of the content if nothing is lost.
    nothing: u128,
    /// Hash of the content if all is lost that may be.
    all: u128,
}

/// Estimates the number of candidates in all cuts, and of sectors visited for them.
pub(super) fn estimate_effort(history: &CommandHistory, settings: &ContractSettings) -> (u64, u64) {
    let (mut candidates, mut visits) = (0, 0);
    let (mut open, mut sectors) = (0u64, 0u64);
    let covering_events = covering_events(history);
    let mut next = 0;
    for cut in 0..=settings.window.1 {
        if let Some(EventKind::Write(id)) = cut.checked_sub(1).map(|last| history.events[last].kind) {
            (open, sectors) = (open + 1, sectors + history.versions().of_write(id).len() as u64);
        }
        while let Some(&(_, id)) = covering_events.get(next).filter(|&&(event, _)| event < cut) {
            (open, sectors) = (open - 1, sectors - history.versions().of_write(id).len() as u64);
            next += 1;
        }
        if cut >= settings.window.0 {
            // Nothing and all; for each open write missing, alone, from, and up to three tears.
            candidates += 2 + 6 * open + u64::from(settings.random);
            visits += sectors * (6 + u64::from(settings.random));
        }
    }
    (candidates.max(1), visits.max(1))
}

/// The events at which writes become covered, in order.
fn covering_events(history: &CommandHistory) -> Vec<(usize, WriteId)> {
    let covered =
        history.writes.iter().zip(0..).filter_map(|(write, id)| Some((write.covered?.0, WriteId(id))));
    let mut covering_events: Vec<_> = covered.collect();
    covering_events.sort_unstable();
    covering_events
}

/// Calls `visit` for every cut of the window.
pub(super) fn visit_cuts(
    history: &CommandHistory,
    settings: &ContractSettings,
    mut visit: impl FnMut(&CutContents<'_>),
) {
    let (versions, terms, covering_events) =
        (history.versions(), content_terms(history.versions()), covering_events(history));
    let (mut open, mut covered) = (BTreeSet::new(), vec![false; history.writes.len()]);
    let (mut nothing, mut all, mut next) = (0u128, 0u128, 0);
    for cut in 0..=settings.window.1 {
        if let Some(EventKind::Write(id)) = cut.checked_sub(1).map(|last| history.events[last].kind) {
            open.insert(id);
            for index in versions.of_write(id) {
                let before = versions.previous(index).map_or(0, |before| terms[before]);
                nothing = nothing.wrapping_sub(before).wrapping_add(terms[index]);
            }
        }
        while let Some(&(_, id)) = covering_events.get(next).filter(|&&(event, _)| event < cut) {
            next += 1;
            open.remove(&id);
            covered[id.0 as usize] = true;
            for index in versions.of_write(id) {
                if versions.later(index).any(|version| covered[version.write.0 as usize]) {
                    continue;
                }
                let mut before = versions.previous(index);
                while let Some(at) = before.filter(|&at| !covered[versions.all()[at].write.0 as usize]) {
                    before = versions.previous(at);
                }
                let before = before.map_or(0, |before| terms[before]);
                all = all.wrapping_sub(before).wrapping_add(terms[index]);
            }
        }
        if cut >= settings.window.0 {
            let (terms, covered) = (&terms, &covered);
            visit(&CutContents { history, settings, events: cut, open: &open, terms, covered, nothing, all });
        }
    }
}

impl CutContents<'_> {
    /// Calls `visit` with the content hash of every candidate of the cut.
    pub(super) fn candidates(&self, mut visit: impl FnMut(u128, CandidateState)) {
        let mut add = |content, kind| visit(content, CandidateState { cut: self.events as u32, kind });
        add(self.nothing, LossKind::Nothing);
        if self.open.is_empty() {
            return;
        }
        add(self.all, LossKind::All);
        // `kept` has the writes before the present one, and loses all from it on.
        let mut kept = self.all;
        for &id in self.open {
            add(kept, LossKind::From(id));
            let (mut missing, mut alone, mut from) = (self.nothing, self.all, kept);
            // All hashes are updated in one pass over the sectors: the write's version goes, or comes, in index of the one below.
            // All hashes are updated in one pass over the sectors: the write's version goes, or comes, in index of the one below.
            let sectors: Vec<(usize, u128, u128)> = self.losable_sectors(id).collect();
            let tear_points = losses::tear_points(self.history, id, self.settings.piece);
            let torn_at = |index: usize| self.history.versions().all()[index].sector;
            let mut torn: Vec<u128> = vec![self.nothing; tear_points.len()];
            for &(index, before, base) in &sectors {
                let term = self.terms[index];
                let is_top = self.is_top(index);
                if is_top {
                    missing = missing.wrapping_sub(term).wrapping_add(before);
                }
                alone = alone.wrapping_sub(base).wrapping_add(term);
                from = from.wrapping_sub(before).wrapping_add(term);
                for (content, &(_, first_lost)) in torn.iter_mut().zip(&tear_points) {
                    if is_top && torn_at(index) >= first_lost {
                        *content = content.wrapping_sub(term).wrapping_add(before);
                    }
                }
            }
            add(missing, LossKind::Missing(id));
            add(alone, LossKind::Alone(id));
            for (&content, &(pieces, _)) in torn.iter().zip(&tear_points) {
                add(content, LossKind::Torn(id, pieces));
            }
            kept = from;
        }
        debug_assert_eq!(kept, self.nothing, "all writes kept is nothing lost");
        for draw in 0..self.settings.random {
            add(self.random_content(draw), LossKind::Random(draw));
        }
    }

    /// For each sector of a write that may be lost: the index of its version, the term of the version before, and the term of the last covered
    /// version below.
    fn losable_sectors(&self, id: WriteId) -> impl Iterator<Item = (usize, u128, u128)> {
        let versions = self.history.versions();
        let is_covered = |at: usize| self.covered[versions.all()[at].write.0 as usize];
        let open = versions.of_write(id).filter(move |&index| {
            !versions.later(index).any(|version| self.covered[version.write.0 as usize])
        });
        open.map(move |index| {
            let before = versions.previous(index);
            let mut base = before;
            while let Some(at) = base.filter(|&at| !is_covered(at)) {
                base = versions.previous(at);
            }
            let term_of = |at: Option<usize>| at.map_or(0, |at| self.terms[at]);
            (index, term_of(before), term_of(base))
        })
    }

    /// True if no later version of the sector has arrived.
    fn is_top(&self, index: usize) -> bool {
        let mut later = self.history.versions().later(index);
        later
            .next()
            .is_none_or(|version| self.history.writes[version.write.0 as usize].submitted >= self.events)
    }

    /// Hash of the content that loses a random subset.
    fn random_content(&self, draw: u32) -> u128 {
        let candidate = CandidateState { cut: self.events as u32, kind: LossKind::Random(draw) };
        let lost = crate::pieces::WritePieces::new(losses::lost_pieces_of(
            self.history,
            self.settings,
            candidate,
            self.open.iter().copied(),
        ));
        let versions = self.history.versions();
        let mut content = self.nothing;
        let mut seen = BTreeSet::new();
        for piece in lost.iter() {
            for sector in piece.range() {
                if !seen.insert(sector) {
                    continue;
                }
                let of_sector = versions.of_sector(sector);
                let first = versions.all().partition_point(|version| version.sector < sector);
                let arrived = of_sector
                    .iter()
                    .filter(|version| self.history.writes[version.write.0 as usize].submitted < self.events)
                    .count();
                let kept = (0..arrived).rev().find(|&at| !lost.contains(of_sector[at].write, sector));
                let term_of = |at: Option<usize>| at.map_or(0, |at| self.terms[first + at]);
                content = content.wrapping_sub(term_of(arrived.checked_sub(1))).wrapping_add(term_of(kept));
            }
        }
        content
    }
}

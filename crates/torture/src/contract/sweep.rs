//! From cut to cut: what is open, and what the contents are.

use super::Settings;
use super::content::parts;
use super::kinds::{self, Candidate, Kind};
use crate::history::{History, What, WriteId};
use std::collections::BTreeSet;

/// A cut, with what may be lost there.
pub(super) struct Cut<'a> {
    pub(super) history: &'a History,
    pub(super) settings: &'a Settings,
    pub(super) events: usize,
    /// Writes of which something may be lost.
    open: &'a BTreeSet<WriteId>,
    parts: &'a [u128],
    /// By place: whether the write is covered.
    covered: &'a [bool],
    /// The content if nothing is lost, and if all is that may be.
    nothing: u128,
    all: u128,
}

/// How many candidates there are in all cuts, and how many sectors are looked at for them.
pub(super) fn effort(history: &History, settings: &Settings) -> (u64, u64) {
    let (mut candidates, mut looks) = (0, 0);
    let (mut open, mut sectors) = (0u64, 0u64);
    let closings = closings(history);
    let mut next = 0;
    for cut in 0..=settings.window.1 {
        if let Some(What::Write(id)) = cut.checked_sub(1).map(|last| history.events[last].what) {
            (open, sectors) = (open + 1, sectors + history.versions().of_write(id).len() as u64);
        }
        while let Some(&(_, id)) = closings.get(next).filter(|&&(event, _)| event < cut) {
            (open, sectors) = (open - 1, sectors - history.versions().of_write(id).len() as u64);
            next += 1;
        }
        if cut >= settings.window.0 {
            candidates += 2 + 6 * open + u64::from(settings.random);
            looks += sectors * (6 + u64::from(settings.random));
        }
    }
    (candidates.max(1), looks.max(1))
}

/// When writes are covered, in order.
fn closings(history: &History) -> Vec<(usize, WriteId)> {
    let covered =
        history.writes.iter().zip(0..).filter_map(|(write, id)| Some((write.covered?.0, WriteId(id))));
    let mut closings: Vec<_> = covered.collect();
    closings.sort_unstable();
    closings
}

/// Calls `visit` with every cut of the window.
pub(super) fn each_cut(history: &History, settings: &Settings, mut visit: impl FnMut(&Cut<'_>)) {
    let (versions, parts, closings) = (history.versions(), parts(history.versions()), closings(history));
    let (mut open, mut covered) = (BTreeSet::new(), vec![false; history.writes.len()]);
    let (mut nothing, mut all, mut next) = (0u128, 0u128, 0);
    for cut in 0..=settings.window.1 {
        if let Some(What::Write(id)) = cut.checked_sub(1).map(|last| history.events[last].what) {
            open.insert(id);
            for place in versions.of_write(id) {
                let before = versions.before(place).map_or(0, |before| parts[before]);
                nothing = nothing.wrapping_sub(before).wrapping_add(parts[place]);
            }
        }
        while let Some(&(_, id)) = closings.get(next).filter(|&&(event, _)| event < cut) {
            next += 1;
            open.remove(&id);
            covered[id.0 as usize] = true;
            for place in versions.of_write(id) {
                if versions.after(place).any(|version| covered[version.write.0 as usize]) {
                    continue;
                }
                let mut before = versions.before(place);
                while let Some(at) = before.filter(|&at| !covered[versions.all()[at].write.0 as usize]) {
                    before = versions.before(at);
                }
                let before = before.map_or(0, |before| parts[before]);
                all = all.wrapping_sub(before).wrapping_add(parts[place]);
            }
        }
        if cut >= settings.window.0 {
            let (parts, covered) = (&parts, &covered);
            visit(&Cut { history, settings, events: cut, open: &open, parts, covered, nothing, all });
        }
    }
}

impl Cut<'_> {
    /// Every candidate of the cut, with the number of its content.
    pub(super) fn candidates(&self, mut found: impl FnMut(u128, Candidate)) {
        let mut note = |content, kind| found(content, Candidate { cut: self.events as u32, kind });
        note(self.nothing, Kind::Nothing);
        if self.open.is_empty() {
            return;
        }
        note(self.all, Kind::All);
        // Kept from the first on: what is lost from each write on.
        let mut kept = self.all;
        for &id in self.open {
            note(kept, Kind::From(id));
            let (mut missing, mut alone, mut from) = (self.nothing, self.all, kept);
            let sectors: Vec<(usize, u128, u128)> = self.live(id).collect();
            let tears = kinds::tears(self.history, id, self.settings.piece);
            let torn_at = |place: usize| self.history.versions().all()[place].sector;
            let mut torn: Vec<u128> = vec![self.nothing; tears.len()];
            for &(place, before, base) in &sectors {
                let own = self.parts[place];
                let is_top = self.is_top(place);
                if is_top {
                    missing = missing.wrapping_sub(own).wrapping_add(before);
                }
                alone = alone.wrapping_sub(base).wrapping_add(own);
                from = from.wrapping_sub(before).wrapping_add(own);
                for (content, &(_, first_lost)) in torn.iter_mut().zip(&tears) {
                    if is_top && torn_at(place) >= first_lost {
                        *content = content.wrapping_sub(own).wrapping_add(before);
                    }
                }
            }
            note(missing, Kind::Missing(id));
            note(alone, Kind::Alone(id));
            for (&content, &(pieces, _)) in torn.iter().zip(&tears) {
                note(content, Kind::Torn(id, pieces));
            }
            kept = from;
        }
        debug_assert_eq!(kept, self.nothing, "all writes kept is nothing lost");
        for draw in 0..self.settings.random {
            note(self.random(draw), Kind::Random(draw));
        }
    }

    /// Of the sectors of a write that may be lost: the place of the version, what the one before adds, and what the covered one below adds.
    fn live(&self, id: WriteId) -> impl Iterator<Item = (usize, u128, u128)> {
        let versions = self.history.versions();
        let is_covered = |at: usize| self.covered[versions.all()[at].write.0 as usize];
        let open = versions.of_write(id).filter(move |&place| {
            !versions.after(place).any(|version| self.covered[version.write.0 as usize])
        });
        open.map(move |place| {
            let before = versions.before(place);
            let mut base = before;
            while let Some(at) = base.filter(|&at| !is_covered(at)) {
                base = versions.before(at);
            }
            let part = |at: Option<usize>| at.map_or(0, |at| self.parts[at]);
            (place, part(before), part(base))
        })
    }

    /// Whether no later version of the sector has arrived.
    fn is_top(&self, place: usize) -> bool {
        let mut later = self.history.versions().after(place);
        later
            .next()
            .is_none_or(|version| self.history.writes[version.write.0 as usize].submitted >= self.events)
    }

    /// The content of a random subset.
    fn random(&self, draw: u32) -> u128 {
        let candidate = Candidate { cut: self.events as u32, kind: Kind::Random(draw) };
        let lost = crate::pieces::Pieces::new(kinds::lost_of_open(
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
                let own = versions.of_sector(sector);
                let first = versions.all().partition_point(|version| version.sector < sector);
                let arrived = own
                    .iter()
                    .filter(|version| self.history.writes[version.write.0 as usize].submitted < self.events)
                    .count();
                let there = (0..arrived).rev().find(|&at| !lost.has(own[at].write, sector));
                let part = |at: Option<usize>| at.map_or(0, |at| self.parts[first + at]);
                content = content.wrapping_sub(part(arrived.checked_sub(1))).wrapping_add(part(there));
            }
        }
        content
    }
}

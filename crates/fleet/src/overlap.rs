//! Share that rebuilds of two drives have in common: measured once, from some pairs of drives.

use crate::Fleet;
use crate::plan::{FailureDomain, RebuildOverlap};

/// Drives that are looked at.
const DRIVES: usize = 24;

impl Fleet {
    /// Mean over pairs of drives, spread evenly: those that share a group, and others.
    pub(crate) fn measured_overlap(&self) -> RebuildOverlap {
        let count = DRIVES.min(self.drives());
        let some: Vec<u32> = (0..count).map(|index| (index * self.drives() / count) as u32).collect();
        let helpers: Vec<[Vec<u32>; 3]> = some.iter().map(|&drive| self.helpers(drive)).collect();
        let (mut own, mut other) = (OverlapMean::default(), OverlapMean::default());
        for (index, &drive) in some.iter().enumerate() {
            let others = some.iter().zip(&helpers).filter(|(second, _)| **second != drive);
            for (&second, theirs) in others {
                let mean = if self.share_group(drive, second) { &mut own } else { &mut other };
                mean.add(&helpers[index], theirs);
            }
            // Of a large fleet no two of these share a group: its own neighbours do.
            if let Some(&second) = helpers[index][0].first() {
                own.add(&helpers[index], &self.helpers(second));
            }
        }
        let own = own.mean();
        RebuildOverlap { own, other: if other.pairs > 0.0 { other.mean() } else { own } }
    }

    /// Drives from which the rebuild of a drive reads, their nodes and their racks, each list rising.
    fn helpers(&self, drive: u32) -> [Vec<u32>; 3] {
        let width = self.plan.code.pieces();
        let members = |piece: &u32| {
            let first = (piece / width * width) as usize;
            self.plan.groups[first..first + width as usize]
                .iter()
                .copied()
                .filter(move |&other| other != drive)
        };
        let drives = sorted(self.pieces_of(drive).iter().flat_map(members).collect());
        let of = |scope| sorted(drives.iter().map(|&other| self.domain_of(other, scope) as u32).collect());
        let (nodes, racks) = (of(FailureDomain::Node), of(FailureDomain::Rack));
        [drives, nodes, racks]
    }

    /// True if a group has pieces on both drives.
    pub(crate) fn share_group(&self, one: u32, other: u32) -> bool {
        if one as usize >= self.drives() || other as usize >= self.drives() {
            return false;
        }
        let width = self.plan.code.pieces();
        let (mut left, mut right) = (self.pieces_of(one), self.pieces_of(other));
        while let (Some(a), Some(b)) = (left.first(), right.first()) {
            match (a / width).cmp(&(b / width)) {
                std::cmp::Ordering::Less => left = &left[1..],
                std::cmp::Ordering::Greater => right = &right[1..],
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
    }

    /// Node and rack of a drive.
    pub(crate) fn place_of(&self, drive: u32) -> [u32; 2] {
        [FailureDomain::Node, FailureDomain::Rack].map(|scope| self.domain_of(drive, scope) as u32)
    }
}

#[derive(Default)]
struct OverlapMean {
    sums: [f64; 3],
    pairs: f64,
}

impl OverlapMean {
    fn add(&mut self, own: &[Vec<u32>; 3], other: &[Vec<u32>; 3]) {
        for ((sum, mine), theirs) in self.sums.iter_mut().zip(own).zip(other) {
            let both = mine.iter().filter(|one| theirs.binary_search(one).is_ok()).count();
            *sum += both as f64 / mine.len().max(1) as f64;
        }
        self.pairs += 1.0;
    }

    fn mean(&self) -> [f64; 3] {
        self.sums.map(|sum| if self.pairs > 0.0 { sum / self.pairs } else { 0.0 })
    }
}

fn sorted(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}

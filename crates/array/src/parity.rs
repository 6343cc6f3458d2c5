//! Redundancy of one group: copies with one data role, else a maximum-distance-separable code of `outlast-codes`.

use outlast_codes::{ErasureCode, ShardDecoder, ShardSet};
use outlast_units::{SECTOR_BYTES, to_count, to_length};
use std::ops::Range;

/// The code that computes a group's redundancy from its data. Cells are by role: data roles first, then redundancy.
#[derive(Clone, Debug)]
pub(crate) struct ParityCode {
    data: usize,
    parities: usize,
    /// Absent for copies.
    code: Option<ErasureCode>,
    /// Plans to compute each parity by itself from all data.
    rows: Vec<ShardDecoder>,
}

/// The reason why codes of so many shards, and plans of them, always exist.
const FITS: &str = "an array's groups have at most 64 roles, and callers count what they have";

impl ParityCode {
    pub(crate) fn new(data: usize, parities: usize) -> Self {
        let code = (data > 1).then(|| ErasureCode::new(data, parities).expect(FITS));
        let row = |code: &ErasureCode, j: usize| {
            code.decoder(&ShardSet::first(data), &ShardSet::default().with(data + j)).expect(FITS)
        };
        let rows = code.iter().flat_map(|code| (0..parities).map(move |j| row(code, j))).collect();
        Self { data, parities, code, rows }
    }

    /// Adds the contribution of the cell of data role `role` to all redundancy, over bytes `range` of each cell: the cell holds its content if
    /// the redundancy does not cover the role yet, or the difference to the old content if it does.
    pub(crate) fn add(&self, cells: &mut [Vec<u8>], range: Range<usize>, role: usize) {
        let (data, parity) = cells.split_at_mut(self.data);
        let source = &data[role][range.clone()];
        let mut parity: Vec<&mut [u8]> = parity.iter_mut().map(|cell| &mut cell[range.clone()]).collect();
        match &self.code {
            Some(code) => code.accumulate(role, source, &mut parity).expect(FITS),
            None => parity.iter_mut().for_each(|copy| copy.iter_mut().zip(source).for_each(|(c, s)| *c ^= s)),
        }
    }

    /// Computes unknown data from the roles in `have`. Zeroes in place of lost data, of the roles `zeroes`, are no source, as the redundancy still belongs to
    /// what was lost; but they stay, since the loss has been told.
    pub(crate) fn recover_beside(&self, cells: &mut [Vec<u8>], range: Range<usize>, have: u64, zeroes: u64) {
        self.recover_data(cells, range.clone(), have & !zeroes);
        for role in crate::roles::roles(zeroes) {
            cells[role][range.clone()].fill(0);
        }
    }

    /// Computes the data cells that are not in `have` from those that are, over bytes `range` of each cell. `have` has at least as many
    /// bits as there are data roles.
    ///
    /// # Panics
    /// If there are too few cells: the caller has counted them.
    pub(crate) fn recover_data(&self, cells: &mut [Vec<u8>], range: Range<usize>, have: u64) {
        let is_there = |role: &usize| have >> role & 1 == 1;
        let missing: Vec<usize> = (0..self.data).filter(|role| !is_there(role)).collect();
        if missing.is_empty() {
            return;
        }
        let Some(code) = &self.code else {
            // Role 0 is missing, so that the first copy that is there replaces it.
            let copy = (1..=self.parities).find(is_there).expect(FITS);
            let (first, parity_cells) = cells.split_at_mut(1);
            first[0][range.clone()].copy_from_slice(&parity_cells[copy - 1][range]);
            return;
        };
        let set = |roles: &mut dyn Iterator<Item = usize>| roles.fold(ShardSet::default(), ShardSet::with);
        let present = set(&mut (0..self.data + self.parities).filter(is_there));
        let plan = code.decoder(&present, &set(&mut missing.iter().copied())).expect(FITS);
        // Buffers apart from the cells, which the decoder borrows as sources.
        let mut targets: Vec<Vec<u8>> = missing.iter().map(|_| vec![0; range.len()]).collect();
        let sources: Vec<&[u8]> = plan.sources().iter().map(|&role| &cells[role][range.clone()]).collect();
        let mut slices: Vec<&mut [u8]> = targets.iter_mut().map(Vec::as_mut_slice).collect();
        plan.rebuild(&sources, &mut slices).expect(FITS);
        for (&role, target) in plan.targets().iter().zip(&targets) {
            cells[role][range.clone()].copy_from_slice(target);
        }
    }

    /// Computes parity `parity` from all data cells into its own cell, over bytes `range`.
    pub(crate) fn encode(&self, cells: &mut [Vec<u8>], range: Range<usize>, parity: usize) {
        let (data, parity_cells) = cells.split_at_mut(self.data);
        self.compute(data, range.clone(), parity, &mut parity_cells[parity][range]);
    }

    fn compute(&self, data: &[Vec<u8>], range: Range<usize>, parity: usize, target: &mut [u8]) {
        match self.rows.get(parity) {
            Some(row) => {
                // Few are listed without asking for memory.
                let (mut few, many): ([&[u8]; 8], Vec<&[u8]>);
                let own = data.iter().map(|cell| &cell[range.clone()]);
                let sources = if data.len() <= 8 {
                    few = [&[]; 8];
                    few.iter_mut().zip(own).for_each(|(source, cell)| *source = cell);
                    &few[..data.len()]
                } else {
                    many = own.collect();
                    &many
                };
                row.rebuild(sources, &mut [target]).expect(FITS);
            }
            None => target.copy_from_slice(&data[0][range]),
        }
    }

    /// Sectors of `range` in which parity cell `parity` is not what the data cells give.
    pub(crate) fn mismatches(&self, cells: &[Vec<u8>], range: Range<usize>, parity: usize) -> u32 {
        let mut expected = vec![0; range.len()];
        self.compute(&cells[..self.data], range.clone(), parity, &mut expected);
        let sectors = expected.chunks(to_length(SECTOR_BYTES));
        let stored = cells[self.data + parity][range].chunks(to_length(SECTOR_BYTES));
        to_count(sectors.zip(stored).filter(|(expected, stored)| expected != stored).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_parity_is_xor_and_copies_are_copies() {
        let mut cells = vec![vec![0x80; 512], vec![0x11; 512], vec![0; 512], vec![0; 512], vec![0; 512]];
        let code = ParityCode::new(2, 3);
        code.encode(&mut cells, 0..512, 0);
        assert_eq!(cells[2], vec![0x91; 512]);
        // The second parity of RAID-6 has generator 2 in the field of polynomial 0x11d.
        let mut pair = vec![vec![0; 512], vec![0x80; 512], vec![0; 512], vec![0; 512]];
        ParityCode::new(2, 2).encode(&mut pair, 0..512, 1);
        assert_eq!(pair[3], vec![0x1d; 512]);
        let mut mirror = vec![vec![7; 512], vec![0; 512], vec![0; 512], vec![0; 512]];
        for j in 0..3 {
            ParityCode::new(1, 3).encode(&mut mirror, 0..512, j);
        }
        assert!(mirror.iter().all(|cell| *cell == vec![7; 512]));
    }

    proptest! {
        /// Any `m` of the `k + m` cells lost, all come back.
        #[test]
        fn any_m_cells_come_back(k in 1usize..9, m in 1usize..5, seed: u64) {
            let code = ParityCode::new(k, m);
            let mut rng = outlast_units::rng::SplitMix::new(seed, "cells");
            let mut cells: Vec<Vec<u8>> =
                (0..k + m).map(|_| (0..1024).map(|_| rng.next_u64() as u8).collect()).collect();
            for j in 0..m {
                code.encode(&mut cells, 0..1024, j);
                prop_assert_eq!(code.mismatches(&cells, 0..1024, j), 0);
            }
            let truth = cells.clone();
            let mut have = (1u64 << (k + m)) - 1;
            while have.count_ones() as usize > k {
                let role = rng.below((k + m) as u64) as usize;
                have &= !(1 << role);
                cells[role].fill(0xa5);
            }
            code.recover_data(&mut cells, 0..1024, have);
            for j in (0..m).filter(|j| have >> (k + j) & 1 == 0) {
                code.encode(&mut cells, 0..1024, j);
            }
            prop_assert!(cells == truth);
            // A change of one data cell, added to what is there.
            let (role, mut changed) = (rng.below(k as u64) as usize, truth.clone());
            changed[role].iter_mut().for_each(|byte| *byte ^= 0x5a);
            let mut sums = changed.clone();
            sums[role].fill(0x5a);
            code.add(&mut sums, 0..1024, role);
            changed.splice(k.., sums.drain(k..));
            for j in 0..m {
                prop_assert_eq!(code.mismatches(&changed, 0..1024, j), 0);
            }
            cells[k][600] ^= 1;
            prop_assert_eq!(code.mismatches(&cells, 0..1024, 0), 1);
        }
    }
}

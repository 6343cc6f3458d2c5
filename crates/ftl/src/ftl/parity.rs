//! The bytes of parity, and rebuilding from them.

use super::Ftl;
use crate::stripes::Role;
use outlast_units::{Lpn, Ppn, SuperblockId};

impl Ftl {
    /// The bytes of a parity program unit, owners of the data included.
    pub(super) fn compute_parity(&mut self, superblock: SuperblockId, stripe: u32, parity_pu: u32) {
        let units = self.layout.units_per_pu();
        for slot in parity_pu * units..(parity_pu + 1) * units {
            self.p2l[slot as usize] = Lpn::NONE;
        }
        let Some(code) = self.code_of(superblock) else { return };
        let shards = self.shards(superblock, stripe);
        let Some(&(_, index)) = shards.iter().find(|&&(pu, _)| pu == parity_pu) else { return };
        let parity = index - code.data();
        for unit in 0..units {
            let Some(mut sums) = self.encode(superblock, &shards, unit) else { return };
            let (owner, bytes) = split(std::mem::take(&mut sums[parity]));
            if let Some(contents) = &mut self.contents {
                contents.write_parity(parity_pu * units + unit, owner, bytes);
            }
        }
    }

    /// The program units of a stripe that are members, each with its number in the code: data in order, then parity.
    fn shards(&self, superblock: SuperblockId, stripe: u32) -> Vec<(u32, usize)> {
        let Some(code) = self.code_of(superblock) else { return Vec::new() };
        let gaps = self.opened_gaps(superblock);
        if code.parity_of(stripe, gaps).next().is_none() {
            return Vec::new();
        }
        let first = superblock.0 * self.layout.pus_per_superblock();
        let data = code.members(stripe).filter(|&pu| code.role(pu, gaps) == Role::Data).enumerate();
        let parity = code.parity_of(stripe, gaps).enumerate().map(|(index, pu)| (index + code.data(), pu));
        data.chain(parity).map(|(index, pu)| (first + pu, index)).collect()
    }

    /// All parities of one unit of a stripe; data that was never written is zero. `None` where no bytes are kept.
    fn encode(&self, superblock: SuperblockId, shards: &[(u32, usize)], unit: u32) -> Option<Vec<Vec<u8>>> {
        let (contents, code) = (self.contents.as_ref()?, self.code_of(superblock)?);
        let length = self.config.mapping_unit.0 as usize + OWNER;
        let mut sums = vec![vec![0; length]; code.parity() as usize];
        let mut parity: Vec<&mut [u8]> = sums.iter_mut().map(Vec::as_mut_slice).collect();
        for &(pu, index) in shards.iter().filter(|&&(_, index)| index < code.data()) {
            if let Some(unit) = contents.raw(pu * self.layout.units_per_pu() + unit) {
                code.code()
                    .accumulate(index, &joined(unit), &mut parity)
                    .expect("a shard of the code's own shape");
            }
        }
        Some(sums)
    }

    /// The content of slot `slot`, with its owner, rebuilt from the other members of its stripe: those in `had` (program units that
    /// were read, or were in the controller's memory when the recovery began), and those that are not on flash. For drives that
    /// keep bytes.
    ///
    /// # Panics
    /// If no bytes are kept, or these members do not suffice.
    pub fn rebuild(&self, slot: Ppn, had: &[u32]) -> (Lpn, Box<[u8]>) {
        let (pu, unit) = self.layout.pu_of(slot);
        let (superblock, within) = self.within_superblock(pu);
        let code = self.code_of(superblock).expect("only data with parity is rebuilt");
        let contents = self.contents.as_ref().expect("bytes are kept");
        let units = self.layout.units_per_pu();
        let shards = self.shards(superblock, code.stripe_of(within));
        let wanted = shards.iter().find(|&&(other, _)| other == pu).expect("a unit of data is a member").1;
        // The parity of a stripe that is not complete is in the controller's memory.
        let in_memory = self.encode(superblock, &shards, unit).expect("bytes are kept");
        let mut present = outlast_codes::ShardSet::default();
        let mut bytes = vec![vec![0; self.config.mapping_unit.0 as usize + OWNER]; code.code().shards()];
        // A stripe that is shorter than the code lacks only zeroes.
        let data = shards.iter().filter(|&&(_, index)| index < code.data()).count();
        for index in data..code.data() {
            present = present.with(index);
        }
        for &(other, index) in shards.iter().filter(|&&(other, _)| other != pu) {
            let (on_flash, raw) = (self.is_on_flash(superblock, other), contents.raw(other * units + unit));
            let gone = self.failed_pus.contains(&other);
            if (gone || on_flash) && !had.contains(&other) {
                continue;
            }
            match raw {
                Some(raw) => bytes[index] = joined(raw),
                None if index < code.data() => {}
                None if self
                    .is_skipped(superblock, other - superblock.0 * self.layout.pus_per_superblock()) =>
                {
                    continue;
                }
                None => bytes[index].clone_from(&in_memory[index - code.data()]),
            }
            present = present.with(index);
        }
        let target = outlast_codes::ShardSet::default().with(wanted);
        let decoder = code.code().decoder(&present, &target).expect("enough members were had");
        let sources: Vec<&[u8]> = decoder.sources().iter().map(|&index| bytes[index].as_slice()).collect();
        let mut rebuilt = vec![0; self.config.mapping_unit.0 as usize + OWNER];
        decoder.rebuild(&sources, &mut [&mut rebuilt]).expect("shards of one length");
        let (owner, bytes) = split(rebuilt);
        (Lpn(owner), bytes)
    }

    /// Checks that the parity of every complete stripe is that of its pages.
    pub(super) fn check_parity(&self) -> Result<(), String> {
        let Some(contents) = self.contents.as_ref() else { return Ok(()) };
        let (pus, units) = (self.layout.pus_per_superblock(), self.layout.units_per_pu());
        for superblock in (0..self.layout.superblocks()).map(SuperblockId) {
            let Some(code) = self.code_of(superblock) else { continue };
            for stripe in 0..=code.stripe_of(pus - 1) {
                let shards = self.shards(superblock, stripe);
                for unit in 0..units {
                    let sums = self.encode(superblock, &shards, unit).unwrap_or_default();
                    for &(pu, index) in shards.iter().filter(|&&(_, index)| index >= code.data()) {
                        let written = contents.raw(pu * units + unit);
                        if written.is_some_and(|written| joined(written) != sums[index - code.data()]) {
                            return Err(format!(
                                "stripe {stripe} of superblock {superblock}: parity of unit {unit} is off"
                            ));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Bytes of a unit's owner, which parity covers, too.
const OWNER: usize = 4;

/// A unit with its owner, as a code sees it.
fn joined((owner, bytes): (u32, &[u8])) -> Vec<u8> {
    [bytes, &owner.to_le_bytes()].concat()
}

/// The inverse of [`joined`].
fn split(mut unit: Vec<u8>) -> (u32, Box<[u8]>) {
    let owner = unit.split_off(unit.len() - OWNER);
    (owner.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)), unit.into_boxed_slice())
}

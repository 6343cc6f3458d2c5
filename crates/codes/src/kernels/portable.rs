//! The kernel that runs everywhere: safe code over short arrays of bytes, which the compiler turns into vectors.
//!
//! A product with a constant is a sum of doublings, c·d = Σ 2^b·d over the bits b of c. By Horner's rule a whole row needs
//! eight doublings, however many sources it has: sum = 2·sum, then XOR every source whose factor has the bit.

use crate::field::double;

/// Bytes worked on at a time: they and their sum stay in the first-level cache, and the loops over them are long enough to
/// be vectors.
const BLOCK: usize = 512;

/// For each bit, from the highest, the sources whose factor has it; leading bits that no factor has are left out.
#[derive(Clone, Debug)]
pub(super) struct PortableRow(Vec<Vec<u8>>);

impl PortableRow {
    pub(super) fn new(factors: &[u8]) -> Self {
        let with_bit =
            |bit: u32| (0..factors.len()).filter(|&j| factors[j] >> bit & 1 == 1).map(|j| j as u8).collect();
        let highest =
            factors.iter().map(|factor| factor.checked_ilog2().map_or(0, |bit| bit + 1)).max().unwrap_or(0);
        Self((0..highest).rev().map(with_bit).collect())
    }
}

pub(super) fn apply(rows: &[PortableRow], sources: &[&[u8]], targets: &mut [&mut [u8]]) {
    let length = targets.first().map_or(0, |target| target.len());
    for start in (0..length).step_by(BLOCK) {
        let range = start..length.min(start + BLOCK);
        for (row, target) in rows.iter().zip(targets.iter_mut()) {
            let sum = &mut target[range.clone()];
            sum.fill(0);
            for (i, bit) in row.0.iter().enumerate() {
                if i > 0 {
                    double_all(sum);
                }
                for &source in bit {
                    add(sum, &sources[usize::from(source)][range.clone()]);
                }
            }
        }
    }
}

pub(super) fn xor(sources: &[&[u8]], target: &mut [u8]) {
    let length = target.len();
    for start in (0..length).step_by(BLOCK) {
        let range = start..length.min(start + BLOCK);
        let sum = &mut target[range.clone()];
        sum.fill(0);
        for source in sources {
            add(sum, &source[range.clone()]);
        }
    }
}

pub(super) fn multiply_add(factors: &[u8], new: &[u8], old: Option<&[u8]>, targets: &mut [&mut [u8]]) {
    let highest = factors.iter().fold(0, |bits, factor| bits | factor).checked_ilog2();
    let mut power = [0; BLOCK];
    for start in (0..new.len()).step_by(BLOCK) {
        let range = start..new.len().min(start + BLOCK);
        // The change times 2^bit: every target whose factor has the bit takes it.
        let power = &mut power[..range.len()];
        power.copy_from_slice(&new[range.clone()]);
        if let Some(old) = old {
            add(power, &old[range.clone()]);
        }
        for bit in 0..highest.map_or(0, |bit| bit + 1) {
            if bit > 0 {
                double_all(power);
            }
            for (&factor, target) in factors.iter().zip(targets.iter_mut()) {
                if factor >> bit & 1 == 1 {
                    add(&mut target[range.clone()], power);
                }
            }
        }
    }
}

#[inline]
fn double_all(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = double(*byte);
    }
}

#[inline]
fn add(sum: &mut [u8], source: &[u8]) {
    sum.iter_mut().zip(source).for_each(|(sum, byte)| *sum ^= byte);
}

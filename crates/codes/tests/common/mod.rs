//! The slow reference, and random stripes.
#![allow(dead_code, reason = "each test file uses a part")]

use outlast_codes::ErasureCode;
use outlast_units::rng::SplitMix;

/// Multiplication in GF(2^8) modulo 0x11d by its definition.
pub(crate) fn multiply(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut shifted = u16::from(a);
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted <<= 1;
        if shifted & 0x100 != 0 {
            shifted ^= 0x11d;
        }
    }
    product as u8
}

/// The 64 KiB table of all products.
pub(crate) struct Reference(Vec<u8>);

impl Reference {
    pub(crate) fn new() -> Self {
        Self((0..=0xffff_u16).map(|pair| multiply((pair >> 8) as u8, pair as u8)).collect())
    }

    /// The parities of `data`, byte by byte.
    pub(crate) fn encode(&self, code: &ErasureCode, data: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let parity = |row: usize| {
            let mut sum = vec![0; data[0].len()];
            for (j, shard) in data.iter().enumerate() {
                let products = &self.0
                    [usize::from(code.coefficient(row, j).expect("a cell of the matrix")) << 8..][..256];
                sum.iter_mut().zip(shard).for_each(|(sum, &byte)| *sum ^= products[usize::from(byte)]);
            }
            sum
        };
        (0..code.parity_shards()).map(parity).collect()
    }
}

pub(crate) fn random_bytes(rng: &mut SplitMix, length: usize) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

pub(crate) fn random_shards(rng: &mut SplitMix, count: usize, length: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| random_bytes(rng, length)).collect()
}

pub(crate) fn views(shards: &[Vec<u8>]) -> Vec<&[u8]> {
    shards.iter().map(Vec::as_slice).collect()
}

pub(crate) fn views_mut(shards: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    shards.iter_mut().map(Vec::as_mut_slice).collect()
}

/// A random order of `0..count`.
pub(crate) fn shuffled(rng: &mut SplitMix, count: usize) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..count).collect();
    (0..count).map(|_| rest.swap_remove(rng.below(rest.len() as u64) as usize)).collect()
}

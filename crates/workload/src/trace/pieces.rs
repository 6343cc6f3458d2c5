//! Sets of pieces of the address space: which a trace touches, and where each lies when they are packed.
//!
//! Both keep a bit for each piece, in blocks of neighbours: requests go here and there, and what they look for should be in a cache.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Words of bits in a block.
const WORDS: usize = 8;
/// Pieces in a block.
const BLOCK: u64 = WORDS as u64 * 64;

/// Block, word in it, and bit of a piece.
const fn place(piece: u64) -> (u64, usize, u64) {
    (piece / BLOCK, (piece % BLOCK / 64) as usize, 1 << (piece % 64))
}

/// The places of the bits that are set, in order.
fn ones(bits: u64) -> impl Iterator<Item = u32> {
    // Taking away 1 takes away the lowest that is set, and sets those below it.
    let rest = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
    rest.take_while(|&bits| bits != 0).map(u64::trailing_zeros)
}

/// The pieces that a trace touches, by device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Where the bits of each block of a device are.
    index: BTreeMap<(u32, u64), usize>,
    bits: Vec<[u64; WORDS]>,
    /// The block looked for last: the next record is in the same one, mostly.
    last: Option<((u32, u64), usize)>,
}

impl Touched {
    /// Adds pieces of a device.
    pub(crate) fn add(&mut self, device: u32, pieces: RangeInclusive<u64>) {
        for piece in pieces {
            let (block, word, bit) = place(piece);
            let at = self.block((device, block));
            self.bits[at][word] |= bit;
        }
    }

    fn block(&mut self, key: (u32, u64)) -> usize {
        if let Some((last, at)) = self.last
            && last == key
        {
            return at;
        }
        let at = *self.index.entry(key).or_insert(self.bits.len());
        if at == self.bits.len() {
            self.bits.push([0; WORDS]);
        }
        self.last = Some((key, at));
        at
    }

    /// All pieces, in order of device and address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.index.iter().flat_map(|(&(device, block), &at)| {
            let words = (0u64..).zip(self.bits[at]);
            words.flat_map(move |(word, bits)| {
                ones(bits).map(move |bit| (device, block * BLOCK + word * 64 + u64::from(bit)))
            })
        })
    }
}

/// Pieces packed side by side in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    blocks: Vec<Block>,
    len: u64,
}

/// Some neighbours of which at least one is packed.
#[derive(Clone, Debug)]
struct Block {
    index: u64,
    /// Pieces before the block, and within it before each word.
    before: u64,
    within: [u16; WORDS],
    bits: [u64; WORDS],
}

impl Packed {
    /// How many pieces there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether `piece` is packed, and after how many others.
    pub(crate) fn rank(&self, piece: u64) -> Option<u64> {
        let (index, word, bit) = place(piece);
        let at = self.blocks.binary_search_by_key(&index, |block| block.index).ok()?;
        let Block { before, within, bits, .. } = &self.blocks[at];
        let below = (bits[word] & (bit - 1)).count_ones();
        (bits[word] & bit != 0).then(|| before + u64::from(within[word]) + u64::from(below))
    }
}

impl FromIterator<u64> for Packed {
    /// Of pieces in ascending order.
    fn from_iter<I: IntoIterator<Item = u64>>(pieces: I) -> Self {
        let mut packed = Self::default();
        for piece in pieces {
            let (index, word, bit) = place(piece);
            let before = packed.len;
            if packed.blocks.last().is_none_or(|last| last.index != index) {
                debug_assert!(packed.blocks.last().is_none_or(|last| last.index < index), "pieces ascend");
                packed.blocks.push(Block { index, before, within: [0; WORDS], bits: [0; WORDS] });
            }
            if let Some(block) = packed.blocks.last_mut() {
                block.bits[word] |= bit;
                block.within[word + 1..].iter_mut().for_each(|count| *count += 1);
            }
            packed.len += 1;
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// As a set in order and its ranks by counting are.
        #[test]
        fn pieces_are_found_and_ranked(
            ranges in prop::collection::vec((0u32..3, prop_oneof![0u64..3000, 0u64..1 << 44], 0u64..700), 0..40),
            others in prop::collection::vec(0u64..4000, 20),
        ) {
            let mut touched = Touched::default();
            let mut plain = BTreeSet::new();
            for &(device, first, more) in &ranges {
                touched.add(device, first..=first + more);
                plain.extend((first..=first + more).map(|piece| (device, piece)));
            }
            prop_assert_eq!(touched.iter().collect::<Vec<_>>(), plain.iter().copied().collect::<Vec<_>>());
            let own: Vec<u64> = plain.iter().filter(|(device, _)| *device == 0).map(|&(_, piece)| piece).collect();
            let packed: Packed = own.iter().copied().collect();
            prop_assert_eq!(packed.len(), own.len() as u64);
            for piece in own.iter().chain(&others) {
                prop_assert_eq!(packed.rank(*piece), own.binary_search(piece).ok().map(|rank| rank as u64));
            }
        }
    }
}

//! Sets of pieces of the address space: the pieces that a trace touches, and their places when they are packed.
//!
//! Both keep one bit for each piece, in blocks of 512 neighbours, so that the blocks of a scattered trace still fit into a processor's cache.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Words of 64 bits in a block: one cache line of 64 bytes.
const WORDS: usize = 8;
/// Pieces in a block.
const BLOCK: u64 = WORDS as u64 * 64;

/// Number of the block of a piece, index of its word in the block, and the piece's bit.
const fn bit_of(piece: u64) -> (u64, usize, u64) {
    (piece / BLOCK, (piece % BLOCK / 64) as usize, 1 << (piece % 64))
}

/// Indices of the bits that are set, in ascending order.
fn ones(bits: u64) -> impl Iterator<Item = u32> {
    // `bits & (bits - 1)` clears the lowest bit that is set.
    let remaining = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
    remaining.take_while(|&bits| bits != 0).map(u64::trailing_zeros)
}

/// The pieces that a trace touches, by device.
#[derive(Clone, Debug, Default)]
pub(crate) struct TouchedPieces {
    /// Index in `bits` of each block, by device and number of the block.
    index: BTreeMap<(u32, u64), usize>,
    bits: Vec<[u64; WORDS]>,
    /// The block that was used last, which mostly is the next one, too.
    last: Option<((u32, u64), usize)>,
}

impl TouchedPieces {
    /// Adds pieces of a device.
    pub(crate) fn add(&mut self, device: u32, pieces: RangeInclusive<u64>) {
        for piece in pieces {
            let (block, word, bit) = bit_of(piece);
            let at = self.block_index((device, block));
            self.bits[at][word] |= bit;
        }
    }

    /// Index in `bits` of a block, which is added if it is new.
    fn block_index(&mut self, key: (u32, u64)) -> usize {
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
pub(crate) struct PackedPieces {
    blocks: Vec<PieceBlock>,
    len: u64,
}

/// A block of neighbours of which at least one is packed.
#[derive(Clone, Debug)]
struct PieceBlock {
    index: u64,
    /// Packed pieces before the block, and within it before each word.
    before: u64,
    within: [u16; WORDS],
    bits: [u64; WORDS],
}

impl PackedPieces {
    /// How many pieces there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Number of packed pieces before `piece`; `None` if it is not packed itself.
    pub(crate) fn rank(&self, piece: u64) -> Option<u64> {
        let (index, word, bit) = bit_of(piece);
        let at = self.blocks.binary_search_by_key(&index, |block| block.index).ok()?;
        let PieceBlock { before, within, bits, .. } = &self.blocks[at];
        // The bits below the piece's own, in its word.
        let below = (bits[word] & (bit - 1)).count_ones();
        (bits[word] & bit != 0).then(|| before + u64::from(within[word]) + u64::from(below))
    }
}

impl FromIterator<u64> for PackedPieces {
    /// Packs pieces, which must ascend.
    fn from_iter<I: IntoIterator<Item = u64>>(pieces: I) -> Self {
        let mut packed = Self::default();
        for piece in pieces {
            let (index, word, bit) = bit_of(piece);
            let before = packed.len;
            if packed.blocks.last().is_none_or(|last| last.index != index) {
                debug_assert!(packed.blocks.last().is_none_or(|last| last.index < index), "pieces ascend");
                packed.blocks.push(PieceBlock { index, before, within: [0; WORDS], bits: [0; WORDS] });
            }
            if let Some(block) = packed.blocks.last_mut() {
                block.bits[word] |= bit;
                // The piece counts for each word behind its own.
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
    /// Oracle: an ordered set, with ranks by counting.
        #[test]
        fn pieces_are_found_and_ranked(
            ranges in prop::collection::vec((0u32..3, prop_oneof![0u64..3000, 0u64..1 << 44], 0u64..700), 0..40),
            others in prop::collection::vec(0u64..4000, 20),
        ) {
            let mut touched = TouchedPieces::default();
            let mut plain = BTreeSet::new();
            for &(device, first, more) in &ranges {
                touched.add(device, first..=first + more);
                plain.extend((first..=first + more).map(|piece| (device, piece)));
            }
            prop_assert_eq!(touched.iter().collect::<Vec<_>>(), plain.iter().copied().collect::<Vec<_>>());
        let first_device: Vec<u64> = plain.iter().filter(|(device, _)| *device == 0).map(|&(_, piece)| piece).collect();
            let packed: PackedPieces = first_device.iter().copied().collect();
            prop_assert_eq!(packed.len(), first_device.len() as u64);
            for piece in first_device.iter().chain(&others) {
                prop_assert_eq!(packed.rank(*piece), first_device.binary_search(piece).ok().map(|rank| rank as u64));
            }
        }
    }
}

//! Bits in words: sets of slots and of program units.

/// A word with its lowest `count` bits set.
#[inline]
pub(crate) const fn ones(count: u32) -> u64 {
    debug_assert!(count <= 64, "a word has 64 bits");
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// The lowest `count` bits of those set in `mask`.
#[inline]
pub(crate) fn lowest(mask: u64, count: u32) -> u64 {
    if mask.count_ones() <= count { mask } else { lowest_of_more(mask, count) }
}

/// The lowest `count` bits of those set in `mask`, which are more.
#[inline]
pub(crate) fn lowest_of_more(mask: u64, count: u32) -> u64 {
    debug_assert!(mask.count_ones() > count, "{count} bits of {mask:b}");
    let (mut above, mut left) = (mask, count);
    while left != 0 {
        above &= above - 1;
        left -= 1;
    }
    mask ^ above
}

/// A set of numbers below a bound: one bit each.
#[derive(Clone, Debug, Default, outlast_persist::Restore)]
pub(crate) struct BitSet(#[persist(grow)] Vec<u64>);

impl BitSet {
    /// `count` bits, all clear.
    pub(crate) fn new(count: usize) -> Self {
        Self(outlast_tables::filled(0, count.div_ceil(64)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, bit: u32) -> bool {
        self.0[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    /// The word that bit `bit` lies in.
    #[inline]
    pub(crate) fn word_of(&self, bit: u32) -> &u64 {
        &self.0[bit as usize / 64]
    }

    #[inline]
    pub(crate) fn set(&mut self, bit: u32) {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, bit: u32) {
        self.0[bit as usize / 64] &= !(1 << (bit % 64));
    }

    /// The `count` bits from `first` on, 1 to 64, the first one lowest.
    #[inline]
    pub(crate) fn mask(&self, first: u32, count: u32) -> u64 {
        debug_assert!((1..=64).contains(&count), "{count} bits of a word");
        let (word, shift) = (first as usize / 64, first % 64);
        let (low, others) = (self.0[word] >> shift, 64 - count);
        // They may straddle two words.
        let bits = if shift <= others { low } else { low | self.0[word + 1] << (64 - shift) };
        bits << others >> others
    }

    /// Clears those bits from `first` on, 64 of them, that are set in `mask`.
    #[inline]
    pub(crate) fn clear_mask(&mut self, first: u32, mask: u64) {
        let (word, shift) = (first as usize / 64, first % 64);
        self.0[word] &= !(mask << shift);
        if shift != 0 && mask >> (64 - shift) != 0 {
            self.0[word + 1] &= !(mask >> (64 - shift));
        }
    }

    /// Sets the `count` bits from `first` on, 1 to 64.
    #[inline]
    pub(crate) fn set_run(&mut self, first: u32, count: u32) {
        debug_assert!((1..=64).contains(&count), "{count} bits of a word");
        let (word, shift) = (first as usize / 64, first % 64);
        let run = u64::MAX >> (64 - count);
        self.0[word] |= run << shift;
        if shift + count > 64 {
            self.0[word + 1] |= run >> (64 - shift);
        }
    }

    /// Clears the `count` bits from `first` on.
    pub(crate) fn clear_range(&mut self, first: u32, count: u32) {
        let (mut bit, end) = (first, first + count);
        while bit < end {
            let step = (64 - bit % 64).min(end - bit);
            self.clear_mask(bit, ones(step));
            bit += step;
        }
    }

    /// The first bit from `from` on that is set.
    pub(crate) fn first_from(&self, from: u32) -> Option<u32> {
        let mut first = from / 64 * 64;
        let mut word = *self.0.get(first as usize / 64)? & u64::MAX << (from % 64);
        while word == 0 {
            first += 64;
            word = *self.0.get(first as usize / 64)?;
        }
        Some(first + word.trailing_zeros())
    }

    /// Number of set bits among the `count` bits from `first` on.
    pub(crate) fn count(&self, first: u32, count: u32) -> u32 {
        let end = first + count;
        (first..end).step_by(64).map(|bit| self.mask(bit, (end - bit).min(64)).count_ones()).sum()
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::{BitSet, lowest, ones};
    use std::collections::BTreeSet;

    proptest::proptest! {
        #[test]
        fn does_what_a_set_of_numbers_does(steps in proptest::collection::vec((0u8..5, 0u32..130, 1u32..=64, proptest::num::u64::ANY), 1..60)) {
            const COUNT: u32 = 200;
            let (mut bits, mut set) = (BitSet::new(COUNT as usize), BTreeSet::new());
            for (step, first, count, mask) in steps {
                match step {
                    0 => {
                        bits.set_run(first, count);
                        set.extend(first..first + count);
                    }
                    1 => {
                        bits.clear_mask(first, mask);
                        set.retain(|&bit| !(first..first + 64).contains(&bit) || mask >> (bit - first) & 1 == 0);
                    }
                    2 => {
                        bits.clear_range(first, count);
                        set.retain(|bit| !(first..first + count).contains(bit));
                    }
                    3 => {
                        bits.set(first);
                        set.insert(first);
                    }
                    _ => {
                        bits.clear(first);
                        set.remove(&first);
                    }
                }
                let expected = (0..count).filter(|bit| set.contains(&(first + bit))).fold(0, |mask, bit| mask | 1u64 << bit);
                proptest::prop_assert_eq!(bits.mask(first, count), expected);
                proptest::prop_assert_eq!(bits.count(0, COUNT) as usize, set.len());
                proptest::prop_assert_eq!(bits.get(first), set.contains(&first));
            }
        }

        #[test]
        fn the_lowest_bits_come_first(mask: u64, count in 0u32..=64) {
            let (low, left) = (lowest(mask, count), mask & !lowest(mask, count));
            proptest::prop_assert_eq!(low.count_ones(), count.min(mask.count_ones()));
            proptest::prop_assert!(low == 0 || left == 0 || low.ilog2() < left.trailing_zeros());
        }
    }

    #[test]
    fn a_word_is_filled_from_its_first_bit() {
        assert_eq!([ones(0), ones(1), ones(63), ones(64)], [0, 1, u64::MAX >> 1, u64::MAX]);
    }
}

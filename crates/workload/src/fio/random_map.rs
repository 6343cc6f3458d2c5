//! fio's random map: the blocks that a pass has touched, and the next that it has not. One bit for each block, and one more for each 64 of
//! them, level by level, so that a full stretch is stepped over at once (fio's `lib/axmap.c`).

const BITS: u64 = 64;

/// The set of blocks that a pass has touched.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    blocks: u64,
    /// From the blocks themselves upwards; a bit of a higher level stands for a full word below.
    levels: Vec<Vec<u64>>,
}

impl RandomMap {
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut words = blocks;
        loop {
            words = words.div_ceil(BITS);
            levels.push(vec![0; usize::try_from(words).unwrap_or(usize::MAX)]);
            if words <= 1 {
                return Self { blocks, levels };
            }
        }
    }

    pub(super) fn clear(&mut self) {
        for level in &mut self.levels {
            level.fill(0);
        }
    }

    #[inline]
    fn has(&self, block: u64) -> bool {
        block < self.blocks && self.levels[0][(block / BITS) as usize] >> (block % BITS) & 1 == 1
    }

    /// `block`, or if it is taken the next free one, from the start again after the last; `None` if all are taken.
    #[inline]
    pub(super) fn free_from(&self, block: u64) -> Option<u64> {
        if !self.has(block) {
            return Some(block);
        }
        self.first_free(block + 1).or_else(|| self.first_free(0))
    }

    /// The first free block from `block` on.
    fn first_free(&self, block: u64) -> Option<u64> {
        let mut at = block;
        let mut level = 0;
        // Climbs to a level with a word that is not full behind `at`, then descends to the block.
        loop {
            let words = self.levels.get(level)?;
            let (word, bit) = ((at / BITS) as usize, at % BITS);
            let room = words.get(word).map_or(0, |taken| !taken & (u64::MAX << bit));
            if room != 0 {
                at = word as u64 * BITS + u64::from(room.trailing_zeros());
                break;
            }
            // No room in this word: the search goes on in the level above, at the bit of the next word.
            at = at / BITS + 1;
            level += 1;
        }
        while level > 0 {
            level -= 1;
            let room = !*self.levels[level].get(at as usize)?;
            at = at * BITS + u64::from(room.trailing_zeros());
        }
        (at < self.blocks).then_some(at)
    }

    /// Takes up to `count` blocks from `block` on, up to the first that is taken already; returns how many. At least `block` itself
    /// counts, and what lies beyond the map is not kept.
    pub(super) fn take(&mut self, block: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && !self.has(block + taken) {
            self.set(block + taken);
            taken += 1;
        }
        taken.max(1)
    }

    fn set(&mut self, block: u64) {
        if block >= self.blocks {
            return;
        }
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / BITS) as usize];
            *word |= 1 << (at % BITS);
            // Only a word that has become full sets its bit in the level above.
            if *word != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
    /// Oracle: a plain list of flags.
        #[test]
    fn the_map_is_a_set_with_a_next_free_block(blocks in 1u64..9000, calls in prop::collection::vec((0u64..9000, 1u64..40), 0..400)) {
            let mut map = RandomMap::new(blocks);
            let mut plain = vec![false; blocks as usize];
            for (block, count) in calls {
                let block = block % blocks;
                let free = (0..blocks).map(|step| (block + step) % blocks).find(|&at| !plain[at as usize]);
                prop_assert_eq!(map.free_from(block), free);
                let Some(free) = free else { continue };
                let count = count.min(blocks - free);
                let run = (free..free + count).take_while(|&at| !plain[at as usize]).count() as u64;
                prop_assert_eq!(map.take(free, count), run);
                plain[free as usize..(free + run) as usize].fill(true);
            }
        }

        #[test]
        fn a_pass_takes_every_block_once(blocks in 1u64..5000, step in 1u64..5000) {
            let mut map = RandomMap::new(blocks);
            let mut seen = vec![false; blocks as usize];
            for call in 0..blocks {
                let block = map.free_from(call * step % blocks).unwrap();
                map.take(block, 1);
                prop_assert!(!std::mem::replace(&mut seen[block as usize], true));
            }
            prop_assert_eq!(map.free_from(0), None);
            map.clear();
            prop_assert_eq!(map.free_from(0), Some(0));
        }
    }
}

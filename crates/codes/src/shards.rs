//! Sets of shards.

/// A set of shard numbers below 256: data shards 0 to k − 1, then parity shards k to k + m − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardSet([u64; 4]);

impl ShardSet {
    /// The first `count` shards.
    ///
    /// # Panics
    /// For more than 256.
    pub fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// The set with `shard` added.
    ///
    /// # Panics
    /// For a shard above 255, which no code has.
    #[must_use]
    pub const fn with(mut self, shard: usize) -> Self {
        assert!(shard < 256, "shards are numbered below 256");
        self.0[shard / 64] |= 1 << (shard % 64);
        self
    }

    /// The set with `shard` removed.
    #[must_use]
    pub const fn without(mut self, shard: usize) -> Self {
        if shard < 256 {
            self.0[shard / 64] &= !(1 << (shard % 64));
        }
        self
    }

    /// True if `shard` is in the set.
    #[inline]
    pub const fn contains(&self, shard: usize) -> bool {
        shard < 256 && self.0[shard / 64] >> (shard % 64) & 1 == 1
    }

    /// Number of shards in the set.
    #[inline]
    pub const fn len(&self) -> usize {
        let [a, b, c, d] = self.0;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// True if the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shards in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..256).filter(|&shard| self.contains(shard))
    }
}

impl FromIterator<usize> for ShardSet {
    fn from_iter<I: IntoIterator<Item = usize>>(shards: I) -> Self {
        shards.into_iter().fold(Self::default(), Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let set: ShardSet = [3, 64, 255].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 255]);
        assert_eq!(set.len(), 3);
        assert!(!set.contains(4) && !set.contains(300));
        assert_eq!(set.without(64).without(3).without(255).without(900), ShardSet::default());
        assert_eq!(ShardSet::first(65).len(), 65);
    }
}

//! Named sub-streams of the one seed: each component draws from its own, so adding a draw in one never shifts another.

/// The seed of the sub-stream `name` of `seed`: a `SplitMix64` finaliser over an FNV-1a hash of the name, so that related
/// seeds and names give unrelated streams (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
pub const fn sub_seed(seed: u64, name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    mix(seed ^ mix(hash))
}

/// The `SplitMix64` finaliser: a bijection of 64-bit words that scatters every input bit. A pure function of its input, it
/// also serves as "the random number that belongs to this address".
#[inline]
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A small, fast, seeded generator (`SplitMix64`) for draws inside the core: victim sampling, factory bad blocks.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// The generator of sub-stream `name` of `seed`.
    pub const fn new(seed: u64, name: &str) -> Self {
        Self { state: sub_seed(seed, name) }
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let word = mix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word
    }

    /// A number uniform in `0..bound` (multiply-shift; the bias is below bound / 2^64).
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// A number uniform in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_streams_differ_and_repeat() {
        assert_eq!(sub_seed(1, "gc"), sub_seed(1, "gc"));
        assert_ne!(sub_seed(1, "gc"), sub_seed(2, "gc"));
        assert_ne!(sub_seed(1, "gc"), sub_seed(1, "cg"));
    }

    #[test]
    fn below_is_uniform_within_sampling_error() {
        let mut rng = SplitMix::new(7, "test");
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // Binomial(100 000, 0.1): sigma = 95; six sigma bound each of ten cells well below one failure in 10^7.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 570), "{counts:?}");
    }
}

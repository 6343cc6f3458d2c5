//! A permutation of the places without a table, which scatters hot addresses over the region.

use outlast_units::rng::SplitMix;

/// A pseudorandom permutation of `0..places`: alternate multiplications by an odd number and xor-shifts, each invertible on
/// k-bit words, walked on until the result is below `places` (cycle walking: J. Black and P. Rogaway, "Ciphers with
/// arbitrary finite domains", 2002; fewer than two steps on average as 2^k < 2 `places`).
#[derive(Clone, Debug)]
pub(crate) struct PlacePermutation {
    places: u64,
    mask: u64,
    shift: u32,
    add: u64,
    odd: [u64; 3],
}

impl PlacePermutation {
    /// A permutation of `0..places` (at least 1) whose constants are the next four draws of `rng`.
    pub(crate) fn new(places: u64, rng: &mut SplitMix) -> Self {
        let bits = (64 - (places.max(1) - 1).leading_zeros()).max(1);
        Self {
            places: places.max(1),
            mask: u64::MAX >> (64 - bits),
            shift: bits.div_ceil(2),
            add: rng.next_u64(),
            odd: [rng.next_u64() | 1, rng.next_u64() | 1, rng.next_u64() | 1],
        }
    }

    /// The image of `place`, which must be below `places`.
    #[inline]
    pub(crate) fn of(&self, place: u64) -> u64 {
        let mut x = place;
        loop {
            x = x.wrapping_add(self.add) & self.mask;
            for odd in self.odd {
                // In a product low bits depend on low bits alone; the shift by half a word lets high bits reach them.
                x = x.wrapping_mul(odd) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.places {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_hit_once() {
        let mut rng = SplitMix::new(1, "scramble");
        for places in (1..70).chain([127, 128, 129, 1000, 4097]) {
            let order = PlacePermutation::new(places, &mut rng);
            let mut seen = vec![false; places as usize];
            for place in 0..places {
                let image = order.of(place) as usize;
                assert!(!std::mem::replace(&mut seen[image], true), "{places}: {image} twice");
            }
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let places = 1_000_000;
        let order = PlacePermutation::new(places, &mut SplitMix::new(1, "scramble"));
        // A random permutation maps neighbours to within 100 of each other with probability 2e-4: over 10 000 pairs 2 are
        // expected (Poisson), and more than 20 happen with a probability below 10^-13.
        let close = (0..10_000).filter(|&i| order.of(i).abs_diff(order.of(i + 1)) <= 100).count();
        assert!(close <= 20, "{close}");
        // And the first 1 % fills no part of the space more than another: 10 000 hits over 10 tenths, sigma = 30.
        let mut tenths = [0u32; 10];
        for i in 0..10_000 {
            tenths[(order.of(i) / 100_000) as usize] += 1;
        }
        assert!(tenths.iter().all(|c| c.abs_diff(1000) < 180), "{tenths:?}");
    }
}

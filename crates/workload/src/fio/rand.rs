//! fio's random generators, so that a job gives the very requests that fio gives for the same `randseed`.
//!
//! Source: fio 3.33, `lib/rand.c`, `lib/rand.h`, `init.c`: the combined Tausworthe generators of P. L'Ecuyer, "Maximally equidistributed
//! combined Tausworthe generators", 1996 (three components, 32 bits) and "Tables of maximally equidistributed combined LFSR generators",
//! 1999 (five components, 64 bits).

/// A combined Tausworthe generator of 32 or 64 bits.
#[derive(Clone, Debug)]
pub(super) enum TauswortheRng {
    Narrow([u32; 3]),
    Wide([u64; 5]),
}

/// 2^32, one more than the largest value of 32 bits.
const NARROW: f64 = 4_294_967_296.0;
/// 2^64.
const WIDE: f64 = NARROW * NARROW;
/// Start of fio's seeding, which it writes as `(2^31) + (2^17) + (2^7)`: in C `^` is an exclusive or.
const START: u64 = 29 + 19 + 5;

impl TauswortheRng {
    pub(super) fn new(seed: u64, wide: bool) -> Self {
        // The components degenerate below these values: `__seed` of fio.
        let at_least = |x: u64, least: u64| if x < least { x + least } else { x };
        let mut random = if wide {
            let mut state = [START; 5];
            let mut last = START;
            for (slot, least) in state.iter_mut().zip([1, 7, 15, 33, 49]) {
                last = at_least(last.wrapping_mul(6_906_969_069) ^ seed, least);
                *slot = last;
            }
            Self::Wide(state)
        } else {
            let seed = seed as u32;
            let mut state = [0u32; 3];
            let mut last = START as u32;
            for (slot, least) in state.iter_mut().zip([1, 7, 15]) {
                last = at_least(u64::from(last.wrapping_mul(69_069) ^ seed), least) as u32;
                *slot = last;
            }
            Self::Narrow(state)
        };
        // fio discards the first six values.
        for _ in 0..6 {
            random.next();
        }
        random
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Self::Narrow([a, b, c]) => {
                // Components of 31, 29 and 28 bits in the upper part of their words; the low bits are cleared.
                *a = ((*a & !1) << 12) ^ (((*a << 13) ^ *a) >> 19);
                *b = ((*b & !7) << 4) ^ (((*b << 2) ^ *b) >> 25);
                *c = ((*c & !15) << 17) ^ (((*c << 3) ^ *c) >> 11);
                u64::from(*a ^ *b ^ *c)
            }
            Self::Wide(state) => {
                // Each mask clears the low bits that a component does not have: its words have 63, 55, 52, 47 and 41 bits.
                let steps = [
                    (1, 53, 18_446_744_073_709_551_614, 10),
                    (24, 50, 18_446_744_073_709_551_104, 5),
                    (3, 23, 18_446_744_073_709_547_520, 29),
                    (5, 24, 18_446_744_073_709_420_544, 23),
                    (3, 33, 18_446_744_073_701_163_008, 8),
                ];
                let mut value = 0;
                for (s, (left, right, mask, shift)) in state.iter_mut().zip(steps) {
                    *s = ((*s & mask) << shift) ^ (((*s << left) ^ *s) >> right);
                    value ^= *s;
                }
                value
            }
        }
    }

    /// One more than the largest value, as a float.
    #[inline]
    pub(super) fn span(&self) -> f64 {
        if matches!(self, Self::Wide(_)) { WIDE } else { NARROW }
    }

    /// The largest value.
    #[inline]
    pub(super) fn most(&self) -> u64 {
        if matches!(self, Self::Wide(_)) { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// A value in 0..`places`, as fio scales one.
    #[inline]
    pub(super) fn below(&mut self, places: u64) -> u64 {
        let span = self.span();
        (places as f64 * (self.next() as f64 / span)) as u64
    }

    /// 1 to 100, each equally likely.
    #[inline]
    pub(super) fn percent(&mut self) -> u32 {
        1 + self.below(100) as u32
    }

    /// A number in (0, 1].
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        let span = self.span();
        (self.next() as f64 + 1.0) / span
    }
}

/// fio's golden-ratio hash.
#[inline]
pub(super) fn hash(value: u64) -> u64 {
    value.wrapping_mul(0x61C8_8646_80B5_83EB)
}

/// Random streams of a job, with fio's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum RandomStream {
    ReadSize = 0,
    WriteSize = 1,
    TrimSize = 2,
    Mix = 4,
    Block = 6,
    Sequence = 10,
    Poisson = 15,
    Zone = 16,
    Poisson2 = 17,
    Poisson3 = 18,
    Placement = 21,
}

const STREAMS: usize = 22;
/// fio's fixed seed of addresses under `randrepeat`, which is the default.
const REPEATABLE: u64 = 0xb189_9bed;
/// Factor from one seed to the next: fio's `GOLDEN_RATIO_PRIME`.
const STEP: u64 = 0x9e37_0001;

/// The seeds of a job's streams.
#[derive(Clone, Debug)]
pub(super) struct JobSeeds {
    seeds: [u64; STREAMS],
    /// Seed of the draw of a law's centre, for which fio takes the stream of addresses.
    centre: u64,
}

impl JobSeeds {
    /// Seeds from the job's `randseed` and its number among all jobs, counted from 1. `scenario_seed` changes all of them; zero
    /// leaves fio's own. With `repeatable` addresses have fio's fixed seed; with `all` every stream has.
    pub(super) fn new(randseed: u64, thread: u64, repeatable: bool, all: bool, scenario_seed: u64) -> Self {
        let mut seed = randseed ^ scenario_seed;
        // fio's `setup_random_seeds`: four steps before the first stream, and one between streams.
        for _ in 0..4 {
            seed = seed.wrapping_mul(STEP);
        }
        let mut seeds = [0; STREAMS];
        for (index, slot) in seeds.iter_mut().enumerate() {
            *slot = seed.wrapping_mul(thread).wrapping_add(index as u64);
            seed = seed.wrapping_mul(STEP);
            if all {
                *slot = (REPEATABLE ^ scenario_seed).wrapping_mul(thread).wrapping_add(index as u64);
            }
        }
        if repeatable {
            seeds[RandomStream::Block as usize] = (REPEATABLE ^ scenario_seed).wrapping_mul(thread);
        }
        Self { centre: seeds[RandomStream::Block as usize], seeds }
    }

    /// These seeds with the centre of `other`, so that the same blocks are hot.
    pub(super) fn with_centre_of(self, other: &Self) -> Self {
        Self { centre: other.centre, ..self }
    }

    pub(super) fn centre(&self) -> u64 {
        self.centre
    }

    pub(super) fn of(&self, stream: RandomStream) -> u64 {
        self.seeds[stream as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generators_are_uniform_and_apart_by_seed() {
        for wide in [false, true] {
            let mut random = TauswortheRng::new(7, wide);
            let mut other = TauswortheRng::new(8, wide);
            let (mut sum, count) = (0.0, 100_000);
            for _ in 0..count {
                sum += random.unit();
                assert!(other.below(10) < 10 && (1..=100).contains(&other.percent()));
            }
            // Uniform: a standard deviation of sqrt(1/12/n) = 9.1e-4; six of them.
            assert!((sum / f64::from(count) - 0.5).abs() < 5.5e-3, "{wide}: {sum}");
        }
    }
}

//! Laws of random blocks other than the uniform one, as fio computes them (`lib/zipf.c`, `lib/gauss.c`, `zone-dist.c` of fio 3.33).

use super::job_options::{AccessPlan, LawSpec};
use super::rand::{JobSeeds, RandomStream, TauswortheRng, hash};

/// Terms of the zeta function that fio adds up at most.
const MOST_TERMS: u64 = 10_000_000;
/// Uniform draws whose mean makes fio's normal law.
const DRAWS: u64 = 12;

/// Zipf's law (J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994), the ranks spread by a hash.
#[derive(Clone, Debug)]
pub(super) struct FioZipf {
    places: u64,
    offset: u64,
    zeta: f64,
    eta: f64,
    alpha: f64,
    second: f64,
    random: TauswortheRng,
}

/// Offset of a law's centre in blocks. Without a centre it is a draw, which fio takes first of all from the stream of addresses.
fn centre_offset(places: u64, centre: Option<f64>, seeds: &JobSeeds) -> u64 {
    centre.map_or_else(
        || TauswortheRng::new(seeds.centre(), false).next(),
        |centre| (places as f64 * centre) as u64,
    )
}

/// The stream of addresses after the draw of the centre.
fn addresses(seeds: &JobSeeds) -> TauswortheRng {
    let mut random = TauswortheRng::new(seeds.of(RandomStream::Block), false);
    random.next();
    random
}

/// The first `terms` terms of the zeta function of `theta` (not 1): the head added up, the others by the formula of Euler and Maclaurin, whose
/// next term is below 10^-14 here.
fn zeta(terms: u64, theta: f64) -> f64 {
    let head = terms.min(10_000);
    let sum: f64 = (1..=head).map(|i| (1.0 / i as f64).powf(theta)).sum();
    let (first, last) = (head as f64, terms as f64);
    let integral = (last.powf(1.0 - theta) - first.powf(1.0 - theta)) / (1.0 - theta);
    let ends = (last.powf(-theta) - first.powf(-theta)) / 2.0;
    let slopes = theta / 12.0 * (first.powf(-theta - 1.0) - last.powf(-theta - 1.0));
    sum + integral + ends + slopes
}

impl FioZipf {
    pub(super) fn new(places: u64, theta: f64, centre: Option<f64>, seeds: &JobSeeds) -> Self {
        let offset = centre_offset(places, centre, seeds);
        let zeta = zeta(places.min(MOST_TERMS), theta);
        let second = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / places as f64).powf(1.0 - theta)) / (1.0 - second / zeta);
        Self { places, offset, zeta, eta, alpha: 1.0 / (1.0 - theta), second, random: addresses(seeds) }
    }

    pub(super) fn draw(&mut self) -> u64 {
        let uniform = self.random.next() as f64 / f64::from(u32::MAX);
        // `uniform` may be 1 here: fio divides by the largest value in these two laws, and by one more everywhere else.
        let scaled = uniform * self.zeta;
        let rank = if scaled < 1.0 {
            0
        } else if scaled < self.second {
            1
        } else {
            let share = (self.eta * uniform - self.eta + 1.0).powf(self.alpha);
            (self.places as f64 * share) as u64
        };
        hash(rank).wrapping_add(self.offset) % self.places
    }
}

/// The Pareto law, the ranks spread by a hash: share `h` of the places takes 1 - `h` of the accesses.
#[derive(Clone, Debug)]
pub(super) struct FioPareto {
    places: u64,
    offset: u64,
    power: f64,
    random: TauswortheRng,
}

impl FioPareto {
    pub(super) fn new(places: u64, h: f64, centre: Option<f64>, seeds: &JobSeeds) -> Self {
        let offset = centre_offset(places, centre, seeds);
        // u^power stays below h with probability h^(1 / power) = 1 - h.
        Self { places, offset, power: h.ln() / (1.0 - h).ln(), random: addresses(seeds) }
    }

    pub(super) fn draw(&mut self) -> u64 {
        let uniform = self.random.next() as f64 / f64::from(u32::MAX);
        let rank = ((self.places - 1) as f64 * uniform.powf(self.power)) as u64;
        hash(rank).wrapping_add(self.offset) % self.places
    }
}

/// fio's normal law: the mean of twelve uniform draws, moved at random within a deviation, spread by a hash.
#[derive(Clone, Debug)]
pub(super) struct FioNormal {
    places: u64,
    offset: u64,
    deviation: u64,
    random: TauswortheRng,
}

impl FioNormal {
    pub(super) fn new(places: u64, percent: f64, centre: Option<f64>, seed: u64) -> Self {
        let deviation = ((places as f64 * percent / 100.0).ceil() as u64).min(places / 2);
        // Below the middle fio's offset wraps around 2^64.
        let offset = centre.map_or(0, |centre| (places as f64 * (centre - 0.5)) as i64 as u64);
        Self { places, offset, deviation, random: TauswortheRng::new(seed, false) }
    }

    pub(super) fn draw(&mut self) -> u64 {
        // The mean of twelve draws deviates by 1/12 of the region: each draw's variance is 1/12, and of the mean a twelfth of that.
        let sum: u64 = (0..DRAWS).map(|_| self.random.next() % (self.places + 1)).sum();
        let mut place = sum.div_ceil(DRAWS);
        if self.deviation != 0 {
            let drawn = (self.deviation as f64 * (self.random.next() as f64 / self.random.span())) as i64;
            let mut shift = drawn - (self.deviation / 2).cast_signed();
            // fio halves the shift until it stays within the region; below 0 it wraps, and so counts as outside.
            while place.wrapping_add_signed(shift) >= self.places {
                if shift == 0 {
                    break;
                }
                shift /= 2;
            }
            place = place.wrapping_add_signed(shift);
        }
        hash(place).wrapping_add(self.offset) % self.places
    }
}

/// One zone of a zoned law: accesses in percent, and its share of the region in percent or its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessZone {
    pub(super) access: u32,
    pub(super) size: u64,
}

/// Start and end of the zone of each percent of the accesses, in percent of the region or in bytes.
#[derive(Clone, Debug)]
pub(super) struct ZoneTable {
    table: Vec<(u64, u64)>,
    bytes: bool,
}

impl ZoneTable {
    pub(super) fn new(zones: &[AccessZone], bytes: bool) -> Self {
        let mut table = Vec::new();
        let mut begin = 0;
        for zone in zones {
            // An entry for each percent of the accesses, so that a draw of 1 to 100 finds its zone by index.
            table.extend(std::iter::repeat_n((begin, begin + zone.size), zone.access as usize));
            begin += zone.size;
        }
        Self { table, bytes }
    }

    /// First block and number of blocks of the zone of this percent (1 to 100), in a region of `blocks` blocks of `block` bytes.
    /// `None` beyond the region.
    pub(super) fn blocks_of(&self, percent: u32, blocks: u64, block: u64) -> Option<(u64, u64)> {
        let &(begin, end) = self.table.get(percent as usize - 1)?;
        let (first, past) = if self.bytes {
            (begin / block, end / block)
        } else {
            return Some((begin * blocks / 100, blocks * (end - begin) / 100));
        };
        (past <= blocks).then_some((first, past - first))
    }
}

/// The law of random blocks, with its state.
#[derive(Clone, Debug)]
pub(super) enum BlockLaw {
    Uniform,
    Zipf(FioZipf),
    Pareto(FioPareto),
    Normal(FioNormal),
    Zoned([ZoneTable; 3]),
}

impl BlockLaw {
    /// The law that a job asked for, over its region.
    pub(super) fn new(spec: LawSpec, access: &AccessPlan, seeds: &JobSeeds) -> Self {
        // As fio: the smaller block of reads and writes, also for trims.
        let places = access.length.div_ceil(access.sizes[0].least.min(access.sizes[1].least)).max(1);
        match spec {
            LawSpec::Uniform => Self::Uniform,
            LawSpec::Zipf { theta, centre } => Self::Zipf(FioZipf::new(places, theta, centre, seeds)),
            LawSpec::Pareto { h, centre } => Self::Pareto(FioPareto::new(places, h, centre, seeds)),
            LawSpec::Normal { percent, centre } => {
                Self::Normal(FioNormal::new(places, percent, centre, seeds.of(RandomStream::Block)))
            }
            LawSpec::Zoned(zones, bytes) => Self::Zoned(zones.map(|zones| ZoneTable::new(&zones, bytes))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeta_function_is_the_sum_of_its_terms() {
        for theta in [0.3, 0.99, 1.2, 2.5] {
            let sum: f64 = (1..=200_000).map(|i| f64::from(i).powf(-theta)).sum();
            assert!((zeta(200_000, theta) / sum - 1.0).abs() < 1e-11, "{theta}");
        }
    }

    #[test]
    fn every_law_stays_within_its_places() {
        let seeds = JobSeeds::new(5, 1, true, false, 0);
        for places in [1, 2, 3, 1000] {
            let mut zipf = FioZipf::new(places, 1.2, None, &seeds);
            let mut pareto = FioPareto::new(places, 0.2, Some(0.7), &seeds);
            let mut normal = FioNormal::new(places, 10.0, Some(0.25), 5);
            for _ in 0..1000 {
                assert!(zipf.draw() < places && pareto.draw() < places && normal.draw() < places);
            }
        }
    }
}

//! Laws of addresses. They draw places: steps of the alignment grid, counted from the start of the region.

use super::permutation::PlacePermutation;
use super::zipf::ZipfRanks;
use outlast_device::Op;
use outlast_units::rng::SplitMix;

/// 2^63 times a probability: compared with 63 random bits, 0 never happens and 1 always does.
pub(crate) fn threshold(probability: f64) -> u64 {
    ((probability * 2f64.powi(63)) as u64).min(1 << 63)
}

/// A size of request, with the places that the region and the alignment leave for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSize {
    /// Length in sectors; at least 1.
    pub(crate) sectors: u32,
    /// Places at which it fits into the region; at least 1.
    pub(crate) places: u64,
    /// Places that a request covers, rounded up.
    pub(crate) step: u64,
}

impl RequestSize {
    /// A request of `sectors` in a region of `region` sectors, at multiples of `align` sectors; `None` if it does not fit.
    pub(crate) fn new(sectors: u32, region: u64, align: u64) -> Option<Self> {
        let spare = region.checked_sub(u64::from(sectors))?;
        Some(Self { sectors, places: spare / align + 1, step: u64::from(sectors).div_ceil(align) })
    }
}

/// Draws places by a law of addresses.
pub(crate) trait PlaceLaw {
    /// The next place for a request of `size`, always below `size.places`, and true if it lies in the hottest zone.
    fn draw(&mut self, rng: &mut SplitMix, size: &RequestSize, op: Op) -> (u64, bool);
}

/// The law of a phase; the generator's loop is compiled once for each variant.
#[derive(Clone, Debug)]
pub(crate) enum AddressLaw {
    Sequential(SequentialWalk),
    Uniform(UniformDraw),
    Zipf(ZipfRanks, Option<PlacePermutation>),
    Zones(HotZones),
}

/// One place after another, from the start again at the end of the region. Each request advances by its own size.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequentialWalk {
    next: u64,
    /// 2^63 times the share of requests that jump to a random place, from which the walk continues.
    random: u64,
}

impl SequentialWalk {
    /// A walk of which this share of the requests, 0 to 1, jump to a random place and continue from there.
    pub(crate) fn with_jumps(share: f64) -> Self {
        Self { random: threshold(share), ..Self::default() }
    }
}

/// Every place equally likely. A permutation of the places would change nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniformDraw;

/// Zones of the region, each with its share of the accesses, uniform within.
#[derive(Clone, Debug)]
pub(crate) struct HotZones {
    zones: Vec<HotZone>,
    scramble: Option<PlacePermutation>,
}

#[derive(Clone, Copy, Debug)]
struct HotZone {
    /// 2^63 times the share of accesses up to and including this zone.
    until: u64,
    first: u64,
    places: u64,
}

impl HotZones {
    /// Zones over `places` from (share of accesses, share of places); shares of each kind are scaled to add up to 1.
    /// Every zone gets at least one place as long as there are as many places as zones.
    pub(crate) fn new(places: u64, shares: &[(f64, f64)], scramble: Option<PlacePermutation>) -> Self {
        // Boundaries come from cumulated shares, so that rounding to whole places does not add up.
        let total: f64 = shares.iter().map(|s| s.0).sum();
        let span: f64 = shares.iter().map(|s| s.1).sum();
        let mut zones = Vec::with_capacity(shares.len());
        let (mut access, mut extent, mut first) = (0.0, 0.0, 0u64);
        for (index, share) in shares.iter().enumerate() {
            access += share.0 / total;
            extent += share.1 / span;
            let zones_after = (shares.len() - index - 1) as u64;
            let last_zone = zones_after == 0;
            let end = if last_zone { places } else { (places as f64 * extent).round() as u64 };
            // At least one place for this zone, and one for each after it; with fewer places than zones the last ones overlap.
            let least = (first + 1).min(places);
            let end = end.clamp(least, places.saturating_sub(zones_after).max(least));
            let until = if last_zone { 1 << 63 } else { threshold(access) };
            let zone = HotZone { until, first: first.min(places - 1), places: (end - first).max(1) };
            zones.push(zone);
            first = end;
        }
        Self { zones, scramble }
    }
}

impl PlaceLaw for SequentialWalk {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &RequestSize, _: Op) -> (u64, bool) {
        if self.random != 0 && rng.next_u64() >> 1 < self.random {
            self.next = rng.below(size.places);
        }
        // Where a request of this size no longer fits, the walk starts again.
        let place = if self.next < size.places { self.next } else { 0 };
        self.next = place + size.step;
        (place, false)
    }
}

impl PlaceLaw for UniformDraw {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &RequestSize, _: Op) -> (u64, bool) {
        (rng.below(size.places), false)
    }
}

impl PlaceLaw for (&ZipfRanks, &Option<PlacePermutation>) {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &RequestSize, _: Op) -> (u64, bool) {
        // The law counts places at which one sector fits; a longer request is pushed back to the last place that holds it.
        let rank = self.0.draw(rng);
        (self.1.as_ref().map_or(rank, |s| s.of(rank)).min(size.places - 1), false)
    }
}

impl PlaceLaw for HotZones {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &RequestSize, _: Op) -> (u64, bool) {
        let variate = rng.next_u64() >> 1;
        // Counting the zones passed keeps the choice free of branches that no predictor learns.
        let last = self.zones.len() - 1;
        let index: usize = self.zones[..last].iter().map(|zone| usize::from(variate >= zone.until)).sum();
        let zone = self.zones[index];
        let place = zone.first + rng.below(zone.places);
        (self.scramble.as_ref().map_or(place, |s| s.of(place)).min(size.places - 1), index == 0)
    }
}

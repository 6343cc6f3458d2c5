//! Which place comes next. A place is one step of the alignment grid, counted from the start of the region.

use super::scramble::Scramble;
use super::zipf::Zipf;
use outlast_device::Op;
use outlast_units::rng::SplitMix;

/// 2^63 times a probability: compared with 63 random bits, 0 never happens and 1 always does.
pub(crate) fn threshold(probability: f64) -> u64 {
    ((probability * 2f64.powi(63)) as u64).min(1 << 63)
}

/// One size of request and what the region and the alignment make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Length in sectors; at least 1.
    pub(crate) sectors: u32,
    /// Places at which it fits into the region; at least 1.
    pub(crate) places: u64,
    /// Places that it covers, rounded up.
    pub(crate) step: u64,
}

impl Size {
    /// A request of `sectors` in a region of `region` sectors, at multiples of `align` sectors; `None` if it does not fit.
    pub(crate) fn new(sectors: u32, region: u64, align: u64) -> Option<Self> {
        let spare = region.checked_sub(u64::from(sectors))?;
        Some(Self { sectors, places: spare / align + 1, step: u64::from(sectors).div_ceil(align) })
    }
}

/// A law of addresses.
pub(crate) trait Draw {
    /// The next place for a request of `size`, always below `size.places`, and whether it lies in the hottest zone.
    fn draw(&mut self, rng: &mut SplitMix, size: &Size, op: Op) -> (u64, bool);
}

/// One of the laws of addresses; the generator's loop is compiled once for each.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Sequential(Sequential),
    Uniform(Uniform),
    Zipf(Zipf, Option<Scramble>),
    Zones(Zones),
}

/// One after another. Sizes and alignment decide the steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequential {
    next: u64,
    /// 2^63 times the share of requests that go to a random place, and the stream with them.
    random: u64,
}

impl Sequential {
    /// With a share of requests that go elsewhere, the stream with them.
    pub(crate) fn with_jumps(share: f64) -> Self {
        Self { random: threshold(share), ..Self::default() }
    }
}

/// Every place equally likely. (To scramble this changes nothing.)
#[derive(Clone, Debug, Default)]
pub(crate) struct Uniform;

/// Zones of the region, each with its share of the accesses, uniform within.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    zones: Vec<Zone>,
    scramble: Option<Scramble>,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    /// 2^63 times the share of accesses up to and including this zone.
    until: u64,
    first: u64,
    places: u64,
}

impl Zones {
    /// Zones over `places` from (share of accesses, share of places); shares of each kind are scaled to add up to 1.
    /// Every zone gets at least one place as long as there are as many places as zones.
    pub(crate) fn new(places: u64, shares: &[(f64, f64)], scramble: Option<Scramble>) -> Self {
        let total: f64 = shares.iter().map(|s| s.0).sum();
        let span: f64 = shares.iter().map(|s| s.1).sum();
        let mut zones = Vec::with_capacity(shares.len());
        let (mut access, mut extent, mut first) = (0.0, 0.0, 0u64);
        for (index, share) in shares.iter().enumerate() {
            access += share.0 / total;
            extent += share.1 / span;
            let rest = (shares.len() - index - 1) as u64;
            let last_zone = rest == 0;
            let end = if last_zone { places } else { (places as f64 * extent).round() as u64 };
            let end =
                end.clamp((first + 1).min(places), places.saturating_sub(rest).max((first + 1).min(places)));
            let until = if last_zone { 1 << 63 } else { threshold(access) };
            let zone = Zone { until, first: first.min(places - 1), places: (end - first).max(1) };
            zones.push(zone);
            first = end;
        }
        Self { zones, scramble }
    }
}

impl Draw for Sequential {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &Size, _: Op) -> (u64, bool) {
        if self.random != 0 && rng.next_u64() >> 1 < self.random {
            self.next = rng.below(size.places);
        }
        let place = if self.next < size.places { self.next } else { 0 };
        self.next = place + size.step;
        (place, false)
    }
}

impl Draw for Uniform {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &Size, _: Op) -> (u64, bool) {
        (rng.below(size.places), false)
    }
}

impl Draw for (&Zipf, &Option<Scramble>) {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &Size, _: Op) -> (u64, bool) {
        let rank = self.0.draw(rng);
        (self.1.as_ref().map_or(rank, |s| s.of(rank)).min(size.places - 1), false)
    }
}

impl Draw for Zones {
    #[inline]
    fn draw(&mut self, rng: &mut SplitMix, size: &Size, _: Op) -> (u64, bool) {
        let variate = rng.next_u64() >> 1;
        // Counting the zones passed keeps the choice free of branches that no predictor learns.
        let last = self.zones.len() - 1;
        let index: usize = self.zones[..last].iter().map(|zone| usize::from(variate >= zone.until)).sum();
        let zone = self.zones[index];
        let place = zone.first + rng.below(zone.places);
        (self.scramble.as_ref().map_or(place, |s| s.of(place)).min(size.places - 1), index == 0)
    }
}

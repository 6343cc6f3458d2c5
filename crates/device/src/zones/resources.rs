//! Resources that zones take: how many may be open, be active and have a random write area, in all or in each namespace, and how many are.

use super::{ZoneId, ZoneLimits};

/// Share of a device's `limit` that each of `namespaces` namespaces has: they share equally, so that none takes what another was promised.
pub fn share_of(limit: u32, namespaces: u32) -> u32 {
    limit / namespaces.max(1)
}

/// Limits of the zones up to an end, from that of the limits before on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(super) struct ZoneShare {
    /// The number after that of the last zone.
    end: u32,
    pub(super) limits: ZoneLimits,
    /// Most zones that have a random write area.
    pub(super) areas: u32,
}

/// Resources that the zones of a share take.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct TakenShare {
    /// Zones that are open, in no order.
    pub(super) open: Vec<ZoneId>,
    pub(super) active: u32,
    /// Zones that have a random write area.
    pub(super) areas: u32,
}

/// Shares of a device's resources in the order of their zones, one at least, and what is taken of each.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct ZoneResources {
    #[persist(fixed)]
    shares: Vec<ZoneShare>,
    taken: Vec<TakenShare>,
}

impl ZoneResources {
    /// One share, which `zones` zones have.
    pub(super) fn whole(zones: u32, limits: ZoneLimits) -> Self {
        Self { shares: vec![ZoneShare { end: zones, limits, areas: 0 }], taken: vec![TakenShare::default()] }
    }

    /// At most `areas` of all zones have a random write area. Before the zones are shared.
    pub(super) fn with_areas(mut self, areas: u32) -> Self {
        self.shares.iter_mut().for_each(|share| share.areas = areas);
        self
    }

    /// The resources, of which nothing is taken, by namespaces of `zones` zones each; zones behind them have what does not divide equally.
    pub(super) fn shared(&self, zones: &[u32]) -> Self {
        let (Some(&whole), namespaces @ 2..) = (self.shares.first(), zones.len() as u32) else {
            return self.clone();
        };
        let ends = zones.iter().scan(0_u32, |end, zones| {
            *end = end.saturating_add(*zones).min(whole.end);
            Some(*end)
        });
        let share = |limit| share_of(limit, namespaces);
        let rest = |limit: u32| limit - share(limit) * namespaces;
        let of = |end, part: &dyn Fn(u32) -> u32| ZoneShare {
            end,
            limits: ZoneLimits { open: part(whole.limits.open), active: part(whole.limits.active) },
            areas: part(whole.areas),
        };
        let mut shares: Vec<ZoneShare> = ends.map(|end| of(end, &share)).collect();
        shares.push(of(whole.end, &rest));
        Self { taken: vec![TakenShare::default(); shares.len()], shares }
    }

    /// The share that `zone` has.
    #[inline]
    fn place(&self, zone: ZoneId) -> usize {
        self.shares.partition_point(|share| share.end <= zone.0)
    }

    /// The limits of the share of `zone`, and what is taken of it.
    #[inline]
    pub(super) fn of(&self, zone: ZoneId) -> (&ZoneShare, &TakenShare) {
        let place = self.place(zone);
        (&self.shares[place], &self.taken[place])
    }

    /// Resources taken of the share of `zone`.
    #[inline]
    pub(super) fn taken(&mut self, zone: ZoneId) -> &mut TakenShare {
        let place = self.place(zone);
        &mut self.taken[place]
    }

    /// Resources taken of each share.
    pub(super) fn all(&self) -> &[TakenShare] {
        &self.taken
    }

    /// Frees all that is taken.
    pub(super) fn clear(&mut self) {
        self.taken.iter_mut().for_each(|taken| *taken = TakenShare::default());
    }

    /// Checks what is taken against what `zones` says of all `count` zones: if each is open, is active and has an area.
    ///
    /// # Errors
    /// The first that is wrong, in words.
    pub(super) fn check(
        &self,
        count: u32,
        zones: impl Iterator<Item = (ZoneId, (bool, bool, bool))>,
    ) -> Result<(), String> {
        if self.taken.len() != self.shares.len() || self.shares.last().is_none_or(|last| last.end != count) {
            return Err(format!("{} shares of zones of {}", self.taken.len(), self.shares.len()));
        }
        let mut counts = vec![(0, 0, 0); self.shares.len()];
        for (zone, (is_open, is_active, has_area)) in zones {
            let place = self.place(zone);
            let count = &mut counts[place];
            let is_listed = is_open && self.taken[place].open.contains(&zone);
            *count = (
                count.0 + u32::from(is_listed),
                count.1 + u32::from(is_active),
                count.2 + u32::from(has_area),
            );
            if is_open != is_listed {
                return Err(format!("zone {} is open, and not listed", zone.0));
            }
        }
        for ((share, taken), (open, active, areas)) in self.shares.iter().zip(&self.taken).zip(counts) {
            let listed = taken.open.len() as u64;
            if listed != u64::from(open) || open > share.limits.open {
                return Err(format!("{open} zones are open, {listed} are listed"));
            }
            if active != taken.active || active > share.limits.active {
                return Err(format!("{active} zones are active, {} are counted", taken.active));
            }
            if areas != taken.areas || areas > share.areas {
                return Err(format!("{areas} zones have a random write area, {} are counted", taken.areas));
            }
        }
        Ok(())
    }
}

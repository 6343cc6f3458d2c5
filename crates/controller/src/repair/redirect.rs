//! Which units of a core with failed dies live in other cores: section 5.2.2 of Reparo.
//!
//! The units of core `v` are numbered `j` = 0, 1, …; unit `u` of the drive is number `u / N` of core `u mod N`. `D − 1` consecutive
//! ones form a *redirection unit*, where `D` is how many dies the drive had at first. Of each, a failure of a die of `v` takes a *window*
//! of `N` places: the first failure places 0 to N − 1, the next one the N places after them, and so on. The unit at the `i`-th place of
//! a window goes to core `i`, except for `i = v`, which stays. It lives there in the core's *extension* (the paper's `LS_redirect`), local
//! numbers after the core's own and after what else it keeps: each window of each victim is a *layer*, numbered densely, one unit for each redirection unit.
//!
//! So where a unit lives follows from a division and an entry of a table whose size is the number of cores times that of failures; no
//! unit has an entry of its own. Units that a core has taken over stay when it becomes a victim itself: only its own ones are
//! redirected, as `D` stays what it was at first. Both errors are of second order (see `space.rs` and decision 0017).

use outlast_units::{CoreId, IndexVec, Lpn};

/// One failure's share of one helper: part of its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
struct Layer {
    /// Its first local number.
    first: u32,
    victim: CoreId,
    window: u32,
}

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct Redirection {
    cores: u32,
    /// Length of a redirection unit, D − 1.
    period: u32,
    /// Windows that fit into a redirection unit.
    windows: u32,
    /// Units of each core when all dies worked.
    own: IndexVec<CoreId, u32>,
    /// Local numbers of each core that are no unit of the host, after its own ones.
    beside: IndexVec<CoreId, u32>,
    /// Windows taken, by victim.
    taken: IndexVec<CoreId, u32>,
    /// First local number of each layer, by victim, window and helper.
    base: Vec<u32>,
    /// The layers of each helper, in order of their numbers.
    layers: IndexVec<CoreId, Vec<Layer>>,
    /// Local numbers of each core, its extension included.
    end: IndexVec<CoreId, u32>,
}

impl Redirection {
    /// Of a drive with `units` units and `dies` dies, none of which has failed. After its own units a core has as many other numbers as `beside`
    /// says.
    ///
    /// # Panics
    /// If there is no flash core.
    pub fn new(units: u64, cores: u32, dies: u32, beside: impl Fn(CoreId) -> u32) -> Self {
        assert!(cores != 0, "a drive has a flash core");
        let count = cores as usize;
        let own = |core: u64| units / u64::from(cores) + u64::from(core < units % u64::from(cores));
        let own: IndexVec<CoreId, u32> = (0..u64::from(cores)).map(|core| own(core) as u32).collect();
        let period = dies.saturating_sub(1).max(1);
        let windows = if cores < 2 { 0 } else { period / cores };
        Self {
            cores,
            period,
            windows,
            end: own.iter_indexed().map(|(core, own)| own + beside(core)).collect(),
            beside: own.indices().map(beside).collect(),
            own,
            taken: IndexVec::filled(0, count),
            base: vec![0; count * windows as usize * count],
            layers: IndexVec::filled(Vec::new(), count),
        }
    }

    /// A die of core `victim` has failed: the next window of its units goes to the others. False, and nothing changed, where there is
    /// no window left or a number would not fit.
    pub fn take_window(&mut self, victim: CoreId) -> bool {
        let window = self.taken[victim];
        if window == self.windows {
            return false;
        }
        let fits = |helper: CoreId| {
            let more = self.places(victim, window, helper);
            self.end[helper].checked_add(more).is_some_and(|end| end < u32::MAX - 1)
        };
        if !self.others(victim).all(fits) {
            return false;
        }
        for helper in self.others(victim) {
            let first = self.end[helper];
            let at = self.entry(victim, window, helper);
            self.base[at] = first;
            self.layers[helper].push(Layer { first, victim, window });
            self.end[helper] += self.places(victim, window, helper);
        }
        self.taken[victim] += 1;
        debug_assert!(
            self.end.indices().map(|core| self.logical(core)).sum::<u64>()
                == self.own.iter().map(|&own| u64::from(own)).sum::<u64>(),
            "every unit has one home"
        );
        true
    }

    /// All cores but one.
    fn others(&self, core: CoreId) -> impl Iterator<Item = CoreId> + use<> {
        self.end.indices().filter(move |&other| other != core)
    }

    /// Units of `victim` that `window` sends to `helper`: those with numbers `j < own` and `j mod period = window · cores + helper`.
    fn places(&self, victim: CoreId, window: u32, helper: CoreId) -> u32 {
        self.own[victim].saturating_sub(window * self.cores + u32::from(helper.0)).div_ceil(self.period)
    }

    fn entry(&self, victim: CoreId, window: u32, helper: CoreId) -> usize {
        ((u32::from(victim.0) * self.windows + window) * self.cores + u32::from(helper.0)) as usize
    }

    /// The core that holds number `number` of core `core`'s own, and its number there; `None` where it is still that core itself.
    #[inline]
    pub fn home(&self, core: CoreId, Lpn(number): Lpn) -> Option<(CoreId, Lpn)> {
        debug_assert!(number < self.own[core], "core {core} never had unit {number}");
        let (p, place) = (number / self.period, number % self.period);
        let (window, helper) = (place / self.cores, CoreId((place % self.cores) as u16));
        if window >= self.taken[core] || helper == core {
            return None;
        }
        Some((helper, Lpn(self.base[self.entry(core, window, helper)] + p)))
    }

    /// Whose unit core `core` holds under local number `local`, and its number there: of its own ones, itself.
    pub(crate) fn origin(&self, core: CoreId, local: Lpn) -> (CoreId, Lpn) {
        if local.0 < self.own[core] {
            return (core, local);
        }
        debug_assert!(local.0 >= self.own[core] + self.beside[core], "core {core} keeps no unit as {local}");
        debug_assert!(local.0 < self.end[core], "core {core} holds no unit {local}");
        let layers = &self.layers[core];
        let after = layers.partition_point(|layer| layer.first <= local.0);
        let layer = layers[after - 1];
        let p = local.0 - layer.first;
        (layer.victim, Lpn(p * self.period + layer.window * self.cores + u32::from(core.0)))
    }

    /// Local numbers of core `core`, its extension included.
    pub fn end(&self, core: CoreId) -> u32 {
        self.end[core]
    }

    /// Units that core `core` is to hold: its own ones without those redirected away, and those redirected to it.
    pub fn logical(&self, core: CoreId) -> u64 {
        let away: u64 = self
            .others(core)
            .flat_map(|helper| (0..self.taken[core]).map(move |window| (window, helper)))
            .map(|(window, helper)| u64::from(self.places(core, window, helper)))
            .sum();
        u64::from(self.end[core] - self.beside[core]) - away
    }

    /// The numbers of core `victim`'s units that live elsewhere, from the `from`-th redirection unit on, with their places; in the order
    /// of the host's addresses.
    pub fn redirected(&self, victim: CoreId, from: u32) -> impl Iterator<Item = Lpn> {
        let (period, cores, own) = (self.period, self.cores, self.own[victim]);
        let places = self.taken[victim] * cores;
        let units = own.div_ceil(period);
        (from..units)
            .flat_map(move |p| (0..places).map(move |place| (p, place)))
            .filter(move |&(_, place)| place % cores != u32::from(victim.0))
            .map(move |(p, place)| u64::from(p) * u64::from(period) + u64::from(place))
            .filter(move |&number| number < u64::from(own))
            .map(|number| Lpn(number as u32))
    }

    /// Redirection units that begin before number `number`.
    pub fn unit_of(&self, number: Lpn) -> u32 {
        number.0 / self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn figure_8() {
        // Four cores, 16 dies, 60 units; a die of core 3 fails.
        let mut redirection = Redirection::new(60, 4, 16, |_| 0);
        assert!(redirection.take_window(CoreId(3)));
        let moved: Vec<(u64, u64)> = (0..60u64)
            .filter_map(|unit| {
                let (core, local) = redirection.home(CoreId((unit % 4) as u16), Lpn((unit / 4) as u32))?;
                Some((unit, u64::from(local.0) * 4 + u64::from(core.0)))
            })
            .collect();
        assert_eq!(moved, [(3, 60), (7, 61), (11, 62)]);
        assert_eq!([0, 1, 2, 3].map(|core| redirection.logical(CoreId(core))), [16, 16, 16, 12]);
    }

    /// Every unit has one home, no place is used twice, and the way back leads back.
    fn check(redirection: &Redirection, units: u64) {
        let cores = u64::from(redirection.cores);
        let mut seen = BTreeSet::new();
        let mut held: IndexVec<CoreId, u64> = IndexVec::filled(0, cores as usize);
        for unit in 0..units {
            let own = (CoreId((unit % cores) as u16), Lpn((unit / cores) as u32));
            let home = redirection.home(own.0, own.1).unwrap_or(own);
            assert!(home.1.0 < redirection.end(home.0), "{unit} lives at {home:?}");
            assert!(seen.insert(home), "{home:?} holds two units");
            assert_eq!(redirection.origin(home.0, home.1), own);
            held[home.0] += 1;
        }
        for (core, &held) in held.iter_indexed() {
            assert_eq!(redirection.logical(core), held, "units of core {core}");
            // Densely numbered: all of the extension is in use, and it begins after what the core keeps beside.
            let first = redirection.own[core] + redirection.beside[core];
            assert_eq!(seen.range((core, Lpn(redirection.own[core]))..(core, Lpn(first))).count(), 0);
            let extension = seen.range((core, Lpn(first))..=(core, Lpn::NONE)).count();
            assert_eq!(extension as u32, redirection.end(core) - first);
            let away: Vec<Lpn> = redirection.redirected(core, 0).collect();
            let expected: Vec<Lpn> = Lpn::each(Lpn(0)..Lpn(redirection.own[core]))
                .filter(|&number| redirection.home(core, number).is_some())
                .collect();
            assert_eq!(away, expected);
        }
    }

    proptest! {
        #[test]
        fn every_unit_has_one_home(
            cores in 1u32..7, dies in 1u32..40, units in 0u64..3000, victims in prop::collection::vec(0u16..7, 0..20),
        ) {
            let mut redirection = Redirection::new(units, cores, dies, |core| u32::from(core.0) * 3);
            check(&redirection, units);
            for victim in victims {
                let victim = CoreId(victim % cores as u16);
                let before = redirection.clone();
                let windows = if cores < 2 { 0 } else { dies.max(2) - 1 } / cores;
                prop_assert_eq!(redirection.take_window(victim), before.taken[victim] < windows);
                check(&redirection, units);
                // What lives elsewhere stays where it is.
                for core in (0..cores as u16).map(CoreId) {
                    for number in before.redirected(core, 0) {
                        prop_assert_eq!(before.home(core, number), redirection.home(core, number));
                    }
                }
            }
        }
    }

    #[test]
    fn all_dies_of_a_core_but_one_may_fail() {
        // D − 1 places always have room for as many windows, also where the cores have dies of different number.
        for cores in 2..8u32 {
            for dies in 2 * cores..50 {
                let mut redirection = Redirection::new(100_000, cores, dies, |_| 0);
                for failure in 1..dies.div_ceil(cores) {
                    assert!(
                        redirection.take_window(CoreId(0)),
                        "{cores} cores, {dies} dies, failure {failure}"
                    );
                }
            }
        }
    }
}

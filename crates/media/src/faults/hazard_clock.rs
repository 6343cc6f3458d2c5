//! Times and places of random hardware faults.

use super::hazard::{AgeFactor, HazardConfig, HazardKind};
use super::{DieDamage, DriveFault};
use crate::Geometry;
use crate::reliability::open_unit;
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;

/// Draws when and where a drive breaks next.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct HazardClock {
    geometry: Geometry,
    ageing: AgeCurve,
    processes: Vec<HazardProcess>,
}

/// Rates by age of the drive, as multiples of the yearly rates; no factors: 1 at any age.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct AgeCurve {
    factors: Vec<AgeFactor>,
    /// Age of the drive at time zero.
    age: Nanos,
}

/// The Poisson process of one kind.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct HazardProcess {
    kind: HazardKind,
    mean_gap_ns: f64,
    next: Nanos,
    rng: SplitMix,
}

impl HazardClock {
    /// Clock of a drive from time `start` on, with the rates of a validated `config`.
    pub fn new(config: &HazardConfig, geometry: &Geometry, start: Nanos, seed: u64) -> Self {
        let year_ns = Nanos::secs(365 * 86_400).0 as f64;
        let ageing = AgeCurve { factors: config.by_age.clone(), age: config.age };
        let rates = config.rates().into_iter().filter(|&(_, rate)| rate > 0.0);
        let processes = rates
            .map(|(kind, rate)| {
                let rng = SplitMix::new(seed, kind.stream());
                let mut process = HazardProcess { kind, mean_gap_ns: year_ns / rate, next: start, rng };
                process.advance(&ageing);
                process
            })
            .collect();
        Self { geometry: geometry.clone(), ageing, processes }
    }

    /// When something breaks next; [`Nanos::MAX`]: never.
    pub fn next(&self) -> Nanos {
        self.processes.iter().map(|process| process.next).min().unwrap_or(Nanos::MAX)
    }

    /// Draws the fault at [`HazardClock::next`], and advances the clock to the one after.
    ///
    /// # Panics
    /// If nothing ever breaks: `next` was `Nanos::MAX`.
    pub fn draw(&mut self) -> DriveFault {
        let earliest = self.processes.iter_mut().min_by_key(|process| process.next);
        let process = earliest.filter(|process| process.next < Nanos::MAX).expect("nothing ever breaks");
        let fault = process.place(&self.geometry);
        process.advance(&self.ageing);
        fault
    }
}

impl AgeCurve {
    /// Time at which the rates since `from` add up to `gap_ns` nanoseconds at a factor of 1: the next event of a Poisson process whose rate
    /// changes with age, by inversion.
    fn after(&self, from: Nanos, gap_ns: f64) -> Nanos {
        if self.factors.is_empty() {
            return Nanos(from.0.saturating_add(gap_ns as u64));
        }
        let (mut left, mut age) = (gap_ns, from.0.saturating_add(self.age.0));
        for (index, own) in self.factors.iter().enumerate() {
            let end = self.factors.get(index + 1).map_or(u64::MAX, |next| next.from.0);
            if age >= end {
                continue;
            }
            let span = (end - age) as f64;
            if own.factor > 0.0 && left <= span * own.factor {
                let at = age.saturating_add((left / own.factor) as u64);
                return if at == u64::MAX { Nanos::MAX } else { Nanos(at - self.age.0) };
            }
            left -= span * own.factor;
            age = end;
        }
        Nanos::MAX
    }
}

impl HazardProcess {
    /// Advances to the next event by an exponential gap; a time that overflows is never.
    fn advance(&mut self, ageing: &AgeCurve) {
        let gap_ns = -open_unit(self.rng.next_u64()).ln() * self.mean_gap_ns;
        self.next = ageing.after(self.next, gap_ns);
    }

    fn place(&mut self, geometry: &Geometry) -> DriveFault {
        let mut below = |count: u32| self.rng.below(u64::from(count)) as u32;
        let die = below(u32::from(geometry.dies())) as u16;
        let plane = below(u32::from(geometry.planes_per_die)) as u16;
        let block = below(geometry.blocks_per_plane);
        let page = below(geometry.pages_per_block);
        let damage = match self.kind {
            HazardKind::Page => DieDamage::Page { plane, block, page },
            HazardKind::Wordline => DieDamage::Wordline { plane, block, page },
            HazardKind::Block => DieDamage::Block { plane, block },
            HazardKind::Plane => DieDamage::Plane { plane },
            HazardKind::Die => DieDamage::Die,
            HazardKind::Chip => {
                return DriveFault { die: die - die % geometry.dies_per_chip, damage: DieDamage::Chip };
            }
        };
        DriveFault { die, damage }
    }
}

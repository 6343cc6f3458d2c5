//! Totals that a drive has counted, and memory that it takes up.

use super::handles::PlacementView;
use crate::ssd::Ssd;
use crate::totals::Totals;
use outlast_controller::{CoreCells, Counters, Recent};
use outlast_flash::PerArrayWork;
use outlast_ftl::{Ftl, SlcCacheCounts, SlcCacheFigures, UnitsWritten};
use outlast_settings::drive::WriteCache;
use outlast_units::Nanos;

impl Ssd {
    pub(crate) fn totals(&self) -> Totals {
        let of = |ftl: &Ftl| {
            let figures = ftl.figures();
            Totals {
                written: figures.written,
                coalesced: figures.coalesced,
                programs: figures.pages_programmed,
                multi_plane_programs: figures.multi_plane_programs,
                erases: ftl.space().blocks().erases(),
                untimed_reads: figures.untimed_reads,
                victims: figures.victims,
                victim_units: figures.victim_units,
                cache: ftl.space().slc_cache_counts(),
            }
        };
        self.ftls().map(of).sum()
    }

    /// What the translation layers have counted since the last reset.
    fn since_reset(&self) -> Totals {
        self.totals() - self.at_reset.totals
    }

    /// Counters since the last reset.
    pub fn counters(&self) -> Counters {
        let Totals { coalesced, programs, multi_plane_programs, erases, untimed_reads, .. } =
            self.since_reset();
        let reads = self.context.counters.reads + untimed_reads;
        let suspends = self.context.flash.suspends();
        let coalesced_writes = coalesced;
        Counters {
            coalesced_writes,
            reads,
            programs,
            multi_plane_programs,
            erases,
            suspends,
            ..self.context.counters
        }
    }

    /// Units written since the last reset, by cause; what still waits in the buffer included.
    pub fn written(&self) -> UnitsWritten {
        self.since_reset().written
    }

    /// Counts of the SLC cache since the last reset, and the cache of all cores as it is now; `None` without one.
    pub fn slc_cache(&self) -> Option<(SlcCacheCounts, SlcCacheFigures)> {
        let now: Option<Vec<SlcCacheFigures>> =
            self.ftls().map(|ftl| ftl.space().slc_cache_figures()).collect();
        now.map(|cores| (self.since_reset().cache, cores.into_iter().sum()))
    }

    /// Superblocks relocated since the last reset, and the valid units they held.
    pub fn victims(&self) -> (u64, u64) {
        let Totals { victims, victim_units, .. } = self.since_reset();
        (victims, victim_units)
    }

    /// Starts counting anew. Wear and state stay.
    pub fn reset_counters(&mut self, now: Nanos) {
        self.look_at_heat(now);
        self.at_reset.errors += self.context.counters.medium_errors + self.context.counters.lost_units;
        self.at_reset.reads = self.at_reset.reads + self.context.counters.reads;
        self.at_reset.corrections = self.at_reset.corrections + self.context.corrections();
        self.at_reset.refreshed += self.refreshed();
        for core in &mut self.cores {
            core.reset_counters(now);
        }
        self.at_reset.totals = self.totals();
        self.at_reset.by_core = self.by_core().collect();
        self.at_reset.handles = PlacementView::of(self).totals();
        if let Some(groups) = self.context.homes.as_mut().and_then(|homes| homes.groups_mut()) {
            groups.reset_counts();
        }
        self.context.reset_figures(now);
        if let Some(zones) = &mut self.context.zones {
            zones.reset_counts();
        }
        self.reset_busy(now);
        self.reset_power(now);
    }

    /// The share of `span`, which ends at `now`, for which each channel was busy since the last reset.
    pub fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.context.flash.channel_utilisation(now, span)
    }

    /// The share of `span`, which ends at `now`, for which each die was busy since the last reset.
    pub fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.context.flash.die_utilisation(now, span)
    }

    /// The shares of `span`, which ends at `now`, for which the array of each die programmed and erased since the last reset.
    pub fn die_work(&self, now: Nanos, span: Nanos) -> Vec<PerArrayWork<f64>> {
        self.context.flash.die_work(now, span)
    }

    /// Resident bytes of all tables of the drive when they are built and in use, the bytes of the flash included where it keeps them.
    pub fn bytes_when_built(&self) -> u64 {
        let geometry = &self.context.config.geometry;
        let layers = || self.cores.iter().map(outlast_controller::FlashCore::ftl);
        let tables: u64 = layers().map(|ftl| ftl.bytes_when_built(geometry)).sum();
        let cells: u64 = if let Some(reliability) = &self.context.config.reliability {
            layers().map(|ftl| CoreCells::bytes(&self.context.config, reliability, ftl.layout())).sum()
        } else {
            0
        };
        let heat = self.classifier.as_ref().map_or(0, |own| own.bytes_over(self.context.size.sectors));
        let kept = if self.context.config.bytes {
            self.kept_units() * (self.context.config.ftl.mapping_unit.0 + UNIT_NODE)
        } else {
            0
        };
        let read_cache =
            self.context.config.read_cache_units().map_or(0, Recent::bytes) * self.cores.len() as u64;
        tables + cells + heat + kept + read_cache
    }

    /// Units whose bytes are kept at most: the live ones, or all of the flash where stale ones stay readable.
    fn kept_units(&self) -> u64 {
        let image =
            self.context.config.protection.is_some() || self.context.write_cache() != WriteCache::Protected;
        if image {
            self.cores.iter().map(|core| u64::from(core.ftl().layout().slots())).sum()
        } else {
            self.context.size.units
        }
    }

    /// Resident bytes of the mapping and superblock tables.
    pub fn table_bytes(&self) -> usize {
        self.cores.iter().map(|core| core.ftl().bytes()).sum()
    }
}

/// What keeping a unit's bytes takes beside them: its slot (24), the counts of who holds them (16), and the allocator's.
const UNIT_NODE: u64 = 64;

//! Settings of an SLC cache: superblocks that are programmed with fewer bits a cell than the flash has, and are folded later.

use super::SsdConfig;
use crate::ftl::{GcRelocation, PuShape};
use outlast_media::reliability::RberModel;
use outlast_media::{CellMode, ConfigError, PageTimes, at_most_a_second};
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Most bits of a cell.
const MOST_BITS: u8 = 8;
/// Most that cells of the cache may err, relative to others.
const MOST_ERROR_RATE: f64 = 10.0;

/// An SLC cache. Writes of the host go to superblocks with few bits a cell, which take less time; what is in them is folded later: moved to superblocks
/// with all bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCacheConfig {
    /// Bits of a cell that the cache uses. Default: 1, SLC.
    #[serde(default = "one")]
    pub bits_per_cell: u8,
    /// Bits of a cell outside the cache: 2 (MLC), 3 (TLC), 4 (QLC). Default: the page rows that are programmed in one shot (`ftl.one_shot`), else the page
    /// types for which `timing.program` or `timing.read` has times, else 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_bits_per_cell: Option<u8>,
    /// Bytes of the static cache: its superblocks are used for nothing else. Rounded up to whole superblocks. Default: 0.
    #[serde(default)]
    pub static_size: Bytes,
    /// Share of the free superblocks, and of those that the cache has already, that are lent to the dynamic cache, 0 to 1. 1: the whole drive is a
    /// cache while it is empty. Default: 1 if `dynamic_size` is given, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_share: Option<f64>,
    /// Most bytes of the dynamic cache, rounded to whole superblocks. Default: no bound but `dynamic_share`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_size: Option<Bytes>,
    /// Course of a write of the host when the cache is full. Default: `direct`.
    #[serde(default)]
    pub when_full: WhenFull,
    /// Pause of the host after which the cache is folded until the next command. Seen within a quarter of it. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_after_idle: Option<Nanos>,
    /// Share of the cache, above 0 and up to 1, from which on it is folded while the host writes. Default: only when space is short, or when the host
    /// waits for folding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_from: Option<f64>,
    /// tR of the cache's pages.
    pub read: PageTimes,
    /// tPROG of the cache's pages.
    pub program: PageTimes,
    /// P/E cycles after which a block that was used for the cache is retired. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<u32>,
    /// Raw bit error rate of its cells relative to that of the cells outside it at equal wear, age and reads, above 0 and at most 10: fewer levels lie further
    /// apart. Needs `reliability`. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
}

/// Course of a write of the host when the SLC cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It goes to superblocks with all bits at once.
    #[default]
    Direct,
    /// It waits until a part of the cache has been folded.
    Fold,
}

fn one() -> u8 {
    1
}

impl SlcCacheConfig {
    /// The mode of the cache's superblocks in drive `config`, whose settings have been checked.
    pub fn cell_mode(&self, config: &SsdConfig) -> CellMode {
        CellMode {
            rows: self.rows(config),
            one_shot: 1,
            read: self.read.clone(),
            program: self.program.clone(),
            rber: self.rber(config),
            page_types: None,
            endurance: self.endurance,
        }
    }

    /// Error rates of its cells, where they are set apart from those of the others.
    fn rber(&self, config: &SsdConfig) -> Option<RberModel> {
        let (factor, reliability) = (self.error_rate?, config.reliability.as_ref()?);
        reliability.rber_model().ok().map(|model| model.scaled(factor))
    }

    /// Page rows of a block that hold data in the cache: whole program operations outside it.
    fn rows(&self, config: &SsdConfig) -> u32 {
        let all = config.geometry.pages_per_block * u32::from(self.bits_per_cell);
        let rows = all / u32::from(self.native_bits(config));
        let together = PuShape::of(&config.geometry, &config.ftl).map_or(1, |shape| shape.rows_per_pu);
        rows / together * together
    }

    /// Bits of a cell outside the cache.
    pub fn native_bits(&self, config: &SsdConfig) -> u8 {
        let types = |times: &PageTimes| match times {
            PageTimes::Same(_) => None,
            PageTimes::ByType(times) => u8::try_from(times.len()).ok().filter(|&types| types > 1),
        };
        let by_shot = Some(config.ftl.one_shot).filter(|&rows| rows > 1);
        let by_types = || types(&config.timing.program).or_else(|| types(&config.timing.read));
        self.native_bits_per_cell.or(by_shot).or_else(by_types).unwrap_or(3)
    }

    /// Share of free superblocks that is lent.
    pub fn lent_share(&self) -> f64 {
        self.dynamic_share.unwrap_or(if self.dynamic_size.is_some() { 1.0 } else { 0.0 })
    }

    /// Checks every setting against drive `config`.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub(super) fn validate(&self, config: &SsdConfig) -> Result<(), ConfigError> {
        let native = self.native_bits(config);
        if !(2..=MOST_BITS).contains(&native) {
            let limit = format!("must be between 2 and {MOST_BITS}");
            return Err(ConfigError::new("device.slc_cache.native_bits_per_cell", native, limit));
        }
        if self.bits_per_cell == 0 || self.bits_per_cell >= native {
            let limit = format!("must be at least 1 and below the {native} bits of a cell outside the cache");
            return Err(ConfigError::new("device.slc_cache.bits_per_cell", self.bits_per_cell, limit));
        }
        if self.rows(config) == 0 {
            let limit = format!(
                "leaves a block of {} pages no program operation: give blocks more pages",
                config.geometry.pages_per_block
            );
            return Err(ConfigError::new("device.slc_cache.bits_per_cell", self.bits_per_cell, limit));
        }
        self.check_size(config)?;
        self.check_times()?;
        if self.endurance == Some(0) {
            return Err(ConfigError::new("device.slc_cache.endurance", 0, "must be at least 1"));
        }
        self.check_errors(config)?;
        check_beside(config)
    }

    /// Checks how its cells err.
    fn check_errors(&self, config: &SsdConfig) -> Result<(), ConfigError> {
        if let Some(rate) = self.error_rate.filter(|&rate| !(rate > 0.0 && rate <= MOST_ERROR_RATE)) {
            let limit = format!("must be above 0 and at most {MOST_ERROR_RATE}");
            return Err(ConfigError::new("device.slc_cache.error_rate", rate, limit));
        }
        match self.error_rate {
            Some(rate) if config.reliability.is_none() => {
                let limit = "needs device.reliability: else no cell errs";
                Err(ConfigError::new("device.slc_cache.error_rate", rate, limit))
            }
            _ => Ok(()),
        }
    }

    fn check_size(&self, config: &SsdConfig) -> Result<(), ConfigError> {
        let share = self.lent_share();
        if !(0.0..=1.0).contains(&share) {
            return Err(ConfigError::new("device.slc_cache.dynamic_share", share, "must be between 0 and 1"));
        }
        let raw = config.geometry.raw_capacity();
        if self.static_size > raw {
            let limit = format!("must be at most the raw capacity, {raw}");
            return Err(ConfigError::new("device.slc_cache.static_size", self.static_size, limit));
        }
        if self.dynamic_size == Some(Bytes(0)) {
            return Err(ConfigError::new("device.slc_cache.dynamic_size", Bytes(0), "must be above 0"));
        }
        if self.static_size == Bytes(0) && share == 0.0 {
            let limit = "gives the cache no superblock: set static_size, dynamic_size or dynamic_share";
            return Err(ConfigError::new("device.slc_cache.static_size", self.static_size, limit));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), ConfigError> {
        for (name, times) in [("read", &self.read), ("program", &self.program)] {
            let field = format!("device.slc_cache.{name}");
            let list = match times {
                PageTimes::Same(time) => std::slice::from_ref(time),
                PageTimes::ByType(list) => list.as_slice(),
            };
            if list.is_empty() || list.len() > usize::from(MOST_BITS) {
                let given = format!("{} times", list.len());
                return Err(ConfigError::new(&field, given, "takes one to eight page types"));
            }
            list.iter().try_for_each(|&time| at_most_a_second(&field, time))?;
        }
        if self.fold_after_idle.is_some_and(|delay| delay < Nanos::micros(100)) {
            let delay = self.fold_after_idle.unwrap_or_default();
            return Err(ConfigError::new(
                "device.slc_cache.fold_after_idle",
                delay,
                "must be at least 100us",
            ));
        }
        match self.fold_from {
            Some(from) if !(from > 0.0 && from <= 1.0) => {
                Err(ConfigError::new("device.slc_cache.fold_from", from, "must be above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that nothing else in drive `config` excludes a cache.
fn check_beside(config: &SsdConfig) -> Result<(), ConfigError> {
    let refused = |limit| Err(ConfigError::new("device.slc_cache", "given", limit));
    if config.ftl.gc.relocation == GcRelocation::Host {
        return refused(
            "needs device.ftl.gc.relocation other than \"host\": folded data has a stream of its own",
        );
    }
    Ok(())
}

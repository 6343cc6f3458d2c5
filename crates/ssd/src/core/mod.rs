//! A flash core: its translation layer, its processor, its write buffer, and the internal tasks under way.

mod admission;
mod buffer;
mod coalescing;
mod collection;
mod credit;
mod dirty;
mod map_flush;
mod pacing;
mod processor;
mod programs;
mod recent;
mod tasks;
mod tokens;
mod units;
mod victim;

pub(crate) use buffer::{Buffer, WaitingWrite};
pub(crate) use dirty::{Dirty, Due, Unsettled};
pub(crate) use map_flush::{MapPrograms, MapTimer};
pub(crate) use processor::{CoreWork, Processor};
pub(crate) use recent::Recent;
pub(crate) use tasks::{NextRead, Tasks};
pub(crate) use victim::Part;

use crate::health::{Covers, Scrub};
use crate::read::CoreCells;
use outlast_flash::Demand;
use outlast_ftl::Ftl;
use outlast_media::{ConfigError, DieFaults};
use outlast_persist::Extents;
use outlast_settings::drive::SsdConfig;
use outlast_units::{CoreId, DieId, IndexVec, LocalDie, Lpn, Nanos, Pu};

/// The flash cores of a drive.
pub(crate) type Cores = IndexVec<CoreId, Core>;

/// A flash core.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(within)]
pub(crate) struct Core {
    pub(crate) ftl: Ftl,
    pub(crate) cpu: Processor<CoreWork>,
    pub(crate) buffer: Buffer,
    pub(crate) tasks: Tasks,
    /// What the cells have been through; absent where the flash never errs.
    #[persist(each)]
    pub(crate) cells: Option<CoreCells>,
    /// What is broken; absent where nothing ever is.
    pub(crate) faults: Option<DieFaults>,
    pub(crate) scrub: Option<Scrub>,
    /// Units that the host has read, kept in memory; absent where none are.
    #[persist(each)]
    pub(crate) read_cache: Option<Box<Recent>>,
    pub(crate) covers: Covers,
    /// What a flush of the mapping table has under way.
    pub(crate) maps: MapPrograms,
    /// First die (over the drive) of each local die.
    #[persist(skip)]
    pub(crate) dies: IndexVec<LocalDie, DieId>,
    /// What is to be looked at before the next event.
    pub(crate) dirty: Dirty,
}

impl Core {
    /// How far the numbers of its parts reach.
    fn extents(&self, outer: &Extents) -> Extents {
        self.ftl.extents(outer)
    }

    /// What the core demands of its dies.
    #[inline]
    pub(crate) fn demand(&self) -> Demand {
        Demand {
            urgent: self.buffer.is_blocked(),
            background: self.tasks.background_runs(),
            writes_wait: self.buffer.any_waits(),
        }
    }

    /// Whether the read cache has the unit `page`, which is read.
    #[inline]
    pub(crate) fn finds_read(&mut self, page: Lpn) -> bool {
        self.read_cache.as_mut().is_some_and(|cache| cache.touch(page))
    }

    /// Units `mask` of program unit `pu` have been read for the host: the read cache keeps those that are current.
    #[inline]
    pub(crate) fn keep_read(&mut self, pu: Pu, mask: u64) {
        if let Some(cache) = &mut self.read_cache {
            let (first, mut rest) = (self.ftl.layout().first_slot_of(pu), mask);
            while rest != 0 {
                let slot = first + rest.trailing_zeros();
                rest &= rest - 1;
                let page = self.ftl.owner(slot);
                if page != Lpn::NONE && self.ftl.lookup(page) == slot {
                    cache.keep(page);
                }
            }
        }
    }

    /// The host writes or trims the unit `page`.
    #[inline]
    pub(crate) fn forget_read(&mut self, page: Lpn) {
        if let Some(cache) = &mut self.read_cache {
            cache.remove(page);
        }
    }

    pub(crate) fn new(ftl: Ftl, dies: &[DieId], config: &SsdConfig) -> Result<Self, ConfigError> {
        assert!(
            dies.len() == usize::from(ftl.layout().dies()),
            "a core's translation layer has all its dies"
        );
        Ok(Self {
            cpu: Processor::default(),
            buffer: Buffer::new(&ftl, config)?,
            tasks: Tasks::new(&ftl, &config.ftl.gc),
            cells: None,
            faults: None,
            scrub: config.scrubs().then(|| Scrub::of(config, ftl.layout().superblocks())),
            read_cache: config.read_cache_units().map(|units| Box::new(Recent::new(units))),
            covers: Covers::new(ftl.streams().count(), cover_after(config)),
            maps: MapPrograms::default(),
            dies: dies.iter().copied().collect(),
            dirty: Dirty::default(),
            ftl,
        })
    }
}

/// After how long a pause stripes that are not full are covered.
fn cover_after(config: &SsdConfig) -> Nanos {
    config.protection.as_ref().map_or(Nanos::MAX, |own| own.partial.timeout)
}

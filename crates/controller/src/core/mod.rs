//! A flash core: its translation layer, its processor, its write buffer, and the internal tasks under way.
//!
//! [`FlashCore`] is a machine of its own: its fields are private to this folder, its handlers get the time and a [`CoreContext`], the parts of the drive
//! that all cores share, and return nothing but what the caller asked for. What follows is left in the state as due (`due.rs`), or as an [`Effect`] where it
//! concerns other cores or the host. So no handler sees the drive, and none can be entered again through it.
//!
//! Folders by what the core does: [`admission`] of host writes to the buffer, [`programs`] and their parity, [`collection`] of superblocks, [`reading`] with
//! recovery, [`scrub`], and [`dies`] with their failures.

mod access;
mod accounts;
mod addresses;
mod admission;
mod collection;
mod commands;
mod context;
mod dies;
mod due;
mod effect;
mod for_drive;
mod mapping;
mod marks;
mod named_requests;
mod processor;
mod programs;
mod reading;
mod restored;
mod scrub;
mod settling;
mod work;
mod zone_commands;
mod zone_resets;

pub use admission::Buffer;
pub use admission::WaitingWrite;
pub(crate) use collection::NextRead;
pub use collection::Tasks;
pub use collection::Victim;
pub use context::CoreContext;
pub use dies::{DieGoesOn, degraded};
pub use due::Due;
pub(crate) use due::{Dirty, Unsettled};
pub use effect::Effect;
pub use for_drive::SharedParts;
pub use mapping::MapCache;
pub use processor::{CoreWork, Processor};
pub(crate) use programs::MapPrograms;
pub(crate) use programs::MapTimer;
pub use reading::Recent;
pub use restored::{check_restored_operations, cores_free_at};
pub use zone_resets::ZoneReset;

use crate::health::{Covers, Scrub};
use crate::read::CoreCells;
use outlast_flash::CoreDemand;
use outlast_ftl::Ftl;
use outlast_media::{ConfigError, DieFaults};
use outlast_persist::Extents;
use outlast_settings::drive::SsdConfig;
use outlast_units::{CoreId, DieId, IndexVec, LocalDie, Lpn, Nanos, Pu};
use zone_resets::ZoneResets;

/// The flash cores of a drive.
pub type Cores = IndexVec<CoreId, FlashCore>;

/// A flash core.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(within)]
// A whole number of cache lines, so that a field more or less does not move the others across them: the table of instructions saw 0.6 % of it.
#[repr(align(64))]
pub struct FlashCore {
    /// Its number.
    #[persist(skip)]
    id: CoreId,
    ftl: Ftl,
    cpu: Processor<CoreWork>,
    buffer: Buffer,
    tasks: Tasks,
    /// State of the cells; absent where the flash never errs.
    #[persist(each)]
    cells: Option<CoreCells>,
    /// Broken dies, blocks and rows; absent where nothing ever breaks.
    faults: Option<DieFaults>,
    scrub: Option<Scrub>,
    /// Units that the host has read, kept in memory; absent where none are.
    #[persist(each)]
    read_cache: Option<Box<Recent>>,
    /// True if there is one of the two.
    #[persist(skip)]
    has_caches: bool,
    /// Pages of the mapping table that are in memory; absent where all are.
    #[persist(each)]
    map_cache: Option<Box<MapCache>>,
    covers: Covers,
    /// Programs of a flush of the mapping table that are under way.
    maps: MapPrograms,
    /// First die (over the drive) of each local die.
    #[persist(skip)]
    dies: IndexVec<LocalDie, DieId>,
    /// Superblocks that resets of zones have erased.
    resets: ZoneResets,
    /// Work that is due before the next event.
    dirty: Dirty,
}

impl FlashCore {
    /// How far the numbers of its parts reach.
    fn extents(&self, outer: &Extents) -> Extents {
        self.ftl.space().extents(outer)
    }

    /// Demands of the core on its dies.
    #[inline]
    pub(crate) fn demand(&self) -> CoreDemand {
        CoreDemand {
            urgent: self.buffer.is_blocked(),
            background: self.tasks.background_runs(),
            writes_wait: self.buffer.any_waits(),
        }
    }

    /// True if the read cache has the unit `page`, which is read.
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

    /// True if reads or writes of the host change what a cache of the core holds.
    #[inline]
    pub fn has_caches(&self) -> bool {
        self.has_caches
    }

    /// The host writes or trims the unit `page`.
    #[allow(clippy::inline_always, reason = "a comparison, mostly, for every unit that is written")]
    #[inline(always)]
    pub fn forget_read(&mut self, page: Lpn) {
        if let Some(cache) = &mut self.read_cache {
            cache.remove(page);
        }
    }

    /// The flash core `id` over `dies`, whose units `ftl` places.
    ///
    /// # Errors
    /// Settings of the buffer that cannot work.
    ///
    /// # Panics
    /// If the translation layer is of another number of dies.
    pub fn new(
        id: CoreId,
        ftl: Ftl,
        cells: Option<CoreCells>,
        dies: &[DieId],
        config: &SsdConfig,
    ) -> Result<Self, ConfigError> {
        assert!(
            dies.len() == usize::from(ftl.layout().dies()),
            "a core's translation layer has all its dies"
        );
        Ok(Self {
            id,
            cpu: Processor::default(),
            buffer: Buffer::new(&ftl, config)?,
            tasks: Tasks::new(&ftl, &config.ftl.gc, config.ftl.two_pass.map_or(0, |passes| passes.distance)),
            cells,
            faults: None,
            scrub: config.scrubs().then(|| Scrub::of(config, ftl.layout().superblocks())),
            has_caches: config.ftl.map_cache.is_some() || config.read_cache_units().is_some(),
            map_cache: map_cache(&ftl, config),
            read_cache: config.read_cache_units().map(|units| Box::new(Recent::new(units))),
            covers: Covers::new(ftl.streams().count(), cover_after(config)),
            maps: MapPrograms::default(),
            dies: dies.iter().copied().collect(),
            resets: ZoneResets::default(),
            dirty: Dirty::default(),
            ftl,
        })
    }
}

/// The cache of pages of the mapping table, which begins empty.
fn map_cache(ftl: &Ftl, config: &SsdConfig) -> Option<Box<MapCache>> {
    let cache = config.ftl.map_cache?;
    let room = cache.pages(config.ftl.mapping_unit, config.controller.flash_cores);
    Some(Box::new(MapCache::new(ftl.map_pages(), room)))
}

/// After how long a pause stripes that are not full are covered.
fn cover_after(config: &SsdConfig) -> Nanos {
    config.protection.as_ref().map_or(Nanos::MAX, |own| own.partial.timeout)
}

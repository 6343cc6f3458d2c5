//! Page mapping of a flash core as a translation layer: the table, copies that units in the buffer superseded, records on flash, losses, and pages of
//! the table itself that are written to flash.

mod entries;
mod mount;
mod origins;
mod restored;
mod table_pages;
mod trims;

use crate::handles::HandleTable;
use crate::layout::SlotLayout;
use crate::losses::LostData;
use crate::map_pages::MapPages;
use crate::mount::{FlashRecords, RetiredBlock};
use crate::origins::UnitOrigins;
use crate::space::{FlashSpace, Translation};
use crate::streams::StreamTable;
use crate::table::FlatMap;
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Ppn, Stream, SuperblockId, to_length};

pub(crate) use entries::UnitRun;
pub use mount::{MountOptions, MountReads};
pub(crate) use restored::check_pages;

/// Page mapping of one flash core. Each call that looks at superblocks, or moves units between them, gets the [`FlashSpace`].
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct PageTable {
    /// Mapping of the host's units, then of the pages of the mapping table that are written to flash, then of units that other cores have handed over
    /// ([`PageTable::grow`]).
    map: FlatMap,
    pub(crate) losses: LostData,
    /// Copies that units in the buffer superseded; absent where the buffer survives a loss of power, and in untimed writes.
    pub(crate) origins: Option<Box<UnitOrigins>>,
    /// Records of what is on flash; absent where nothing is recorded.
    #[persist(each)]
    records: Option<Box<FlashRecords>>,
    /// Pages of the mapping table that are written to flash; absent where none are.
    #[persist(each)]
    maps: Option<Box<MapPages>>,
    /// Handles of units; absent where the host's streams are none.
    #[persist(each)]
    pub(crate) handles: Option<Box<HandleTable>>,
    /// True if there are origins, records, pages of the mapping table or handles, which follow each unit that is written.
    tracks_writes: bool,
}

impl PageTable {
    /// The mapping of `logical_units` units of the host on `layout`, written to `streams`, all unwritten. Unless `built`, its tables are empty. `keeps_origins`: a loss of
    /// power empties the buffer.
    pub(crate) fn new(
        config: &FtlConfig,
        (layout, streams): (&SlotLayout, &StreamTable),
        logical_units: u64,
        built: bool,
        keeps_origins: bool,
        records: Option<Box<FlashRecords>>,
    ) -> Self {
        let (mapped, slots) =
            if built { (u64::from(layout.logical_units()), layout.slots()) } else { (0, 0) };
        let maps = MapPages::of(config, logical_units, built).map(|maps| match config.map_cache {
            Some(_) if built => Box::new(maps.cached(layout.units_per_pu())),
            _ => Box::new(maps),
        });
        let handles = HandleTable::of(streams, layout, built);
        Self {
            map: FlatMap::new(mapped, slots),
            losses: LostData::default(),
            origins: keeps_origins.then(|| Box::new(UnitOrigins::new(layout))),
            tracks_writes: built
                && (keeps_origins || records.is_some() || maps.is_some() || handles.is_some()),
            records,
            maps,
            handles,
        }
    }

    /// The table.
    #[inline]
    pub(crate) fn map(&self) -> &FlatMap {
        &self.map
    }

    /// True if origins, records or pages of the table follow each unit that is written.
    #[inline]
    pub(crate) fn tracks_writes(&self) -> bool {
        self.tracks_writes
    }

    /// Grows the mapping to at least `pages` logical pages.
    pub(crate) fn grow(&mut self, pages: u64) {
        self.map.grow(pages);
    }

    /// Logical pages whose data has been lost and that have been neither written nor trimmed since.
    pub(crate) fn lost_units(&self) -> u64 {
        self.losses.count()
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.map.bytes()
            + self.maps.as_ref().map_or(0, |maps| maps.bytes())
            + self.handles.as_ref().map_or(0, |handles| handles.bytes())
    }

    /// Value of [`PageTable::bytes`], with records, when built on `layout` for mounts by `mount`.
    pub(crate) fn bytes_when_built(&self, layout: &SlotLayout, mount: Option<MountOptions>) -> u64 {
        let pages = u64::from(layout.logical_units());
        let records =
            mount.map(|mount| FlashRecords::bytes(u64::from(layout.slots()), pages, mount.checkpoint_every));
        FlatMap::bytes_when_built(pages, layout.slots())
            + self.maps.as_ref().map_or(0, |maps| maps.bytes() as u64)
            + self.handles.as_ref().map_or(0, |_| HandleTable::bytes_when_built(layout))
            + records.unwrap_or(0)
    }

    /// Forgets all about the slots of `superblock`, which has been erased, with blocks `retired` by that.
    pub(crate) fn superblock_erased(
        &mut self,
        space: &FlashSpace,
        superblock: SuperblockId,
        retired: &[RetiredBlock],
    ) {
        let first = space.layout().first_slot(superblock);
        self.losses.forget_stale(first, first + space.layout().units_per_superblock());
        if let Some(handles) = &mut self.handles {
            handles.record_erasure(to_length(superblock.0.into()));
        }
        if let Some(records) = &mut self.records {
            records.record_retired(retired);
            records.drop_superblock(space.layout(), superblock);
        }
    }

    /// Checks the table, losses and origins by themselves.
    ///
    /// # Errors
    /// The first broken invariant.
    pub(crate) fn check(&self, space: &FlashSpace) -> Result<(), String> {
        self.map.check()?;
        self.losses.check(|lpn| self.map.lookup(lpn).is_some())?;
        self.check_origins(space)?;
        self.handles.iter().try_for_each(|handles| handles.check(&self.map, space))
    }
}

impl Translation for PageTable {
    fn opened(&mut self, layout: &SlotLayout, superblock: SuperblockId, stream: Stream) {
        if let Some(origins) = &mut self.origins {
            origins.open_table(superblock, layout.units_per_superblock());
        }
        if let Some(records) = &mut self.records {
            records.record_opening(superblock, stream);
        }
        if let Some(handles) = &mut self.handles {
            handles.record_opening(stream);
        }
    }

    #[cold]
    fn sealed(&mut self, superblock: SuperblockId) {
        if let Some(origins) = &mut self.origins {
            origins.free_table(superblock);
        }
        if let Some(records) = &mut self.records {
            records.record_closing(superblock);
        }
    }

    #[inline]
    fn disown(&mut self, first: Ppn, count: u32) {
        self.map.disown(first, count);
    }

    fn awaits_superblock(&self, clock: u64) -> bool {
        self.maps.as_ref().is_some_and(|maps| {
            (maps.is_flushing() || maps.is_due(clock) || maps.has_batch()) && !maps.would_repeat(clock)
        })
    }
}

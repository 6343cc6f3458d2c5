//! Protected translation layers of many kinds, on few superblocks.

use super::modes::host_mode;
use outlast_ftl::{Ftl, FtlOptions};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{
    ClassConfig, FtlConfig, MapFlushConfig, PartialConfig, PartialPlace, ProtectionConfig, WearLeveling,
};
use outlast_units::{Bytes, DieId};
use proptest::prelude::*;

pub(crate) const DIES: u16 = 4;
pub(crate) const UNITS: u64 = 40;
pub(crate) const UNIT: u64 = 512;

/// Kind of drive that breaks.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent choices")]
pub(crate) struct Kind {
    /// True if a loss of power takes the buffer.
    pub(crate) late: bool,
    pub(crate) place: PartialPlace,
    /// Parity of all classes to begin with; and the code within blocks.
    pub(crate) parity: u8,
    pub(crate) block: Option<u16>,
    pub(crate) classes: bool,
    pub(crate) lists: bool,
    pub(crate) multi_plane: bool,
    /// Whether static wear levelling and scrubbing move data, too, and how many streams the host has for each class.
    pub(crate) levels: bool,
    pub(crate) scrubs: bool,
    pub(crate) hints: u8,
    /// Of superpages, at most their places.
    pub(crate) stride: u32,
    pub(crate) tolerated: u16,
    pub(crate) pages_per_unit: u64,
    pub(crate) pages_per_block: u32,
    /// Blocks beyond the fewest that are enough.
    pub(crate) more_blocks: u32,
    /// Program operations, and erasures, of which one fails.
    pub(crate) failures: u64,
    /// True if the mapping table is flushed.
    pub(crate) flushes: bool,
    /// Page rows of a block that the host's data takes, in units of those of a mapping unit; absent: all.
    pub(crate) host_rows: Option<u32>,
}

impl Kind {
    /// A translation layer of this kind with as few superblocks as it takes, so that each soon comes to another stream, and some more.
    pub(crate) fn ftl(&self, seed: u64) -> Option<Ftl> {
        let least = (8..120).find(|&blocks| self.sized(blocks, seed).is_some())?;
        self.sized(least + self.more_blocks, seed)
    }

    pub(crate) fn sized(&self, blocks_per_plane: u32, seed: u64) -> Option<Ftl> {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: DIES,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane,
            pages_per_block: self.pages_per_block,
            page_size: Bytes(UNIT),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig {
            mapping_unit: Bytes(UNIT * self.pages_per_unit),
            capacity: Some(Bytes(1)),
            spare_blocks: 4,
            tolerated_bad_blocks: self.tolerated,
            multi_plane: self.multi_plane,
            streams: self.hints,
            stride: self.stride,
            wear_leveling: WearLeveling { dynamic: true, static_gap: self.levels.then_some(2) },
            map_flush: self.flushes.then(|| MapFlushConfig {
                written: Some(Bytes(25 * UNIT * self.pages_per_unit)),
                entry: Bytes(64),
                ..MapFlushConfig::default()
            }),
            ..FtlConfig::default()
        };
        let class = |parity: u8| ClassConfig {
            data: Some(DIES - u16::from(parity)),
            parity: Some(parity),
            hints: vec![parity.into()],
            ..ClassConfig::default()
        };
        let protection = ProtectionConfig {
            data: DIES - u16::from(self.parity),
            parity: self.parity,
            block: self.block,
            partial: PartialConfig { place: self.place, ..PartialConfig::default() },
            classes: if self.classes { vec![class(0), class(1), class(2)] } else { Vec::new() },
            ..ProtectionConfig::default()
        };
        let dies: Vec<DieId> = (0..DIES).map(DieId).collect();
        let options = FtlOptions {
            keep_bytes: true,
            protection: Some(protection),
            lists: self.lists,
            scrub: self.scrubs,
            erases_late: self.late,
            seed,
            modes: host_mode(self.host_rows.map(|rows| rows * self.pages_per_unit as u32)),
            ..FtlOptions::default()
        };
        Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, UNITS, &options).ok()
    }
}

pub(crate) const SOUND: Kind = Kind {
    late: false,
    place: PartialPlace::None,
    parity: 2,
    block: None,
    classes: false,
    lists: false,
    multi_plane: true,
    levels: false,
    scrubs: false,
    hints: 1,
    stride: 1,
    tolerated: 0,
    pages_per_unit: 1,
    pages_per_block: 2,
    more_blocks: 8,
    failures: u64::MAX,
    flushes: false,
    host_rows: None,
};

pub(crate) fn kinds() -> impl Strategy<Value = Kind> {
    let place = prop::sample::select(vec![
        PartialPlace::None,
        PartialPlace::Inline,
        PartialPlace::Blocks,
        PartialPlace::Cache,
    ]);
    let code = (0u8..3, prop::option::of(1u16..3));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    // Planes of a die lie apart in a superpage at stride 1 alone.
    let tasks = (any::<bool>(), any::<bool>(), 1u8..3, 1..=u32::from(DIES), any::<bool>());
    let failures = prop::sample::select(vec![6u64, 25, 200, u64::MAX]);
    let host_rows = prop::option::of(1u32..5);
    let pages = (prop::sample::select(vec![1u64, 2]), 4u32..8, 0u32..16, host_rows);
    (place, code, flags, tasks, failures, pages, 0u16..2).prop_map(
        |(place, (parity, block), (late, classes, lists, multi_plane), tasks, failures, pages, tolerated)| {
            Kind {
                late,
                place,
                parity,
                block: block.or((parity == 0).then_some(1)),
                classes,
                lists,
                multi_plane,
                levels: tasks.0,
                scrubs: tasks.1,
                hints: tasks.2,
                stride: if multi_plane { tasks.3 } else { 1 },
                tolerated,
                pages_per_unit: pages.0,
                pages_per_block: pages.1 * pages.0 as u32,
                more_blocks: pages.2,
                failures,
                flushes: tasks.4,
                host_rows: pages.3.filter(|&rows| rows < pages.1),
            }
        },
    )
}

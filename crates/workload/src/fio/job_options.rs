//! The options of a job from its section and the global sections before it, with fio's defaults.

use super::law::AccessZone;
use super::parse::LinePosition;
use super::zbd::ZbdOptions;
use super::{data_placement::PlacementOptions, flow::FlowOptions};
use crate::SizeOrPercent;
use std::sync::Arc;

/// Block size in bytes without `bs`.
pub(super) const DEFAULT_BLOCK: u64 = 4096;
/// fio's own `randseed`.
const DEFAULT_SEED: u64 = 0x89;

/// Operations of a job (`rw`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Read,
    Write,
    Mixed,
    Trim,
    /// Each range is trimmed and then written.
    TrimWrite,
}

/// Law of random blocks, before the region is known. A centre is a share of the region, 0 to 1; `None` lets the seed choose it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LawSpec {
    Uniform,
    Zipf {
        theta: f64,
        centre: Option<f64>,
    },
    Pareto {
        h: f64,
        centre: Option<f64>,
    },
    Normal {
        percent: f64,
        centre: Option<f64>,
    },
    /// Zones of each direction, and true if their sizes are bytes rather than percent.
    Zoned([Vec<AccessZone>; 3], bool),
}

/// Source of random blocks (`random_generator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockSource {
    Tausworthe,
    Tausworthe64,
    /// A shift register, which needs no map.
    Lfsr,
}

/// Spacing of requests under a rate (`rate_process`): equal, or exponential gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateProcess {
    Linear,
    Poisson,
}

/// Jobs that `exitall` ends together with the first that ends (`exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitWhat {
    Group,
    Running,
    All,
}

/// Block sizes of one direction, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestSizes {
    pub(super) least: u64,
    pub(super) most: u64,
    /// Sizes with their percent of the requests, in fio's order, the rarest first; empty for a fixed size or a range.
    pub(super) split: Vec<(u64, u32)>,
}

/// Region, sizes and order of a job's requests: the input of [`super::offsets::OffsetGenerator`].
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct AccessPlan {
    /// First byte and length of the region.
    pub(super) start: u64,
    pub(super) length: u64,
    /// Bytes of the device.
    pub(super) device: u64,
    pub(super) sizes: [RequestSizes; 3],
    /// Grid of random offsets in bytes, by direction.
    pub(super) align: [u64; 3],
    pub(super) random: bool,
    /// True if each range is trimmed and then written.
    pub(super) trims_first: bool,
    /// Percent of the requests of a random job that are drawn, by direction.
    pub(super) random_percent: [u32; 3],
    pub(super) read_percent: u32,
    /// Requests from one drawn offset to the next; 1 draws each.
    pub(super) every: u64,
    /// Bytes skipped after each sequential request.
    pub(super) skip: i64,
    /// True if requests between two drawn ones repeat the offset (`rw_sequencer=identical`); otherwise they are sequential.
    pub(super) identical: bool,
    /// True if sizes are chosen by sequential and random instead of reads and writes (`bs_is_seq_rand`).
    pub(super) by_sequence: bool,
    pub(super) time_based: bool,
    pub(super) map: bool,
    /// `None` lets the number of blocks decide between the generators of 32 and 64 bits.
    pub(super) source: Option<BlockSource>,
    pub(super) law: LawSpec,
}

impl AccessPlan {
    /// The smallest block of any direction.
    pub(super) fn smallest(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.least).min().unwrap_or(DEFAULT_BLOCK)
    }

    pub(super) fn largest(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.most).max().unwrap_or(DEFAULT_BLOCK)
    }

    /// True if each random block is touched once in each pass, unless `norandommap` says otherwise.
    pub(super) fn covers_once(&self) -> bool {
        self.map && self.random && self.law == LawSpec::Uniform
    }

    /// True if a map tells which blocks a pass has touched. A shift register gives none twice by itself.
    pub(super) fn has_map(&self) -> bool {
        self.covers_once() && self.source != Some(BlockSource::Lfsr)
    }

    pub(super) fn wide(&self) -> bool {
        match self.source {
            Some(source) => source == BlockSource::Tausworthe64,
            None => self.length / self.smallest() > u64::from(u32::MAX),
        }
    }
}

/// One value for each of reads, writes and trims.
pub(super) type PerDirection<T> = [Option<T>; 3];

/// One job.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct JobOptions {
    pub(super) name: String,
    pub(super) position: LinePosition,
    /// The last position of each key, for messages.
    pub(super) key_positions: Vec<(String, LinePosition)>,
    pub(super) rw: AccessKind,
    pub(super) random: bool,
    pub(super) every: u64,
    pub(super) skip: i64,
    pub(super) identical: bool,
    pub(super) block: PerDirection<u64>,
    pub(super) range: PerDirection<(u64, u64)>,
    pub(super) split: PerDirection<Vec<(u64, u32)>>,
    pub(super) align: PerDirection<u64>,
    pub(super) by_sequence: bool,
    pub(super) read_percent: u32,
    pub(super) iodepth: u32,
    pub(super) iodepth_low: u32,
    pub(super) complete_min: u32,
    pub(super) engine: Option<String>,
    pub(super) size: Option<SizeOrPercent>,
    pub(super) io_size: Option<SizeOrPercent>,
    /// Bytes of the device that the job takes for its file, from the first byte on.
    pub(super) file_size: Option<u64>,
    pub(super) offset: SizeOrPercent,
    pub(super) offset_increment: SizeOrPercent,
    pub(super) offset_align: Option<u64>,
    pub(super) number_ios: u64,
    /// Microseconds; zero for none.
    pub(super) runtime: u64,
    pub(super) time_based: bool,
    pub(super) ramp_time: u64,
    pub(super) start_delay: u64,
    pub(super) law: LawSpec,
    pub(super) random_percent: PerDirection<u64>,
    pub(super) map: bool,
    pub(super) source: Option<BlockSource>,
    pub(super) repeatable: bool,
    pub(super) all_repeatable: bool,
    pub(super) randseed: Option<u64>,
    /// Bytes per second, and requests per second; zero for none.
    pub(super) rate: PerDirection<u64>,
    pub(super) rate_iops: PerDirection<u64>,
    pub(super) process: RateProcess,
    pub(super) think_time: u64,
    pub(super) think_blocks: Option<u64>,
    pub(super) think_issued: bool,
    pub(super) think_every: u64,
    pub(super) rate_ignores_think: bool,
    pub(super) offloads: bool,
    pub(super) flow: FlowOptions,
    pub(super) numjobs: u32,
    pub(super) fsync: u64,
    pub(super) fdatasync: u64,
    pub(super) end_fsync: bool,
    pub(super) fua: bool,
    pub(super) loops: u64,
    pub(super) stonewall: bool,
    pub(super) new_group: bool,
    pub(super) wait_for: Option<String>,
    pub(super) exitall: bool,
    pub(super) exit_what: ExitWhat,
    pub(super) group_reporting: bool,
    pub(super) filename: Option<String>,
    pub(super) placement: PlacementOptions,
    pub(super) zbd: ZbdOptions,
    pub(super) description: Option<String>,
    /// Keys and values as written, for the report.
    pub(super) options: Vec<(String, String)>,
    pub(super) ignored: Vec<String>,
}

impl JobOptions {
    pub(super) fn new() -> Self {
        Self {
            name: String::new(),
            position: LinePosition { file: Arc::from(""), line: 1 },
            key_positions: Vec::new(),
            rw: AccessKind::Read,
            random: false,
            every: 1,
            skip: 0,
            identical: false,
            block: [None; 3],
            range: [None; 3],
            split: [None, None, None],
            align: [None; 3],
            by_sequence: false,
            read_percent: 50,
            iodepth: 1,
            iodepth_low: 0,
            complete_min: 1,
            engine: None,
            size: None,
            io_size: None,
            file_size: None,
            offset: SizeOrPercent::Percent(0.0),
            offset_increment: SizeOrPercent::Percent(0.0),
            offset_align: None,
            number_ios: 0,
            runtime: 0,
            time_based: false,
            ramp_time: 0,
            start_delay: 0,
            law: LawSpec::Uniform,
            random_percent: [None; 3],
            map: true,
            source: None,
            repeatable: true,
            all_repeatable: false,
            randseed: None,
            rate: [None; 3],
            rate_iops: [None; 3],
            process: RateProcess::Linear,
            think_time: 0,
            think_blocks: None,
            think_issued: false,
            think_every: 0,
            rate_ignores_think: false,
            offloads: false,
            flow: FlowOptions::default(),
            numjobs: 1,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            fua: false,
            loops: 1,
            stonewall: false,
            new_group: false,
            wait_for: None,
            exitall: false,
            exit_what: ExitWhat::Group,
            group_reporting: false,
            filename: None,
            placement: PlacementOptions::default(),
            zbd: ZbdOptions::default(),
            description: None,
            options: Vec::new(),
            ignored: Vec::new(),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.randseed.unwrap_or(DEFAULT_SEED)
    }

    /// The last position of `key`, or that of the section without it.
    pub(super) fn position_of(&self, key: &str) -> &LinePosition {
        self.key_positions
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map_or(&self.position, |(_, position)| position)
    }
}

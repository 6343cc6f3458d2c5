//! One job, as its section and the global ones before it say, with fio's defaults.

use super::law::Zone;
use super::parse::Place;
use crate::Extent;
use std::sync::Arc;

/// Block size where none is given.
pub(super) const DEFAULT_BLOCK: u64 = 4096;
/// fio's own `randseed`.
const DEFAULT_SEED: u64 = 0x89;

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rw {
    Read,
    Write,
    Mixed,
    Trim,
}

/// How random blocks are drawn, before the region is known. Centres lie between 0 and 1; `None` is anywhere.
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
    /// Zones by direction, and whether their sizes are bytes rather than percent.
    Zoned([Vec<Zone>; 3], bool),
}

/// How a rate is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Linear,
    Poisson,
}

/// Which jobs end when one with `exitall` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitWhat {
    Group,
    Running,
    All,
}

/// Block sizes of one direction, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) least: u64,
    pub(super) most: u64,
    /// Sizes with their percent of the requests, in the order in which fio looks through them; empty for a size or a range.
    pub(super) split: Vec<(u64, u32)>,
}

/// Where a job's requests lie and how long they are: all that the generator needs.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct Shape {
    /// First byte and length of the region.
    pub(super) start: u64,
    pub(super) length: u64,
    /// Bytes of the device.
    pub(super) device: u64,
    pub(super) sizes: [Sizes; 3],
    /// Grid of random offsets.
    pub(super) align: [u64; 3],
    pub(super) random: bool,
    /// Percent of the requests of a random job that are drawn, by direction.
    pub(super) random_percent: [u32; 3],
    pub(super) read_percent: u32,
    /// Requests from one drawn offset to the next.
    pub(super) every: u64,
    /// Bytes skipped after each sequential request.
    pub(super) skip: i64,
    /// Whether requests between two drawn ones repeat the offset.
    pub(super) identical: bool,
    /// Whether sizes go with sequential and random instead of reads and writes.
    pub(super) by_sequence: bool,
    pub(super) time_based: bool,
    pub(super) map: bool,
    /// Generator of 64 bits: `None` where the number of blocks decides.
    pub(super) wide: Option<bool>,
    pub(super) law: LawSpec,
}

impl Shape {
    /// The smallest block of any direction.
    pub(super) fn smallest(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.least).min().unwrap_or(DEFAULT_BLOCK)
    }

    pub(super) fn largest(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.most).max().unwrap_or(DEFAULT_BLOCK)
    }

    /// Whether random blocks are touched once in each pass.
    pub(super) fn has_map(&self) -> bool {
        self.map && self.random && self.law == LawSpec::Uniform
    }

    pub(super) fn wide(&self) -> bool {
        self.wide.unwrap_or(self.length / self.smallest() > u64::from(u32::MAX))
    }
}

/// One value for each of reads, writes and trims.
pub(super) type Each<T> = [Option<T>; 3];

/// One job.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) place: Place,
    /// Where each key was given, the last one: for messages.
    pub(super) given: Vec<(String, Place)>,
    pub(super) rw: Rw,
    pub(super) random: bool,
    pub(super) every: u64,
    pub(super) skip: i64,
    pub(super) identical: bool,
    pub(super) block: Each<u64>,
    pub(super) range: Each<(u64, u64)>,
    pub(super) split: Each<Vec<(u64, u32)>>,
    pub(super) align: Each<u64>,
    pub(super) by_sequence: bool,
    pub(super) read_percent: u32,
    pub(super) iodepth: u32,
    pub(super) iodepth_low: u32,
    pub(super) complete_min: u32,
    pub(super) engine: Option<String>,
    pub(super) size: Option<Extent>,
    pub(super) io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    pub(super) offset_align: Option<u64>,
    pub(super) number_ios: u64,
    /// Microseconds; zero for none.
    pub(super) runtime: u64,
    pub(super) time_based: bool,
    pub(super) ramp_time: u64,
    pub(super) start_delay: u64,
    pub(super) law: LawSpec,
    pub(super) random_percent: Each<u64>,
    pub(super) map: bool,
    pub(super) wide: Option<bool>,
    pub(super) repeatable: bool,
    pub(super) all_repeatable: bool,
    pub(super) randseed: Option<u64>,
    /// Bytes per second, and requests per second; zero for none.
    pub(super) rate: Each<u64>,
    pub(super) rate_iops: Each<u64>,
    pub(super) process: Process,
    pub(super) think: u64,
    pub(super) think_spin: u64,
    pub(super) think_blocks: Option<u64>,
    pub(super) think_issued: bool,
    pub(super) think_every: u64,
    pub(super) rate_ignores_think: bool,
    pub(super) offloads: bool,
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
    pub(super) description: Option<String>,
    /// Options as given, for the report.
    pub(super) options: Vec<(String, String)>,
    pub(super) ignored: Vec<String>,
}

impl Job {
    pub(super) fn new() -> Self {
        Self {
            name: String::new(),
            place: Place { file: Arc::from(""), line: 1 },
            given: Vec::new(),
            rw: Rw::Read,
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
            offset: Extent::Percent(0.0),
            offset_increment: Extent::Percent(0.0),
            offset_align: None,
            number_ios: 0,
            runtime: 0,
            time_based: false,
            ramp_time: 0,
            start_delay: 0,
            law: LawSpec::Uniform,
            random_percent: [None; 3],
            map: true,
            wide: None,
            repeatable: true,
            all_repeatable: false,
            randseed: None,
            rate: [None; 3],
            rate_iops: [None; 3],
            process: Process::Linear,
            think: 0,
            think_spin: 0,
            think_blocks: None,
            think_issued: false,
            think_every: 0,
            rate_ignores_think: false,
            offloads: false,
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
            description: None,
            options: Vec::new(),
            ignored: Vec::new(),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.randseed.unwrap_or(DEFAULT_SEED)
    }

    /// Where `key` was given, or else where the job begins.
    pub(super) fn place_of(&self, key: &str) -> &Place {
        self.given.iter().rev().find(|(given, _)| given == key).map_or(&self.place, |(_, place)| place)
    }
}

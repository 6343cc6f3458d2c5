//! Utilisation of dies, channels and controller, and contents of superblocks, over time: `run.utilisation`.
//!
//! Samples are taken where windows of the time series end. Busy times are kept as sums since the start, so that a span between two samples is their
//! difference. Dropping every other sample joins the spans in pairs without loss.

mod cycles;
mod energy;
mod placement;
mod slc_cache;
mod superblocks;

use crate::drives::DriveSet;
use crate::member::ArrayMember;
use crate::table::{ResultColumn, ResultTable};
use crate::victims::victims;
use cycles::CycleCounts;
use outlast_ftl::{HandleCounts, SlcCacheFigures};
use outlast_ssd::{Busy, PlacementView, PowerFigures, Ssd, SuperblockMap, sum_by_handle};
use outlast_units::Nanos;
use std::collections::BTreeMap;

/// Most samples; even, so that none is left over when every other one goes. A heat map has no more columns.
const MOST: usize = 512;
/// Classes into which superblocks are counted by their share of valid units.
const VALID_STEPS: usize = 20;
/// Most classes into which blocks are counted by P/E cycles.
const CYCLE_STEPS: u64 = 20;

/// State of the drives at one moment.
#[derive(Clone, Debug)]
struct UtilisationSample {
    at: Nanos,
    /// Busy time since the start, by member of an array and seed of its drive, which an exchange changes; a drive by itself is member 0.
    busy: Vec<((u64, u64), Busy)>,
    /// Occupied share of the write buffer, by member.
    buffer: Vec<(u64, f64)>,
    valid: [u64; VALID_STEPS],
    cycles: CycleCounts,
    /// Counts of handles since measuring began, over all drives.
    handles: Vec<HandleCounts>,
    /// SLC caches of all drives; absent where one has none.
    slc_cache: Option<SlcCacheFigures>,
    /// Energy and heat of each drive; empty where one counts none.
    power: Vec<PowerFigures>,
    /// Map of the superblocks of each drive, by member.
    maps: Vec<(u64, SuperblockMap)>,
}

impl UtilisationSample {
    fn of(at: Nanos, drives: &[(u64, &Ssd)]) -> Self {
        let mut valid = [0; VALID_STEPS];
        for (_, ssd) in drives {
            ssd.count_valid(&mut valid);
        }
        let taken = |ssd: &Ssd| {
            let view = ssd.buffer_view();
            view.used as f64 / view.bytes.max(1) as f64
        };
        Self {
            at,
            busy: drives.iter().map(|&(member, ssd)| ((member, ssd.seed()), ssd.busy(at))).collect(),
            buffer: drives.iter().map(|&(member, ssd)| (member, taken(ssd))).collect(),
            valid,
            cycles: CycleCounts::of(drives),
            handles: sum_by_handle(drives.iter().map(|(_, ssd)| PlacementView::of(ssd).counts())),
            slc_cache: slc_cache::caches(drives),
            power: energy::powers(at, drives),
            maps: superblocks::maps(drives),
        }
    }
}

/// The samples of a run.
#[derive(Clone, Debug)]
pub(crate) struct OverTime {
    start: Nanos,
    /// Time from one sample to the next.
    width: Nanos,
    /// Time of the next sample.
    due: Nanos,
    samples: Vec<UtilisationSample>,
}

/// The present drives with the numbers of their members.
fn members<'a>(drives: &DriveSet<'a>) -> Vec<(u64, &'a Ssd)> {
    match drives.array {
        None => vec![(0, drives.first())],
        Some(volume) => (0..volume.array.config().members)
            .filter_map(|member| {
                let ssd = volume.array.member(member.into()).and_then(ArrayMember::drive)?;
                Some((u64::from(member), ssd))
            })
            .collect(),
    }
}

impl OverTime {
    pub(crate) fn new(width: Nanos) -> Self {
        Self { start: Nanos::ZERO, width, due: width, samples: Vec::new() }
    }

    /// Drops all samples: measuring begins at `at`.
    pub(crate) fn restart(&mut self, at: Nanos) {
        self.start = at;
        self.due = at + self.width;
        self.samples.clear();
    }

    /// Takes a sample at `at`, when a window of the time series has ended, if one is due.
    pub(crate) fn sample(&mut self, at: Nanos, drives: &DriveSet<'_>) {
        if at < self.due {
            return;
        }
        if self.samples.len() == MOST {
            // Every other sample is dropped, beginning with the first, so that the last one stays.
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                !keep
            });
            self.width = Nanos(self.width.0 * 2);
        }
        self.samples.push(UtilisationSample::of(at, &members(drives)));
        // A window may end long before the next completion.
        self.due = self.start + Nanos(((at - self.start).0 / self.width.0 + 1) * self.width.0);
    }

    /// Takes the last sample, at the end of the run.
    pub(crate) fn finish(&mut self, at: Nanos, drives: &DriveSet<'_>) {
        // A sample may have been taken at this very moment.
        self.samples.retain(|sample| sample.at < at);
        if at > self.start {
            self.samples.push(UtilisationSample::of(at, &members(drives)));
        }
    }

    /// Calls `row` for every span between two samples, every member present at its end and every one of its `parts`, with the share of
    /// the span during which that part was busy.
    fn shares<N>(
        &self,
        parts: impl Fn(&Busy) -> Vec<(N, Nanos)>,
        mut row: impl FnMut(&UtilisationSample, Nanos, u64, N, f64),
    ) {
        let mut start = self.start;
        let mut counted: BTreeMap<(u64, u64), Vec<Nanos>> = BTreeMap::new();
        for sample in &self.samples {
            let span = (sample.at - start).0.max(1) as f64;
            for (drive, busy) in &sample.busy {
                let parts = parts(busy);
                // A drive that took a member's place counts from its own start.
                let before = counted.entry(*drive).or_insert_with(|| vec![Nanos::ZERO; parts.len()]);
                for (then, (name, now)) in before.iter_mut().zip(parts) {
                    // Busy times of a moment include bookings beyond it, so a later sum may be smaller: never count backwards.
                    let until = now.max(*then);
                    row(sample, start, drive.0, name, (until - *then).0 as f64 / span);
                    *then = until;
                }
            }
            start = sample.at;
        }
    }

    /// Table of the busy shares of numbered parts, such as dies; `more` adds a column computed from the number.
    fn numbered_parts(
        &self,
        array: bool,
        part: &str,
        parts: impl Fn(&Busy) -> Vec<Nanos>,
        more: Option<(&str, &dyn Fn(u64) -> u64)>,
    ) -> ResultTable {
        let (mut start_s, mut end_s, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        let (mut members, mut numbers) = (Vec::new(), Vec::new());
        self.shares(
            |busy| (0u64..).zip(parts(busy)).collect(),
            |sample, start, member, number, share| {
                start_s.push(start.as_secs_f64());
                end_s.push(sample.at.as_secs_f64());
                members.push(member);
                numbers.push(number);
                shares.push(share);
            },
        );
        let mut table = ResultTable::default();
        table.push("start_s", ResultColumn::F64(start_s));
        table.push("end_s", ResultColumn::F64(end_s));
        if array {
            table.push("device", ResultColumn::U64(members));
        }
        if let Some((name, of)) = more {
            table.counts(name, numbers.iter().map(|&number| of(number)));
        }
        table.push(part, ResultColumn::U64(numbers));
        table.push("busy", ResultColumn::F64(shares));
        table
    }

    /// Table of the busy shares of link and processors, and of the occupied share of the write buffer at the end of each span.
    fn controller(&self, array: bool) -> ResultTable {
        let (mut start_s, mut end_s, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        let (mut members, mut names) = (Vec::new(), Vec::new());
        let mut add = |sample: &UtilisationSample, start: Nanos, member, name: String, share| {
            start_s.push(start.as_secs_f64());
            end_s.push(sample.at.as_secs_f64());
            members.push(member);
            names.push(name);
            shares.push(share);
        };
        self.shares(controller_parts, &mut add);
        let mut start = self.start;
        for sample in &self.samples {
            for &(member, taken) in &sample.buffer {
                add(sample, start, member, "write_buffer".to_owned(), taken);
            }
            start = sample.at;
        }
        let mut table = ResultTable::default();
        table.push("start_s", ResultColumn::F64(start_s));
        table.push("end_s", ResultColumn::F64(end_s));
        if array {
            table.push("device", ResultColumn::U64(members));
        }
        table.push("part", ResultColumn::Text(names));
        table.push("busy", ResultColumn::F64(shares));
        table
    }

    /// Table of filled superblocks by share of valid units at each sample.
    fn valid(&self) -> ResultTable {
        let rows = || self.samples.iter().flat_map(|sample| (0..VALID_STEPS).map(move |step| (sample, step)));
        let edge = |step: usize| step as f64 / VALID_STEPS as f64;
        let mut table = ResultTable::default();
        table.measures("at_s", rows().map(|(sample, _)| sample.at.as_secs_f64()));
        table.measures("from", rows().map(|(_, step)| edge(step)));
        table.measures("to", rows().map(|(_, step)| edge(step + 1)));
        table.counts("superblocks", rows().map(|(sample, step)| sample.valid[step]));
        table
    }

    /// Table of blocks by P/E cycles at each sample, with the same classes at all samples.
    fn cycles(&self) -> ResultTable {
        let seen =
            || self.samples.iter().map(|sample| &sample.cycles).filter(|cycles| !cycles.counts.is_empty());
        let least = seen().map(|cycles| cycles.least).min().unwrap_or(0);
        let most = seen().map(CycleCounts::most).max().unwrap_or(0);
        // Whole cycles to a class, and only as many classes as that takes.
        let width = (most - least + 1).div_ceil(CYCLE_STEPS);
        let steps = (most - least + 1).div_ceil(width);
        let mut table = ResultTable::default();
        let rows = || self.samples.iter().flat_map(|sample| (0..steps).map(move |step| (sample, step)));
        let from = |step: u64| least + step * width;
        table.measures("at_s", rows().map(|(sample, _)| sample.at.as_secs_f64()));
        table.counts("from", rows().map(|(_, step)| from(step)));
        table.counts("to", rows().map(|(_, step)| from(step + 1)));
        let blocks = |cycles: &CycleCounts, step| -> u64 {
            let each = (cycles.least..).zip(&cycles.counts);
            each.filter(|(cycles, _)| (from(step)..from(step + 1)).contains(cycles))
                .map(|(_, count)| count)
                .sum()
        };
        table.counts("blocks", rows().map(|(sample, step)| blocks(&sample.cycles, step)));
        table
    }

    /// All tables of `run.utilisation`, by name.
    pub(crate) fn tables(&self, drives: &DriveSet<'_>) -> Vec<(String, ResultTable)> {
        let array = drives.array.is_some();
        let per_channel = u64::from(drives.config().geometry.dies() / drives.config().geometry.channels);
        let channel = |die: u64| die / per_channel;
        let tables = [
            (
                "dies_over_time",
                self.numbered_parts(array, "die", |busy| busy.dies.clone(), Some(("channel", &channel))),
            ),
            ("channels_over_time", self.numbered_parts(array, "channel", |busy| busy.channels.clone(), None)),
            ("controller_over_time", self.controller(array)),
            ("valid_over_time", self.valid()),
            ("cycles_over_time", self.cycles()),
            ("superblocks_over_time", self.superblocks(drives)),
            ("victims", victims(drives)),
        ];
        let placement = self.placement(drives).map(|table| ("placement_over_time", table));
        let slc_cache = self.slc_cache(drives).map(|table| ("slc_cache_over_time", table));
        tables
            .into_iter()
            .chain(placement)
            .chain(slc_cache)
            .chain(self.energy().map(|table| ("energy_over_time", table)))
            .map(|(name, table)| (name.to_owned(), table))
            .collect()
    }
}

/// Busy times of the parts of the controller, by name.
fn controller_parts(busy: &Busy) -> Vec<(String, Nanos)> {
    let link = busy
        .link
        .map(|[inwards, outwards]| [("link_in".to_owned(), inwards), ("link_out".to_owned(), outwards)]);
    let cores = busy.cores.iter().enumerate().map(|(core, &time)| (format!("core_{core}"), time));
    link.into_iter().flatten().chain([("master".to_owned(), busy.master)]).chain(cores).collect()
}

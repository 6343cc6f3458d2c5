//! How busy parts were, and what superblocks held, over time: `run.utilisation`.
//!
//! Samples are taken where windows of the time series end. What is counted is kept as a sum since the start, so that what lies between two
//! samples is their difference, and leaving out every other sample joins the spans between them in pairs: sums stay exact.

use crate::drives::Drives;
use crate::member::Member;
use crate::table::{Column, Table};
use crate::victims::victims;
use outlast_ssd::{Busy, Ssd};
use outlast_units::Nanos;
use std::collections::BTreeMap;

/// Samples kept at most; even, so that none is left over when every other one goes. A heat map has no more columns.
const MOST: usize = 512;
/// Steps of the share of valid units.
const VALID_STEPS: usize = 20;
/// Steps of P/E cycles at most.
const CYCLE_STEPS: u64 = 20;

/// How many blocks have how many cycles: `counts[0]` have `least`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cycles {
    least: u64,
    counts: Vec<u64>,
}

impl Cycles {
    fn of(drives: &[(u64, &Ssd)]) -> Self {
        let all = || drives.iter().flat_map(|(_, ssd)| ssd.cycles()).map(u64::from);
        let Some((least, most)) = all().map(|each| (each, each)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        else {
            return Self::default();
        };
        let mut counts = vec![0; (most - least) as usize + 1];
        all().for_each(|each| counts[(each - least) as usize] += 1);
        Self { least, counts }
    }

    fn most(&self) -> u64 {
        self.least + self.counts.len().saturating_sub(1) as u64
    }
}

/// What was seen at one moment.
#[derive(Clone, Debug)]
struct Sample {
    at: Nanos,
    /// Since the start, by member of an array and the drive that it is, told by its seed; a drive by itself is member 0.
    busy: Vec<((u64, u64), Busy)>,
    /// Share of its write buffer that is taken, by member.
    buffer: Vec<(u64, f64)>,
    valid: [u64; VALID_STEPS],
    cycles: Cycles,
}

impl Sample {
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
            cycles: Cycles::of(drives),
        }
    }
}

/// All samples.
#[derive(Clone, Debug)]
pub(crate) struct OverTime {
    start: Nanos,
    /// From one sample to the next.
    width: Nanos,
    /// When the next one is due.
    due: Nanos,
    samples: Vec<Sample>,
}

/// Drives that are there, with the number of the member.
fn members<'a>(drives: &Drives<'a>) -> Vec<(u64, &'a Ssd)> {
    match drives.array {
        None => vec![(0, drives.first())],
        Some(volume) => (0..volume.array.config().members)
            .filter_map(|member| {
                let ssd = volume.array.member(member.into()).and_then(Member::drive)?;
                Some((u64::from(member), ssd))
            })
            .collect(),
    }
}

impl OverTime {
    pub(crate) fn new(width: Nanos) -> Self {
        Self { start: Nanos::ZERO, width, due: width, samples: Vec::new() }
    }

    /// Counting begins anew at `at`.
    pub(crate) fn restart(&mut self, at: Nanos) {
        self.start = at;
        self.due = at + self.width;
        self.samples.clear();
    }

    /// A window of the time series has ended by `at`.
    pub(crate) fn sample(&mut self, at: Nanos, drives: &Drives<'_>) {
        if at < self.due {
            return;
        }
        if self.samples.len() == MOST {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                !keep
            });
            self.width = Nanos(self.width.0 * 2);
        }
        self.samples.push(Sample::of(at, &members(drives)));
        // A window may be over long before a command tells.
        self.due = self.start + Nanos(((at - self.start).0 / self.width.0 + 1) * self.width.0);
    }

    /// The run has ended at `at`.
    pub(crate) fn finish(&mut self, at: Nanos, drives: &Drives<'_>) {
        self.samples.retain(|sample| sample.at < at);
        if at > self.start {
            self.samples.push(Sample::of(at, &members(drives)));
        }
    }

    /// Every span between two samples, with what `parts` tells of each member that was there: share of the span by name.
    fn shares<N>(
        &self,
        parts: impl Fn(&Busy) -> Vec<(N, Nanos)>,
        mut row: impl FnMut(&Sample, Nanos, u64, N, f64),
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
                    // What is booked for later than a moment is counted until then, so that no part is less busy than it was.
                    let until = now.max(*then);
                    row(sample, start, drive.0, name, (until - *then).0 as f64 / span);
                    *then = until;
                }
            }
            start = sample.at;
        }
    }

    fn of_parts(
        &self,
        array: bool,
        what: &str,
        parts: impl Fn(&Busy) -> Vec<Nanos>,
        more: Option<(&str, &dyn Fn(u64) -> u64)>,
    ) -> Table {
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
        let mut table = Table::default();
        table.push("start_s", Column::F64(start_s));
        table.push("end_s", Column::F64(end_s));
        if array {
            table.push("device", Column::U64(members));
        }
        if let Some((name, of)) = more {
            table.counts(name, numbers.iter().map(|&number| of(number)));
        }
        table.push(what, Column::U64(numbers));
        table.push("busy", Column::F64(shares));
        table
    }

    /// Link and processors, and how much of the write buffer was taken at the end of each span.
    fn controller(&self, array: bool) -> Table {
        let (mut start_s, mut end_s, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        let (mut members, mut names) = (Vec::new(), Vec::new());
        let mut add = |sample: &Sample, start: Nanos, member, name: String, share| {
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
        let mut table = Table::default();
        table.push("start_s", Column::F64(start_s));
        table.push("end_s", Column::F64(end_s));
        if array {
            table.push("device", Column::U64(members));
        }
        table.push("part", Column::Text(names));
        table.push("busy", Column::F64(shares));
        table
    }

    /// Filled superblocks by valid share at each sample.
    fn valid(&self) -> Table {
        let rows = || self.samples.iter().flat_map(|sample| (0..VALID_STEPS).map(move |step| (sample, step)));
        let edge = |step: usize| step as f64 / VALID_STEPS as f64;
        let mut table = Table::default();
        table.measures("at_s", rows().map(|(sample, _)| sample.at.as_secs_f64()));
        table.measures("from", rows().map(|(_, step)| edge(step)));
        table.measures("to", rows().map(|(_, step)| edge(step + 1)));
        table.counts("superblocks", rows().map(|(sample, step)| sample.valid[step]));
        table
    }

    /// Blocks by P/E cycles at each sample, in the same steps at all of them.
    fn cycles(&self) -> Table {
        let seen = || self.samples.iter().map(|sample| &sample.cycles).filter(|own| !own.counts.is_empty());
        let least = seen().map(|own| own.least).min().unwrap_or(0);
        let most = seen().map(Cycles::most).max().unwrap_or(0);
        let width = (most - least + 1).div_ceil(CYCLE_STEPS);
        let steps = (most - least + 1).div_ceil(width);
        let mut table = Table::default();
        let rows = || self.samples.iter().flat_map(|sample| (0..steps).map(move |step| (sample, step)));
        let from = |step: u64| least + step * width;
        table.measures("at_s", rows().map(|(sample, _)| sample.at.as_secs_f64()));
        table.counts("from", rows().map(|(_, step)| from(step)));
        table.counts("to", rows().map(|(_, step)| from(step + 1)));
        let blocks = |own: &Cycles, step| -> u64 {
            let each = (own.least..).zip(&own.counts);
            each.filter(|(cycles, _)| (from(step)..from(step + 1)).contains(cycles))
                .map(|(_, count)| count)
                .sum()
        };
        table.counts("blocks", rows().map(|(sample, step)| blocks(&sample.cycles, step)));
        table
    }

    /// The tables of results.
    pub(crate) fn tables(&self, drives: &Drives<'_>) -> Vec<(String, Table)> {
        let array = drives.array.is_some();
        let per_channel = u64::from(drives.config().geometry.dies() / drives.config().geometry.channels);
        let channel = |die: u64| die / per_channel;
        let tables = [
            (
                "dies_over_time",
                self.of_parts(array, "die", |busy| busy.dies.clone(), Some(("channel", &channel))),
            ),
            ("channels_over_time", self.of_parts(array, "channel", |busy| busy.channels.clone(), None)),
            ("controller_over_time", self.controller(array)),
            ("valid_over_time", self.valid()),
            ("cycles_over_time", self.cycles()),
            ("victims", victims(drives)),
        ];
        tables.into_iter().map(|(name, table)| (name.to_owned(), table)).collect()
    }
}

/// The parts of the controller that take time, by name.
fn controller_parts(busy: &Busy) -> Vec<(String, Nanos)> {
    let link = busy
        .link
        .map(|[inwards, outwards]| [("link_in".to_owned(), inwards), ("link_out".to_owned(), outwards)]);
    let cores = busy.cores.iter().enumerate().map(|(core, &time)| (format!("core_{core}"), time));
    link.into_iter().flatten().chain([("master".to_owned(), busy.master)]).chain(cores).collect()
}

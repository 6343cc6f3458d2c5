//! What each job of the host got: counts, rates and latencies by job and direction, as fio prints them.

use crate::histogram::Distribution;
use crate::latency::Latency;
use crate::table::{Column, Table};
use hdrhistogram::Histogram;
use outlast_device::{Command, Op, Outcome};
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use outlast_workload::{FioLanes, Noted};
use serde::Serialize;

/// Simulated time over which a rate is sampled: fio's `bwavgtime`.
const SAMPLE: u64 = 500_000_000;
/// Bits of a latency that fio's histogram keeps below the leading one.
const PRECISION: u32 = 6;
const OPS: [(Op, &str); 4] =
    [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim"), (Op::Flush, "sync")];

/// One job: a section of the job file, one of its clones, or a group of jobs that report together.
#[derive(Clone, Debug, Serialize)]
pub struct JobFigures {
    /// Its name; of a group that reports together, the first one's.
    pub name: String,
    /// Number of its group, from 0: groups are parted by `stonewall` and `new_group`.
    pub group: u32,
    /// Jobs in this entry: more than 1 with `group_reporting`.
    pub members: u32,
    /// When it began, in seconds of simulated time.
    pub begin_s: f64,
    /// How long it was measured, in seconds: from its beginning, or the end of its ramp, to its end; of a group the longest.
    pub runtime_s: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub read: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub write: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub trim: Option<JobDirection>,
    /// Flushes.
    pub sync: Option<JobDirection>,
    /// Percent of its requests issued while 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, and 64 or more of it were in flight.
    pub iodepth_level: [f64; 7],
    /// Description of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its options as given, global ones included.
    pub options: std::collections::BTreeMap<String, String>,
}

/// One direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobDirection {
    /// Requests served while the job was measured.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests per second of the job's runtime.
    pub iops: f64,
    /// MiB per second of the job's runtime.
    pub mib_s: f64,
    /// Requests that ended in an error; `ios` does not include them.
    pub errors: u64,
    /// Latencies of those that were served, in microseconds; absent where none was.
    pub latency_us: Option<JobLatency>,
    /// MiB per second in half seconds of simulated time; absent below one.
    pub mib_s_samples: Option<Samples>,
    /// Requests per second in half seconds.
    pub iops_samples: Option<Samples>,
}

/// A distribution of latencies with its standard deviation.
#[derive(Clone, Debug, Serialize)]
pub struct JobLatency {
    /// As everywhere in the result.
    #[serde(flatten)]
    pub distribution: Latency,
    /// Standard deviation.
    pub stddev: f64,
}

/// Samples of a rate.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Samples {
    pub count: u64,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub max: f64,
}

/// Sums of samples.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Standard deviation of the samples, as fio has it: over one less than their number.
    fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        ((self.squares - self.sum * self.sum / count) / (count - 1.0)).max(0.0).sqrt()
    }

    fn figures(&self, unit: f64) -> Option<Samples> {
        (self.count > 0).then(|| Samples {
            count: self.count,
            mean: self.sum / self.count as f64 / unit,
            stddev: self.deviation() / unit,
            min: self.min / unit,
            max: self.max / unit,
        })
    }
}

/// One direction of an entry.
#[derive(Clone, Debug)]
struct Direction {
    ios: u64,
    bytes: u64,
    errors: u64,
    latency: Distribution,
    /// Nanoseconds, for the standard deviation.
    nanos: Sums,
    sampled: (u64, u64),
    byte_rate: Sums,
    io_rate: Sums,
}

/// One entry of the report.
#[derive(Clone, Debug, Default)]
struct Entry {
    directions: [Option<Box<Direction>>; 4],
    levels: [u64; 7],
    next_sample: Nanos,
}

/// A lane while it runs.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    begun: Option<Nanos>,
    measured: Nanos,
    ended: Option<Nanos>,
    flying: u32,
    /// Whether it has asked for anything but a flush.
    issued: bool,
}

/// Records by job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobRecorder {
    entries: Vec<Entry>,
    spans: Vec<Span>,
    /// Entry of each lane.
    entry_of: Vec<u32>,
    digits: u8,
}

impl JobRecorder {
    /// A recorder for these lanes; those of a group that report together share an entry.
    pub(crate) fn new(lanes: Option<&FioLanes>, digits: u8) -> Self {
        let mut entry_of: Vec<u32> = Vec::new();
        let mut shared: Option<(u32, u32)> = None;
        let mut count = 0;
        for info in lanes.into_iter().flat_map(FioLanes::infos) {
            let known = shared.filter(|&(group, _)| info.grouped && group == info.group);
            let entry = known.map_or(count, |(_, entry)| entry);
            if known.is_none() {
                count += 1;
                if info.grouped {
                    shared = Some((info.group, entry));
                }
            }
            entry_of.push(entry);
        }
        Self {
            entries: vec![Entry::default(); count as usize],
            spans: vec![Span::default(); entry_of.len()],
            entry_of,
            digits,
        }
    }

    pub(crate) fn begun(&mut self, lane: u32, at: Nanos) {
        let span = &mut self.spans[lane as usize];
        if span.begun.is_none() {
            (span.begun, span.measured) = (Some(at), at);
            let entry = &mut self.entries[self.entry_of[lane as usize] as usize];
            if entry.next_sample == Nanos::ZERO {
                entry.next_sample = Nanos(at.0 + SAMPLE);
            }
        }
    }

    pub(crate) fn ended(&mut self, lane: u32, at: Nanos) {
        self.spans[lane as usize].ended.get_or_insert(at);
    }

    #[inline]
    pub(crate) fn issued(&mut self, lane: u32, op: Op) {
        if op == Op::Flush {
            return;
        }
        let span = &mut self.spans[lane as usize];
        span.flying += 1;
        span.issued = true;
        let level = span.flying.ilog2().min(6) as usize;
        self.entries[self.entry_of[lane as usize] as usize].levels[level] += 1;
    }

    /// A command of `lane` has completed.
    #[inline]
    pub(crate) fn completed(
        &mut self,
        lane: u32,
        command: &Command,
        since: Nanos,
        at: Nanos,
        outcome: Outcome,
        noted: Noted,
    ) {
        if command.op != Op::Flush {
            self.spans[lane as usize].flying -= 1;
        }
        match noted {
            Noted::Counted => {}
            Noted::Passed => return,
            Noted::RampEnded => return self.forget(lane, at),
        }
        let Some(slot) = OPS.iter().position(|&(op, _)| op == command.op) else { return };
        let entry = &mut self.entries[self.entry_of[lane as usize] as usize];
        if at >= entry.next_sample {
            entry.sample(at);
        }
        let digits = self.digits;
        let direction = entry.directions[slot].get_or_insert_with(|| Box::new(Direction::new(digits)));
        if outcome != Outcome::Ok {
            direction.errors += 1;
            return;
        }
        let latency = (at - since).0;
        direction.ios += 1;
        direction.bytes += u64::from(command.sectors) * SECTOR_BYTES;
        direction.nanos.add(latency as f64);
        direction.latency.record(latency);
    }

    /// The ramp of a lane has ended: what its entry has counted is forgotten, if the lane has it to itself.
    fn forget(&mut self, lane: u32, at: Nanos) {
        self.spans[lane as usize].measured = at;
        let entry = self.entry_of[lane as usize];
        if self.entry_of.iter().filter(|&&other| other == entry).count() == 1 {
            self.entries[entry as usize] = Entry { next_sample: Nanos(at.0 + SAMPLE), ..Entry::default() };
        }
    }

    /// Measuring begins at `at`, for all.
    pub(crate) fn restart(&mut self, at: Nanos) {
        for entry in &mut self.entries {
            *entry = Entry { next_sample: Nanos(at.0 + SAMPLE), ..Entry::default() };
        }
        for span in &mut self.spans {
            if span.begun.is_some() {
                span.measured = span.measured.max(at);
            }
        }
    }

    /// The names of jobs that have issued no request, where others have.
    pub(crate) fn idle<'a>(&self, lanes: Option<&'a FioLanes>) -> Vec<&'a str> {
        if !self.spans.iter().any(|span| span.issued) {
            return Vec::new();
        }
        let infos = lanes.into_iter().flat_map(FioLanes::infos);
        let idle = infos.zip(&self.spans).filter(|(_, span)| !span.issued);
        idle.map(|(info, _)| info.name.as_str()).collect()
    }

    /// The figures, at the end of a run that came to `end`.
    pub(crate) fn figures(&self, lanes: Option<&FioLanes>, end: Nanos) -> Vec<JobFigures> {
        let infos: Vec<_> = lanes.into_iter().flat_map(FioLanes::infos).collect();
        (0..self.entries.len() as u32)
            .filter_map(|entry| {
                let members: Vec<usize> =
                    (0..infos.len()).filter(|&lane| self.entry_of[lane] == entry).collect();
                let info = infos.get(*members.first()?)?;
                let spans = members.iter().map(|&lane| self.spans[lane]);
                let begin = spans.clone().filter_map(|span| span.begun).min().unwrap_or(end);
                let runtime = spans
                    .filter(|span| span.begun.is_some())
                    .map(|span| span.ended.unwrap_or(end).saturating_sub(span.measured))
                    .max()
                    .unwrap_or(Nanos::ZERO);
                let found = &self.entries[entry as usize];
                let all: u64 = found.levels.iter().sum();
                let of = |slot: usize| found.directions[slot].as_ref().map(|d| d.figures(runtime));
                Some(JobFigures {
                    name: info.name.clone(),
                    group: info.group,
                    members: members.len() as u32,
                    begin_s: begin.as_secs_f64(),
                    runtime_s: runtime.as_secs_f64(),
                    read: of(0),
                    write: of(1),
                    trim: of(2),
                    sync: of(3),
                    iodepth_level: found.levels.map(|count| 100.0 * count as f64 / all.max(1) as f64),
                    description: info.description.clone(),
                    options: info.options.iter().cloned().collect(),
                })
            })
            .collect()
    }

    /// Latencies by job and direction in the buckets of fio's own histogram.
    pub(crate) fn table(&self) -> Option<Table> {
        let (mut job, mut op, mut value, mut count) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, entry) in self.entries.iter().enumerate() {
            for (slot, direction) in entry.directions.iter().enumerate() {
                let Some(direction) = direction else { continue };
                for (bucket, found) in buckets(direction.latency.histogram()) {
                    job.push(index as u64);
                    op.push(OPS[slot].1.to_owned());
                    value.push(bucket);
                    count.push(found);
                }
            }
        }
        (!job.is_empty()).then(|| {
            let mut table = Table::default();
            table.push("job", Column::U64(job));
            table.push("op", Column::Text(op));
            table.push("latency_ns", Column::U64(value));
            table.push("count", Column::U64(count));
            table
        })
    }
}

impl Entry {
    #[cold]
    fn sample(&mut self, at: Nanos) {
        while at >= self.next_sample {
            self.next_sample.0 += SAMPLE;
            for direction in self.directions[..3].iter_mut().flatten() {
                let (ios, bytes) =
                    (direction.ios - direction.sampled.0, direction.bytes - direction.sampled.1);
                direction.sampled = (direction.ios, direction.bytes);
                let seconds = SAMPLE as f64 * 1e-9;
                direction.io_rate.add(ios as f64 / seconds);
                direction.byte_rate.add(bytes as f64 / seconds);
            }
        }
    }
}

impl Direction {
    fn new(digits: u8) -> Self {
        Self {
            ios: 0,
            bytes: 0,
            errors: 0,
            latency: Distribution::new(digits),
            nanos: Sums::default(),
            sampled: (0, 0),
            byte_rate: Sums::default(),
            io_rate: Sums::default(),
        }
    }

    fn figures(&self, runtime: Nanos) -> JobDirection {
        let seconds = runtime.as_secs_f64();
        let per = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        let latency_us = Latency::of(&self.latency)
            .map(|distribution| JobLatency { distribution, stddev: self.nanos.deviation() * 1e-3 });
        JobDirection {
            ios: self.ios,
            bytes: self.bytes,
            iops: per(self.ios as f64),
            mib_s: per(Bytes(self.bytes).as_mib()),
            errors: self.errors,
            latency_us,
            mib_s_samples: self.byte_rate.figures(f64::from(1 << 20)),
            iops_samples: self.io_rate.figures(1.0),
        }
    }
}

/// The counts of a histogram in fio's buckets, each named by the middle of its range (`plat_val_to_idx` and back, of fio's `stat.c`).
fn buckets(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for step in histogram.iter_recorded() {
        let middle = step.value_iterated_to();
        let bucket = bucket(middle);
        match found.last_mut() {
            Some(last) if last.0 == bucket => last.1 += step.count_at_value(),
            _ => found.push((bucket, step.count_at_value())),
        }
    }
    found
}

/// The middle of fio's bucket of a latency in nanoseconds.
fn bucket(nanos: u64) -> u64 {
    let leading = nanos.max(1).ilog2();
    if leading <= PRECISION {
        return nanos;
    }
    let width = leading - PRECISION;
    (nanos >> width << width) + (1 << width) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_fio() {
        // plat_idx_to_val(plat_val_to_idx(n)) of fio 3.33, from its source.
        for (nanos, middle) in [
            (0, 0),
            (127, 127),
            (128, 129),
            (129, 129),
            (255, 255),
            (256, 258),
            (1000, 1004),
            (1 << 20, (1 << 20) + (1 << 13)),
        ] {
            assert_eq!(bucket(nanos), middle, "{nanos}");
        }
    }
}

//! Figures of each job of the host: counts, rates and latencies by job and direction, as fio prints them.

use crate::histogram::LatencyHistogram;
use crate::latency::LatencyFigures;
use crate::table::{ResultColumn, ResultTable};
use hdrhistogram::Histogram;
use outlast_device::{Command, Op, Outcome};
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use outlast_workload::{FioJobs, JobCompletion};
use serde::Serialize;

/// Nanoseconds of simulated time over which a rate is sampled: fio's default `bwavgtime`.
const SAMPLE: u64 = 500_000_000;
/// Bits of a latency that fio's histogram keeps below the leading one: `FIO_IO_U_PLAT_BITS`.
const PRECISION: u32 = 6;
const OPS: [(Op, &str); 4] =
    [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim"), (Op::Flush, "sync")];

/// One job: a section of the job file, one of its clones, or a group of jobs that report together.
#[derive(Clone, Debug, Serialize)]
pub struct JobFigures {
    /// Name of the job; for a group that reports together, of its first.
    pub name: String,
    /// Number of its group, from 0: `stonewall` and `new_group` begin a new one.
    pub group: u32,
    /// Jobs in this entry: more than 1 with `group_reporting`.
    pub members: u32,
    /// Beginning of the job, in seconds of simulated time.
    pub begin_s: f64,
    /// Measured time in seconds: from its beginning, or the end of its ramp, to its end; the longest of a group.
    pub runtime_s: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub read: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub write: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub trim: Option<JobDirection>,
    /// Flushes.
    pub sync: Option<JobDirection>,
    /// Percent of requests issued while 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, and 64 or more of the job were in flight.
    pub iodepth_level: [f64; 7],
    /// Description of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Options as in the job file, global ones included.
    pub options: std::collections::BTreeMap<String, String>,
}

/// One direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobDirection {
    /// Requests served while the job was measured.
    pub ios: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// Requests per second of the job's runtime.
    pub iops: f64,
    /// MiB per second of the job's runtime.
    pub mib_s: f64,
    /// Requests that ended in an error; `ios` does not include them.
    pub errors: u64,
    /// Latencies of served requests, in microseconds; absent where none was.
    pub latency_us: Option<JobLatency>,
    /// MiB per second over half seconds of simulated time; absent in shorter runs.
    pub mib_s_samples: Option<RateSamples>,
    /// Requests per second over half seconds of simulated time; absent in shorter runs.
    pub iops_samples: Option<RateSamples>,
}

/// A distribution of latencies with its standard deviation.
#[derive(Clone, Debug, Serialize)]
pub struct JobLatency {
    /// Count, mean, percentiles and extremes.
    #[serde(flatten)]
    pub distribution: LatencyFigures,
    /// Standard deviation in microseconds, over one less than the number of samples.
    pub stddev: f64,
}

/// Samples of a rate.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct RateSamples {
    pub count: u64,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub max: f64,
}

/// Running sums from which mean, deviation and extremes follow.
#[derive(Clone, Copy, Debug, Default)]
struct SampleSums {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl SampleSums {
    fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Standard deviation of the samples over one less than their number, as in fio.
    fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        ((self.squares - self.sum * self.sum / count) / (count - 1.0)).max(0.0).sqrt()
    }

    /// Figures of the samples divided by `unit`; `None` without samples.
    fn figures(&self, unit: f64) -> Option<RateSamples> {
        (self.count > 0).then(|| RateSamples {
            count: self.count,
            mean: self.sum / self.count as f64 / unit,
            stddev: self.deviation() / unit,
            min: self.min / unit,
            max: self.max / unit,
        })
    }
}

/// Counts of one direction of an entry.
#[derive(Clone, Debug)]
struct DirectionRecord {
    ios: u64,
    bytes: u64,
    errors: u64,
    latency: LatencyHistogram,
    /// Latencies in nanoseconds, for the standard deviation.
    nanos: SampleSums,
    /// Requests and bytes at the last sample of rates.
    sampled: (u64, u64),
    byte_rate: SampleSums,
    io_rate: SampleSums,
}

/// One entry of the report: a job, or jobs that report together. Directions are in the order of [`OPS`].
#[derive(Clone, Debug, Default)]
struct JobEntry {
    directions: [Option<Box<DirectionRecord>>; 4],
    levels: [u64; 7],
    next_sample: Nanos,
}

/// Course of one job: beginning, start of its measured time, end, commands in flight.
#[derive(Clone, Copy, Debug, Default)]
struct JobSpan {
    begun: Option<Nanos>,
    measured: Nanos,
    ended: Option<Nanos>,
    in_flight: u32,
    /// True once it has issued anything but a flush.
    issued: bool,
}

/// Counts and latencies by job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobRecorder {
    entries: Vec<JobEntry>,
    spans: Vec<JobSpan>,
    /// Entry of each job.
    entry_of: Vec<u32>,
    digits: u8,
}

impl JobRecorder {
    /// A recorder for these jobs; those of a group that report together share an entry.
    pub(crate) fn new(fio_jobs: Option<&FioJobs>, digits: u8) -> Self {
        // Entries are numbered in the order of their first jobs. Groups are contiguous, so the last shared entry suffices.
        let mut entry_of: Vec<u32> = Vec::new();
        let mut shared: Option<(u32, u32)> = None;
        let mut count = 0;
        for info in fio_jobs.into_iter().flat_map(FioJobs::infos) {
            let shared_entry = shared.filter(|&(group, _)| info.grouped && group == info.group);
            let entry = shared_entry.map_or(count, |(_, entry)| entry);
            if shared_entry.is_none() {
                count += 1;
                if info.grouped {
                    shared = Some((info.group, entry));
                }
            }
            entry_of.push(entry);
        }
        Self {
            entries: vec![JobEntry::default(); count as usize],
            spans: vec![JobSpan::default(); entry_of.len()],
            entry_of,
            digits,
        }
    }

    /// Marks `job` as begun at `at`, unless it has begun.
    pub(crate) fn begin_job(&mut self, job: u32, at: Nanos) {
        let span = &mut self.spans[job as usize];
        if span.begun.is_none() {
            (span.begun, span.measured) = (Some(at), at);
            let entry = &mut self.entries[self.entry_of[job as usize] as usize];
            if entry.next_sample == Nanos::ZERO {
                entry.next_sample = Nanos(at.0 + SAMPLE);
            }
        }
    }

    /// Marks `job` as ended at `at`, unless it has ended.
    pub(crate) fn end_job(&mut self, job: u32, at: Nanos) {
        self.spans[job as usize].ended.get_or_insert(at);
    }

    /// Counts a command that `job` issues, by the job's queue depth. Flushes are outside fio's depth levels.
    #[inline]
    pub(crate) fn issued(&mut self, job: u32, op: Op) {
        if op == Op::Flush {
            return;
        }
        let span = &mut self.spans[job as usize];
        span.in_flight += 1;
        span.issued = true;
        // Powers of two, 64 and more in the last level.
        let level = span.in_flight.ilog2().min(6) as usize;
        self.entries[self.entry_of[job as usize] as usize].levels[level] += 1;
    }

    /// Counts a completed command of `job` that was issued at `since`, as far as `noted` has it counted.
    #[inline]
    pub(crate) fn completed(
        &mut self,
        job: u32,
        command: &Command,
        since: Nanos,
        at: Nanos,
        outcome: Outcome,
        noted: JobCompletion,
    ) {
        if command.op != Op::Flush {
            self.spans[job as usize].in_flight -= 1;
        }
        match noted {
            JobCompletion::Measured => {}
            JobCompletion::Unmeasured => return,
            JobCompletion::RampEnded => return self.restart_job(job, at),
        }
        let Some(slot) = OPS.iter().position(|&(op, _)| op == command.op) else { return };
        let entry = &mut self.entries[self.entry_of[job as usize] as usize];
        // Before counting: the completion belongs to the next half second.
        if at >= entry.next_sample {
            entry.sample(at);
        }
        let digits = self.digits;
        let direction = entry.directions[slot].get_or_insert_with(|| Box::new(DirectionRecord::new(digits)));
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

    /// Begins the measured time of `job` at the end of its ramp. Counts of its entry are dropped only if no other job shares it.
    fn restart_job(&mut self, job: u32, at: Nanos) {
        self.spans[job as usize].measured = at;
        let entry = self.entry_of[job as usize];
        // Others of the entry may be past their ramps, and their counts cannot be told apart.
        if self.entry_of.iter().filter(|&&other| other == entry).count() == 1 {
            self.entries[entry as usize] =
                JobEntry { next_sample: Nanos(at.0 + SAMPLE), ..JobEntry::default() };
        }
    }

    /// Drops all counts: the warm-up of the run has ended at `at`.
    pub(crate) fn restart(&mut self, at: Nanos) {
        for entry in &mut self.entries {
            *entry = JobEntry { next_sample: Nanos(at.0 + SAMPLE), ..JobEntry::default() };
        }
        for span in &mut self.spans {
            if span.begun.is_some() {
                span.measured = span.measured.max(at);
            }
        }
    }

    /// Names of jobs that issued no request while others did.
    pub(crate) fn idle<'a>(&self, fio_jobs: Option<&'a FioJobs>) -> Vec<&'a str> {
        if !self.spans.iter().any(|span| span.issued) {
            return Vec::new();
        }
        // Jobs and spans are in the same order.
        let infos = fio_jobs.into_iter().flat_map(FioJobs::infos);
        let idle = infos.zip(&self.spans).filter(|(_, span)| !span.issued);
        idle.map(|(info, _)| info.name.as_str()).collect()
    }

    /// Figures of all entries at the end of the run.
    pub(crate) fn figures(&self, fio_jobs: Option<&FioJobs>, end: Nanos) -> Vec<JobFigures> {
        let infos: Vec<_> = fio_jobs.into_iter().flat_map(FioJobs::infos).collect();
        (0..self.entries.len() as u32)
            .filter_map(|entry| {
                let members: Vec<usize> =
                    (0..infos.len()).filter(|&job| self.entry_of[job] == entry).collect();
                let info = infos.get(*members.first()?)?;
                // Of jobs that report together: from the first to begin, over the longest measured.
                let spans = members.iter().map(|&job| self.spans[job]);
                let begin = spans.clone().filter_map(|span| span.begun).min().unwrap_or(end);
                let runtime = spans
                    .filter(|span| span.begun.is_some())
                    .map(|span| span.ended.unwrap_or(end).saturating_sub(span.measured))
                    .max()
                    .unwrap_or(Nanos::ZERO);
                let counted = &self.entries[entry as usize];
                let all: u64 = counted.levels.iter().sum();
                let of = |slot: usize| counted.directions[slot].as_ref().map(|d| d.figures(runtime));
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
                    iodepth_level: counted.levels.map(|count| 100.0 * count as f64 / all.max(1) as f64),
                    description: info.description.clone(),
                    options: info.options.iter().cloned().collect(),
                })
            })
            .collect()
    }

    /// Table of latencies by job and direction in fio's buckets; `None` without any.
    pub(crate) fn table(&self) -> Option<ResultTable> {
        let (mut job, mut op, mut value, mut count) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, entry) in self.entries.iter().enumerate() {
            for (slot, direction) in entry.directions.iter().enumerate() {
                let Some(direction) = direction else { continue };
                for (bucket, requests) in buckets(direction.latency.histogram()) {
                    job.push(index as u64);
                    op.push(OPS[slot].1.to_owned());
                    value.push(bucket);
                    count.push(requests);
                }
            }
        }
        (!job.is_empty()).then(|| {
            let mut table = ResultTable::default();
            table.push("job", ResultColumn::U64(job));
            table.push("op", ResultColumn::Text(op));
            table.push("latency_ns", ResultColumn::U64(value));
            table.push("count", ResultColumn::U64(count));
            table
        })
    }
}

impl JobEntry {
    /// Samples the rates of every half second that has ended by `at`; idle ones give zeros. Flushes have no rates.
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

impl DirectionRecord {
    fn new(digits: u8) -> Self {
        Self {
            ios: 0,
            bytes: 0,
            errors: 0,
            latency: LatencyHistogram::new(digits),
            nanos: SampleSums::default(),
            sampled: (0, 0),
            byte_rate: SampleSums::default(),
            io_rate: SampleSums::default(),
        }
    }

    fn figures(&self, runtime: Nanos) -> JobDirection {
        let seconds = runtime.as_secs_f64();
        let per = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        let latency_us = LatencyFigures::of(&self.latency)
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

/// Counts of a histogram in fio's buckets, each keyed by the middle of its range (`plat_val_to_idx` and `plat_idx_to_val` of fio's `stat.c`).
fn buckets(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for step in histogram.iter_recorded() {
        let middle = step.value_iterated_to();
        // Steps come in order, so those of one bucket are neighbours.
        let bucket = bucket(middle);
        match counts.last_mut() {
            Some(last) if last.0 == bucket => last.1 += step.count_at_value(),
            _ => counts.push((bucket, step.count_at_value())),
        }
    }
    counts
}

/// The middle of fio's bucket of a latency, in nanoseconds.
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

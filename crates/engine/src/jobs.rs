//! Figures of each job of the host: counts, rates and latencies by job and direction, as fio prints them.

mod buckets;
mod direction_record;
mod figures;
mod sample_sums;

use crate::table::{ResultColumn, ResultTable};
use buckets::buckets;
use direction_record::DirectionRecord;
pub use figures::{JobDirection, JobFigures, JobLatency, RateSamples};
use outlast_device::{Command, Op, Outcome};
use outlast_units::{Nanos, SECTOR_BYTES};
use outlast_workload::{FioJobs, JobCompletion};
use sample_sums::SampleSums;

/// Nanoseconds of simulated time over which a rate is sampled: fio's default `bwavgtime`.
const SAMPLE: u64 = 500_000_000;
const OPS: [(Op, &str); 4] =
    [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim"), (Op::Flush, "sync")];

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

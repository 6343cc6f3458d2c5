//! Checks the options of the sections and makes the jobs, as fio's `fixup_options` and `setup_files` do.

use super::fixed_latency::UntimedJobs;
use super::idle;
use super::job_options::{AccessKind, AccessPlan, DEFAULT_BLOCK, JobOptions, LawSpec, RequestSizes};
use super::jobs::{FioJob, FioJobs};
use super::key_lists::SYNCHRONOUS;
use super::parse::refused;
use super::rand::JobSeeds;
use super::running_job::JobPlan;
use crate::job::JobInfo;
use crate::pass::PassSeeds;
use crate::{RequestPacing, SizeOrPercent, Workload, WorkloadError, WorkloadTarget};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES, rng::mix, rng::sub_seed};
use std::ops::Range;
use std::sync::Arc;

/// Jobs and their clones at most, as in fio.
const MOST_JOBS: u64 = 4096;

/// Origin of the seeds of random streams.
#[derive(Clone, Copy, Debug)]
pub(super) enum SeedOrigin {
    /// From the scenario's seed, except for jobs with a `randseed`; each pass of a preconditioning has seeds of its own.
    Scenario(PassSeeds),
    /// From `randseed` or fio's own default seed, as fio itself does.
    Fio,
}

/// Key, value and expected form of an option that cannot be simulated.
type RefusedOption = (&'static str, String, String);

/// Checks the job sections of a file and makes the workload.
pub(super) fn open(
    sections: &[JobOptions],
    target: &WorkloadTarget,
    seed_origin: SeedOrigin,
) -> Result<Workload, WorkloadError> {
    let error = |section: &JobOptions, (key, value, expected): RefusedOption| {
        refused(section.position_of(key), key, &value, &expected)
    };
    let count: u64 = sections.iter().map(|section| u64::from(section.numjobs)).sum();
    if count > MOST_JOBS {
        let expected = format!("all jobs together are at most {MOST_JOBS}, as in fio");
        return Err(error(&sections[0], ("numjobs", count.to_string(), expected)));
    }
    let mut jobs: Vec<FioJob> = Vec::new();
    let mut notes = Vec::new();
    let mut footprint = Range { start: u64::MAX, end: 0 };
    let mut group = 0;
    for (index, section) in sections.iter().enumerate() {
        if index > 0 && (section.stonewall || section.new_group) {
            group += 1;
        }
        check_wait_for(sections, index).map_err(|refusal| error(section, refusal))?;
        for clone in 0..section.numjobs {
            let check = JobCheck { options: section, target, clone };
            // fio counts its threads from 1 and seeds each by its number.
            let thread = jobs.len() as u64 + 1;
            let plan =
                check.plan(seeds(section, thread, seed_origin)).map_err(|refusal| error(section, refusal))?;
            let (start, end) = (plan.access.start, plan.access.start + plan.access.length);
            footprint = footprint.start.min(start)..footprint.end.max(end);
            jobs.push(check.job(group, plan));
        }
        add_section_notes(section, &mut notes);
    }
    add_file_note(sections, &mut notes);
    notes.extend(idle::notes(sections, &jobs)?);
    Ok(workload(sections, jobs, footprint, notes))
}

/// The seeds of job number `thread`, counted from 1. Zero in place of a seed of the scenario leaves fio's own seeds unchanged.
fn seeds(section: &JobOptions, thread: u64, seed_origin: SeedOrigin) -> JobSeeds {
    let (layout, chance) = match (seed_origin, section.randseed) {
        (SeedOrigin::Fio, _) | (SeedOrigin::Scenario(PassSeeds { pass: 0, .. }), Some(_)) => (0, 0),
        (SeedOrigin::Scenario(PassSeeds { pass, .. }), Some(_)) => {
            (0, mix(sub_seed(0, "workload.fio") ^ pass))
        }
        (SeedOrigin::Scenario(seeds), None) => {
            let seeds = seeds.within("workload.fio");
            (seeds.layout, seeds.chance)
        }
    };
    let seeds_for = |scenario_seed| {
        JobSeeds::new(section.seed(), thread, section.repeatable, section.all_repeatable, scenario_seed)
    };
    seeds_for(chance).with_centre_of(&seeds_for(layout))
}

/// Checks that `wait_for` of a section names one earlier section: a job cannot wait for itself or for one that begins later.
fn check_wait_for(sections: &[JobOptions], index: usize) -> Result<(), RefusedOption> {
    let section = &sections[index];
    let Some(name) = &section.wait_for else { return Ok(()) };
    let earlier = sections[..index].iter().filter(|earlier| earlier.name == *name).count();
    if earlier == 1 && section.name != *name {
        return Ok(());
    }
    Err(("wait_for", name.clone(), "must name exactly one other job, above this one".into()))
}

fn workload(
    sections: &[JobOptions],
    jobs: Vec<FioJob>,
    footprint: Range<u64>,
    notes: Vec<String>,
) -> Workload {
    let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).take(4).collect();
    let endless = jobs.iter().any(|job| job.plan.is_endless());
    // Flushes do not count towards `number_ios`, so with them the number of requests is unknown.
    let counted = jobs.iter().all(|job| {
        let plan = &job.plan;
        plan.number_ios != 0 && !plan.is_endless() && plan.fsync == [0, 0] && !plan.end_fsync
    });
    let requests = counted.then(|| {
        jobs.iter()
            .fold(0u64, |sum, job| sum.saturating_add(job.plan.number_ios.saturating_mul(job.plan.loops)))
    });
    let depth: u64 = jobs.iter().filter(|job| job.info.group == 0).map(|job| u64::from(job.info.depth)).sum();
    // One job that issues as fast as it is served makes the whole a closed loop, whatever holds the others back.
    let held = jobs.iter().all(|job| job.info.rate.iter().any(Option::is_some) || job.plan.think_time != 0);
    let first = jobs.iter().filter(|job| job.info.group == 0);
    let ramp = first.map(|job| job.info.ramp).max().unwrap_or(Nanos::ZERO);
    let duration = duration(&jobs);
    let exit_all = sections.iter().any(|section| section.exitall);
    let jobs = FioJobs::new(jobs.into(), exit_all);
    Workload {
        pacing: RequestPacing::Jobs { queue_depth: u32::try_from(depth).unwrap_or(u32::MAX), held },
        requests,
        duration,
        endless,
        label: format!("fio {}", names.join(" + ")),
        footprint: Some(Lba(footprint.start / SECTOR_BYTES)..Lba(footprint.end / SECTOR_BYTES)),
        notes,
        ramp,
        source: Box::new(UntimedJobs::new(jobs.restarted())),
        jobs: Some(jobs),
    }
}

/// The longest time that the jobs may take, if each has a runtime: between stonewalls the longest job counts.
fn duration(jobs: &[FioJob]) -> Option<Nanos> {
    let mut total = 0u64;
    let mut longest = 0u64;
    for job in jobs {
        if job.plan.runtime == 0 {
            return None;
        }
        if job.stonewall {
            total = total.saturating_add(longest);
            longest = 0;
        }
        let run_and_ramp = (job.plan.runtime + job.plan.ramp).saturating_mul(1000);
        longest = longest.max(run_and_ramp.saturating_add(job.delay.0));
    }
    Some(Nanos(total.saturating_add(longest)))
}

fn add_section_notes(section: &JobOptions, notes: &mut Vec<String>) {
    let name = &section.name;
    if !section.ignored.is_empty() {
        notes.push(format!("job {name}: ignored {}", section.ignored.join(", ")));
    }
    match &section.engine {
        Some(engine) if section.iodepth > 1 && SYNCHRONOUS.contains(&engine.as_str()) => notes.push(format!(
            "job {name}: ioengine {engine} gives one request after the other, so its depth is 1 and not {}, as in fio",
            section.iodepth
        )),
        None if section.iodepth > 1 => notes.push(format!(
            "job {name}: without an ioengine its depth is {} as given; fio's own default engine psync would make it 1",
            section.iodepth
        )),
        _ => {}
    }
}

fn add_file_note(sections: &[JobOptions], notes: &mut Vec<String>) {
    let files: Vec<&String> = sections.iter().filter_map(|section| section.filename.as_ref()).collect();
    if files.windows(2).any(|pair| pair[0] != pair[1]) {
        notes.push(
            "jobs name different files: all of them address the one device that is simulated".to_owned(),
        );
    }
}

/// The options of one section, to be checked and turned into the job of one of its clones.
struct JobCheck<'a> {
    options: &'a JobOptions,
    target: &'a WorkloadTarget,
    /// Number of the clone, from 0.
    clone: u32,
}

impl JobCheck<'_> {
    /// The job that runs `plan` in `group`.
    fn job(&self, group: u32, plan: JobPlan) -> FioJob {
        let options = self.options;
        let rate = std::array::from_fn(|ddir| Some(plan.rate[ddir]).filter(|&rate| rate != 0));
        let info = JobInfo {
            name: options.name.clone(),
            group,
            grouped: options.group_reporting,
            depth: plan.depth,
            rate,
            ramp: Nanos(plan.ramp.saturating_mul(1000)),
            description: options.description.clone(),
            options: options.options.clone(),
        };
        FioJob {
            info: Arc::new(info),
            plan: Arc::new(plan),
            delay: Nanos(options.start_delay.saturating_mul(1000)),
            // Only the first clone waits for earlier jobs; the others begin together with it.
            stonewall: options.stonewall && self.clone == 0,
            wait_for: options.wait_for.clone(),
            exit_what: options.exit_what,
        }
    }

    /// Sizes of reads, writes and trims.
    fn sizes(&self) -> Result<[RequestSizes; 3], RefusedOption> {
        let options = self.options;
        let mut sizes: [RequestSizes; 3] = std::array::from_fn(|ddir| {
            let block = options.block[ddir].unwrap_or(DEFAULT_BLOCK);
            let (least, most) = options.range[ddir].unwrap_or((block, block));
            RequestSizes { least, most, split: Vec::new() }
        });
        for (ddir, slot) in sizes.iter_mut().enumerate() {
            slot.split.clone_from(options.split[ddir].as_ref().unwrap_or(&Vec::new()));
            let smallest = slot.split.iter().filter(|&&(_, share)| share > 0).map(|&(size, _)| size).min();
            if smallest.is_some_and(|smallest| smallest != slot.least) {
                // With such sizes fio draws for ever and never finds one that fits.
                let expected =
                    "the smallest size needs a share, and a bsrange beside it excludes it".to_owned();
                return Err(("bssplit", format!("{} bytes", slot.least), expected));
            }
            let misfit = slot.split.iter().find(|(size, _)| !size.is_multiple_of(slot.least));
            if let Some((size, _)) = misfit {
                let expected = format!(
                    "sizes must be multiples of the smallest, {}, or fio would round them down",
                    slot.least
                );
                return Err(("bssplit", size.to_string(), expected));
            }
        }
        Ok(sizes)
    }

    /// First byte and length of the region (fio's `get_start_offset` and `setup_files`).
    fn region(&self, smallest: u64) -> Result<(u64, u64), RefusedOption> {
        let (options, capacity) = (self.options, self.target.capacity.0);
        let in_bytes = |extent: SizeOrPercent| match extent {
            SizeOrPercent::Size(bytes) => (bytes.0, false),
            SizeOrPercent::Percent(percent) => {
                ((u128::from(capacity) * percent as u128 / 100) as u64, percent > 0.0)
            }
        };
        let ((offset, offset_is_share), (step, step_is_share)) =
            (in_bytes(options.offset), in_bytes(options.offset_increment));
        // fio makes clones from the first job by counting down, so that the last clone has the smallest number.
        let number = if self.clone == 0 { 0 } else { options.numjobs - self.clone };
        let mut start = offset.saturating_add(step.saturating_mul(u64::from(number)));
        // Only shares are aligned: sizes were written as the user wants them.
        if offset_is_share || step_is_share {
            start =
                start.checked_next_multiple_of(options.offset_align.unwrap_or(smallest)).unwrap_or(u64::MAX);
        }
        if start >= capacity {
            let most = format!("must be below the capacity of {}", self.target.capacity);
            let key = if number > 0 { "offset_increment" } else { "offset" };
            return Err((key, format!("{start} bytes"), most));
        }
        let left = capacity - start;
        let length = match options.size {
            None => left,
            Some(SizeOrPercent::Percent(percent)) if percent >= 100.0 => left,
            Some(SizeOrPercent::Percent(percent)) => {
                let (bytes, _) = in_bytes(SizeOrPercent::Percent(percent));
                bytes.min(left) / smallest * smallest
            }
            Some(SizeOrPercent::Size(bytes)) => bytes.0,
        };
        if length < smallest || length > left {
            let value = options.size.map_or(String::new(), |size| size.to_string());
            let most = Bytes(left);
            return Err((
                "size",
                value,
                format!("must be at least one block and at most the {most} left on the device"),
            ));
        }
        Ok((start, length))
    }

    /// Region, sizes and order of the job's requests.
    fn access(&self) -> Result<AccessPlan, RefusedOption> {
        let options = self.options;
        let sizes = self.sizes()?;
        let smallest = sizes.iter().map(|sizes| sizes.least).min().unwrap_or(DEFAULT_BLOCK);
        let (start, length) = self.region(smallest)?;
        let used: &[usize] = match options.rw {
            AccessKind::Read => &[0],
            AccessKind::Write => &[1],
            AccessKind::Mixed => &[0, 1],
            AccessKind::Trim => &[2],
        };
        if let Some(&ddir) = used.iter().find(|&&ddir| sizes[ddir].least > length) {
            return Err(("bs", sizes[ddir].least.to_string(), "must not exceed the size of the job".into()));
        }
        let align: [u64; 3] = std::array::from_fn(|ddir| {
            options.align[ddir].filter(|_| options.random).unwrap_or(sizes[ddir].least)
        });
        // The random map counts blocks, so that offsets on another grid cannot be marked in it.
        let map = options.map && (0..3).all(|ddir| align[ddir] == sizes[ddir].least);
        if let LawSpec::Zoned(zones, true) = &options.law {
            let total: u64 =
                zones.iter().map(|zones| zones.iter().map(|zone| zone.size).sum()).max().unwrap_or(0);
            if total > length {
                let most = Bytes(length);
                return Err((
                    "random_distribution",
                    format!("{total} bytes"),
                    format!("zones must fit into the {most} of the job"),
                ));
            }
        }
        if options.time_based && options.runtime == 0 {
            return Err(("time_based", "1".into(), "needs a runtime".into()));
        }
        if options.random_percent.iter().flatten().any(|&percent| percent != 100) && !options.random {
            return Err(("percentage_random", String::new(), "needs a random rw".into()));
        }
        Ok(AccessPlan {
            start,
            length,
            device: self.target.capacity.0,
            sizes,
            align,
            random: options.random,
            random_percent: options.random_percent.map(|percent| percent.unwrap_or(100) as u32),
            read_percent: options.read_percent,
            every: options.every,
            skip: options.skip,
            identical: options.identical,
            by_sequence: options.by_sequence,
            time_based: options.time_based,
            map,
            wide: options.wide,
            law: options.law.clone(),
        })
    }

    /// Rates of reads, writes and trims in bytes per second; 0 for no limit.
    fn rates(&self, access: &AccessPlan) -> Result<[u64; 3], RefusedOption> {
        let options = self.options;
        if options.rate.iter().flatten().any(|&rate| rate != 0)
            && options.rate_iops.iter().flatten().any(|&rate| rate != 0)
        {
            return Err(("rate", "given".into(), "rate and rate_iops exclude each other".into()));
        }
        let mut rates = [0; 3];
        for (ddir, slot) in rates.iter_mut().enumerate() {
            let from_iops = options.rate_iops[ddir].unwrap_or(0).checked_mul(access.sizes[ddir].least);
            let refusal =
                || ("rate_iops", "given".to_owned(), "must stay below 2^64 bytes per second".to_owned());
            *slot = options.rate[ddir].filter(|&rate| rate != 0).unwrap_or(from_iops.ok_or_else(refusal)?);
        }
        Ok(rates)
    }

    /// The checked plan of the job, with the limits and defaults that fio derives.
    fn plan(&self, seeds: JobSeeds) -> Result<JobPlan, RefusedOption> {
        let options = self.options;
        let access = self.access()?;
        // As in fio, io_size in percent shortens each pass, and in bytes it limits all passes together.
        let (size, io_size) = match options.io_size {
            Some(SizeOrPercent::Percent(percent)) if percent > 0.0 && percent < 100.0 => {
                ((u128::from(access.length) * percent as u128 / 100) as u64, None)
            }
            Some(SizeOrPercent::Size(bytes)) if bytes.0 != 0 => (access.length, Some(bytes.0)),
            _ => (access.length, None),
        };
        if size < access.smallest() {
            return Err((
                "io_size",
                options.io_size.map_or(String::new(), |size| size.to_string()),
                "must be at least one block".into(),
            ));
        }
        // Without an ioengine the depth decides; fio's own default, psync, would make every depth 1.
        let synchronous = match options.engine.as_deref() {
            None | Some("null") => options.iodepth == 1,
            Some(engine) => SYNCHRONOUS.contains(&engine),
        };
        let depth = if synchronous { 1 } else { options.iodepth };
        let low = options.iodepth_low;
        let runtime = options.runtime;
        Ok(JobPlan {
            rw: options.rw,
            depth,
            depth_low: if low == 0 || low > depth { depth } else { low },
            complete_min: options.complete_min.min(depth),
            synchronous,
            size,
            io_size,
            number_ios: options.number_ios,
            loops: options.loops,
            runtime,
            ramp: options.ramp_time,
            rate: self.rates(&access)?,
            process: options.process,
            think_time: options.think_time,
            think_blocks: options.think_blocks,
            think_issued: options.think_issued,
            think_every: options.think_every,
            rate_ignores_think: options.rate_ignores_think,
            offloads: options.offloads,
            fsync: [options.fsync, options.fdatasync],
            end_fsync: options.end_fsync,
            fua: options.fua,
            reseeds: options.repeatable && options.randseed.is_none(),
            seeds,
            access,
        })
    }
}

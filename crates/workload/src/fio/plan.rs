//! From jobs to lanes: what fio's `fixup_options` and `setup_files` make of the options.

use super::host::{Course, depth_of};
use super::idle;
use super::job::{DEFAULT_BLOCK, Job, LawSpec, Rw, Shape, Sizes};
use super::jobs::{FioLanes, Lane};
use super::known::SYNCHRONOUS;
use super::paced::Untimed;
use super::parse::refused;
use super::rand::Seeds;
use crate::lanes::LaneInfo;
use crate::pass::PassSeeds;
use crate::{Extent, Pacing, Target, Workload, WorkloadError};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES, rng::mix, rng::sub_seed};
use std::ops::Range;
use std::sync::Arc;

/// Jobs and their clones together, as in fio.
const MOST_LANES: u64 = 4096;

/// Where random streams come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Randomness {
    /// From the scenario's seed, except for jobs with a `randseed`; every pass of a preconditioning draws from others.
    Scenario(PassSeeds),
    /// From what the job says alone, as fio has it.
    Fio,
}

type Wrong = (&'static str, String, String);

/// Checks the jobs and makes the workload.
pub(super) fn open(jobs: &[Job], target: &Target, randomness: Randomness) -> Result<Workload, WorkloadError> {
    let wrong = |job: &Job, (key, value, expected): Wrong| refused(job.place_of(key), key, &value, &expected);
    let count: u64 = jobs.iter().map(|job| u64::from(job.numjobs)).sum();
    if count > MOST_LANES {
        let expected = format!("all jobs together are at most {MOST_LANES}, as in fio");
        return Err(wrong(&jobs[0], ("numjobs", count.to_string(), expected)));
    }
    let mut lanes: Vec<Lane> = Vec::new();
    let mut notes = Vec::new();
    let mut footprint = Range { start: u64::MAX, end: 0 };
    let mut group = 0;
    for (index, job) in jobs.iter().enumerate() {
        if index > 0 && (job.stonewall || job.new_group) {
            group += 1;
        }
        check_waiting(jobs, index).map_err(|why| wrong(job, why))?;
        for clone in 0..job.numjobs {
            let check = Check { job, target, clone };
            let thread = lanes.len() as u64 + 1;
            let course = check.course(seeds(job, thread, randomness)).map_err(|why| wrong(job, why))?;
            let (start, end) = (course.shape.start, course.shape.start + course.shape.length);
            footprint = footprint.start.min(start)..footprint.end.max(end);
            lanes.push(check.lane(group, course));
        }
        job_notes(job, &mut notes);
    }
    file_notes(jobs, &mut notes);
    notes.extend(idle::notes(jobs, &lanes)?);
    Ok(workload(jobs, lanes, footprint, notes))
}

fn seeds(job: &Job, thread: u64, randomness: Randomness) -> Seeds {
    let (layout, chance) = match (randomness, job.randseed) {
        (Randomness::Fio, _) | (Randomness::Scenario(PassSeeds { pass: 0, .. }), Some(_)) => (0, 0),
        (Randomness::Scenario(PassSeeds { pass, .. }), Some(_)) => {
            (0, mix(sub_seed(0, "workload.fio") ^ pass))
        }
        (Randomness::Scenario(seeds), None) => {
            let seeds = seeds.within("workload.fio");
            (seeds.layout, seeds.chance)
        }
    };
    let of = |other| Seeds::new(job.seed(), thread, job.repeatable, job.all_repeatable, other);
    of(chance).laid_out_as(&of(layout))
}

fn check_waiting(jobs: &[Job], index: usize) -> Result<(), Wrong> {
    let job = &jobs[index];
    let Some(name) = &job.wait_for else { return Ok(()) };
    let named = jobs[..index].iter().filter(|other| other.name == *name).count();
    if named == 1 && job.name != *name {
        return Ok(());
    }
    Err(("wait_for", name.clone(), "must name exactly one other job, above this one".into()))
}

fn workload(jobs: &[Job], lanes: Vec<Lane>, footprint: Range<u64>, notes: Vec<String>) -> Workload {
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).take(4).collect();
    let endless = lanes.iter().any(|lane| lane.course.endless());
    let counted = lanes.iter().all(|lane| {
        let course = &lane.course;
        course.number_ios != 0 && !course.endless() && course.fsync == [0, 0] && !course.end_fsync
    });
    let requests = counted.then(|| {
        lanes.iter().fold(0u64, |sum, lane| {
            sum.saturating_add(lane.course.number_ios.saturating_mul(lane.course.loops))
        })
    });
    let depth: u64 =
        lanes.iter().filter(|lane| lane.info.group == 0).map(|lane| u64::from(lane.info.depth)).sum();
    // Beside a job that asks as fast as it is served, one that is held to a rate makes no open loop.
    let held = lanes.iter().all(|lane| lane.info.rate.iter().any(Option::is_some) || lane.course.think != 0);
    let first = lanes.iter().filter(|lane| lane.info.group == 0);
    let ramp = first.map(|lane| lane.info.ramp).max().unwrap_or(Nanos::ZERO);
    let duration = duration(&lanes);
    let exit_all = jobs.iter().any(|job| job.exitall);
    let lanes = FioLanes::new(lanes.into(), exit_all);
    Workload {
        pacing: Pacing::Lanes { queue_depth: u32::try_from(depth).unwrap_or(u32::MAX), held },
        requests,
        duration,
        endless,
        label: format!("fio {}", names.join(" + ")),
        footprint: Some(Lba(footprint.start / SECTOR_BYTES)..Lba(footprint.end / SECTOR_BYTES)),
        notes,
        ramp,
        source: Box::new(Untimed::new(lanes.anew())),
        lanes: Some(lanes),
    }
}

/// How long the jobs take at most, where each says: group by group behind a stonewall.
fn duration(lanes: &[Lane]) -> Option<Nanos> {
    let mut total = 0u64;
    let mut longest = 0u64;
    for lane in lanes {
        if lane.course.runtime == 0 {
            return None;
        }
        if lane.stonewall {
            total = total.saturating_add(longest);
            longest = 0;
        }
        let own = (lane.course.runtime + lane.course.ramp).saturating_mul(1000);
        longest = longest.max(own.saturating_add(lane.delay.0));
    }
    Some(Nanos(total.saturating_add(longest)))
}

fn job_notes(job: &Job, notes: &mut Vec<String>) {
    let name = &job.name;
    if !job.ignored.is_empty() {
        notes.push(format!("job {name}: ignored {}", job.ignored.join(", ")));
    }
    match &job.engine {
        Some(engine) if job.iodepth > 1 && SYNCHRONOUS.contains(&engine.as_str()) => notes.push(format!(
            "job {name}: ioengine {engine} gives one request after the other, so its depth is 1 and not {}, as in fio",
            job.iodepth
        )),
        None if job.iodepth > 1 => notes.push(format!(
            "job {name}: without an ioengine its depth is {} as given; fio's own default engine psync would make it 1",
            job.iodepth
        )),
        _ => {}
    }
}

fn file_notes(jobs: &[Job], notes: &mut Vec<String>) {
    let files: Vec<&String> = jobs.iter().filter_map(|job| job.filename.as_ref()).collect();
    if files.windows(2).any(|pair| pair[0] != pair[1]) {
        notes.push(
            "jobs name different files: all of them address the one device that is simulated".to_owned(),
        );
    }
}

struct Check<'a> {
    job: &'a Job,
    target: &'a Target,
    clone: u32,
}

impl Check<'_> {
    fn lane(&self, group: u32, course: Course) -> Lane {
        let job = self.job;
        let rate = std::array::from_fn(|ddir| Some(course.rate[ddir]).filter(|&rate| rate != 0));
        let info = LaneInfo {
            name: job.name.clone(),
            group,
            grouped: job.group_reporting,
            depth: course.depth,
            rate,
            ramp: Nanos(course.ramp.saturating_mul(1000)),
            description: job.description.clone(),
            options: job.options.clone(),
        };
        Lane {
            info: Arc::new(info),
            course: Arc::new(course),
            delay: Nanos(job.start_delay.saturating_mul(1000)),
            // Clones begin with the first of them.
            stonewall: job.stonewall && self.clone == 0,
            wait_for: job.wait_for.clone(),
            exit_what: job.exit_what,
        }
    }

    fn sizes(&self) -> Result<[Sizes; 3], Wrong> {
        let job = self.job;
        let mut sizes: [Sizes; 3] = std::array::from_fn(|ddir| {
            let block = job.block[ddir].unwrap_or(DEFAULT_BLOCK);
            let (least, most) = job.range[ddir].unwrap_or((block, block));
            Sizes { least, most, split: Vec::new() }
        });
        for (ddir, slot) in sizes.iter_mut().enumerate() {
            slot.split.clone_from(job.split[ddir].as_ref().unwrap_or(&Vec::new()));
            let smallest = slot.split.iter().filter(|&&(_, share)| share > 0).map(|&(size, _)| size).min();
            if smallest.is_some_and(|smallest| smallest != slot.least) {
                // fio would look for a size that fits for ever.
                let expected =
                    "the smallest size needs a share, and a bsrange beside it excludes it".to_owned();
                return Err(("bssplit", format!("{} bytes", slot.least), expected));
            }
            let rough = slot.split.iter().find(|(size, _)| !size.is_multiple_of(slot.least));
            if let Some((size, _)) = rough {
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
    fn region(&self, smallest: u64) -> Result<(u64, u64), Wrong> {
        let (job, capacity) = (self.job, self.target.capacity.0);
        let share = |extent: Extent| match extent {
            Extent::Size(bytes) => (bytes.0, false),
            Extent::Percent(percent) => {
                ((u128::from(capacity) * percent as u128 / 100) as u64, percent > 0.0)
            }
        };
        let ((offset, by_share), (step, steps_by_share)) = (share(job.offset), share(job.offset_increment));
        // fio numbers clones from the last to the first.
        let number = if self.clone == 0 { 0 } else { job.numjobs - self.clone };
        let mut start = offset.saturating_add(step.saturating_mul(u64::from(number)));
        if by_share || steps_by_share {
            start = start.checked_next_multiple_of(job.offset_align.unwrap_or(smallest)).unwrap_or(u64::MAX);
        }
        if start >= capacity {
            let most = format!("must be below the capacity of {}", self.target.capacity);
            let key = if number > 0 { "offset_increment" } else { "offset" };
            return Err((key, format!("{start} bytes"), most));
        }
        let left = capacity - start;
        let length = match job.size {
            None => left,
            Some(Extent::Percent(percent)) if percent >= 100.0 => left,
            Some(Extent::Percent(percent)) => {
                let (bytes, _) = share(Extent::Percent(percent));
                bytes.min(left) / smallest * smallest
            }
            Some(Extent::Size(bytes)) => bytes.0,
        };
        if length < smallest || length > left {
            let value = job.size.map_or(String::new(), |size| size.to_string());
            let most = Bytes(left);
            return Err((
                "size",
                value,
                format!("must be at least one block and at most the {most} left on the device"),
            ));
        }
        Ok((start, length))
    }

    fn shape(&self) -> Result<Shape, Wrong> {
        let job = self.job;
        let sizes = self.sizes()?;
        let smallest = sizes.iter().map(|sizes| sizes.least).min().unwrap_or(DEFAULT_BLOCK);
        let (start, length) = self.region(smallest)?;
        let used: &[usize] = match job.rw {
            Rw::Read => &[0],
            Rw::Write => &[1],
            Rw::Mixed => &[0, 1],
            Rw::Trim => &[2],
        };
        if let Some(&ddir) = used.iter().find(|&&ddir| sizes[ddir].least > length) {
            return Err(("bs", sizes[ddir].least.to_string(), "must not exceed the size of the job".into()));
        }
        let align: [u64; 3] =
            std::array::from_fn(|ddir| job.align[ddir].filter(|_| job.random).unwrap_or(sizes[ddir].least));
        let map = job.map && (0..3).all(|ddir| align[ddir] == sizes[ddir].least);
        if let LawSpec::Zoned(zones, true) = &job.law {
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
        if job.time_based && job.runtime == 0 {
            return Err(("time_based", "1".into(), "needs a runtime".into()));
        }
        if job.random_percent.iter().flatten().any(|&percent| percent != 100) && !job.random {
            return Err(("percentage_random", String::new(), "needs a random rw".into()));
        }
        Ok(Shape {
            start,
            length,
            device: self.target.capacity.0,
            sizes,
            align,
            random: job.random,
            random_percent: job.random_percent.map(|percent| percent.unwrap_or(100) as u32),
            read_percent: job.read_percent,
            every: job.every,
            skip: job.skip,
            identical: job.identical,
            by_sequence: job.by_sequence,
            time_based: job.time_based,
            map,
            wide: job.wide,
            law: job.law.clone(),
        })
    }

    fn rates(&self, shape: &Shape) -> Result<[u64; 3], Wrong> {
        let job = self.job;
        if job.rate.iter().flatten().any(|&rate| rate != 0)
            && job.rate_iops.iter().flatten().any(|&rate| rate != 0)
        {
            return Err(("rate", "given".into(), "rate and rate_iops exclude each other".into()));
        }
        let mut rates = [0; 3];
        for (ddir, slot) in rates.iter_mut().enumerate() {
            let by_requests = job.rate_iops[ddir].unwrap_or(0).checked_mul(shape.sizes[ddir].least);
            let expected =
                || ("rate_iops", "given".to_owned(), "must stay below 2^64 bytes per second".to_owned());
            *slot = job.rate[ddir].filter(|&rate| rate != 0).unwrap_or(by_requests.ok_or_else(expected)?);
        }
        Ok(rates)
    }

    fn course(&self, seeds: Seeds) -> Result<Course, Wrong> {
        let job = self.job;
        let shape = self.shape()?;
        // A share of io_size shrinks what a pass does; bytes say what all passes do.
        let (size, io_size) = match job.io_size {
            Some(Extent::Percent(percent)) if percent > 0.0 && percent < 100.0 => {
                ((u128::from(shape.length) * percent as u128 / 100) as u64, None)
            }
            Some(Extent::Size(bytes)) if bytes.0 != 0 => (shape.length, Some(bytes.0)),
            _ => (shape.length, None),
        };
        if size < shape.smallest() {
            return Err((
                "io_size",
                job.io_size.map_or(String::new(), |size| size.to_string()),
                "must be at least one block".into(),
            ));
        }
        // An engine that was not named is the one that fits the depth.
        let synchronous = match job.engine.as_deref() {
            None | Some("null") => job.iodepth == 1,
            Some(engine) => SYNCHRONOUS.contains(&engine),
        };
        let depth = depth_of(job, synchronous);
        let low = job.iodepth_low;
        let runtime = job.runtime;
        Ok(Course {
            rw: job.rw,
            depth,
            depth_low: if low == 0 || low > depth { depth } else { low },
            complete_min: job.complete_min.min(depth),
            synchronous,
            size,
            io_size,
            number_ios: job.number_ios,
            loops: job.loops,
            runtime,
            ramp: job.ramp_time,
            rate: self.rates(&shape)?,
            process: job.process,
            think: job.think.max(job.think_spin.min(job.think)),
            think_blocks: job.think_blocks,
            think_issued: job.think_issued,
            think_every: job.think_every,
            rate_ignores_think: job.rate_ignores_think,
            offloads: job.offloads,
            fsync: [job.fsync, job.fdatasync],
            end_fsync: job.end_fsync,
            fua: job.fua,
            reseeds: job.repeatable && job.randseed.is_none(),
            seeds,
            shape,
        })
    }
}

//! Checks the options of the sections and makes the jobs, as fio's `fixup_options` and `setup_files` do.

mod job_check;
mod kind_check;

use super::engines::SYNCHRONOUS;
use super::fixed_latency::UntimedJobs;
use super::idle;
use super::job_options::{AccessKind, JobOptions};
use super::job_space::{self, JobSpace};
use super::jobs::{FioJob, FioJobs};
use super::parse::refused;
use super::rand::JobSeeds;
use super::zbd::{self, HostZones};
use crate::pass::PassSeeds;
use crate::{NamespaceTarget, RequestPacing, Workload, WorkloadError, WorkloadTarget};
use job_check::JobCheck;
use outlast_units::{Lba, Nanos, SECTOR_BYTES, rng::mix, rng::sub_seed};
use std::ops::Range;

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
    time_slice: Option<Nanos>,
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
    let sections: Vec<JobOptions> = sections
        .iter()
        .map(|section| zbd::in_bytes(section, target).map_err(|refusal| error(section, refusal)))
        .collect::<Result<_, _>>()?;
    let sections = &sections[..];
    let mut jobs: Vec<FioJob> = Vec::new();
    let mut notes = Vec::new();
    let mut footprint = Range { start: u64::MAX, end: 0 };
    let mut group = 0;
    for (index, section) in sections.iter().enumerate() {
        if index > 0 && (section.stonewall || section.new_group) {
            group += 1;
        }
        check_wait_for(sections, index).map_err(|refusal| error(section, refusal))?;
        let own = namespace_of(section, target).map_err(|refusal| error(section, refusal))?;
        let narrowed = own.map(|own| narrowed(target, own));
        let start = own.map_or(0, |own| own.start);
        let target = narrowed.as_ref().unwrap_or(target);
        for clone in 0..section.numjobs {
            let check = JobCheck { options: section, target, clone, space: own.map(JobSpace::new) };
            // fio counts its threads from 1 and seeds each by its number.
            let thread = jobs.len() as u64 + 1;
            let plan =
                check.plan(seeds(section, thread, seed_origin)).map_err(|refusal| error(section, refusal))?;
            let first = start + plan.access.start;
            footprint = footprint.start.min(first)..footprint.end.max(first + plan.access.length);
            jobs.push(check.job(group, plan));
        }
        add_section_notes(section, &mut notes);
    }
    if target.namespaces.is_empty() {
        add_file_note(sections, &mut notes);
    }
    notes.extend(idle::notes(sections, &jobs)?);
    let zoned = zoned_file(sections, target).map_err(|(at, refusal)| error(&sections[at], refusal))?;
    let zoned = zoned.as_ref().unwrap_or(target);
    let zones =
        zbd::shared(sections, zoned, jobs.len()).map_err(|(at, refusal)| error(&sections[at], refusal))?;
    notes.extend(time_slice.filter(|_| jobs.len() > 1).map(slice_note));
    Ok(workload(sections, jobs, (zones, time_slice), footprint, notes))
}

/// The namespace of `target` that the file of a section is; `None`: the whole device.
fn namespace_of<'a>(
    section: &JobOptions,
    target: &'a WorkloadTarget,
) -> Result<Option<&'a NamespaceTarget>, RefusedOption> {
    let Some(name) = &section.filename else { return Ok(None) };
    let count = target.namespaces.len();
    let own = job_space::named(name, target).map_err(|_| {
        ("filename", name.clone(), format!("the drive has {count} namespaces, /dev/nvme0n1 and so on"))
    })?;
    let Some(own) = own else { return Ok(None) };
    let writes = section.rw != AccessKind::Read;
    if own.read_only && writes {
        return Err(("filename", name.clone(), "names a namespace that is write-protected".to_owned()));
    }
    Ok(Some(own))
}

/// The target of the namespace that is the file of all jobs with `zonemode=zbd`; `None`: their file is the whole device. They share its zones, so that a job
/// whose file is another one is refused, with the number of its section.
fn zoned_file(
    sections: &[JobOptions],
    target: &WorkloadTarget,
) -> Result<Option<WorkloadTarget>, (usize, RefusedOption)> {
    let mut found: Option<Option<&NamespaceTarget>> = None;
    for (at, section) in sections.iter().enumerate().filter(|(_, section)| section.zbd.is_on) {
        let own = namespace_of(section, target).map_err(|refusal| (at, refusal))?;
        if found.is_some_and(|found| found != own) {
            let name = section.filename.clone().unwrap_or_default();
            let limit = "must be the same namespace in all jobs with zonemode=zbd: they share its zones";
            return Err((at, ("filename", name, limit.to_owned())));
        }
        found = Some(own);
    }
    Ok(found.flatten().map(|own| narrowed(target, own)))
}

/// The target of a job in namespace `own`.
fn narrowed(target: &WorkloadTarget, own: &NamespaceTarget) -> WorkloadTarget {
    WorkloadTarget {
        capacity: own.capacity,
        handles: own.identifiers.len() as u16,
        zones: target.zones.map(|zones| zones.part(own, target.namespaces.len())),
        namespaces: Vec::new(),
        ..target.clone()
    }
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
    (zones, time_slice): (Option<HostZones>, Option<Nanos>),
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
    let jobs = FioJobs::new(jobs.into(), zones, time_slice, exit_all);
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
        // A stonewall waits for the longest of the jobs before it.
        if job.stonewall {
            total = total.saturating_add(longest);
            longest = 0;
        }
        let run_and_ramp = (job.plan.runtime + job.plan.ramp).saturating_mul(1000);
        longest = longest.max(run_and_ramp.saturating_add(job.delay.0));
    }
    Some(Nanos(total.saturating_add(longest)))
}

fn slice_note(slice: Nanos) -> String {
    format!(
        "all jobs poll on one core of the host, in turns of {slice}: latencies include the time in which a job is not running"
    )
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

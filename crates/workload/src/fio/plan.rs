//! From jobs to generators.

use super::job::{Distribution, Job, Process, Rw};
use super::run::{Group, Jobs, Lane};
use crate::synthetic::{
    Address, Alias, ArrivalPlan, Limit, Permuted, Plan, Scramble, Sequential, Size, SizePlan, Uniform, Zipf,
    Zones, threshold,
};
use crate::{Pacing, Target, Workload, WorkloadError};
use outlast_device::StreamId;
use outlast_units::{Lba, Nanos, SECTOR_BYTES, rng::SplitMix, rng::sub_seed};
use std::ops::Range;

/// Block size where none is given, as in fio.
const DEFAULT_BLOCK: u64 = 4096;
/// The largest block.
const MOST_BLOCK: u64 = 1 << 30;
/// Jobs and their clones together.
const MOST_LANES: u64 = 65_536;

/// Checks the jobs and makes the workload.
pub(super) fn open(file: &str, jobs: &[Job], target: &Target) -> Result<Workload, WorkloadError> {
    let mut notes = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut footprint = Range { start: u64::MAX, end: 0 };
    let wrong = |job: &Job, key: &str, value: String, expected: String| WorkloadError::JobValue {
        file: file.to_owned(),
        line: job.line,
        key: key.to_owned(),
        value,
        expected,
    };
    let lanes: u64 = jobs.iter().map(|job| u64::from(job.numjobs)).sum();
    if lanes > MOST_LANES {
        return Err(wrong(
            &jobs[0],
            "numjobs",
            lanes.to_string(),
            format!("all jobs together are at most {MOST_LANES}"),
        ));
    }
    let open_loop = jobs[0].rate_iops.is_some();
    if let Some(job) = jobs.iter().find(|job| job.rate_iops.is_some() != open_loop) {
        let expected = "either every job has a rate_iops (open loop) or none (closed loop)".into();
        return Err(wrong(job, "rate_iops", format!("{:?}", job.rate_iops), expected));
    }
    for (index, job) in jobs.iter().enumerate() {
        if groups.is_empty() || job.stonewall {
            groups.push(Group::default());
        }
        let seed = job.randseed.map_or(target.seed, |own| sub_seed(target.seed, "randseed") ^ own);
        let check = Check { job, target, open_loop };
        for clone in 0..job.numjobs {
            let seed = sub_seed(seed, &format!("workload.fio job {index} clone {clone}"));
            let (plan, region) = check
                .plan(clone, seed, &mut notes)
                .map_err(|(key, value, why)| wrong(job, key, value, why))?;
            footprint = footprint.start.min(region.start)..footprint.end.max(region.end);
            if let Some(group) = groups.last_mut() {
                group.lanes.push(Lane { plan, weight: job.iodepth, delay: job.start_delay });
            }
        }
        job_notes(job, open_loop, &mut notes);
    }
    finish(file, jobs, groups, footprint, notes)
}

fn finish(
    file: &str,
    jobs: &[Job],
    groups: Vec<Group>,
    footprint: Range<u64>,
    mut notes: Vec<String>,
) -> Result<Workload, WorkloadError> {
    let wrong = |job: &Job, key: &str, value: String, expected: &str| WorkloadError::JobValue {
        file: file.to_owned(),
        line: job.line,
        key: key.to_owned(),
        value,
        expected: expected.to_owned(),
    };
    let open_loop = jobs[0].rate_iops.is_some();
    let depth = |group: &Group| group.lanes.iter().map(|lane| u64::from(lane.weight)).sum::<u64>();
    let queue_depth = u32::try_from(groups.first().map_or(1, depth)).unwrap_or(u32::MAX);
    let mut duration = None;
    if !open_loop {
        if let Some(group) = groups.iter().find(|group| depth(group) != u64::from(queue_depth)) {
            let expected =
                format!("groups parted by stonewall need the same depth in all; the first has {queue_depth}");
            return Err(wrong(&jobs[0], "iodepth", depth(group).to_string(), &expected));
        }
        if let Some(job) = jobs.iter().find(|job| job.start_delay > 0) {
            return Err(wrong(
                job,
                "startdelay",
                format!("{} ns", job.start_delay),
                "needs rate_iops: only the engine sees the time in a closed loop",
            ));
        }
        let last = jobs.iter().rposition(|job| job.stonewall).unwrap_or(0);
        if let Some(job) = jobs[..last].iter().find(|job| job.runtime.is_some()) {
            let why = "before a stonewall needs rate_iops, or number_ios or io_size in its place: only the engine sees the time in a closed loop";
            return Err(wrong(job, "runtime", format!("{} ns", job.runtime.unwrap_or(0)), why));
        }
        let runtimes = jobs[last..].iter().map(|job| job.runtime);
        if runtimes.clone().all(|runtime| runtime.is_some()) {
            duration = if groups.len() == 1 { runtimes.flatten().max() } else { None };
            if groups.len() > 1 {
                return Err(wrong(
                    &jobs[last],
                    "runtime",
                    "given".into(),
                    "with stonewall needs rate_iops: only the engine sees the time in a closed loop",
                ));
            }
        } else if runtimes.flatten().next().is_some() {
            notes.push("runtime of a job beside jobs without one is ignored in a closed loop".into());
        }
    }
    let lanes = || groups.iter().flat_map(|group| &group.lanes);
    let endless = lanes().any(|lane| {
        let limit = lane.plan.limit;
        limit.requests == u64::MAX && limit.sectors == u64::MAX && (!open_loop || limit.duration == u64::MAX)
    });
    let requests = lanes().try_fold(0u64, |sum, lane| {
        (lane.plan.limit.requests != u64::MAX).then(|| sum.saturating_add(lane.plan.limit.requests))
    });
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).take(4).collect();
    Ok(Workload {
        pacing: if open_loop { Pacing::Open } else { Pacing::Closed { queue_depth } },
        requests,
        duration: duration.map(Nanos),
        endless,
        label: format!("fio {}", names.join(" + ")),
        footprint: Some(Lba(footprint.start)..Lba(footprint.end)),
        notes,
        source: Box::new(Jobs::new(groups, open_loop)),
    })
}

fn job_notes(job: &Job, open_loop: bool, notes: &mut Vec<String>) {
    let name = &job.name;
    if !job.ignored.is_empty() {
        notes.push(format!("job {name}: ignored {}", job.ignored.join(", ")));
    }
    if job.ramp_time > 0 {
        notes.push(format!("job {name}: ramp_time is ignored; set the warm-up of the run instead"));
    }
    if open_loop && job.iodepth > 1 {
        notes.push(format!(
            "job {name}: iodepth = {} is ignored, since rate_iops makes an open loop",
            job.iodepth
        ));
    }
}

struct Check<'a> {
    job: &'a Job,
    target: &'a Target,
    open_loop: bool,
}

type Wrong = (&'static str, String, String);

impl Check<'_> {
    /// First sector and length of the region of a clone.
    fn region(&self, clone: u32) -> Result<(u64, u64), Wrong> {
        let capacity = self.target.capacity.0 / SECTOR_BYTES;
        let job = self.job;
        let step = job.offset_increment.sectors(capacity).saturating_mul(u64::from(clone));
        let offset = job.offset.sectors(capacity).saturating_add(step);
        if offset >= capacity {
            let most = format!("must be below the capacity of {}", self.target.capacity);
            return Err(("offset", format!("{offset} sectors"), most));
        }
        let left = capacity - offset;
        let length = job.size.map_or(left, |size| size.sectors(capacity));
        if length == 0 || length > left {
            let value = job.size.map_or(String::new(), |size| size.to_string());
            return Err((
                "size",
                value,
                format!("must be at least one sector and at most the {left} sectors left"),
            ));
        }
        Ok((offset, length))
    }

    fn size_plan(&self, op: usize, region: u64, align: u64) -> Result<SizePlan, Wrong> {
        let default = vec![(DEFAULT_BLOCK, 100.0)];
        let list = self.job.sizes[op].as_ref().unwrap_or(&default);
        let mut sizes = Vec::new();
        for &(bytes, _) in list {
            if bytes == 0 || bytes > MOST_BLOCK || !bytes.is_multiple_of(SECTOR_BYTES) {
                return Err((
                    "bs",
                    bytes.to_string(),
                    "must be a whole number of 512-byte sectors, at most 1g".into(),
                ));
            }
            let fits = Size::new((bytes / SECTOR_BYTES) as u32, region, align);
            sizes.push(fits.ok_or_else(|| {
                ("bs", bytes.to_string(), "must not exceed the size of the job".to_owned())
            })?);
        }
        match sizes[..] {
            [] => Err(("bssplit", "nothing".into(), "must name a size".into())),
            [one] => Ok(SizePlan::One(one)),
            _ => Ok(SizePlan::Mix(
                Alias::new(&list.iter().map(|item| item.1).collect::<Vec<_>>()),
                sizes.into(),
            )),
        }
    }

    fn plan(&self, clone: u32, seed: u64, notes: &mut Vec<String>) -> Result<(Plan, Range<u64>), Wrong> {
        let job = self.job;
        let (start, region) = self.region(clone)?;
        let used: &[usize] = match job.rw {
            Rw::Read => &[0],
            Rw::Write => &[1],
            Rw::Mixed => &[0, 1],
            Rw::Trim => &[2],
        };
        let smallest = used
            .iter()
            .flat_map(|&op| job.sizes[op].as_deref().unwrap_or(&[(DEFAULT_BLOCK, 100.0)]))
            .map(|item| item.0)
            .min()
            .unwrap_or(DEFAULT_BLOCK);
        let align = job.block_align.unwrap_or(smallest);
        // A default alignment that is wrong is reported as the block size that it comes from, below.
        let wrong = !(SECTOR_BYTES..=MOST_BLOCK).contains(&align) || !align.is_multiple_of(SECTOR_BYTES);
        if wrong && job.block_align.is_some() {
            return Err((
                "blockalign",
                align.to_string(),
                "must be a whole number of 512-byte sectors, at most 1g".into(),
            ));
        }
        let align = (align / SECTOR_BYTES).max(1);
        let first = self.size_plan(used[0], region, align)?;
        // Kinds of request that the job never makes share the sizes of those that it does.
        let mut sizes = [first.clone(), first.clone(), first];
        for &op in used {
            sizes[op] = self.size_plan(op, region, align)?;
        }
        let (read, trim) = match job.rw {
            Rw::Read => (1.0, 1.0),
            Rw::Write => (0.0, 0.0),
            Rw::Mixed => (job.mix_read / 100.0, job.mix_read / 100.0),
            Rw::Trim => (0.0, 1.0),
        };
        let single = used.iter().all(|&op| matches!(&sizes[op], SizePlan::One(size) if size.step == 1));
        let address = self.address((region - 1) / align + 1, region / align, seed, single, clone, notes)?;
        let arrival = match (job.rate_iops, job.process) {
            (None, _) => ArrivalPlan::Closed,
            (Some(rate), Process::Linear) => ArrivalPlan::Fixed(1e9 / rate),
            (Some(rate), Process::Poisson) => ArrivalPlan::Poisson(1e9 / rate),
        };
        let plan = Plan {
            start,
            align,
            address,
            read: threshold(read),
            trim: threshold(trim),
            sizes,
            arrival,
            flush_every: job.fsync,
            fua: threshold(if job.fua { 1.0 } else { 0.0 }),
            hot: StreamId(0),
            cold: StreamId(0),
            limit: self.limit(region)?,
            seed,
        };
        Ok((plan, start..start + region))
    }

    fn limit(&self, region: u64) -> Result<Limit, Wrong> {
        let job = self.job;
        if job.time_based && job.runtime.is_none() {
            return Err(("time_based", "1".into(), "needs a runtime".into()));
        }
        let capacity = self.target.capacity.0 / SECTOR_BYTES;
        let once = job.io_size.map_or(region, |size| size.sectors(capacity)).max(1);
        let sectors = if job.time_based { u64::MAX } else { once.saturating_mul(job.loops) };
        let duration = job.runtime.filter(|_| self.open_loop).unwrap_or(u64::MAX);
        Ok(Limit { requests: job.number_ios.unwrap_or(u64::MAX), sectors, duration })
    }

    /// `places` counts all starts, `whole` those at which a whole block fits.
    fn address(
        &self,
        places: u64,
        whole: u64,
        seed: u64,
        single: bool,
        clone: u32,
        notes: &mut Vec<String>,
    ) -> Result<Address, Wrong> {
        let job = self.job;
        let wanted = if job.random { 100.0 } else { 0.0 };
        if let Some(given) = job.percentage_random.filter(|given| (given - wanted).abs() > 1e-9) {
            return Err((
                "percentage_random",
                given.to_string(),
                format!("only {wanted} is supported with this rw"),
            ));
        }
        if !job.random {
            return Ok(Address::Sequential(Sequential::apart()));
        }
        let mut rng = SplitMix::new(seed, "scramble");
        Ok(match &job.distribution {
            Distribution::Random if job.random_map && single => {
                Address::Permuted(Permuted::new(whole.max(1), &mut rng))
            }
            Distribution::Random => {
                if job.random_map && clone == 0 {
                    notes.push(format!(
                        "job {}: with several sizes addresses are drawn without a random map",
                        job.name
                    ));
                }
                Address::Uniform(Uniform)
            }
            // fio spreads the ranks of its Zipf law by a hash.
            Distribution::Zipf(theta) => {
                Address::Zipf(Zipf::new(places, *theta), Some(Scramble::new(places, &mut rng)))
            }
            Distribution::Zoned(zones) => Address::Zones(Zones::new(places, zones, None)),
        })
    }
}

//! Checks the options of one section, and derives the limits and defaults as fio does.

use super::RefusedOption;
use crate::fio::engines::SYNCHRONOUS;
use crate::fio::job_options::{AccessKind, AccessPlan, DEFAULT_BLOCK, JobOptions, LawSpec, RequestSizes};
use crate::fio::job_plan::JobPlan;
use crate::fio::job_space::JobSpace;
use crate::fio::jobs::FioJob;
use crate::fio::offsets::TRIM;
use crate::fio::rand::JobSeeds;
use crate::fio::zbd::ZbdPlan;
use crate::job::JobInfo;
use crate::{SizeOrPercent, WorkloadTarget};
use outlast_units::{Bytes, Nanos};
use std::sync::Arc;

/// The largest read or write: 1 GiB.
const MOST_MOVED: u64 = 1 << 30;

/// The options of one section, to be checked and turned into the job of one of its clones.
pub(super) struct JobCheck<'a> {
    pub(super) options: &'a JobOptions,
    pub(super) target: &'a WorkloadTarget,
    /// Number of the clone, from 0.
    pub(super) clone: u32,
    /// The namespace whose capacity and identifiers the target has.
    pub(super) space: Option<JobSpace>,
}

impl JobCheck<'_> {
    /// The job that runs `plan` in `group`.
    pub(super) fn job(&self, group: u32, plan: JobPlan) -> FioJob {
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
            flow_at: options.position_of("flow").clone(),
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
        if let Some(file) = options.file_size {
            return self.region_of_file(start, file);
        }
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
        self.check_blocks(sizes.iter().map(|sizes| sizes.least).chain([start]))?;
        let used: &[usize] = match options.rw {
            AccessKind::Read => &[0],
            AccessKind::Write => &[1],
            AccessKind::Mixed => &[0, 1],
            AccessKind::Trim => &[2],
            AccessKind::TrimWrite => &[1, 2],
        };
        if let Some(&ddir) = used.iter().find(|&&ddir| sizes[ddir].least > length) {
            return Err(("bs", sizes[ddir].least.to_string(), "must not exceed the size of the job".into()));
        }
        if let Some(&ddir) = used.iter().find(|&&ddir| ddir != TRIM && sizes[ddir].most > MOST_MOVED) {
            return Err((
                "bs",
                sizes[ddir].most.to_string(),
                "must be at most 1g for reads and writes".into(),
            ));
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
            trims_first: options.rw == AccessKind::TrimWrite,
            random_percent: options.random_percent.map(|percent| percent.unwrap_or(100) as u32),
            read_percent: options.read_percent,
            every: options.every,
            skip: options.skip,
            identical: options.identical,
            by_sequence: options.by_sequence,
            time_based: options.time_based,
            map,
            source: options.source,
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
            // fio turns requests a second into bytes a second by the smallest request of the direction.
            let from_iops = options.rate_iops[ddir].unwrap_or(0).checked_mul(access.sizes[ddir].least);
            let refusal =
                || ("rate_iops", "given".to_owned(), "must stay below 2^64 bytes per second".to_owned());
            *slot = options.rate[ddir].filter(|&rate| rate != 0).unwrap_or(from_iops.ok_or_else(refusal)?);
        }
        Ok(rates)
    }

    /// The checked plan of the job, with the limits and defaults that fio derives.
    pub(super) fn plan(&self, seeds: JobSeeds) -> Result<JobPlan, RefusedOption> {
        let options = self.options;
        let mut access = self.access()?;
        self.check_kinds(&access, &seeds)?;
        // As in fio, a region that is cut to whole zones leaves the bytes of a pass as they are.
        let asked = match (options.file_size, options.size) {
            (Some(_), Some(SizeOrPercent::Size(bytes))) if bytes.0 != 0 => bytes.0.min(access.length),
            _ => access.length,
        };
        let zbd = ZbdPlan::of(options, self.target, &mut access)?;
        // As in fio, io_size in percent shortens each pass, and in bytes it limits all passes together.
        let (size, io_size) = match options.io_size {
            Some(SizeOrPercent::Percent(percent)) if percent > 0.0 && percent < 100.0 => {
                ((u128::from(asked) * percent as u128 / 100) as u64, None)
            }
            Some(SizeOrPercent::Size(bytes)) if bytes.0 != 0 => (asked, Some(bytes.0)),
            _ => (asked, None),
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
        // A reset ends before fio goes on.
        let synchronous = synchronous || (zbd.is_some() && options.rw == AccessKind::Trim);
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
            flow: options.flow,
            fsync: [options.fsync, options.fdatasync],
            end_fsync: options.end_fsync,
            fua: options.fua,
            placement: options.placement.plan(self.target.handles)?,
            space: self.space.clone(),
            zbd,
            // A `randseed` makes fio continue its streams from pass to pass.
            reseeds: options.repeatable && options.randseed.is_none(),
            seeds,
            access,
        })
    }
}

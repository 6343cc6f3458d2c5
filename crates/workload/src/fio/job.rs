//! One job, as its section and the global ones before it say.

use super::keys;
use super::parse::Section;
use crate::{Extent, WorkloadError};

/// What a job asks for, per kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rw {
    Read,
    Write,
    Mixed,
    Trim,
}

/// How random addresses are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    Random,
    Zipf(f64),
    /// Shares of accesses and of the region, in percent.
    Zoned(Vec<(f64, f64)>),
}

/// How a rate is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Linear,
    Poisson,
}

/// Sizes with their shares, for reads, writes and trims.
pub(super) type Sizes = [Option<Vec<(u64, f64)>>; 3];

/// One job with fio's defaults.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) rw: Rw,
    pub(super) random: bool,
    pub(super) sizes: Sizes,
    pub(super) block_align: Option<u64>,
    pub(super) mix_read: f64,
    pub(super) iodepth: u32,
    pub(super) size: Option<Extent>,
    pub(super) io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    pub(super) number_ios: Option<u64>,
    pub(super) runtime: Option<u64>,
    pub(super) time_based: bool,
    pub(super) distribution: Distribution,
    pub(super) rate_iops: Option<f64>,
    pub(super) process: Process,
    pub(super) numjobs: u32,
    pub(super) random_map: bool,
    pub(super) fsync: u64,
    pub(super) fua: bool,
    pub(super) loops: u64,
    pub(super) start_delay: u64,
    pub(super) ramp_time: u64,
    pub(super) stonewall: bool,
    pub(super) randseed: Option<u64>,
    pub(super) percentage_random: Option<f64>,
    pub(super) ignored: Vec<String>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            line: 1,
            rw: Rw::Read,
            random: false,
            sizes: [None, None, None],
            block_align: None,
            mix_read: 50.0,
            iodepth: 1,
            size: None,
            io_size: None,
            offset: Extent::Percent(0.0),
            offset_increment: Extent::Percent(0.0),
            number_ios: None,
            runtime: None,
            time_based: false,
            distribution: Distribution::Random,
            rate_iops: None,
            process: Process::Linear,
            numjobs: 1,
            random_map: true,
            fsync: 0,
            fua: false,
            loops: 1,
            start_delay: 0,
            ramp_time: 0,
            stonewall: false,
            randseed: None,
            percentage_random: None,
            ignored: Vec::new(),
        }
    }
}

/// The jobs of a file.
pub(super) fn jobs(file: &str, sections: &[Section<'_>]) -> Result<Vec<Job>, WorkloadError> {
    let mut global = Job::default();
    let mut jobs = Vec::new();
    for section in sections {
        let is_global = section.name == "global";
        let mut job = if is_global { std::mem::take(&mut global) } else { global.clone() };
        if !is_global {
            section.name.clone_into(&mut job.name);
            job.line = section.line;
        }
        for entry in &section.entries {
            keys::apply(&mut job, entry).map_err(|wrong| keys::error(file, entry, wrong))?;
        }
        if is_global {
            global = job;
        } else {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(WorkloadError::Empty { file: file.to_owned(), found: "no job section".into() });
    }
    Ok(jobs)
}

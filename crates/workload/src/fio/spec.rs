//! The settings of a fio job, and opening it.

use super::job_options::JobOptions;
use super::parse::{LinePosition, refused, sections};
use super::{data_placement, keys, plan};
use crate::error::bad_setting;
use crate::pass::PassSeeds;
use crate::{InputFile, Workload, WorkloadError, WorkloadTarget};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest job file that is read.
const MOST_BYTES: u64 = 1 << 20;
/// Limits of a time slice: shorter turns would be spent on changing them, and no scheduler lets a thread wait for longer.
const SHORTEST_SLICE: Nanos = Nanos::micros(10);
const LONGEST_SLICE: Nanos = Nanos::secs(10);

/// A fio job: exactly one of `file` and `job`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FioSpec {
    /// A job file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The text of a job file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Values of `${NAME}` in the job. `outlast run job.fio` takes missing ones from its environment; the simulator never does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, String>,
    /// Turns that all jobs take on one core of the host, from 10 us to 10 s each. A job polls for its completions: while it runs it never gives up the core, and
    /// it sees a completion, or the end of a sleep, only while it runs. Two threads that SPDK pins to one core have 16 ms each on Linux up to 6.5 with 250
    /// ticks a second and 8 processors or more. Absent: each job has a core of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_slice: Option<Nanos>,
}

impl FioSpec {
    /// Every file that the job reads: the job file and what it includes.
    pub(crate) fn input_files(&self) -> Vec<InputFile> {
        // If an included file cannot be read, the job file alone is listed; opening the job reports the error.
        let files = self.files().unwrap_or_else(|_| self.file.iter().cloned().collect());
        files.into_iter().map(|path| InputFile { setting: "workload.fio.file", path }).collect()
    }

    /// Reads the job and checks it. See [`crate::WorkloadSpec::open_pass`].
    pub(crate) fn open(&self, target: &WorkloadTarget, seeds: PassSeeds) -> Result<Workload, WorkloadError> {
        plan::open(&self.jobs()?, target, self.slice()?, plan::SeedOrigin::Scenario(seeds))
    }

    /// Opens the job with fio's own random streams, whatever the target's seed. Otherwise as [`FioSpec::open`].
    pub(crate) fn open_as_fio(&self, target: &WorkloadTarget) -> Result<Workload, WorkloadError> {
        plan::open(&self.jobs()?, target, self.slice()?, plan::SeedOrigin::Fio)
    }

    /// The time slice, which must be within its limits.
    fn slice(&self) -> Result<Option<Nanos>, WorkloadError> {
        match self.time_slice {
            Some(slice) if !(SHORTEST_SLICE..=LONGEST_SLICE).contains(&slice) => {
                let limit = format!("must be between {SHORTEST_SLICE} and {LONGEST_SLICE}");
                Err(bad_setting("workload.fio.time_slice", slice, limit))
            }
            slice => Ok(slice),
        }
    }

    /// The options of the jobs, with what their files of placement schemes say.
    fn jobs(&self) -> Result<Vec<JobOptions>, WorkloadError> {
        let (name, text) = self.text()?;
        let mut jobs = keys::jobs(&name, &self.sections(&name, &text)?)?;
        for job in &mut jobs {
            if let Some(file) = job.placement.scheme_file.clone() {
                let (_, text) = self.read_beside(&file, "dp_scheme", job.position_of("dp_scheme"))?;
                job.placement.scheme = data_placement::scheme(&text);
            }
        }
        Ok(jobs)
    }

    fn sections(&self, name: &str, text: &str) -> Result<Vec<super::parse::JobSection>, WorkloadError> {
        sections(name, text, &self.vars, &|file, position| self.read_include(file, position))
    }

    fn text(&self) -> Result<(String, String), WorkloadError> {
        match (&self.file, &self.job) {
            (Some(file), None) => Ok((file.clone(), read_job_file(file)?)),
            (None, Some(text)) => Ok(("workload.fio.job".to_owned(), text.clone())),
            (None, None) => Err(WorkloadError::Missing {
                field: "workload.fio".into(),
                needed: "give the file of a job, or its text as job".into(),
            }),
            (Some(_), Some(_)) => Err(WorkloadError::Conflict {
                first: "workload.fio.file".into(),
                second: "workload.fio.job".into(),
                why: "a job is in a file or given as text",
            }),
        }
    }

    /// Reads an included file, whose path is relative to the folder of the file that includes it.
    fn read_include(&self, file: &str, position: &LinePosition) -> Result<(String, String), WorkloadError> {
        self.read_beside(file, "include", position)
    }

    /// Reads a file that `key` of a job names, whose path is relative to the folder of the file with that key.
    fn read_beside(
        &self,
        file: &str,
        key: &'static str,
        position: &LinePosition,
    ) -> Result<(String, String), WorkloadError> {
        if self.file.is_none() {
            return Err(refused(position, key, file, "needs a job file: text given as job has no folder"));
        }
        let path = Path::new(&*position.file).parent().unwrap_or(Path::new("")).join(file);
        let path = path.to_string_lossy().into_owned();
        let text = read_job_file(&path).map_err(|error| refused(position, key, file, &error.to_string()))?;
        Ok((path, text))
    }

    /// All files that the job consists of: the job file, the files that it includes, and its placement schemes. None if the job is given as text.
    ///
    /// # Errors
    /// A file cannot be read, or a line cannot be parsed.
    pub fn files(&self) -> Result<Vec<String>, WorkloadError> {
        let (name, text) = self.text()?;
        if self.file.is_none() {
            return Ok(Vec::new());
        }
        let files = std::cell::RefCell::new(vec![name.clone()]);
        let sections = sections(&name, &text, &self.vars, &|file, position| {
            let included = self.read_include(file, position)?;
            files.borrow_mut().push(included.0.clone());
            Ok(included)
        })?;
        let mut files = files.into_inner();
        for entry in sections.iter().flat_map(|section| &section.entries) {
            if let ("dp_scheme", Some(file)) = (entry.key.as_str(), &entry.value) {
                files.push(self.read_beside(file, "dp_scheme", &entry.position)?.0);
            }
        }
        Ok(files)
    }
}

/// Opens the text of a job file.
///
/// # Errors
/// A line, key or value is malformed or not supported (the message names line and key), or a job does not fit the target.
pub fn parse_job(text: &str, target: &WorkloadTarget) -> Result<Workload, WorkloadError> {
    FioSpec { job: Some(text.to_owned()), ..FioSpec::default() }.open(target, PassSeeds::new(target, 0))
}

/// The names of the `${NAME}` in the text of a job file, in order of appearance, each once. Comments are skipped.
pub fn job_variables(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut remaining = line.split([';', '#']).next().unwrap_or("");
        while let Some((_, after)) = remaining.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            if !names.iter().any(|listed| listed == name) {
                names.push(name.to_owned());
            }
            remaining = after;
        }
    }
    names
}

fn read_job_file(file: &str) -> Result<String, WorkloadError> {
    let failed = |source| WorkloadError::Open { file: file.to_owned(), source };
    // Opening a pipe without a writer would wait for ever; a directory gives its own error.
    let meta = std::fs::metadata(file).map_err(failed)?;
    if !meta.is_file() && !meta.is_dir() {
        let why = "a job file must be a regular file, not a pipe or device; write it to a file first";
        return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    }
    let size = meta.len();
    if size > MOST_BYTES {
        return Err(bad_setting(
            file,
            format!("{size} bytes"),
            format!("a job file has at most {MOST_BYTES} bytes"),
        ));
    }
    #[allow(clippy::disallowed_methods, reason = "the fio reader is the edge that opens job files")]
    std::fs::read_to_string(file).map_err(failed)
}

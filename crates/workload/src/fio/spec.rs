//! The settings of a fio job, and opening it.

use super::parse::sections;
use super::{job, plan};
use crate::{InputFile, Target, Workload, WorkloadError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest job file that is read.
const MOST_BYTES: u64 = 1 << 20;

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
}

impl FioSpec {
    /// Every file that the job reads.
    pub(crate) fn input_files(&self) -> Vec<InputFile> {
        let named = |path: &String| InputFile { setting: "workload.fio.file", path: path.clone() };
        self.file.iter().map(named).collect()
    }

    /// Reads the job and checks it. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &Target) -> Result<Workload, WorkloadError> {
        match (&self.file, &self.job) {
            (Some(file), None) => open_text(file, &read(file)?, target),
            (None, Some(text)) => open_text("workload.fio.job", text, target),
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
}

/// Opens the text of a job file.
///
/// # Errors
/// A line, key or value that is not understood (the message names line and key), or a job that does not fit the target.
pub fn parse_job(text: &str, target: &Target) -> Result<Workload, WorkloadError> {
    FioSpec { file: None, job: Some(text.to_owned()) }.open(target)
}

fn read(file: &str) -> Result<String, WorkloadError> {
    let failed = |source| WorkloadError::Open { file: file.to_owned(), source };
    let meta = std::fs::metadata(file).map_err(failed)?;
    if !meta.is_file() && !meta.is_dir() {
        let why = "a job file must be a regular file, not a pipe or device; write it to a file first";
        return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    }
    let size = meta.len();
    if size > MOST_BYTES {
        return Err(crate::error::bad(
            file,
            format!("{size} bytes"),
            format!("a job file has at most {MOST_BYTES} bytes"),
        ));
    }
    #[allow(clippy::disallowed_methods, reason = "the fio reader is the edge that opens job files")]
    std::fs::read_to_string(file).map_err(failed)
}

fn open_text(file: &str, text: &str, target: &Target) -> Result<Workload, WorkloadError> {
    let jobs = job::jobs(file, &sections(file, text)?)?;
    plan::open(file, &jobs, target)
}

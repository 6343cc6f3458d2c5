//! Jobs that ask for nothing: fio runs them to an end without a word.

use super::host::{Course, Thread};
use super::job::Job;
use super::jobs::Lane;
use super::parse::refused;
use crate::WorkloadError;
use crate::lanes::Ask;
use outlast_device::Op;
use outlast_units::Nanos;
use std::sync::Arc;

const WHY: &str = "its offset, size, sizes and zones leave no place for one";

/// Whether a job that runs by itself ever asks for a read, a write or a trim.
fn is_idle(course: &Arc<Course>) -> bool {
    let mut now = Nanos::ZERO;
    let mut thread = Thread::new(course.clone(), now);
    loop {
        match thread.ask(now) {
            Ask::Issue(command) if command.op == Op::Flush => {
                thread.completed(now, &command);
            }
            Ask::Issue(_) => return false,
            Ask::Until(at) => now = now.max(at),
            // There is nothing in flight to wait for.
            Ask::Wait | Ask::Ended => return true,
        }
    }
}

/// Notes that name the jobs of `lanes` that ask for nothing.
///
/// # Errors
/// None of them asks for anything.
pub(super) fn notes(jobs: &[Job], lanes: &[Lane]) -> Result<Vec<String>, WorkloadError> {
    let idle: Vec<&Lane> = lanes.iter().filter(|lane| is_idle(&lane.course)).collect();
    if let Some(job) = jobs.first().filter(|_| idle.len() == lanes.len()) {
        let given = job.options.iter().rev().find(|(key, _)| key == "rw" || key == "readwrite");
        let (key, value) = given.map_or(("rw", "read"), |(key, value)| (key.as_str(), value.as_str()));
        let what = if lanes.len() == 1 { "the job" } else { "each job" };
        return Err(refused(job.place_of(key), key, value, &format!("{what} issues no request: {WHY}")));
    }
    let mut notes: Vec<String> = Vec::new();
    for lane in idle {
        let clones = lanes.iter().filter(|other| other.info.name == lane.info.name).count();
        let what = if clones > 1 { "a clone of it" } else { "it" };
        let note = format!("job {}: {what} issues no request: {WHY}", lane.info.name);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

//! Jobs that issue no request. fio ends them without a message; here they are noted or refused.

use super::job_options::JobOptions;
use super::job_plan::JobPlan;
use super::jobs::FioJob;
use super::parse::refused;
use super::running_job::RunningJob;
use crate::WorkloadError;
use crate::job::JobStep;
use outlast_device::Op;
use outlast_units::Nanos;
use std::sync::Arc;

const WHY: &str = "its offset, size, sizes and zones leave no place for one";

/// True if a job that runs alone never issues a read, a write or a trim.
fn is_idle(plan: &Arc<JobPlan>) -> bool {
    let mut now = Nanos::ZERO;
    let mut job = RunningJob::new(plan.clone(), 0, now);
    loop {
        match job.next_step(now, None, None) {
            JobStep::Issue(command) if command.op == Op::Flush => {
                job.handle_completion(now, &command);
            }
            JobStep::Issue(_) => return false,
            JobStep::SleepUntil(at) => now = now.max(at),
            // There is nothing in flight to wait for.
            JobStep::Wait | JobStep::Ended => return true,
        }
    }
}

/// Notes on the jobs that issue no request; `sections` are the options of the job file, `jobs` its jobs and clones.
///
/// # Errors
/// None of the jobs issues a request.
pub(super) fn notes(sections: &[JobOptions], jobs: &[FioJob]) -> Result<Vec<String>, WorkloadError> {
    let idle: Vec<&FioJob> = jobs.iter().filter(|job| is_idle(&job.plan)).collect();
    if let Some(section) = sections.first().filter(|_| idle.len() == jobs.len()) {
        // The message points to `rw`, which every job has, if only by default.
        let option = section.options.iter().rev().find(|(key, _)| key == "rw" || key == "readwrite");
        let (key, value) = option.map_or(("rw", "read"), |(key, value)| (key.as_str(), value.as_str()));
        let subject = if jobs.len() == 1 { "the job" } else { "each job" };
        let reason = format!("{subject} issues no request: {WHY}");
        return Err(refused(section.position_of(key), key, value, &reason));
    }
    let mut notes: Vec<String> = Vec::new();
    for job in idle {
        let clones = jobs.iter().filter(|other| other.info.name == job.info.name).count();
        let subject = if clones > 1 { "a clone of it" } else { "it" };
        let note = format!("job {}: {subject} issues no request: {WHY}", job.info.name);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

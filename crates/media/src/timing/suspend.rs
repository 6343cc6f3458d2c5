//! Suspension of programs and erases.

use super::at_most_a_second;
use crate::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Suspension of programs and erases by host reads.
///
/// A suspended operation goes on when no read waits any more, at the latest after `reads` reads. So reads delay it by at most
/// `limit · (latency + resume + reads · one read)`, with its own `latency`. With `least_progress` p, or phases of p, it is suspended fewer than
/// `(T - latency) / p` times, `T` its time in the array, whatever the limit; and as long as it has not been suspended `limit` times, a
/// read that meets it waits for at most `resume + p + latency`. With both, the least progress is rounded up to whole phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendConfig {
    /// True if host reads may suspend a program.
    pub program: bool,
    /// True if host reads may suspend an erase.
    pub erase: bool,
    /// Time from the suspend command until the die can read, and again from the last read until the operation goes on, where
    /// `erase_latency` and `resume` say nothing else.
    pub overhead: Nanos,
    /// How often one operation may be suspended; then it runs to its end.
    pub limit: u8,
    /// How many reads (each with its re-reads) a die serves during one suspension; then the operation goes on. So a stream of reads
    /// delays it by at most `limit · (2 · overhead + reads · one read)`. 1 to 255. Default: 16, an assumption of this simulator.
    #[serde(default = "SuspendConfig::default_reads")]
    pub reads: u8,
    /// Time of work in the array that an operation must have made since it began or last went on before it may be suspended (again). A
    /// read that comes earlier waits until then, and so do reads that were left waiting when the operation began or went on. Absent:
    /// none, and reads left waiting suspend nothing (except for a program with phases); the next one that comes does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_progress: Option<Nanos>,
    /// Time of one phase of a program, such as a pulse with its verification, where a program can be suspended only between two phases (Wu and He,
    /// FAST 2012: inter-phase suspension). A read waits for the end of the phase that it meets, also one that was left waiting, and a program
    /// makes at least one before it is suspended (again). Absent: at any moment. Example: "125us".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_phase: Option<Nanos>,
    /// Time from the suspend command to an erase until the die can read. Absent: `overhead`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_latency: Option<Nanos>,
    /// Time from the last read until the suspended operation goes on. Absent: `overhead`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Nanos>,
    /// Whether a program may be suspended while host writes wait to enter the buffer of its flash core. Where not, no read suspends a program
    /// meanwhile; one that came meanwhile waits for its end. Default: true.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub while_writes_wait: bool,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// Operation of a die that a read may suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayWork {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

impl SuspendConfig {
    /// Default number of reads that one suspension may serve.
    pub const DEFAULT_READS: u8 = 16;

    fn default_reads() -> u8 {
        Self::DEFAULT_READS
    }

    /// Settings by which programs and erases may both be suspended `limit` times, for `reads` reads each time, at `overhead` before and after.
    pub const fn both(overhead: Nanos, limit: u8, reads: u8) -> Self {
        Self {
            program: true,
            erase: true,
            overhead,
            limit,
            reads,
            least_progress: None,
            program_phase: None,
            erase_latency: None,
            resume: None,
            while_writes_wait: true,
        }
    }

    /// Number of times that `work` may be suspended; 0 if it may not.
    #[inline]
    pub fn limit_of(&self, work: ArrayWork) -> u8 {
        match work {
            ArrayWork::Program if self.program => self.limit,
            ArrayWork::Erase if self.erase => self.limit,
            _ => 0,
        }
    }

    /// The earliest moment from `now` on at which `work`, whose array began or went on at `start`, may be suspended, as far as its progress matters.
    #[inline]
    pub fn earliest(&self, work: ArrayWork, start: Nanos, now: Nanos) -> Nanos {
        let from = now.max(start + self.least_progress.unwrap_or(Nanos::ZERO));
        match self.program_phase {
            Some(phase) if work == ArrayWork::Program => {
                // A suspended program goes on where a phase begins, so phases count from there.
                let phases = (from.0 - start.0).div_ceil(phase.0).max(1);
                start + Nanos(phases * phase.0)
            }
            _ => from,
        }
    }

    /// True if reads that were left waiting when `work` began or went on suspend it, since it had to make progress first.
    #[inline]
    pub fn heeds_waiting_reads(&self, work: ArrayWork) -> bool {
        self.least_progress.is_some() || work == ArrayWork::Program && self.program_phase.is_some()
    }

    /// Time from the suspend command to `work` until the die can read.
    #[inline]
    pub fn latency_of(&self, work: ArrayWork) -> Nanos {
        match work {
            ArrayWork::Program => self.overhead,
            ArrayWork::Erase => self.erase_latency.unwrap_or(self.overhead),
        }
    }

    /// Time from the last read until the operation goes on.
    #[inline]
    pub fn resume_time(&self) -> Nanos {
        self.resume.unwrap_or(self.overhead)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// No reads, or a time above a second.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.reads == 0 {
            let limit = "must be between 1 and 255: an operation is suspended for the sake of a read";
            return Err(ConfigError::new("device.timing.suspend.reads", 0, limit));
        }
        if self.program_phase == Some(Nanos::ZERO) {
            let limit = "must be longer than 0: leave it out where a program can be suspended at any moment";
            return Err(ConfigError::new("device.timing.suspend.program_phase", 0, limit));
        }
        let times = [
            ("overhead", Some(self.overhead)),
            ("least_progress", self.least_progress),
            ("program_phase", self.program_phase),
            ("erase_latency", self.erase_latency),
            ("resume", self.resume),
        ];
        for (name, time) in times {
            at_most_a_second(&format!("device.timing.suspend.{name}"), time.unwrap_or(Nanos::ZERO))?;
        }
        Ok(())
    }
}

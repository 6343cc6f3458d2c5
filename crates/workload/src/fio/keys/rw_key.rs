//! The key `rw`.

use super::key_values::count;
use crate::fio::job_options::{AccessKind, JobOptions};
use crate::fio::values::{self, ValueFault};

/// Applies `rw`, with the number behind its colon: requests per draw of a random job, bytes to skip of a sequential one.
pub(super) fn rw(job: &mut JobOptions, text: &str) -> Result<(), ValueFault> {
    let (name, modifier) =
        text.split_once(':').map_or((text, None), |(name, modifier)| (name, Some(modifier.trim())));
    (job.rw, job.random) = match name.trim() {
        "read" => (AccessKind::Read, false),
        "write" => (AccessKind::Write, false),
        "rw" | "readwrite" => (AccessKind::Mixed, false),
        "randread" => (AccessKind::Read, true),
        "randwrite" => (AccessKind::Write, true),
        "randrw" => (AccessKind::Mixed, true),
        "trim" => (AccessKind::Trim, false),
        "randtrim" => (AccessKind::Trim, true),
        "trimwrite" => (AccessKind::TrimWrite, false),
        "randtrimwrite" => (AccessKind::TrimWrite, true),
        _ => {
            let kinds = "expected read, write, rw, trim or trimwrite, or one of these behind \"rand\"";
            return Err(kinds.into());
        }
    };
    (job.every, job.skip) = (1, 0);
    let Some(modifier) = modifier else { return Ok(()) };
    if job.random {
        job.every = u64::from(count(modifier, 1 << 30)?);
        return Ok(());
    }
    let (digits, back) = modifier.strip_prefix('-').map_or((modifier, false), |digits| (digits, true));
    let skip = values::size(digits)?;
    if skip > 1 << 50 || !skip.is_multiple_of(512) {
        return Err("expected bytes to skip after the colon, in whole sectors of 512".into());
    }
    job.skip = if back { -skip.cast_signed() } else { skip.cast_signed() };
    Ok(())
}

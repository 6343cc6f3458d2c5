//! Re-reads: reading again with shifted thresholds or soft information, each time with fewer raw errors.

use super::FailTable;
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Model of re-reads by HRM, in which "each successive read effectively reduces the RBER of the data by retry scale
/// factor" (section 3). Read a (0 is the first read, a > 0 the a-th re-read) sees `rber / scale_factor^a`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RereadConfig {
    /// By how much each re-read divides the RBER; at least 1. Default: 2 (HRM, section 4.1).
    pub scale_factor: f64,
    /// Re-reads after which the page is given up; 0: none; absent: until it succeeds (HRM, section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl Default for RereadConfig {
    fn default() -> Self {
        Self { scale_factor: 2.0, max_retries: None }
    }
}

impl RereadConfig {
    /// Greatest `max_retries` that is not unlimited.
    pub const MOST_RETRIES: u32 = u16::MAX as u32;

    /// Checks the settings; `field` is their dotted name, such as `device.rereads`.
    ///
    /// # Errors
    /// A factor below 1 or not finite, or so near 1 that unlimited re-reads would hardly ever end.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let name = format!("{field}.scale_factor");
        if !(self.scale_factor.is_finite() && self.scale_factor >= 1.0) {
            return Err(ConfigError::new(&name, self.scale_factor, "must be a finite number of at least 1"));
        }
        if self.max_retries.is_none() && self.scale_factor < 1.01 {
            let limit = "must be at least 1.01 when max_retries is unlimited: the reads would not end";
            return Err(ConfigError::new(&name, self.scale_factor, limit));
        }
        if let Some(retries) = self.max_retries.filter(|&retries| retries > Self::MOST_RETRIES) {
            let limit = format!("must be at most {}, or absent for no limit", Self::MOST_RETRIES);
            return Err(ConfigError::new(&format!("{field}.max_retries"), retries, limit));
        }
        Ok(())
    }
}

/// The outcome of reads and re-reads of a page, from **one** uniform number u that belongs to the page's state: attempt a
/// fails while `u < P_fail(rber / scale^a)`. That probability falls with a, so the failures of later attempts are contained in those of
/// earlier ones, and the probability of failing *through* attempt a is that of failing *at* it. (Fresh coins would multiply
/// them: re-reads of the same cells are not independent, and that would be too optimistic.)
#[derive(Clone, Debug)]
pub struct ReadLadder {
    table: FailTable,
    ln_scale: f64,
    /// `u32::MAX`: unlimited.
    max_retries: u32,
}

impl ReadLadder {
    /// The ladder of validated `rereads` over the page failures of `table`.
    pub fn new(rereads: &RereadConfig, table: FailTable) -> Self {
        let max_retries = rereads.max_retries.unwrap_or(u32::MAX);
        Self { table, ln_scale: rereads.scale_factor.ln(), max_retries }
    }

    /// The page-failure probability of one read.
    pub fn table(&self) -> &FailTable {
        &self.table
    }

    /// The setting's limit on re-reads; `None`: unlimited.
    pub fn max_retries(&self) -> Option<u32> {
        (self.max_retries < u32::MAX).then_some(self.max_retries)
    }

    /// The first attempt that succeeds, 0 being the first read, when ln RBER is `ln_rber` at attempt 0; `None` if none up to
    /// the limit does.
    #[inline]
    pub fn first_success(&self, u: f64, ln_rber: f64) -> Option<u32> {
        if self.table.fails(u, ln_rber) { self.retry(u, ln_rber, 1, self.max_retries) } else { Some(0) }
    }

    /// [`ReadLadder::first_success`] with at most `max_retries` re-reads even if the setting allows more: a policy that
    /// gives up earlier where data has redundancy.
    #[inline]
    pub fn first_success_within(&self, u: f64, ln_rber: f64, max_retries: u32) -> Option<u32> {
        let max_retries = max_retries.min(self.max_retries);
        if self.table.fails(u, ln_rber) { self.retry(u, ln_rber, 1, max_retries) } else { Some(0) }
    }

    /// The first success among attempts `from` to `max_retries`. A controller that starts at the step that worked last, s, ends
    /// at the greater of s and the first success, since all attempts after a success succeed; and it does not reread below s.
    /// Reads whose disturbance raises the RBER between attempts ask attempt by attempt, with [`ReadLadder::fails_at`].
    pub fn retry(&self, u: f64, ln_rber: f64, from: u32, max_retries: u32) -> Option<u32> {
        (from..=max_retries).find(|&attempt| !self.fails_at(u, ln_rber, attempt))
    }

    /// True if attempt `attempt` fails.
    #[inline]
    pub fn fails_at(&self, u: f64, ln_rber: f64, attempt: u32) -> bool {
        self.table.fails(u, self.ln_rber_at(ln_rber, attempt))
    }

    /// ln P(all attempts through attempt `max_retries` fail); `None`: unlimited, hence `-inf`.
    #[inline]
    pub fn log_p_fail_after(&self, ln_rber: f64, max_retries: Option<u32>) -> f64 {
        match max_retries {
            None => f64::NEG_INFINITY,
            Some(attempt) => self.table.ln_p_fail(self.ln_rber_at(ln_rber, attempt)),
        }
    }

    /// ln P(the setting's re-reads do not save the page).
    #[inline]
    pub fn log_p_uncorrectable(&self, ln_rber: f64) -> f64 {
        self.log_p_fail_after(ln_rber, self.max_retries())
    }

    /// Mean number of re-reads of a read: the sum of P(attempt a fails) over all attempts but the last.
    pub fn mean_rereads(&self, ln_rber: f64) -> f64 {
        let mut sum = 0.0;
        for attempt in 0..self.max_retries {
            let p = self.table.p_fail(self.ln_rber_at(ln_rber, attempt));
            sum += p;
            if p < 1e-18 * sum || p == 0.0 {
                break;
            }
        }
        sum
    }

    #[inline]
    fn ln_rber_at(&self, ln_rber: f64, attempt: u32) -> f64 {
        ln_rber - f64::from(attempt) * self.ln_scale
    }
}

//! What drives did after the host had ended.

use crate::facts::RunFacts;
use crate::summary::{FlashOperations, flash::flash_of};
use serde::Serialize;

/// What an array went on to do when the host had ended: rebuilding, moving parity, recovering what was on failed dies.
#[derive(Clone, Debug, Serialize)]
pub struct AfterHost {
    /// How long it went on, in seconds.
    pub seconds: f64,
    /// Bytes written to drives in that time.
    pub bytes_written: u64,
    /// Flash operations in that time.
    pub flash: FlashOperations,
}

/// `None` where nothing went on.
pub(crate) fn after_host(facts: &RunFacts<'_>) -> Option<AfterHost> {
    let until = facts.ssd.array?.went_on_until?;
    let counts = facts.ssd.counts() - facts.measured.counts;
    Some(AfterHost {
        seconds: until.saturating_sub(facts.recorder.end).as_secs_f64(),
        bytes_written: counts.drives.host_bytes_written,
        flash: flash_of(&counts, facts.ssd.config()),
    })
}

//! Work of drives after the host had ended.

use crate::facts::RunFacts;
use crate::summary::{FlashOperations, flash::flash_of};
use serde::Serialize;

/// Work that an array finished after the host had ended: rebuilding, moving parity, recovering data of failed dies.
#[derive(Clone, Debug, Serialize)]
pub struct AfterHost {
    /// Duration in seconds.
    pub seconds: f64,
    /// Bytes written to drives meanwhile.
    pub bytes_written: u64,
    /// Flash operations meanwhile.
    pub flash: FlashOperations,
}

/// Work after the host's end; `None` if there was none.
pub(crate) fn after_host(facts: &RunFacts<'_>) -> Option<AfterHost> {
    let until = facts.ssd.array?.went_on_until?;
    // Drives have counted on since the host's end.
    let counts = facts.ssd.counts() - facts.measured.counts;
    Some(AfterHost {
        seconds: until.saturating_sub(facts.recorder.end).as_secs_f64(),
        bytes_written: counts.drives.host_bytes_written,
        flash: flash_of(&counts, facts.ssd.config()),
    })
}

//! Writing traces in other formats.

use super::{Format, TraceSpec, TraceWriter};
use crate::WorkloadError;
use std::io::Write;

/// Requests between two calls of the progress function.
const STEP: u64 = 4096;

/// Writes the requests of the trace in format `to` and returns how many. They are those that `spec` replays (device, skip,
/// head, order, alignment, time scale, repeat), with times from the first one on; addresses are as recorded, on one device.
/// Reading the result back (for `ascii` with `time_unit = "ns"` and `address_unit = "sector"`) gives the same requests,
/// with times cut to the format's resolution: 100 ns for msr, 1 us for fio-iolog, vscsi, alibaba and etw, exact for the others.
///
/// `progress` is called now and then with the fraction done; it says whether to go on.
///
/// # Errors
/// Those of reading the trace; a request that the format cannot hold (a trim, a flush, forced unit access); a write to
/// `out` that fails; [`WorkloadError::Stopped`] if `progress` says no.
pub fn convert(
    spec: &TraceSpec,
    to: Format,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<u64, WorkloadError> {
    let mut writer = TraceWriter::new(to, out)?;
    let (mut replay, _, _) = spec.replay(None)?;
    for number in 1u64.. {
        let Some(request) = replay.next()? else { break };
        writer.write(&request)?;
        if number.is_multiple_of(STEP) && !progress(crate::Source::progress(&replay).unwrap_or(0.0)) {
            return Err(WorkloadError::Stopped);
        }
    }
    let written = writer.end()?;
    progress(1.0);
    Ok(written)
}

//! Converts traces to other formats.

use super::open::TraceTarget;
use super::{TraceFormat, TraceSpec, TraceWriter};
use crate::WorkloadError;
use std::io::Write;

/// Requests between two calls of the progress function.
const STEP: u64 = 4096;

/// Writes the requests of a trace in format `to` and returns their number. They are those that `spec` replays (device, skip,
/// head, order, alignment, time scale, repeat), with times from the first one on; addresses are as recorded, on one device.
/// Reading the result back (for `ascii` with `time_unit = "ns"` and `address_unit = "sector"`) gives the same requests,
/// with times cut to the format's resolution: 100 ns for msr, 1 us for fio-iolog, vscsi, alibaba and etw, exact for the others.
///
/// `progress` is called every 4,096 requests with the fraction done; false stops the conversion.
///
/// # Errors
/// Those of reading the trace; a request that the format cannot hold (a trim, a flush, forced unit access); a write to
/// `out` that fails; [`WorkloadError::Stopped`] if `progress` returns false.
pub fn convert(
    spec: &TraceSpec,
    to: TraceFormat,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<u64, WorkloadError> {
    let mut writer = TraceWriter::new(to, out)?;
    let (mut replay, _, _) = spec.replay(&TraceTarget::NONE)?;
    for number in 1u64.. {
        let Some(request) = replay.next()? else { break };
        writer.write(&request)?;
        if number.is_multiple_of(STEP) && !progress(crate::RequestSource::progress(&replay).unwrap_or(0.0)) {
            return Err(WorkloadError::Stopped);
        }
    }
    let written = writer.finish()?;
    progress(1.0);
    Ok(written)
}

//! Figures of a trace in one streaming pass.

use super::figures::{OpStats, TraceInfo};
use super::open::TraceTarget;
use super::spec::TraceSpec;
use super::tally::TraceTally;
use crate::WorkloadError;

/// Reads the whole trace once and returns its figures. Addresses are as recorded: no capacity, no wrapping; with
/// `devices = "concat"` the devices are side by side.
///
/// # Errors
/// Those of opening and reading the trace.
pub fn trace_info(spec: &TraceSpec) -> Result<TraceInfo, WorkloadError> {
    trace_info_while(spec, &mut || true)
}

/// Requests between two calls of `go_on`.
const STEP: u64 = 1 << 16;

/// [`trace_info`] that can be stopped: `go_on` is called every 65,536 requests.
///
/// # Errors
/// As [`trace_info`]; [`WorkloadError::Stopped`] if `go_on` returns false.
pub fn trace_info_while(
    spec: &TraceSpec,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<TraceInfo, WorkloadError> {
    // One pass in recorded time: a closed loop has no arrivals to measure.
    let once = TraceSpec { repeat: 1, queue_depth: None, ..spec.clone() };
    let (mut replay, _, mut notes) = once.replay(&TraceTarget::NONE)?;
    let mut tally = TraceTally::default();
    while let Some(request) = replay.next()? {
        tally.add(&request);
        if tally.records.is_multiple_of(STEP) && !go_on() {
            return Err(WorkloadError::Stopped);
        }
    }
    let records = replay.records();
    if tally.records == 0 {
        let content = format!("{} other lines or records", records.skipped);
        return Err(WorkloadError::Empty { file: spec.file.clone(), content });
    }
    if records.rounded() > 0 {
        notes.push(format!("{} records were rounded out to whole sectors", records.rounded()));
    }
    if tally.zone_commands > 0 {
        notes.push(format!("{} commands change the state of a zone", tally.zone_commands));
    }
    if records.skipped > 0 {
        notes.push(format!("{} lines or records are no requests and were skipped", records.skipped));
    }
    let devices = records.devices().iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let detected = replay.detected();
    Ok(tally.info(TraceInfo {
        file: spec.file.clone(),
        format: detected.format,
        compression: detected.compression,
        time_unit: detected.time_unit,
        address_unit: detected.address_unit,
        records: 0,
        skipped: records.skipped,
        span_s: 0.0,
        rate_iops: None,
        mean_gap_us: 0.0,
        reads: OpStats::default(),
        writes: OpStats::default(),
        trims: OpStats::default(),
        flushes: OpStats::default(),
        footprint_mib: 0.0,
        start_lba: 0,
        end_lba: 0,
        aligned_percent: 0.0,
        sequential_percent: 0.0,
        hot20_percent: None,
        devices,
        notes,
    }))
}

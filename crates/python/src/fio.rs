//! fio jobs: what they ask, and what they are made of.

use crate::errors::{ScenarioError, of_workload};
use crate::guard::unlocked;
use outlast_device::ZoneLayout;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use outlast_workload::{FioSpec, WorkloadTarget, ZonedTarget, job_variables};
use pyo3::prelude::*;

/// A request: nanoseconds, number of the lane, operation, first byte, bytes.
type RequestRow = (u64, u32, String, u64, u64);
/// A lane: name of the job, when it began and ended.
type Lane = (String, Option<u64>, Option<u64>);
/// Zones of a device: bytes from one to the next, bytes that can be written, their number, and how many may be active and open.
type Zones = (u64, u64, u32, u32, u32);
/// Sectors of a logical block of a device with zones.
const ZONED_BLOCK: u32 = 8;

/// What the jobs of the settings (JSON, as in `[workload.fio]`) ask of a device of `capacity` bytes that takes `latency_ns` for every
/// request: the first `most` requests, and the lanes. Without a seed random streams are fio's own. A reset of a zone has no bytes.
#[pyfunction]
#[pyo3(signature = (settings, capacity, seed, latency_ns, most, zones=None))]
fn fio_log(
    py: Python<'_>,
    settings: &str,
    capacity: u64,
    seed: Option<u64>,
    latency_ns: u64,
    most: usize,
    zones: Option<Zones>,
) -> PyResult<(Vec<RequestRow>, Vec<Lane>)> {
    unlocked(py, || {
        let spec = fio_spec(settings)?;
        // As many handles as a namespace may have: which drive there will be, the job does not say.
        let zones = zones.map(|(size, writable, zones, active, open)| ZonedTarget {
            layout: ZoneLayout {
                zones,
                size: size / SECTOR_BYTES,
                capacity: writable / SECTOR_BYTES,
                block: ZONED_BLOCK,
            },
            active,
            open,
            filled: 0,
            random_write: None,
        });
        let target = WorkloadTarget {
            capacity: Bytes(capacity),
            seed: seed.unwrap_or(0),
            unit: Bytes(SECTOR_BYTES),
            handles: 128,
            zones,
            namespaces: Vec::new(),
        };
        let log = spec.log(&target, Nanos(latency_ns), seed.is_none(), most).map_err(of_workload)?;
        let rows = log.requests.iter().map(|request| {
            let command = request.command;
            let (offset, bytes) = (command.lba.0 * SECTOR_BYTES, u64::from(command.sectors) * SECTOR_BYTES);
            (request.at.0, request.job, format!("{:?}", command.op).to_lowercase(), offset, bytes)
        });
        let lanes = log
            .jobs
            .iter()
            .map(|lane| (lane.name.clone(), lane.begin.map(|at| at.0), lane.end.map(|at| at.0)));
        Ok((rows.collect(), lanes.collect()))
    })
}

/// Every file that the jobs of the settings are made of: the job file and what it includes.
#[pyfunction]
fn fio_files(settings: &str) -> PyResult<Vec<String>> {
    fio_spec(settings)?.files().map_err(of_workload)
}

/// The names of the `${NAME}` in the text of a job file.
#[pyfunction]
fn fio_variables(text: &str) -> Vec<String> {
    job_variables(text)
}

fn fio_spec(settings: &str) -> PyResult<FioSpec> {
    serde_json::from_str(settings).map_err(|error| ScenarioError::new_err(format!("fio settings: {error}")))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fio_log, module)?)?;
    module.add_function(wrap_pyfunction!(fio_files, module)?)?;
    module.add_function(wrap_pyfunction!(fio_variables, module)?)
}

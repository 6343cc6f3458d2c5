//! A machine in this process: real bytes, simulated time, no socket.

mod host;

use crate::errors::{DeviceError, InternalError, of_engine};
use crate::guard::unlocked;
use crate::scenario::{Override, RawLayer, load};
use crate::serve::contents_in;
use crate::thread_lock::ThreadLock;
use host::{Ask, Batch, CommandFlags, Done, Host};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use outlast_device::LbaRun;
use outlast_engine::RunControl;
use outlast_serve::{DeviceInput, PowerChange, ServedDevice, UnitTear, parse_fault};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde_json::Value;

/// A column of numbers for Python.
type Out<'py, T> = Bound<'py, PyArray1<T>>;
/// Outcomes, times of submission and completion in nanoseconds, and what the reads returned.
type Columns<'py> = (Out<'py, u8>, Out<'py, u64>, Out<'py, u64>, Out<'py, u8>);

/// A drive or an array in virtual time. One thread at a time uses it; others wait.
#[pyclass(module = "outlast._core", frozen)]
struct Drive {
    host: ThreadLock<Host>,
    capacity: u64,
    unit: u64,
}

#[pymethods]
impl Drive {
    /// Builds the drive or array of a scenario and prepares it. Ctrl-C stops that.
    #[new]
    #[pyo3(signature = (layers, overrides, contents = "memory"))]
    fn new(
        py: Python<'_>,
        layers: Vec<RawLayer>,
        overrides: Vec<Override>,
        contents: &str,
    ) -> PyResult<Self> {
        unlocked(py, || {
            let store = contents_in(contents)?.store(&std::env::temp_dir())?;
            let (scenario, provenance) = load(layers, &overrides)?;
            let mut failure = None;
            let made = ServedDevice::prepare(&scenario, &mut |_| {
                failure = Python::attach(|py| py.check_signals().err());
                if failure.is_some() { RunControl::Stop } else { RunControl::Continue }
            });
            if let Some(error) = failure {
                return Err(error);
            }
            let made = made.map_err(|error| of_engine(error, &provenance))?;
            let mut machine = made.ok_or_else(|| InternalError::new_err("preparing ended before its end"))?;
            if let Some(store) = store {
                machine.keep_contents_in(store);
            }
            Ok(Self::of(Host { now: machine.now(), machine }))
        })
    }

    /// Bytes that it holds.
    #[getter]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that are best written together.
    #[getter]
    fn unit(&self) -> u64 {
        self.unit
    }

    /// Simulated nanoseconds since its time began.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |host| Ok(host.now.0))
    }

    /// The outcome, and what was read.
    fn read<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        length: u64,
        limited_retry: bool,
    ) -> PyResult<(u8, Bound<'py, PyBytes>)> {
        let flags = CommandFlags { limited_retry, ..CommandFlags::default() };
        let done = self.carry_out(py, Ask::Read, offset, length, Vec::new(), flags)?;
        Ok((done.outcomes[0].kind(), PyBytes::new(py, &done.read)))
    }

    /// The outcome.
    fn write(&self, py: Python<'_>, offset: u64, data: PyReadonlyArray1<'_, u8>, fua: bool) -> PyResult<u8> {
        let data = data.as_slice()?.to_vec();
        let flags = CommandFlags { fua, ..CommandFlags::default() };
        let done = self.carry_out(py, Ask::Write, offset, data.len() as u64, data, flags)?;
        Ok(done.outcomes[0].kind())
    }

    /// The outcome.
    fn trim(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<u8> {
        Ok(self.carry_out(py, Ask::Trim, offset, length, Vec::new(), CommandFlags::default())?.outcomes[0]
            .kind())
    }

    /// The outcome.
    fn flush(&self, py: Python<'_>) -> PyResult<u8> {
        Ok(self.carry_out(py, Ask::Flush, 0, 0, Vec::new(), CommandFlags::default())?.outcomes[0].kind())
    }

    /// Carries out a batch: a column of operations, where they begin and how long they are.
    #[expect(clippy::too_many_arguments, reason = "they are Python's, by name")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        ops: PyReadonlyArray1<'py, u8>,
        offsets: PyReadonlyArray1<'py, u64>,
        lengths: PyReadonlyArray1<'py, u64>,
        data: PyReadonlyArray1<'py, u8>,
        fua: bool,
        limited_retry: bool,
        depth: usize,
    ) -> PyResult<Columns<'py>> {
        let asks = ops.as_slice()?.iter().map(|&code| Ask::of(code));
        let batch = Batch {
            asks: asks.collect::<Option<_>>().ok_or_else(|| refused("op: no such operation".to_owned()))?,
            offsets: offsets.as_slice()?.to_vec(),
            lengths: lengths.as_slice()?.to_vec(),
            data: data.as_slice()?.to_vec(),
            flags: CommandFlags { fua, limited_retry },
            depth,
        };
        let done = self.carry_out_all(py, &batch)?;
        let outcomes: Vec<u8> = done.outcomes.iter().map(|&outcome| outcome.kind()).collect();
        Ok((
            outcomes.into_pyarray(py),
            done.submitted.into_pyarray(py),
            done.completed.into_pyarray(py),
            done.read.into_pyarray(py),
        ))
    }

    /// Runs to be written again, as offset, length and readability.
    fn lba_status(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<Vec<(u64, u64, bool)>> {
        let (first, sectors) = (Lba(offset / SECTOR_BYTES), length / SECTOR_BYTES);
        if !(offset | length).is_multiple_of(SECTOR_BYTES) {
            return Err(refused(format!(
                "offset = {offset}, length = {length}: must be multiples of {SECTOR_BYTES}, a sector's bytes"
            )));
        }
        if offset.checked_add(length).is_none_or(|end| end > self.capacity) {
            let capacity = self.capacity;
            return Err(refused(format!(
                "offset = {offset}, length = {length}: reaches beyond the end of the drive, {capacity} bytes"
            )));
        }
        let runs = self.with(py, |host| host.lba_status(first, sectors))?;
        let bytes =
            |run: LbaRun| (run.lba.0 * SECTOR_BYTES, u64::from(run.sectors) * SECTOR_BYTES, run.readable);
        Ok(runs.into_iter().map(bytes).collect())
    }

    /// Latest events of the device, oldest first, as JSON.
    fn events(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |host| json(&host.machine.events().collect::<Vec<_>>()))
    }

    /// Lets time pass.
    fn advance(&self, py: Python<'_>, by: &str) -> PyResult<()> {
        let by: Nanos = by.parse().map_err(|error| refused(format!("time: {error}")))?;
        self.with(py, |host| host.advance(by))
    }

    /// The power is cut, goes or comes; `left`: what it leaves of what is being programmed, as JSON, an entry of `[[faults]]` of kind `power`.
    fn power(&self, py: Python<'_>, action: &str, force: bool, left: &str) -> PyResult<()> {
        let power = match action {
            "cut" => PowerChange::Cut { force },
            "off" => PowerChange::Off,
            "on" => PowerChange::On { force },
            other => return Err(refused(format!("action \"{other}\": must be cut, off or on"))),
        };
        let left = parse_fault(&serde_json::from_str(left).unwrap_or_default()).map_err(refused)?;
        self.with(py, |host| {
            let tear = host.machine.scenario().tear("power", &left);
            let tear = tear.map_err(|error| refused(error.to_string()))?;
            if tear != UnitTear::Nothing && !host.machine.is_off() {
                host.give(&DeviceInput::Tear(tear))?;
            }
            host.give(&DeviceInput::Power(power))
        })
    }

    /// Something breaks: an entry of `[[faults]]` as JSON, without its time.
    fn fault(&self, py: Python<'_>, entry: &str) -> PyResult<()> {
        let entry: Value = serde_json::from_str(entry).map_err(|error| refused(error.to_string()))?;
        let fault = parse_fault(&entry).map_err(refused)?;
        self.with(py, |host| host.give(&DeviceInput::Fault(&fault)))
    }

    /// A member is exchanged for a new drive.
    fn replace(&self, py: Python<'_>, member: u16, force: bool) -> PyResult<()> {
        self.with(py, |host| host.give(&DeviceInput::Replace { member, force }))
    }

    /// The array reads all of itself and makes redundancy fit.
    fn repair(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |host| host.give(&DeviceInput::Repair))
    }

    /// Another drive in the same state.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |host| Ok(Self::of(Host { machine: host.machine.fork(), now: host.now })))
    }

    /// What it tells about its health, as JSON.
    fn smart(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |host| json(&host.machine.smart()))
    }

    /// What the simulator knows of it, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |host| json(&host.machine.state()))
    }

    /// Checks every invariant; the first broken one is an `InternalError`.
    fn self_check(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |host| host.machine.self_check().map_err(InternalError::new_err))
    }
}

impl Drive {
    fn of(host: Host) -> Self {
        let identity = host.machine.identify();
        Self { capacity: identity.capacity.0, unit: identity.optimal_io.0, host: ThreadLock::new(host) }
    }

    /// Calls `work` with the machine, without the interpreter lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Host) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        unlocked(py, || {
            self.host.with(|host| {
                let done = work(host)?;
                host.machine.check_contents().map_err(|error| DeviceError::new_err(error.to_string()))?;
                Ok(done)
            })
        })
    }

    fn carry_out(
        &self,
        py: Python<'_>,
        ask: Ask,
        offset: u64,
        length: u64,
        data: Vec<u8>,
        flags: CommandFlags,
    ) -> PyResult<Done> {
        let (asks, offsets, lengths) = (vec![ask], vec![offset], vec![length]);
        self.carry_out_all(py, &Batch { asks, offsets, lengths, data, flags, depth: 1 })
    }

    fn carry_out_all(&self, py: Python<'_>, batch: &Batch) -> PyResult<Done> {
        batch.check(self.capacity)?;
        self.with(py, |host| host.run(batch, interrupted))
    }
}

/// What Ctrl-C raises.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, and all are needed"
)]
fn interrupted() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

fn refused(message: String) -> PyErr {
    DeviceError::new_err(message)
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| InternalError::new_err(error.to_string()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Drive>()
}

//! Crash states of a recording.

use crate::errors::OutlastError;
use crate::guard::unlocked;
use crate::serve::Served;
use outlast_engine::{OnProgress, RunControl};
use outlast_serve::ListenError;
use outlast_torture::source::list::export_list;
use outlast_torture::source::log_writes;
use outlast_torture::{
    CrashState, OpenRecording, PlanSpec, StateId, StatePlan, TortureError, WritePieces, serve_state,
};
use outlast_units::SECTOR_BYTES;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// What a block device was asked, and when it answered.
#[pyclass(frozen)]
struct Recording {
    own: Arc<OpenRecording>,
}

/// States to be checked, in order.
#[pyclass(frozen)]
struct Plan {
    own: StatePlan,
    recording: Arc<OpenRecording>,
}

/// What a device may hold after a loss of power.
#[pyclass(frozen)]
struct State {
    own: CrashState,
    recording: Arc<OpenRecording>,
}

/// Lets other threads run while `work` is done, which Ctrl-C stops.
fn stoppable<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(OnProgress<'_>) -> PyResult<Option<T>> + Send,
) -> PyResult<T> {
    let done = unlocked(py, || {
        let mut interrupted = None;
        let done = work(&mut |_| {
            interrupted = Python::attach(|py| py.check_signals().err());
            if interrupted.is_some() { RunControl::Stop } else { RunControl::Continue }
        });
        interrupted.map_or(done, Err)
    })?;
    done.ok_or_else(|| OutlastError::new_err("stopped"))
}

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let own = stoppable(py, |progress| OpenRecording::open(&path, progress).map_err(of_torture))?;
        Ok(Self { own: Arc::new(own) })
    }

    /// What there is, as JSON.
    fn facts(&self) -> PyResult<String> {
        text(&self.own.history().facts(self.own.kind().name()))
    }

    /// The events that count, as JSON.
    fn timeline(&self) -> PyResult<String> {
        text(&json!({ "events": self.own.history().timeline().collect::<Vec<_>>() }))
    }

    /// The states that are asked for, in JSON.
    fn plan(&self, py: Python<'_>, spec: &str) -> PyResult<Plan> {
        let spec: PlanSpec =
            serde_json::from_str(spec).map_err(|error| OutlastError::new_err(format!("plan: {error}")))?;
        let own = stoppable(py, |progress| self.own.plan(&spec, progress).map_err(of_torture))?;
        Ok(Plan { own, recording: self.own.clone() })
    }

    /// The state of a name.
    fn state(&self, py: Python<'_>, id: &str) -> PyResult<State> {
        let id: StateId = id.parse().map_err(of_torture)?;
        let own = unlocked(py, || self.own.state(&id).map_err(of_torture))?;
        Ok(State { own, recording: self.own.clone() })
    }

    /// Serves a state; with `record`, what is done to it is a log of dm-log-writes there when the server has ended.
    fn serve(
        &self,
        py: Python<'_>,
        state: &State,
        listen: &str,
        record: Option<PathBuf>,
    ) -> PyResult<Served> {
        let handle = unlocked(py, || {
            let refused = |error: ListenError| OutlastError::new_err(format!("--listen {error}"));
            let listen = listen.parse().map_err(refused)?;
            serve_state(&self.own, state.own.clone(), &listen, record.as_deref()).map_err(of_torture)
        })?;
        Served::on_its_own(handle)
    }

    /// Writes all of it to open files: as a log of dm-log-writes to `to`, or as a list to `to` and, the bytes of its writes, to `data`.
    fn export(&self, py: Python<'_>, to: i32, data: Option<i32>) -> PyResult<()> {
        unlocked(py, || {
            let (history, mut to) = (self.own.history(), BufWriter::new(open_file(to)?));
            match data {
                None => drop(log_writes::export(history, to)?),
                Some(data) => {
                    export_list(history, &mut to, &mut BufWriter::new(open_file(data)?))?;
                    to.flush()?;
                }
            }
            Ok(())
        })
    }
}

/// The same open file under a path of its own, so that nobody need know whose it is.
fn open_file(fd: i32) -> std::io::Result<File> {
    File::options().write(true).open(format!("/proc/self/fd/{fd}"))
}

#[pymethods]
impl Plan {
    fn __len__(&self) -> usize {
        self.own.len()
    }

    fn __getitem__(&self, py: Python<'_>, index: usize) -> PyResult<State> {
        let own = py.detach(|| self.own.state(self.recording.history(), index));
        let own = own.ok_or_else(|| PyIndexError::new_err("there are fewer states"))?;
        Ok(State { own, recording: self.recording.clone() })
    }

    /// By model, what was enumerated, as JSON.
    fn facts(&self) -> PyResult<String> {
        text(&self.own.facts)
    }
}

#[pymethods]
impl State {
    #[getter]
    fn id(&self) -> String {
        self.own.id.to_string()
    }

    #[getter]
    fn model(&self) -> &str {
        self.own.id.model()
    }

    #[getter]
    fn event(&self) -> usize {
        self.own.cut
    }

    #[getter]
    fn at_ns(&self) -> u64 {
        self.own.at.0
    }

    #[getter]
    fn mark(&self) -> Option<&str> {
        self.recording.history().mark_at(self.own.cut).map(|mark| mark.text.as_str())
    }

    #[getter]
    fn marks(&self) -> Vec<&str> {
        self.recording.history().marks_at(self.own.cut).map(|mark| mark.text.as_str()).collect()
    }

    #[getter]
    fn size(&self) -> u64 {
        self.recording.history().capacity * SECTOR_BYTES
    }

    #[getter]
    fn spans_ns(&self) -> Vec<(u64, u64)> {
        self.own.spans.iter().map(|&(from, until)| (from.0, until.0)).collect()
    }

    #[getter]
    fn bad(&self) -> Vec<(u64, u64)> {
        let bytes = |sectors: u64| sectors * SECTOR_BYTES;
        self.own.bad.iter().map(|run| (bytes(run.lba.0), bytes(run.sectors))).collect()
    }

    #[getter]
    fn lost(&self) -> Vec<String> {
        self.own.lost.names(self.recording.history())
    }

    #[getter]
    fn refused(&self) -> Option<&str> {
        self.own.refused.as_deref()
    }

    /// Bytes from `offset` on; sectors that cannot be read are zeroes.
    fn read<'py>(&self, py: Python<'py>, offset: u64, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        let size = self.size();
        if offset.checked_add(length as u64).is_none_or(|end| end > size) {
            let message = format!("{length} bytes from byte {offset} on: the device has {size}");
            return Err(OutlastError::new_err(message));
        }
        PyBytes::new_with(py, length, |to| {
            py.detach(|| self.own.read(self.recording.history(), offset, to))?;
            Ok(())
        })
    }

    /// Writes all that is not zero to an open file, which is empty and as long as the device; how many bytes.
    fn write_to(&self, py: Python<'_>, fd: i32) -> PyResult<u64> {
        unlocked(py, || {
            let file = open_file(fd)?;
            let (history, mut written) = (self.recording.history(), 0);
            self.own.visit(history, 0..history.capacity, |lba, bytes| {
                written += bytes.len() as u64;
                file.write_all_at(bytes, lba * SECTOR_BYTES)
            })?;
            Ok(written)
        })
    }

    /// What is lost, write by write, as JSON.
    fn witness(&self) -> PyResult<String> {
        text(&self.own.witnesses(self.recording.history()))
    }

    /// The same, but that these pieces are not lost.
    fn keep(&self, pieces: Vec<String>) -> PyResult<Self> {
        let history = self.recording.history();
        let kept = WritePieces::parse(pieces.iter().map(String::as_str), history).map_err(of_torture)?;
        Ok(Self { own: self.own.keep(history, &kept), recording: self.recording.clone() })
    }
}

fn text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| OutlastError::new_err(error.to_string()))
}

fn of_torture(error: TortureError) -> PyErr {
    OutlastError::new_err(error.to_string())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Recording>()?;
    module.add_class::<Plan>()?;
    module.add_class::<State>()
}

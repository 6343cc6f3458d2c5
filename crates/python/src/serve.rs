//! Serving a machine.

use crate::errors::{OutlastError, of_engine, of_scenario};
use crate::guard::{guarded, unlocked};
use crate::scenario::{Override, RawLayer, load};
use outlast_serve::{
    ClockMode, ContentsIn, DeviceImage, DeviceServer, ImageConfig, ImageError, ImageOptions, LogTraceSummary,
    ServeConfig, ServeError, ServerFacts, ServerHandle, ServerStatus, TlsConfig, TlsPolicy,
    UnknownContentsPlace,
};
use outlast_workload::WorkloadError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A machine that is served by a thread of its own.
#[pyclass(frozen, name = "Server")]
pub(crate) struct Served {
    handle: ServerHandle,
    thread: Mutex<Option<JoinHandle<PyResult<()>>>>,
}

impl Served {
    /// A server that has a thread already; its end is waited for.
    pub(crate) fn on_its_own(handle: ServerHandle) -> PyResult<Self> {
        let own = handle.clone();
        let watch = move || loop {
            let status = own.wait(&own.status(), Duration::from_mins(1));
            if let ServerStatus::Ended(error) = status {
                return error.map_or(Ok(()), |error| Err(OutlastError::new_err(error)));
            }
        };
        let thread = std::thread::Builder::new().name("outlast-serve".to_owned()).spawn(watch)?;
        Ok(Self { handle, thread: Mutex::new(Some(thread)) })
    }
}

#[pymethods]
impl Served {
    /// The NBD URI of the machine.
    #[getter]
    fn uri(&self) -> &str {
        self.handle.uri()
    }

    /// The URI of the machine for `NVMe/TCP`, if it is served so.
    #[getter]
    fn nvme_uri(&self) -> Option<&str> {
        self.handle.nvme_uri()
    }

    /// Asks the server: JSON in, JSON out, from any thread.
    fn request(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        let request = serde_json::from_str(text)
            .map_err(|error| OutlastError::new_err(format!("a request is JSON: {error}")))?;
        Ok(py.detach(|| self.handle.request(request)).to_string())
    }

    /// Notes a mark of this program's own, which clients cannot make; the answer as of `request`.
    fn note(&self, py: Python<'_>, text: &str) -> String {
        py.detach(|| self.handle.note(text)).to_string()
    }

    /// Has the server end; returns at once.
    fn stop(&self) {
        self.handle.stop();
    }

    /// Waits for at most so many seconds for anything new: `("preparing", percent)`, `("serving", (model, capacity, dies, survives, is_array, uris, found))` or
    /// `("ended", None)`. What ended the server other than a request is raised, once.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let timeout = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        let status = py.detach(|| self.handle.wait(&self.handle.status(), timeout));
        match status {
            ServerStatus::Preparing(percent) => Ok(("preparing", percent.into_pyobject(py)?.into_any())),
            ServerStatus::Serving(facts) => {
                let ServerFacts { model, capacity, dies_it_can_lose, data_survives, is_array, uris, opening } =
                    facts;
                let opening = opening.map(|report| (report.made, report.clean, report.inputs, report.torn));
                let facts = (model, capacity, dies_it_can_lose, data_survives, is_array, uris, opening);
                Ok(("serving", facts.into_pyobject(py)?.into_any()))
            }
            ServerStatus::Ended(_) => {
                let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(thread) = thread {
                    py.detach(|| thread.join()).unwrap_or(Ok(()))?;
                }
                Ok(("ended", py.None().into_bound(py)))
            }
        }
    }

    /// What a person should know and has not been told yet.
    fn take_warnings(&self) -> Vec<String> {
        self.handle.take_warnings()
    }
}

/// Serves a scenario's drive or array. `speed` is that of a wall clock; without one the clock is virtual.
#[pyfunction]
#[pyo3(signature = (
    layers, overrides, *, listen, nvme = None, insecure = false, tls_cert = None, tls_key = None, tls_ca = None, tls = "require", speed = Some(1.0),
    spin = false, export = None, image = None, sync = false, salvage = false, keep_log = false, checkpoint_every = None, at = None,
    contents = "memory"
))]
#[allow(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "each is a keyword in Python"
)]
fn serve(
    py: Python<'_>,
    layers: Vec<RawLayer>,
    overrides: Vec<Override>,
    listen: &str,
    nvme: Option<&str>,
    insecure: bool,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_ca: Option<PathBuf>,
    tls: &str,
    speed: Option<f64>,
    spin: bool,
    export: Option<String>,
    image: Option<PathBuf>,
    sync: bool,
    salvage: bool,
    keep_log: bool,
    checkpoint_every: Option<&str>,
    at: Option<&str>,
    contents: &str,
) -> PyResult<Served> {
    unlocked(py, || {
        let checkpoint_every = checkpoint_every.map(|text| read("checkpoint_every", text)).transpose()?;
        let at = at.map(|text| read("at", text)).transpose()?;
        let contents = contents_in(contents)?;
        let options = ImageOptions { sync, salvage, keep_log, checkpoint_every, contents };
        let is_given = !layers.is_empty();
        let loaded = is_given.then(|| load(layers, &overrides)).transpose()?;
        let (scenario, provenance) = loaded.unzip();
        let image = image.map(|folder| ImageConfig { folder, options, at });
        let listen = listen.parse().map_err(|error| of_serving(ServeError::Listen(error)))?;
        let nvme = nvme.map(str::parse).transpose();
        let nvme = nvme.map_err(|error| of_serving(ServeError::NvmeListen(error)))?;
        let clock = speed.map_or(ClockMode::Virtual, |speed| ClockMode::Wall { speed });
        let tls = encryption(tls_cert, tls_key, tls_ca, tls)?;
        let config =
            ServeConfig { scenario, image, contents, listen, nvme, insecure, tls, clock, spin, export };
        let (server, handle) = DeviceServer::new(config).map_err(of_serving)?;
        let own = handle.clone();
        let work = move || {
            let done = guarded(|| {
                server.run().map_err(|error| match error {
                    ServeError::Engine(error) | ServeError::Image(ImageError::Engine(error)) => {
                        match &provenance {
                            Some(provenance) => of_engine(error, provenance),
                            None => OutlastError::new_err(error.to_string()),
                        }
                    }
                    ServeError::Image(ImageError::Scenario(error)) => of_scenario(error),
                    other => of_serving(other),
                })
            });
            own.ended(done.as_ref().err().map(ToString::to_string));
            done
        };
        let thread = std::thread::Builder::new().name("outlast-serve".to_owned()).spawn(work)?;
        Ok(Served { handle, thread: Mutex::new(Some(thread)) })
    })
}

/// Where `contents` says that bytes are.
pub(crate) fn contents_in(contents: &str) -> PyResult<ContentsIn> {
    contents.parse().map_err(|error: UnknownContentsPlace| OutlastError::new_err(error.to_string()))
}

/// What sessions are encrypted with; a certificate and its key come together, and all else with them.
fn encryption(
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    ca: Option<PathBuf>,
    policy: &str,
) -> PyResult<Option<TlsConfig>> {
    let policy = match policy {
        "require" => TlsPolicy::Require,
        "offer" => TlsPolicy::Offer,
        other => {
            let message = format!("tls = \"{other}\": must be \"require\" or \"offer\"");
            return Err(OutlastError::new_err(message));
        }
    };
    match (cert, key, ca) {
        (Some(cert), Some(key), ca) => Ok(Some(TlsConfig { cert, key, ca, policy })),
        (None, None, None) => Ok(None),
        (None, None, Some(_)) => {
            Err(OutlastError::new_err("tls_ca belongs to tls_cert and tls_key, the server's own"))
        }
        _ => Err(OutlastError::new_err("tls_cert and tls_key belong together")),
    }
}

/// Writes the commands in the log of the image in `folder` to `output`, in blkparse's format: how many, how many other inputs are remarks, and
/// whether the log is there from its beginning.
#[pyfunction]
fn image_trace(py: Python<'_>, folder: PathBuf, output: &str) -> PyResult<(u64, u64, bool)> {
    unlocked(py, || {
        #[allow(clippy::disallowed_methods, reason = "the Python front names the file to write")]
        let mut out = BufWriter::new(File::create(output)?);
        let LogTraceSummary { requests, remarks, is_whole } =
            DeviceImage::trace(&folder, &mut out).map_err(|error| match error {
                // The front knows which file was asked for.
                ImageError::Trace(WorkloadError::Write(error)) => error.into(),
                other => of_serving(ServeError::Image(other)),
            })?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok((requests, remarks, is_whole))
    })
}

/// The value of the setting `name`.
fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|error| OutlastError::new_err(format!("{name} = \"{text}\": {error}")))
}

fn of_serving(error: ServeError) -> PyErr {
    OutlastError::new_err(error.to_string())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Served>()?;
    module.add_function(wrap_pyfunction!(image_trace, module)?)?;
    module.add_function(wrap_pyfunction!(serve, module)?)
}

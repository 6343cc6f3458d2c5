//! Traces: what is in one, and writing one in another format.

use crate::errors::{InternalError, ScenarioError, WorkloadError, of_workload};
use crate::guard::unlocked;
use crate::run::answer_of;
use outlast_workload::{
    TraceFormat, TraceSpec, WorkloadError as CoreError, convert, trace_info_while as info,
};
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};

/// What is in the trace that the settings (JSON, as in `[workload.trace]`) describe, as JSON.
#[pyfunction]
fn trace_info(py: Python<'_>, settings: &str) -> PyResult<String> {
    unlocked(py, || {
        let spec = trace_spec(settings)?;
        let mut failure = None;
        let found = info(&spec, &mut || {
            failure = Python::attach(|py| py.check_signals().err());
            failure.is_none()
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let found = found.map_err(of_workload)?;
        serde_json::to_string(&found).map_err(|error| InternalError::new_err(error.to_string()))
    })
}

/// Writes a trace in another format to `output` and returns the number of requests. `progress(fraction)` may return `False`
/// to stop, which raises a `WorkloadError`; Ctrl-C raises `KeyboardInterrupt`.
#[pyfunction]
#[pyo3(signature = (settings, to, output, progress = None))]
fn trace_convert(
    py: Python<'_>,
    settings: &str,
    to: &str,
    output: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    unlocked(py, || {
        let spec = trace_spec(settings)?;
        let to = format_named(to)?;
        #[allow(clippy::disallowed_methods, reason = "the Python front names the file to write")]
        let file = File::create(output)?;
        let mut out = BufWriter::new(file);
        let mut failure = None;
        let outcome = convert(&spec, to, &mut out, &mut |fraction| {
            Python::attach(|py| match ask(py, progress.as_ref(), fraction) {
                Ok(go_on) => go_on,
                Err(error) => {
                    failure = Some(error);
                    false
                }
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let written = outcome.map_err(|error| match error {
            // The front knows which file was asked for.
            CoreError::Write(error) => error.into(),
            other => of_workload(other),
        })?;
        out.flush()?;
        Ok(written)
    })
}

fn ask(py: Python<'_>, progress: Option<&Py<PyAny>>, fraction: f64) -> PyResult<bool> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(true) };
    let answer = answer_of(&progress.call1(py, (fraction,))?.into_bound(py))?;
    Ok(answer != Some(false))
}

fn trace_spec(settings: &str) -> PyResult<TraceSpec> {
    serde_json::from_str(settings)
        .map_err(|error| ScenarioError::new_err(format!("trace settings: {}", plain(&error))))
}

fn format_named(name: &str) -> PyResult<TraceFormat> {
    let quoted = serde_json::Value::String(name.to_owned());
    serde_json::from_value(quoted)
        .map_err(|error| WorkloadError::new_err(format!("format to write, \"{name}\": {}", plain(&error))))
}

/// The message without "at line 1 column 42", which tells of no file that the person has.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace_convert, module)?)
}
